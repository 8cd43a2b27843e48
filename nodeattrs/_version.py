"""The version of nodeattrs, as pyproject.toml has it."""

VERSION = "0.1.0"
