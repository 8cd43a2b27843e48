"""Values between a node and Ruby: JSON, with marked maps for what it has no words for.

{"$sym": "x"}           a symbol
{"$lazy": 3}            a deferred value that Ruby computes
{"$later": ["a", "b"]}  a deferred value that is computed here: the merged value at that path
{"$map": [[k, v], ..]}  a map with a key that is no text, or begins with $
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import MAX_DEPTH, Path
from nodeattrs.errors import BadValue, TooDeep
from nodeattrs.node.values import Deferred, Symbol, Withheld
from nodeattrs.node.view import ListView, MapView

__all__ = ["packed", "unpacked"]


def packed(value: Any, number: Callable[[Deferred], int | None], path: Path = ()) -> Any:
    """Plain data of a node as it travels.

    number: of a deferred value that Ruby computes; None of any other
    path:   where it stands in the merged tree
    raises: ValueWithheld
    """
    if isinstance(value, (MapView, ListView)):
        value = value.to_plain()
    if isinstance(value, dict):
        pairs = [(key, packed(one, number, (*path, key))) for key, one in value.items()]
        if all(type(key) is str and key[:1] != "$" for key, _ in pairs):
            return dict(pairs)
        return {"$map": [[str(key) if isinstance(key, Symbol) else key, one] for key, one in pairs]}
    if isinstance(value, list):
        return [packed(one, number, (*path, index)) for index, one in enumerate(value)]
    if isinstance(value, Symbol):
        return {"$sym": str(value)}
    if isinstance(value, Deferred):
        known = number(value)
        return {"$later": list(path)} if known is None else {"$lazy": known}
    if isinstance(value, Withheld):
        value.read(path)
    return packed(value.unwrap(), number, path) if isinstance(value, Sensitive) else value


def unpacked(value: Any, lazy: Callable[[Any], Deferred], room: int = MAX_DEPTH) -> Any:
    """What Ruby sent, as a node takes it. lazy: makes a deferred value of its number. raises: BadValue, TooDeep"""
    if not isinstance(value, (dict, list)):
        return value
    if not room:
        raise TooDeep(f"deeper than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return [unpacked(one, lazy, room - 1) for one in value]
    if len(value) == 1 and (first := next(iter(value)))[:1] == "$":
        return _special(first, value[first], lazy, room)
    return {key: unpacked(one, lazy, room - 1) for key, one in value.items()}


def _special(name: str, given: Any, lazy: Callable[[Any], Deferred], room: int) -> Any:
    if name == "$sym" and isinstance(given, str):
        return Symbol(given)
    if name == "$lazy":
        return lazy(given)
    if name == "$map" and isinstance(given, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in given):
        return {_key(key): unpacked(one, lazy, room - 1) for key, one in given}
    raise BadValue(f"Ruby sent a value that nobody knows: {name}")


def _key(key: Any) -> Any:
    if isinstance(key, (list, dict)):
        raise BadValue("a key is text or a whole number, and not a list or a map")
    return key
