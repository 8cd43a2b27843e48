"""What can go wrong in a lookup, each with its kind.

The classes say what a program may catch, `kind` says exactly what happened; the
page docs/hiera.md lists the kinds. It knows nothing of how anything is looked up.

    HieraError
    ├── KeyNotFound       (also NotFound)        no source has the key, and there is no default
    ├── BadLookup         (also BadArgument)     a call, key or expression that cannot mean anything
    │   └── UnsetVariable                        a text names a variable that is not set
    ├── BadData           (also DocumentError)   a data file or hiera.yaml, with file and line
    ├── CannotMerge       (also MergeConflict)   values that a strategy refuses to join
    └── CannotDig         (also TypeConflict)    a step of a dotted key into a text or number
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodeattrs.codes import Kind, declared
from nodeattrs.core.tree import Path, meant
from nodeattrs.dialects.hiera.codes import (
    BAD_ARGUMENTS,
    CONFIG_INVALID,
    DATA_PARSE_ERROR,
    DIG_TYPE_MISMATCH,
    DUPLICATE_HIERARCHY_NAME,
    NOT_A_HASH,
    NOT_FOUND,
    UNSET_VARIABLE,
)
from nodeattrs.errors import BadArgument, DocumentError, MergeConflict, NodeattrsError, NotFound, TypeConflict
from nodeattrs.formats.documents import Document


class HieraError(NodeattrsError):
    """Every error of a lookup.

    kind: one word for programs, such as "not_found" or "hash_in_unique"; it must be given
    """

    entry = declared(
        "NA1001",
        "HieraError",
        cause="A lookup failed; no other code describes the reason.",
        example="nodeattrs hiera lookup KEY",
        way_out="The message says what.",
    )

    kind: Kind

    def __init__(self, message: str, *, kind: Kind, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.kind = kind


class KeyNotFound(HieraError, NotFound):
    """Nothing has the key, and there is no default.

    details, hint: may be given as what makes them: levels that may have the key, and keys that are spelled nearly so,
                   are looked for when they are read
    """

    entry = NOT_FOUND.entry
    _hint: str | Callable[[], str] | None
    _details: Sequence[str] | Callable[[], Sequence[str]]

    def __init__(
        self,
        message: str,
        *,
        kind: Kind = NOT_FOUND,
        hint: str | Callable[[], str] | None = None,
        details: Sequence[str] | Callable[[], Sequence[str]] = (),
        **facts: Any,
    ) -> None:
        super().__init__(message, kind=kind, **facts)
        self._hint, self._details = hint, details

    @property
    def hint(self) -> str | None:
        """The way out."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    @hint.setter
    def hint(self, text: str | None) -> None:
        self._hint = text

    @property
    def details(self) -> tuple[str, ...]:
        """Further facts, each a line."""
        if callable(self._details):
            self._details = self._details()
        return tuple(self._details)

    @details.setter
    def details(self, lines: Sequence[str]) -> None:
        self._details = lines

    def __reduce__(self) -> tuple[Any, ...]:
        self.hint, self.details = self.hint, self.details  # what makes them stays here
        return super().__reduce__()


class BadLookup(HieraError, BadArgument):
    """A call, a key, a type or an expression that cannot mean anything."""

    entry = BAD_ARGUMENTS.entry


class UnsetVariable(BadLookup):
    """A text names a variable that is not set, which ends a lookup of Puppet 8.

    variable: its name
    """

    entry = UNSET_VARIABLE.entry

    def __init__(self, variable: str, hint: str) -> None:
        super().__init__(f"the variable {variable} is not set", kind=UNSET_VARIABLE, hint=hint)
        self.variable = variable


class BadData(HieraError, DocumentError):
    """A data file or a configuration that cannot be read as what it should be."""

    entry = DATA_PARSE_ERROR.entry


class CannotMerge(HieraError, MergeConflict):
    """Values that a strategy refuses to join."""

    entry = NOT_A_HASH.entry


class CannotDig(HieraError, TypeConflict):
    """A step of a dotted key into something that has no such place."""

    entry = DIG_TYPE_MISMATCH.entry


def bad_data(document: Document, kind: Kind, message: str, path: Path = (), hint: str | None = None) -> BadData:
    """The error for what a file says at *path*."""
    line, column = document.place(path)
    return BadData(message, kind=kind, file=document.file, line=line, column=column, path=path, hint=hint)


class Checks:
    """What a hiera.yaml is checked with, whatever its version: each fault has its line. A path is the steps to it."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def fault(self, kind: Kind, message: str, path: Path = (), hint: str | None = None) -> BadData:
        return bad_data(self.document, kind, message, path, hint)

    def invalid(self, message: str, path: Path = (), hint: str | None = None) -> BadData:
        return self.fault(CONFIG_INVALID, message, path, hint)

    def known(self, tree: Mapping[Any, Any], known: tuple[str, ...], path: Path) -> None:
        """That a map has no other keys. raises: BadData, as those below do"""
        for key in tree:
            if key not in known:
                hint = meant(key, known) or f"known are {', '.join(known[:8])}"
                raise self.invalid(f"unknown key {key!r}", (*path, key), hint)

    def map(self, value: Any, path: Path, what: str = "", hint: str | None = None) -> dict[Any, Any]:
        if not isinstance(value, dict):
            raise self.invalid(f"{what or path[-1]} must be a map", path, hint)
        return value

    def text(self, value: Any, path: Path, what: str = "") -> str:
        if not isinstance(value, str) or not value:
            raise self.invalid(f"{what or path[-1]} must be a text", path)
        return value

    def texts(self, value: Any, path: Path) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            raise self.invalid(f"{path[-1]} must be a list of at least one text", path)
        return tuple(self.text(entry, (*path, at), f"each of {path[-1]}") for at, entry in enumerate(value))

    def once(self, name: str, path: Path, named: dict[str, Path]) -> None:
        """That no entry before was called so; *named* has those before with their paths, and takes this one in."""
        if name in named:
            raise self.fault(
                DUPLICATE_HIERARCHY_NAME,
                f"two entries are called {name!r}, the first in line {self.document.place(named[name])[0]}",
                (*path, "name"),
                "rename one of them",
            )
        named[name] = path
