"""The three ways to write bindings: calls in Python, a text language, and plain data. Each makes the same model."""
