"""Readers and writers of texts with values: each reader knows the line of each value.

JSON, YAML and TOML documents become plain trees, and `python` finds the lines of literals in Python sources. The
package knows no roles, levels or nodes.
"""
