"""A whole tree set at one level, leaf by leaf, as so many lines of a program would.

What it sets is shared with whoever has the tree: nothing is copied, so the tree must never change. It knows
no documents; who sets it, and where each leaf is written, is known to the setter of now.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.component_tree import ComponentTree, Place, below, thing_of


def set_leaves(node: Attributes, level: str, tree: dict[Any, Any], unless: bool = False) -> None:
    """Set what a tree has at a level of whoever sets values: maps meet, empty ones too, anything else is replaced.

    tree:   as `stored` gives it; nobody changes it any more
    unless: only what has no value there, null counting as none; a value that is no map stays, whatever lies below it
    cost:   of what the level has no map for a store each, whatever lies below
    """
    component = node._trees[level]
    with node._ledger.lock:
        _set(component, component.root(), (), tree, unless)


def _set(component: ComponentTree, place: Place, above: Path, tree: dict[Any, Any], unless: bool) -> None:
    for key, value in tree.items():
        path, found = (*above, key), below(place, key)
        standing = thing_of(found)
        if type(value) is dict and isinstance(standing, dict):
            ledger = component.ledger
            if not value and ledger.provenance:
                ledger.met_empty(component.slot, path, ledger.marks.here(0))
            _set(component, found, path, value, unless)
        elif unless and standing is not ABSENT and standing is not None:
            component.silent(path, value, depth=0)
        else:
            component.store(path, value, parent=place, depth=0)
