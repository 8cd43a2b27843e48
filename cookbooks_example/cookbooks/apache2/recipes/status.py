"""The status page, for environments where people look at it."""

from nodeattrs.recipe import node

node.default["apache2"]["modules"].append("status")
node.default["apache2"]["status"]["extended"] = True
