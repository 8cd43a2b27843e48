"""Where the nightly dump goes."""

from nodeattrs.recipe import default, include_attribute, node

# "backup" loads before "storage", and needs it.
include_attribute("postgresql::storage")

default["postgresql"]["backup"] = {
    "hour": 3,
    "keep_days": 14,
    "compress": True,
}
default["postgresql"]["backup"]["dir"] = f"{node['postgresql']['storage']['mount']}/backup"  # computed
