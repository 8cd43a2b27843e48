"""The shop, and what it asks of the web server in front of it."""

from nodeattrs.recipe import default, default_unless, force_default, include_attribute, lazy, node, override

# We change some of its values, so they have to be there first.
include_attribute("apache2")

default["app"]["dir"] = "/srv/shop"
default["app"]["current"] = lazy(lambda: f"{node['app']['dir']}/current")  # computed
default["app"]["workers"] = 2
default["app"]["log_level"] = "info"
default["app"]["features"] = {
    "wishlist": True,
    "guest_checkout": True,
    "reviews": False,
}

default["apache2"]["log_dir"] = "/srv/shop/shared/log"
default["apache2"]["vhosts"]["shop"] = {
    "server_name": "shop.example.com",
    "port": 80,
    "backend": "http://127.0.0.1:8000",
}

# Silent: apache2 has a timeout of its own at this level.
default_unless["apache2"]["timeout"] = 60

# The web role still says "off", from the days before the proxy. That is a default, so this beats it.
force_default["apache2"]["keepalive"] = True

override["apache2"]["server_tokens"] = "Prod"
