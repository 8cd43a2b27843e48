"""The data form: sets of bindings as plain JSON or YAML data, read, written and described.

Two tables (`kinds.KINDS`, `kinds.PRODUCERS`) define the form; reading, writing and the schema all follow them. All
faults of a document are reported together, each with its line. The order of fields means nothing. A site has a data
form too, not evaluated yet; `Site.to_dict` writes it.
"""
