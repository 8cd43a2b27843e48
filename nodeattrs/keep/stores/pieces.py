"""JSON as it is kept: a text in pieces, each stored once by its content.

Where a text is cut depends on what stands there and on nothing before it, so that a change in one
place leaves the other pieces as they were. It knows no store.
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

from nodeattrs.core.tree import is_json
from nodeattrs.errors import BadValue

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

# Without a book of what it is in: a value that holds itself ends at the same limit as one that is too deep.
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False).encode


def json_text(value: Any, what: str) -> str:
    """*value* as JSON on one line; it was read back before anybody relies on it.

    raises: BadValue
    """
    text = written(value, what)
    check_readable(text, value, what)
    return text


def written(value: Any, what: str) -> str:
    """*value* as JSON, for `check_readable` to judge. raises: BadValue, also for what holds itself"""
    with _refusing(what):
        text = _encoded(value)
        text.encode("utf-8")
        return text


def check_readable(text: str, value: Any, what: str) -> None:
    """raises: BadValue, where reading *text* would not give *value* back"""
    if is_json(value, _DEEPEST):
        return
    with _refusing(what):
        if form_of(value) is None and _depth(value) > _DEEPEST:
            raise RecursionError(f"it is nested more than {_DEEPEST} deep")
        back = json.loads(text)
    if back != value:
        raise BadValue(f"{what} is not JSON: reading it back gives something else")


@contextlib.contextmanager
def _refusing(what: str) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise BadValue(f"{what} cannot be kept: it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} cannot be kept: {str(error).partition(chr(10))[0]}") from error


def form_of(value: Any) -> bytes | None:
    """A hash of a value itself, types and all; None for what is no plain data, or too deep.

    The value must not hold itself: ask `written` first.
    """
    try:
        # Of the first version: it writes one value in one way. Nothing is ever read back from it.
        return hashed(marshal.dumps(value, 0))
    except ValueError:
        return None


def _depth(value: Any) -> int:
    """How deep *value* is nested, as far as _DEEPEST; Python's own limit depends on its version."""
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        depth += 1
        level = [inner for one in level for inner in _inside(one)]
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
