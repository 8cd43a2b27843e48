"""Every key of a site of bindings, as each node gets it."""
