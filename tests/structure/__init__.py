"""What the source of the package may look like: read from its syntax trees, and nothing runs."""
