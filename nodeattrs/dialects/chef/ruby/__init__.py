"""Attribute files in Ruby, run by a real ruby for a node that stays here; docs/ruby-attributes.md."""
