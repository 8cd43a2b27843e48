"""The verbs: why, where, blame, matrix, diff, impact, what-if and overview. They know dialects by their contract alone.

`commands` declares the verbs. `asking` gets the answers of a folder, `lines` the effects of its lines, and `comparing`
the differences of two sides. No module here knows a dialect by name.
"""
