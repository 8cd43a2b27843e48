"""A node as the last run left it, out of a store: all of it, or as little as the next run needs.

It runs nothing and knows no repository, so that a look at what was saved starts quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property, partial

from nodeattrs.core.tree import Path, near
from nodeattrs.errors import DocumentError, NodeNotFound
from nodeattrs.keep import Saved, Store
from nodeattrs.keep.filters import LEVELS
from nodeattrs.keep.nodes import node_of, withheld_of
from nodeattrs.keep.snapshots import filtered_snapshot
from nodeattrs.node.node import Node


class Remembered:
    """A node as the last run left it.

    note:      what a reader should know: that its origins are not known; empty where all is well
    saved:     as the store gave it; without facts and document, where *whole* gives all of it
    sensitive: paths whose values are never shown or stored
    where:     the store, for messages
    """

    def __init__(
        self,
        saved: Saved,
        sensitive: tuple[Path, ...] = (),
        where: str = "",
        whole: Callable[[], Saved | None] | None = None,
    ) -> None:
        self.saved, self.sensitive, self.where, self.whole = saved, sensitive, where, whole

    @cached_property
    def all(self) -> Saved:
        """All that was saved. raises: DocumentError, StoreError; NodeNotFound, where somebody has forgotten it since"""
        saved = self.saved if self.whole is None else self.whole()
        if saved is None:
            raise NodeNotFound(f"the node {self.saved.name} is no longer saved in {self.where}")
        return saved

    @property
    def note(self) -> str:
        return self.saved.note

    @cached_property
    def node(self) -> Node:
        """All of it. raises: as `all`"""
        return self._restored(self.all)

    @cached_property
    def normal(self) -> Node:
        """What the next run begins with, and nothing else: name, environment, run-list and normal attributes.

        cost:   the size of these; the rest of what was saved is not looked at
        raises: DocumentError
        """
        saved = self.saved
        if saved.made_of and self.whole is not None:
            return self._restored(saved)  # a store that knows what it was made of gave nothing else
        if saved.snapshot is None:
            return self._restored(saved._replace(document={**saved.document, **dict.fromkeys(_OTHERS)}))
        try:
            return self._restored(
                saved._replace(snapshot=filtered_snapshot(saved.snapshot, dict.fromkeys(_OTHERS, ())))
            )
        except (LookupError, TypeError, ValueError, AttributeError):
            return self.node  # which says what is wrong

    def _restored(self, saved: Saved) -> Node:
        try:
            return node_of(saved, self.sensitive)
        except DocumentError as error:
            error.details = (*error.details, f"it was read from the node {saved.name!r} in {self.where}")
            raise


_OTHERS = tuple(level for level in LEVELS if level != "normal")


def remembered(
    store: Store, name: str, sensitive: Iterable[Path] = (), at: int | datetime | None = None, brief: bool = False
) -> Remembered | None:
    """The node as the last run left it: from its snapshot, else from Chef's document; None where there is none.

    at:     a revision by its number, or the latest one at a time
    brief:  for who needs the normal attributes; what else is asked for is read then
    raises: BadName, DocumentError, StoreError
    """
    saved = store.load(name, at, brief)
    if saved is None:
        return None
    # A revision may be older than the list: what is withheld today was in clear then.
    withheld = () if at is None else withheld_of(store, name)
    number = at if saved.revision is None else saved.revision.number
    is_all = saved.document.keys() != {"name"}  # a store of folders gives all at once
    whole = None if is_all or not brief else partial(store.load, name, number)
    return Remembered(saved, (*sensitive, *withheld), store.describe(), whole)


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
