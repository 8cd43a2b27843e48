"""The clock."""

from nodeattrs.recipe import node

# The attribute file said one server, as a text. Plain assignment would stop at that text with a TypeError;
# full assignment (default! in Ruby) puts a map in its place.
node.default_full["base"]["ntp"]["servers"] = [
    "0.ubuntu.pool.ntp.org",
    "1.ubuntu.pool.ntp.org",
]
node.default_full["base"]["ntp"]["driftfile"] = "/var/lib/ntp/ntp.drift"
