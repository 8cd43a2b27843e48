"""Keys: the steps of a dotted key, the value below these steps, and the `lookup_options` of a key.

`users.bob.'home.dir'.0` has the root key `users` and three steps below it. In lookup_options, an exact name counts
before regular expressions. No file is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.sensitive import MarkedSecret
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.hiera.codes import (
    BAD_PATTERN,
    DIG_TYPE_MISMATCH,
    KEY_SYNTAX,
    LOOKUP_OPTIONS_KEY_OUTSIDE_MODULE,
    LOOKUP_OPTIONS_NOT_A_HASH,
    LOOKUP_OPTIONS_PATTERN_OUTSIDE_MODULE,
)
from nodeattrs.dialects.hiera.errors import BadLookup, CannotDig
from nodeattrs.formats.patterns import BadPattern, Expression
from nodeattrs.puppet.regex import translated

_PIECE = re.compile(r"\s*\"([^\"]+)\"\s*|\s*'([^']+)'\s*|([^'\".]+)")


@lru_cache(maxsize=65536)
def split_key(key: str) -> Path:
    """The steps of a key; a bare step of digits is an integer, a quoted one is text. A key without dots is one step.

    raises: BadLookup "key_syntax", for an empty step, or a quote that does not end

    >>> split_key("users.bob.0.'home.dir'")
    ('users', 'bob', 0, 'home.dir')
    """
    if not any(sign in key for sign in "'\"."):
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
                steps.append(_step(bare))
            except ValueError:
                raise _malformed(key, at) from None
        at = piece.end()
        if at == len(key):
            return tuple(steps)
        if key[at] != ".":
            raise _malformed(key, at)
        at += 1


def _step(bare: str) -> str | int:
    """A bare step: an integer if it has digits alone, else the text without blanks around it.

    raises: ValueError, for more digits than Python reads
    """
    word = bare.strip()
    digits = word[1:] if word[:1] in ("+", "-") else word
    return int(word) if digits.isascii() and digits.isdigit() else word


def _malformed(key: str, at: int) -> BadLookup:
    return BadLookup(
        f"the key {key[:80]!r} cannot be split at character {at + 1}",
        kind=KEY_SYNTAX,
        hint="write steps with one dot between them, and quote a step that has a dot in it: a.'b.c'.0",
    )


def module_of(root: str) -> str | None:
    """The module that a key belongs to: the text before the first `::`; None without one.

    >>> module_of("ntp::servers"), module_of("servers"), module_of("::servers")
    ('ntp', None, None)
    """
    cut = root.find("::")
    return root[:cut] if cut > 0 else None


def value_below(value: Any, steps: Path, key: str) -> Any:
    """The part of *value* below *steps*; ABSENT if it has no such part. Without steps, *value* itself.

    Steps lead into secrets, too. Null and ABSENT have no parts.
    key:    the whole key, for the message
    raises: CannotDig, for a step into a text, a number or a boolean, or a text as a step into a list
    """
    for step in steps:
        value = value.unwrap() if type(value) is MarkedSecret else value
        if value is None or value is ABSENT:
            return ABSENT
        if type(value) is list and type(step) is int:
            if not 0 <= step < len(value):
                return ABSENT
            value = value[step]
        elif type(value) is dict:
            value = value.get(step, ABSENT)
        else:
            kind = {list: "list", str: "text", bool: "boolean"}.get(type(value), "number")
            raise CannotDig(
                f"{key!r} asks for {step!r} inside a {kind}",
                kind=DIG_TYPE_MISMATCH,
                hint="a list takes a number from 0, a map takes a key; this value is neither",
            )
    return value


LOOKUP_OPTIONS = "lookup_options"
"""The reserved key."""


def checked_options(value: Any, module: str | None) -> dict[str, Any] | None:
    """The value of `lookup_options` in one layer, unchanged, if it is valid; None for null.

    module: the module whose layer it is; then every name has to begin with the name of the module
    raises: BadLookup, for a value other than a map, or a name outside of the module
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadLookup(
            f"{LOOKUP_OPTIONS} must be a map, and is {value!r}",
            kind=LOOKUP_OPTIONS_NOT_A_HASH,
            hint="write `lookup_options:` with a key, and `merge:` below it",
        )
    if module is not None:
        for name in value:
            if str(name).startswith("^"):
                if not str(name).startswith(f"^{module}::"):
                    raise _outside(LOOKUP_OPTIONS_PATTERN_OUTSIDE_MODULE, name, f"^{module}::")
            elif not str(name).startswith(f"{module}::"):
                raise _outside(LOOKUP_OPTIONS_KEY_OUTSIDE_MODULE, name, f"{module}::")
    return value


def _outside(kind: Kind, name: object, start: str) -> BadLookup:
    return BadLookup(
        f"{LOOKUP_OPTIONS} of a module may name its own keys only, not of {name!r}",
        kind=kind,
        hint=f"begin it with {start!r}, or move it to the environment",
    )


_BEGIN = re.compile(r"\^([\w:-]+)(?![*+?{])")
_END = re.compile(r"\^(?:[\w:-]*(?:\(\.[*+]\)|\.[*+]))*([\w:-]*)\$")
"""Matches an expression of words and wildcards that ends with a word."""


class _Pattern:
    """A regular expression that names keys.

    It is compiled when a key first has its fixed beginning and end. An expression that cannot be used is an error for
    such keys only.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        begin = None if "|" in name else _BEGIN.match(name)
        end = _END.fullmatch(name)
        self._begin, self._end = begin[1] if begin else "", end[1] if end else ""

    @cached_property
    def _expression(self) -> Expression:
        try:
            return translated(self._name)
        except BadPattern as error:
            raise BadLookup(
                f"the expression {self._name!r} in {LOOKUP_OPTIONS} cannot be used: {error.message}",
                kind=BAD_PATTERN,
                hint=error.hint or "it is a regular expression in Ruby's spelling",
            ) from None

    def search(self, root: str) -> bool:
        """Whether it is found in a key. raises: BadLookup "bad_pattern"; TooMuch"""
        if not (root.startswith(self._begin) and root.endswith(self._end)) and "\n" not in root:
            return False
        return self._expression.search(root)


class Options:
    """The merged lookup_options for the keys of one module, or for keys without a module. `of` finds the entry for a
    key.

    merged:   lookup_options: name or expression -> entry
    exact:    name -> entry
    patterns: (expression, its text, entry) for each name that begins with ^, in order

    `of` returns (name or expression, the entry), or None if no entry is for the key. The constructor compiles no
    expression, so a wrong one is an error only in `of`.
    """

    def __init__(self, merged: Mapping[Any, Any]) -> None:
        self.exact: dict[Any, Any] = {}
        self.patterns: list[tuple[_Pattern, str, Any]] = []
        for name, entry in merged.items():
            if isinstance(name, str) and name.startswith("^"):
                self.patterns.append((_Pattern(name), name, entry))
            else:
                self.exact[name] = entry

    def of(self, root: str) -> tuple[str, Mapping[str, Any]] | None:
        """Returns (name or expression, its options) for a key; None if there is no entry for it.

        The exact name counts first, and then the first expression that fits. A null under an exact name counts as no
        entry. An entry that is not a map has no options: {}.
        root:   the key, without the steps after it
        raises: BadLookup "bad_pattern", for an expression that cannot be used and might fit the key; TooMuch
        """
        entry = self.exact.get(root)
        if entry is not None:
            return root, entry if isinstance(entry, dict) else {}
        for pattern, name, entry in self.patterns:
            if pattern.search(root):
                return name, entry if isinstance(entry, dict) else {}
        return None
