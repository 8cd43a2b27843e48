"""JSON as it is kept in a database: a text in pieces, each stored once by its content.

Where a text is cut depends on what stands there and on nothing before it, so that a change in one
place leaves the other pieces as they were. It knows no database.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import marshal
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from nodeattrs.errors import BadValue

__all__ = ["HASH", "hashed", "joined", "json_text", "packed", "pieces_of", "unpacked"]

HASH = hashlib.sha256().digest_size
"""Bytes of a piece's name."""

_SMALLEST, _LARGEST = 256, 16_384
"""Bytes of a piece, but for the last one, and for texts that cannot be cut."""

_SELDOM = 64
"""One of so many places where a map or list has ended is the end of a piece."""

_ENDS = re.compile(rb"[\]}],")
_AHEAD = 32

_DEEPEST = 1_999
"""Levels of a text. A node's own limit is 500, and a snapshot needs up to three for each of them."""

_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def json_text(value: Any, what: str) -> str:
    """*value* as JSON on one line; it was read back before anybody relies on it.

    raises: BadValue
    """
    try:
        if _depth(value) > _DEEPEST:
            raise RecursionError(f"it is nested more than {_DEEPEST} deep")
        text = _encoded(value)
        text.encode("utf-8")
        back = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadValue(f"{what} cannot be kept: {str(error).partition(chr(10))[0]}") from error
    if back != value:
        raise BadValue(f"{what} is not JSON: reading it back gives something else")
    return text


def _depth(value: Any) -> int:
    """How deep *value* is nested, as far as _DEEPEST; Python's own limit depends on its version."""
    with contextlib.suppress(ValueError):
        marshal.dumps(value, 0)  # it has that very limit, and is fast
        return 0
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        depth += 1
        # Each once: what holds itself twice would be without number.
        level = list({id(inner): inner for one in level for inner in _inside(one)}.values())
    return depth


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, dict | list):
                yield inner


def pieces_of(text: bytes) -> list[bytes]:
    """*text* in pieces; joined they are the text.

    >>> pieces_of(b'{"a":[1,2],"b":null}')
    [b'{"a":[1,2],"b":null}']
    """
    pieces = []
    start = 0
    for end in _ENDS.finditer(text):
        at = end.end()
        size = at - start
        if size >= _SMALLEST and (size >= _LARGEST or zlib.crc32(text[at : at + _AHEAD]) % _SELDOM == 0):
            pieces.append(text[start:at])
            start = at
    return [*pieces, text[start:]]


def hashed(content: bytes) -> bytes:
    """The name of a piece, or of a text."""
    return hashlib.sha256(content).digest()


def packed(piece: bytes) -> bytes:
    """A piece as it is written."""
    return zlib.compress(piece, 6)


def unpacked(body: bytes) -> bytes:
    """A piece as it was. raises: zlib.error"""
    return zlib.decompress(body)


def joined(names: bytes, bodies: Mapping[bytes, bytes]) -> bytes:
    """The text whose pieces have these names, all in a row. raises: KeyError, zlib.error"""
    return b"".join(unpacked(bodies[names[at : at + HASH]]) for at in range(0, len(names), HASH))
