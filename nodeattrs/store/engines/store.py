"""A store in a database: revisions, texts by content, the index for search.

It uses the SQL that SQLite and PostgreSQL share. A module for each connects, begins and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import weakref
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import lru_cache
from threading import Lock, get_ident
from typing import Any, TypeVar

from nodeattrs.core.borders import ListLike, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import (
    BadArgument,
    BadName,
    BadValue,
    DocumentError,
    NodeattrsError,
    NodeNotFound,
    StoreError,
    TooMuch,
)
from nodeattrs.store.engines.index import AT_ONCE, VERSION, Index, Transaction, names_found
from nodeattrs.store.engines.texts import (
    KINDS,
    PACKINGS,
    ZLIB,
    joined,
    map_in,
    noted_text,
    packed,
    text_in,
    texts_of,
)
from nodeattrs.store.revisions import (
    JsonMap,
    Noted,
    OnNode,
    Revision,
    Saved,
    newer_revision,
    now,
    number_taken,
)
from nodeattrs.store.search.fields import IndexPart, index_parts
from nodeattrs.store.search.query import Query

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
"""Columns whose values another query must find too, that query, and what is reported where it does not."""

_Made = TypeVar("_Made")

Hashes = list[bytes | None]
"""The hashes of the texts of a revision, one for each of KINDS; an empty list where there is no revision."""

_REVISION = f"SELECT r.number, r.at, r.noted, r.{', r.'.join(KINDS)} FROM revision r JOIN node n ON n.id = r.node"

# A connection that a fork copied belongs to the parent: it is neither used nor closed here.
_PARENTS: list[object] = []


class Store(ABC):
    """A store of nodes and their revisions, in a database.

    Each method may raise StoreError, where the database fails, and BadName, for a name that no node can have.
    Methods that differ between databases are abstract. Each thread of each process has its own connection;
    nothing is shared across a fork.
    """

    writes_together = False
    """Whether several nodes are saved in one transaction: where others write meanwhile, two could wait in a ring."""
    failures: tuple[type[Exception], ...] = (OSError,)
    """What the library of the database raises."""
    ways_out: tuple[tuple[str, str], ...] = ()
    """Parts of its messages, each with the hint for it."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._lock = Lock()
        self._compression = ZLIB
        self._open: dict[tuple[int, int], Any] = {}
        weakref.finalize(self, _close, self._open)

    # --- of the database ------------------------------------------------------------

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection."""

    def _is_usable(self, connection: Any) -> bool:
        """Whether a connection can go on being used."""
        return True

    @abstractmethod
    def _transaction(self, writes: bool) -> AbstractContextManager[Transaction | None]:
        """A transaction: all of it happens, or nothing. One that reads sees one moment, or None without a store."""

    @abstractmethod
    def _version(self, transaction: Transaction) -> int | None:
        """The version of the store; None where there is no store yet. raises: StoreError, for what is no store"""

    @abstractmethod
    def _make(self, transaction: Transaction) -> None:
        """Make an empty store."""

    def _connected(self) -> Any:
        """The connection of this thread."""
        key = os.getpid(), get_ident()
        connection = self._open.get(key)
        if connection is not None and not self._is_usable(connection):
            self._open.pop(key).close()
            connection = None
        if connection is None:
            with self._lock:
                for pid, thread in list(self._open):
                    if pid != key[0]:
                        _PARENTS.append(self._open.pop((pid, thread)))
                connection = self._open[key] = self._connect()
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
                f"cannot {task} in {self._shown}: it is damaged", details=details, hint="bring a copy of it back"
            ) from error
        except self.failures as error:
            # The first line says what, and has no password in it.
            text = (error.strerror if isinstance(error, OSError) else None) or str(error).strip().partition("\n")[0]
            reason = text or type(error).__name__
            hint = next((way for sign, way in self.ways_out if sign in reason), None)
            raise StoreError(f"cannot {task} in {self._shown}: {reason}", details=details, hint=hint) from error

    @contextlib.contextmanager
    def _reading(self, task: str) -> Iterator[Transaction | None]:
        """A look at one moment of the store; None where nothing was ever saved. raises: StoreError"""
        with self._failing(task), self._transaction(writes=False) as transaction:
            yield transaction if transaction is not None and self._is_made(transaction) else None

    @contextlib.contextmanager
    def _writing(self, task: str, alone: bool = False) -> Iterator[Transaction]:
        """A transaction of a store that is made, if needed. alone: no other process writes meanwhile"""
        with (
            self._failing(task, "what was saved before is still there"),
            self._transaction(writes=True) as transaction,
        ):
            assert transaction is not None
            is_made = self._is_made(transaction)
            transaction.lock(alone or not is_made)
            if not is_made and not self._is_made(transaction):  # another process may have made it
                self._make(transaction)
                transaction.make_tables(self._compression)
            yield transaction

    def _is_made(self, transaction: Transaction) -> bool:
        version = self._version(transaction)
        if version not in (None, VERSION):
            raise StoreError(
                f"{self._shown} has the store version {version}; this nodeattrs reads version {VERSION}",
                hint="export it with nodeattrs of commit e2dc3421 (or the newer one that wrote it) and import the "
                "export: docs/stores.md, Other versions",
            )
        return version is not None

    def describe(self) -> str:
        """The place of the store for messages; without a password."""
        return self._shown

    def close(self) -> None:
        """Close the connections of all threads. The next call opens a new one."""
        with self._lock:
            _close(self._open)

    @taking(compression=str)
    def make(self, compression: str = ZLIB) -> None:
        """Make an empty store; does nothing where one exists with the same compression. `save` makes one with zlib.

        compression: zlib or zstd
        raises:      StoreError, where a store exists with another compression; BadArgument for another word;
                     MissingExtra
        """
        if compression not in PACKINGS:
            raise BadArgument(f"nothing is packed with {compression}", hint=f"there is {' and '.join(PACKINGS)}")
        packed(b"", compression)  # whose extra may be missing
        self._compression = compression
        with self._writing("make the store", alone=True) as transaction:
            if transaction.packing != compression:
                raise StoreError(
                    f"{self._shown} is compressed with {transaction.packing}, not with {compression}",
                    hint="name a place where there is no store yet",
                )

    # --- reading --------------------------------------------------------------------

    def is_there(self) -> bool:
        """Whether the store has been made; False for a place without a store."""
        with self._reading("look") as transaction:
            return transaction is not None

    def names(self) -> list[str]:
        """The names of the saved nodes, sorted; [] where there is no store."""
        with self._reading("list the nodes") as transaction:
            return [] if transaction is None else [name for name, _ in transaction.nodes()]

    @taking(at=int | datetime | None)
    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        """A revision of a node, the latest one unless *at* is given; None where there is none.

        Document and snapshot share the facts, so do not change either.
        at:     a revision by its number; or a time, for the latest revision then
        raises: DocumentError, where the revision cannot be read
        """
        with self._reading(f"read the node {checked_name(name, 'node')!r}") as transaction:
            return None if transaction is None else self._load(transaction, name, at)

    def _load(self, transaction: Transaction, name: str, at: int | datetime | None) -> Saved | None:
        condition, values = _when(at)
        sql = f"{_REVISION} WHERE n.name = ?{condition} ORDER BY r.number DESC LIMIT 1"
        for row in transaction.all(sql, name, *values):
            revision = _revision_in(name, row)
            document, snapshot = self._node(transaction, name, _hashes_in(row))
            note = NO_SNAPSHOT if snapshot is None else ""
            return Saved(name, document, snapshot, note, revision.noted, revision)
        return None

    def _node(self, transaction: Transaction, name: str, hashes: Hashes) -> tuple[JsonMap, JsonMap | None]:
        """The document and the snapshot of a revision, from its texts. raises: DocumentError"""
        bodies = _bodies(transaction, hashes)
        document = self._map(bodies, hashes[0] or b"", name, "document")
        snapshot, facts = (
            None if text is None else self._map(bodies, text, name, kind)
            for kind, text in zip(KINDS[1:], hashes[1:], strict=True)
        )
        if facts is not None:
            try:
                joined(document, snapshot, facts)
            except LookupError as error:
                raise self._damaged("snapshot", name) from error
        return document, snapshot

    def _map(self, bodies: dict[bytes, bytes], text: bytes, node: str, kind: str) -> JsonMap:
        try:
            return map_in(bodies, text)
        except TooMuch:
            raise
        except (LookupError, ValueError, zlib.error, RecursionError) as error:
            raise self._damaged(kind, node) from error

    def _damaged(self, kind: str, node: str) -> DocumentError:
        return DocumentError(
            f"the {kind} of the node {node!r} {'are' if kind == 'facts' else 'is'} damaged in {self._shown}",
            hint="an older revision may be whole: nodeattrs history; nodeattrs store check says what is damaged",
        )

    def texts(self, name: str) -> list[str]:
        """The hashes of the texts of a node's latest revision, in hexadecimal; [] where the node is not saved."""
        checked_name(name, "node")
        with self._reading(f"read the node {name!r}") as transaction:
            sql = f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC LIMIT 1"
            rows = [] if transaction is None else transaction.all(sql, name)
        return [text.hex() for row in rows for text in _hashes_in(row) if text is not None]

    def history(self, name: str) -> list[Revision]:
        """The revisions of a node, the latest first; [] where the node is not saved. raises: DocumentError, for a bad
        note"""
        checked_name(name, "node")
        with self._reading(f"read the history of {name!r}") as transaction:
            if transaction is None:
                return []
            rows = transaction.all(f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC", name)
        return [_revision_in(name, row) for row in rows]

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        """Yield (name, latest revision) of each node, sorted by name; None for a revision whose note cannot be read."""
        last = "SELECT max(o.number) FROM revision o WHERE o.node = n.id"
        sql = (
            "SELECT n.name, r.number, r.at, r.noted FROM node n JOIN revision r ON r.node = n.id "
            f"AND r.number = ({last}) WHERE n.name > ? ORDER BY n.name LIMIT ?"
        )
        rows: list[tuple[Any, ...]] = [("",)]
        while rows:
            # One look for some of them, so that the caller may look elsewhere meanwhile.
            with self._reading("list the nodes") as transaction:
                rows = [] if transaction is None else transaction.all(sql, rows[-1][0], AT_ONCE)
            for name, *fields in rows:
                revision = None
                with contextlib.suppress(DocumentError):  # `check` says what is wrong; the others are reported
                    revision = _revision_in(name, fields)
                yield name, revision

    @taking(query="nodeattrs.store.search.query:Query")
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        """The names of the nodes that a query finds, sorted. at: search their revisions at that time; None: the latest
        ones

        cost: with *at* all documents are read
        """
        with self._reading("search") as transaction:
            if transaction is None:
                return []
            if at is None:
                return Index(transaction).answer(query)
            # The index knows the latest revisions only.
            loaded = (self._load(transaction, name, at) for name, _ in transaction.nodes())
            return names_found(((saved.name, saved.document) for saved in loaded if saved is not None), query)

    # --- writing --------------------------------------------------------------------

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        """Save *saved* as the node's latest revision, whole or not at all; returns the new revision.

        Do not change document or snapshot before the call returns. A text that the store has is not stored again.
        after:  the number of the revision that was loaded, 0 for a new node. None: save in any case, so that of two
                saves
                at once the later one wins
        raises: NewerRevision, where the latest revision is not *after*;
                BadValue, where `load` could not return what is saved
        """
        (came,) = self.save_all([(saved, after)])
        if isinstance(came, NodeattrsError):
            raise came
        return came

    @taking(saves=ListLike)
    def save_all(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        """Save several nodes; returns for each its revision, or the error that refused it. The other nodes are saved.

        In SQLite all are saved in one transaction; where that fails, each node has the StoreError and none is saved.
        saves: each node with *after* as in `save`; each node once
        """
        groups = [saves] if self.writes_together else [[one] for one in saves]
        return [came for group in groups for came in self._save_group(group)]

    def _save_group(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        task = f"save the node {saves[0][0].name!r}" if len(saves) == 1 else f"save {len(saves)} nodes"
        came: list[_Save | Revision | NodeattrsError] = [result_or_error(_Save, *one) for one in saves]
        try:
            if any(isinstance(one, _Save) for one in came):
                with self._reading(task) as reading:
                    came = [result_or_error(one.prepare, reading) if isinstance(one, _Save) else one for one in came]
            if any(isinstance(one, _Save) for one in came):
                with self._writing(task) as writing:
                    came = [
                        result_or_error(one.write, writing, self._shown) if isinstance(one, _Save) else one
                        for one in came
                    ]
        except StoreError as error:
            return [error] * len(saves)
        return [one for one in came if not isinstance(one, _Save)]

    @taking(change=Callable)
    def change(self, name: str, change: Callable[[Saved], Saved]) -> Revision:
        """Load a node, change it and save it, in one transaction; returns the new revision.

        Others who save the node meanwhile wait.
        change: a function from the saved node to what is to be saved; it may not use the store itself
        raises: NodeNotFound; as `save`; what *change* raises; BadArgument, where it gives no Saved of this node
        """
        checked_name(name, "node")
        if self.is_there():
            with self._writing(f"change the node {name!r}") as transaction:
                transaction.lock_node(name)
                saved = self._load(transaction, name, None)
                if saved is not None:
                    return _Save(_changed(change, saved), None).prepare(transaction).write(transaction, self._shown)
        raise NodeNotFound(f"there is no saved node {name} in {self._shown}")

    @taking(revisions=ListLike)
    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        """Save revisions of one node from another store, all or none; each keeps its number, time and notes.

        revisions: in the order of their numbers; each with its `revision`
        raises:    StoreError, where the node has one of these numbers here, or a later one; BadValue as `save`
        """
        checked_name(name, "node")
        saves = []
        for saved in revisions:
            assert saved.revision is not None
            saves.append(_Save(saved._replace(noted=saved.revision.noted), None))
            saves[-1].check()
        with self._writing(f"save the node {name!r}") as transaction:
            for save in saves:
                save.add(transaction, self._shown, is_older=save is not saves[-1])

    def delete(self, name: str) -> bool:
        """Delete a node with all its revisions; False where it is not saved. cost: grows with what the node had"""
        checked_name(name, "node")
        task = f"delete the node {name!r}"
        with self._reading(task) as reading:
            if reading is None:
                return False
        with self._writing(task, alone=True) as transaction:
            sql = "SELECT DISTINCT n.id FROM node n JOIN revision r ON r.node = n.id WHERE n.name = ?"
            rows = transaction.all(sql, name)
            for (node,) in rows:
                _forget_revisions(transaction, node)
                Index(transaction).forget(node)
        return bool(rows)

    @taking(keep=int)
    def prune(self, keep: int) -> int:
        """Delete all but the latest *keep* revisions of each node; returns the number of deleted ones.

        raises: BadArgument, where *keep* is less than 1
        """
        if keep < 1:
            raise BadArgument(f"{keep} revisions cannot be kept", hint="the latest one always is: --keep 1")
        with self._reading("prune") as reading:
            if reading is None:
                return 0
        with self._writing("prune", alone=True) as transaction:
            ranked = (
                "SELECT node, number, row_number() OVER (PARTITION BY node ORDER BY number DESC) AS rank FROM revision"
            )
            lasts = transaction.all(f"SELECT node, max(number) FROM ({ranked}) AS r WHERE rank > ? GROUP BY node", keep)
            count = sum(_forget_revisions(transaction, node, last) for node, last in lasts)
            Index(transaction).forget_former()
        return count

    # --- checking -------------------------------------------------------------------

    def check(self, on_node: OnNode | None = None) -> list[str]:
        """Check all saved nodes; returns a sentence for each fault, [] where there is none.

        on_node: called with the name of each node that was checked
        """
        with self._reading("check") as transaction:
            return [] if transaction is None else list(self._faults(transaction, on_node))

    def _faults(self, transaction: Transaction, on_node: OnNode | None) -> Iterator[str]:
        for name, node in transaction.nodes():
            yield from self._faults_of(transaction, name, node)
            if on_node is not None:
                on_node(name)
        if not Index(transaction).has_all_words():
            yield f"search does not know all words; {_AGAIN}"
        for table, column, others, sentence in _LOST:
            # Not with NOT IN: PostgreSQL would go through all of the others for each row, once they are many.
            lost = f"SELECT {column} FROM {table} EXCEPT {others}"
            ((count,),) = transaction.all(f"SELECT count(*) FROM ({lost}) AS lost")
            if count:
                yield f"{count} {sentence}"

    def _faults_of(self, transaction: Transaction, name: str, node: int) -> Iterator[str]:
        sound: dict[bytes, str] = {}
        latest: Hashes = []
        for row in transaction.all(f"{_REVISION} WHERE n.id = ? ORDER BY r.number", node):
            try:
                _revision_in(name, row)
            except DocumentError as error:
                yield error.message
            latest = _hashes_in(row)
            for kind, text in zip(KINDS, latest, strict=True):
                if text is None:
                    continue
                if text not in sound:
                    sound[text] = _fault_of(transaction, text)
                if sound[text]:
                    yield f"the {kind} of {name}, revision {row[0]}: {sound[text]}"
        if not latest or any(sound[text] for text in latest if text is not None):
            return
        document, _ = self._node(transaction, name, latest)
        if not Index(transaction).has_parts_of(node, document):
            yield f"search does not know {name} as it is; {_AGAIN}"


class _Save:
    """A node that is about to be saved.

    `prepare` encodes, checks and compresses before other writers have to wait. `write` asks again what the store has,
    since others may have written meanwhile.

    raises: BadName, BadValue
    """

    def __init__(self, saved: Saved, after: int | None) -> None:
        noted = saved.noted._replace(unread=bool((saved.snapshot or {}).get("unknown")))
        self._saved, self._after = saved._replace(noted=noted), after
        self._name = checked_name(saved.name, "node")
        self._noted = noted_text(self._name, noted)
        texts = texts_of(self._name, saved)
        self._texts = [text for text in texts if text is not None]
        self._hashes: Hashes = [None if text is None else text.hash for text in texts]
        self._parts: list[IndexPart] | None = None

    def check(self, known: Collection[bytes] = ()) -> None:
        """Refuse what could not be read back. known: texts that the store has, which were checked. raises: BadValue"""
        for text in self._texts:
            if text.hash not in known:
                text.check()

    def prepare(self, transaction: Transaction | None) -> _Save:
        """Do what needs no transaction. transaction: None where there is no store yet. raises: BadValue"""
        known = {} if transaction is None else _bodies(transaction, self._hashes, "hash")
        self.check(known)
        if transaction is not None:
            for text in self._texts:
                if text.hash not in known:
                    text.pack(transaction.packing)
        if not self._document_in(self._hashes) <= known.keys():
            self._parts_made()
        return self

    def write(self, transaction: Transaction, where: str) -> Revision:
        """Write the next revision. Nothing is written where it is refused. raises: NewerRevision, BadValue"""
        last, latest = self._latest(transaction)
        if self._after is not None and self._after != (latest[0] if latest else 0):
            found = _revision_in(self._name, latest) if latest else None
            raise newer_revision(self._name, self._after, found, where)
        revision = Revision(last + 1, now(), self._saved.noted)
        is_found = self._document_in(_hashes_in(latest)) == self._document_in(self._hashes)
        self._put(transaction, revision, revision.number, is_found)
        return revision

    def add(self, transaction: Transaction, where: str, is_older: bool) -> None:
        """Write a revision of another store. is_older: whether another one follows. raises: StoreError, BadValue"""
        last, latest = self._latest(transaction)
        revision = self._saved.revision
        assert revision is not None
        if latest and revision.number <= latest[0]:
            raise number_taken(self._name, revision.number, where)
        self._put(transaction, revision, max(last, revision.number), is_older)

    def _document_in(self, hashes: Hashes) -> set[bytes]:
        """Of the texts of a revision those that its document is in."""
        return {text for text in hashes[::2] if text is not None}

    def _parts_made(self) -> list[IndexPart]:
        """What search finds in the document. raises: BadValue"""
        if self._parts is None:
            self._parts = self._unless_deep(lambda: list(index_parts(self._saved.document)))
        return self._parts

    def _unless_deep(self, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except RecursionError:
            what = f"the document of the node {self._name!r}"
            raise BadValue(f"{what} cannot be kept: it is nested too deeply") from None

    def _latest(self, transaction: Transaction) -> tuple[int, Sequence[Any]]:
        """The number of the last revision that the node ever had, and its latest revision.

        Others who save the node wait from now on.
        """
        transaction.lock_node(self._name)
        lasts = transaction.all("SELECT last FROM node WHERE name = ?", self._name)
        latest = transaction.all(f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC LIMIT 1", self._name)
        return lasts[0][0] if lasts else 0, latest[0] if latest else ()

    def _put(self, transaction: Transaction, revision: Revision, last: int, is_found: bool) -> None:
        """Write a revision. is_found: whether search need not learn its document. raises: BadValue, before it writes"""
        index = Index(transaction)
        parts = {} if is_found else index.numbered(self._parts_made())
        new = self._unless_deep(lambda: index.new_parts(parts)) if parts else {}
        kept = "INSERT INTO node (name, last) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = excluded.last"
        transaction.all(kept, self._name, last)
        ((node,),) = transaction.all("SELECT id FROM node WHERE name = ?", self._name)
        if parts:
            index.set_parts(node, parts.keys(), new)
        known = _bodies(transaction, self._hashes, "hash")
        bodies = [(text.hash, text.pack(transaction.packing)) for text in self._texts if text.hash not in known]
        transaction.insert_new("text (hash, body)", sorted(bodies))
        row = node, revision.number, _spelled(revision.at), self._noted, *self._hashes
        transaction.all("INSERT INTO revision VALUES (?, ?, ?, ?, ?, ?, ?)", *row)


def _changed(change: Callable[[Saved], Saved], saved: Saved) -> Saved:
    """What a change makes of a node. raises: BadArgument, for another node: only this one waits for other writers"""
    after: object = change(saved)
    if not isinstance(after, Saved) or after.name != saved.name:
        raise BadArgument(f"the change of the node {saved.name!r} gives no Saved of this node")
    return after


def result_or_error(do: Callable[..., _Made], *words: Any) -> _Made | NodeattrsError:
    """The result of `do(*words)`; an error that concerns one node is returned, not raised."""
    try:
        return do(*words)
    except (StoreError, BadName, BadValue, DocumentError) as error:
        return error


# --- several calls -------------------------------------------------------------------


def last_runs(store: Store) -> Iterator[tuple[str, Revision | None, Revision | None]]:
    """Yield (name, latest revision, latest revision of a run) of each node, sorted by name.

    Both revisions are the same, unless a command has changed the node since. None where there is none, or it cannot be
    read.
    """
    for name, latest in store.latest():
        run = latest
        if latest is not None and not latest.noted.is_run:
            run = None
            with contextlib.suppress(DocumentError):
                run = next((one for one in store.history(name) if one.noted.is_run), None)
        yield name, latest, run


# --- rows ---------------------------------------------------------------------------


def _spelled(at: datetime) -> str:
    """A time as text whose order is that of time."""
    return at.isoformat(timespec="microseconds")


def _when(at: int | datetime | None) -> tuple[str, list[Any]]:
    """A condition that a revision is the one at a time, or has a number, and its value."""
    if at is None:
        return "", []
    if isinstance(at, datetime):
        return " AND r.at <= ?", [_spelled(at)]
    return " AND r.number = ?", [at]


def _revision_in(name: str, row: Sequence[Any]) -> Revision:
    """row: number, time, note, and more. raises: DocumentError"""
    number, at, noted, *_ = row
    try:
        return Revision(number, datetime.fromisoformat(at).astimezone(UTC), _noted(noted))
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise DocumentError(f"revision {number} of the node {name!r} has a damaged note: {error}") from None


@lru_cache(maxsize=256)
def _noted(text: str) -> Noted:
    """What is noted; most runs of a fleet are noted alike. raises: ValueError"""
    return Noted.from_dict(json.loads(text))


def _hashes_in(row: Sequence[Any]) -> Hashes:
    """The hashes of the texts of a revision; an empty list where there is none. Each revision has a document."""
    if not row:
        return []
    document, *others = row[3:]
    return [_as_bytes(document), *(None if value is None else _as_bytes(value) for value in others)]


def _as_bytes(value: Any) -> bytes:
    """Bytes as a database gives them; nothing for what is none, in a file that was damaged."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def _bodies(transaction: Transaction, hashes: Iterable[bytes | None], column: str = "body") -> dict[bytes, bytes]:
    """The bodies of those texts that the store has, by hash."""
    wanted = [text for text in hashes if text is not None]
    holes = ", ".join("?" * len(wanted))
    rows = transaction.all(f"SELECT hash, {column} FROM text WHERE hash IN ({holes})", *wanted)
    return {_as_bytes(text): _as_bytes(body) for text, body in rows}


def _fault_of(transaction: Transaction, text: bytes) -> str:
    """What is wrong with a text, in words; nothing where it is whole."""
    try:
        text_in(_bodies(transaction, [text]), text)
    except zlib.error:
        return "its text is damaged"
    except (LookupError, ValueError) as error:
        return str(error)
    return ""


def _forget_revisions(transaction: Transaction, node: int, last: int = 2**31 - 1) -> int:
    """Remove the revisions of a node, up to the *last* one; how many there were. cost: grows with what the node had"""
    which = "WHERE node = ? AND number <= ?"
    rows = transaction.all(f"SELECT {', '.join(KINDS)} FROM revision {which}", node, last)
    transaction.all(f"DELETE FROM revision {which}", node, last)
    hashes = {_as_bytes(text) for row in rows for text in row if text is not None}
    unused = " AND ".join(f"NOT EXISTS (SELECT 1 FROM revision WHERE {kind} = text.hash)" for kind in KINDS)
    transaction.execute_many(f"DELETE FROM text WHERE hash = ? AND {unused}", [(text,) for text in sorted(hashes)])
    return len(rows)


def _close(connections: dict[tuple[int, int], Any]) -> None:
    pid = os.getpid()
    while connections:
        (owner, _), connection = connections.popitem()
        if owner == pid:
            with contextlib.suppress(Exception):  # it is not used any more
                connection.close()
        else:
            _PARENTS.append(connection)
