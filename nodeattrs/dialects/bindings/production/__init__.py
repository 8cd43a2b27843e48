"""Make values, each once, from the declarations that the resolution chose. Precedence is not decided here."""
