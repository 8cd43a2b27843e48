"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.hiera has moved: import from nodeattrs.hiera")
