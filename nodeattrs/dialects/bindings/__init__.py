"""The keys of a site of bindings, as each node gets them."""
