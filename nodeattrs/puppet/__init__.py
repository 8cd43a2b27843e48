"""Puppet's words, as catalogs, bindings and look-ups share them: references, chains, regular expressions.

It reads texts and knows nothing of what they are for.
"""
