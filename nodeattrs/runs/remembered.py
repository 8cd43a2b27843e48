"""A node as the last run left it, out of a store.

It runs nothing and knows no repository, so that a look at what was saved starts quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from nodeattrs.core.tree import Path, near
from nodeattrs.errors import DocumentError, NodeNotFound
from nodeattrs.lazily import dataclass
from nodeattrs.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from nodeattrs.keep import Saved, Store
    from nodeattrs.node.node import Node


@dataclass(frozen=True, slots=True)
class Remembered:
    """A node as the last run left it.

    note:  what a reader should know: that its origins are not known; empty where all is well
    saved: as the store gave it
    """

    node: Node
    note: str
    saved: Saved


def remembered(
    store: Store, name: str, sensitive: Iterable[Path] = (), at: int | datetime | None = None
) -> Remembered | None:
    """The node as the last run left it: from its snapshot, else from Chef's document; None where there is none.

    at:     a revision by its number, or the latest one at a time
    raises: BadName, DocumentError, StoreError
    """
    saved = store.load(name, at)
    if saved is None:
        return None
    from nodeattrs.keep.nodes import node_of, withheld_of

    try:
        if at is not None:
            # It may be older than the list: what is withheld today was in clear then.
            sensitive = (*sensitive, *withheld_of(store, name))
        return Remembered(node_of(saved, sensitive), saved.note, saved)
    except DocumentError as error:
        error.details = (*error.details, f"it was read from the node {name!r} in {store.describe()}")
        raise


def required(store: Store, name: str, sensitive: Iterable[Path] = (), at: int | datetime | None = None) -> Remembered:
    """As `remembered`. raises: NodeNotFound, with near misses"""
    found = remembered(store, name, sensitive, at)
    if found is None and at is not None and (kept := store.history(name)):
        oldest, latest = kept[-1], kept[0]
        raise NodeNotFound(
            f"there is no revision {at} of the node {name} in {store.describe()}",
            hint=f"kept are {oldest.number} to {latest.number}, since {oldest.at:%Y-%m-%dT%H:%M:%SZ}",
        )
    if found is None:
        close = near(name, store.names())
        raise NodeNotFound(
            f"there is no saved node {name} in {store.describe()}",
            hint=f"did you mean {' or '.join(close)}?" if close else f"run it first: nodeattrs run --node {name}",
        )
    return found
