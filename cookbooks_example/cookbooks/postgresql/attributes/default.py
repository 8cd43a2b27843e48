"""The server as Ubuntu installs it."""

from nodeattrs.recipe import default, default_unless

# A cookbook that loads earlier may have chosen a version already.
default_unless["postgresql"]["version"] = "12"

default["postgresql"]["config"] = {
    "port": 5432,
    "listen_addresses": "localhost",
    "max_connections": 100,
    "ssl": True,
}

# Networks that may connect; environments add theirs.
default["postgresql"]["allowed_networks"] = [
    "127.0.0.1/32",
]

# The lines of pg_hba.conf, first match wins.
default["postgresql"]["hba"] = [
    {
        "type": "local",
        "database": "all",
        "user": "postgres",
        "method": "peer",
    },
]
