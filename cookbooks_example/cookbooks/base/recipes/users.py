"""Accounts, from the data bag "users"."""

from nodeattrs.recipe import data_bag, data_bag_item, node


def account(user):
    """The part of a data bag item that a machine has to know."""
    return {"uid": user["uid"], "shell": user["shell"], "groups": user["groups"], "ssh_keys": user["ssh_keys"]}


for login in data_bag("users"):
    user = data_bag_item("users", login)
    if not user.get("locked", False):
        node.default["base"]["users"][login] = account(user)  # computed
