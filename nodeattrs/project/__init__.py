"""What a folder says of itself: nodeattrs.toml, Chef's client.rb beside it, and the settings of one call."""
