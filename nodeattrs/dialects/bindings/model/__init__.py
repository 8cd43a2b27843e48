"""What bindings say, as plain immutable values: items, keys, types, and how a value comes about.

Every form of writing makes these, and everything else reads them. Nothing in here knows who wins.
"""
