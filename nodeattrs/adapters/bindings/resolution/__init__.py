"""Which declaration decides each key, and everything that is wrong with a composition."""
