"""The ways to write bindings: Python lines, a text language, and plain data. Each makes the same model."""
