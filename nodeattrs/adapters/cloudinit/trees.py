"""Trees as YAML makes them: any hashable key, dates, bytes, sets and tuples beside JSON's values.

The core's copying refuses such keys, since a node cannot hold them; a cloud-config can.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import BadValue, TooDeep

__all__ = ["MAX_VALUES", "independent", "measured", "same"]

MAX_VALUES = 1_000_000
"""The maps, lists and scalars that one tree may hold, its aliases written out."""

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None), date, datetime, bytes})


def independent(value: Any) -> Any:
    """A copy that shares no mutable part with *value*: exact dicts and lists; tuples and sets stay what they are.

    cost:   one visit a map and list, one look a scalar
    raises: TooDeep, past 500 levels; BadValue, for what no YAML document says

    >>> independent({None: [1, (2, [3])]})
    {None: [1, (2, [3])]}
    """
    kind = type(value)
    if kind is dict:
        return _copied_map(value, MAX_DEPTH)
    return value if kind in _SCALARS else _copied(value, MAX_DEPTH)


def _copied_map(value: dict[Any, Any], room: int) -> dict[Any, Any]:
    # Written out for dicts: this copy is half of what a merge costs.
    if not room:
        raise _too_deep()
    scalars = _SCALARS
    out = value.copy()
    for key, entry in value.items():
        kind = type(entry)
        if kind in scalars:
            continue
        out[key] = _copied_map(entry, room - 1) if kind is dict else _copied(entry, room - 1)
    return out


def _copied(value: Any, room: int) -> Any:
    if not room:
        raise _too_deep()
    scalars = _SCALARS
    if type(value) is list:
        out = value.copy()
        for index, entry in enumerate(value):
            if type(entry) not in scalars:
                out[index] = _copied(entry, room - 1)
        return out
    if isinstance(value, dict):
        return _copied_map(dict(value), room)
    if isinstance(value, (list, tuple)):
        items = _copied(list(value), room)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(value)
    for plain in (str, bool, int, float, bytes, datetime, date):
        if isinstance(value, plain):
            return value
    raise BadValue(f"a cloud-config cannot hold a {type(value).__name__}", path=())


def _too_deep() -> TooDeep:
    return TooDeep(f"nested deeper than {MAX_DEPTH} levels, or inside itself", path=())


def measured(value: Any) -> int:
    """How many values a tree holds once everything shared is written out.

    cost:   one visit for each object, however often it is shared
    raises: TooDeep, past 500 levels, or where a tree holds itself
    """
    return _sized(value, {}, set(), MAX_DEPTH)[0]


def _sized(value: Any, known: dict[int, tuple[int, int]], open_: set[int], room: int) -> tuple[int, int]:
    """The number of values, and the height."""
    if not isinstance(value, (dict, list, tuple)):
        return 1, 0
    identity = id(value)
    size = known.get(identity)
    if size is None:
        if identity in open_ or not room:
            raise _too_deep()
        open_.add(identity)
        total, height = 1, 0
        for entry in value.values() if isinstance(value, dict) else value:
            if isinstance(entry, (dict, list, tuple)):
                more, below = _sized(entry, known, open_, room - 1)
                total, height = total + more, max(height, below)
            else:
                total += 1
        open_.discard(identity)
        size = known[identity] = total, height + 1
    if size[1] > room:
        raise _too_deep()
    return size


def same(left: Any, right: Any) -> bool:
    """Whether two trees are equal, types and all; the order of keys does not count."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(entry, right[key]) for key, entry in left.items())
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
