"""The role "db", in the role language: its words are here without an import."""

name("db")
description("The database server.")
run_list(
    "role[base]",
    "recipe[postgresql]",
)
default_attributes(
    {
        "base": {
            "timezone": "UTC",  # beats the role "base", which it includes
            "sysctl": {
                "vm.swappiness": 1,
                "vm.overcommit_memory": 2,
            },
        },
        "postgresql": {
            "config": {
                "listen_addresses": "*",
                "max_connections": 300,
            },
        },
    }
)
override_attributes(
    {
        "base": {
            "tuned_profile": "postgresql",
        },
    }
)
