"""The checks of a Chef repository: values that are probably not meant, with a module for each question.

Each warning has a `kind`, which docs/check.md explains. The checks read the texts of files in Ruby and Python, and run
no code.
"""
