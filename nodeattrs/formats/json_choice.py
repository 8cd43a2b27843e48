"""Compact JSON: what the store writes and reads."""

from __future__ import annotations

import json
from typing import Any

# `check_circular` off: a value that holds itself ends as one that is nested too deep does, with RecursionError.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def encoded(value: Any) -> bytes:
    """*value* as JSON without spaces, in UTF-8; maps keep their order.

    raises: TypeError, ValueError, RecursionError, as `json.dumps`

    >>> encoded({"b": [1, None], "a": "\u00e9"}).decode()
    '{"b":[1,null],"a":"\u00e9"}'
    """
    return _encode(value).encode("utf-8")


def decoded(content: bytes) -> Any:
    """The value that a JSON text in UTF-8 has. raises: ValueError, RecursionError, as `json.loads`

    >>> decoded(b'{"a": 18446744073709551616}')
    {'a': 18446744073709551616}
    """
    return json.loads(content)
