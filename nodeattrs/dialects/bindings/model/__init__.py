"""The model of bindings as plain immutable values: items, keys, types, and producers.

Every form of writing makes these values, and all other modules read them. This package knows no precedence.
"""
