"""Functions that expressions, transformers and combinators know by name. The caller may add others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.tree import strict_key


def flatten(value: Any) -> list[Any]:
    """All levels of a list taken off; what is no list becomes one.

    >>> flatten([1, [2, [3]]])
    [1, 2, 3]
    """
    if not isinstance(value, list):
        return [value]
    return [inner for entry in value for inner in flatten(entry)]


def uniq(value: list[Any]) -> list[Any]:
    """A list without later duplicates; 1, 1.0, true and "1" are four values."""
    first: dict[Any, Any] = {}
    for entry in value:
        first.setdefault(strict_key(entry), entry)
    return list(first.values())


def _joined(value: list[Any], between: str = "") -> str:
    return between.join(str(entry) for entry in value)


def _concat(*lists: Any) -> list[Any]:
    return [entry for one in lists for entry in (one if isinstance(one, list) else [one])]


def _merged(*maps: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for one in maps for key, value in one.items()}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "capitalize": lambda text: str(text).capitalize(),
    "concat": _concat,
    "downcase": lambda text: str(text).lower(),
    "flatten": flatten,
    "join": _joined,
    "keys": lambda value: list(value),
    "merge": _merged,
    "size": lambda value: len(value),
    "sort": lambda value: sorted(value),
    "stringify": lambda value: str(value),
    "strip": lambda text: str(text).strip(),
    "unique": uniq,
    "upcase": lambda text: str(text).upper(),
    "values": lambda value: list(value.values()),
}
"""By name. `concat`, `flatten`, `uniq`, `merge` and `sum` of multibinds are options, not these."""
