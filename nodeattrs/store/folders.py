"""Export saved nodes to a folder of JSON files, and import such a folder into a store.

    web1.json             Chef's node document, as `knife node show web1 -F json -l` prints it; its keys are sorted
    web1.snapshot.json    the fifteen slots with their origins; its keys keep their order, since the merge needs it
    history/web1@3.json   revision 3 with its time and notes, if the history is exported

A file is replaced as a whole, and only if its content changes. A file name has "%" and two digits for each byte
outside of `[a-z0-9._-]`. So two nodes never share a file, also where the file system ignores case. The name of a node
is read from its document. An export replaces the files of each node that it exports, also if they were edited. Files of
other nodes are not removed if their document was edited, or if no export wrote them. A revision's file is removed when
its revision was deleted, also if its values were edited.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from nodeattrs.core.borders import A_PATH, ListLike, checked_args
from nodeattrs.core.tree import Path
from nodeattrs.disk import FolderEntry
from nodeattrs.errors import BadValue, DocumentError, NodeNotFound, StoreError
from nodeattrs.formats import documents
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.store.carrying import RecordReader, errors_in_file, record_of, save_nodes
from nodeattrs.store.engines.store import Store
from nodeattrs.store.engines.texts import text_budget, texts_of, written
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import JsonMap, OnNode, Saved
from nodeattrs.store.saved_nodes import node_of

FORMAT, VERSION = "nodeattrs-export", 1
_OURS = {"format": FORMAT, "version": VERSION}

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")
_SNAPSHOT, _DOCUMENT, _HISTORY = ".snapshot.json", ".json", "history"

_KNIFE = ("name", "chef_environment", "run_list", "normal", "default", "override", "automatic")
_POLICY = ("policy_name", "policy_group")
"""The fields that knife prints of a node with a policy, in the place of the environment."""


@dataclass
class ExportResult:
    """The result of an export to a folder, for its report.

    nodes:   the number of exported nodes
    written: the number of new or changed files
    removed: the number of removed files, of nodes and revisions that the store no longer has
    kept:    the names of files that were not removed, though the store lacks their node or revision: their document was
             edited, or another program wrote them
    """

    nodes: int = 0
    written: int = 0
    removed: int = 0
    kept: list[str] = field(default_factory=list)


def file_stem(name: str) -> str:
    """The beginning of the names of a node's files: its name, with "%" and two digits for each byte but `[a-z0-9._-]`.

    >>> file_stem("web1.example.com"), file_stem("Web:1"), file_stem("web1.snapshot")
    ('web1.example.com', '%57eb%3a1', 'web1%2esnapshot')
    """
    stem = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in name.encode())
    # web1.snapshot.json is a file of the node web1.
    return f"{stem.removesuffix('.snapshot')}%2esnapshot" if stem.endswith(".snapshot") else stem


# --- export -------------------------------------------------------------------------


@checked_args(store="names", folder=A_PATH, names=ListLike | None)
def export_nodes(
    store: Store,
    folder: str | os.PathLike[str],
    names: Iterable[str] | None = None,
    *,
    history: bool = False,
    on_node: OnNode | None = None,
) -> ExportResult:
    """Write the files of nodes to *folder*, which is made if it does not exist; returns the counts.

    A file of an exported node that was edited is replaced. An export of all nodes also removes the files of nodes that
    the store no longer has. Those whose document was edited, or that another program wrote, stay, and the result names
    them. If an export is interrupted, or raises an error, the files written before stay; export again.

    names:   export only these nodes, and remove no files of other nodes; None: all nodes. [] exports nothing
    history: also write all revisions, below history/, and remove the files there of revisions that were deleted
    on_node: called with the name of each node when its files are written
    cost:    memory for one node; if the files of a node are up to date, only hashes are read
    raises:  NodeNotFound, for a name that the store does not have; DocumentError, for a node that cannot be read;
             StoreError, if the folder or a file cannot be written; BadValue, for a node that JSON cannot hold
    """
    wanted = None if names is None else list(names)
    done = ExportResult()
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_Folder.opened(os.fspath(folder), make=True))
        opened.sweep()
        older = stack.enter_context(opened.below(_HISTORY, make=True)) if history else None
        there = _by_stem(older) if older else {}
        exported: set[str] = set()
        for name in store.names() if wanted is None else wanted:
            texts = store.texts(name)
            saved = None if _is_exported(opened, name, texts) else store.load(name)
            if saved is not None:
                _export(saved, opened, done)
            elif not texts and wanted is None:
                continue  # the node was deleted while others were exported
            elif not texts:
                raise NodeNotFound(f"there is no saved node {name} in {store.describe()}")
            exported.add(name)
            if older:
                _export_history(store, name, older, there.get(file_stem(name), []), done)
            done.nodes += 1
            if on_node is not None:
                on_node(name)
        if wanted is None:
            _remove_others(opened, exported, done)
    return done


def make_folder(folder: str | os.PathLike[str]) -> None:
    """Make a folder for an export, if it does not exist. raises: StoreError, if it cannot be made, or is no folder"""
    with _Folder.opened(os.fspath(folder), make=True):
        pass


def _export(saved: Saved, folder: _Folder, done: ExportResult) -> None:
    shown = _shown_by_knife(saved.document)
    rest = saved.document
    if saved.snapshot is not None:
        rest = {key: value for key, value in saved.document.items() if key not in shown}
    texts = [text.hash.hex() for text in texts_of(saved.name, saved) if text is not None]
    seal = {**_OURS, "sha256": _hash(shown), "texts": texts, "document": rest, "snapshot": saved.snapshot}
    stem = file_stem(saved.name)
    what = f"the node {saved.name!r}"
    # In this order: a snapshot without its document, or with an older one, is noticed by an import.
    done.written += folder.put(stem + _SNAPSHOT, _indented(seal, what))
    done.written += folder.put(stem + _DOCUMENT, _indented(shown, what, sort=True))


def _is_exported(folder: _Folder, name: str, texts: list[str]) -> bool:
    """Whether the files of a node exist, were written from these texts, and were not edited."""
    stem = file_stem(name)
    with contextlib.suppress(DocumentError, StoreError):
        seal = folder.record(stem + _SNAPSHOT)
        if _is_ours(seal) and seal.get("version") == VERSION and texts and seal.get("texts") == texts:
            return bool(seal.get("sha256") == _hash(folder.record(stem + _DOCUMENT)))
    return False


def _by_stem(folder: _Folder) -> dict[str, list[str]]:
    """Part of the name before the last "@" -> the files of revisions with it."""
    found: dict[str, list[str]] = {}
    for file in folder.files():
        found.setdefault(file.rpartition("@")[0], []).append(file)
    return found


def _export_history(store: Store, name: str, folder: _Folder, there: list[str], done: ExportResult) -> None:
    """Write the revisions of a node, and remove files of those that are pruned. there: the files that exist"""
    numbers = [revision.number for revision in store.history(name)]
    begin = f"{file_stem(name)}@"
    files = {f"{begin}{number}{_DOCUMENT}" for number in numbers}
    for number in numbers:
        saved = store.load(name, number)
        if saved is not None:  # it may have been pruned since
            text = _indented(
                {**_OURS, **record_of(saved, with_revision=True)}, f"revision {number} of the node {name!r}"
            )
            done.written += folder.put(f"{begin}{number}{_DOCUMENT}", text)
    for file in there:
        if file not in files:
            _remove_revision(folder, file, done)


def _shown_by_knife(document: JsonMap) -> JsonMap:
    has_policy = any(document.get(key) is not None for key in _POLICY)
    hidden = "chef_environment" if has_policy else ""
    keys = (*_KNIFE, *(_POLICY if has_policy else ()))
    return {key: document[key] for key in keys if key in document and key != hidden}


def _hash(document: JsonMap) -> str:
    """A hash of a document's content, whatever its spaces and the order of its keys."""
    return sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _indented(value: JsonMap, what: str, *, sort: bool = False) -> bytes:
    """raises: BadValue"""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=sort)
        return f"{text.translate(ESCAPES)}\n".encode()
    except RecursionError:
        # The encoder that indents is written in Python and nests less deeply. This one writes one line.
        return f"{written(value, what).translate(ESCAPES)}\n".encode()
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} cannot be written as JSON: {error}") from error


def _remove_others(folder: _Folder, names: set[str], done: ExportResult) -> None:
    """Remove the files that an earlier export wrote for nodes that are not in *names*."""
    stems = {file_stem(name) for name in names}
    others: dict[str, list[str]] = {}
    for file in folder.files():
        stem = file.removesuffix(_SNAPSHOT) if file.endswith(_SNAPSHOT) else file.removesuffix(_DOCUMENT)
        if stem not in stems:
            others.setdefault(stem, []).append(file)
    for stem, files in others.items():
        if not _is_unedited(folder, stem, files):
            done.kept += [f"{folder.shown}/{file}" for file in files]
            continue
        for file in files:  # the document first: a snapshot that is left alone is removed by the next export
            folder.remove(file)
            done.removed += 1
    if folder.has(_HISTORY):
        with folder.below(_HISTORY) as older:
            for stem, its in _by_stem(older).items():
                for file in its if stem not in stems else ():
                    _remove_revision(older, file, done)


def _remove_revision(folder: _Folder, file: str, done: ExportResult) -> None:
    with contextlib.suppress(DocumentError, StoreError):
        record = folder.record(file)
        name, number = record["document"].get("name"), record.get("revision")
        if _is_ours(record) and isinstance(name, str) and file == f"{file_stem(name)}@{number}{_DOCUMENT}":
            folder.remove(file)
            done.removed += 1
            return
    done.kept.append(f"{folder.shown}/{file}")


def _is_unedited(folder: _Folder, stem: str, files: list[str]) -> bool:
    """Whether an export wrote these files of a node, and the document was not edited since."""
    if stem + _SNAPSHOT not in files:
        return False
    with contextlib.suppress(DocumentError, StoreError):
        seal = folder.record(stem + _SNAPSHOT)
        if len(files) == 1 or not _is_ours(seal):
            return _is_ours(seal)
        document = folder.document(stem + _DOCUMENT).tree
        if isinstance(document, dict) and isinstance(name := document.get("name"), str) and stem == file_stem(name):
            return bool(seal.get("sha256") == _hash(document))
    return False


# --- import -------------------------------------------------------------------------


@checked_args(store="names", folder=A_PATH, sensitive=ListLike)
def import_nodes(store: Store, folder: str | os.PathLike[str], sensitive: Iterable[Path] = ()) -> list[str]:
    """Save the nodes of a folder that `export_nodes` wrote, or of Chef's node documents; returns their names.

    Revisions in history/ keep their number, time and notes; one that the store has is skipped. The node's own file
    becomes one more revision by "import", unless it equals the last revision in history/. Nothing is saved where a file
    cannot be read.
    sensitive: paths whose values are replaced by a marker
    raises:    DocumentError with the file; StoreError, where a node has other revisions in the store
    """
    return save_nodes(store, read_folder(store, folder, sensitive)[0])


def read_folder(
    store: Store, folder: str | os.PathLike[str], sensitive: Iterable[Path] = ()
) -> tuple[list[Saved], list[str]]:
    """Returns (revisions, remarks) of a folder that an export wrote; nothing is saved.

    The revisions are those that `import_nodes` saves, sorted by node, the oldest first. Their secrets are replaced by
    markers. The remarks are sentences for the user, for example about an edited file; [] for none.
    store:     only read, for the paths of secrets in its nodes
    sensitive: paths whose values are secrets, too
    raises: DocumentError with the file
    """
    reader = RecordReader(store, tuple(sensitive))
    found: list[Saved] = []
    notes: list[str] = []
    with _Folder.opened(os.fspath(folder)) as opened:
        if opened.has(_HISTORY):
            with opened.below(_HISTORY) as older:
                found += _read_history(older, reader)
        last = {saved.name: saved for saved in found}
        where: dict[str, str] = {}
        for file, saved in _read_latest(opened, reader, notes):
            if saved.name in where:
                raise DocumentError(
                    f"this is the node {saved.name!r}, and so is {where[saved.name]}",
                    file=f"{opened.shown}/{file}",
                    hint="remove one of the two files",
                )
            where[saved.name] = file
            if saved.name not in last or not _says_same(saved, last[saved.name]):
                found.append(saved)
    # Sorting is stable: the revisions of a node stay in order, with the node's own file last.
    return sorted(found, key=lambda saved: saved.name), notes


def _read_history(folder: _Folder, reader: RecordReader) -> Iterator[Saved]:
    records = []
    for file in folder.files():
        record = folder.record(file)
        folder.check_ours(record, file)
        if type(record.get("revision")) is not int:
            raise DocumentError("this file has no number of a revision", file=f"{folder.shown}/{file}")
        records.append((file, record))
    for file, record in sorted(records, key=lambda one: one[1]["revision"]):
        with errors_in_file(f"{folder.shown}/{file}", None):
            yield reader.revision_in(record)


def _read_latest(folder: _Folder, reader: RecordReader, notes: list[str]) -> Iterator[tuple[str, Saved]]:
    files = folder.files()
    snapshots = {file: folder.record(file) for file in files if file.endswith(_SNAPSHOT)}
    seals = {file: seal for file, seal in snapshots.items() if _is_ours(seal)}
    for file in seals:
        folder.check_ours(seals[file], file)
    for file in [file for file in files if file not in seals]:
        document = folder.document(file)
        notes += map(str, document.warnings)
        if not isinstance(document.tree, dict):
            raise document.error("a node document is a map", hint="move this file out of the folder")
        kind = document.tree.get("chef_type")
        if kind not in (None, "node"):
            raise document.error(f"this is no node: it is a {kind}", ("chef_type",), hint="name the folder of nodes")
        shown = f"{folder.shown}/{file}"
        seal = seals.pop(f"{file.removesuffix(_DOCUMENT)}{_SNAPSHOT}", None)
        record: JsonMap = {"document": document.tree}
        if seal is not None and seal.get("sha256") == _hash(document.tree):
            record = _as_exported(document.tree, seal)
        elif seal is not None:
            notes.append(f"{shown} was changed after it was exported: the origins of its values are not known")
        with errors_in_file(shown, None):
            yield file, _in_order(reader.revision_in(record))
    for file in seals:
        raise DocumentError(
            "the document of this snapshot is not in the folder",
            file=f"{folder.shown}/{file}",
            hint=f"bring {file.removesuffix(_SNAPSHOT)}{_DOCUMENT} back, or remove this file too",
        )


def _as_exported(document: JsonMap, seal: JsonMap) -> JsonMap:
    rest, snapshot = seal.get("document"), seal.get("snapshot")
    if snapshot is None and isinstance(rest, dict):
        return {"document": rest, "snapshot": None}
    return {"document": {**document, **(rest if isinstance(rest, dict) else {})}, "snapshot": snapshot}


def _in_order(saved: Saved) -> Saved:
    """The revision with the keys of its document in the node's order. Unchanged if the document was cut by lists."""
    if saved.snapshot is None:
        return saved
    document = saved_document(node_of(saved))
    return saved._replace(document=document) if document == saved.document else saved


def _says_same(one: Saved, other: Saved) -> bool:
    """Whether two revisions of a node are the same; in a document the order of keys does not count."""
    same_document = _hash(one.document) == _hash(other.document)
    return same_document and json.dumps(one.snapshot) == json.dumps(other.snapshot)


def _is_ours(record: JsonMap) -> bool:
    return record.get("format") == FORMAT


# --- files --------------------------------------------------------------------------


class _Folder:
    """An open folder of JSON files: no link is followed in it, and nothing is written outside."""

    def __init__(self, handle: int, shown: str) -> None:
        self._handle, self.shown = handle, shown

    @classmethod
    @contextlib.contextmanager
    def opened(cls, shown: str, *, make: bool = False) -> Iterator[_Folder]:
        """The folder at a path. raises: StoreError"""
        with _failing(f"open the folder {shown}"):
            if make:
                os.makedirs(shown, mode=0o700, exist_ok=True)
            handle = os.open(shown, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield cls(handle, shown)
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def below(self, name: str, *, make: bool = False) -> Iterator[_Folder]:
        """A folder in it. raises: StoreError, also for a link"""
        shown = f"{self.shown}/{name}"
        with _failing(f"open the folder {shown}"):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=self._handle)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=self._handle)
        try:
            yield _Folder(handle, shown)
        finally:
            os.close(handle)

    def has(self, name: str) -> bool:
        return self._entry(name).status() is not None

    def files(self) -> list[str]:
        """The JSON files in it, sorted; hidden ones are left out."""
        with _failing(f"list the folder {self.shown}"):
            return sorted(name for name in os.listdir(self._handle) if name.endswith(".json") and name[0] != ".")

    def document(self, file: str) -> documents.Document:
        """raises: DocumentError, StoreError"""
        shown = f"{self.shown}/{file}"
        return documents.parse(self._text(file), shown, "json", text_budget(shown))

    def record(self, file: str) -> JsonMap:
        """A file that an export wrote, which may nest more deeply than a document. raises: DocumentError, StoreError"""
        shown, text = f"{self.shown}/{file}", self._text(file)
        with errors_in_file(shown, 1):
            record = json.loads(text)
        if not isinstance(record, dict):
            raise DocumentError("this is no file of an export: it holds no map", file=shown)
        return record

    def check_ours(self, record: JsonMap, file: str) -> None:
        """raises: DocumentError, for a file that no export wrote, or one of another version"""
        shown, version = f"{self.shown}/{file}", record.get("version")
        if not _is_ours(record):
            raise DocumentError("this is no file of an export", file=shown, hint="move it out of the folder")
        if version != VERSION:
            raise DocumentError(
                f"this file has the export version {version}; this nodeattrs reads version {VERSION}",
                file=shown,
                hint="import it with the nodeattrs that wrote it",
            )

    def put(self, file: str, content: bytes) -> bool:
        """Write a file, unless it has this content; returns whether it was written. raises: StoreError, also for
        a link
        """
        with _failing(f"write {self.shown}/{file}"):
            entry = self._entry(file)
            status = entry.status()
            if status is None:
                entry.replace(content, 0o600)
                return True
            self._check_file(file, status)
            if status.st_size == len(content) and entry.content() == content:
                return False
            entry.replace(content, stat.S_IMODE(status.st_mode))
            return True

    def remove(self, file: str) -> None:
        """raises: StoreError"""
        with _failing(f"remove {self.shown}/{file}"):
            self._entry(file).remove()

    def sweep(self) -> None:
        """Remove unfinished files of exports that were killed."""
        self._entry("").sweep()

    def _text(self, file: str) -> str:
        shown = f"{self.shown}/{file}"
        with _failing(f"read {shown}"):
            entry = self._entry(file)
            status = entry.status()
            if status is not None:
                self._check_file(file, status)
                text_budget(shown).bytes(status.st_size)
            content = entry.content()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise DocumentError("is not UTF-8 text", file=shown, line=line, hint="save the file as UTF-8") from error

    def _check_file(self, file: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            what = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no regular file"
            raise StoreError(f"{self.shown}/{file} is {what}, so it is neither read nor written", hint="move it away")

    def _entry(self, name: str) -> FolderEntry:
        return FolderEntry(self._handle, name)


@contextlib.contextmanager
def _failing(task: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hints: dict[str, Any] = {"hint": "name a folder"} if isinstance(error, NotADirectoryError) else {}
        raise StoreError(f"cannot {task}: {error.strerror or error}", **hints) from error
