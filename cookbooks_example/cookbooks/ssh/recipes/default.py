"""The door: the port and the users that modules and the site have bound."""

from nodeattrs.recipe import define, file, inject, node

node.default["ssh"]["port"] = inject("ssh::port")  # computed
node.default["ssh"]["banner"] = inject("ssh::banner")  # computed


@define
def ssh_user(title, shell="sh", groups=()):
    """Who may come in. A parameter that nobody gives is looked up: bind parameters Ssh_user to {...}."""
    file(f"/etc/ssh/users/{title}", content=f"{shell} {','.join(groups)}\n")


for login, given in inject("ssh::users").items():
    ssh_user(login, **given)

file("/etc/ssh/banner", content=inject("ssh::banner") + "\n")
