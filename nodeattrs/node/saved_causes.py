"""The causes of all values of a node at once, for snapshots that keep them (`store.causes`).

Elsewhere the causes of a value are found on demand (`why`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nodeattrs.core.origins import At, Origins, Patched
from nodeattrs.core.tree import Path, dig
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import OwnedMap, SetBy, last_mark, setters
from nodeattrs.node.node_trace import brief_then
from nodeattrs.node.why import causes_of


def causes_by_mark(ledger: Ledger, slots: Collection[int]) -> dict[int, dict[Path, tuple[Any, ...]]]:
    """The causes of all values in some slots: mark -> path in the slot -> causes. Values without causes are left out.

    cost: a look at every value, and at its sources
    """
    found = _Found(ledger)
    for number in slots:
        tree = ledger.trees[number]
        found.walk(tree, tree.origin, ())
    return found.by_mark


class _Found:
    def __init__(self, ledger: Ledger) -> None:
        self.by_mark: dict[int, dict[Path, tuple[Any, ...]]] = {}
        self._ledger = ledger

    def walk(self, value: Any, set_by: SetBy, path: Path) -> None:
        if isinstance(value, OwnedMap):
            if isinstance(set_by, int):
                self._note(path, value, At(set_by, path))
            for key, inner in value.items():
                self.walk(inner, value.origins.get(key, value.origin), (*path, key))
        elif isinstance(set_by, int):
            self._below(path, value, At(set_by, path))
        else:
            self._note(path, value, At(last_mark(set_by), path))
            for index, (inner, element) in enumerate(zip(value, set_by, strict=False)):
                self._element(inner, element, (*path, index))

    def _element(self, value: Any, set_by: Origins, path: Path) -> None:
        """An element: of a list that was worked on in place each part by whoever set that."""
        if type(set_by) is Patched:
            self._element(value, set_by.base, path)
            self._element(dig(value, set_by.path), set_by.by, (*path, *set_by.path))
        elif type(set_by) is list:
            for index, (inner, one) in enumerate(zip(value, set_by, strict=False)):
                self._element(inner, one, (*path, index))
        else:
            for by in setters(set_by, path):
                self._below(path, value, by)

    def _below(self, path: Path, value: Any, by: At) -> None:
        """Plain data, and all that is in it."""
        self._note(path, value, by)
        if isinstance(value, (dict, list)):
            for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
                self._below((*path, step), inner, At(by.source, (*by.path, step)))

    def _note(self, path: Path, value: Any, by: At) -> None:
        mark = self._ledger.marks[by.source]
        if not mark.bulk and (causes := causes_of(self._ledger, by, value, frozenset({path}), brief_then)):
            self.by_mark.setdefault(by.source, {})[by.path] = causes
