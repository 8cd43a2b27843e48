"""Put the shop on a machine."""

from nodeattrs.recipe import include_recipe, log, node

include_recipe("postgresql::client")
include_recipe("app::database")
include_recipe("app::release")

# Measured in the load test: 24 is what the database takes. "force", so that nobody changes it by accident.
# (Somebody did. See "The puzzle" in the README of this repository.)
node.force_default["app"]["workers"] = 24

# Nobody from outside has business with the status page in production; gone at all four default components.
if node.environment == "production":
    node.rm_default("apache2", "status")

# Left behind by version 1 in the normal attributes of older machines, where it would stay for ever.
queue = node.rm("app", "legacy_queue")
if queue is not None:
    log(f"forgot the old queue at {queue['host']}")
