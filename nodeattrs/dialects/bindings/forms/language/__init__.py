"""The text language: texts become the model, each item with its line and column.

A text that cannot be read says where, shows the line with a caret, and guesses what was
meant. docs/bindings.md, "The language", shows every form.
"""
