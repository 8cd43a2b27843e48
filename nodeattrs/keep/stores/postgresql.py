"""The store in PostgreSQL: for a team. Needs the extra "postgresql" (psycopg 3).

Everything stands in a schema of its own, "nodeattrs", in the database that the URL names. Each
process has a pool of connections. Those who save different nodes do not wait for each other.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import re
import struct
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.errors import StoreError, missing_extra
from nodeattrs.keep.stores import turns
from nodeattrs.keep.stores.sql import SqlStore
from nodeattrs.keep.stores.tables import VERSION
from nodeattrs.keep.stores.talk import AT_ONCE, Question, Statement, Talk, only

_SCHEMA = "nodeattrs"
_LOCK = 0x6E617474
"""The number of our advisory lock. Savers share it; pruning and making the store have it alone."""
_TURNS = 0x6E617475
"""The first number of the locks of turns, of which each node has one; they are none of those above."""

_OPTIONS = f"-c search_path={_SCHEMA} -c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan"
"""Most values are one node's, a few are everybody's. The planner thinks of the mean, and would read whole tables, or
compile a program, for a few rows that their indexes lead to. A plan is made once: to make one took longer than what
was planned."""

_VERSION = f"SELECT v.number, s.value, s.packing FROM {_SCHEMA}.version v LEFT JOIN {_SCHEMA}.secret s ON true"
"""Both of the tables that have one row, at once."""

POOL_SIZE = 4
PATIENCE_SECONDS = 60.0
"""How long to wait for a connection."""

# A pool that came along in a fork belongs to the parent: it is neither used nor closed here.
_PARENTS: list[object] = []

_LOST = ("08", "57")
"""How SQLSTATE begins where the connection is gone, or the server is about to go; it has none where nobody answers."""

_WAYS_OUT = (
    ("too many clients", "start fewer workers, or raise the server's max_connections: each worker has one"),
    ("connect", "is the server running, and may you use this database?"),
    ("resolve host", "is the name of the server right?"),
    ("permission denied", "let the owner of the database give you the right to, or name another place for the store"),
)


class PostgresqlStore(SqlStore):
    """The store in the database of a `postgresql://` URL. Made by the first save.

    raises: StoreError, where the URL cannot be read; MissingExtra
    """

    holds = "strpos({}, {}) > 0"

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            import psycopg
            import psycopg_pool  # noqa: F401
        except ImportError as error:
            raise missing_extra("psycopg", "postgresql", "a PostgreSQL store") from error
        # It warns of what is an error here. Who has set up logging sees it all the same.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._url = url
        self._psycopg = psycopg
        self._pools: dict[int, Any] = {}
        self._key: tuple[bytes, str] | None = None
        try:
            parts = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            # What it says may quote the URL, and the password in it.
            raise StoreError(
                "this is no URL of a PostgreSQL database", hint="write postgresql://user@host:5432/database"
            ) from None
        if any("@" in str(parts.get(name, "")) for name in ("host", "port", "dbname")):
            # What stands before it is a part of the password, and would be shown as the name of something else.
            raise StoreError(
                "this URL of a PostgreSQL database has a second @, or one in the wrong place",
                hint="in a password write %40 for @ and %2F for /, or leave it to PGPASSWORD or a .pgpass file",
            )
        where = ":".join(str(parts[name]) for name in ("host", "port") if parts.get(name))
        user = f"{parts['user']}@" if parts.get("user") else ""
        self._shown = f"postgresql://{user}{where}/{parts.get('dbname', '')}"
        weakref.finalize(self, _close, self._pools)

    def __repr__(self) -> str:
        return f"PostgresqlStore({self._shown!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PostgresqlStore, (self._url,)

    def describe(self) -> str:
        return self._shown

    def close(self) -> None:
        with self._lock:
            _close(self._pools)

    def _spelled_here(self, statement: str) -> str:
        # Texts compare by their code points, as they do everywhere else.
        statement = statement.replace("BIGKEY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
        statement = statement.replace("NUMBER", "BIGINT").replace(" BYKEY", "")
        return statement.replace("BLOB", "BYTEA").replace(" TEXT", ' TEXT COLLATE "C"')

    @contextlib.contextmanager
    def _reading(self, task: str, loosely: bool = False) -> Iterator[Talk | None]:
        begin = "" if loosely else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._failing(task), self._talking(begin) as talk:
            yield talk if self._opened(talk) else None

    @contextlib.contextmanager
    def _writing(self, task: str, alone: bool = False) -> Iterator[Talk]:
        with self._failing(task, "what was saved before is still there"), self._talking() as talk:
            if self._key is None and self._version(talk) is None:
                self._alone(talk)
                if self._version(talk) is None:
                    self._made(talk)
            elif alone:
                self._alone(talk)
            else:
                talk.send("SELECT pg_advisory_xact_lock_shared(?)", _LOCK)
            self._opened(talk)
            yield talk

    @contextlib.contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), signed=True)
        with self._failing(f"wait for the others who change the node {name!r}"), self._talking() as talk:
            patience = str(int(turns.PATIENCE_SECONDS * 1000))
            try:
                talk.all(
                    "SELECT set_config('lock_timeout', ?, true), pg_advisory_xact_lock(?, ?)", patience, _TURNS, number
                )
            except self._psycopg.errors.LockNotAvailable:
                talk.undo()  # somebody who has it for long may hang: it goes on without
            yield

    def _alone(self, talk: Talk) -> None:
        talk.all("SELECT pg_advisory_xact_lock(?)", _LOCK)

    def _made(self, talk: Talk) -> None:
        talk.all(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
        talk.all("CREATE TABLE version (number INTEGER NOT NULL)")
        talk.all("INSERT INTO version (number) VALUES (?)", VERSION)
        self._make_tables(talk)

    def _opened(self, talk: _PostgresqlTalk) -> bool:
        """Judge the store before anything else of it is believed; whether there is one.

        Whoever asked once goes on without waiting for the answer. raises: StoreError, also where it is asked next
        """
        if self._key is not None:
            talk.open(self._key, self._judged)
            return True
        version = self._version(talk)
        if version not in (None, VERSION):
            raise self._of_another_version(version)
        return version is not None

    def _version(self, talk: Talk) -> int | None:
        # Not with to_regclass: it may know less than the transaction, after a wait for the lock, or more.
        if not talk.all(
            "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ? AND c.relname = 'version'",
            _SCHEMA,
        ):
            return None
        # With the schema's name, so that who may not use the schema is shown that.
        version = int(only(talk, "number", f"{_SCHEMA}.version"))
        if version == VERSION:
            key = bytes(only(talk, "value", f"{_SCHEMA}.secret"))
            self._key = talk.secret, talk.packing = key, str(only(talk, "packing", f"{_SCHEMA}.secret"))
        return version

    def _judged(self, talk: Talk, rows: list[tuple[Any, ...]]) -> None:
        if len(rows) != 1 or rows[0] != (VERSION, self._key):  # the key, and how texts are compressed
            # It was replaced: who comes next asks from the start.
            self._key = None
            raise StoreError(f"the store in {self._shown} was changed meanwhile", hint="try again")

    @contextlib.contextmanager
    def _talking(self, begin: str = "BEGIN") -> Iterator[_PostgresqlTalk]:
        """A transaction, or none. Only a statement that has an answer is waited for, as libpq 14 can."""
        with self._pool().connection() as connection:
            can = self._psycopg.Pipeline.is_supported()
            with connection.pipeline() if can else contextlib.nullcontext():
                talk = _PostgresqlTalk(connection, begin)
                yield talk
                talk.close()

    def _pool(self) -> Any:
        from psycopg_pool import ConnectionPool

        with self._lock:
            pid = os.getpid()
            for other in [other for other in self._pools if other != pid]:
                _PARENTS.append(self._pools.pop(other))
            if pid not in self._pools:
                pool = ConnectionPool(
                    self._url,
                    min_size=0,
                    max_size=POOL_SIZE,
                    timeout=PATIENCE_SECONDS,
                    kwargs={"options": _OPTIONS, "autocommit": True},  # transactions begin where we say so
                    configure=lambda connection: connection.adapters.register_dumper(_Array, _dumper()),
                    open=False,
                )
                self._reached()
                pool.open()
                self._pools[pid] = pool
            return self._pools[pid]

    def _reached(self) -> None:
        # A pool tries for a long time; whether there is a server at all is set at once.
        self._psycopg.connect(self._url, connect_timeout=10).close()

    @contextlib.contextmanager
    def _failing(self, task: str, *details: str) -> Iterator[None]:
        from psycopg_pool import PoolTimeout

        try:
            yield
        except StoreError:
            raise
        except (self._psycopg.Error, PoolTimeout) as error:
            self._key = None
            if isinstance(error, self._psycopg.OperationalError) and (error.sqlstate or "08")[:2] in _LOST:
                # Its other connections are lost too. The next who comes asks the server, and gets its error at once.
                self.close()
            # The first line says what, and has no password in it.
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            hint = next((way for sign, way in _WAYS_OUT if sign in reason), None)
            raise StoreError(f"cannot {task} in {self._shown}: {reason}", details=details, hint=hint) from error


class _PostgresqlTalk(Talk):
    def __init__(self, connection: Any, begin: str) -> None:
        self._connection = connection
        self._opening: Callable[[], None] | None = None
        self._is_over = not begin
        self._cursors = 0
        self._rows: dict[str, list[Sequence[Any]]] = {}
        if begin:
            self.send(begin)

    def send(self, sql: str, *values: Any) -> Any:
        """Send a statement whose answer nobody waits for."""
        if self._rows:
            rows, self._rows = self._rows, {}
            statement, kinds = _together(tuple(rows))
            columns = [column for each in rows.values() for column in zip(*each, strict=True)]
            self._connection.execute(statement, [_Array(*pair) for pair in zip(kinds, columns, strict=True)])
        return self._connection.execute(sql.replace("?", "%s"), values)

    def open(self, key: tuple[bytes, str], judge: Callable[[Talk, list[tuple[Any, ...]]], None]) -> None:
        """Ask for the version and the secret; the answer is judged before the next one is given."""
        self.secret, self.packing = key
        cursor = self.send(_VERSION)
        self._opening = lambda: judge(
            self, [(number, (key and bytes(key), packing)) for number, key, packing in cursor.fetchall()]
        )

    def end(self) -> None:
        """End the transaction, unless that is done, or there is none."""
        if not self._is_over:
            self._is_over = True
            self.send("COMMIT")

    def close(self) -> None:
        self.end()
        self._open()

    def undo(self) -> None:
        self._is_over = True
        self._connection.rollback()

    def _open(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            opening()

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.answers((sql, *values))[0]

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        self._cursors += 1
        cursor = f"rows_{self._cursors}"
        self.send(f"DECLARE {cursor} NO SCROLL CURSOR FOR {sql}", *values)
        is_full = True
        while is_full:
            some = self.all(f"FETCH {AT_ONCE} FROM {cursor}")
            is_full = len(some) == AT_ONCE
            yield from some
        self.send(f"CLOSE {cursor}")

    def answers(self, *questions: Question, last: bool = False) -> list[list[tuple[Any, ...]]]:
        sent = [(self.send(*question), question[0]) for question in questions]
        if last:
            self.end()
        self._open()
        # Asked whether there is an answer, it would wait for one.
        return [
            cursor.fetchall() if sql.startswith(("SELECT", "FETCH")) or " RETURNING " in sql else []
            for cursor, sql in sent
        ]

    def each(self, *statements: Statement) -> None:
        # What is written waits for what else is, and is one statement with it.
        for sql, rows in statements:
            if rows := list(rows):
                self._rows.setdefault(sql, []).extend(rows)

    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        looked_up = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = j.value)"
        rows = self.all(
            f"SELECT j.value FROM unnest(?::bigint[]) AS j (value) WHERE {looked_up}", _Array("bigint", numbers)
        )
        return {number for (number,) in rows}

    def found(self, sql: str, hashes: Collection[bytes], last: bool = False) -> list[tuple[Any, ...]]:
        return self.answers((sql.replace("= ?", "= ANY(?::bytea[])"), _Array("bytea", hashes)), last=last)[0]

    def raised(self, names: Sequence[str], *questions: Question) -> list[list[tuple[Any, ...]]]:
        raising = (
            f"INSERT INTO node (name, last) VALUES {', '.join(['(?, 1)'] * len(names))} "
            "ON CONFLICT (name) DO UPDATE SET last = node.last + 1 RETURNING name, id, last"
        )
        return self.answers((raising, *names), *questions)

    def among(self, column: str, numbers: Collection[Any]) -> tuple[str, Any]:
        kind = "text" if isinstance(next(iter(numbers), 0), str) else "bigint"
        return f"{column} = ANY(?::{kind}[])", _Array(kind, numbers)


@functools.cache
def _together(statements: tuple[str, ...]) -> tuple[str, list[str]]:
    """Several statements for one row each, as one for all rows of all of them; what they do is not seen by another.

    The statement, and the kinds of its columns.

    >>> _together(("DELETE FROM part WHERE id = ?", "DELETE FROM node WHERE id = ?"))[0][:43]
    'WITH done_0 AS (DELETE FROM part USING unne'
    """
    each = [_in_one(sql) for sql in statements]
    kinds = [_KINDS[name] for _, names in each for name in names]
    if len(each) == 1:
        return each[0][0], kinds
    return f"WITH {', '.join(f'done_{number} AS ({sql})' for number, (sql, _) in enumerate(each))} SELECT", kinds


def _in_one(sql: str) -> tuple[str, list[str]]:
    """A statement for one row, as one for all of them, which come as a list for each column: one way, there and back.

    The statement, and the names of its columns.

    >>> _in_one("INSERT INTO part (id) VALUES (?) ON CONFLICT DO NOTHING")
    ('INSERT INTO part (id) SELECT * FROM unnest(%s::bigint[]) ON CONFLICT DO NOTHING', ['id'])
    >>> _in_one("DELETE FROM text WHERE hash = ?")
    ('DELETE FROM text USING unnest(%s::bytea[]) AS row (hash) WHERE text.hash = row.hash', ['hash'])
    """
    if inserted := _INSERT.fullmatch(sql):
        table, columns, conflict = inserted.groups()
        names = columns.split(", ")
        return f"INSERT INTO {table} ({columns}) SELECT * FROM {_unnested(names)}{conflict}", names
    deleted = _DELETE.fullmatch(sql)
    assert deleted is not None, sql
    table, conditions = deleted.groups()
    names = [condition.removesuffix(" = ?") for condition in conditions.split(" AND ")]
    where = " AND ".join(f"{table}.{name} = row.{name}" for name in names)
    return f"DELETE FROM {table} USING {_unnested(names)} AS row ({', '.join(names)}) WHERE {where}", names


_INSERT = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) VALUES \([?, ]+\)(| ON CONFLICT DO NOTHING)")
_DELETE = re.compile(r"DELETE FROM (\w+) WHERE (\w+ = \?(?: AND \w+ = \?)*)")

_KINDS = {
    **dict.fromkeys(("hash", "body", "document", "snapshot", "facts"), "bytea"),
    **dict.fromkeys(("id", "path", "entry", "word", "part", "node"), "bigint"),
    **dict.fromkeys(("steps", "name", "kind", "text", "folded", "at", "noted"), "text"),
    **dict.fromkeys(("depth", "view", "number"), "integer"),
}
"""The type of a column, by its name."""


def _unnested(names: Sequence[str]) -> str:
    return f"unnest({', '.join(f'%s::{_KINDS[name]}[]' for name in names)})"


class _Array(NamedTuple):
    """A column as it goes to the server. kind: a key of _ARRAYS"""

    kind: str
    values: Iterable[Any]


def _sized(value: bytes) -> bytes:
    return len(value).to_bytes(4) + value


_ARRAYS: dict[str, tuple[int, int, Callable[[Any], bytes]]] = {
    "bigint": (1016, 20, functools.partial(struct.Struct("!iq").pack, 8)),
    "integer": (1007, 23, functools.partial(struct.Struct("!ii").pack, 4)),
    "bytea": (1001, 17, _sized),
    "text": (1009, 25, lambda value: _sized(value.encode())),
}
"""PostgreSQL's numbers for an array and for its elements, and how one of them is written, with its length."""

_NULL = b"\xff" * 4


def _binary(array: _Array) -> bytes:
    """An array in PostgreSQL's binary format: texts take both sides twice as long.

    source: `array_recv` of PostgreSQL

    >>> _binary(_Array("integer", [7, None])).hex(" ", 4)
    '00000001 00000001 00000017 00000002 00000001 00000004 00000007 ffffffff'
    """
    _, element, written = _ARRAYS[array.kind]
    values = [_NULL if value is None else written(value) for value in array.values]
    return struct.pack("!5i", 1, 1, element, len(values), 1) + b"".join(values)


@functools.cache
def _dumper() -> Any:
    """What psycopg asks about an `_Array`."""
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class ArrayDumper(Dumper):
        format = Format.BINARY

        def get_key(self, obj: _Array, format: Any) -> Any:
            return self.cls, obj.kind

        def upgrade(self, obj: _Array, format: Any) -> ArrayDumper:
            upgraded = ArrayDumper(self.cls)
            upgraded.oid = _ARRAYS[obj.kind][0]
            return upgraded

        def dump(self, obj: _Array) -> bytes:
            return _binary(obj)

    return ArrayDumper


def _close(pools: dict[int, Any]) -> None:
    while pools:
        pid, pool = pools.popitem()
        if pid == os.getpid():
            pool.close()
        else:
            _PARENTS.append(pool)
