"""What the stores in databases have in common: revisions, pieces by content, the index for search.

It uses the SQL that SQLite and PostgreSQL share, with "?" for each value; no value and no
query ever becomes SQL text. How to connect, to begin and to end is theirs. Its tables: `tables`.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import lru_cache, partial

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, BadValue, DocumentError, NodeattrsError, StoreError
from nodeattrs.keep.revisions import (
    JsonMap,
    Noted,
    OnNode,
    Revision,
    Saved,
    Unchanged,
    now,
    stale,
    taken,
    tried,
)
from nodeattrs.keep.stores import holding
from nodeattrs.keep.stores.indexing import Parts, index_questions, is_worded, put_index, unknown_parts
from nodeattrs.keep.stores.pieces import (
    PACKINGS,
    Packed,
    Stored,
    Text,
    as_bytes,
    begins_with,
    fault_of,
    hashed,
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
from nodeattrs.typed import TYPE_CHECKING, Any

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

    writes_together = False
    """Whether several nodes are saved in one transaction: where others write meanwhile, two could wait in a ring."""

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
    def load(self, name: str, at: int | datetime | None = None, brief: bool = False) -> Saved | None:
        checked_name(name, "node")
        with self._reading(f"read the node {name!r}") as talk:
            return None if talk is None else self._load(talk, name, at, brief, last=True)

    def _load(
        self, talk: Talk, name: str, at: int | datetime | None, brief: bool = False, last: bool = False
    ) -> Saved | None:
        condition, values = _when(at)
        is_begun = brief and talk.version == VERSION
        begun, its = (_BEGUN, " LEFT JOIN begun b ON b.node = r.node") if is_begun else ("NULL, NULL, NULL", "")
        rows = talk.all(
            f"SELECT r.number, r.at, r.noted, r.document, r.snapshot, d.pieces, s.pieces, {begun} "
            f"FROM (SELECT * FROM {_ITS_REVISIONS}{condition} ORDER BY number DESC LIMIT 1) r "
            f"LEFT JOIN text d ON d.hash = r.document LEFT JOIN text s ON s.hash = r.snapshot{its}",
            name,
            *values,
        )
        if not rows:
            return None
        *fields, document, snapshot, of_document, of_snapshot = rows[0][:7]
        revision = _revision(name, fields)
        document, snapshot = as_bytes(document), None if snapshot is None else as_bytes(snapshot)
        made_of, begins = _begun(rows[0][7:], [document, snapshot or b""])
        if made_of:
            return Saved(name, {"name": name}, decoded(begins), "", revision.noted, revision, made_of=made_of)
        texts = Stored(talk, [(document, of_document), (snapshot, of_snapshot)], last)
        brief = brief and snapshot is not None
        tree = self._read(texts, document, name, "document", (lambda _: {"name": name}) if brief else decoded)
        kept = None
        if snapshot is not None:
            reader = partial(texts.decoded_without, document, snapshot) if brief else decoded
            kept = self._read(texts, snapshot, name, "snapshot", reader)
        return Saved(name, tree, kept, NO_SNAPSHOT if kept is None else "", revision.noted, revision)

    def _read(
        self, texts: Stored, name_of_text: bytes, node: str, what: str, reader: Callable[[bytes], Any]
    ) -> JsonMap:
        try:
            tree = reader(texts.text(name_of_text))
        except (LookupError, ValueError, zlib.error, RecursionError) as error:
            raise DocumentError(
                f"the {what} of the node {node!r} is damaged in {self.describe()}",
                hint="an older revision may be whole: nodeattrs history; nodeattrs store check says what is damaged",
            ) from error
        assert isinstance(tree, dict)
        return tree

    def save(self, saved: Saved | Unchanged, after: int | None = None) -> Revision:
        task = f"save the node {saved.name!r}"
        (one,) = self._prepared(task, [(saved, after)])
        if isinstance(one, NodeattrsError):
            raise one
        with self._writing(task) as talk:
            return one.write(talk, self.describe())

    @taking(saves=Listed)
    def save_all(self, saves: Sequence[tuple[Saved | Unchanged, int | None]]) -> list[Revision | NodeattrsError]:
        if not self.writes_together:
            return [tried(self.save, *one) for one in saves]
        task, where = f"save {len(saves)} nodes", self.describe()
        prepared = self._prepared(task, saves)
        if all(isinstance(one, NodeattrsError) for one in prepared):
            return [one for one in prepared if isinstance(one, NodeattrsError)]
        came: list[Revision | NodeattrsError] = []
        with self._writing(task) as talk:
            for one in prepared:
                talk.all("SAVEPOINT before")
                came.append(one if isinstance(one, NodeattrsError) else tried(one.write, talk, where))
                if isinstance(came[-1], NodeattrsError):
                    talk.all("ROLLBACK TO before")
        return came

    def _prepared(
        self, task: str, saves: Sequence[tuple[Saved | Unchanged, int | None]]
    ) -> list[_Save | _Same | NodeattrsError]:
        # Most of the work is done before anybody is kept waiting; it is looked at again later.
        made = [tried(_made, *save) for save in saves]
        if all(isinstance(one, _Same) for one in made):
            return made
        ahead = _Ahead()
        with self._reading(task, loosely=True) as talk:
            current = talk if talk is None or talk.version == VERSION else None
            return [one if isinstance(one, NodeattrsError) else tried(one.prepare, current, ahead) for one in made]

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
                _put_texts(talk, node, each)
                _put(talk, node, revision, noted_text(name, revision.noted), [text.hash for text in each])
                _put_begun(talk, node, b"", b"", ())
                latest = revision.number
            talk.all("UPDATE node SET last = ? WHERE id = ?", max(following - 1, latest), node)
            put_index(talk, node, name, parts)

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
        if not any(sound.values()) and not _is_begun(talk, name):
            yield f"what the next run of {name} begins with is not what its latest revision has; that run will see"
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
            talk.all("INSERT INTO secret (value) VALUES (?)", os.urandom(32))
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


def _texts_in(rows: list[tuple[Any, ...]]) -> list[bytes]:
    """The names of the texts of a revision, as `_LATEST` has it; nothing where there is none."""
    return [as_bytes(text) for row in rows for text in row[3:] if text is not None]


def _document_of(talk: Talk, name: str) -> bytes | None:
    rows = talk.all(_DOCUMENT, name)
    return as_bytes(rows[0][0]) if rows else None


def _put(talk: Talk, node: int, revision: Revision, noted: str, hashes: Sequence[bytes]) -> None:
    """Write a revision whose texts are there."""
    talk.each(
        "INSERT INTO revision (node, number, at, noted, document, snapshot) VALUES (?, ?, ?, ?, ?, ?)",
        [(node, revision.number, _spelled(revision.at), noted, *hashes, *[None] * (2 - len(hashes)))],
    )


_BEGUN = "b.made_of, b.seal, b.begins"
_BEGUN_OF = f"SELECT {_BEGUN} FROM begun b JOIN node n ON n.id = b.node WHERE n.name = ?"


def _put_begun(talk: Talk, node: int, made_of: bytes, begins: bytes, hashes: Sequence[bytes]) -> None:
    """Write what the latest revision of a node was made of, and what the next run begins with, if that is known."""
    if not made_of:
        talk.each("DELETE FROM begun WHERE node = ?", [(node,)])
        return
    talk.all(
        "INSERT INTO begun (node, made_of, seal, begins) VALUES (?, ?, ?, ?) ON CONFLICT (node) "
        "DO UPDATE SET made_of = excluded.made_of, seal = excluded.seal, begins = excluded.begins",
        *(node, made_of, hashed(b"".join((made_of, *hashes, begins))), begins),
    )


def _begun(row: Sequence[Any], hashes: Sequence[bytes]) -> tuple[bytes, bytes]:
    """What a revision with these texts was made of, and what the next run begins with; nothing if it is not known."""
    made_of, seal, begins = map(as_bytes, row)
    is_its = bool(made_of) and seal == hashed(b"".join((made_of, *hashes, begins)))
    return (made_of, zlib.decompress(begins)) if is_its else (b"", b"")


def _is_begun(talk: Talk, name: str) -> bool:
    """Whether what the next run of a node begins with is what its latest revision has, or not noted."""
    rows, (latest,) = talk.answers((_BEGUN_OF, name), (_LATEST, name))
    if not rows:
        return True
    hashes = _texts_in([latest])
    made_of, begins = _begun(rows[0], hashes)
    return bool(made_of) and begins == begins_with(decoded(text_of(talk, hashes[-1])))


def _put_texts(
    talk: Talk,
    node: int,
    texts: Sequence[Text],
    was: Collection[bytes] = (),
    there: list[tuple[Any, ...]] | None = None,
    packed: Packed | None = None,
) -> None:
    """Write texts that a node has from now on.

    was:   texts of the node's latest revision
    there: those that are not new as they were found; else they are asked for, and so is what there is of pieces
    """
    if there is None:
        there = talk.all(*texts_question(texts))
    if packed is None:
        packed = Packed()
        packed.pack(talk.packing, talk.answers(*packed.questions(texts)))
    known = known_texts(there)
    packed.write(talk, texts, known)
    # A text that is there may be cut otherwise.
    new = {text.hash: known[text.hash][1] if text.hash in known else text.names for text in texts}
    holding.hold(talk, node, {text: names for text, names in new.items() if text not in was})


class _Ahead:
    """What those are going to write who are saved before, in the same transaction; it is asked for again there."""

    def __init__(self) -> None:
        self.pieces: set[bytes] = set()
        self.parts: set[int] = set()


def _require_latest(name: str, after: int | None, before: list[tuple[Any, ...]], where: str) -> None:
    """raises: NewerRevision. before: the latest revision, as `_LATEST` has it"""
    if after is not None and after != (before[0][0] if before else 0):
        raise stale(name, after, _revision(name, before[0][:3]) if before else None, where)


class _Same:
    """A save of what is as it was. A revision is all that is written, unless it is no longer so."""

    def __init__(self, one: Unchanged, after: int | None) -> None:
        self._one, self._after = one, after
        self._noted_text = noted_text(checked_name(one.name, "node"), one.noted)

    def prepare(self, _talk: Talk | None, _ahead: _Ahead) -> _Same:
        return self

    def write(self, talk: Talk, where: str) -> Revision:
        """Write it. raises: NewerRevision, and nothing is written then but a number"""
        name = self._one.name
        ((node, number),), before, begun = talk.raised(name, (_LATEST, name), (_BEGUN_OF, name))
        _require_latest(name, self._after, before, where)
        was = _texts_in(before)
        if not begun or _begun(begun[0], was)[0] != self._one.made_of:
            return _Save(self._one.make(), None).prepare(talk, _Ahead()).put(talk, node, number, was)
        revision = Revision(number, now(), self._one.noted)
        _put(talk, node, revision, self._noted_text, was)
        return revision


class _Save:
    """A save: most of it is made before anybody is kept waiting.

    Where it changes nothing, its revision is all that is written.
    """

    def __init__(self, saved: Saved, after: int | None) -> None:
        self._name, self._noted, self._after = checked_name(saved.name, "node"), saved.noted, after
        written: dict[int, bytes] = {}
        self._texts, self._parts = texts_of(self._name, saved, written), Parts(saved.document, written)
        self._noted_text = noted_text(self._name, saved.noted)
        self._begun = b"", b""
        if saved.made_of and saved.snapshot is not None:
            self._begun = saved.made_of, zlib.compress(begins_with(saved.snapshot), 1)
        self._packed = Packed()
        self._is_same = self._is_same_document = False

    def prepare(self, talk: Talk | None, ahead: _Ahead) -> _Save:
        """Make it. talk: None where nothing is known. raises: BadValue"""
        try:
            self._prepare(talk, ahead)
        except RecursionError:
            raise BadValue(f"the document of the node {self._name!r} cannot be kept: it is nested too deeply") from None
        return self

    def _prepare(self, talk: Talk | None, ahead: _Ahead) -> None:
        known: dict[bytes, tuple[bytes, bytes]] = {}
        latest: list[bytes] = []
        if talk is not None:
            there, rows = talk.answers(texts_question(self._texts), (_LATEST, self._name))
            known, latest = known_texts(there), _texts_in(rows)
        for text in self._texts:
            if text.form is None or text.hash not in known or known[text.hash][0] != text.form:
                text.check()
            text.is_new = text.hash not in known
        if latest == [text.hash for text in self._texts] and not self._new:
            self._is_same = True
            return
        self._is_same_document = latest[:1] == [self._texts[0].hash]
        if talk is not None:
            asked = self._packed.questions(self._new)
            if self._is_same_document:
                answers = talk.answers(*asked)
            else:
                answers = unknown_parts(talk, self._parts, ahead.parts, *asked)
            self._packed.pack(talk.packing, answers, ahead.pieces)

    @property
    def _new(self) -> list[Text]:
        return [text for text in self._texts if text.is_new]

    def _questions(self, talk: Talk) -> list[Question]:
        """What is asked again: which texts and pieces are there, then what of the index is, for another document."""
        if self._is_same:
            return []
        index = [] if self._is_same_document else index_questions(talk, self._name, self._parts)
        return [
            texts_question(text for text in self._texts if not text.is_new),
            *self._packed.questions(self._new),
            *index,
        ]

    def write(self, talk: Talk, where: str) -> Revision:
        """Write it. raises: NewerRevision, and nothing is written then but a number"""
        name = self._name
        ((node, number),), before, *answers = talk.raised(name, (_LATEST, name), *self._questions(talk))
        _require_latest(name, self._after, before, where)
        return self.put(talk, node, number, _texts_in(before), answers)

    def put(
        self, talk: Talk, node: int, number: int, was: list[bytes], answers: list[list[tuple[Any, ...]]] | None = None
    ) -> Revision:
        """The same. was: the texts of the latest revision. answers: those to `_questions`"""
        revision = Revision(number, now(), self._noted)
        hashes = [text.hash for text in self._texts]
        if not self._is_same or was != hashes:
            self._write_texts(talk, node, was, talk.answers(*self._questions(talk)) if answers is None else answers)
        _put(talk, node, revision, self._noted_text, hashes)
        _put_begun(talk, node, *self._begun, hashes)
        return revision

    def _write_texts(self, talk: Talk, node: int, was: list[bytes], answers: list[list[tuple[Any, ...]]]) -> None:
        index = None
        if answers:
            there, *answers = answers
            index = None if self._is_same_document else answers.pop()
            self._packed.pack(talk.packing, answers)
            _put_texts(talk, node, self._texts, was, there, self._packed)
        else:  # somebody has saved meanwhile, and the node has other texts now
            _put_texts(talk, node, self._texts, was)
        if not was or was[0] != self._texts[0].hash:
            put_index(talk, node, self._name, self._parts, index)


def _made(saved: Saved | Unchanged, after: int | None) -> _Save | _Same:
    return _Same(saved, after) if isinstance(saved, Unchanged) else _Save(saved, after)
