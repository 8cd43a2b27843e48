"""The web server as Ubuntu installs it."""

from nodeattrs.recipe import default, lazy, node

default["apache2"]["package"] = "apache2"
default["apache2"]["dir"] = "/etc/apache2"
default["apache2"]["log_dir"] = "/var/log/apache2"

# Lazy, since cookbooks that load later move log_dir. An f-string alone would keep today's directory for ever.
default["apache2"]["error_log"] = lazy(lambda: f"{node['apache2']['log_dir']}/error.log")  # computed
default["apache2"]["access_log"] = lazy(lambda: f"{node['apache2']['log_dir']}/access.log")  # computed

# Roles and environments add their own ports.
default["apache2"]["listen_ports"] = [
    80,
]
default["apache2"]["modules"] = [
    "alias",
    "autoindex",
    "dir",
    "mime",
]

default["apache2"]["timeout"] = 300
default["apache2"]["keepalive"] = False
default["apache2"]["server_tokens"] = "OS"

default["apache2"]["mpm"] = {
    "name": "event",
    "start_servers": 2,
    "threads_per_child": 25,
}

default["apache2"]["status"] = {
    "path": "/server-status",
    "require": "local",
}

# One entry a site; cookbooks that have a site add it.
default["apache2"]["vhosts"] = {}
