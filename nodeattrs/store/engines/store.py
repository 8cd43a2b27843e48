"""`Store`: nodes and their revisions in a database, with texts by content and an index for search.

It uses the SQL that SQLite and PostgreSQL share. The modules `sqlite` and `postgresql` connect, begin and end
transactions. A *text* is a document, a snapshot or facts as compressed JSON (`texts`).
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
from functools import lru_cache, partial
from operator import itemgetter
from threading import Lock, get_ident
from typing import Any, TypeVar

from nodeattrs.cache import CACHE
from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.tree import Path, checked_name, dig
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
from nodeattrs.store.engines.index import AT_ONCE, VERSION, Index, Transaction, lists_of, names_found
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
    number_taken,
)
from nodeattrs.store.search.fields import IndexPart, found_tree, index_parts
from nodeattrs.store.search.query import Query

_NO_SNAPSHOT = "saved, origin unknown: no snapshot was saved with it"

_AGAIN = "nodeattrs store copy --to PLACE makes a sound store"

_LOST = (
    ("revision", "node", "SELECT id FROM node", "nodes that have revisions are gone"),
    ("node_part", "part", "SELECT id FROM part", f"parts that search should know are gone; {_AGAIN}"),
    ("part", "id", "SELECT part FROM part_entry", f"parts have lost what search should find; {_AGAIN}"),
    ("part_entry", "entry", "SELECT id FROM entry", f"values that search should find are gone; {_AGAIN}"),
    ("entry", "path", "SELECT id FROM path", f"paths that search needs are gone; {_AGAIN}"),
    ("path", "id", "SELECT path FROM field", f"paths have lost the field that search needs; {_AGAIN}"),
)
"""(table, column, query, fault): each value of the column must be a result of the query; else the fault is reported."""

_Made = TypeVar("_Made")

Hashes = list[bytes | None]
"""The hashes of the texts of a revision, one for each of KINDS; an empty list where there is no revision."""

_REVISION = f"SELECT r.number, r.at, r.noted, r.{', r.'.join(KINDS)} FROM revision r JOIN node n ON n.id = r.node"

_CONTENT = (
    "SELECT n.name, r.document, r.facts FROM node n JOIN revision r ON r.node = n.id "
    "AND r.number = (SELECT max(o.number) FROM revision o WHERE o.node = n.id)"
)

# Connections of the parent that a fork copied. They are kept, so that they are never closed here.
_PARENTS: list[object] = []


class Store(ABC):
    """Saved nodes and their revisions in a database; `open_store` makes one. The constructor does not connect.

    save, save_all: add a revision, or one for each of several nodes. `save` raises NewerRevision if the latest revision
                    is not *after*. `save_all` returns such an error in place of the node's revision
    load:           one revision with its content; None for a node that is not saved
    change:         loads, changes and saves a node in one transaction
    names:          the names of all saved nodes, sorted
    history:        a list of the revisions of a node without content, the latest first; [] for a node that is not saved
    revisions:      yields these revisions one by one
    latest:         yields (name, last revision) of each node
    search:         the names of the nodes that a query finds, sorted; [] for none
    values:         the values at some paths, for each node that a query finds; [] for none
    texts:          the hashes of a node's content; [] for a node that is not saved
    delete:         deletes a node; returns whether it was there
    prune:          deletes old revisions; returns their number
    check:          the faults as sentences; [] for none
    add_history:    adds revisions of one node from another store, with their numbers; all or none

    A place without a store reads as empty; the first save makes the store, or `make`. `is_there` says whether it was
    made. Each thread of each process has its own connection; nothing is shared across a fork. `close` closes all
    connections, and the next call opens a new one. Each method may raise StoreError, if the database fails, and
    BadName, for a name that no node can have. An engine is a subclass, which writes the abstract methods.

    shown:    the place of the store, as `describe` gives it for messages; without a password
    failures: the errors that the library of the database raises; they become a StoreError
    ways_out: (part of the message of such an error, hint) pairs
    writes_together: whether `save_all` uses one transaction. False where other programs may write meanwhile:
                     two savers could wait for each other
    """

    writes_together = False
    failures: tuple[type[Exception], ...] = (OSError,)
    ways_out: tuple[tuple[str, str], ...] = ()

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
        """Whether a connection that was opened before can still be used."""
        return True

    @abstractmethod
    def _transaction(self, writes: bool) -> AbstractContextManager[Transaction | None]:
        """A context manager with a transaction, which an error rolls back. One that reads sees one moment.

        It gives None for reading where there is no store.
        """

    @abstractmethod
    def _version(self, transaction: Transaction) -> int | None:
        """The version of the store; None where there is no store yet. raises: StoreError, for what is no store"""

    @abstractmethod
    def _make(self, transaction: Transaction) -> None:
        """Write what marks the database as a store of this version; tables are made after it."""

    def _connected(self) -> Any:
        """The connection of this thread, which is opened at the first call."""
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
            # SQLite's message has a name that is damaged itself.
            raise StoreError(
                f"cannot {task} in {self._shown}: it is damaged", details=details, hint="bring a copy of it back"
            ) from error
        except self.failures as error:
            # Only the first line, which has no password.
            text = (error.strerror if isinstance(error, OSError) else None) or str(error).strip().partition("\n")[0]
            reason = text or type(error).__name__
            hint = next((way for sign, way in self.ways_out if sign in reason), None)
            raise StoreError(f"cannot {task} in {self._shown}: {reason}", details=details, hint=hint) from error

    @contextlib.contextmanager
    def _reading(self, task: str) -> Iterator[Transaction | None]:
        """A context manager for reading one moment of the store; it gives None where there is no store."""
        with self._failing(task), self._transaction(writes=False) as transaction:
            yield transaction if transaction is not None and self._is_made(transaction) else None

    @contextlib.contextmanager
    def _writing(self, task: str, alone: bool = False) -> Iterator[Transaction]:
        """A context manager for writing; the store is made first, if needed. alone: True blocks all other writers"""
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
        """The place of the store as text, for messages: a file or a URL without a password."""
        return self._shown

    def close(self) -> None:
        """Close the connections of all threads. The store can still be used: the next call opens a new one."""
        with self._lock:
            _close(self._open)

    @checked_args(compression=str)
    def make(self, compression: str = ZLIB) -> None:
        """Make an empty store; does nothing if one exists with the same compression.

        It is not necessary: `save` makes a store, too.

        compression: "zlib" or "zstd"
        raises:      StoreError, if a store exists with another compression; BadArgument, for another word;
                     MissingExtra, for zstd if it is not installed
        """
        if compression not in PACKINGS:
            raise BadArgument(f"nothing is packed with {compression}", hint=f"there is {' and '.join(PACKINGS)}")
        packed(b"", compression)  # raises where its extra is missing
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

    @checked_args(at=int | datetime | None)
    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        """A revision of a node with its content, by default the latest one; None where there is none.

        Document and snapshot share the facts: do not change them.
        at:     a revision by its number; or a time, for the latest revision that was saved then or before
        raises: DocumentError, where the revision is damaged; TooMuch
        """
        with self._reading(f"read the node {checked_name(name, 'node')!r}") as transaction:
            return None if transaction is None else self._load(transaction, name, at)

    def _load(self, transaction: Transaction, name: str, at: int | datetime | None) -> Saved | None:
        condition, values = _when(at)
        sql = f"{_REVISION} WHERE n.name = ?{condition} ORDER BY r.number DESC LIMIT 1"
        for row in transaction.all(sql, name, *values):
            revision = _revision_in(name, row)
            document, snapshot = self._node(transaction, name, _hashes_in(row))
            note = _NO_SNAPSHOT if snapshot is None else ""
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
        """The hashes of the texts of a node's latest revision, in hexadecimal; [] for a node that is not saved.

        Equal lists mean equal content. Content itself is not read.
        """
        checked_name(name, "node")
        with self._reading(f"read the node {name!r}") as transaction:
            sql = f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC LIMIT 1"
            rows = [] if transaction is None else transaction.all(sql, name)
        return [text.hex() for row in rows for text in _hashes_in(row) if text is not None]

    def history(self, name: str) -> list[Revision]:
        """The revisions of a node without their content, the latest first; [] for a node that is not saved.

        raises: DocumentError, if the notes of one revision are damaged
        """
        return [*self.revisions(name)]

    def revisions(self, name: str) -> Iterator[Revision]:
        """Yield the revisions of a node without their content, the latest first; none for a node that is not saved.

        raises: DocumentError, when it reaches a revision whose notes are damaged
        """
        checked_name(name, "node")
        with self._reading(f"read the history of {name!r}") as transaction:
            sql = f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC"
            rows = [] if transaction is None else transaction.all(sql, name)
        for row in rows:
            yield _revision_in(name, row)

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        """Yield (name, latest revision) of each node, sorted by name; None for a revision whose notes are damaged.

        A thousand nodes are read at a time. Nodes that are saved meanwhile may be missing.
        """
        last = "SELECT max(o.number) FROM revision o WHERE o.node = n.id"
        sql = (
            "SELECT n.name, r.number, r.at, r.noted FROM node n JOIN revision r ON r.node = n.id "
            f"AND r.number = ({last}) WHERE n.name > ? ORDER BY n.name LIMIT ?"
        )
        rows: list[tuple[Any, ...]] = [("",)]
        while rows:
            # A transaction for some of them, so that the caller may use the store meanwhile.
            with self._reading("list the nodes") as transaction:
                rows = [] if transaction is None else transaction.all(sql, rows[-1][0], AT_ONCE)
            for name, *fields in rows:
                revision = None
                with contextlib.suppress(DocumentError):  # `check` reports it
                    revision = _revision_in(name, fields)
                yield name, revision

    @checked_args(query=Query)
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        """The names of the nodes that a query finds, sorted; [] for none.

        at: search the revisions that were the latest at that time; all documents are read for that. None: search the
            latest revisions now, by the index
        """
        with self._reading("search") as transaction:
            if transaction is None:
                return []
            if at is None:
                return Index(transaction).answer(query)
            # The index has the latest revisions only.
            loaded = (self._load(transaction, name, at) for name, _ in transaction.nodes())
            return names_found(((saved.name, saved.document) for saved in loaded if saved is not None), query)

    def values(self, query: Query, paths: tuple[Path, ...]) -> list[tuple[Any, ...]]:
        """The values at some paths for each node that a query finds, sorted by the name of the node; [] for no node.

        They are the values that the node reads, in the order of *paths*; ABSENT for a path that is not set. Do not
        change them: they are kept in the cache of the process, and a document that is unchanged is not read again.
        raises: DocumentError, where a document is damaged
        """
        found = []
        with self._reading("search") as transaction:
            if transaction is None:
                return []
            for some in lists_of(Index(transaction).numbers(query)):
                condition, numbers = transaction.condition_in("n.id", some)
                for name, document, facts in transaction.all(f"{_CONTENT} WHERE {condition}", numbers):
                    hashes = [_as_bytes(document), None, None if facts is None else _as_bytes(facts)]
                    read = partial(self._values, transaction, name, hashes, paths)
                    found.append((name, CACHE.get((Store.values, hashes[0], hashes[2], paths), read)))
        return [values for _, values in sorted(found, key=itemgetter(0))]

    def _values(self, transaction: Transaction, name: str, hashes: Hashes, paths: tuple[Path, ...]) -> tuple[Any, ...]:
        tree = found_tree(self._node(transaction, name, hashes)[0])
        return tuple(dig(tree, path) for path in paths)

    # --- writing --------------------------------------------------------------------

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        """Save a node as its latest revision, whole or not at all; returns the new revision.

        The store is made if it is missing. A text that the store has is not stored again. A revision is added even if
        nothing has changed.
        after:  the number of the revision that was loaded, 0 for a new node. The save is refused if the latest revision
                is another one. None: save in any case
        raises: NewerRevision, if the latest revision is not *after*;
                BadValue, if reading it back would give something else
        """
        (result,) = self.save_all([(saved, after)])
        if isinstance(result, NodeattrsError):
            raise result
        return result

    @checked_args(saves=ListLike)
    def save_all(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        """Save several nodes; returns for each, in order, its revision or the error that refused it.

        In SQLite all are saved in one transaction. If it fails, none is saved, and the StoreError is returned for each.
        saves: (node, *after* of `save`) pairs; each node once
        """
        groups = [saves] if self.writes_together else [[one] for one in saves]
        return [result for group in groups for result in self._save_group(group)]

    def _save_group(self, saves: Sequence[tuple[Saved, int | None]]) -> list[Revision | NodeattrsError]:
        task = f"save the node {saves[0][0].name!r}" if len(saves) == 1 else f"save {len(saves)} nodes"
        steps: list[_Save | Revision | NodeattrsError] = [result_or_error(_Save, *one) for one in saves]
        try:
            if any(isinstance(one, _Save) for one in steps):
                with self._reading(task) as reading:
                    steps = [result_or_error(one.prepare, reading) if isinstance(one, _Save) else one for one in steps]
            if any(isinstance(one, _Save) for one in steps):
                with self._writing(task) as writing:
                    steps = [
                        result_or_error(one.write, writing, self._shown) if isinstance(one, _Save) else one
                        for one in steps
                    ]
        except StoreError as error:
            return [error] * len(saves)
        return [one for one in steps if not isinstance(one, _Save)]

    @checked_args(change=Callable)
    def change(self, name: str, change: Callable[[Saved], Saved]) -> Revision:
        """Load the latest revision of a node, change it and save it, in one transaction; returns the new revision.

        Other saves of the node wait meanwhile. Nothing is saved if *change* raises an error.
        change: called with the saved node; returns the node to save. It may not use the store
        raises: NodeNotFound; BadValue; errors of *change*; BadArgument, if it does not return a Saved of this node
        """
        checked_name(name, "node")
        if self.is_there():
            with self._writing(f"change the node {name!r}") as transaction:
                transaction.lock_node(name)
                saved = self._load(transaction, name, None)
                if saved is not None:
                    return _Save(_changed(change, saved), None).prepare(transaction).write(transaction, self._shown)
        raise NodeNotFound(f"there is no saved node {name} in {self._shown}")

    @checked_args(revisions=ListLike)
    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        """Add revisions of one node from another store, all or none; each keeps its number, time and notes.

        revisions: in the order of their numbers; each with its `revision`. [] adds nothing
        raises:    StoreError, if this store has a revision of the node with one of these numbers or a later one;
                   BadValue
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
        """Delete a node with all its revisions; returns whether there was one. Its revision numbers are not used again.

        cost: grows with the content of the node
        """
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

    @checked_args(keep=int)
    def prune(self, keep: int) -> int:
        """Delete old revisions of each node, except the latest *keep*; returns the number of deleted revisions.

        Texts and index entries that no revision needs any more are deleted, too. 0 if there is no store.
        raises: BadArgument, if *keep* is less than 1
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
        """Read all revisions and the index; returns a sentence for each fault, [] for none. Nothing is mended.

        on_node: called with the name of each node when it is checked
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
            # Not with NOT IN: PostgreSQL would read all results of the query for each row, once they are many.
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
    """One node that is about to be saved, encoded by the constructor. raises: BadName, BadValue

    `prepare` checks and compresses before other writers have to wait. `write` then asks again which texts the store
    has, since others may have written meanwhile.
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
        """Decode each text and compare it with its value. raises: BadValue, for a difference

        known: hashes of texts that the store has, which are not checked
        """
        for text in self._texts:
            if text.hash not in known:
                text.check()

    def prepare(self, transaction: Transaction | None) -> _Save:
        """Check and compress the texts that the store lacks, and divide a new document into parts; returns itself.

        transaction: None if there is no store
        raises:      BadValue
        """
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
        """Write the next revision. raises: NewerRevision, BadValue; nothing is written then"""
        last, latest = self._latest(transaction)
        if self._after is not None and self._after != (latest[0] if latest else 0):
            found = _revision_in(self._name, latest) if latest else None
            raise newer_revision(self._name, self._after, found, where)
        revision = Revision(last + 1, datetime.now(UTC), self._saved.noted)
        is_found = self._document_in(_hashes_in(latest)) == self._document_in(self._hashes)
        self._put(transaction, revision, revision.number, is_found)
        return revision

    def add(self, transaction: Transaction, where: str, is_older: bool) -> None:
        """Write a revision of another store. is_older: whether a later one follows. raises: StoreError, BadValue"""
        last, latest = self._latest(transaction)
        revision = self._saved.revision
        assert revision is not None
        if latest and revision.number <= latest[0]:
            raise number_taken(self._name, revision.number, where)
        self._put(transaction, revision, max(last, revision.number), is_older)

    def _document_in(self, hashes: Hashes) -> set[bytes]:
        """The hashes of the document and the facts, from the hashes of a revision."""
        return {text for text in hashes[::2] if text is not None}

    def _parts_made(self) -> list[IndexPart]:
        """The index parts of the document; made once. raises: BadValue"""
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
        """Returns (number of the last revision that the node ever had, row of its latest revision or ()).

        Other saves of the node wait from now on.
        """
        transaction.lock_node(self._name)
        lasts = transaction.all("SELECT last FROM node WHERE name = ?", self._name)
        latest = transaction.all(f"{_REVISION} WHERE n.name = ? ORDER BY r.number DESC LIMIT 1", self._name)
        return lasts[0][0] if lasts else 0, latest[0] if latest else ()

    def _put(self, transaction: Transaction, revision: Revision, last: int, is_found: bool) -> None:
        """Write a revision. is_found: whether the index has its document already. raises: BadValue, before it writes"""
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
    """The changed node. raises: BadArgument, where it is another node, which is not locked"""
    after: object = change(saved)
    if not isinstance(after, Saved) or after.name != saved.name:
        raise BadArgument(f"the change of the node {saved.name!r} gives no Saved of this node")
    return after


def result_or_error(do: Callable[..., _Made], *words: Any) -> _Made | NodeattrsError:
    """The result of `do(*words)`. A StoreError, BadName, BadValue or DocumentError is returned and not raised.

    Other errors are raised.
    """
    try:
        return do(*words)
    except (StoreError, BadName, BadValue, DocumentError) as error:
        return error


# --- several calls -------------------------------------------------------------------


def last_runs(store: Store) -> Iterator[tuple[str, Revision | None, Revision | None]]:
    """Yield (name, latest revision, latest revision that a run saved) for each node, sorted by name.

    The two revisions are equal if no command has changed the node since its last run. The first is None if its notes
    are damaged. The second is None if no run has saved the node, and if its notes or the notes of a later revision are
    damaged.
    """
    for name, latest in store.latest():
        run = latest
        if latest is not None and not latest.noted.is_run:
            run = None
            with contextlib.suppress(DocumentError):
                run = next((one for one in store.revisions(name) if one.noted.is_run), None)
        yield name, latest, run


# --- rows ---------------------------------------------------------------------------


def _spelled(at: datetime) -> str:
    """A time as text that sorts by time."""
    return at.isoformat(timespec="microseconds")


def _when(at: int | datetime | None) -> tuple[str, list[Any]]:
    """Returns (SQL condition, values) for revisions up to a time, or with a number; ("", []) for None."""
    if at is None:
        return "", []
    if isinstance(at, datetime):
        return " AND r.at <= ?", [_spelled(at)]
    return " AND r.number = ?", [at]


def _revision_in(name: str, row: Sequence[Any]) -> Revision:
    """The revision in a row (number, time, notes, ...). raises: DocumentError, where its notes are damaged"""
    number, at, noted, *_ = row
    try:
        return Revision(number, datetime.fromisoformat(at).astimezone(UTC), _noted(noted))
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise DocumentError(f"revision {number} of the node {name!r} has a damaged note: {error}") from None


@lru_cache(maxsize=256)
def _noted(text: str) -> Noted:
    """The notes in a text; cached, since most runs of a fleet have equal ones. raises: ValueError"""
    return Noted.from_dict(json.loads(text))


def _hashes_in(row: Sequence[Any]) -> Hashes:
    """The hashes of the texts in a row of a revision; [] for an empty row. A document's hash is never None."""
    if not row:
        return []
    document, *others = row[3:]
    return [_as_bytes(document), *(None if value is None else _as_bytes(value) for value in others)]


def _as_bytes(value: Any) -> bytes:
    """A value of a database as bytes; b"" for another type, in a damaged file."""
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else b""


def _bodies(transaction: Transaction, hashes: Iterable[bytes | None], column: str = "body") -> dict[bytes, bytes]:
    """Hash -> compressed body of those texts that the store has. column: give this column instead of the body"""
    wanted = [text for text in hashes if text is not None]
    holes = ", ".join("?" * len(wanted))
    rows = transaction.all(f"SELECT hash, {column} FROM text WHERE hash IN ({holes})", *wanted)
    return {_as_bytes(text): _as_bytes(body) for text, body in rows}


def _fault_of(transaction: Transaction, text: bytes) -> str:
    """The fault of a stored text in words; "" for none."""
    try:
        text_in(_bodies(transaction, [text]), text)
    except zlib.error:
        return "its text is damaged"
    except (LookupError, ValueError) as error:
        return str(error)
    return ""


def _forget_revisions(transaction: Transaction, node: int, last: int = 2**31 - 1) -> int:
    """Remove the revisions of a node up to the number *last*, and their texts that no other has; returns their
    number.
    """
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
