"""Which release runs where."""

from nodeattrs.recipe import data_bag_item, node, tagged

shop = data_bag_item("apps", "shop")
channel = "candidate" if tagged("canary") else "stable"

node.override["app"]["release"]["channel"] = channel  # computed
node.override["app"]["release"]["revision"] = shop["releases"][channel]  # computed
node.override["app"]["release"]["keep"] = 5
