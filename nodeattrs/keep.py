"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.keep has moved: import from nodeattrs.store")
