"""Compact JSON, written and read: by orjson where that is installed and gives the same, else by the library.

Who has the extra "fast" has the same texts, values and errors as who has not; it costs less. The other
way is taken for what orjson does otherwise: integers beyond 64 bits, NaN, floats that it spells in its own
way, objects that only it knows, more than 254 levels; and for whatever it refuses, so that the
library says why. It is imported by processes that read or write a lot: to start takes it as long as a megabyte.
"""

from __future__ import annotations

import gc
import json
import re
from math import inf
from typing import Any

WORTH = 1_000_000
"""So many characters later orjson is worth its start."""

DEEPEST = 254
"""Levels of what orjson writes."""

# Without a book of what it is in: a value that holds itself ends at the same limit as one that is too deep.
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode

_DIGITS = bytes(ord("0") if chr(byte).isdecimal() else ord(".") for byte in range(128)) + b"." * 128
_LONG = b"0" * 19
"""A whole number with fewer digits has fewer than 64 bits."""
_SMALL = re.compile(rb"0\.0000\d+(?=[],}]|\Z)")
_ESCAPE = re.compile(r"(?s)\\.")
_SPELLED = 1e16, 1.5e300, 1e-10, 5e-324, 1.2345678901234568e17, -0.0, 0.1, 0.0001, 1e22


class _Choice:
    """What this process has chosen. library: None until it is worth its start, False for the standard one"""

    passed = 0
    library: Any = None
    strict = 0


def _library(size: int) -> Any:
    if _Choice.library is None:
        _Choice.passed += size
        if _Choice.passed > WORTH:
            _Choice.library = _imported()
    return _Choice.library


def _imported() -> Any:
    try:
        import orjson
    except ImportError:
        return False
    _Choice.strict = (
        orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
    )
    # Earlier ones spell exponents otherwise.
    return orjson if all(orjson.dumps(one).decode() == repr(one) for one in _SPELLED) else False


def expect(size: int) -> None:
    """Say that so many characters are going to be read or written, so that nothing waits until they were."""
    _library(size)


def encoded(value: Any, plain: bool = False) -> tuple[bytes, bool]:
    """*value* as JSON without spaces, in UTF-8; and whether it is known to come back as it is when it is read.

    plain:  it came out of JSON, so that it comes back
    raises: TypeError, ValueError, RecursionError, as `json.dumps`

    >>> encoded({"a": [1, None]})[0]
    b'{"a":[1,null]}'
    """
    library = _library(0)
    if library:
        try:
            text: bytes = library.dumps(value, None, _Choice.strict)
            if not _has_small(text) if plain else _is_plain(value):
                return text, True
        except (TypeError, ValueError):  # its errors are some of these
            pass
    text = _encoded(value).encode("utf-8")
    _library(len(text))
    return text, False


IN_COMMON: dict[int, tuple[Any, list[tuple[bytes, bool]]]] = {}
"""By their identity, maps that nobody changes and many texts have in common, which `recurring` knows; each with what
`encoded` gave, once somebody has asked."""


def encoded_once(value: Any, plain: bool = False) -> tuple[bytes, bool]:
    """As `encoded`; of a map that many texts have in common it is done once."""
    known = IN_COMMON.get(id(value))
    if known is None or known[0] is not value:
        return encoded(value, plain)
    if not known[1]:
        known[1].append(encoded(value, True))
    return known[1][0]


def _has_small(text: bytes) -> bool:
    """Whether a number between 1e-10 and 1e-4 may be in it: of these Python writes an exponent of two digits.

    cost: two looks for a few letters, since packages and addresses have them, too
    """
    if b"0.0000" in text and _SMALL.search(text):
        return True
    at = text.find(b"e-")
    while at >= 0:
        if text[at + 2 : at + 3].isdigit() and text[at + 3 : at + 4] in b"],}":  # nothing is in it, too: the end
            return True
        at = text.find(b"e-", at + 2)
    return False


def _is_plain(value: Any) -> bool:
    """Whether a value has nothing but what JSON has, and both write it alike. It does not hold itself; keys are text.

    orjson writes more than that: tuples, NaN as null, members of an enumeration.
    cost: a fraction of a look at each value, since nearly all of it is done in C
    """
    level = [value]
    while level:
        kinds = {*map(type, level)}
        if not kinds <= _KINDS or (float in kinds and not all(map(_is_spelled_alike, level))):
            return False
        # Of dicts and lists these are the values, and such keys as are no text.
        level = gc.get_referents(*[one for one in level if type(one) is dict or type(one) is list])
    return True


def _is_spelled_alike(value: Any) -> bool:
    return type(value) is not float or value == 0 or 1e-4 <= abs(value) < inf


_KINDS = {str, int, float, bool, type(None), dict, list}


def decoded(text: bytes | str) -> Any:
    """What a text says. raises: ValueError, RecursionError, as `json.loads`

    >>> decoded(b'{"a": 18446744073709551616}')
    {'a': 18446744073709551616}
    """
    library = _library(len(text))
    if library:
        try:
            if _LONG not in (text if isinstance(text, bytes) else text.encode()).translate(_DIGITS):
                return library.loads(text)
        except ValueError:
            pass
    return json.loads(text)


def is_fast() -> bool:
    """Whether this process reads by orjson."""
    return bool(_library(0))


def quotes_in(text: str) -> int:
    """How many quotes open or close a string in a text that parses."""
    escaped = _ESCAPE.findall(text).count('\\"') if "\\" in text else 0
    return text.count('"') - escaped


def read_back(text: bytes) -> tuple[Any, bytes | None] | None:
    """What a text in UTF-8 says, and that as a text once more; None where it takes the library to know.

    Of a key that is written twice the last value stands there. A text that programs wrote, in lines or without
    spaces, comes back as it was: it is None then, and nothing in it is odd.
    """
    library = _library(len(text))
    if not library:
        return None
    try:
        tree = library.loads(text)
        again: bytes = library.dumps(tree, None, library.OPT_INDENT_2 if text[1:2] == b"\n" else 0)
        if again == text.rstrip(b"\n"):
            return tree, None
        return None if _LONG in text.translate(_DIGITS) else (tree, again)
    except (TypeError, ValueError):
        return None
