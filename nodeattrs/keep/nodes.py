"""A saved node as a node, and where it holds a marker in the place of a secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nodeattrs.core.tree import Path
from nodeattrs.keep.filters import LEVELS
from nodeattrs.keep.revisions import Saved
from nodeattrs.keep.stores.store import Store
from nodeattrs.node.node import Node
from nodeattrs.node.saved_code import Versions
from nodeattrs.node.values import MARKER, Withheld


def node_of(saved: Saved, sensitive: Iterable[Path] = (), versions: Versions | None = None) -> Node:
    """The node as it was saved: from its snapshot, else from Chef's document.

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
    """Where a saved node, or what was saved beside it, holds a marker in the place of a secret.

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
    """Where a node held a secret when it was last saved, and when it was last run, for who knows of no list.

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
