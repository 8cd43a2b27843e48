"""One run of one node, in the order in which Chef does it."""
