"""The four escapes of the vectors' JSON, read and written.

    {"$map": [[key, value], ...]}   a map with a key that is no string, or starts with $
    {"$sym": "x"}                   a symbol; as a key of a map or path the same as "x"
    {"$lazy": [path]}               a deferred value that reads that merged path
    {"$lazy": true}                 in results: a deferred value that was not evaluated

It knows no node and no model: what stands for a symbol or a deferred value in memory
is the caller's business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any


def decoded(value: Any, symbol: Callable[[str], Any], deferred: Callable[[list[Any]], Any]) -> Any:
    """The value that an escaped one stands for. Always a new one, so callers own what they get."""
    if isinstance(value, list):
        return [decoded(element, symbol, deferred) for element in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$map": pairs}:
            return {_key(key, symbol): decoded(entry, symbol, deferred) for key, entry in pairs}
        case {"$sym": text}:
            return symbol(text)
        case {"$lazy": path}:
            return deferred(path)
    return {key: decoded(entry, symbol, deferred) for key, entry in value.items()}


def _key(key: Any, symbol: Callable[[str], Any]) -> Any:
    return symbol(key["$sym"]) if isinstance(key, dict) else key


def encoded(value: Any, symbol: type, deferred: type) -> Any:
    """The escaped form of a plain value (maps, lists and scalars, symbols, deferred values).

    raises: TypeError, where something else is met: a result must be plain before it is judged
    """
    if isinstance(value, symbol):
        return {"$sym": str(value)}
    if isinstance(value, deferred):
        return {"$lazy": True}
    if isinstance(value, list):
        return [encoded(element, symbol, deferred) for element in value]
    if isinstance(value, dict):
        entries = [[key, encoded(entry, symbol, deferred)] for key, entry in value.items()]
        if any(not isinstance(key, str) or key.startswith("$") for key in value):
            return {"$map": entries}
        return dict(entries)
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise TypeError(f"{value!r} ({type(value).__name__}) is no plain value")


def spelled(value: Any) -> str:
    """One text for one value: equal texts are values equal in type, content and order of keys.

    >>> spelled({"a": 1}) == spelled({"a": 1.0}), spelled({"a": 1, "b": 2}) == spelled({"b": 2, "a": 1})
    (False, False)
    """
    return json.dumps(value, ensure_ascii=False)


def difference(expected: Any, got: Any, where: str = "") -> str | None:
    """Where two escaped values first differ, in words; None where they are the same."""
    if spelled(expected) == spelled(got):
        return None
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key in expected:
            if key not in got:
                return f"{where}.{key}: expected {spelled(expected[key])}, got nothing"
            if found := difference(expected[key], got[key], f"{where}.{key}"):
                return found
        if extra := [key for key in got if key not in expected]:
            return f"{where}.{extra[0]}: expected nothing, got {spelled(got[extra[0]])}"
        return f"{where}: expected the keys in order {list(expected)}, got {list(got)}"
    return f"{where or 'value'}: expected {spelled(expected)}, got {spelled(got)}"
