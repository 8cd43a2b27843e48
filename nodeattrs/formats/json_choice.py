"""Write compact JSON, and read JSON with the parser that is installed: orjson of the extra "fast", else `json`.

The store and the reader of JSON files use it. Values, bytes and errors are those of `json` in both cases. `json`
alone writes: orjson spells some floats in another way, and writes NaN as null.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

LARGE = 20_000
"""Bytes. A smaller text is not worth the import of orjson, which takes some milliseconds."""

# `check_circular` off: a value that holds itself ends as one that is nested too deep does, with RecursionError.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode

_DIGITS = bytes(ord("0") if chr(byte).isdecimal() else ord(".") for byte in range(128)) + b"." * 128
_LONG = b"0" * 19
"""A whole number with fewer digits has fewer than 64 bits. orjson reads a longer one as a float."""


def encoded(value: Any) -> bytes:
    """*value* as JSON without spaces, in UTF-8; maps keep their order.

    raises: TypeError, ValueError, RecursionError, as `json.dumps`

    >>> encoded({"b": [1, None], "a": "\u00e9"}).decode()
    '{"b":[1,null],"a":"\u00e9"}'
    """
    return _encode(value).encode("utf-8")


def decoded(content: bytes, parse: Callable[[bytes], Any] = json.loads) -> Any:
    """The value that a JSON text has.

    parse:  reads *content* where orjson is not installed, where it refuses the text, and where it loses digits
    raises: ValueError, RecursionError, as `json.loads`, or what *parse* raises

    >>> decoded(b'{"a": 18446744073709551616}')
    {'a': 18446744073709551616}
    """
    library = _orjson() if len(content) >= LARGE else None
    if library is not None and _LONG not in content.translate(_DIGITS):
        try:
            return library.loads(content)
        except ValueError:
            pass  # `parse` accepts the text, or says where it is wrong
    return parse(content)


@cache
def _orjson() -> Any:
    try:
        import orjson
    except ImportError:
        return None
    return orjson
