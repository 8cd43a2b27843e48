"""Random hostile trees: a repository that tries to run code, to read what lies outside of it, or to break a command.

`trees` draws a tree from its seed, `building` writes it, `commands` draws a command line for it, `judging` runs that
and says what it did that no command may do.
"""
