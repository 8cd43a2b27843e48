"""Run attribute files and recipes in Ruby, by a Ruby process, for a node in this process.

docs/ruby-attributes.md has the rules.
"""
