"""The store in PostgreSQL, for a team. It needs the extra "postgresql" (psycopg 3).

All tables are in a schema of their own, "nodeattrs", in the database that the URL names. Saves of different nodes do
not wait for each other.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar
from zlib import crc32

from nodeattrs.errors import StoreError, missing_extra
from nodeattrs.store.engines.index import AT_ONCE, VERSION, Transaction
from nodeattrs.store.engines.store import Store

_SCHEMA = "nodeattrs"
_LOCK = 0x6E617474
"""The number of the advisory lock of a store: shared by saves, exclusive for pruning and making the store. With a
second number it is the lock of one node."""

_OPTIONS = f"-c search_path={_SCHEMA} -c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan"
"""Options of each connection. Most values belong to one node, a few to all; the planner goes by the mean, and would
read whole tables, or compile a program, for a few rows. A plan is made once, since planning took longer than the
queries."""

_KINDS = {bytes: "bytea", int: "bigint", str: "text"}

_CONNECT_SECONDS = 10
"""The time to wait for a connection, unless the URL has `connect_timeout`."""


class PostgresqlStore(Store):
    """The store in the database of a `postgresql://` URL. The first save makes its schema and tables.

    The constructor parses the URL and does not connect. `describe()` has no password.
    raises: StoreError, where the URL cannot be parsed; MissingExtra, without psycopg
    """

    ways_out = (
        ("too many clients", "start fewer workers, or raise the server's max_connections: each worker has one"),
        ("connect", "is the server running, and may you use this database?"),
        ("resolve host", "is the name of the server right?"),
        ("permission denied", "let the owner of the database give you the right to, or name another place"),
    )

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise missing_extra("psycopg", "postgresql", "a PostgreSQL store") from error
        # psycopg logs warnings of what raises an error here. A configured logger still gets them.
        logging.getLogger("psycopg").addHandler(logging.NullHandler())
        self._url, self._psycopg, self.failures = url, psycopg, (psycopg.Error, OSError)
        try:
            parts = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            # Its message may quote the URL, and the password in it.
            raise StoreError(
                "this is no URL of a PostgreSQL database", hint="write postgresql://user@host:5432/database"
            ) from None
        if any("@" in str(parts.get(name, "")) for name in ("host", "port", "dbname")):
            # The text before it is a part of the password, and would be shown as a name.
            raise StoreError(
                "this URL of a PostgreSQL database has a second @, or one in the wrong place",
                hint="in a password write %40 for @ and %2F for /, or leave it to PGPASSWORD or a .pgpass file",
            )
        self._connect_seconds = parts.get("connect_timeout", _CONNECT_SECONDS)
        where = ":".join(str(parts[name]) for name in ("host", "port") if parts.get(name))
        user = f"{parts['user']}@" if parts.get("user") else ""
        super().__init__(f"postgresql://{user}{where}/{parts.get('dbname', '')}")

    def __reduce__(self) -> tuple[Any, ...]:
        return PostgresqlStore, (self._url,)

    def _connect(self) -> Any:
        return self._psycopg.connect(
            self._url, options=_OPTIONS, autocommit=True, connect_timeout=self._connect_seconds
        )

    def _is_usable(self, connection: Any) -> bool:
        return not connection.closed

    @contextlib.contextmanager
    def _transaction(self, writes: bool) -> Iterator[Transaction]:
        level = self._psycopg.IsolationLevel
        connection = self._connected()
        connection.isolation_level = level.READ_COMMITTED if writes else level.REPEATABLE_READ
        connection.read_only = not writes
        with connection.transaction():
            yield _PostgresqlTransaction(connection)

    def _version(self, transaction: Transaction) -> int | None:
        # Not with to_regclass, whose result may be older or newer than the transaction.
        if not transaction.all(
            "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ? AND c.relname = 'version'",
            _SCHEMA,
        ):
            return None
        # With the name of the schema, so that a user without the right to it gets an error that says so.
        return int(transaction.single_value("number", f"{_SCHEMA}.version"))

    def _make(self, transaction: Transaction) -> None:
        transaction.all(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
        transaction.all("CREATE TABLE version (number INTEGER NOT NULL)")
        transaction.all("INSERT INTO version (number) VALUES (?)", VERSION)


class _PostgresqlTransaction(Transaction):
    """A transaction in PostgreSQL: the same methods with other types and SQL, real locks, and fewer statements.

    `PostgresqlStore` begins and ends the transaction around it.
    """

    # COLLATE "C" compares texts by their code points, as SQLite and Python do.
    types: ClassVar = {
        "BIGKEY": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "NUMBER": "BIGINT",
        " BYKEY": "",
        "BLOB": "BYTEA",
        " TEXT": ' TEXT COLLATE "C"',
    }
    numbers = "(SELECT unnest(?::bigint[]) AS value)"
    holds = "strpos({}, {}) > 0"

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self._cursors = count()

    def lock(self, alone: bool) -> None:
        self.all(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}(?)", _LOCK)

    def lock_node(self, name: str) -> None:
        self.all("SELECT pg_advisory_xact_lock(?, ?)", _LOCK, crc32(name.encode()) - 2**31)

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(sql.replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        with self._connection.cursor(f"rows_{next(self._cursors)}") as cursor:
            cursor.itersize = AT_ONCE
            yield from cursor.execute(sql.replace("?", "%s"), values)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s"), rows)

    def insert_new(self, table: str, rows: Collection[Sequence[Any]]) -> None:
        # One statement with an array for each column: a statement for each row takes twice as long for a fleet.
        columns = [[*column] for column in zip(*rows, strict=True)]
        kinds = [next((_KINDS[type(value)] for value in column if value is not None), "text") for column in columns]
        arrays = ", ".join(f"?::{kind}[]" for kind in kinds)
        if columns:
            self.all(f"INSERT INTO {table} SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING", *columns)

    def as_value(self, numbers: Collection[int]) -> Any:
        return [*numbers]

    def condition_in(self, column: str, numbers: Collection[int]) -> tuple[str, Any]:
        return f"{column} = ANY(?::bigint[])", self.as_value(numbers)
