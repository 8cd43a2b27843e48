"""Dotted keys: how one is split, and how a value is dug out.

`users.bob.'home.dir'.0` names the key `users` and four steps below it. It knows no
file and no scope.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from nodeattrs.adapters.hiera.errors import BadLookup, CannotDig
from nodeattrs.core.tree import ABSENT, Path

SPECIAL = re.compile(r"['\".]")
"""A key without any of these is one step, blanks included."""

_PIECE = re.compile(r"\s*\"([^\"]+)\"\s*|\s*'([^']+)'\s*|([^'\".]+)")
_INTEGER = re.compile(r":?[+-]?[0-9]+")


@lru_cache(maxsize=65536)
def split_key(key: str) -> Path:
    """The steps of a key; a bare step of digits is an integer, a quoted one is text.

    raises: BadLookup "key_syntax"

    >>> split_key("users.bob.0.'home.dir'")
    ('users', 'bob', 0, 'home.dir')
    """
    if not SPECIAL.search(key):
        return (key,)
    steps: list[Any] = []
    at = 0
    while True:
        piece = _PIECE.match(key, at)
        if piece is None:
            raise _malformed(key, at)
        double, single, bare = piece.groups()
        if bare is None:
            steps.append(double if double is not None else single)
        else:
            try:
                steps.append(int(bare) if _INTEGER.fullmatch(bare.strip()) and ":" not in bare else bare.strip())
            except ValueError:  # more digits than Python reads
                raise _malformed(key, at) from None
        at = piece.end()
        if at == len(key):
            return tuple(steps)
        if key[at] != ".":
            raise _malformed(key, at)
        at += 1


def _malformed(key: str, at: int) -> BadLookup:
    return BadLookup(
        f"the key {key[:80]!r} cannot be split at character {at + 1}",
        kind="key_syntax",
        hint="write steps with one dot between them, and quote a step that has a dot in it: a.'b.c'.0",
    )


def module_of(root: str) -> str | None:
    """The module that a key belongs to: what stands before the first `::`.

    >>> module_of("ntp::servers"), module_of("servers"), module_of("::servers")
    ('ntp', None, None)
    """
    cut = root.find("::")
    return root[:cut] if cut > 0 else None


def dug(value: Any, steps: Path, key: str) -> Any:
    """What stands below *value* after *steps*, or ABSENT; null has nothing below it.

    raises: CannotDig, where a step meets a text, a number or a boolean, or text meets a list
    """
    for step in steps:
        if value is None:
            return ABSENT
        if type(value) is list and type(step) is int:
            if not 0 <= step < len(value):
                return ABSENT
            value = value[step]
        elif type(value) is dict:
            value = value.get(step, ABSENT)
            if value is ABSENT:
                return ABSENT
        else:
            kind = {list: "list", str: "text", bool: "boolean"}.get(type(value), "number")
            raise CannotDig(
                f"{key!r} asks for {step!r} inside a {kind}",
                kind="dig_type_mismatch",
                hint="a list takes a number from 0, a map takes a key; what stands there is neither",
            )
    return value
