"""Who may come in, and how often they may try."""

from nodeattrs.recipe import default, force_override

default["base"]["ssh"] = {
    "port": 22,
    "password_authentication": False,
    "max_auth_tries": 4,
}

# No role and no environment opens this door again: force_override beats the overrides of both.
force_override["base"]["ssh"]["permit_root_login"] = False
