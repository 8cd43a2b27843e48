"""Export nodes of a store as JSON Lines, and import them into another store, with all revisions or the latest alone.

    {"document": {…}, "snapshot": {…}, "noted": {…}, "revision": 3, "at": "2030-01-31T12:00:00+00:00"}

Such a line is a *record*. One with a number is a saved revision: the import keeps its number, its time and its notes.
One without a number is the current state of a node, and becomes a new revision by "import". Files are read and written
by callers.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from nodeattrs.core.tree import Path, checked_name
from nodeattrs.errors import DocumentError, NodeattrsError, NodeNotFound, StoreError
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.node.node import Node
from nodeattrs.store.engines.store import Store
from nodeattrs.store.engines.texts import written
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import JsonMap, Noted, OnNode, Revision, Saved, number_taken
from nodeattrs.store.saved_nodes import node_of, withheld_in, withheld_of

_MOST = 2**31

_AT_ONCE = 50
"""The most revisions that are saved in one transaction, so that other writers need not wait long."""


# --- out ----------------------------------------------------------------------------


def export_lines(
    store: Store,
    names: Iterable[str],
    at: int | datetime | None = None,
    *,
    snapshots: bool = False,
    history: bool = False,
) -> Iterator[str]:
    """Yield lines of JSON: for each node Chef's node document, or with *snapshots* or *history* records.

    A record is a map with the document, the snapshot and the notes of one revision, for `import_nodes`.
    names:     the nodes, in the order of the lines
    at:        the revision to export, by number or time; a node without it is left out. Ignored with *history*
    snapshots: True: one record for each node, without the number of the revision
    history:   True: a record with its number for every revision, the oldest first
    raises:    NodeNotFound, for a name that is not saved, if *at* is None; DocumentError, if a revision cannot be read
    """
    for name in names:
        is_there = False
        for saved in _all_of(store, name) if history else filter(None, [store.load(name, at)]):
            is_there = True
            record = record_of(saved, history) if snapshots or history else saved.document
            yield json.dumps(record, ensure_ascii=False).translate(ESCAPES) + "\n"
        if not is_there and at is None:  # with *at*, the node may be newer
            raise NodeNotFound(f"there is no saved node {name} in {store.describe()}")


def record_of(saved: Saved, with_revision: bool) -> JsonMap:
    """The record of a saved node for an export: document, snapshot and notes.

    The snapshot is None for a node without one, which has only Chef's document.
    with_revision: True: also the number and the time of the revision, if they are known
    """
    record: JsonMap = {"document": saved.document, "snapshot": saved.snapshot, "noted": saved.noted.to_dict()}
    if with_revision and saved.revision is not None:
        record |= {"revision": saved.revision.number, "at": saved.revision.at.isoformat()}
    return record


def _all_of(store: Store, name: str) -> Iterator[Saved]:
    """Yield the revisions of a node, the oldest first."""
    for revision in reversed(store.history(name)):
        saved = store.load(name, revision.number)
        if saved is not None:  # unless another process pruned meanwhile
            yield saved


# --- in -----------------------------------------------------------------------------


def read_nodes(store: Store, lines: Iterable[str], file: str, sensitive: Iterable[Path] = ()) -> list[Saved]:
    """The revisions in the lines of an export, or in one Chef node document, for `save_nodes`; [] for no lines.

    Nothing is saved.
    store:     the store to import into; only read. A value is also replaced by a marker if the store has one at its
               path
    file:      the name of the file in messages
    sensitive: further paths whose values are replaced by a marker
    raises:    DocumentError with file and line
    """
    reader, nodes = RecordReader(store, tuple(sensitive)), []
    for number, line in _documents(list(lines)):
        with errors_in_file(file, number):
            nodes.append(reader.revision_in(json.loads(line)))
    return nodes


def save_nodes(store: Store, nodes: Iterable[Saved], on_saved: OnNode | None = None) -> list[str]:
    """Save the revisions that `read_nodes` returned; returns the names of their nodes, each once.

    A revision with a number keeps number, time and notes. A revision that the store has already is skipped, so an
    interrupted import can be repeated. A revision without a number is saved as a new revision by "import".
    nodes:    the revisions of one node side by side, in the order of their numbers
    on_saved: called with the name of the node for each revision, skipped ones included
    raises:   StoreError, if the node has another revision of that number; errors of `Store.save`
    """
    names = []
    for name, group in groupby(nodes, key=lambda saved: saved.name):
        revisions = list(group)
        names.append(name)
        numbered = [saved for saved in revisions if saved.revision is not None]
        for begin in range(0, len(numbered), _AT_ONCE):
            _added(store, name, numbered[begin : begin + _AT_ONCE], on_saved)
        for saved in revisions:
            if saved.revision is None:
                store.save(saved._replace(noted=saved.noted._replace(by="import")))
                _report(on_saved, name)
    return list(dict.fromkeys(names))


def copy_store(source: Store, target: Store, on_node: OnNode | None = None) -> tuple[int, int]:
    """Copy all revisions of *source* into *target*; returns (number of nodes, number of revisions).

    Every revision keeps its number, time and notes. A revision that *target* has already is skipped, but counted. To
    complete an interrupted copy, repeat the call.
    on_node: called with the name of each node after its last revision was copied
    raises:  DocumentError, if a revision cannot be read; StoreError, if a node has other revisions in *target*
    """
    nodes = revisions = 0
    for name in source.names():
        rest = _all_of(source, name)
        while part := list(islice(rest, _AT_ONCE)):
            save_nodes(target, part)
            revisions += len(part)
        nodes += 1
        _report(on_node, name)
    return nodes, revisions


def _added(store: Store, name: str, revisions: list[Saved], on_saved: OnNode | None) -> None:
    there = {revision.number: revision for revision in store.history(name)}
    missing = [saved for saved in revisions if not _is_there(store, saved, there)]
    if missing:
        store.add_history(name, missing)
    for _ in revisions:
        _report(on_saved, name)


def _is_there(store: Store, saved: Saved, there: dict[int, Revision]) -> bool:
    """Whether the store has the same revision. raises: StoreError, where another one has its number"""
    wanted = saved.revision
    assert wanted is not None
    if wanted.number not in there:
        return False
    found = store.load(saved.name, wanted.number)
    if found is None or (found.revision, found.document, found.snapshot) != (wanted, saved.document, saved.snapshot):
        raise number_taken(saved.name, wanted.number, store.describe())
    return True


def _report(on_node: OnNode | None, name: str) -> None:
    if on_node is not None:
        on_node(name)


class RecordReader:
    """Turns records into revisions for one store, and replaces secrets in them by markers. It saves nothing.

    A record is one revision of one node, as an export has it, or a plain node document. `revision_in` returns the
    revision. It raises errors for a bad record. The numbers of a node's records must increase.
    A value is replaced at each *sensitive* path, and where the store or another part of the record has a marker. The
    markers of the store are read once for each node.

    store:     the store into which the revisions shall go; only read
    sensitive: paths whose values are secrets, in addition to the markers
    """

    def __init__(self, store: Store, sensitive: tuple[Path, ...]) -> None:
        self._store, self._sensitive = store, sensitive
        self._known: dict[str, frozenset[Path]] = {}
        self._last: dict[str, int] = {}

    def revision_in(self, record: Any) -> Saved:
        """The revision in a record, which is checked as a save would check it. Secrets are replaced by markers.

        Call it for the records of one node in the order of their numbers. A saved node that cannot be read adds no
        markers, and is no error: the import may replace it.
        record: the parsed JSON: a record of an export, or Chef's node document
        raises: DocumentError, for a number that is not higher than the last one. Other errors for a bad record;
                `errors_in_file` turns them into a DocumentError
        """
        saved = _checked(record)
        if saved.revision is not None:
            if saved.revision.number <= self._last.get(saved.name, 0):
                raise DocumentError(f"revision {saved.revision.number} of the node {saved.name!r} comes too late")
            self._last[saved.name] = saved.revision.number
        if saved.name not in self._known:
            self._known[saved.name] = frozenset()
            with contextlib.suppress(DocumentError):  # of a damaged node, which the import may replace
                self._known[saved.name] = withheld_of(self._store, saved.name)
        return _withheld(saved, (*self._sensitive, *withheld_in(saved), *self._known[saved.name]))


@contextlib.contextmanager
def errors_in_file(file: str, line: int | None) -> Iterator[None]:
    """A context manager that turns errors about a bad record into a DocumentError with *file* and *line*.

    A StoreError is not changed. line: None if it is not known
    """
    try:
        yield
    except StoreError:
        raise
    except NodeattrsError as error:
        raise DocumentError(error.message, file=file, line=line, hint=error.hint) from error
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"this is no node: {error.msg}", file=file, line=(line or 1) + error.lineno - 1, column=error.colno
        ) from None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise DocumentError(f"this is no node: {error}", file=file, line=line) from None


def _checked(record: Any) -> Saved:
    """The revision in a record. What a store would refuse is refused here, before anything is saved.

    raises: NodeattrsError, ValueError, TypeError, KeyError, OverflowError, RecursionError
    """
    if not isinstance(record, dict):
        raise DocumentError("a node is a map")
    saved = Saved(record.get("name", ""), record)
    if isinstance(record.get("document"), dict):
        document, noted = record["document"], Noted.from_dict(record.get("noted") or {})
        revision = _revision(record, noted)
        saved = Saved(document.get("name"), document, record.get("snapshot"), noted=noted, revision=revision)
    node = node_of(saved)
    Node.from_chef(saved.document)
    written(saved.document, f"the document of the node {checked_name(saved.name, 'node')!r}")
    written(saved.snapshot, f"the snapshot of the node {saved.name!r}")
    written(saved.noted.to_dict(), f"what is noted of the node {saved.name!r}")
    if node.name != saved.name:
        raise DocumentError(f"the snapshot is of the node {node.name!r}, the document of {saved.name!r}")
    return saved


def _revision(record: JsonMap, noted: Noted) -> Revision | None:
    """The number, time and notes in a record; None for a record without a number. raises: ValueError, TypeError"""
    if "revision" not in record:
        return None
    number, at = record["revision"], datetime.fromisoformat(record["at"])
    if type(number) is not int or not 0 < number < _MOST or at.tzinfo is None:
        raise ValueError("a revision has a number, and a time with its zone")
    return Revision(number, at.astimezone(UTC), noted)


def _withheld(saved: Saved, sensitive: tuple[Path, ...]) -> Saved:
    """*saved* with markers in the place of secrets. A document or snapshot without a secret is unchanged."""
    if not sensitive:
        return saved
    document, snapshot = saved.document, saved.snapshot
    shown, hidden = (saved_document(Node.from_chef(document, sensitive=paths)) for paths in ((), sensitive))
    document = document if shown == hidden else hidden
    if snapshot is not None:
        shown, hidden = (Node.restore(snapshot, sensitive=paths).snapshot() for paths in ((), sensitive))
        snapshot = snapshot if shown == hidden else hidden
    return saved._replace(document=document, snapshot=snapshot)


def _documents(lines: list[str]) -> Iterator[tuple[int, str]]:
    lines[:1] = [first.removeprefix("\ufeff") for first in lines[:1]]
    whole = "".join(lines)
    try:
        json.loads(whole)
    except (ValueError, RecursionError):
        yield from ((number, line.rstrip()) for number, line in enumerate(lines, 1) if line.strip())
    else:
        yield 1, whole  # one document, which may have lines of its own
