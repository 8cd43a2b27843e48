"""What is set and probably not meant in a repository of nodes: a module for each question.

Each gives warnings with a `kind`; docs/check.md says what each means, and what has to be known before it is made.
Nothing here runs code: what files in Ruby and Python might do is known from their words.
"""
