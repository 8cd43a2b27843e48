"""One access rule for each network that may connect."""

from nodeattrs.recipe import node


def rule_for(network):
    return {"type": "hostssl", "database": "all", "user": "all", "address": network, "method": "scram-sha-256"}


for network in node["postgresql"]["allowed_networks"]:
    node.default["postgresql"]["hba"].append(rule_for(network))  # computed
