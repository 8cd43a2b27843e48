"""A transaction of a store: the SQL that SQLite and PostgreSQL share, and the tables.

Each value has a "?" in the SQL, so no value and no query ever becomes SQL text.

text      a document, a snapshot or facts, by the hash of its content and compressed; one row however many revisions
          have it
node      a name, and the number of its latest revision, which outlives a delete
revision  which document, snapshot and facts a save left
path, field, entry, word, part, part_entry, node_part
          what can be found: fields lead to paths, paths and words to entries (values), entries to
          the parts that say them, parts to nodes. A part is stored once for all nodes that say
          the same there. Their numbers are hashes under a key of the store's own, so that nobody
          can make two of them meet.
former    which parts a node has had since the store was pruned
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

from nodeattrs.errors import StoreError

SCHEMA: tuple[str, ...] = (
    "CREATE TABLE text (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE node (id BIGKEY, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL)",
    "CREATE TABLE revision (node BIGINT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, "
    "noted TEXT NOT NULL, document BLOB NOT NULL, snapshot BLOB, facts BLOB, PRIMARY KEY (node, number))",
    "CREATE INDEX revision_document ON revision (document)",
    "CREATE INDEX revision_snapshot ON revision (snapshot)",
    "CREATE INDEX revision_facts ON revision (facts)",
    "CREATE TABLE secret (value BLOB NOT NULL, packing TEXT NOT NULL)",
    "CREATE TABLE path (id NUMBER PRIMARY KEY, steps TEXT NOT NULL)",
    "CREATE TABLE field (id BIGINT NOT NULL, path BIGINT NOT NULL, depth INTEGER NOT NULL, name TEXT NOT NULL, "
    "PRIMARY KEY (id, path, depth)) BYKEY",
    "CREATE TABLE entry (id NUMBER PRIMARY KEY, path BIGINT NOT NULL, kind TEXT NOT NULL, "
    "text TEXT NOT NULL, folded TEXT)",
    "CREATE INDEX entry_path ON entry (path)",
    "CREATE TABLE word (word BIGINT NOT NULL, path BIGINT NOT NULL, entry BIGINT NOT NULL, "
    "PRIMARY KEY (word, path, entry)) BYKEY",
    "CREATE TABLE part (id NUMBER PRIMARY KEY)",
    "CREATE TABLE part_entry (entry BIGINT NOT NULL, part BIGINT NOT NULL, view INTEGER NOT NULL, "
    "PRIMARY KEY (entry, part)) BYKEY",
    "CREATE INDEX part_entry_part ON part_entry (part)",
    "CREATE TABLE node_part (part BIGINT NOT NULL, node BIGINT NOT NULL, PRIMARY KEY (part, node)) BYKEY",
    "CREATE INDEX node_part_node ON node_part (node)",
    "CREATE TABLE former (node BIGINT NOT NULL, part BIGINT NOT NULL, PRIMARY KEY (node, part)) BYKEY",
)
"""The statements that make the tables. Each database has its own words for BIGKEY, NUMBER, BYKEY and BLOB.
BYKEY: the rows lie in the order of the key, whose columns come first; else SQLite's check reports faults that do not
exist."""

VERSION = 1
"""The version of the schema. A store of another version is refused."""

AT_ONCE = 1_000
"""Rows that are read, or numbers that a query names, at a time."""


class Transaction:
    """A transaction in SQLite. PostgreSQL has a subclass, for what differs there."""

    types: ClassVar = {"BIGKEY": "INTEGER PRIMARY KEY", "NUMBER": "INTEGER", "BYKEY": "WITHOUT ROWID"}
    """The words of SCHEMA in this database. INTEGER makes the number the row number, which needs no index."""
    numbers = "json_each(?)"
    """SQL for a table with the column `value`, from one value that `listed` makes."""
    holds = "instr({}, {}) > 0"
    """SQL for "the first text contains the second one", with two holes."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_tables(self, packing: str) -> None:
        """Make the tables of an empty store."""
        for statement in SCHEMA:
            for word, spelled in self.types.items():
                statement = statement.replace(word, spelled)
            self.all(statement)
        self.all("INSERT INTO secret (value, packing) VALUES (?, ?)", os.urandom(32), packing)

    @cached_property
    def secret(self) -> bytes:
        """The key of the store's numbers. raises: StoreError"""
        return bytes(self.only("value", "secret"))

    @cached_property
    def packing(self) -> str:
        """How the store compresses texts. raises: StoreError"""
        return str(self.only("packing", "secret"))

    def lock(self, alone: bool) -> None:
        """Keep writers out until the transaction ends: all of them, or those that want to be alone.

        In SQLite each writer is alone.
        """

    def lock_node(self, name: str) -> None:
        """Keep those out who save the node."""

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; none for a statement that gives none."""
        rows: list[tuple[Any, ...]] = self._connection.execute(sql, values).fetchall()
        return rows

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one after the other. cost: memory for AT_ONCE of them"""
        yield from self._connection.execute(sql, values)

    def each(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Carry a statement out for each of some rows."""
        self._connection.executemany(sql, rows)

    def add(self, table: str, rows: Collection[Sequence[Any]]) -> None:
        """Add rows to a table, but for those whose key exists. table: as in "path (id, steps)" """
        holes = ", ".join("?" * (table.count(",") + 1))
        self.each(f"INSERT INTO {table} VALUES ({holes}) ON CONFLICT DO NOTHING", rows)

    def listed(self, numbers: Collection[int]) -> Any:
        """Numbers as one value."""
        return json.dumps([*numbers])

    def among(self, column: str, numbers: Collection[int]) -> tuple[str, Any]:
        """A condition that a column is one of these numbers, and its value."""
        return f"{column} IN (SELECT value FROM {self.numbers})", self.listed(numbers)

    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        """The numbers that no row has in a column. cost: one row is looked up for each"""
        missing = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = j.value)"
        rows = self.all(f"SELECT j.value FROM {self.numbers} AS j WHERE {missing}", self.listed(numbers))
        return {number for (number,) in rows}

    def only(self, column: str, table: str) -> Any:
        """The value of a table that has one row. raises: StoreError, where it has another number of rows"""
        rows = self.all(f"SELECT {column} FROM {table}")
        if len(rows) != 1:
            raise StoreError(
                f"the store is damaged: its table {table.rpartition('.')[2]!r} has {len(rows)} rows, and should have "
                "one",
                hint="bring a copy of the store back",
            )
        return rows[0][0]

    def nodes(self) -> Iterator[tuple[str, int]]:
        """The nodes that have a revision, by name, each with its number in this store."""
        saved = "EXISTS (SELECT 1 FROM revision r WHERE r.node = n.id)"
        yield from self.rows(f"SELECT n.name, n.id FROM node n WHERE {saved} ORDER BY n.name")


def some_of(items: Iterable[Any], count: int = 0) -> Iterator[list[Any]]:
    """Items in lists of *count*, or of AT_ONCE."""
    waiting = iter(items)
    while some := list(islice(waiting, count or AT_ONCE)):
        yield some
