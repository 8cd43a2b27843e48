"""The store in a SQLite file: the one that is there without asking.

Each thread of each process has a connection of its own; nothing is shared across a fork.
Readers see one moment and keep nobody waiting (write-ahead log); writers take turns, and
wait for each other for a while before they say so.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import time
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import chain
from threading import Lock, get_ident
from typing import Any

from nodeattrs.errors import StoreError
from nodeattrs.keep.revisions import OnNode
from nodeattrs.keep.stores.sql import SqlStore
from nodeattrs.keep.stores.tables import VERSION
from nodeattrs.keep.stores.talk import Question, Statement, Talk
from nodeattrs.keep.stores.turns import folder_turn, pause

_APPLICATION = 0x6E617474
"""What SQLite's header says of whose file it is."""

PATIENCE_SECONDS = 60.0
"""How long a writer waits for the others."""

_WAYS_OUT = (
    ("full", "free some space there and try again"),
    ("Permission denied", "give yourself the right to, or name another place for the store"),
    ("readonly", "make it writable, or name another place for the store"),
    ("unable to open", "make it readable and writable, or name another place for the store"),
    ("malformed", "the file is damaged: bring a copy of it back"),
    ("not a database", "name another place for the store"),
    ("locked", "somebody has been writing for a long time; try again"),
)

_OPENING = Lock()
"""Who closes a file lets go of all locks of the process on it, SQLite's too: so no other thread opens a store while
one makes the file of one."""
os.register_at_fork(before=_OPENING.acquire, after_in_parent=_OPENING.release, after_in_child=_OPENING.release)

# A connection that came along in a fork belongs to the parent: it is neither used nor closed here.
_PARENTS: list[object] = []


class SqliteStore(SqlStore):
    """The store in *file*, which is made by the first save, readable by its owner only.

    raises: StoreError, where *file* cannot be the path of a file
    """

    holds = "instr({}, {}) > 0"
    writes_together = True

    def __init__(self, file: str) -> None:
        super().__init__()
        if not file or "\0" in file:
            raise StoreError(f"{file!r} is not the path of a file")
        self._shown = file
        # Absolute from the start: a recipe may change the working directory.
        self._file = os.path.abspath(file)
        if os.path.isdir(self._file):
            raise StoreError(f"{file} is a directory, so it is no SQLite store", hint=f"name a file: {file}/nodes.db")
        self._open: dict[tuple[int, int], sqlite3.Connection] = {}
        weakref.finalize(self, _close, self._open)

    def __reduce__(self) -> tuple[Any, ...]:
        return SqliteStore, (self._file,)

    def describe(self) -> str:
        return self._shown

    def _spelled_here(self, statement: str) -> str:
        # Only so is the number that of the row, and needs no index of its own.
        statement = statement.replace("BIGKEY", "INTEGER PRIMARY KEY").replace("NUMBER", "INTEGER")
        return statement.replace("BYKEY", "WITHOUT ROWID")

    def close(self) -> None:
        with self._lock:
            _close(self._open)

    @contextlib.contextmanager
    def _reading(self, task: str, loosely: bool = False) -> Iterator[Talk | None]:
        with self._failing(task):
            if not self._is_there():
                yield None
                return
            connection = self._connected()
            with _moment(connection):
                version = self._version(connection)
                if version == 0:
                    yield None  # somebody is about to make it
                    return
                if version != VERSION:
                    raise self._of_another_version(version)
                yield _SqliteTalk(connection)

    @contextlib.contextmanager
    def _writing(self, task: str, alone: bool = False) -> Iterator[Talk]:
        # Writers are always alone here.
        with self._failing(task, "what was saved before is still there"):
            self._made()
            connection = self._connected()
            with self._transaction(connection) as talk:
                version = self._version(connection)
                if version == 0:
                    self._make_tables(talk)
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {VERSION}")
                elif version != VERSION:
                    raise self._of_another_version(version)
                yield talk

    def check(self, on_node: OnNode | None = None) -> list[str]:
        with self._failing("check"):
            if not self._is_there():
                return []
            faults = [str(row[0]) for row in self._connected().execute("PRAGMA integrity_check(10)")]
        return [f"SQLite says: {fault}" for fault in faults if fault != "ok"] or super().check(on_node)

    @contextlib.contextmanager
    def _transaction(self, connection: sqlite3.Connection) -> Iterator[Talk]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield _SqliteTalk(connection)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _turn(self, name: str) -> AbstractContextManager[None]:
        # Not on the file: who closes it would let go of SQLite's own locks.
        return folder_turn(os.path.dirname(self._file))

    def _is_there(self) -> bool:
        try:
            status = os.stat(self._file)
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(status.st_mode):
            raise StoreError(f"{self._shown} is not a file", hint="name another place for the store")
        return status.st_size > 0

    def _made(self) -> None:
        """The file, empty; SQLite gives what it puts beside it the same rights."""
        _make_folder(os.path.dirname(self._file))
        if os.path.islink(self._file) and not self._is_there():
            raise StoreError(
                f"{self._shown} is a symbolic link to no store, and none is made where it leads",
                hint="name the file itself",
            )
        with _OPENING, contextlib.suppress(FileExistsError):
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def _version(self, connection: sqlite3.Connection) -> int:
        """0 where nobody has made the store yet; asked inside of a transaction, since all answers are of one moment.

        raises: StoreError, for what nodeattrs did not make, or not so
        """
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((tables, others),) = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE type NOT IN ('table', 'index')) FROM sqlite_master"
        ).fetchall()
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
                f"somebody has put triggers or views into {self._shown}, and nothing that stands in a store is run",
                hint="drop them, or bring a copy of the store back",
            )
        return int(version)

    def _is_writable(self) -> bool:
        return os.access(self._file, os.W_OK) and os.access(os.path.dirname(self._file), os.W_OK)

    def _connected(self) -> sqlite3.Connection:
        key = os.getpid(), get_ident()
        connection = self._open.get(key)
        if connection is not None and not self._is_writable():
            # What others write meanwhile is seen by a new connection only; see `_connect`.
            self._open.pop(key).close()
            connection = None
        if connection is None:
            with self._lock:
                for pid, thread in list(self._open):
                    if pid != key[0]:
                        _PARENTS.append(self._open.pop((pid, thread)))
                connection = self._open[key] = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        # Who may not write there may not make the files that readers share with writers. Where somebody
        # is writing they are there, and hold what is not in the main file yet; else that file has it all.
        writable, shared = self._is_writable(), os.path.exists(f"{self._file}-wal")
        how = "" if writable else "?mode=ro" if shared else "?mode=ro&immutable=1"
        place = f"file://{_quoted(self._file)}{how}"
        with _OPENING:
            # `isolation_level=None`: transactions begin where we say so.
            connection = sqlite3.connect(
                place, uri=True, timeout=PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            with _moment(connection):
                self._version(connection)  # a file of somebody else is left as it is
            if writable:
                _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
            # A savepoint notes each page as it was: in a file that took two thirds of all that was written for a fleet.
            connection.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def _failing(self, task: str, *details: str) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except UnicodeDecodeError as error:
            # SQLite names what it cannot read, and the name itself is damaged.
            raise StoreError(
                f"cannot {task} in {self._shown}: the file is damaged", details=details, hint="bring a copy of it back"
            ) from error
        except (sqlite3.Error, OSError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            hint = next((way for sign, way in _WAYS_OUT if sign in reason), None)
            raise StoreError(f"cannot {task} in {self._shown}: {reason}", details=details, hint=hint) from error


_AT_ONCE = 500
"""Values that a question has at most."""


_ROWS = 16
"""Rows that one statement inserts, where there are so many: to begin and end one takes as long as a row."""


@lru_cache(maxsize=64)
def _in_one(sql: str) -> str:
    """A statement that inserts a row, as one for several.

    >>> _in_one("INSERT INTO part (id) VALUES (?) ON CONFLICT DO NOTHING").count("(?)") == _ROWS
    True
    """
    begins, _, rest = sql.partition(" VALUES ")
    row, _, otherwise = rest.partition(")")
    if otherwise == " ON CONFLICT DO NOTHING":
        # So spelled SQLite notes no page as it was: a statement that ignores what it cannot write is never taken back.
        begins, otherwise = begins.replace("INSERT", "INSERT OR IGNORE", 1), ""
    return f"{begins} VALUES {', '.join([row + ')'] * _ROWS)}{otherwise}"


class _SqliteTalk(Talk):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(sql, values)

    def answers(self, *questions: Question, last: bool = False) -> list[list[tuple[Any, ...]]]:
        return [self.all(*question) for question in questions]

    def each(self, *statements: Statement) -> None:
        for sql, rows in statements:
            self._each(sql, list(rows))

    def _each(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        together = len(rows) // _ROWS * _ROWS if sql.startswith("INSERT") else 0
        if together:
            values, width = [*chain.from_iterable(rows[:together])], len(rows[0]) * _ROWS
            some = (values[at : at + width] for at in range(0, len(values), width))
            self._connection.executemany(_in_one(sql), some)
        if together < len(rows):
            self._connection.executemany(sql, rows[together:])

    def among(self, column: str, numbers: Collection[Any]) -> tuple[str, Any]:
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps([*numbers])

    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        looked_up = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = j.value)"
        rows = self.all(f"SELECT j.value FROM json_each(?) AS j WHERE {looked_up}", json.dumps(list(numbers)))
        return {number for (number,) in rows}

    def found(self, sql: str, hashes: Collection[bytes], last: bool = False) -> list[tuple[Any, ...]]:
        wanted, rows = list(hashes), []
        for some in (wanted[at : at + _AT_ONCE] for at in range(0, len(wanted), _AT_ONCE)):
            rows += self.all(sql.replace("= ?", f"IN ({', '.join('?' * len(some))})"), *some)
        return rows

    def raised(self, names: Sequence[str], *questions: Question) -> list[list[tuple[Any, ...]]]:
        rows = [(name,) for name in names]
        self._each("INSERT INTO node (name, last) VALUES (?, 0) ON CONFLICT DO NOTHING", rows)
        self._each("UPDATE node SET last = last + 1 WHERE name = ?", rows)
        condition, wanted = self.among("name", names)
        return self.answers((f"SELECT name, id, last FROM node WHERE {condition}", wanted), *questions)


@contextlib.contextmanager
def _moment(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is read in it is of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Keep a write-ahead log, for good. A new file changes to it once, and SQLite does not wait for its turn there."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        pause(0.001, 0.02)


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _close(connections: dict[tuple[int, int], sqlite3.Connection]) -> None:
    pid = os.getpid()
    while connections:
        (owner, _), connection = connections.popitem()
        if owner == pid:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        else:
            _PARENTS.append(connection)


def _make_folder(folder: str) -> None:
    """Make a folder, unless it exists. Git ignores what is in `.nodeattrs`, since a tracked store is not read."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.basename(folder) == ".nodeattrs":
        with (
            contextlib.suppress(FileExistsError),
            open(os.path.join(folder, ".gitignore"), "x", encoding="utf-8") as file,
        ):
            file.write("*\n")
