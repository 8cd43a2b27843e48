"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.chef has moved: import from nodeattrs.chef")
