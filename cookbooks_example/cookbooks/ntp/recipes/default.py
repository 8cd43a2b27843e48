"""The clock. What nobody binds is looked up in Hiera, as ntp::NAME; then it is what stands here."""

from nodeattrs.recipe import inject, node, parameters

node.default["ntp"] = parameters("ntp", servers=[], enable=False, restrict=False, minpoll=6)
node.default["ntp"]["drift"] = inject("ntp::drift")
