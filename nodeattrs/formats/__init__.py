"""Texts that say values, and know on which line.

JSON, YAML and TOML documents become plain trees here, and Python sources answer
where a literal stands. Nothing here knows what a role, a level or a node is.
"""
