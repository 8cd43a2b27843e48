"""What the stores in databases have in common: revisions, pieces by content, the index for search.

It uses the SQL that SQLite and PostgreSQL share, with "?" for each value; no value and no
query ever becomes SQL text. How to connect, to begin and to end is theirs. Its tables: `tables`.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, BadValue, DocumentError, StoreError
from nodeattrs.keep.revisions import JsonMap, Noted, OnNode, Revision, Saved, now, stale, taken
from nodeattrs.keep.stores import holding
from nodeattrs.keep.stores.indexing import Parts, index_questions, is_worded, put_index, unknown_parts
from nodeattrs.keep.stores.pieces import (
    PACKINGS,
    Packed,
    Stored,
    Text,
    as_bytes,
    fault_of,
    known_texts,
    noted_text,
    packed,
    repack,
    text_of,
    texts_of,
    texts_question,
)
from nodeattrs.keep.stores.tables import MIGRATIONS, VERSION
from nodeattrs.keep.stores.talk import AT_ONCE, Question, Talk, nodes_in, some_of, without
from nodeattrs.keep.stores.turns import Turns
from nodeattrs.texts.fast_json import decoded

if TYPE_CHECKING:
    from nodeattrs.keep.search.query import Query

NO_SNAPSHOT = "saved, origin unknown: no snapshot was saved with it"

_AGAIN = "nodeattrs store migrate makes the index again"

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

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
    def _migrate(self, on_node: OnNode | None, compression: str | None) -> str:
        """`_brought`, in a transaction; nothing where there is no store."""

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
        checked_name(name, "node")
        with self._reading(f"read the node {name!r}") as talk:
            return None if talk is None else self._load(talk, name, at, last=True)

    def _load(self, talk: Talk, name: str, at: int | datetime | None, last: bool = False) -> Saved | None:
        condition, values = _when(at)
        rows = talk.all(
            "SELECT r.number, r.at, r.noted, r.document, r.snapshot, d.pieces, s.pieces "
            f"FROM (SELECT * FROM {_ITS_REVISIONS}{condition} ORDER BY number DESC LIMIT 1) r "
            "LEFT JOIN text d ON d.hash = r.document LEFT JOIN text s ON s.hash = r.snapshot",
            name,
            *values,
        )
        if not rows:
            return None
        *fields, document, snapshot, of_document, of_snapshot = rows[0]
        revision = _revision(name, fields)
        document, snapshot = as_bytes(document), None if snapshot is None else as_bytes(snapshot)
        texts = Stored(talk, [(document, of_document), (snapshot, of_snapshot)], last)
        tree = self._read(texts, document, name, "document")
        kept = None if snapshot is None else self._read(texts, snapshot, name, "snapshot")
        return Saved(name, tree, kept, NO_SNAPSHOT if kept is None else "", revision.noted, revision)

    def _read(self, texts: Stored, name_of_text: bytes, node: str, what: str) -> JsonMap:
        try:
            tree = decoded(texts.text(name_of_text))
        except (LookupError, ValueError, zlib.error, RecursionError) as error:
            raise DocumentError(
                f"the {what} of the node {node!r} is damaged in {self.describe()}",
                hint="an older revision may be whole: nodeattrs history; nodeattrs store check says what is damaged",
            ) from error
        assert isinstance(tree, dict)
        return tree

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        name = checked_name(saved.name, "node")
        try:
            return self._save(name, saved, after)
        except RecursionError:
            raise BadValue(f"the document of the node {name!r} cannot be kept: it is nested too deeply") from None

    def turn(self, name: str) -> AbstractContextManager[None]:
        return self._turns.taken(lambda: self._turn(name))

    @taking(revisions=Listed)
    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        checked_name(name, "node")
        texts = [texts_of(name, saved) for saved in revisions]
        parts = Parts(revisions[-1].document)
        for each in texts:
            for text in each:
                text.check()
                text.pieces()
        with self._writing(f"save the node {name!r}") as talk:
            ((node, following),), ((latest,),) = talk.raised(name, (f"SELECT max(number) FROM {_ITS_REVISIONS}", name))
            for saved, each in zip(revisions, texts, strict=True):
                revision = saved.revision
                assert revision is not None
                if revision.number <= (latest or 0):
                    raise taken(name, revision.number, self.describe())
                _put(talk, node, revision, noted_text(name, revision.noted), each)
                latest = revision.number
            talk.all("UPDATE node SET last = ? WHERE id = ?", max(following - 1, latest), node)
            put_index(talk, node, name, parts)

    def _save(self, name: str, saved: Saved, after: int | None) -> Revision:
        texts = texts_of(name, saved)
        made, noted = _Made(texts, Parts(saved.document)), noted_text(name, saved.noted)
        task = f"save the node {name!r}"
        # Most of the work is done before anybody is kept waiting; it is looked at again below.
        with self._reading(task, loosely=True) as talk:
            made.prepare(talk if talk is None or talk.version == VERSION else None, name)
        with self._writing(task) as talk:
            ((node, number),), before, there, *others = talk.raised(
                name,
                (_LATEST, name),
                texts_question(text for text in texts if not text.is_new),
                *made.questions(talk, name),
            )
            if after is not None and after != (before[0][0] if before else 0):
                raise stale(name, after, _revision(name, before[0][:3]) if before else None, self.describe())
            revision = Revision(number, now(), saved.noted)
            index = others.pop() if not made.is_same else None
            made.packed.pack(talk.packing, others)
            was = {as_bytes(text) for text in before[0][3:]} if before else set()
            _put(talk, node, revision, noted, texts, there, made.packed, was)
            if not before or as_bytes(before[0][3]) != texts[0].hash:
                put_index(talk, node, name, made.parts, index)
        return revision

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
        return [_revision(name, row) for row in rows]

    def unreadable(self, name: str) -> list[str]:
        try:
            self.history(name)
        except DocumentError as error:
            return [error.message]
        return []

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        rows: list[tuple[Any, ...]] = [("",)]
        while rows:
            # A look at a time, so that whoever takes them may look elsewhere meanwhile.
            with self._reading("list the nodes") as talk:
                rows = [] if talk is None else talk.all(_LATEST_OF_ALL, rows[-1][0], AT_ONCE)
            for name, *fields in rows:
                revision = None
                with contextlib.suppress(DocumentError):  # `check` says what is wrong; the others are reported
                    revision = _revision(name, fields)
                yield name, revision

    # --- search ---------------------------------------------------------------------

    @taking(query="nodeattrs.keep.search.query:Query")
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        from nodeattrs.keep.search.answer import answer
        from nodeattrs.keep.search.terms import All
        from nodeattrs.keep.stores.index import SqlIndex

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
        from nodeattrs.keep.search.memory import names_found

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
        is_whole = True
        for name, node in nodes_in(talk):
            for fault in self._faults_of(talk, name, node):
                is_whole = False
                yield fault
            if on_node is not None:
                on_node(name)
        if talk.version < VERSION:
            return  # what search knows is made again anyway
        if is_whole and not holding.is_all_held(talk):
            yield f"who needs which text is not known for all; {_AGAIN}"
        if not is_worded(talk):
            yield f"search does not know all words; {_AGAIN}"
        for table, column, others, sentence in _LOST:
            ((count,),) = talk.all(f"SELECT count(*) FROM ({without(table, column, others)}) AS lost")
            if count:
                yield f"{count} {sentence}"

    def _faults_of(self, talk: Talk, name: str, node: int) -> Iterator[str]:
        sound: dict[bytes, str] = {}
        for number, at, noted, *texts in talk.all(
            "SELECT number, at, noted, document, snapshot FROM revision WHERE node = ? ORDER BY number", node
        ):
            try:
                _revision(name, (number, at, noted))
            except DocumentError as error:
                yield error.message
            for what, text in zip(("document", "snapshot"), texts, strict=True):
                if text is None:
                    continue
                text = as_bytes(text)
                if text not in sound:
                    sound[text] = fault_of(talk, text)
                if sound[text]:
                    yield f"the {what} of {name}, revision {number}: {sound[text]}"
        latest = _document_of(talk, name)
        if latest is None or sound.get(latest) or talk.version < VERSION:
            return
        wanted = Parts(decoded(text_of(talk, latest))).numbered(talk.secret).keys()
        if wanted != {part for (part,) in talk.all("SELECT part FROM node_part WHERE node = ?", node)}:
            yield f"search does not know {name} as it is; {_AGAIN}"

    def _refuse_newer(self, version: int) -> None:
        if version > VERSION:
            raise StoreError(
                f"{self.describe()} was written by a newer nodeattrs: its version is {version}, ours {VERSION}",
                hint="upgrade nodeattrs, or name another place for the store",
            )

    def _refuse_other_version(self, version: int, oldest: int = VERSION) -> None:
        self._refuse_newer(version)
        if version < oldest:
            raise StoreError(
                f"{self.describe()} was written by an older nodeattrs: its version is {version}, ours {VERSION}",
                hint=f"bring it up to date: nodeattrs store migrate --store {self.describe()}",
            )

    @taking(compression=str | None)
    def migrate(self, on_node: OnNode | None = None, compression: str | None = None) -> str:
        if compression is not None:
            if compression not in PACKINGS:
                raise BadArgument(f"nothing is packed with {compression}", hint=f"there is {' and '.join(PACKINGS)}")
            packed(b"", compression)  # whose extra may be missing
        done = self._migrate(on_node, compression)
        if done or compression is None:
            return done or "there is no store yet"
        with self._writing("make the store", alone=True) as talk:
            repack(talk, compression)
        return f"made a store whose pieces are packed with {compression}"

    def _brought(self, talk: Talk, version: int, on_node: OnNode | None, compression: str | None) -> str:
        if compression is None or version < VERSION:
            self._built(talk, version, on_node)
        if compression is not None:
            return f"packed {repack(talk, compression)} pieces with {compression}"
        return f"brought version {version} to {VERSION}" if version < VERSION else "made the index again"

    def _built(self, talk: Talk, version: int, on_node: OnNode | None = None) -> None:
        """Bring the tables from a version to ours, and make the index where it was none, or again."""
        for step in MIGRATIONS[version:]:
            for statement in step:
                talk.all(self._spelled_here(statement))
        if version == 0:
            talk.all("INSERT INTO secret (value) VALUES (?)", secrets.token_bytes(32))
        else:
            self._reindex(talk, on_node)
            holding.hold_all(talk)

    def _reindex(self, talk: Talk, on_node: OnNode | None) -> None:
        for table in ("node_part", "former", "part_entry", "part", "word", "entry", "field", "path"):
            talk.all(f"DELETE FROM {table}")
        for name, node in nodes_in(talk):
            text = _document_of(talk, name)
            assert text is not None
            if not fault_of(talk, text):
                put_index(talk, node, name, Parts(decoded(text_of(talk, text))))
            if on_node is not None:
                on_node(name)

    @abstractmethod
    def _spelled_here(self, statement: str) -> str:
        """A statement of MIGRATIONS as this database spells its types."""


# --- revisions ----------------------------------------------------------------------


def _spelled(at: datetime) -> str:
    """A time as text whose order is that of time."""
    return at.isoformat(timespec="microseconds")


def _when(at: int | datetime | None) -> tuple[str, list[Any]]:
    if at is None:
        return "", []
    if isinstance(at, datetime):
        return " AND at <= ?", [_spelled(at)]
    return " AND number = ?", [at]


def _revision(name: str, row: Sequence[Any]) -> Revision:
    number, at, noted = row
    try:
        return Revision(number, datetime.fromisoformat(at).astimezone(UTC), _noted(noted))
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise DocumentError(f"revision {number} of the node {name!r} has a damaged note: {error}") from None


@lru_cache(maxsize=256)
def _noted(text: str) -> Noted:
    """What is noted; most runs of a fleet are noted alike. raises: ValueError"""
    return Noted.from_dict(json.loads(text))


_ITS_REVISIONS = "revision WHERE node = (SELECT id FROM node WHERE name = ?)"
_LATEST = f"SELECT number, at, noted, document, snapshot FROM {_ITS_REVISIONS} ORDER BY number DESC LIMIT 1"
_LATEST_OF_ALL = (
    "SELECT n.name, r.number, r.at, r.noted FROM node n JOIN revision r ON r.node = n.id "
    "AND r.number = (SELECT max(o.number) FROM revision o WHERE o.node = n.id) WHERE n.name > ? ORDER BY n.name LIMIT ?"
)
_DOCUMENT = f"SELECT document FROM {_ITS_REVISIONS} ORDER BY number DESC LIMIT 1"


def _document_of(talk: Talk, name: str) -> bytes | None:
    rows = talk.all(_DOCUMENT, name)
    return as_bytes(rows[0][0]) if rows else None


def _put(
    talk: Talk,
    node: int,
    revision: Revision,
    noted: str,
    texts: Sequence[Text],
    there: list[tuple[Any, ...]] | None = None,
    packed: Packed | None = None,
    was: Collection[bytes] = (),
) -> None:
    """Write a revision and its texts.

    there: those that are not new as they were found; else they are asked for, and so is what there is of pieces
    was:   texts of the node's latest revision
    """
    if there is None:
        there = talk.all(*texts_question(text for text in texts if not text.is_new))
    if packed is None:
        packed = Packed()
        packed.pack(talk.packing, talk.answers(*packed.questions(texts)))
    known = known_texts(there)
    packed.write(talk, texts, known)
    # A text that is there may be cut otherwise.
    new = {text.hash: known[text.hash][1] if text.hash in known else text.names for text in texts}
    holding.hold(talk, node, {text: names for text, names in new.items() if text not in was})
    hashes = texts[0].hash, texts[1].hash if len(texts) > 1 else None
    talk.each(
        "INSERT INTO revision (node, number, at, noted, document, snapshot) VALUES (?, ?, ?, ?, ?, ?)",
        [(node, revision.number, _spelled(revision.at), noted, *hashes)],
    )


class _Made:
    """What a save is likely to write, made before anybody is kept waiting.

    is_same: the document is the node's as it is
    """

    def __init__(self, texts: Sequence[Text], parts: Parts) -> None:
        self._texts, self.parts = texts, parts
        self.packed = Packed()
        self.is_same = False

    def prepare(self, talk: Talk | None, name: str) -> None:
        """talk: None where nothing is known. raises: BadValue"""
        known: dict[bytes, tuple[bytes, bytes]] = {}
        latest = None
        if talk is not None:
            there, rows = talk.answers(texts_question(self._texts), (_DOCUMENT, name))
            known, latest = known_texts(there), as_bytes(rows[0][0]) if rows else None
        for text in self._texts:
            if text.form is None or text.hash not in known or known[text.hash][0] != text.form:
                text.check()
            text.is_new = text.hash not in known
        self.is_same = latest == self._texts[0].hash
        if talk is not None:
            asked = self.packed.questions(self._new)
            answers = talk.answers(*asked) if self.is_same else unknown_parts(talk, self.parts, *asked)
            self.packed.pack(talk.packing, answers)

    @property
    def _new(self) -> list[Text]:
        return [text for text in self._texts if text.is_new]

    def questions(self, talk: Talk, name: str) -> list[Question]:
        """What is asked again: which pieces are there, then what of the index is, unless the document is the same."""
        return [*self.packed.questions(self._new), *([] if self.is_same else index_questions(talk, name, self.parts))]
