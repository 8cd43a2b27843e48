"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.bindings has moved: import from nodeattrs.bindings")
