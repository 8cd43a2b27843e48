"""What the security team asks of every web server."""

from nodeattrs.recipe import node

node.default["apache2"]["modules"].append("ssl")

# The full assignment (force_override! in Ruby) first removes what anybody else set at the override level,
# whole. Without it the map of an environment would merge with ours, and its own keys would stay.
node.force_override_full["apache2"]["tls"] = {
    "min_protocol": "TLSv1.2",
    "honor_cipher_order": True,
}
