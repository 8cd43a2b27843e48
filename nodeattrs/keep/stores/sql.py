"""What the stores in databases have in common: revisions, pieces by content, the index for search.

It uses the SQL that SQLite and PostgreSQL share, with "?" for each value; no value and no
query ever becomes SQL text. How to connect, to begin and to end is theirs.

    text      a whole document or snapshot: its hash, and the hashes of its pieces; and the hash of
              the value it was made of, so that what did not change need not be read back again
    piece     a part of a text, stored once however many texts have it
    node      a name, and the number of its latest revision, which outlives a delete
    revision  which document and snapshot a save left
    path, field, entry, part, part_entry, node_part
              what can be found: fields lead to paths, paths to entries (values), entries to the
              parts that say them, parts to nodes. A part is stored once for all nodes that say
              the same there. Their numbers are hashes under a key of the store's own, so that
              nobody can make two of them meet.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, BadValue, DocumentError, StoreError
from nodeattrs.keep.revisions import JsonMap, Noted, OnNode, Revision, Saved, now, stale, taken
from nodeattrs.keep.search.answer import Found, Index, Shown, answer
from nodeattrs.keep.search.fields import IndexPart, Steps, index_parts, names_of
from nodeattrs.keep.search.memory import names_found
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.search.terms import Range
from nodeattrs.keep.stores.pieces import (
    HASH,
    check_readable,
    form_of,
    hashed,
    joined,
    json_text,
    packed,
    pieces_of,
    written,
)
from nodeattrs.keep.stores.turns import Turns

NO_SNAPSHOT = "saved, origin unknown: no snapshot was saved with it"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE piece (hash BLOB PRIMARY KEY, body BLOB NOT NULL)",
        "CREATE TABLE text (hash BLOB PRIMARY KEY, pieces BLOB NOT NULL, form BLOB)",
        "CREATE TABLE node (id BIGKEY, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL)",
        "CREATE TABLE revision (node BIGINT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, "
        "noted TEXT NOT NULL, document BLOB NOT NULL, snapshot BLOB, PRIMARY KEY (node, number))",
        "CREATE TABLE secret (value BLOB NOT NULL)",
    ),
    (
        "CREATE TABLE path (id BIGINT PRIMARY KEY, steps TEXT NOT NULL)",
        "CREATE TABLE field (id BIGINT NOT NULL, name TEXT NOT NULL, path BIGINT NOT NULL, depth INTEGER NOT NULL, "
        "PRIMARY KEY (id, path, depth))",
        "CREATE TABLE entry (id BIGINT PRIMARY KEY, path BIGINT NOT NULL, kind TEXT NOT NULL, "
        "text TEXT NOT NULL, folded TEXT)",
        "CREATE INDEX entry_path ON entry (path)",
        "CREATE TABLE part (id BIGINT PRIMARY KEY)",
        "CREATE TABLE part_entry (entry BIGINT NOT NULL, part BIGINT NOT NULL, view INTEGER NOT NULL, "
        "PRIMARY KEY (entry, part))",
        "CREATE INDEX part_entry_part ON part_entry (part)",
        "CREATE TABLE node_part (part BIGINT NOT NULL, node BIGINT NOT NULL, PRIMARY KEY (part, node))",
        "CREATE INDEX node_part_node ON node_part (node)",
    ),
    (),
)
"""What each version added to the one before; the number of a version is how many of them it has.
BIGKEY and BLOB are spelled by the database's own module. One without statements: other things can be found."""

VERSION = len(MIGRATIONS)

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


Question = tuple[Any, ...]
"""A query, and its values."""


class Talk(ABC):
    """A conversation with the database, inside of one transaction."""

    secret: bytes | None = None
    """The key of the store's numbers, once it was asked for."""

    @abstractmethod
    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; none of a statement that gives none."""

    def answers(self, *questions: Question, last: bool = False) -> list[list[tuple[Any, ...]]]:
        """The rows of several queries; where the database is far away, they go there together.

        last: nothing else is asked, so that a look may end with it
        """
        return [self.all(*question) for question in questions]

    @abstractmethod
    def each(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """One statement for each of the rows."""

    @abstractmethod
    def among(self, column: str, numbers: Collection[Any]) -> tuple[str, Any]:
        """A condition that a column is one of these, and its value."""

    def found(self, sql: str, hashes: Collection[bytes], last: bool = False) -> list[tuple[Any, ...]]:
        """The rows of a query that ends in "hash = ?", for each of the hashes. last: as in `answers`"""
        return [row for one in hashes for row in self.all(sql, one)]

    def raised(self, name: str, *questions: Question) -> list[list[tuple[Any, ...]]]:
        """A node, which is made unless it is there, and its next number. Of two who ask at once one waits.

        questions: what is asked then; their rows follow
        """
        self.all("INSERT INTO node (name, last) VALUES (?, 0) ON CONFLICT DO NOTHING", name)
        # The row is locked by writing to it.
        self.all("UPDATE node SET last = last + 1 WHERE name = ?", name)
        return self.answers(("SELECT id, last FROM node WHERE name = ?", name), *questions)


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
    def migrate(self, on_node: OnNode | None = None) -> str: ...

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
            return [] if talk is None else [name for name, _ in _nodes(talk)]

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
        document, snapshot = _blob(document), None if snapshot is None else _blob(snapshot)
        texts = _Stored(talk, [(document, of_document), (snapshot, of_snapshot)], last)
        tree = self._read(texts, document, name, "document")
        kept = None if snapshot is None else self._read(texts, snapshot, name, "snapshot")
        return Saved(name, tree, kept, NO_SNAPSHOT if kept is None else "", revision.noted, revision)

    def _read(self, texts: _Stored, name_of_text: bytes, node: str, what: str) -> JsonMap:
        try:
            tree = json.loads(texts.text(name_of_text))
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
        texts = [_texts_of(name, saved) for saved in revisions]
        parts = _Parts(revisions[-1].document)
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
                _put(talk, node, revision, _noted(name, revision.noted), each)
                latest = revision.number
            talk.all("UPDATE node SET last = ? WHERE id = ?", max(following - 1, latest), node)
            _index(talk, node, name, parts)

    def _save(self, name: str, saved: Saved, after: int | None) -> Revision:
        texts = _texts_of(name, saved)
        parts, noted = _Parts(saved.document), _noted(name, saved.noted)
        task = f"save the node {name!r}"
        # Most of the work is done before anybody is kept waiting; it is looked at again below.
        with self._reading(task, loosely=True) as talk:
            same = _prepared(talk, name, texts, parts)
        with self._writing(task) as talk:
            ((node, number),), before, forms, *index = talk.raised(
                name,
                (f"SELECT number, at, noted, document FROM {_ITS_REVISIONS} ORDER BY number DESC LIMIT 1", name),
                _forms_question(text for text in texts if not text.is_new),
                *([] if same else _index_questions(talk, name, parts)),
            )
            if after is not None and after != (before[0][0] if before else 0):
                raise stale(name, after, _revision(name, before[0][:3]) if before else None, self.describe())
            revision = Revision(number, now(), saved.noted)
            _put(talk, node, revision, noted, texts, forms)
            if not before or _blob(before[0][3]) != texts[0].hash:
                _index(talk, node, name, parts, *index)
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
                talk.all("DELETE FROM revision WHERE node = ?", node)
                talk.all("DELETE FROM node_part WHERE node = ?", node)
                _sweep(talk)
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
        with self._reading("list the nodes") as talk:
            rows = (
                []
                if talk is None
                else talk.all(
                    "SELECT n.name, r.number, r.at, r.noted FROM node n JOIN revision r ON r.node = n.id "
                    "AND r.number = (SELECT max(o.number) FROM revision o WHERE o.node = n.id) ORDER BY n.name"
                )
            )
        for name, *fields in rows:
            revision = None
            with contextlib.suppress(DocumentError):  # `check` says what is wrong; the others are reported all the same
                revision = _revision(name, fields)
            yield name, revision

    # --- search ---------------------------------------------------------------------

    @taking(query=Query)
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        with self._reading("search") as talk:
            if talk is None:
                return []
            if at is not None:
                return self._search_then(talk, query, at)
            found = answer(_SqlIndex(talk, self.holds), query)
            condition, numbers = talk.among("id", found)
            return sorted(name for (name,) in talk.all(f"SELECT name FROM node WHERE {condition}", numbers))

    def _search_then(self, talk: Talk, query: Query, at: datetime) -> list[str]:
        # The index knows the latest revisions only.
        loaded = (self._load(talk, name, at) for name, _ in _nodes(talk))
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
            gone = [
                (node, number)
                for node, number, rank in talk.all(
                    "SELECT node, number, row_number() OVER (PARTITION BY node ORDER BY number DESC) FROM revision"
                )
                if rank > keep
            ]
            talk.each("DELETE FROM revision WHERE node = ? AND number = ?", gone)
            _sweep(talk)
        return len(gone)

    def check(self, on_node: OnNode | None = None) -> list[str]:
        with self._reading("check") as talk:
            return [] if talk is None else list(self._faults(talk, on_node))

    def _faults(self, talk: Talk, on_node: OnNode | None) -> Iterator[str]:
        for name, node in _nodes(talk):
            yield from self._faults_of(talk, name, node)
            if on_node is not None:
                on_node(name)
        for table, column, others, sentence in _LOST:
            ((count,),) = talk.all(f"SELECT count(*) FROM ({_without(table, column, others)}) AS lost")
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
                text = _blob(text)
                if text not in sound:
                    sound[text] = _fault_of(talk, text)
                if sound[text]:
                    yield f"the {what} of {name}, revision {number}: {sound[text]}"
        latest = _document_of(talk, name)
        if latest is None or sound.get(latest):
            return
        wanted = _Parts(json.loads(_text(talk, latest))).numbered(_secret(talk)).keys()
        if wanted != {part for (part,) in talk.all("SELECT part FROM node_part WHERE node = ?", node)}:
            yield f"search does not know {name} as it is; {_AGAIN}"

    def _refuse_newer(self, version: int) -> None:
        if version > VERSION:
            raise StoreError(
                f"{self.describe()} was written by a newer nodeattrs: its version is {version}, ours {VERSION}",
                hint="upgrade nodeattrs, or name another place for the store",
            )

    def _refuse_other_version(self, version: int) -> None:
        self._refuse_newer(version)
        if version < VERSION:
            raise StoreError(
                f"{self.describe()} was written by an older nodeattrs: its version is {version}, ours {VERSION}",
                hint=f"bring it up to date: nodeattrs store migrate --store {self.describe()}",
            )

    def _built(self, talk: Talk, version: int, key: bytes, on_node: OnNode | None = None) -> None:
        """Bring the tables from a version to ours, and make the index where it was none, or again."""
        for step in MIGRATIONS[version:]:
            for statement in step:
                talk.all(self._spelled_here(statement))
        if version == 0:
            talk.all("INSERT INTO secret (value) VALUES (?)", key)
        else:
            self._reindex(talk, on_node)

    def _reindex(self, talk: Talk, on_node: OnNode | None) -> None:
        for table in ("node_part", "part_entry", "part", "entry", "field", "path"):
            talk.all(f"DELETE FROM {table}")
        for name, node in _nodes(talk):
            text = _document_of(talk, name)
            assert text is not None
            if not _fault_of(talk, text):
                _index(talk, node, name, _Parts(json.loads(_text(talk, text))))
            if on_node is not None:
                on_node(name)

    @abstractmethod
    def _spelled_here(self, statement: str) -> str:
        """A statement of MIGRATIONS as this database spells its types."""


def only(talk: Talk, column: str, table: str) -> Any:
    """The value of a table that has one row. raises: StoreError, where it has another number of them"""
    rows = talk.all(f"SELECT {column} FROM {table}")
    if len(rows) != 1:
        raise StoreError(
            f"the store is damaged: its table {table.rpartition('.')[2]!r} has {len(rows)} rows, and should have one",
            hint="bring a copy of the store back",
        )
    return rows[0][0]


# --- revisions ----------------------------------------------------------------------


def _nodes(talk: Talk) -> list[tuple[str, int]]:
    rows = talk.all("SELECT name, id FROM node n WHERE EXISTS (SELECT 1 FROM revision r WHERE r.node = n.id)")
    return sorted((name, node) for name, node in rows)


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
        return Revision(number, datetime.fromisoformat(at).astimezone(UTC), Noted.from_dict(json.loads(noted)))
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise DocumentError(f"revision {number} of the node {name!r} has a damaged note: {error}") from None


_ITS_REVISIONS = "revision WHERE node = (SELECT id FROM node WHERE name = ?)"
_DOCUMENT = f"SELECT document FROM {_ITS_REVISIONS} ORDER BY number DESC LIMIT 1"


def _document_of(talk: Talk, name: str) -> bytes | None:
    rows = talk.all(_DOCUMENT, name)
    return _blob(rows[0][0]) if rows else None


# --- texts in pieces ----------------------------------------------------------------


class _Text:
    """A text to be written, and its pieces once they are asked for.

    raises: BadValue, where the value is no JSON at all
    """

    def __init__(self, value: JsonMap, what: str) -> None:
        self._value, self._what = value, what
        self._text = written(value, what)
        self._pieces: dict[bytes, bytes] | None = None
        self.names = b""
        self.is_new = False
        self.hash = hashed(self._text.encode("utf-8"))
        self.form = form_of(value)

    def check(self) -> None:
        """raises: BadValue, where the value could not be read back"""
        check_readable(self._text, self._value, self._what)

    def pieces(self) -> dict[bytes, bytes]:
        if self._pieces is None:
            pieces = [(hashed(piece), packed(piece)) for piece in pieces_of(self._text.encode("utf-8"))]
            self.names, self._pieces = b"".join(name for name, _ in pieces), dict(pieces)
        return self._pieces


def _texts_of(name: str, saved: Saved) -> list[_Text]:
    """The document, and the snapshot if there is one. raises: BadValue"""
    if not isinstance(saved.document, dict) or saved.document.get("name") != name:
        raise BadValue(f"the document of the node {name!r} does not name it")
    texts = [_Text(saved.document, f"the document of the node {name!r}")]
    if saved.snapshot is not None:
        texts.append(_Text(saved.snapshot, f"the snapshot of the node {name!r}"))
    return texts


def _noted(name: str, noted: Noted) -> str:
    return json_text(noted.to_dict(), f"what is noted of the node {name!r}")


def _put(
    talk: Talk,
    node: int,
    revision: Revision,
    noted: str,
    texts: Sequence[_Text],
    forms: list[tuple[Any, ...]] | None = None,
) -> None:
    """Write a revision and its texts. forms: what those that are not new were found to be; else they are asked for"""
    if forms is None:
        forms = talk.all(*_forms_question(text for text in texts if not text.is_new))
    _write(talk, texts, _forms(forms))
    hashes = texts[0].hash, texts[1].hash if len(texts) > 1 else None
    talk.each(
        "INSERT INTO revision (node, number, at, noted, document, snapshot) VALUES (?, ?, ?, ?, ?, ?)",
        [(node, revision.number, _spelled(revision.at), noted, *hashes)],
    )


def _prepared(talk: Talk | None, name: str, texts: Sequence[_Text], parts: _Parts) -> bool:
    """Make what a save is likely to write; whether the document is the node's as it is.

    raises: BadValue
    """
    known, latest = {}, None
    if talk is not None:
        forms, rows = talk.answers(_forms_question(texts), (_DOCUMENT, name))
        known, latest = _forms(forms), _blob(rows[0][0]) if rows else None
    for text in texts:
        if text.form is None or known.get(text.hash) != text.form:
            text.check()
        text.is_new = text.hash not in known
        if text.is_new:
            text.pieces()
    same = latest == texts[0].hash
    if talk is not None and not same:
        parts.prepare(_secret(talk), _unknown_parts(talk, parts))
    return same


def _blob(value: Any) -> bytes:
    """Bytes as a database gives them; what is none, in a file that somebody damaged, is nothing."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def _forms_question(texts: Iterable[_Text]) -> Question:
    hashes = [text.hash for text in texts] or [b""]
    return f"SELECT hash, form FROM text WHERE hash IN ({', '.join('?' * len(hashes))})", *hashes


def _forms(rows: Iterable[tuple[Any, ...]]) -> dict[bytes, bytes | None]:
    """The texts that are there, and the hash of the value that each was made of, where that is known."""
    return {_blob(name): None if form is None else _blob(form) for name, form in rows}


def _write(talk: Talk, texts: Sequence[_Text], known: Collection[bytes]) -> None:
    # One that was new a moment ago is written without asking, and does no harm if it is there now.
    unknown = {text.hash: text for text in texts if text.hash not in known}
    # In one order for all who write, so that no two of them wait for each other.
    pieces = {name: body for text in unknown.values() for name, body in text.pieces().items()}
    talk.each("INSERT INTO piece (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(pieces.items()))
    rows = [(name, unknown[name].names, unknown[name].form) for name in sorted(unknown)]
    talk.each("INSERT INTO text (hash, pieces, form) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)


class _Stored:
    """Texts as they are stored, and their pieces, which are read together."""

    def __init__(self, talk: Talk, texts: Iterable[tuple[bytes | None, Any]], last: bool = False) -> None:
        """texts: each with the names of its pieces, None where it is gone. last: as in `Talk.answers`"""
        self._pieces = {name: _blob(pieces) for name, pieces in texts if name is not None and pieces is not None}
        wanted = {
            pieces[at : at + HASH] for pieces in self._pieces.values() for at in range(0, len(pieces), HASH)
        }  # a piece may stand there twice
        bodies = talk.found("SELECT hash, body FROM piece WHERE hash = ?", wanted, last)
        self._bodies = {_blob(name): _blob(body) for name, body in bodies}

    def text(self, name: bytes) -> bytes:
        """raises: LookupError, zlib.error, ValueError, where it is damaged"""
        if name not in self._pieces:
            raise LookupError("its text is gone")
        text = joined(self._pieces[name], self._bodies)
        if hashed(text) != name:
            raise ValueError("its checksum does not fit")
        return text


def _text(talk: Talk, name: bytes) -> bytes:
    """raises: LookupError, zlib.error, ValueError, where it is damaged"""
    rows = talk.all("SELECT hash, pieces FROM text WHERE hash = ?", name)
    return _Stored(talk, [(_blob(hash), pieces) for hash, pieces in rows]).text(name)


def _fault_of(talk: Talk, name: bytes) -> str:
    try:
        _text(talk, name)
    except KeyError:
        return "a piece of it is gone"
    except LookupError as error:
        return str(error)
    except zlib.error:
        return "a piece of it is damaged"
    except ValueError as error:
        return str(error)
    return ""


def _sweep(talk: Talk) -> None:
    """Remove what no revision has any more."""
    _forget(talk, "text", "hash", "SELECT document FROM revision", "SELECT snapshot FROM revision")
    used = {
        _blob(names)[at : at + HASH]
        for (names,) in talk.all("SELECT pieces FROM text")
        for at in range(0, len(names), HASH)
    }
    lost = [(_blob(name),) for (name,) in talk.all("SELECT hash FROM piece") if _blob(name) not in used]
    talk.each("DELETE FROM piece WHERE hash = ?", lost)
    _forget(talk, "part", "id", "SELECT part FROM node_part")
    _forget(talk, "part_entry", "part", "SELECT id FROM part")
    _forget(talk, "entry", "id", "SELECT entry FROM part_entry")
    _forget(talk, "path", "id", "SELECT path FROM entry")
    _forget(talk, "field", "path", "SELECT id FROM path")


def _forget(talk: Talk, table: str, column: str, *others: str) -> None:
    """Remove the rows whose value none of the *others* has."""
    talk.all(f"DELETE FROM {table} WHERE {column} IN ({_without(table, column, *others)})")


def _without(table: str, column: str, *others: str) -> str:
    """SQL for the values of a column that none of the *others* has."""
    # Not with NOT IN: PostgreSQL would go through all of the others for each row, once they are many.
    return " EXCEPT ".join([f"SELECT {column} FROM {table}", *others])


# --- the index ----------------------------------------------------------------------


class _Parts:
    """The parts of a document, and the rows of those that the index may lack, once they are prepared."""

    def __init__(self, document: JsonMap) -> None:
        self._document = document
        self._numbered: dict[int, IndexPart] | None = None
        self._prepared: set[int] = set()
        self.entries: list[tuple[Any, ...]] = []
        self.views: list[tuple[int, int, int]] = []
        self.paths: dict[Steps, tuple[int, str]] = {}

    def numbered(self, secret: bytes) -> dict[int, IndexPart]:
        if self._numbered is None:
            self._numbered = {_number(secret, b"part", part.key): part for part in index_parts(self._document)}
        return self._numbered

    def prepare(self, secret: bytes, unknown: Iterable[int]) -> None:
        """Make the rows of the parts with these numbers, unless that is done."""
        for number in set(unknown) - self._prepared:
            self._prepared.add(number)
            for entry, view in self.numbered(secret)[number].entries().items():
                known = self.paths.get(entry.steps)
                if known is None:
                    spelled = _path_text(entry.steps)
                    known = self.paths[entry.steps] = _number(secret, b"path", spelled.encode()), spelled
                path, spelled = known
                its = _number(secret, b"entry", "\n".join((spelled, entry.kind, entry.text)).encode("utf-8"))
                folded = entry.text.casefold()
                self.entries.append((its, path, entry.kind, entry.text, None if folded == entry.text else folded))
                self.views.append((its, number, view))

    @property
    def prepared(self) -> list[tuple[int]]:
        return [(number,) for number in sorted(self._prepared)]


def _secret(talk: Talk) -> bytes:
    if talk.secret is None:
        talk.secret = _blob(only(talk, "value", "secret"))
    return talk.secret


def _number(secret: bytes, kind: bytes, content: bytes) -> int:
    digest = hashlib.blake2b(content, digest_size=8, key=secret, person=kind).digest()
    return int.from_bytes(digest, signed=True)


def _path_text(steps: Steps) -> str:
    return json.dumps(steps)


def _unknown_parts(talk: Talk, parts: _Parts) -> set[int]:
    """The parts of a document that the index lacks; the last that is asked of a look."""
    numbered = parts.numbered(_secret(talk))
    condition, numbers = talk.among("id", numbered)
    (rows,) = talk.answers((f"SELECT id FROM part WHERE {condition}", numbers), last=True)
    return numbered.keys() - {number for (number,) in rows}


_THERE, _OLD, _KEPT = range(3)


def _index_questions(talk: Talk, name: str, parts: _Parts) -> list[Question]:
    """What `_index` asks of a node, at once: which parts and paths are there, and which parts it has."""
    a_part, part_numbers = talk.among("id", parts.numbered(_secret(talk)))
    a_path, path_numbers = talk.among("id", [path for path, _ in parts.paths.values()])
    asked = (
        f"SELECT {_THERE}, id FROM part WHERE {a_part} UNION ALL SELECT {_OLD}, id FROM path WHERE {a_path} UNION ALL "
        f"SELECT {_KEPT}, part FROM node_part WHERE node = (SELECT id FROM node WHERE name = ?)"
    )
    return [(asked, part_numbers, path_numbers, name)]


def _index(talk: Talk, node: int, name: str, parts: _Parts, answer: Iterable[tuple[Any, ...]] | None = None) -> None:
    secret = _secret(talk)
    if answer is None:
        (answer,) = talk.answers(*_index_questions(talk, name, parts))
    found: tuple[set[int], ...] = set(), set(), set()
    for kind, number in answer:
        found[kind].add(number)
    there, old, kept = found
    wanted = parts.numbered(secret).keys()
    parts.prepare(secret, wanted - there)
    new = {steps: path for steps, (path, _) in parts.paths.items() if path not in old}
    path_rows = [(path, parts.paths[steps][1]) for steps, path in new.items()]
    field_rows = [
        (_field(secret, field), field, path, depth) for steps, path in new.items() for field, depth in names_of(steps)
    ]
    # In one order for all who write, so that no two of them wait for each other.
    talk.each("INSERT INTO path (id, steps) VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(path_rows))
    talk.each(
        "INSERT INTO field (id, name, path, depth) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", sorted(field_rows)
    )
    talk.each(
        "INSERT INTO entry (id, path, kind, text, folded) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        sorted(parts.entries, key=itemgetter(0)),
    )
    talk.each("INSERT INTO part (id) VALUES (?) ON CONFLICT DO NOTHING", parts.prepared)
    talk.each("INSERT INTO part_entry (entry, part, view) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", sorted(parts.views))
    talk.each("DELETE FROM node_part WHERE part = ? AND node = ?", [(part, node) for part in sorted(kept - wanted)])
    talk.each("INSERT INTO node_part (part, node) VALUES (?, ?)", [(part, node) for part in sorted(wanted - kept)])


def _field(secret: bytes, name: str) -> int:
    return _number(secret, b"field", name.encode("utf-8"))


class _SqlIndex(Index):
    """The index as a query asks it."""

    def __init__(self, talk: Talk, holds: str) -> None:
        self._talk = talk
        self._holds = holds
        self._secret = _secret(talk)

    def everyone(self) -> set[int]:
        return {node for _, node in _nodes(self._talk)}

    def names(self) -> Iterable[str]:
        return [name for (name,) in self._talk.all("SELECT DISTINCT name FROM field")]

    def below(self, names: Iterable[str]) -> Shown:
        condition, wanted = self._talk.among("f.id", [_field(self._secret, name) for name in names])
        shown: dict[int, tuple[Steps, set[int]]] = {}
        for path, steps, depth in self._talk.all(
            f"SELECT DISTINCT f.path, p.steps, f.depth FROM field f JOIN path p ON p.id = f.path WHERE {condition}",
            wanted,
        ):
            if path not in shown:
                shown[path] = tuple(json.loads(steps)), set()
            shown[path][1].add(depth)
        return shown

    def path(self, steps: Steps) -> int | None:
        path = _number(self._secret, b"path", _path_text(steps).encode())
        return path if self._talk.all("SELECT 1 FROM path WHERE id = ?", path) else None

    def entries(self, paths: Iterable[int], part: str = "", between: Range | None = None) -> Iterable[Found]:
        condition, wanted = self._talk.among("path", list(paths))
        conditions, values = [condition], [wanted]
        if part:
            conditions.append(self._holds.format("coalesce(folded, text)", "?"))
            values.append(part)
        if between is not None:
            ends = ((between.low, ">", between.with_low), (between.high, "<", between.with_high))
            for end, sign, with_it in ends:
                if end is not None:
                    conditions.append(f"text {sign}{'=' if with_it else ''} ?")
                    values.append(end)
        return self._talk.all(f"SELECT id, path, kind, text FROM entry WHERE {' AND '.join(conditions)}", *values)

    def nodes(self, entries: Iterable[int], view: int) -> set[int]:
        # Two questions: of one, a planner that is wrong about how many parts there are goes by the nodes first.
        condition, wanted = self._talk.among("entry", list(entries))
        parts = self._talk.all(
            f"SELECT DISTINCT part FROM part_entry WHERE {condition} AND (view & ?) <> 0", wanted, view
        )
        condition, wanted = self._talk.among("part", [part for (part,) in parts])
        rows = self._talk.all(f"SELECT DISTINCT node FROM node_part WHERE {condition}", wanted)
        return {node for (node,) in rows}
