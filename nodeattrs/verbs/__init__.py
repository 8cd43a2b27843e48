"""The verbs: why, where, blame, matrix, diff, impact, what-if and overview.

`commands` declares the verbs. `asking` gets the answers of a folder, `lines` the effects of its lines, and `comparing`
the differences of two sides. The verbs know dialects by their contract alone: no module here knows one by name.
"""
