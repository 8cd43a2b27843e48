"""The tables of a store, transactions on them, and the search index. The SQL is what SQLite and PostgreSQL share.

text      a document, a snapshot or facts, compressed, by the hash of its content; shared by revisions
node      a name, and the number of its latest revision; a deleted node keeps its row
revision  time, notes, and the texts of one save
path, field, entry, word, part, part_entry, node_part
          the index. A document is divided into parts (`search.fields`); nodes with an equal part share it. A query
          goes from fields to paths, from paths and words to entries (values), to parts, to nodes. Numbers of rows
          are hashes under the key of the store, so that an attacker cannot make two equal.
former    the parts that nodes had before; pruning the store removes them

Each value is a "?" in the SQL, so no value and no query becomes SQL text.
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
from itertools import chain, islice
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
from nodeattrs.store.search.query import And, Condition, Everything, FieldTerm, Not, Or, PathTerm, Pattern, Query, Range

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
"""The statements that make the tables. `Transaction.types` replaces BIGKEY, NUMBER, BYKEY and BLOB for the database.
BYKEY: rows are stored by the primary key, whose columns come first; else SQLite's check reports faults that do not
exist."""

VERSION = 1
"""The version of the tables. A store of another version is refused."""

AT_ONCE = 1_000
"""The most rows that are read, or numbers that a query names, at a time."""


class Transaction:
    """Statements in one transaction of a connection. This class is for SQLite; PostgreSQL has a subclass.

    The store begins and ends the transaction around it. `all` returns the rows of a statement, and `rows` yields them.
    `execute_many` executes a statement for each row of values. These three take SQL with "?" for values. `insert_new`
    inserts the rows whose key is not in the table. `condition_in` and `as_value` turn numbers into SQL, and `unused`
    returns the numbers that no row has. `make_tables` makes the tables of an empty store. `lock` and `lock_node` block
    other writers until the transaction ends. `nodes` yields the names and numbers of all nodes.
    `secret`, `packing` and `single_value` read one value, and raise StoreError if the store is damaged. Errors of the
    database are raised as they are.

    types:   word of SCHEMA -> the SQL of this database for it. With INTEGER, the number is the row number, which needs
             no index
    numbers: SQL for a table with the column `value`, of the numbers that `as_value` packs into one value
    holds:   SQL for "the first text contains the second one"; {} is the hole for each text
    """

    types: ClassVar = {"BIGKEY": "INTEGER PRIMARY KEY", "NUMBER": "INTEGER", "BYKEY": "WITHOUT ROWID"}
    numbers = "json_each(?)"
    holds = "instr({}, {}) > 0"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def make_tables(self, packing: str) -> None:
        """Make the tables of an empty store, with a new random key. packing: how the store compresses texts"""
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
        """How the store compresses texts: "zlib" or "zstd". raises: StoreError"""
        return str(self.single_value("packing", "secret"))

    def lock(self, alone: bool) -> None:
        """Block other writers until the transaction ends. In SQLite it does nothing, since writers take turns.

        alone: True blocks all writers; False only those that lock with True
        """

    def lock_node(self, name: str) -> None:
        """Block other transactions that lock the same node, until this one ends. In SQLite it does nothing."""

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
        """Insert rows into a table, and skip those whose key exists. table: with its columns: "path (id, steps)" """
        holes = ", ".join("?" * (table.count(",") + 1))
        self.execute_many(f"INSERT INTO {table} VALUES ({holes}) ON CONFLICT DO NOTHING", rows)

    def as_value(self, numbers: Collection[int]) -> Any:
        """Numbers as one SQL value, which `numbers` turns into a table."""
        return json.dumps([*numbers])

    def condition_in(self, column: str, numbers: Collection[int]) -> tuple[str, Any]:
        """Returns (SQL condition, value): the column is one of these numbers."""
        return f"{column} IN (SELECT value FROM {self.numbers})", self.as_value(numbers)

    def unused(self, table: str, column: str, numbers: Collection[int]) -> set[int]:
        """The numbers that no row of the table has in the column. cost: one look-up for each"""
        missing = f"NOT EXISTS (SELECT 1 FROM {table} WHERE {column} = j.value)"
        rows = self.all(f"SELECT j.value FROM {self.numbers} AS j WHERE {missing}", self.as_value(numbers))
        return {number for (number,) in rows}

    def single_value(self, column: str, table: str) -> Any:
        """The value of a column in a table with one row.

        raises: StoreError, which says that the store is damaged, if the table has no row, or several
        """
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


def lists_of(items: Iterable[Any], count: int = AT_ONCE) -> Iterator[list[Any]]:
    """Yield the items in lists of at most *count*; nothing for no items."""
    waiting = iter(items)
    while some := list(islice(waiting, count)):
        yield some


Found = tuple[int, int, str, str]
"""An entry: its number, the number of its path, its kind, its text."""
_Shown = Mapping[int, tuple[Steps, Collection[int]]]
"""number of a path -> (steps, depths): the depths of the fields in question on it (`fields.names_of`)."""

_WORDS = re.compile(r"[A-Za-z0-9@._':-]+")
"""Finds the words of a casefolded text, as `query.Pattern` has them."""
_KINDS = "snbzw"
"""The kinds of a `fields.SearchEntry`."""
_A_MAP = '{"'
"""How the text of a whole map begins."""


class Index:
    """The search index of a store, read and written in one transaction. The object has no state.

    A node's attributes are in the index as *parts*, which nodes may share. Methods take a node as its number. To save a
    node, call the first three methods in this order:

    numbered:  returns number -> part, for the parts of the node
    new_parts: returns number -> entries, for those parts that the store lacks
    set_parts: writes these entries, and gives the node exactly these parts
    numbers:   returns the numbers of the nodes that a query finds
    answer:    returns their names, sorted
    forget:    removes a node; `forget_former` removes the parts that no node has any more
    has_parts_of, has_all_words: return whether the index is complete, for the check of a store

    transaction: an open transaction of the store
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    # --- numbers --------------------------------------------------------------------

    def _number(self, kind: bytes, content: bytes) -> int:
        """A hash of the content under the key of the store, as a signed 64-bit number."""
        digest = blake2b(content, digest_size=8, key=self._transaction.secret, person=kind)
        return int.from_bytes(digest.digest(), signed=True)

    def _path_number(self, spelled: str) -> int:
        return self._number(b"path", spelled.encode())

    def _entry_number(self, spelled: str, kind: str, text: str) -> int:
        return self._number(b"entry", f"{spelled}\n{kind}\n{text}".encode())

    def _words(self, path: int, entry: int, kind: str, folded: str) -> list[tuple[int, int, int]]:
        """The rows of the table `word` for an entry. folded: its text, casefolded"""
        return [(self._number(b"word", word.encode()), path, entry) for word in _words_in(kind, folded)]

    def _fields(self, paths: Iterable[tuple[int, Steps]]) -> list[tuple[int, str, int, int]]:
        """The rows of the table `field` for some paths."""
        shown = [(path, name, depth) for path, steps in paths for name, depth in names_of(steps)]
        return [(self._number(b"field", name.encode()), name, path, depth) for path, name, depth in shown]

    # --- what is written ------------------------------------------------------------

    def numbered(self, parts: Iterable[IndexPart]) -> dict[int, IndexPart]:
        """Number in this store -> part. Nothing is read or written but the key of the store."""
        return {self._number(b"part", part.key): part for part in parts}

    def new_parts(self, parts: Mapping[int, IndexPart]) -> dict[int, Mapping[SearchEntry, int]]:
        """Part number -> its entries (`IndexPart.entries`), for each part that the store lacks; {} where it has all.

        Nothing is written. parts: what `numbered` returned
        """
        return {number: parts[number].entries() for number in sorted(parts.keys() - self._known("part", parts))}

    def _known(self, table: str, numbers: Collection[int]) -> set[int]:
        """Those of the numbers that are ids in a table."""
        condition, wanted = self._transaction.condition_in("id", numbers)
        return {number for (number,) in self._transaction.all(f"SELECT id FROM {table} WHERE {condition}", wanted)}

    def set_parts(self, node: int, parts: Collection[int], new: Mapping[int, Mapping[SearchEntry, int]]) -> None:
        """Write the parts of a node, so that searches find it by exactly these.

        Parts that the node had before become former parts.

        node:  the number of the node
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
        rows = []
        for number in sorted(entries.keys() - self._known("entry", entries)):
            path, kind, text = entries[number]
            folded = text.casefold()
            rows.append((number, path, kind, text, None if folded == text else folded))
            words += self._words(path, number, kind, folded)
        known = self._known("path", [path for path, _ in paths.values()])  # their fields are there, too
        paths = {steps: row for steps, row in paths.items() if row[0] not in known}
        fields = self._fields((path, steps) for steps, (path, _) in paths.items())
        # Everything writers use the same order, so that no two of them wait for each other.
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
        """Remove parts that no node has, and entries, words, paths and fields that no other part has."""
        transaction = self._transaction
        parts = transaction.unused("node_part", "part", parts)
        condition, wanted = transaction.condition_in("part", parts)
        entries = {entry for (entry,) in transaction.all(f"SELECT entry FROM part_entry WHERE {condition}", wanted)}
        transaction.execute_many("DELETE FROM part_entry WHERE part = ?", [(part,) for part in parts])
        transaction.execute_many("DELETE FROM part WHERE id = ?", [(part,) for part in parts])
        condition, wanted = transaction.condition_in("id", transaction.unused("part_entry", "entry", entries))
        lost = transaction.all(f"SELECT id, path, kind, coalesce(folded, text) FROM entry WHERE {condition}", wanted)
        # In a damaged file a text may be of another type.
        texts = [row for row in lost if isinstance(row[3], str)]
        words = [row for entry, path, kind, folded in texts for row in self._words(path, entry, kind, folded)]
        transaction.execute_many("DELETE FROM word WHERE word = ? AND path = ? AND entry = ?", words)
        transaction.execute_many("DELETE FROM entry WHERE id = ?", [(entry,) for entry, *_ in lost])
        paths = transaction.unused("entry", "path", {path for _, path, *_ in lost})
        condition, wanted = transaction.condition_in("id", paths)
        gone = transaction.all(f"SELECT id, steps FROM path WHERE {condition}", wanted)
        fields = self._fields((path, tuple(json.loads(steps))) for path, steps in gone)
        transaction.execute_many("DELETE FROM field WHERE id = ? AND name = ? AND path = ? AND depth = ?", fields)
        transaction.execute_many("DELETE FROM path WHERE id = ?", [(path,) for path in paths])

    # --- what is checked ------------------------------------------------------------

    def has_parts_of(self, node: int, document: JsonMap) -> bool:
        """Whether the index has exactly the parts of *document* for a node. node: its number"""
        rows = self._transaction.all("SELECT part FROM node_part WHERE node = ?", node)
        return self.numbered(index_parts(document)).keys() == {part for (part,) in rows}

    def has_all_words(self) -> bool:
        """Whether the table `word` has as many rows as all entries have words there; a word counts once in each entry.

        False if the text of an entry is damaged. The words themselves are not compared.
        """
        ((count,),) = self._transaction.all("SELECT count(*) FROM word")
        for kind, text in self._transaction.rows("SELECT kind, coalesce(folded, text) FROM entry"):
            if not isinstance(text, str):  # in a damaged file
                return False
            count -= len(_words_in(kind, text))
        return bool(count == 0)

    # --- what is asked --------------------------------------------------------------

    def answer(self, query: Query) -> list[str]:
        """The names of the nodes that a query finds, sorted; [] if it finds no node."""
        if isinstance(query.condition, Everything):
            return [name for name, _ in self._transaction.nodes()]
        found: list[str] = []
        for some in lists_of(self.numbers(query)):
            condition, numbers = self._transaction.condition_in("id", some)
            found += [name for (name,) in self._transaction.all(f"SELECT name FROM node WHERE {condition}", numbers)]
        return sorted(found)

    def numbers(self, query: Query) -> list[int]:
        """The numbers of the nodes that a query finds, sorted; [] if it finds no node."""
        return sorted(self._nodes_for(query.condition))

    def _nodes_for(self, condition: Condition) -> set[int]:
        """The numbers of the nodes that a condition finds."""
        if isinstance(condition, And):
            first, *others = condition.inner
            found = self._nodes_for(first)
            for other in others:
                if not found:
                    break
                found = found & self._nodes_for(other)
            return found
        if isinstance(condition, Or):
            return set().union(*map(self._nodes_for, condition.inner))
        if isinstance(condition, Everything | Not):
            every_node = {node for _, node in self._transaction.nodes()}
            return every_node if isinstance(condition, Everything) else every_node - self._nodes_for(condition.inner)
        if isinstance(condition, PathTerm):
            return self._nodes_with(self._entries_of_path(condition), OWN)
        return self._nodes_with(self._entries_of_field(condition), CHEF)

    def _nodes_with(self, entries: Iterable[int], view: int) -> set[int]:
        """The numbers of the nodes that have any of these entries in one of their trees. view: CHEF or OWN"""
        found: set[int] = set()
        for some in lists_of(entries):
            # Two queries: for one, a planner with a wrong estimate of the parts would start from all nodes.
            condition, wanted = self._transaction.condition_in("entry", some)
            parts = self._transaction.rows(
                f"SELECT DISTINCT part FROM part_entry WHERE {condition} AND (view & ?) <> 0", wanted, view
            )
            for more in lists_of(part for (part,) in parts):
                condition, wanted = self._transaction.condition_in("part", more)
                rows = self._transaction.rows(f"SELECT DISTINCT node FROM node_part WHERE {condition}", wanted)
                found.update(node for (node,) in rows)
        return found

    def _entries_of_path(self, term: PathTerm) -> Iterator[int]:
        spelled = json.dumps(term.path)
        if term.exact:
            numbers = [self._entry_number(spelled, kind, text) for kind in _KINDS for text in term.exact]
            condition, wanted = self._transaction.condition_in("id", numbers)
        else:
            condition, wanted = "path = ?", self._path_number(spelled)
        for number, _, kind, text in self._entries(condition, wanted):
            if term.holds(kind, text):
                yield number

    def _entries(self, condition: str, *values: Any) -> Iterator[Found]:
        return self._transaction.rows(f"SELECT id, path, kind, text FROM entry WHERE {condition}", *values)

    def _entries_of_field(self, term: FieldTerm) -> Iterator[int]:
        field, value = term.field, term.value
        names = [field.plain] if field.plain is not None else self._names_of(field)
        shown = self._shown_by(names)
        return self._in_range(value, shown) if isinstance(value, Range) else self._matching(value, shown)

    def _names_of(self, field: Pattern) -> list[str]:
        rows = self._transaction.rows("SELECT DISTINCT name FROM field")
        return [name for (name,) in rows if field.is_name(name)]

    def _shown_by(self, names: Iterable[str]) -> _Shown:
        """Number of a path -> (its steps, depths of these fields on it), for each path with one of the fields."""
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

    def _in_range(self, value: Range, shown: _Shown) -> Iterator[int]:
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

    def _matching(self, value: Pattern, shown: _Shown) -> Iterator[int]:
        # The highest of the fields on a path covers the most keys.
        keys = {path: steps[min(depths) :] for path, (steps, depths) in shown.items()}
        keyed = [path for path, inner in keys.items() if any(value.longest in key.casefold() for key in inner)]
        for paths, is_keyed in ((keyed, True), (keys.keys() - set(keyed), False)):
            for number, path, kind, text in self._candidates(value, paths, is_keyed):
                inner = keys[path]
                matches = value.in_text((within(inner, kind, text) if inner else text).casefold())
                if matches and (kind != "w" or inner or _shows_whole(*shown[path])):
                    yield number

    def _candidates(self, value: Pattern, paths: Collection[int], is_keyed: bool) -> Iterator[Found]:
        """Yield the entries at some paths that may match; the caller checks each.

        is_keyed: True: the pattern may match a key below a field, so all entries are yielded
        """
        condition, wanted = self._transaction.condition_in("path", paths)
        if is_keyed or not value.longest:
            return self._entries(condition, wanted)
        if not value.word:
            holds = self._transaction.holds.format("coalesce(folded, text)", "?")
            return self._entries(f"{condition} AND {holds}", wanted, value.longest)
        return chain(
            self._transaction.rows(
                f"SELECT e.id, e.path, e.kind, e.text FROM word w JOIN entry e ON e.id = w.entry "
                f"WHERE w.word = ? AND w.{condition}",
                self._number(b"word", value.word.encode()),
                wanted,
            ),
            self._entries(f"{condition} AND kind = 'w'", wanted) if Pattern.GAP in value.parts else (),
        )


def _words_in(kind: str, folded: str) -> set[str]:
    """The words of an entry that the table `word` has. A list without maps has none: its elements have its words.

    folded: the text of the entry, casefolded
    """
    is_list_of_scalars = kind == "w" and "=>" not in folded
    return set() if is_list_of_scalars else set(_WORDS.findall(folded))


def _shows_whole(steps: Steps, depths: Collection[int]) -> bool:
    """Whether a list or an empty map at these steps counts as a whole, and not only its content."""
    return len(steps) in depths


NODES_IN_MEMORY = 100
"""The most documents in memory at a time."""


def names_found(documents: Iterable[tuple[str, JsonMap]], query: Query) -> list[str]:
    """The names of the documents that a query finds, sorted; [] for none.

    Each hundred documents get an index of their own in memory, which is then dropped.
    documents: (name, document) of each node
    """
    found: list[str] = []
    # Whether a query finds a node depends on no other node.
    for some in lists_of(documents, NODES_IN_MEMORY):
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
