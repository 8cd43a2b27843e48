"""Where saved nodes live: one protocol, however many places.

A store keeps, for each node, Chef's node document and the snapshot of the run that
made it: a pair that is replaced as a whole. It does not know what a document or a
snapshot says, only that both are JSON and that the document names its node.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from nodeattrs.errors import StoreError

__all__ = ["Saved", "Store", "open_store"]

JsonMap = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Saved:
    """A node as it was saved.

    name:     the node's; the document says the same
    document: Chef's node document
    snapshot: what the run left behind, or None where it is not known
    note:     what a reader should be told: why there is no snapshot, what is odd about
              the document; empty where all is well. A store writes it, and never keeps it.
    """

    name: str
    document: JsonMap
    snapshot: JsonMap | None = None
    note: str = ""


class Store(Protocol):
    """What every store can do, and `tests/store_exam.py` examines.

    Each of these may raise StoreError, where the place itself fails, and BadName,
    for a name that no node can have.
    """

    def names(self) -> list[str]:
        """The saved nodes, sorted."""
        ...

    def load(self, name: str) -> Saved | None:
        """The node as it was last saved, or None where it never was.

        raises: DocumentError, where what was saved cannot be read any more
        """
        ...

    def save(self, saved: Saved) -> None:
        """Keep *saved* instead of what was kept under its name: all of it, or none.

        Of two who save at once the last wins, whole. Neither of the two parts may
        change between the call and its return.

        raises: BadValue, where `load` could not give back what is saved
        """
        ...

    def delete(self, name: str) -> bool:
        """Forget a node; whether there was one."""
        ...

    def describe(self) -> str:
        """Where this is, for people; never with a password in it."""
        ...


def open_store(place: str | os.PathLike[str]) -> Store:
    """The store at *place*: `file:///dir`, or the path of a directory.

    Nothing is made on disk before the first save.

    raises: StoreError, where no store can be at *place*

    >>> open_store("file:///srv/nodes").describe()
    'files in /srv/nodes'
    """
    text = os.fspath(place)
    scheme, mark, rest = text.partition("://")
    if not mark:
        return _files(text)
    if scheme not in _SCHEMES:
        # Only the scheme is shown: the rest may hold a password.
        raise StoreError(
            f"there is no store of the kind {scheme}://",
            hint=f"known are {', '.join(f'{known}://' for known in sorted(_SCHEMES))} and the path of a directory",
        )
    return _SCHEMES[scheme](rest)


def _files(directory: str) -> Store:
    # Each kind of store is imported when it is asked for: another may need an extra.
    from nodeattrs.keep.stores.files import FileStore

    return FileStore(directory)


def _file_url(rest: str) -> Store:
    from urllib.parse import unquote

    if not rest.startswith("/"):
        raise StoreError(
            f"file://{rest} names a machine, not a directory", hint="write three slashes: file:///srv/nodes"
        )
    return _files(unquote(rest))


_SCHEMES: dict[str, Callable[[str], Store]] = {"file": _file_url}
