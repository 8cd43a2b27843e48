"""Names that come from outside and are about to become file names.

One rule for nodes, roles, environments, cookbooks and data bags, so that none of
them can point out of its directory. Knows no directory itself.
"""

from __future__ import annotations

import re

from nodeattrs.errors import BadName

__all__ = ["LONGEST_NAME", "checked_name"]

LONGEST_NAME = 200
"""Characters of a name. A file name has 255; a store adds its own marks to it."""

# Chef's own alphabet. Without "@", "~" and "%", which are left for marks that no name can imitate.
_NAME = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9_.:-]*")


def checked_name(name: object, what: str) -> str:
    """*name* itself, if it may become a file name.

    what:   the sort of thing named, for the message: "node", "role"
    raises: BadName

    >>> checked_name("web1.example.com", "node")
    'web1.example.com'
    """
    if isinstance(name, str) and _NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return name
    shown = repr(name) if len(repr(name)) <= 80 else f"{repr(name)[:77]}..."
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        reason = f"it has {len(name)} characters, {LONGEST_NAME} is the most"
    else:
        reason = "letters, digits, '_', '-', ':' and '.' make a name, and it does not begin with '.'"
    raise BadName(f"no {what} can be called {shown}", hint=reason)
