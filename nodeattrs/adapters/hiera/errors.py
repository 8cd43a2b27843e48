"""What can go wrong in a lookup, each with its kind.

The classes say what a program may catch, `kind` says exactly what happened; the
page docs/hiera.md lists the kinds. It knows nothing of how anything is looked up.

    HieraError
    ├── KeyNotFound       (also NotFound)        no source has the key, and there is no default
    ├── BadLookup         (also BadArgument)     a call, key or expression that cannot mean anything
    ├── BadData           (also DocumentError)   a data file or hiera.yaml, with file and line
    ├── CannotMerge       (also MergeConflict)   values that a strategy refuses to join
    └── CannotDig         (also TypeConflict)    a step of a dotted key into a text or number
"""

from __future__ import annotations

from nodeattrs.core.tree import Path
from nodeattrs.errors import BadArgument, DocumentError, MergeConflict, NodeattrsError, NotFound, TypeConflict
from nodeattrs.texts.documents import Document
from nodeattrs.typed import Any


class HieraError(NodeattrsError):
    """Every error of a lookup.

    kind: one word for programs, such as "not_found" or "hash_in_unique"
    """

    def __init__(self, message: str, *, kind: str, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.kind = kind


class KeyNotFound(HieraError, NotFound):
    """Nothing has the key, and nobody gave a default."""

    def __init__(self, message: str, *, kind: str = "not_found", **facts: Any) -> None:
        super().__init__(message, kind=kind, **facts)


class BadLookup(HieraError, BadArgument):
    """A call, a key, a type or an expression that cannot mean anything."""


class BadData(HieraError, DocumentError):
    """A data file or a configuration that cannot be read as what it should be."""


class CannotMerge(HieraError, MergeConflict):
    """Values that a strategy refuses to join."""


class CannotDig(HieraError, TypeConflict):
    """A step of a dotted key into something that has no such place."""


def bad_data(document: Document, kind: str, message: str, path: Path = (), hint: str | None = None) -> BadData:
    """The error for what a file says at *path*."""
    line, column = document.place(path)
    return BadData(message, kind=kind, file=document.file, line=line, column=column, path=path, hint=hint)
