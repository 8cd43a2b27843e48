"""The tables of a store, its transactions, and its index: what search finds of each node.

What can be found of a node are its parts. A part that several nodes have is stored once. The SQL is what SQLite and
PostgreSQL share.

Each value has a "?" in the SQL, so no value and no query ever becomes SQL text.

text      a document, a snapshot or facts, by the hash of its content and compressed; one row however many revisions
          have it
node      a name, and the number of its latest revision, which outlives a delete
revision  which document, snapshot and facts a save left
path, field, entry, word, part, part_entry, node_part
          what can be found: fields lead to paths, paths and words to entries (values), entries to
          the parts that say them, parts to nodes. A part is stored once for all nodes that say
          the same there. Their numbers are hashes under a key of the store's own, so that a stranger
          cannot make two of them equal.
former    which parts a node has had since the store was pruned
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any, ClassVar

from nodeattrs.errors import StoreError
from nodeattrs.store.search.fields import (
    CHEF,
    OWN,
    IndexPart,
    JsonMap,
    SearchEntry,
    Steps,
    index_parts,
    names_of,
    within,
)
from nodeattrs.store.search.query import All, And, Asked, Not, Or, Pattern, Query, Range, Term
from nodeattrs.store.search.query import Own as OwnTerm

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
    """A transaction in SQLite, with the SQL that stores share. PostgreSQL has a subclass with other SQL."""

    types: ClassVar = {"BIGKEY": "INTEGER PRIMARY KEY", "NUMBER": "INTEGER", "BYKEY": "WITHOUT ROWID"}
    """The words of SCHEMA in this database. INTEGER makes the number the row number, which needs no index."""
    numbers = "json_each(?)"
    """SQL for a table with the column `value`, from one value that `as_value` makes."""
    holds = "instr({}, {}) > 0"
    """SQL for "the first text contains the second one", with two holes."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_tables(self, packing: str) -> None:
        """Make the tables of an empty store, with a random key. packing: how the store compresses texts"""
        for statement in SCHEMA:
            for word, spelled in self.types.items():
                statement = statement.replace(word, spelled)
            self.all(statement)
        self.all("INSERT INTO secret (value, packing) VALUES (?, ?)", os.urandom(32), packing)

    @cached_property
    def secret(self) -> bytes:
        """The random key of the store; row numbers are hashes under it. raises: StoreError"""
        return bytes(self.single_value("value", "secret"))

    @cached_property
    def packing(self) -> str:
        """How the store compresses texts. raises: StoreError"""
        return str(self.single_value("packing", "secret"))

    def lock(self, alone: bool) -> None:
        """Block other writers until the transaction ends.

        alone: True blocks all writers; False only those that lock with True. In SQLite writers always take turns
        """

    def lock_node(self, name: str) -> None:
        """Block other transactions that lock the same node, until this one ends."""

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Execute a statement; returns its rows, [] for a statement without rows."""
        rows: list[tuple[Any, ...]] = self._connection.execute(sql, values).fetchall()
        return rows

    def rows(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Execute a query; yields its rows. cost: memory for AT_ONCE rows"""
        yield from self._connection.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each row of values."""
        self._connection.executemany(sql, rows)

    def insert_new(self, table: str, rows: Collection[Sequence[Any]]) -> None:
        """Insert rows into a table, and skip those whose key exists. table: with its columns, "path (id, steps)" """
        holes = ", ".join("?" * (table.count(",") + 1))
        self.execute_many(f"INSERT INTO {table} VALUES ({holes}) ON CONFLICT DO NOTHING", rows)

    def as_value(self, numbers: Collection[int]) -> Any:
        """Numbers as one SQL value, which `numbers` turns into a table."""
        return json.dumps([*numbers])

    def condition_in(self, column: str, numbers: Collection[int]) -> tuple[str, Any]:
        """Returns (SQL condition, value): the column is one of these numbers."""
        return f"{column} IN (SELECT value FROM {self.numbers})", self.as_value(numbers)

    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        """Returns the numbers that no row of the table has in the column. cost: one look-up for each"""
        missing = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = j.value)"
        rows = self.all(f"SELECT j.value FROM {self.numbers} AS j WHERE {missing}", self.as_value(numbers))
        return {number for (number,) in rows}

    def single_value(self, column: str, table: str) -> Any:
        """The value of a column in a table with one row. raises: StoreError, where the table has none or several"""
        rows = self.all(f"SELECT {column} FROM {table}")
        if len(rows) != 1:
            raise StoreError(
                f"the store is damaged: its table {table.rpartition('.')[2]!r} has {len(rows)} rows, and should have "
                "one",
                hint="bring a copy of the store back",
            )
        return rows[0][0]

    def nodes(self) -> Iterator[tuple[str, int]]:
        """Yield (name, number) of each node with a revision, sorted by name."""
        saved = "EXISTS (SELECT 1 FROM revision r WHERE r.node = n.id)"
        yield from self.rows(f"SELECT n.name, n.id FROM node n WHERE {saved} ORDER BY n.name")


def _lists_of(items: Iterable[Any], count: int = 0) -> Iterator[list[Any]]:
    """Yield the items in lists of *count*; 0 means AT_ONCE."""
    waiting = iter(items)
    while some := list(islice(waiting, count or AT_ONCE)):
        yield some


Found = tuple[int, int, str, str]
"""An entry: its number, the number of its path, its kind, its text."""
Shown = Mapping[int, tuple[Steps, Collection[int]]]
"""Paths that fields show, by number: the steps, and how deep those fields stand (see `fields.names_of`)."""

_WORDS = re.compile(r"[A-Za-z0-9@._':-]+")
"""The words of a casefolded text, as `terms.Pattern` has them."""
_KINDS = "snbzw"
"""See `fields.Entry`."""
_A_MAP = '{"'
"""How the text of a whole map begins."""


class Index:
    """The search index of a store, read and written in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    # --- numbers --------------------------------------------------------------------

    def _number(self, kind: bytes, content: bytes) -> int:
        """The number that this store gives to a thing."""
        digest = blake2b(content, digest_size=8, key=self._transaction.secret, person=kind)
        return int.from_bytes(digest.digest(), signed=True)

    def _path_number(self, spelled: str) -> int:
        return self._number(b"path", spelled.encode())

    def _entry_number(self, spelled: str, kind: str, text: str) -> int:
        return self._number(b"entry", f"{spelled}\n{kind}\n{text}".encode())

    def _words(self, path: int, entry: int, folded: str) -> list[tuple[int, int, int]]:
        """The rows of the words of a casefolded text."""
        return [(self._number(b"word", word.encode()), path, entry) for word in set(_WORDS.findall(folded))]

    def _fields(self, paths: Iterable[tuple[int, Steps]]) -> list[tuple[int, str, int, int]]:
        """The rows of the fields that show some paths."""
        shown = [(path, name, depth) for path, steps in paths for name, depth in names_of(steps)]
        return [(self._number(b"field", name.encode()), name, path, depth) for path, name, depth in shown]

    # --- what is written ------------------------------------------------------------

    def numbered(self, parts: Iterable[IndexPart]) -> dict[int, IndexPart]:
        """The index parts of a document, by their number in this store."""
        return {self._number(b"part", part.key): part for part in parts}

    def new_parts(self, parts: Mapping[int, IndexPart]) -> dict[int, Mapping[SearchEntry, int]]:
        """Part number -> its entries, for each part that the store lacks; {} where it has all. Writes nothing.

        The value of an entry says which of the two trees has it (`fields.IndexPart.entries`).
        """
        condition, wanted = self._transaction.condition_in("id", parts)
        known = {number for (number,) in self._transaction.all(f"SELECT id FROM part WHERE {condition}", wanted)}
        return {number: parts[number].entries() for number in sorted(parts.keys() - known)}

    def set_parts(self, node: int, parts: Collection[int], new: Mapping[int, Mapping[SearchEntry, int]]) -> None:
        """Make the node found by exactly these parts. Parts that it had before become former ones.

        parts: the numbers of all its parts
        new:   what `new_parts` returned for them
        """
        if new:
            self._put_parts(new)
        kept = {part for (part,) in self._transaction.all("SELECT part FROM node_part WHERE node = ?", node)}
        gone = [(part, node) for part in sorted(kept.difference(parts))]
        self._transaction.execute_many("DELETE FROM node_part WHERE part = ? AND node = ?", gone)
        self._transaction.insert_new("former (part, node)", gone)
        self._transaction.insert_new("node_part (part, node)", [(part, node) for part in sorted(set(parts) - kept)])

    def _put_parts(self, new: Mapping[int, Mapping[SearchEntry, int]]) -> None:
        paths: dict[Steps, tuple[int, str]] = {}
        entries, words, views = {}, [], []
        for part, its in new.items():
            for (steps, kind, text), view in its.items():
                if steps not in paths:
                    spelled = json.dumps(steps)
                    paths[steps] = self._path_number(spelled), spelled
                path, spelled = paths[steps]
                number = self._entry_number(spelled, kind, text)
                views.append((number, part, view))
                entries[number] = path, kind, text
        condition, wanted = self._transaction.condition_in("id", entries)
        for (known,) in self._transaction.all(f"SELECT id FROM entry WHERE {condition}", wanted):
            del entries[known]
        rows = []
        for number, (path, kind, text) in sorted(entries.items()):
            folded = text.casefold()
            rows.append((number, path, kind, text, None if folded == text else folded))
            words += self._words(path, number, folded)
        fields = self._fields((path, steps) for steps, (path, _) in paths.items())
        # All who write do so in one order, so that no two of them wait for each other.
        self._transaction.insert_new("path (id, steps)", sorted(paths.values()))
        self._transaction.insert_new("field (id, name, path, depth)", sorted(fields))
        self._transaction.insert_new("entry (id, path, kind, text, folded)", rows)
        self._transaction.insert_new("word (word, path, entry)", sorted(words))
        self._transaction.insert_new("part (id)", [(part,) for part in new])
        self._transaction.insert_new("part_entry (entry, part, view)", sorted(views))

    # --- what is removed ------------------------------------------------------------

    def forget(self, node: int) -> None:
        """Remove a node from the index, with parts that no other node has. cost: grows with what the node had"""
        parts = {part for (part,) in self._transaction.all("SELECT part FROM node_part WHERE node = ?", node)}
        self._transaction.all("DELETE FROM node_part WHERE node = ?", node)
        self._forget_parts(parts | self._former("WHERE node = ?", node))

    def forget_former(self) -> None:
        """Remove the parts that no node has any more."""
        self._forget_parts(self._former())

    def _former(self, condition: str = "", *values: int) -> set[int]:
        parts = {part for (part,) in self._transaction.all(f"SELECT part FROM former {condition}", *values)}
        self._transaction.all(f"DELETE FROM former {condition}", *values)
        return parts

    def _forget_parts(self, parts: set[int]) -> None:
        """Remove those of the parts that no node has, and what could be found in nothing else."""
        transaction = self._transaction
        parts = transaction.unused("node_part", "part", parts)
        condition, wanted = transaction.condition_in("part", parts)
        entries = {entry for (entry,) in transaction.all(f"SELECT entry FROM part_entry WHERE {condition}", wanted)}
        transaction.execute_many("DELETE FROM part_entry WHERE part = ?", [(part,) for part in parts])
        transaction.execute_many("DELETE FROM part WHERE id = ?", [(part,) for part in parts])
        condition, wanted = transaction.condition_in("id", transaction.unused("part_entry", "entry", entries))
        lost = transaction.all(f"SELECT id, path, coalesce(folded, text) FROM entry WHERE {condition}", wanted)
        # In a file that was damaged a text may be none.
        texts = [row for row in lost if isinstance(row[2], str)]
        words = [row for entry, path, folded in texts for row in self._words(path, entry, folded)]
        transaction.execute_many("DELETE FROM word WHERE word = ? AND path = ? AND entry = ?", words)
        transaction.execute_many("DELETE FROM entry WHERE id = ?", [(entry,) for entry, *_ in lost])
        paths = transaction.unused("entry", "path", {path for _, path, _ in lost})
        condition, wanted = transaction.condition_in("id", paths)
        gone = transaction.all(f"SELECT id, steps FROM path WHERE {condition}", wanted)
        fields = self._fields((path, tuple(json.loads(steps))) for path, steps in gone)
        transaction.execute_many("DELETE FROM field WHERE id = ? AND name = ? AND path = ? AND depth = ?", fields)
        transaction.execute_many("DELETE FROM path WHERE id = ?", [(path,) for path in paths])

    # --- what is checked ------------------------------------------------------------

    def has_parts_of(self, node: int, document: JsonMap) -> bool:
        """Whether the node's parts in the index are exactly the parts of *document*."""
        rows = self._transaction.all("SELECT part FROM node_part WHERE node = ?", node)
        return self.numbered(index_parts(document)).keys() == {part for (part,) in rows}

    def has_all_words(self) -> bool:
        """Whether the table of words has a row for each word of the indexed texts; False where a text is missing."""
        ((count,),) = self._transaction.all("SELECT count(*) FROM word")
        for (text,) in self._transaction.rows("SELECT coalesce(folded, text) FROM entry"):
            if not isinstance(text, str):  # in a file of SQLite that was damaged
                return False
            count -= len(set(_WORDS.findall(text)))
        return bool(count == 0)

    # --- what is asked --------------------------------------------------------------

    def answer(self, query: Query) -> list[str]:
        """The names of the nodes that a query finds, sorted; [] where it finds none."""
        if isinstance(query.asked, All):
            return [name for name, _ in self._transaction.nodes()]
        found: list[str] = []
        for some in _lists_of(sorted(self._nodes_for(query.asked))):
            condition, numbers = self._transaction.condition_in("id", some)
            found += [name for (name,) in self._transaction.all(f"SELECT name FROM node WHERE {condition}", numbers)]
        return sorted(found)

    def _nodes_for(self, asked: Asked) -> set[int]:
        if isinstance(asked, And):
            wanted, *others = asked.inner
            found = self._nodes_for(wanted)
            for other in others:
                if not found:
                    break
                found = found & self._nodes_for(other)
            return found
        if isinstance(asked, Or):
            return set().union(*map(self._nodes_for, asked.inner))
        if isinstance(asked, All | Not):
            everyone = {node for _, node in self._transaction.nodes()}
            return everyone if isinstance(asked, All) else everyone - self._nodes_for(asked.inner)
        if isinstance(asked, OwnTerm):
            return self._nodes_with(self._own_entries(asked), OWN)
        return self._nodes_with(self._term_entries(asked), CHEF)

    def _nodes_with(self, entries: Iterable[int], view: int) -> set[int]:
        """The nodes whose tree, Chef's or our own, has any of these entries."""
        found: set[int] = set()
        for some in _lists_of(entries):
            # Two questions: of one, a planner that is wrong about how many parts there are goes by the nodes first.
            condition, wanted = self._transaction.condition_in("entry", some)
            parts = self._transaction.rows(
                f"SELECT DISTINCT part FROM part_entry WHERE {condition} AND (view & ?) <> 0", wanted, view
            )
            for more in _lists_of(part for (part,) in parts):
                condition, wanted = self._transaction.condition_in("part", more)
                rows = self._transaction.rows(f"SELECT DISTINCT node FROM node_part WHERE {condition}", wanted)
                found.update(node for (node,) in rows)
        return found

    def _own_entries(self, asked: OwnTerm) -> Iterator[int]:
        spelled = json.dumps(asked.path)
        if asked.exact:
            numbers = [self._entry_number(spelled, kind, text) for kind in _KINDS for text in asked.exact]
            condition, wanted = self._transaction.condition_in("id", numbers)
        else:
            condition, wanted = "path = ?", self._path_number(spelled)
        for number, _, kind, text in self._entries(condition, wanted):
            if asked.holds(kind, text):
                yield number

    def _entries(self, condition: str, *values: Any) -> Iterator[Found]:
        return self._transaction.rows(f"SELECT id, path, kind, text FROM entry WHERE {condition}", *values)

    def _term_entries(self, asked: Term) -> Iterator[int]:
        field, value = asked.field, asked.value
        names = [field.plain] if field.plain is not None else self._names_of(field)
        shown = self._shown_by(names)
        return self._in_range(value, shown) if isinstance(value, Range) else self._matching(value, shown)

    def _names_of(self, field: Pattern) -> list[str]:
        rows = self._transaction.rows("SELECT DISTINCT name FROM field")
        return [name for (name,) in rows if field.is_name(name)]

    def _shown_by(self, names: Iterable[str]) -> Shown:
        """The paths that fields show."""
        condition, wanted = self._transaction.condition_in(
            "f.id", [self._number(b"field", name.encode()) for name in names]
        )
        shown: dict[int, tuple[Steps, set[int]]] = {}
        for path, steps, depth in self._transaction.all(
            f"SELECT f.path, p.steps, f.depth FROM field f JOIN path p ON p.id = f.path WHERE {condition}", wanted
        ):
            if path not in shown:
                shown[path] = tuple(json.loads(steps)), set()
            shown[path][1].add(depth)
        return shown

    def _in_range(self, value: Range, shown: Shown) -> Iterator[int]:
        if value.holds(_A_MAP):
            maps = [path for path, (steps, depths) in shown.items() if min(depths) < len(steps)]
            yield from (number for number, *_ in self._entries(*self._transaction.condition_in("path", maps)))
        leaves = [path for path, (steps, depths) in shown.items() if max(depths) >= len(steps)]
        condition, wanted = self._transaction.condition_in("path", leaves)
        conditions, values = [condition], [wanted]
        for end, sign, with_it in ((value.low, ">", value.with_low), (value.high, "<", value.with_high)):
            if end is not None:
                conditions.append(f"text {sign}{'=' if with_it else ''} ?")
                values.append(end)
        for number, path, kind, _ in self._entries(" AND ".join(conditions), *values):
            if kind != "w" or _shows_whole(*shown[path]):
                yield number

    def _matching(self, value: Pattern, shown: Shown) -> Iterator[int]:
        # The field that stands highest shows the most.
        keys = {path: steps[min(depths) :] for path, (steps, depths) in shown.items()}
        keyed = [path for path, inner in keys.items() if any(value.longest in key.casefold() for key in inner)]
        for paths, is_keyed in ((keyed, True), (keys.keys() - set(keyed), False)):
            for number, path, kind, text in self._candidates(value, paths, is_keyed):
                inner = keys[path]
                matches = value.in_text((within(inner, kind, text) if inner else text).casefold())
                if matches and (kind != "w" or inner or _shows_whole(*shown[path])):
                    yield number

    def _candidates(self, value: Pattern, paths: Collection[int], is_keyed: bool) -> Iterator[Found]:
        """Entries at paths that may match. is_keyed: whether the keys below a field may match too"""
        condition, wanted = self._transaction.condition_in("path", paths)
        if is_keyed or not value.longest:
            return self._entries(condition, wanted)
        if not value.word:
            holds = self._transaction.holds.format("coalesce(folded, text)", "?")
            return self._entries(f"{condition} AND {holds}", wanted, value.longest)
        return self._transaction.rows(
            f"SELECT e.id, e.path, e.kind, e.text FROM word w JOIN entry e ON e.id = w.entry "
            f"WHERE w.word = ? AND w.{condition}",
            self._number(b"word", value.word.encode()),
            wanted,
        )


def _shows_whole(steps: Steps, depths: Collection[int]) -> bool:
    """Whether a list or an empty map at these steps is itself shown, not only what is in it."""
    return len(steps) in depths


NODES_IN_MEMORY = 100
"""Documents that are in memory at a time."""


def names_found(documents: Iterable[tuple[str, JsonMap]], query: Query) -> list[str]:
    """The names of the documents that a query finds, sorted, by an index in memory.

    documents: (name, document) of each node
    cost:      memory for the documents of some nodes at a time
    """
    found: list[str] = []
    # Whether a node is meant depends on no other node, so some of them can be asked at a time.
    for some in _lists_of(documents, NODES_IN_MEMORY):
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            transaction = Transaction(connection)
            transaction.make_tables("")
            index = Index(transaction)
            for number, (name, document) in enumerate(some):
                transaction.all("INSERT INTO node (id, name, last) VALUES (?, ?, 1)", number, name)
                transaction.all("INSERT INTO revision VALUES (?, 1, '', '', '', NULL, NULL)", number)
                parts = index.numbered(index_parts(document))
                index.set_parts(number, parts, index.new_parts(parts))
            found += index.answer(query)
    return sorted(found)
