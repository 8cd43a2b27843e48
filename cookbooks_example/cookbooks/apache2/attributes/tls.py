"""Certificates and protocols. recipes/tls.py has the last word on protocols."""

from nodeattrs.recipe import default

default["apache2"]["tls"] = {
    "certificate": "/etc/ssl/certs/web.pem",
    "certificate_key": "/etc/ssl/private/web.key",
    "session_cache_seconds": 300,
}
