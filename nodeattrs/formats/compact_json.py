"""Compact JSON in UTF-8, as the store writes it."""

from __future__ import annotations

import json
from typing import Any

# Without `check_circular`, a value that contains itself ends in RecursionError, like one that is nested too deeply.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def encoded(value: Any) -> bytes:
    """Write a value as JSON without spaces; maps keep their order.

    raises: TypeError, for a value that JSON does not have; ValueError, for NaN and infinity; RecursionError, also for
            a value that contains itself

    >>> encoded({"b": [1, None], "a": "\u00e9"}).decode()
    '{"b":[1,null],"a":"\u00e9"}'
    """
    return _encode(value).encode("utf-8")
