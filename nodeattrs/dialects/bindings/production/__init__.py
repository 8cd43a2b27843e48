"""Making values: each once, of what the resolution says is bound. It decides nothing about precedence."""
