"""Time, names, packages and kernel settings of every machine."""

from nodeattrs.recipe import default, has_attribute, lazy, node

default["base"]["timezone"] = "UTC"

# Roles and environments may add to these two lists: lists of one level unite.
default["base"]["packages"] = [
    "curl",
    "htop",
    "vim-tiny",
]
default["base"]["resolvers"] = [
    "10.20.0.2",
]

# One server, as a text: so said 1.0, and so say the wrapper cookbooks. recipes/ntp.py turns it into a map.
default["base"]["ntp"] = "ntp.ubuntu.com"

default["base"]["sysctl"] = {
    "vm.swappiness": 10,
    "net.core.somaxconn": 1024,
}

default["base"]["tuned_profile"] = "balanced"
if has_attribute("virtualization"):
    default["base"]["tuned_profile"] = "virtual-guest"
    default["base"]["sysctl"]["kernel.nmi_watchdog"] = 0

# A text that needs other attributes waits until somebody reads it.
default["base"]["motd"] = lazy(lambda: f"{node['fqdn']}: {node['platform']} {node['platform_version']}")  # computed
