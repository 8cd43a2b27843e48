"""Values at the border: copied on the way in, so that nobody outside can change what is bound."""

from __future__ import annotations

from typing import Any

from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import TooDeep

__all__ = ["taken_in"]


def taken_in(value: Any, room: int = MAX_DEPTH) -> Any:
    """A value without its ties to the caller: lists and maps are copied. raises: TooDeep"""
    if not isinstance(value, (list, tuple, dict)):
        return value
    if not room:
        raise TooDeep(f"a value is nested deeper than {MAX_DEPTH} levels, or inside itself")
    # Loops and no comprehensions: those would take a second frame a level.
    if isinstance(value, dict):
        copied = {}
        for key, entry in value.items():
            copied[key] = taken_in(entry, room - 1)
        return copied
    entries = []
    for entry in value:
        entries.append(taken_in(entry, room - 1))
    return entries
