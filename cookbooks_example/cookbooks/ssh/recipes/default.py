"""The door: what modules and the site have bound. ssh::files writes it down."""

from nodeattrs.recipe import inject, node

node.default["ssh"]["port"] = inject("ssh::port")  # computed
node.default["ssh"]["banner"] = inject("ssh::banner")  # computed
