"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.runs has moved: import from nodeattrs.chef")
