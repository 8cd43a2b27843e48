"""A directory of node documents: the first store.

    web1.json                  Chef's node document, as Chef and people read it
    web1@5f0c….snapshot        what the run left behind; its name says which document it belongs to
    web1@0.tmp, web1@1.tmp     a save that is under way, or was killed

A document and a snapshot are a pair when the snapshot's name and head carry the hash
of the document's bytes. The snapshot goes first, then one rename of the document
turns the old pair into the new one; the old snapshot is removed last. So a kill at
any moment leaves one whole pair, and a document that was edited by hand, or that
Chef wrote, simply has no snapshot.

"@" stands in no name that a node can have, so no node can be taken for a snapshot.
A name keeps its ":", as in Chef's own directories. Where the file system does not
tell capitals apart, the second of two such names is refused.

A node has one revision here, the latest: its number and what is noted of the run stand
in the head of the snapshot, so a document without one has neither.

Saving takes an advisory lock (`flock` on the directory itself) for as long as the
files are written. Reading takes none, unless a pair looks torn.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nodeattrs.errors import BadArgument, BadName, BadValue, DocumentError, NodeattrsError, StoreError
from nodeattrs.keep.names import checked_name
from nodeattrs.keep.search.answer import answer
from nodeattrs.keep.search.memory import MemoryIndex
from nodeattrs.keep.search.query import Query
from nodeattrs.keep.stores import JsonMap, NewerRevision, Noted, Revision, Saved, now
from nodeattrs.keep.stores.pieces import json_text
from nodeattrs.texts import documents

__all__ = ["FileStore"]

_FORMAT = {"format": "nodeattrs-kept-snapshot", "version": 1}

_WAYS_OUT = {
    errno.ENOSPC: "free some space there and try again",
    errno.EDQUOT: "free some space there and try again",
    errno.EROFS: "make it writable, or name another place for the store",
    errno.EACCES: "give yourself the right to, or name another place for the store",
    errno.EPERM: "give yourself the right to, or name another place for the store",
    errno.ENOTDIR: "name a directory",
    errno.EBADF: "the file system there has no locks; name a directory on another one",
    errno.ENOLCK: "the file system there has no locks; name a directory on another one",
    errno.EOPNOTSUPP: "the file system there has no locks; name a directory on another one",
}


class FileStore:
    """The store in *directory*, which is made by the first save.

    raises: StoreError, where *directory* cannot be the path of a directory
    """

    keeps_history = False

    def __init__(self, directory: str) -> None:
        if not directory or "\0" in directory:
            raise StoreError(f"{directory!r} is not the path of a directory")
        self._shown = directory
        # Absolute from the start: a recipe may change the working directory.
        self._directory = os.path.abspath(directory)
        if os.path.lexists(self._directory) and not os.path.isdir(self._directory):
            raise StoreError(f"{directory} is no directory, so it holds no nodes", hint="name a directory")

    def describe(self) -> str:
        return f"files in {self._shown}"

    def names(self) -> list[str]:
        with self._failing("list the nodes"):
            return sorted(filter(None, map(_node_of, self._listing())))

    def load(self, name: str, at: int | datetime | None = None) -> Saved | None:
        saved = self._load(checked_name(name, "node"))
        if at is None or saved is None:
            return saved
        # The one revision there is, if it is that one.
        revision = saved.revision
        if revision is None:
            return None
        return saved if (revision.at <= at if isinstance(at, datetime) else revision.number == at) else None

    def _load(self, name: str) -> Saved | None:
        with self._failing(f"read the node {name!r}"):
            document, snapshot = self._read_pair(name)
            if document is not None and snapshot is None:
                # Somebody may have saved between our two reads. Under the lock nobody does; and
                # where there are no locks, nobody saves at all.
                with contextlib.suppress(OSError), self._locked(exclusive=False):
                    document, snapshot = self._read_pair(name)
            if document is None:
                return None
            unbound = snapshot is None and any(_is_snapshot(name, file) for file in self._listing())
        tree, notes = self._understood(name, document)
        if snapshot is None:
            reason = f"{name}.json was changed after it was saved" if unbound else "no snapshot stands beside it"
            return Saved(name, tree, None, "\n".join([f"saved, origin unknown: {reason}", *notes]))
        try:
            head, body = _unsealed(name, document, snapshot)
            return Saved(name, tree, body, "\n".join(notes), head.noted, head.revision)
        except _Unusable as reason:
            file = _snapshot_file(name, document)
            return Saved(name, tree, None, "\n".join([f"saved, origin unknown: {file} {reason}", *notes]))

    def save(self, saved: Saved, after: int | None = None) -> Revision:
        name = checked_name(saved.name, "node")
        document = self._written(name, saved.document)
        body = None if saved.snapshot is None else json_text(saved.snapshot, f"the snapshot of the node {name!r}")
        with self._failing(f"save the node {name!r}", "what was saved before is still there"):
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            with self._locked(exclusive=True) as directory:
                before = self._revision(name)
                if after is not None and after != before[0]:
                    raise self._stale(name, after, before[1])
                revision = Revision(before[0] + 1, now(), saved.noted)
                snapshot = None if body is None else _sealed(name, document, body, revision)
                self._save(name, document, snapshot, directory)
        return revision

    def _revision(self, name: str) -> tuple[int, Revision | None]:
        """The number of what is kept, 0 for nothing and for what has none; and its revision, if it is known."""
        document, snapshot = self._read_pair(name)
        if document is None or snapshot is None:
            return 0, None
        try:
            revision = _unsealed(name, document, snapshot)[0].revision
        except _Unusable:
            return 0, None
        return (revision.number if revision else 0), revision

    def _stale(self, name: str, after: int, found: Revision | None) -> NewerRevision:
        there = f"revision {found.number}, saved {found.at:%Y-%m-%d %H:%M:%S} UTC" if found else "none that is known"
        error = NewerRevision(
            f"somebody else has saved the node {name!r} in {self.describe()}",
            said=[f"there is {there}", f"this run began with revision {after}"],
            hint="run it again, or save over it with --force",
        )
        error.expected, error.found = after, found
        return error

    def history(self, name: str) -> list[Revision]:
        saved = self.load(name)
        return [saved.revision] if saved is not None and saved.revision is not None else []

    def latest(self) -> Iterator[tuple[str, Revision | None]]:
        for name in self.names():
            saved = self.load(name)
            if saved is not None:
                yield name, saved.revision

    def search(self, query: Query, at: datetime | None = None) -> list[str]:
        index, names = MemoryIndex(), []
        for name in self.names():
            saved = self.load(name, at)
            if saved is not None:
                index.add(saved.document)
                names.append(name)
        return sorted(names[number] for number in answer(index, query))

    def prune(self, keep: int) -> int:
        if keep < 1:
            raise BadArgument(f"{keep} revisions cannot be kept", hint="the latest one always is: --keep 1")
        return 0

    def check(self) -> list[str]:
        faults = []
        for name in self.names():
            try:
                saved = self.load(name)
            except NodeattrsError as error:
                faults.append(error.message)
                continue
            if saved is not None and "damaged" in saved.note:
                faults.append(f"{name}: {saved.note}")
        return faults

    def migrate(self) -> str:
        return "files are as they were: there is nothing to bring up to date"

    def close(self) -> None:
        pass

    def delete(self, name: str) -> bool:
        checked_name(name, "node")
        with self._failing(f"delete the node {name!r}"):
            if not os.path.isdir(self._directory):
                return False
            with self._locked(exclusive=True) as directory:
                listing = self._listing()
                there = f"{name}.json" in listing
                if there:
                    os.unlink(self._path(f"{name}.json"))
                    os.fsync(directory)
                self._tidy(name, listing)
                return there

    def _save(self, name: str, document: bytes, snapshot: bytes | None, directory: int) -> None:
        target, bound = f"{name}.json", _snapshot_file(name, document)
        before = self._listing()
        self._refuse_twin(target, before)
        # What takes its place, in order; only the last of these turns the old pair into the new one.
        steps = [(bound, snapshot), (target, document)]
        if self._content(target) == document:
            steps.pop()
        temporary = [f"{name}@{number}.tmp" for number in range(len(steps))]
        try:
            # All is on disk before any takes its place, so that a full disk is noticed in time. The
            # temporary names are fixed: under the lock such a file can only be left over from a kill.
            for temp, (_, content) in zip(temporary, steps, strict=True):
                if content is not None:
                    self._put(temp, content)
            for temp, (file, content) in zip(temporary, steps, strict=True):
                if temp is not temporary[0]:
                    os.fsync(directory)
                if content is not None:
                    os.replace(self._path(temp), self._path(file))
                elif file in before:
                    os.unlink(self._path(file))
        except OSError:
            # Not for an interrupt, which may come just after the last step.
            self._tidy(name, temporary if len(steps) == 1 else [*temporary, bound])
            raise
        try:
            os.fsync(directory)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"saved the node {name!r} in {self._shown}, but it may not survive a power cut: {reason}",
                hint="save again once the disk is well",
            ) from error
        # Last of all: until the new pair is on disk, a power cut may bring the old one back.
        self._tidy(name, [file for file in before if file != bound])

    def _put(self, file: str, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self._path(file), flags, 0o600)
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    def _tidy(self, name: str, listing: list[str]) -> None:
        """Remove what *listing* has of the node beside its document.

        Whether that works changes nothing of what is saved; the next save tries again.
        """
        for file in listing:
            if file.startswith(f"{name}@"):
                with contextlib.suppress(OSError):
                    os.unlink(self._path(file))

    def _refuse_twin(self, target: str, listing: list[str]) -> None:
        if target not in listing and os.path.lexists(self._path(target)):
            twins = [file for file in listing if file.casefold() == target.casefold()]
            raise BadName(
                f"no node can be called {target.removesuffix('.json')!r} beside {', '.join(twins)} in {self._shown}",
                hint="the file system there does not tell capitals apart; choose another name",
            )

    def _read_pair(self, name: str) -> tuple[bytes | None, bytes | None]:
        document = self._content(f"{name}.json")
        return document, None if document is None else self._content(_snapshot_file(name, document))

    def _content(self, file: str) -> bytes | None:
        try:
            if not stat.S_ISREG(os.stat(self._path(file)).st_mode):
                raise StoreError(f"{self._shown}/{file} is not a file", hint="move it away")
            with open(self._path(file), "rb") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def _listing(self) -> list[str]:
        try:
            return os.listdir(self._directory)
        except FileNotFoundError:
            return []

    def _path(self, file: str) -> str:
        return os.path.join(self._directory, file)

    def _written(self, name: str, document: JsonMap) -> bytes:
        """The bytes of a document; they were read back before anybody relies on them."""
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
        file = f"{self._shown}/{name}.json"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise DocumentError("is not UTF-8 text", file=file, line=line, hint="save the file as UTF-8") from error
        document = documents.parse(text, file, "json")
        if not isinstance(document.tree, dict):
            raise document.error("a node document is a map", hint="is this another file under a node's name?")
        told = document.tree.get("name")
        if told != name:
            raise document.error(
                f"this is the node {told!r}, in the place of {name!r}" if told else "the name of the node is missing",
                ("name",),
                hint=f'rename the file, or write "name": "{name}"',
            )
        return document.tree, [str(warning) for warning in document.warnings]

    @contextlib.contextmanager
    def _locked(self, *, exclusive: bool) -> Iterator[int]:
        """The directory, open, while nobody else saves in it."""
        try:
            import fcntl
        except ImportError as error:
            raise StoreError("this system has no locks for files, so nothing can be saved in them") from error
        directory = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield directory
        finally:
            with contextlib.suppress(OSError):
                os.close(directory)

    @contextlib.contextmanager
    def _failing(self, task: str, *said: str) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"cannot {task} in {self._shown}: {reason}", said=said, hint=_WAYS_OUT.get(error.errno or 0)
            ) from error


def _node_of(file: str) -> str | None:
    name = file.removesuffix(".json")
    try:
        return checked_name(name, "node") if name != file else None
    except BadName:
        return None


def _is_snapshot(name: str, file: str) -> bool:
    return file.startswith(f"{name}@") and file.endswith(".snapshot")


def _snapshot_file(name: str, document: bytes) -> str:
    # Half of the hash keeps the longest name within a file name's 255 characters; the head has all of it.
    return f"{name}@{_hash(document)[:32]}.snapshot"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Unusable(Exception):
    """Why a snapshot cannot be used, as the end of a sentence about it."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first line of a snapshot says beside what it belongs to."""

    revision: Revision | None
    noted: Noted


def _sealed(name: str, document: bytes, body: str, revision: Revision) -> bytes:
    """A snapshot as it is written: a line that says what it belongs to, then itself."""
    head = {
        **_FORMAT,
        "node": name,
        "document": _hash(document),
        "snapshot": _hash(body.encode()),
        "revision": revision.number,
        "at": revision.at.isoformat(),
        "noted": revision.noted.to_dict(),
    }
    try:
        first = json.dumps(head, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadValue(f"what is noted of the node {name!r} cannot be kept: {_first_line(error)}") from error
    return f"{first}\n{body}\n".encode()


def _unsealed(name: str, document: bytes, content: bytes) -> tuple[_Head, JsonMap]:
    first, _, body = content.removesuffix(b"\n").partition(b"\n")
    try:
        head: Any = json.loads(first)
        if {key: head[key] for key in _FORMAT} != _FORMAT:
            raise _Unusable(f"was written by another version of nodeattrs ({head['format']} {head['version']})")
        if head["snapshot"] != _hash(body):
            raise _Unusable("is damaged: its checksum does not fit")
        if (head["node"], head["document"]) != (name, _hash(document)):
            raise _Unusable("belongs to another document")
        snapshot = json.loads(body)
        noted = Noted.from_dict(head.get("noted", {}))
        # Earlier heads had no revisions.
        number = head.get("revision")
        revision = Revision(int(number), datetime.fromisoformat(head["at"]), noted) if number else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _Unusable("is damaged: it cannot be read") from error
    if not isinstance(snapshot, dict):
        raise _Unusable("is damaged: it holds no snapshot")
    return _Head(revision, noted), snapshot


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
