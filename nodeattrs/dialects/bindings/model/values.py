"""Plain values: copies, the data form, comparisons of conditions, and the functions of the text language.

A value that a caller binds is copied, so that the caller cannot change what is bound. The module knows no bindings.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from nodeattrs.core.tree import MAX_DEPTH, strict_key
from nodeattrs.dialects.bindings.codes import NOT_DATA, SYNTAX
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.errors import TooDeep
from nodeattrs.formats.patterns import BadPattern, expression


def own_copy(value: Any, room: int = MAX_DEPTH) -> Any:
    """A copy of the lists and maps of a value at all levels; a tuple becomes a list, other objects are shared.

    room:   the levels of nesting that are allowed
    raises: TooDeep
    """
    if not isinstance(value, (list, tuple, dict)):
        return value
    if not room:
        raise TooDeep(f"a value is nested deeper than {MAX_DEPTH} levels, or inside itself")
    # Loops and no comprehensions: those would take a second frame a level.
    if isinstance(value, dict):
        copied = {}
        for key, entry in value.items():
            copied[key] = own_copy(entry, room - 1)
        return copied
    entries = []
    for entry in value:
        entries.append(own_copy(entry, room - 1))
    return entries


@lru_cache(maxsize=1024)
def shown_file(file: str) -> str:
    """The name of a Python file in messages: relative to the current folder, outside of it the last part alone."""
    relative = os.path.relpath(file) if os.path.isabs(file) and not file.startswith("<") else file
    inside = not relative.startswith(os.pardir)
    return (relative if inside else os.path.basename(file)).replace(os.sep, "/")


def as_data(value: Any) -> Any:
    """A value as JSON-able data. A pattern becomes {"regex": text}, and an expression its own `to_data()`.

    A hash with a key of another type than text becomes {"hash": [[key, value], ...]}.

    raises: BindingError ("not-data"), for a callable or another object
    """
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [as_data(entry) for entry in value]
    if isinstance(value, dict):
        return hash_as_data((key, as_data(entry)) for key, entry in value.items())
    if isinstance(value, re.Pattern):
        return {"regex": value.pattern}
    if hasattr(value, "to_data"):
        return value.to_data()
    raise BindingError(NOT_DATA, f"{value!r} has no data form", hint="name it with functions={...} or classes={...}")


def hash_as_data(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The data form of (key, value) pairs: a map where all keys are texts, else {"hash": [[key, value], ...]}.

    JSON would make one key of 1 and "1".
    """
    listed = list(pairs)
    if all(isinstance(key, str) for key, _ in listed):
        return dict(listed)
    return {"hash": [list(pair) for pair in listed]}


def flatten(value: Any) -> list[Any]:
    """The elements of a list and of all lists inside of the list; any other value becomes a list.

    >>> flatten([1, [2, [3]]])
    [1, 2, 3]
    """
    if not isinstance(value, list):
        return [value]
    return [inner for entry in value for inner in flatten(entry)]


def _uniq(value: list[Any]) -> list[Any]:
    """A new list without later duplicates; 1, 1.0, true and "1" are four values."""
    first: dict[Any, Any] = {}
    for entry in value:
        first.setdefault(strict_key(entry), entry)
    return list(first.values())


def text_in_language(value: Any) -> str:
    """A value as a text of the language: null is the empty text, booleans are "true" and "false", others their `str`.

    >>> text_in_language(None), text_in_language(True), text_in_language(1.5)
    ('', 'true', '1.5')
    """
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _joined(value: list[Any], between: str = "") -> str:
    return between.join(map(text_in_language, value))


def _concat(*lists: Any) -> list[Any]:
    return [entry for one in lists for entry in (one if isinstance(one, list) else [one])]


def _merged(*maps: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for one in maps for key, value in one.items()}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "capitalize": lambda text: text_in_language(text).capitalize(),
    "concat": _concat,
    "downcase": lambda text: text_in_language(text).lower(),
    "flatten": flatten,
    "join": _joined,
    "keys": list,
    "merge": _merged,
    "size": len,
    "sort": sorted,
    "stringify": text_in_language,
    "strip": lambda text: text_in_language(text).strip(),
    "unique": _uniq,
    "upcase": lambda text: text_in_language(text).upper(),
    "values": lambda value: list(value.values()),
}
"""Name -> function that expressions may call. The combinators of multibinds are not among them."""


# --- comparisons -----------------------------------------------------------------------------------

PATTERN_SIGNS = ("=~", "!~", "~=", "~!")
SIGNS = ("==", "!=", "<", "<=", ">", ">=", *PATTERN_SIGNS)
"""The operators of comparisons; those with a pattern on the right are the last four."""

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ALIKE: tuple[tuple[type, ...], ...] = ((int, float), (str,))


def pattern_of(text: str) -> re.Pattern[str]:
    """The compiled regular expression of a text. raises: BindingError ("syntax"), where it cannot be compiled"""
    try:
        expression(text)
        return re.compile(text)
    except BadPattern as error:
        raise BindingError(SYNTAX, f"the pattern {text!r} cannot be read: {error}") from None


def compared(actual: Any, sign: str, wanted: Any) -> bool:
    """Whether a comparison holds. Texts are ordered with texts, numbers with numbers; other pairs never are.

    `1` and `1.0` are equal; other values of different types are not. Only a text can match a pattern, at any place in
    it.
    actual: the value
    sign:   one of `SIGNS`
    wanted: the value or pattern on the right of the operator

    >>> compared(5432, ">", 80), compared("5432", ">", 80), compared("db1", "=~", "^db")
    (True, False, True)
    """
    if sign in ("==", "!="):
        same = type(actual) is type(wanted) or _are_equal(actual, wanted)
        return (same and actual == wanted) == (sign == "==")
    if sign in PATTERN_SIGNS:
        one, flags = (wanted.pattern, wanted.flags) if isinstance(wanted, re.Pattern) else (str(wanted), 0)
        found = isinstance(actual, str) and expression(one, flags).search(actual)
        return found == (sign in ("=~", "~="))
    return _are_equal(actual, wanted) and _COMPARE[sign](actual, wanted)


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return any(isinstance(one, kinds) and isinstance(other, kinds) for kinds in _ALIKE)
