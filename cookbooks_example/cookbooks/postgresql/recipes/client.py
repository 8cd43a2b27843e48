"""What a machine needs to talk to a database elsewhere."""

from nodeattrs.recipe import node

node.default["postgresql"]["client"] = {
    "package": "postgresql-client",
    "sslmode": "verify-full",
}
