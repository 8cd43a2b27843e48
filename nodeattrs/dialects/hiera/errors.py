"""The errors of lookups.

A program catches a class, and reads the exact fault in `kind`; docs/hiera.md lists the kinds.

    HieraError
    ├── KeyNotFound       (also NotFound)        no source has the key, and there is no default
    ├── BadLookup         (also BadArgument)     a call, key or expression that cannot mean anything
    │   └── UnsetVariable                        a text names a variable that is not set
    ├── BadData           (also DocumentError)   a data file or hiera.yaml, with file and line
    ├── CannotMerge       (also MergeConflict)   values that a strategy refuses to join
    └── CannotDig         (also TypeConflict)    a step of a dotted key into a text or number
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nodeattrs.codes import Kind, declared
from nodeattrs.core.tree import Path
from nodeattrs.dialects.hiera.codes import (
    BAD_ARGUMENTS,
    DATA_PARSE_ERROR,
    DIG_TYPE_MISMATCH,
    NOT_A_HASH,
    NOT_FOUND,
    UNSET_VARIABLE,
)
from nodeattrs.errors import BadArgument, DocumentError, MergeConflict, NodeattrsError, NotFound, TypeConflict
from nodeattrs.formats.documents import Document


class HieraError(NodeattrsError):
    """The base of the errors of lookups.

    message: what is wrong
    kind:    the fault in one word for programs, such as "not_found" or "hash_in_unique"
    facts:   further fields of `NodeattrsError`: hint, details, origins, ...
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
    """No data has the key, and there is no default.

    message: what is wrong
    details: lines about levels that might have the key, and about gaps of the hierarchy; () for none
    hint:    a similar key, or another way out; None for none
    facts:   further fields of `NodeattrsError`

    *details* and *hint* may be functions without arguments, since they look at all keys. Such a function is called when
    the attribute is first read, or when the error is pickled; its result is kept.
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
        """A similar key, or where to write it; None for no hint."""
        if callable(self._hint):
            self._hint = self._hint()
        return self._hint

    @hint.setter
    def hint(self, text: str | None) -> None:
        self._hint = text

    @property
    def details(self) -> tuple[str, ...]:
        """Levels that may have the key, and gaps of the hierarchy, each a line; () for none."""
        if callable(self._details):
            self._details = self._details()
        return tuple(self._details)

    @details.setter
    def details(self, lines: Sequence[str]) -> None:
        self._details = lines

    def __reduce__(self) -> tuple[Any, ...]:
        self.hint, self.details = self.hint, self.details  # their functions cannot be pickled
        return super().__reduce__()


class BadLookup(HieraError, BadArgument):
    """A call, a key, a type or an expression that cannot mean anything."""

    entry = BAD_ARGUMENTS.entry


class UnsetVariable(BadLookup):
    """A text in the data names a variable that is not set. Puppet 8 ends the lookup for that.

    variable: the name of the variable: "facts" for `facts.os.name`. The message contains it
    hint:     how to set it
    """

    entry = UNSET_VARIABLE.entry

    def __init__(self, variable: str, hint: str) -> None:
        super().__init__(f"the variable {variable} is not set", kind=UNSET_VARIABLE, hint=hint)
        self.variable = variable


class BadData(HieraError, DocumentError):
    """A data file or a configuration that cannot be read as what it should be."""

    entry = DATA_PARSE_ERROR.entry


class CannotMerge(HieraError, MergeConflict):
    """Values that a strategy refuses to merge."""

    entry = NOT_A_HASH.entry


class CannotDig(HieraError, TypeConflict):
    """A step of a dotted key into a text or number, or a text as a step into a list."""

    entry = DIG_TYPE_MISMATCH.entry


def bad_data(document: Document, kind: Kind, message: str, path: Path = (), hint: str | None = None) -> BadData:
    """The error for a value of a document, with the line and column of *path*. It is returned, not raised."""
    line, column = document.place(path)
    return BadData(message, kind=kind, file=document.file, line=line, column=column, path=path, hint=hint)
