"""A directory of node documents: the store that people and Chef can read and edit.

    web1.json                  Chef's node document of the latest revision
    web1@5f0c….snapshot        what its run left behind; the name says which document it belongs to
    web1@0.tmp, web1@1.tmp     a save that is under way, or was killed
    .history/web1.log          every revision, see `history`

A document and a snapshot are a pair when the snapshot's name and head carry the hash
of the document's bytes. A save adds its revision to the history first. Then the
snapshot goes, then one rename of the document turns the old pair into the new one;
the old snapshot is removed last. Where nothing changed, the history is all that is
written. So a kill at any moment leaves one whole pair, and a history of which only the
end may be more than the pair knows of; that end is passed over, and the next save
writes over it. A document that was edited by hand, or that Chef wrote, simply has no
snapshot and no revision.

"@" stands in no name that a node can have, so no node can be taken for a snapshot, and
no name begins with ".". A name keeps its ":", as in Chef's own directories. Where the
file system does not distinguish capitals, the second of two such names is refused.

Writing takes an advisory lock (`flock` on the directory itself) for as long as the
files are written. Reading takes none, unless a pair looks torn.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, BadName, BadValue, DocumentError, NodeattrsError, StoreError
from nodeattrs.keep.revisions import JsonMap, Noted, OnNode, Revision, Saved, Unchanged, now, stale, taken, tried
from nodeattrs.keep.search.memory import names_found
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.stores.folder import Folder
from nodeattrs.keep.stores.history import Head, History, Kept, Texts, named
from nodeattrs.keep.stores.pieces import ZLIB, form_of, hashed, json_text, written
from nodeattrs.keep.stores.turns import Turns, folder_turn
from nodeattrs.texts import documents

_VERSION = 1
_FORMAT = {"format": "nodeattrs-kept-snapshot", "version": _VERSION}

_HISTORY = ".history"

_SELDOM = 64
"""Where nothing changes, one of so many saves writes the snapshot all the same: the revisions between its
head and the latest one are looked at each time."""

_NO_SNAPSHOT = b"null"
"""What stands in the place of a snapshot where a node was saved without one: its head still has the revision."""

_NOT_SAVED = "no snapshot was saved with it"


class FileStore:
    """The store in *directory*, which is made by the first save.

    raises: StoreError, where *directory* cannot be the path of a directory
    """

    def __init__(self, directory: str) -> None:
        self._folder = Folder(directory)
        self._turns = Turns()

    def __getstate__(self) -> Folder:
        return self._folder

    def __setstate__(self, folder: Folder) -> None:
        self._folder, self._turns = folder, Turns()

    def describe(self) -> str:
        return f"files in {self._folder.shown}"

    def is_there(self) -> bool:
        with self._folder.failing("look"):
            return any(_node_of(file) or file == _HISTORY for file in self._folder.listing())

    def names(self) -> list[str]:
        with self._folder.failing("list the nodes"):
            return sorted(filter(None, map(_node_of, self._folder.listing())))

    @taking(at=int | datetime | None)
    def load(self, name: str, at: int | datetime | None = None, brief: bool = False) -> Saved | None:
        found = self._look(checked_name(name, "node"))
        if found.document is None:
            return None
        saved = self._at(name, found, found.document, at)
        return saved and saved._replace(note="\n".join(filter(None, [saved.note, found.history.cut])))

    def _at(self, name: str, found: _Found, document: bytes, at: int | datetime | None) -> Saved | None:
        if at is None or (found.head is not None and _is_at(found.head.revision, at)):
            return self._saved(name, document, found)
        kept = found.history.at(at)
        if kept is None:
            return None
        document, snapshot = found.history.texts(kept)
        return self._saved(name, document, replace(found, snapshot=snapshot, reason=_NOT_SAVED, head=kept))

    def _saved(self, name: str, document: bytes, found: _Found) -> Saved:
        tree, notes = self._understood(name, document)
        snapshot, reason = None, found.reason
        try:
            snapshot = None if found.snapshot is None else _snapshot_in(found.snapshot)
        except _Unusable as error:
            reason = f"its snapshot {error}"
        if snapshot is None:
            notes.insert(0, f"saved, origin unknown: {reason}")
        revision = found.head.revision if found.head else None
        return Saved(name, tree, snapshot, "\n".join(notes), revision.noted if revision else found.noted, revision)

    # --- what is on disk ------------------------------------------------------------

    def _look(self, name: str) -> _Found:
        with self._folder.failing(f"read the node {name!r}"):
            found = self._found(name)
            if found.document is not None and found.snapshot is None:
                # Somebody may have saved between two of our reads. Under the lock nobody does; and
                # where there are no locks, nobody saves at all.
                with contextlib.suppress(OSError), self._folder.locked(exclusive=False):
                    found = self._found(name)
        return found

    def _found(self, name: str) -> _Found:
        """What there is of a node. The history is read last, so that it knows all that the pair knows."""
        content = self._folder.content
        document = content(f"{name}.json")
        file = "" if document is None else _snapshot_file(name, document)
        sealed = content(file) if file else None
        seal, snapshot, reason = None, None, "no snapshot stands beside it"
        try:
            if document is not None and sealed is not None:
                seal, snapshot = _unsealed(name, document, sealed)
                reason = _NOT_SAVED
        except _Unusable as error:
            reason = f"{file} {error}"
        others = [] if seal else self._others(name)
        if others and sealed is None:
            reason = f"{name}.json was changed after it was saved"
        history = History(name, f"{self._folder.shown}/{_log(name)}", content(_log(name)) or b"")
        for one in [seal] if seal else others:
            if one and one.head and one.logged:
                history.promise(one.head.number)
        heads = [one.head for one in ([seal] if seal else others) if one and one.head]
        # A document that was edited has no snapshot; the one it had still names the last revision.
        last = max(heads, key=lambda head: head.revision.number, default=None)
        head = history.settled(last) if last else None
        if head:
            history.last = max(history.last, head.revision.number)
        return _Found(document, snapshot, reason, head if seal else None, seal.noted if seal else Noted(), history)

    def _others(self, name: str) -> list[_Seal | None]:
        """What the snapshots of a node hold that belong to no document; None for what is none of ours."""
        files = [file for file in self._folder.listing() if file.startswith(f"{name}@") and file.endswith(".snapshot")]
        seals: list[_Seal | None] = []
        for file in files:
            try:
                seals.append(_seal(name, (self._folder.content(file) or b"").partition(b"\n")[0]))
            except _Unusable:
                seals.append(None)
        return seals

    # --- saving ---------------------------------------------------------------------

    def turn(self, name: str) -> AbstractContextManager[None]:
        # The lock of who writes is on the directory itself.
        return self._turns.taken(lambda: folder_turn(self._folder.path(_HISTORY)))

    def save(self, saved: Saved | Unchanged, after: int | None = None) -> Revision:
        name = checked_name(saved.name, "node")
        saved = saved.make() if isinstance(saved, Unchanged) else saved
        form = _form(saved)
        json_text(saved.noted.to_dict(), f"what is noted of the node {name!r}")
        # Most of the work is done before anybody is kept waiting; it is looked at again below.
        texts = None if form and self._look(name).form == form else self._texts(saved)
        with self._folder.failing(f"save the node {name!r}", "what was saved before is still there"):
            self._folder.make()
            with self._folder.locked(exclusive=True):
                found = self._found(name)
                latest = found.head.revision if found.head else None
                if after is not None and after != (latest.number if latest else 0):
                    raise stale(name, after, latest, self.describe())
                if texts is None:
                    texts = found.texts if found.form == form else None
                texts = texts or self._texts(saved)
                revision = Revision(found.history.last + 1, now(), saved.noted)
                head = Head(revision, (named(texts[0]), named(texts[1])), form)
                self._save(name, found, head, texts)
        return revision

    @taking(saves=Listed)
    def save_all(self, saves: Sequence[tuple[Saved | Unchanged, int | None]]) -> list[Revision | NodeattrsError]:
        return [tried(self.save, *one) for one in saves]

    @taking(revisions=Listed)
    def add_history(self, name: str, revisions: Sequence[Saved]) -> None:
        checked_name(name, "node")
        heads = []
        for saved in revisions:
            assert saved.revision is not None
            json_text(saved.revision.noted.to_dict(), f"what is noted of the node {name!r}")
            form, texts = _form(saved), self._texts(saved)
            heads.append((Head(saved.revision, (named(texts[0]), named(texts[1])), form), texts))
        with self._folder.failing(f"save the node {name!r}", "what was saved before is still there"):
            self._folder.make()
            with self._folder.locked(exclusive=True):
                found = self._found(name)
                heads_there = [*found.history.kept, *([found.head] if found.head else [])]
                latest = max((head.number for head in heads_there), default=0)
                if heads[0][0].number <= latest or (found.document is not None and found.head is None):
                    raise taken(name, heads[0][0].number, self.describe())
                self._save(name, found, *heads[-1], heads[:-1])

    def _texts(self, saved: Saved) -> Texts:
        """A document and a snapshot as they are written; they were read back before anybody relies on them."""
        document = self._written(saved.name, saved.document)
        if saved.snapshot is None:
            return document, _NO_SNAPSHOT
        return document, json_text(saved.snapshot, f"the snapshot of the node {saved.name!r}").encode()

    def _save(
        self, name: str, found: _Found, head: Head, texts: Texts, before: Sequence[tuple[Head, Texts]] = ()
    ) -> None:
        """Write a revision: to the history, and unless nothing changed, as the pair.

        before: others that come before it, in the history alone
        """
        folder, log, begin = self._folder, _log(name), found.history.end
        target, bound = f"{name}.json", _snapshot_file(name, texts[0])
        listing = folder.listing()
        self._refuse_twin(target, listing)
        added = b""
        if found.head and found.texts and not isinstance(found.head, Kept):
            # An older program saved it.
            added = found.history.add(found.head, found.texts)
        added += b"".join(found.history.add(*one) for one in [*before, (head, texts)])
        # What takes its place, in order; only the last of these turns the old pair into the new one.
        steps = [(bound, _sealed(name, head, texts[1])), (target, texts[0])]
        if texts[0] == found.document:
            steps.pop()
        if texts == found.texts and head.number % _SELDOM and not before:
            steps.clear()
        temporary = [f"{name}@{number}.tmp" for number in range(len(steps))]
        try:
            self._keep(log, added, begin)
            # All is on disk before any takes its place, so that a full disk is noticed in time. The
            # temporary names are fixed: under the lock such a file can only be left over from a kill.
            for temp, (_, content) in zip(temporary, steps, strict=True):
                folder.put(temp, content)
            for temp, (file, _) in zip(temporary, steps, strict=True):
                if temp is not temporary[0]:
                    folder.settle()
                folder.replace(temp, file)
        except OSError:
            # Not for an interrupt, which may come just after the last step.
            self._tidy(name, [*temporary, bound] if len(steps) > 1 else temporary)
            folder.cut(log, begin)
            raise
        try:
            if steps:
                folder.settle()
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"saved the node {name!r} in {folder.shown}, but it may not survive a power cut: {reason}",
                hint="save again once the disk is well",
            ) from error
        # Last of all: until the new pair is on disk, a power cut may bring the old one back.
        self._tidy(name, [file for file in listing if file != bound])
        folder.overwrite(log, found.history.begin(head.number))

    def _keep(self, log: str, content: bytes, begin: int) -> None:
        self._folder.make(_HISTORY)
        self._folder.put(log, content, begin)
        if not begin:
            self._folder.settle(_HISTORY)
            self._folder.settle()

    def _rewrite(self, name: str, content: bytes) -> None:
        """Put another history in the place of the one there is."""
        temp = f"{_HISTORY}/{name}@.tmp"
        self._folder.make(_HISTORY)
        try:
            self._folder.put(temp, content)
            self._folder.replace(temp, _log(name))
        except OSError:
            self._folder.cut(temp, 0)
            raise
        self._folder.settle(_HISTORY)
        self._folder.settle()

    def _tidy(self, name: str, listing: list[str]) -> None:
        """Remove what *listing* has of the node beside its document.

        Whether that works changes nothing of what is saved; the next save tries again.
        """
        for file in listing:
            if file.startswith(f"{name}@"):
                with contextlib.suppress(OSError):
                    self._folder.remove(file)

    def _refuse_twin(self, target: str, listing: list[str]) -> None:
        if target not in listing and os.path.lexists(self._folder.path(target)):
            twins = [file for file in listing if file.casefold() == target.casefold()]
            raise BadName(
                f"no node can be called {target.removesuffix('.json')!r} beside {', '.join(twins)} "
                f"in {self._folder.shown}",
                hint="the file system there does not distinguish capitals; choose another name",
            )

    # --- revisions ------------------------------------------------------------------

    def history(self, name: str) -> list[Revision]:
        return self._look(checked_name(name, "node")).revisions

    def unreadable(self, name: str) -> list[str]:
        return self._judged(checked_name(name, "node"), History.unreadable)

    def _judged(self, name: str, faults_of: Callable[[History], Iterator[str]]) -> list[str]:
        """What is wrong with a history; what is, is looked at again: somebody may have written there meanwhile."""
        faults = list(faults_of(self._look(name).history))
        if faults:
            with contextlib.suppress(OSError), self._folder.locked(exclusive=False):
                faults = list(faults_of(self._found(name).history))
        return faults

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        for name in self.names():
            try:
                found = self._look(name)
            except StoreError:  # `check` says what is wrong; the others are reported all the same
                yield name, None
                continue
            if found.document is not None:
                yield name, found.head.revision if found.head else None

    @taking(query=Query)
    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        loaded = (self.load(name, at) for name in self.names())
        return names_found(((saved.name, saved.document) for saved in loaded if saved is not None), query)

    # --- care -----------------------------------------------------------------------

    def delete(self, name: str) -> bool:
        checked_name(name, "node")
        with self._folder.failing(f"delete the node {name!r}"):
            if not os.path.isdir(self._folder.path("")):
                return False
            with self._folder.locked(exclusive=True):
                found = self._found(name)
                listing = self._folder.listing()
                there = found.document is not None
                if found.history.last and (there or found.history.kept):
                    # The last number stays. First of all, so that no kill brings back what was forgotten.
                    self._rewrite(name, found.history.only([]))
                if there:
                    self._folder.remove(f"{name}.json")
                    self._folder.settle()
                self._tidy(name, listing)
                return there

    @taking(keep=int)
    def prune(self, keep: int) -> int:
        if keep < 1:
            raise BadArgument(f"{keep} revisions cannot be kept", hint="the latest one always is: --keep 1")
        forgotten = 0
        for name in self.names():
            with self._folder.failing(f"prune the node {name!r}"), self._folder.locked(exclusive=True):
                found = self._found(name)
                many = max(0, len(found.revisions) - keep)
                if many:
                    self._rewrite(name, found.history.only(found.history.kept[many:]))
                    forgotten += many
        return forgotten

    def check(self, on_node: OnNode | None = None) -> list[str]:
        faults: list[str] = []
        for name in self.names():
            faults += self._faults(name)
            if on_node is not None:
                on_node(name)
        return faults

    def _faults(self, name: str) -> Iterator[str]:
        try:
            yield from self._judged(name, History.faults)
            found = self._look(name)
            saved = self._saved(name, found.document, found) if found.document is not None else None
        except NodeattrsError as error:
            yield error.message
            return
        if saved is not None and "damaged" in saved.note:
            yield f"{name}: {saved.note}"

    def make(self, compression: str = ZLIB) -> None:
        if compression != ZLIB:
            raise BadArgument(f"the pieces of {self.describe()} are packed with zlib alone", hint="name a database")

    def close(self) -> None:
        pass

    # --- documents ------------------------------------------------------------------

    def _written(self, name: str, document: JsonMap) -> bytes:
        try:
            text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            tree, _ = self._understood(name, text.encode("utf-8"))
        except (TypeError, ValueError, RecursionError) as error:
            raise BadValue(f"the document of the node {name!r} cannot be kept: {_first_line(error)}") from error
        if tree != document:
            raise BadValue(f"the document of the node {name!r} is not JSON: reading it back gives something else")
        return text.encode("utf-8")

    def _understood(self, name: str, content: bytes) -> tuple[JsonMap, list[str]]:
        """What a document says, and what is odd about it."""
        file = f"{self._folder.shown}/{name}.json"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise DocumentError("is not UTF-8 text", file=file, line=line, hint="save the file as UTF-8") from error
        document = documents.parse(text, file, "json")
        if not isinstance(document.tree, dict):
            raise document.error("a node document is a map", hint="is this another file under a node's name?")
        if (kind := document.tree.get("chef_type")) not in (None, "node"):
            raise document.error(f"this is no node: it is a {kind}", ("chef_type",), hint="name the place of nodes")
        inside = document.tree.get("name")
        if inside != name:
            raise document.error(
                f"this is the node {inside!r}, in the place of {name!r}"
                if inside
                else "the name of the node is missing",
                ("name",),
                hint=f'rename the file, or write "name": "{name}"',
            )
        return document.tree, [str(warning) for warning in document.warnings]


@dataclass(frozen=True, slots=True)
class _Found:
    """What is on disk of a node.

    document: as it is written; None where there is none
    snapshot: the one that belongs to it, or None
    reason:   why there is none, or nothing in it
    head:     which revision the two are, if that is known; the one of the history, if it is there
    noted:    what is noted of a run that has no revision
    history:  as far as it was promised
    """

    document: bytes | None
    snapshot: bytes | None
    reason: str
    head: Head | None
    noted: Noted
    history: History

    @property
    def texts(self) -> Texts | None:
        """The pair, if it is a revision."""
        return (self.document, self.snapshot) if self.head and self.document and self.snapshot else None

    @property
    def form(self) -> str:
        return self.head.form if self.head else ""

    @property
    def revisions(self) -> list[Revision]:
        """What is kept, the latest first."""
        if self.document is None:
            return []
        heads: list[Head] = [*self.history.kept]
        if self.head and not isinstance(self.head, Kept):
            heads.append(self.head)
        return [head.revision for head in reversed(heads)]


def _is_at(revision: Revision, at: int | datetime) -> bool:
    return revision.at <= at if isinstance(at, datetime) else revision.number == at


def _form(saved: Saved) -> str:
    """A hash of what is saved, types and all; "" where there is none. raises: BadValue"""
    form = b""
    for what, value in (("document", saved.document), ("snapshot", saved.snapshot)):
        written(value, f"the {what} of the node {saved.name!r}")
        its = form_of(value)
        if its is None:
            return ""
        form += its
    return hashed(form).hex()[:32]


# --- names --------------------------------------------------------------------------


def _node_of(file: str) -> str | None:
    name = file.removesuffix(".json")
    try:
        return checked_name(name, "node") if name != file else None
    except BadName:
        return None


def _snapshot_file(name: str, document: bytes) -> str:
    # Half of the hash keeps the longest name within a file name's 255 characters; the head has all of it.
    return f"{name}@{named(document)[:32]}.snapshot"


def _log(name: str) -> str:
    return f"{_HISTORY}/{name}.log"


# --- snapshots ----------------------------------------------------------------------


class _Unusable(Exception):
    """Why a snapshot cannot be used, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class _Seal:
    """What the first line of a snapshot holds: its document and itself by their hashes, and of the run.

    logged: whoever wrote it had written the revision to the history
    """

    document: str
    snapshot: str
    revision: Revision | None
    noted: Noted
    logged: bool

    @property
    def head(self) -> Head | None:
        if self.revision is None:
            return None
        return Head(self.revision, (self.document, self.snapshot))


def _sealed(name: str, head: Head, body: bytes) -> bytes:
    """A snapshot as it is written: a line that says what it belongs to, then itself."""
    seal = {
        **_FORMAT,
        "node": name,
        "document": head.texts[0],
        "snapshot": head.texts[1],
        "revision": head.revision.number,
        "at": head.revision.at.isoformat(),
        "noted": head.revision.noted.to_dict(),
        "history": True,
    }
    return json.dumps(seal, allow_nan=False).encode() + b"\n" + body + b"\n"


def _unsealed(name: str, document: bytes, content: bytes) -> tuple[_Seal, bytes]:
    """Its seal, and the snapshot itself; `_snapshot_in` reads it."""
    first, _, body = content.removesuffix(b"\n").partition(b"\n")
    seal = _seal(name, first)
    if seal.snapshot != named(body):
        raise _Unusable("is damaged: its checksum does not fit")
    if seal.document != named(document):
        raise _Unusable("belongs to another document")
    return seal, body


def _seal(name: str, line: bytes) -> _Seal:
    try:
        head: Any = json.loads(line)
        if head["format"] == _FORMAT["format"] and type(head["version"]) is int and head["version"] > _VERSION:
            raise StoreError(
                f"the node {name!r} was saved by a newer nodeattrs: its version is {head['version']}, ours {_VERSION}",
                hint="upgrade nodeattrs, or name another place for the store",
            )
        if {key: head[key] for key in _FORMAT} != _FORMAT:
            raise _Unusable(f"was written by another version of nodeattrs ({head['format']} {head['version']})")
        if head["node"] != name:
            raise _Unusable("belongs to another document")
        noted = Noted.from_dict(head.get("noted", {}))
        # Earlier heads had no revisions.
        number = head.get("revision")
        revision = Revision(int(number), datetime.fromisoformat(head["at"]).astimezone(UTC), noted) if number else None
        return _Seal(head["document"], head["snapshot"], revision, noted, head.get("history") is True)
    except (ValueError, LookupError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise _Unusable("is damaged: it cannot be read") from error


def _snapshot_in(body: bytes) -> JsonMap | None:
    try:
        snapshot = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Unusable("is damaged: it cannot be read") from error
    if not isinstance(snapshot, dict | None):
        raise _Unusable("is damaged: it holds no snapshot")
    return snapshot


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
