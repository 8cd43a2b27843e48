"""An old name. Importing it fails and names the new one."""

raise ImportError("nodeattrs.adapters.cloudinit has moved: import from nodeattrs.cloudinit")
