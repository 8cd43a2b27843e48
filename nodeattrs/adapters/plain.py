"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.plain has moved: import from nodeattrs.policies")
