"""The settings of a folder: nodeattrs.toml, Chef's own configuration, and those of one call."""
