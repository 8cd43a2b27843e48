"""Prepare a machine: name service, clock, accounts."""

from nodeattrs.recipe import include_recipe, log, lookup, node, tag, untag

include_recipe("base::ntp")
include_recipe("base::users")

# Teams that keep their data in Hiera go on keeping it there.
node.default["base"]["motd_note"] = lookup("profile::motd")  # computed

# In place, on the list of the attribute file: the cache on this machine is asked first.
node.default["base"]["resolvers"].unshift("127.0.0.53")

# Set when the machine was bootstrapped; it counts as bootstrapped once it came as far as here.
untag("bootstrap")
tag("managed")

log(f"{node['fqdn']} has {len(node['base']['users'])} accounts")
