"""The door: the port and the users that modules and the site have bound."""

from nodeattrs.recipe import define, file, inject, node

node.default["ssh"]["port"] = inject("ssh::port")
node.default["ssh"]["banner"] = inject("ssh::banner")


@define
def ssh_user(title, shell="sh", groups=()):
    """Who may come in. A parameter that nobody gives is looked up: bind parameters Ssh_user to {...}."""
    node.default["ssh"]["users"][title] = {"shell": shell, "groups": [*groups]}


for login, given in inject("ssh::users").items():
    ssh_user(login, **given)

file("/etc/ssh/banner", content=inject("ssh::banner") + "\n")
