"""The clock. What nobody binds is looked up in Hiera, as ntp::NAME; then it is what stands here."""

from nodeattrs.recipe import inject, node, parameters

settings = parameters("ntp", servers=[], enable=False, restrict=False, minpoll=6)
node.default["ntp"] = {**settings, "drift": inject("ntp::drift")}  # computed
