"""What the stores in databases have in common: revisions, texts by content, the index for search.

It uses the SQL that SQLite and PostgreSQL share, with "?" for each value; no value and no
query ever becomes SQL text. How to connect, to begin and to end is theirs. Its tables: `tables`.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from threading import Lock
from typing import Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, DocumentError, NodeattrsError, StoreError, TooMuch
from nodeattrs.keep.revisions import JsonMap, OnNode, Revision, Saved, taken
from nodeattrs.keep.search.answer import answer
from nodeattrs.keep.search.memory import names_found
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.search.terms import All
from nodeattrs.keep.stores import holding
from nodeattrs.keep.stores.holding import (
    ITS_REVISIONS,
    LATEST_OF_ALL,
    Hashes,
    hashes_in,
    put_revisions,
    revision_in,
    when,
)
from nodeattrs.keep.stores.index import SqlIndex
from nodeattrs.keep.stores.indexing import is_worded, numbered_parts, put_index
from nodeattrs.keep.stores.saving import Saves, put_texts, tried
from nodeattrs.keep.stores.tables import SCHEMA, VERSION
from nodeattrs.keep.stores.talk import AT_ONCE, Talk, nodes_in, some_of, without
from nodeattrs.keep.stores.texts import (
    KINDS,
    PACKINGS,
    ZLIB,
    Stored,
    fault_of,
    joined,
    noted_text,
    packed,
    texts_of,
)
from nodeattrs.keep.stores.turns import Turns

NO_SNAPSHOT = "saved, origin unknown: no snapshot was saved with it"

_AGAIN = "nodeattrs store copy --to PLACE makes a sound store"

_LOST = (
    ("revision", "node", "SELECT id FROM node", "nodes that have revisions are gone"),
    ("node_part", "part", "SELECT id FROM part", f"parts that search should know are gone; {_AGAIN}"),
    ("part", "id", "SELECT part FROM part_entry", f"parts have lost what search should find; {_AGAIN}"),
    ("part_entry", "entry", "SELECT id FROM entry", f"values that search should find are gone; {_AGAIN}"),
    ("entry", "path", "SELECT id FROM path", f"paths that search needs are gone; {_AGAIN}"),
    ("path", "id", "SELECT path FROM field", f"paths have lost the field that search needs; {_AGAIN}"),
)
"""Columns whose values are to be found elsewhere, where that is, and what is reported where they are not."""


class SqlStore(ABC):
    """A store in a database. What a module for one database has to say is abstract here."""

    holds = ""
    """SQL for "the first text has the second in it", with two holes."""

    writes_together = False
    """Whether several nodes are saved in one transaction: where others write meanwhile, two could wait in a ring."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._compression = ZLIB
        self._turns = Turns()

    # --- of the database ------------------------------------------------------------

    @abstractmethod
    def _reading(self, task: str, loosely: bool = False) -> AbstractContextManager[Talk | None]:
        """A look at one moment of the store; None where nothing was ever saved.

        loosely: each answer may be of a moment of its own
        raises: StoreError, also for a store of another version
        """

    @abstractmethod
    def _writing(self, task: str, alone: bool = False) -> AbstractContextManager[Talk]:
        """A transaction: all of it happens, or none.

        alone: nobody else writes meanwhile
        """

    @abstractmethod
    def _turn(self, name: str) -> AbstractContextManager[None]:
        """A turn among processes."""

    @abstractmethod
    def describe(self) -> str: ...

    @abstractmethod
    def close(self) -> None: ...

    # --- nodes ----------------------------------------------------------------------

    def is_there(self) -> bool:
        with self._reading("look") as talk:
            return talk is not None

    def names(self) -> list[str]:
        with self._reading("list the nodes") as talk:
            return [] if talk is None else [name for name, _ in nodes_in(talk)]

    @taking(at=int | datetime | None)
    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        with self._reading(f"read the node {checked_name(name, 'node')!r}") as talk:
            return None if talk is None else self._load(talk, name, at, last=True)

    def _load(self, talk: Talk, name: str, at: int | datetime | None, last: bool = False) -> Saved | None:
        condition, values = when(at)
        rows = talk.all(
            "SELECT number, at, noted, document, snapshot, facts "
            f"FROM {ITS_REVISIONS}{condition} ORDER BY number DESC LIMIT 1",
            name,
            *values,
        )
        if not rows:
            return None
        revision, hashes = revision_in(name, rows[0][:3]), hashes_in(rows[0][3:])
        document, snapshot = self._node(talk, name, hashes, last)
        note = NO_SNAPSHOT if snapshot is None else ""
        return Saved(name, document, snapshot, note, revision.noted, revision)

    def _node(self, talk: Talk, name: str, hashes: Hashes, last: bool = False) -> tuple[JsonMap, JsonMap | None]:
        """The document and the snapshot of a revision, from its texts. raises: DocumentError"""
        texts = Stored(talk, [name_of_text for name_of_text in hashes if name_of_text is not None], last)
        of_document, of_snapshot, of_facts = hashes
        document = self._map(texts, of_document or b"", name, "document")
        snapshot = None if of_snapshot is None else self._map(texts, of_snapshot, name, "snapshot")
        if of_facts is not None:
            facts = self._map(texts, of_facts, name, "facts")
            try:
                joined(document, snapshot, facts)
            except LookupError as error:
                raise self._damaged("snapshot", name) from error
        return document, snapshot

    def _map(self, texts: Stored, name_of_text: bytes, node: str, what: str) -> JsonMap:
        try:
            return texts.map(name_of_text)
        except TooMuch:
            raise
        except (LookupError, ValueError, zlib.error, RecursionError) as error:
            raise self._damaged(what, node) from error

    def _damaged(self, what: str, node: str) -> DocumentError:
        return DocumentError(
            f"the {what} of the node {node!r} {'are' if what == 'facts' else 'is'} damaged in {self.describe()}",
            hint="an older revision may be whole: nodeattrs history; nodeattrs store check says what is damaged",
        )

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        task = f"save the node {saved.name!r}"
        saves = self._prepared(task, [(saved, after)])
        if saves.left:
            with self._writing(task) as talk:
                saves.write(talk, self.describe())
                return _judged(saves.came)
        return _judged(saves.came)

    @taking(saves=Listed)
    def save_all(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        if not self.writes_together:
            return [tried(self.save, *one) for one in saves]
        task = f"save {len(saves)} nodes"
        prepared = self._prepared(task, saves)
        if prepared.left:
            with self._writing(task) as talk:
                prepared.write(talk, self.describe())
        return prepared.came

    def _prepared(self, task: str, saves: Sequence[tuple[Saved, int | None]]) -> Saves:
        prepared = Saves(saves)
        if prepared.left:
            with self._reading(task, loosely=True) as talk:
                prepared.prepare(talk)
        return prepared

    def turn(self, name: str) -> AbstractContextManager[None]:
        return self._turns.taken(lambda: self._turn(name))

    @taking(revisions=Listed)
    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        checked_name(name, "node")
        texts = [texts_of(name, saved) for saved in revisions]
        for each in texts:
            for text in each:
                if text is not None:
                    text.check()
        with self._writing(f"save the node {name!r}") as talk:
            ((_, node, following),), ((latest,),) = talk.raised(
                [name], (f"SELECT max(number) FROM {ITS_REVISIONS}", name)
            )
            for saved, each in zip(revisions, texts, strict=True):
                revision = saved.revision
                assert revision is not None
                if revision.number <= (latest or 0):
                    raise taken(name, revision.number, self.describe())
                put_texts(talk, [text for text in each if text is not None])
                hashes = [None if text is None else text.hash for text in each]
                put_revisions(talk, [(node, revision, noted_text(name, revision.noted), hashes)])
                latest = revision.number
            talk.all("UPDATE node SET last = ? WHERE id = ?", max(following - 1, latest), node)
            put_index(talk, {node: numbered_parts(talk.secret, revisions[-1].document)})

    def delete(self, name: str) -> bool:
        checked_name(name, "node")
        task = f"delete the node {name!r}"
        with self._reading(task) as talk:
            if talk is None:
                return False
        with self._writing(task, alone=True) as talk:
            rows = talk.all("SELECT DISTINCT n.id FROM node n JOIN revision r ON r.node = n.id WHERE n.name = ?", name)
            for (node,) in rows:
                holding.forget_node(talk, node)
        return bool(rows)

    def history(self, name: str) -> list[Revision]:
        checked_name(name, "node")
        with self._reading(f"read the history of {name!r}") as talk:
            if talk is None:
                return []
            rows = talk.all(
                "SELECT r.number, r.at, r.noted FROM revision r JOIN node n ON n.id = r.node "
                "WHERE n.name = ? ORDER BY r.number DESC",
                name,
            )
        return [revision_in(name, row) for row in rows]

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        rows: list[tuple[Any, ...]] = [("",)]
        while rows:
            # A look at a time, so that whoever takes them may look elsewhere meanwhile.
            with self._reading("list the nodes") as talk:
                rows = [] if talk is None else talk.all(LATEST_OF_ALL, rows[-1][0], AT_ONCE)
            for name, *fields in rows:
                revision = None
                with contextlib.suppress(DocumentError):  # `check` says what is wrong; the others are reported
                    revision = revision_in(name, fields)
                yield name, revision

    # --- search ---------------------------------------------------------------------

    @taking(query="nodeattrs.keep.search.query:Query")
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        with self._reading("search") as talk:
            if talk is None:
                return []
            if at is not None:
                return self._search_then(talk, query, at)
            if isinstance(query.asked, All):
                return [name for name, _ in nodes_in(talk)]
            found: list[str] = []
            for some in some_of(sorted(answer(SqlIndex(talk, self.holds), query))):
                condition, numbers = talk.among("id", some)
                found += [name for (name,) in talk.all(f"SELECT name FROM node WHERE {condition}", numbers)]
            return sorted(found)

    def _search_then(self, talk: Talk, query: Query, at: datetime) -> list[str]:
        # The index knows the latest revisions only.
        loaded = (self._load(talk, name, at) for name, _ in nodes_in(talk))
        return names_found(((saved.name, saved.document) for saved in loaded if saved is not None), query)

    # --- care -----------------------------------------------------------------------

    @taking(keep=int)
    def prune(self, keep: int) -> int:
        if keep < 1:
            raise BadArgument(f"{keep} revisions cannot be kept", hint="the latest one always is: --keep 1")
        with self._reading("prune") as talk:
            if talk is None:
                return 0
        with self._writing("prune", alone=True) as talk:
            ranked = (
                "SELECT node, number, row_number() OVER (PARTITION BY node ORDER BY number DESC) AS rank FROM revision"
            )
            lasts = talk.all(f"SELECT node, max(number) FROM ({ranked}) AS r WHERE rank > ? GROUP BY node", keep)
            count = sum(holding.forget_revisions(talk, node, last) for node, last in lasts)
            holding.forget_former(talk)
        return count

    def check(self, on_node: OnNode | None = None) -> list[str]:
        with self._reading("check") as talk:
            return [] if talk is None else list(self._faults(talk, on_node))

    def _faults(self, talk: Talk, on_node: OnNode | None) -> Iterator[str]:
        for name, node in nodes_in(talk):
            yield from self._faults_of(talk, name, node)
            if on_node is not None:
                on_node(name)
        if not is_worded(talk):
            yield f"search does not know all words; {_AGAIN}"
        for table, column, others, sentence in _LOST:
            ((count,),) = talk.all(f"SELECT count(*) FROM ({without(table, column, others)}) AS lost")
            if count:
                yield f"{count} {sentence}"

    def _faults_of(self, talk: Talk, name: str, node: int) -> Iterator[str]:
        sound: dict[bytes, str] = {}
        latest: Hashes = []
        for number, at, noted, *names in talk.all(
            f"SELECT number, at, noted, {', '.join(KINDS)} FROM revision WHERE node = ? ORDER BY number", node
        ):
            try:
                revision_in(name, (number, at, noted))
            except DocumentError as error:
                yield error.message
            latest = hashes_in(names)
            for what, text in zip(KINDS, latest, strict=True):
                if text is None:
                    continue
                if text not in sound:
                    sound[text] = fault_of(talk, text)
                if sound[text]:
                    yield f"the {what} of {name}, revision {number}: {sound[text]}"
        if not latest or any(sound[text] for text in latest if text is not None):
            return
        document, _ = self._node(talk, name, latest)
        wanted = numbered_parts(talk.secret, document).keys()
        if wanted != {part for (part,) in talk.all("SELECT part FROM node_part WHERE node = ?", node)}:
            yield f"search does not know {name} as it is; {_AGAIN}"

    def _of_another_version(self, version: int) -> StoreError:
        return StoreError(
            f"{self.describe()} has the store version {version}; this nodeattrs reads version {VERSION}",
            hint="export it with nodeattrs of commit e2dc3421 (or the newer one that wrote it) and import the "
            "export: docs/stores.md, Other versions",
        )

    @taking(compression=str)
    def make(self, compression: str = ZLIB) -> None:
        if compression not in PACKINGS:
            raise BadArgument(f"nothing is packed with {compression}", hint=f"there is {' and '.join(PACKINGS)}")
        packed(b"", compression)  # whose extra may be missing
        self._compression = compression
        with self._writing("make the store", alone=True) as talk:
            if talk.packing != compression:
                raise StoreError(
                    f"{self.describe()} is compressed with {talk.packing}, not with {compression}",
                    hint="name a place where there is no store yet",
                )

    def _make_tables(self, talk: Talk) -> None:
        for statement in SCHEMA:
            talk.all(self._spelled_here(statement))
        talk.all("INSERT INTO secret (value, packing) VALUES (?, ?)", os.urandom(32), self._compression)

    @abstractmethod
    def _spelled_here(self, statement: str) -> str:
        """A statement of SCHEMA as this database spells its types."""


def _judged(came: Sequence[Revision | NodeattrsError]) -> Revision:
    """What came of one. raises: how it was refused"""
    (one,) = came
    if isinstance(one, NodeattrsError):
        raise one
    return one
