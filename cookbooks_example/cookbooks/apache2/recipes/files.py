"""Write the configuration, and have the server read it again where it changed."""

from nodeattrs.recipe import File, chain, define, directory, execute, file, link, node

apache = node["apache2"]
etc = apache["dir"]

directory([etc, f"{etc}/sites-available", f"{etc}/sites-enabled", "/var/run/apache2"], mode="0755")

file(
    f"{etc}/ports.conf",
    content="".join(f"Listen {port}\n" for port in apache["listen_ports"]),
    mode="0644",
)
file(
    f"{etc}/apache2.conf",
    template="apache2.conf.j2",
    variables={"apache": apache.to_dict(), "user": node["apache2"]["user"]},
    mode="0644",
)


@define
def site(name, vhost):
    """A site, enabled by a link as Debian does it."""
    available = f"{etc}/sites-available/{name}.conf"
    conf = file(available, template="vhost.conf.j2", variables={"site": vhost, "name": name}, mode="0644")
    conf >> link(f"{etc}/sites-enabled/{name}.conf", to=f"../sites-available/{name}.conf")


sites = [site(name, vhost=apache["vhosts"][name].to_dict()) for name in apache["vhosts"]]

# The server itself is another engine's business; here a line in a log stands for its reload.
reload = execute(
    "reload apache2",
    command='date +reloaded >> "$NODEATTRS_ROOT/var/run/apache2/reloads"',
    refresh_only=True,
)

File[f"{etc}/ports.conf", f"{etc}/apache2.conf"] >> ~reload
sites >> ~reload
chain("Directory <| |> -> Execute <| |>")
