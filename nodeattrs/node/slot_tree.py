"""The content of one slot of a node, for `node.slots[2]`: read, printed, or folded as a layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodeattrs.core.claim import Origin, Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import Path, as_path, spell
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap
from nodeattrs.node.slots import Slot


class SlotTree:
    """The content of one slot of a node: `node.slots[2]`. Every call looks at the current values; nothing is cached.

    `to_dict` copies the values. `origin` says which line set a path, and `verb` says how; for a path that is not set,
    both are about the nearest map above. `layer` is the slot as a layer of a fold, which shares the maps.

    number:   1 to 15, weakest first, as the Chef documentation counts
    level:    "default", "force_default", "normal", "override", "force_override" or "automatic"
    source:   "attribute file", "recipe", "environment", "role" or "facts"
    title:    level and source as text: "force_default / recipe"
    assigned: the paths of maps that a recipe assigned as a whole; they hide the attribute file's values. [] in most
              slots
    unknown:  the layers of this slot that could not be read; () in most slots
    """

    __slots__ = ("_ledger", "level", "number", "source", "title")

    def __init__(self, ledger: Ledger, slot: Slot) -> None:
        self._ledger = ledger
        self.number, self.level, self.source = slot
        self.title = slot.title

    @property
    def assigned(self) -> list[Path]:
        """The paths of the maps that a recipe assigned, which hide the attribute file's values there; [] for none."""
        with self._ledger.lock:
            return list(_assigned(self._ledger.trees[self.number], ()))

    @property
    def unknown(self) -> tuple[Layer, ...]:
        """The unknown layers that `Node.unknown` added to this slot; () for none."""
        return self._ledger.unknown.get(self.number, ())

    def to_dict(self, evaluate: bool = False) -> dict[Any, Any]:
        """A plain copy of the slot's content; {} where it is empty. evaluate: True computes deferred values"""
        plain: dict[Any, Any] = self._ledger.plain_copy(self._ledger.trees[self.number], evaluate)
        return plain

    def origin(self, path: str | Path) -> Origin:
        """The origin of the value that this slot has at *path*; where it is not set, the origin of the nearest map
        above.
        """
        with self._ledger.lock:
            return self._ledger.origin(self.number, as_path(path))[0]

    at = origin  # so that the slot is the locator of its layer

    def verb(self, path: str | Path) -> Verb:
        """How the value at *path* was set: set, replace, append, ...; where it is not set, the verb of the map
        above.
        """
        with self._ledger.lock:
            return self._ledger.origin(self.number, as_path(path))[1].verb

    def layer(self) -> Layer:
        """The slot as a layer for the core's `fold`. It shares the slot's maps, so that assigned ones stay marked."""
        return Layer(self._ledger.trees[self.number], self, f"{self.number} {self.title}")

    def __repr__(self) -> str:
        marks = "".join(f"\n  replaces {spell(path)}" for path in self.assigned)
        return f"<slot {self.number} {self.title}: {self.to_dict()!r}{marks}>"


def _assigned(tree: Any, path: Path) -> Iterator[Path]:
    if isinstance(tree, AssignedMap):
        yield path
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from _assigned(inner, (*path, key))
