"""Where saved nodes live: in SQLite, or in PostgreSQL. Each engine is a module, imported when it is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from urllib.parse import unquote

from nodeattrs.core.borders import A_PATH, taking
from nodeattrs.errors import StoreError
from nodeattrs.keep.revisions import Store


@taking(place=A_PATH)
def open_store(place: str | os.PathLike[str]) -> Store:
    """The store at *place*: `sqlite:///file.db`, `postgresql://...`, or a path that ends in .db.

    Nothing is made on disk before the first save.

    raises: StoreError, where no store can be at *place*; MissingExtra

    >>> open_store("nodes.db").describe()
    'nodes.db'
    """
    text = os.fspath(place)
    scheme, mark, rest = text.partition("://")
    if not mark:
        if not text.endswith(".db"):
            raise _no_directory(text)
        return _sqlite(text)
    if scheme not in _SCHEMES:
        # Only the scheme is shown: the rest may hold a password.
        raise StoreError(
            f"there is no store of the kind {scheme}://",
            hint="known are sqlite://, postgresql:// and the path of a file that ends in .db",
        )
    return _SCHEMES[scheme](rest)


def _no_directory(shown: str) -> StoreError:
    return StoreError(
        f"{shown!r} is no store: nodes are kept in a SQLite file whose name ends in .db, or in PostgreSQL",
        hint="to have nodes as files, use `nodeattrs store export --to DIR`, and `nodeattrs store import DIR` to read "
        "them back",
    )


def _sqlite(file: str) -> Store:
    from nodeattrs.keep.stores.sqlite import SqliteStore

    return SqliteStore(file)


def _file_url(rest: str) -> Store:
    raise _no_directory(f"file://{rest}")


def _sqlite_url(rest: str) -> Store:
    return _sqlite(_local(rest))


def _postgresql_url(rest: str) -> Store:
    from nodeattrs.keep.stores.postgresql import PostgresqlStore

    return PostgresqlStore(f"postgresql://{rest}")


def _local(rest: str) -> str:
    if not rest.startswith("/"):
        raise StoreError(
            f"sqlite://{rest} names a machine, and no path on this one",
            hint="write three slashes and a file: sqlite:///srv/nodes.db",
        )
    return unquote(rest)


_SCHEMES: dict[str, Callable[[str], Store]] = {
    "file": _file_url,
    "postgres": _postgresql_url,
    "postgresql": _postgresql_url,
    "sqlite": _sqlite_url,
}
