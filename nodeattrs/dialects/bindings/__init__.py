"""The dialect `bindings`: the keys of a site of bindings, and the value of each key on a node."""
