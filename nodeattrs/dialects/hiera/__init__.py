"""Every key of a Hiera tree, as each node gets it."""
