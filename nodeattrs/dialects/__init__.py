"""The dialects, each in a folder of its own; the built-in ones, and the registry of those of installed packages.

`named` finds a dialect by its name, and `all_dialects` gives all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import BadArgument

if TYPE_CHECKING:
    from nodeattrs.contract.dialect import Dialect
    from nodeattrs.dialects.built_in import BUILT_IN
    from nodeattrs.dialects.registry import ForeignDialects, all_dialects, foreign

__all__ = ["BUILT_IN", "ForeignDialects", "all_dialects", "foreign", "named"]

_HOMES = {"BUILT_IN": "built_in", "ForeignDialects": "registry", "all_dialects": "registry", "foreign": "registry"}

_member = __getattr__ = imported(__name__, _HOMES)  # a dialect is used without the other ones


def named(name: str) -> Dialect:
    """The dialect of a name, built-in or of an installed package. raises: BadArgument, with similar names

    cost: for a name that no built-in dialect has, the metadata of all installed packages is read
    """
    found: Dialect | None = next((one for one in _member("BUILT_IN") if one.name == name), None)
    if found is None:
        known = _member("all_dialects")()
        found = known.get(name)
        if found is None:
            hint = hint_for(name, known) or f"known are {', '.join(known)}"
            raise BadArgument(f"there is no dialect {name!r}", hint=hint)
    return found
