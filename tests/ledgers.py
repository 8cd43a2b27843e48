"""The ledger of a node: its trees, its history and what it has cached. Users of a node do not see it."""

from __future__ import annotations

from nodeattrs.node.attributes import Attributes
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.view import MapView, ReadCache


def ledger_of(node: Attributes) -> Ledger:
    """The ledger that the node reads and writes, and no copy. No other test uses the private name."""
    return node._ledger


def view_of(ledger: Ledger) -> MapView | None:
    """The view of the whole node that has been handed out; None before the first one. `Ledger.view` would make it."""
    return ledger._view


def cache_of(view: MapView) -> ReadCache:
    """The answers that a view has cached, by key."""
    return view._cache
