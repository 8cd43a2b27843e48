"""The dialect `hiera`: the keys of a Hiera tree, and the value of each key on a node."""
