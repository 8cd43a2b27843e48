"""A saved node as a Node: its secrets, restoring a revision, changing a stored attribute.

It knows stores and nodes, and no repository. `carrying` exports and imports nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.errors import BadArgument, NodeNotFound
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as
from nodeattrs.node.saved_code import Versions
from nodeattrs.node.values import MARKER, Sensitive, Withheld
from nodeattrs.store.engines.store import Store
from nodeattrs.store.filters import LEVELS, saved_document
from nodeattrs.store.revisions import Noted, Revision, Saved


def node_of(saved: Saved, sensitive: Iterable[Path] = (), versions: Versions | None = None) -> Node:
    """The Node in a saved revision: from its snapshot, else from Chef's document (without origins).

    sensitive: paths whose values are never shown or stored
    versions:  of the files of its repository, to find the causes of values
    raises:    DocumentError
    """
    if saved.snapshot is None:
        return Node.from_chef(saved.document, sensitive=sensitive)
    return Node.restore(saved.snapshot, sensitive=sensitive, versions=versions)


_WORD = "withheld"
"""What stands in a snapshot wherever it hides something, in a marker as well."""


def withheld_in(saved: Saved) -> frozenset[Path]:
    """The paths of the markers that replace secrets in a saved node, in its document and its snapshot.

    raises: DocumentError
    """
    hides = saved.snapshot is not None and _WORD in repr(saved.snapshot)  # far quicker than to restore it in vain
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
    """The paths of a node's secrets, in its latest revision and its last run; empty where the node is not saved.

    raises: DocumentError, where one of the two cannot be read
    """
    latest = store.load(name)
    if latest is None:
        return frozenset()
    paths = withheld_in(latest)
    if latest.revision is not None and not latest.noted.is_run:
        run = next((one for one in store.history(name) if one.noted.is_run), None)
        saved = store.load(name, run.number) if run else None
        paths |= withheld_in(saved) if saved else frozenset()
    return paths


def _any_element(path: Path) -> Path:
    """The path with "*" for each index: in another list the secret may stand elsewhere."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def restore(store: Store, name: str, at: int | datetime) -> Revision:
    """Save an older revision of a node again, as its latest one; returns the new revision.

    at:     the number of the old revision, or a time
    raises: NodeNotFound, where there is no such revision
    """
    old = store.load(name, at)
    if old is None:
        raise NodeNotFound(
            f"there is no revision {at} of the node {name} in {store.describe()}",
            hint=f"nodeattrs history {name} shows what there is",
        )
    return store.save(Saved(name, old.document, old.snapshot, noted=Noted(by="restore", root=old.noted.root)))


def set_normal(store: Store, name: str, path: Path, value: Any, sensitive: Iterable[Path] = ()) -> Revision:
    """Set a normal attribute of a saved node, as `knife node` does, and make the maps above it; returns the new
    revision.

    sensitive: paths whose values are never stored; the paths of markers in the store are added
    raises:    NodeNotFound; TypeConflict, where a value above the path is not a map;
               BadArgument, where the path is empty, or the value is secret at one of these paths
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
    """Remove a normal attribute of a saved node; returns the new revision.

    raises: NodeNotFound; BadArgument, where the node has no normal attribute at the path
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
        # Filtered lists were filtered when the node was saved; nothing comes back here.
        return Saved(name, saved_document(node), node.snapshot(), noted=Noted(by=command, root=saved.noted.root))

    return store.change(name, changed)
