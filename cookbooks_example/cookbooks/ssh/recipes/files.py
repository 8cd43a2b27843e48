"""The files of the door, for machines that take them: run ssh::files, as apache2::files."""

from nodeattrs.recipe import define, directory, file, inject

directory(["/etc/ssh", "/etc/ssh/users"])
file("/etc/ssh/banner", content=inject("ssh::banner") + "\n")  # its mode is bound


@define
def ssh_user(title, shell="sh", groups=()):
    """Who may come in. A parameter that nobody gives is looked up: bind parameters Ssh_user to {...}."""
    file(f"/etc/ssh/users/{title}", content=f"{shell} {','.join(groups)}\n")


for login, given in inject("ssh::users").items():
    ssh_user(login, **given)
