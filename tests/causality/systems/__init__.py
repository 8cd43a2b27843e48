"""The systems, a module each, with a generator of inputs, its examples, and the way to ask it."""
