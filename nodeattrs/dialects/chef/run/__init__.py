"""Run one node, in Chef's order: facts, roles and environment, attribute files, recipes."""
