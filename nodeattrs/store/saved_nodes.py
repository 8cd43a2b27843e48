"""Saved nodes as `Node` objects: loading one, restoring an older revision, changing a normal attribute.

Nothing runs here, and settings of a repository are not read. `carrying` exports and imports nodes.
"""

from __future__ import annotations

import os
import pathlib
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from nodeattrs import border
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, near, spell
from nodeattrs.errors import BadArgument, DocumentError, NodeNotFound, NoRevision, NotFound
from nodeattrs.formats.blobs import blob_name
from nodeattrs.formats.documents import content_of
from nodeattrs.git import Blob, Git
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as
from nodeattrs.node.sites import Versions, python_text
from nodeattrs.node.values import MARKER, Sensitive, Withheld
from nodeattrs.store.engines.store import Store
from nodeattrs.store.filters import LEVELS, filtered_snapshot, saved_document
from nodeattrs.store.revisions import Noted, Revision, Saved

_NAME = re.compile("[0-9a-f]{40}")


class RepositoryVersions:
    """The files of a repository in any version, found by digest on disk or in Git: a `node.sites.Versions`.

    `content` gives the bytes of a file; None if neither disk nor Git has this version. The constructor reads nothing;
    each content is read once and kept.
    root: the folder of the repository
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.realpath(root)
        self._known: dict[tuple[str, str], bytes | None] = {}

    def content(self, file: str, digest: str) -> bytes | None:
        """The content with this digest, from the file on disk or from Git; None if neither has it.

        file:   the name, relative to the repository. A file outside of it, or of the border, is not read
        digest: the name that Git gives to the content, from `blob_name`. Git finds it under any file name
        cost:   Git runs if the file has changed
        """
        if (file, digest) not in self._known:
            content = self._on_disk(file)
            if content is None or digest not in _names_of(content):
                content = self._in_git(digest)
            self._known[file, digest] = content
        return self._known[file, digest]

    def _on_disk(self, file: str) -> bytes | None:
        path = pathlib.Path(self.root, file)
        if not os.path.realpath(path).startswith(self.root + os.sep) or border.is_outside(path):
            return None
        try:
            return content_of(path, file)
        except DocumentError:
            return None

    def _in_git(self, digest: str) -> bytes | None:
        if self._git is None or not _NAME.fullmatch(digest):
            return None
        try:
            return dict(self._git.contents([Blob("", "blob", digest, "", 0)])).get(digest)
        except NoRevision:
            return None

    @cached_property
    def _git(self) -> Git | None:
        try:
            return Git(pathlib.Path(self.root))
        except NotFound:
            return None


def _names_of(content: bytes) -> tuple[str, ...]:
    """The digests that a run may have noted: of the file, of it without a byte order mark, and of its Python source,
    which has plain line ends.
    """
    as_run = python_text(content).encode("utf-8", "surrogatepass")
    return blob_name(content), blob_name(content.removeprefix(BOM_UTF8)), blob_name(as_run)


def node_of(saved: Saved, sensitive: Iterable[Path] = (), versions: Versions | None = None) -> Node:
    """The Node in a saved revision: from its snapshot, else from Chef's document, without origins.

    sensitive: paths whose values are never shown or stored
    versions:  gives the files of its repository, to find the causes of values; None: only causes in the snapshot
    raises:    DocumentError, where it is damaged
    """
    if saved.snapshot is None:
        return Node.from_chef(saved.document, sensitive=sensitive)
    return Node.restore(saved.snapshot, sensitive=sensitive, versions=versions)


_WORD = "withheld"
"""A word that is in every snapshot that hides a value, also as part of a marker."""


def withheld_in(saved: Saved) -> frozenset[Path]:
    """The paths of the markers that replace secrets in a saved node, in its document and its snapshot.

    A path begins below its level. An empty set for a node without secrets. raises: DocumentError
    """
    hides = saved.snapshot is not None and _WORD in repr(saved.snapshot)  # far quicker than restoring it
    slots = node_of(saved).slots.values() if hides else ()
    trees = [*(slot.to_dict() for slot in slots), *(saved.document.get(level) for level in LEVELS)]
    return frozenset(path for tree in trees for path in _markers(tree, ()))


def _markers(tree: Any, path: Path) -> Iterator[Path]:
    if isinstance(tree, Withheld) or tree == MARKER:
        yield path
    elif isinstance(tree, dict | list):
        for step, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _markers(inner, (*path, step))


def withheld_of(store: Store, name: str) -> frozenset[Path]:
    """The paths of a node's secrets, in its latest revision and in its last run. An empty set if the node is not saved.

    raises: DocumentError, if one of the two cannot be read
    """
    latest = store.load(name)
    if latest is None:
        return frozenset()
    paths = withheld_in(latest)
    if not latest.noted.is_run:
        run = next((one for one in store.revisions(name) if one.noted.is_run), None)
        saved = store.load(name, run.number) if run else None
        paths |= withheld_in(saved) if saved else frozenset()
    return paths


class SavedNode:
    """A saved node that is restored at the first use of `node` or `normal`; each is kept. `load_saved` makes it.

    saved:     the document and the snapshot of one revision, from the store
    sensitive: paths whose values are never shown or stored
    where:     the store, for messages
    versions:  gives the files of the repository, to find the causes of values
    """

    def __init__(self, saved: Saved, sensitive: tuple[Path, ...], where: str, versions: Versions) -> None:
        self.saved, self.sensitive, self.where, self.versions = saved, sensitive, where, versions

    @property
    def note(self) -> str:
        """The `note` of *saved*: a remark for the user, such as that origins are not known; "" for none."""
        return self.saved.note

    @cached_property
    def node(self) -> Node:
        """The whole node. raises: DocumentError, where it is damaged"""
        return self._restored(self.saved)

    @cached_property
    def normal(self) -> Node:
        """The node with only name, environment, run-list and normal attributes: the start of the next run.

        It is another object than `node`, and the rest of the snapshot is not restored. If the snapshot cannot be
        filtered, it is `node` itself. raises: DocumentError, if the node is damaged
        """
        saved = self.saved
        if saved.snapshot is None:
            return self._restored(saved._replace(document={**saved.document, **dict.fromkeys(_OTHERS)}))
        try:
            return self._restored(
                saved._replace(snapshot=filtered_snapshot(saved.snapshot, dict.fromkeys(_OTHERS, ())))
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            return self.node  # whose error says what is wrong

    def _restored(self, saved: Saved) -> Node:
        try:
            return node_of(saved, self.sensitive, self.versions)
        except DocumentError as error:
            error.details = (*error.details, f"it was read from the node {saved.name!r} in {self.where}")
            raise


_OTHERS = tuple(level for level in LEVELS if level != "normal")


def load_saved(
    store: Store,
    name: str,
    sensitive: Iterable[Path] = (),
    at: int | datetime | None = None,
    root: str | os.PathLike[str] | None = None,
) -> SavedNode | None:
    """The latest revision of a saved node, or the one at *at*; None if it does not exist. The node is restored later.

    sensitive: paths whose values are never shown
    at:        a revision by its number, or a time: the latest revision at that time. Values that are secret in the
               node's latest revision are not shown, either
    root:      the folder of the repository in which causes are looked for; None: the folder that the revision names. If
               it names none, the current folder
    raises:    BadName, DocumentError, StoreError
    """
    saved = store.load(name, at)
    if saved is None:
        return None
    # A value that is secret today may have been saved in clear then.
    withheld = () if at is None else withheld_of(store, name)
    versions = RepositoryVersions(root or _noted_root(store, saved) or os.curdir)
    return SavedNode(saved, (*sensitive, *withheld), store.describe(), versions)


def root_from(store: Store, root: str | os.PathLike[str]) -> str:
    """The folder of a repository, relative to the folder of a store's file, for `Noted.root`; "" for other stores."""
    place = store.describe()
    if "://" in place:
        return ""
    return os.path.relpath(root, os.path.dirname(os.path.abspath(place)))


def _noted_root(store: Store, saved: Saved) -> str | None:
    """The folder that `Noted.root` names; None where it does not exist, or may not be read."""
    if not saved.noted.root or "://" in store.describe():
        return None
    folder = os.path.join(os.path.dirname(os.path.abspath(store.describe())), saved.noted.root)
    held = border.in_force()
    return folder if os.path.isdir(folder) and (held is None or held.has(folder)) else None


def load_saved_or_raise(
    store: Store,
    name: str,
    sensitive: Iterable[Path] = (),
    at: int | datetime | None = None,
    root: str | os.PathLike[str] | None = None,
) -> SavedNode:
    """A revision of a saved node, by default the latest one; an error if it does not exist.

    name, sensitive, at, root: arguments of `load_saved`
    raises: NodeNotFound, with similar names, or the range of saved revisions; BadName, DocumentError, StoreError
    """
    found = load_saved(store, name, sensitive, at, root)
    if found is not None:
        return found
    history = [] if at is None else store.history(name)
    if history:
        oldest, latest = history[-1], history[0]
        raise NodeNotFound(
            f"there is no revision {at} of the node {name} in {store.describe()}",
            hint=f"kept are {oldest.number} to {latest.number}, since {oldest.at:%Y-%m-%dT%H:%M:%SZ}",
        )
    close = near(name, store.names())
    raise NodeNotFound(
        f"there is no saved node {name} in {store.describe()}",
        hint=f"did you mean {' or '.join(close)}?" if close else f"run it first: nodeattrs run --node {name}",
    )


# --- changes ------------------------------------------------------------------------


def restore(store: Store, name: str, at: int | datetime) -> Revision:
    """Save the content of an older revision of a node as its latest revision; returns the new revision.

    at:     the number of the old revision, or a time: the latest revision at that time
    raises: NodeNotFound, if there is no such revision; DocumentError, if it cannot be read
    """
    old = store.load(name, at)
    if old is None:
        raise NodeNotFound(
            f"there is no revision {at} of the node {name} in {store.describe()}",
            hint=f"nodeattrs history {name} shows what there is",
        )
    return store.save(Saved(name, old.document, old.snapshot, noted=Noted(by="restore", root=old.noted.root)))


def _any_element(path: Path) -> Path:
    """The path with "*" for each index, since a secret may have another index after a change."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def set_normal(store: Store, name: str, path: Path, value: Any, sensitive: Iterable[Path] = ()) -> Revision:
    """Set a normal attribute of a saved node; saves and returns a new revision.

    Missing maps on the way are made. A value that is set already is replaced.
    name:      the name of the node
    path:      at least one step, below the node's normal attributes
    value:     plain data
    sensitive: paths whose values are never stored; paths that have a marker in the store are added
    raises:    NodeNotFound; TypeConflict, if a value on the way is not a map;
               BadArgument, if the path is empty, or if a part of the value is at a sensitive path
    """
    if not path:
        raise BadArgument("a normal attribute has a path", hint="nodeattrs node set NODE tier gold")

    sensitive = (*sensitive, *map(_any_element, withheld_of(store, name)))

    def change(node: Node) -> None:
        node.normal.write_strict(*path, value)
        if _has_secret(dig(node.normal.to_dict(), path)):
            raise BadArgument(
                f"{spell(path)} is sensitive, and what is sensitive is not stored",
                path=path,
                hint="let a cookbook fetch it in each run",
            )

    return _changed(store, name, "node set", change, sensitive)


def _has_secret(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_secret, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Sensitive)


def remove_normal(store: Store, name: str, path: Path, sensitive: Iterable[Path] = ()) -> Revision:
    """Remove a normal attribute of a saved node; saves and returns a new revision.

    name:      the name of the node
    path:      at least one step, below the node's normal attributes
    sensitive: paths whose values are secrets and are not stored
    raises:    NodeNotFound; BadArgument, if the path is empty, or not set in normal
    """

    def change(node: Node) -> None:
        if not path or dig(node.normal.to_dict(), path) is ABSENT:
            raise BadArgument(f"the node {name} has no normal attribute {spell(path)}", path=path)
        node.normal.unlink_strict(*path)

    return _changed(store, name, "node rm", change, sensitive)


def _changed(
    store: Store, name: str, command: str, change: Callable[[Node], None], sensitive: Iterable[Path]
) -> Revision:
    sensitive = tuple(sensitive)

    def changed(saved: Saved) -> Saved:
        node = node_of(saved, sensitive)
        with setting_as(node, "command", command, Origin("command", command)):
            change(node)
        # No allow and block lists: they were applied when the node was saved.
        return Saved(name, saved_document(node), node.snapshot(), noted=Noted(by=command, root=saved.noted.root))

    return store.change(name, changed)
