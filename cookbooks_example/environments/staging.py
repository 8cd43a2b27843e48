"""The environment "staging", in the language of environments."""

name("staging")
description("Where the next release is tried. Smaller machines, more to look at.")
cookbook("app", ">= 2.3")
default_attributes(
    {
        "apache2": {
            "listen_ports": [
                8443,
            ],
        },
        "app": {
            "workers": 4,
            "log_level": "debug",
            "features": {
                "reviews": True,
            },
        },
        "postgresql": {
            "allowed_networks": [
                "10.30.0.0/24",
            ],
        },
    }
)
override_attributes(
    {
        "apache2": {
            # For the old telephones in the test laboratory. See apache2::tls for what becomes of it.
            "tls": {
                "min_protocol": "TLSv1",
                "legacy_ciphers": True,
            },
        },
    }
)
