"""The engines of stores, SQLite and PostgreSQL; `open_store` chooses one by the address."""

from __future__ import annotations

import os
from urllib.parse import unquote

from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.errors import StoreError
from nodeattrs.store.engines.sqlite import SqliteStore
from nodeattrs.store.engines.store import Store


@checked_args(place=A_PATH)
def open_store(place: str | os.PathLike[str]) -> Store:
    """The store at an address: `sqlite:///file.db`, `postgresql://...`, or a path that ends in .db.

    Nothing is opened yet. It need not exist: the first save makes it, and until then it is read as empty.
    raises: StoreError, if *place* is not such an address; MissingExtra, for PostgreSQL without psycopg

    >>> open_store("nodes.db").describe()
    'nodes.db'
    """
    text = os.fspath(place)
    scheme, mark, rest = text.partition("://")
    if text.startswith("sqlite:") and not text.startswith("sqlite:///"):
        raise StoreError(f"{text} names no file", hint="write three slashes and a file: sqlite:///srv/nodes.db")
    if not mark and text.endswith(".db"):
        return SqliteStore(text)
    if not mark or scheme == "file":
        raise StoreError(
            f"{text!r} is no store: nodes are kept in a SQLite file whose name ends in .db, or in PostgreSQL",
            hint="to have nodes as files, use `nodeattrs store export --to DIR`, and `nodeattrs store import DIR` to "
            "read them back; a directory of an older version: docs/stores.md, Other versions",
        )
    if scheme in ("postgres", "postgresql"):
        from nodeattrs.store.engines.postgresql import PostgresqlStore  # of an optional extra

        return PostgresqlStore(f"postgresql://{rest}")
    if scheme != "sqlite":
        # Only the scheme is shown: the rest may hold a password.
        raise StoreError(
            f"there is no store of the kind {scheme}://",
            hint="known are sqlite://, postgresql:// and the path of a file that ends in .db",
        )
    return SqliteStore(unquote(rest))
