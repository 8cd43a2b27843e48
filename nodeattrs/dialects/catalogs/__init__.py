"""Catalogs that Puppet compiled, as files."""
