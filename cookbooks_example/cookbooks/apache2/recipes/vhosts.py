"""One configuration file for each site."""

from nodeattrs.recipe import node

for site in node["apache2"]["vhosts"]:
    file = f"{node['apache2']['dir']}/sites-available/{site}.conf"
    node.default["apache2"]["vhosts"][site]["config_file"] = file  # computed
