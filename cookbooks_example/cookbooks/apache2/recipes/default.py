"""Install the web server."""

from nodeattrs.recipe import include_recipe, node, tag

# In place: from here on the list is the recipe's. Roles still add to it.
node.default["apache2"]["modules"].append("headers")
node.default["apache2"]["modules"].delete("autoindex")

node.override["apache2"]["user"] = "www-data"

include_recipe("apache2::tls")
include_recipe("apache2::vhosts")

tag("web-server")
