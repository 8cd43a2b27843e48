"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.ansible has moved: import from nodeattrs.ansible")
