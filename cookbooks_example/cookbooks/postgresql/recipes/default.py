"""A database server, sized after the memory of its machine."""

from nodeattrs.recipe import include_recipe, log, node, tag

memory_mb = int(node["memory"]["total"].removesuffix("kB")) // 1024

node.default["postgresql"]["config"]["shared_buffers"] = f"{memory_mb // 4}MB"  # computed
node.default["postgresql"]["config"]["effective_cache_size"] = f"{memory_mb * 3 // 4}MB"  # computed

# Normal attributes outlive the run: once chosen, the directory never moves, not even with the next version.
node.normal_unless["postgresql"]["data_directory"] = "/var/lib/postgresql/12/main"

include_recipe("postgresql::hba")

tag("database-server")

if not node.exist("filesystem", "by_mountpoint", node["postgresql"]["storage"]["mount"]):
    log("the database shares a disk with the system")
