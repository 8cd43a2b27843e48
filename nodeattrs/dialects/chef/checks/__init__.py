"""The checks of a Chef repository: values that are probably not meant, with a module for each question.

Each warning has a `kind`. docs/check.md explains each kind, and what must be known before the warning is given. No
check runs code: what files in Ruby and Python might do is found in their texts.
"""
