"""The settings of a folder: nodeattrs.toml, Chef's client.rb beside it, and those of one call."""
