"""Plain files that nodeattrs.toml folds by a named policy."""
