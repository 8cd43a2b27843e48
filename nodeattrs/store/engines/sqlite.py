"""The store in a SQLite file, which is the default.

A reader sees the store at one moment, and writers do not wait for readers (write-ahead log). Writers take turns; a
writer that has waited for a minute raises StoreError.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from nodeattrs.errors import StoreError
from nodeattrs.store.engines.index import VERSION, Transaction
from nodeattrs.store.engines.store import Store
from nodeattrs.store.revisions import OnNode

_APPLICATION = 0x6E617474
"""The application id in the header of our files."""

_VERSION = """SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id),
count(*), count(*) FILTER (WHERE type NOT IN ('table', 'index')) FROM sqlite_master"""
"""A query for (version of the store, application id, number of tables and the like, number of those not allowed)."""

PATIENCE_SECONDS = 60.0
"""The time that a writer waits for others."""

_WAYS_OUT = (
    ("full", "free some space there and try again"),
    ("Permission denied", "give yourself the right to, or name another place for the store"),
    ("readonly", "make it writable, or name another place for the store"),
    ("unable to open", "make it readable and writable, or name another place for the store"),
    ("malformed", "the file is damaged: bring a copy of it back"),
    ("not a database", "name another place for the store"),
    ("locked", "another process has been writing for a long time; try again"),
)

_OPENING = Lock()
"""Held while a file is created or opened. Closing a file drops all locks that the process has on it, SQLite's too, so
no thread may open a store while another one creates its file."""
os.register_at_fork(before=_OPENING.acquire, after_in_parent=_OPENING.release, after_in_child=_OPENING.release)


class SqliteStore(Store):
    """The store in a SQLite file. The first save makes the file, and its folder, readable for their owner only.

    `check` lets SQLite check the file first. If SQLite finds faults, these are the result, and nothing else is checked.
    The constructor opens nothing. A file that does not exist, or is empty, reads as an empty store.
    raises: StoreError, if *file* is "", has a null character, or is a directory
    """

    writes_together = True
    failures = (sqlite3.Error, OSError)
    ways_out = _WAYS_OUT

    def __init__(self, file: str) -> None:
        super().__init__(file)
        if not file or "\0" in file:
            raise StoreError(f"{file!r} is not the path of a file")
        # Absolute from the start: a recipe may change the working directory.
        self._file = os.path.abspath(file)
        if os.path.isdir(self._file):
            raise StoreError(f"{file} is a directory, so it is no SQLite store", hint=f"name a file: {file}/nodes.db")

    def __reduce__(self) -> tuple[Any, ...]:
        return SqliteStore, (self._file,)

    @contextlib.contextmanager
    def _transaction(self, writes: bool) -> Iterator[Transaction | None]:
        if writes:
            self._make_file()
        elif not self._is_there():
            yield None
            return
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield Transaction(connection)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def check(self, on_node: OnNode | None = None) -> list[str]:
        """A sentence for each fault that SQLite finds in the file; if it finds none, the result of `Store.check`.

        [] for no faults, and for no store.
        on_node: called with the name of each node when it is checked
        """
        with self._failing("check"):
            if not self._is_there():
                return []
            faults = [str(row[0]) for row in self._connected().execute("PRAGMA integrity_check(10)")]
        return [f"SQLite says: {fault}" for fault in faults if fault != "ok"] or super().check(on_node)

    def _is_there(self) -> bool:
        try:
            status = os.stat(self._file)
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{self._shown} is not a file", hint="name another place for the store")
        return status.st_size > 0

    def _make_file(self) -> None:
        """Create the file, empty, unless it exists. SQLite gives its other files the same rights."""
        _make_folder(os.path.dirname(self._file))
        if os.path.islink(self._file) and not self._is_there():
            raise StoreError(
                f"{self._shown} is a symbolic link to no store, and none is made where it leads",
                hint="name the file itself",
            )
        with _OPENING, contextlib.suppress(FileExistsError):
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def _make(self, transaction: Transaction) -> None:
        transaction.all(f"PRAGMA application_id = {_APPLICATION}")
        transaction.all(f"PRAGMA user_version = {VERSION}")

    def _version(self, transaction: Transaction) -> int | None:
        ((version, application, tables, others),) = transaction.all(_VERSION)
        if application != _APPLICATION and (application or version or tables):
            raise StoreError(
                f"{self._shown} is a SQLite file of another program", hint="name another place for the store"
            )
        if application == _APPLICATION and version < 1:
            raise StoreError(
                f"{self._shown} is damaged: it has lost the number of its version",
                hint="bring a copy of the store back, or name another place for the store",
            )
        if others:
            # A trigger would be carried out with each save.
            raise StoreError(
                f"{self._shown} has triggers or views, and nothing in a store is run",
                hint="drop them, or bring a copy of the store back",
            )
        return int(version) or None

    def _is_writable(self) -> bool:
        return os.access(self._file, os.W_OK) and os.access(os.path.dirname(self._file), os.W_OK)

    def _is_usable(self, connection: sqlite3.Connection) -> bool:
        # A read-only connection to a file without a log does not see later writes; see `_connect`.
        return self._is_writable()

    def _connect(self) -> sqlite3.Connection:
        # A reader without the right to write cannot create the log. If another user writes, the log exists, and has
        # what is not in the main file yet; without a log the main file has everything.
        writable = self._is_writable()
        place = Path(self._file).as_uri()
        if not writable:
            place += "?mode=ro" if os.path.exists(f"{self._file}-wal") else "?mode=ro&immutable=1"
        with _OPENING:
            # `isolation_level=None`: transactions begin where we say so.
            connection = sqlite3.connect(
                place, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            connection.execute("BEGIN")
            self._version(Transaction(connection))  # raises for a file of another program, before anything is changed
            connection.execute("ROLLBACK")
            if writable:
                _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
        except BaseException:
            connection.close()
            raise
        return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the file to a write-ahead log. SQLite does not wait for other writers here, so this function does."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(random.uniform(0.001, 0.02))


def _make_folder(folder: str) -> None:
    """Make a folder, unless it exists. In one that is called `.nodeattrs`, a .gitignore is made too."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.basename(folder) == ".nodeattrs":
        with (
            contextlib.suppress(FileExistsError),
            open(os.path.join(folder, ".gitignore"), "x", encoding="utf-8") as file,
        ):
            file.write("*\n")
