"""The text language: it turns texts into items of the model, each with its line and column.

The error for a text that cannot be read names the place, shows the line with a caret, and guesses what was meant.
docs/bindings.md, "The language", shows every form.
"""
