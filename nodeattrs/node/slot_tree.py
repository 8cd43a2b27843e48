"""One of the fifteen slots as a tree of its own: read, printed and folded like any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodeattrs.core.claim import Origin, Verb
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.tree import Path, as_path, spell
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, Branch
from nodeattrs.node.slots import PAIR, PLAN, SLOTS, Slot


def fold_of(ledger: Ledger, branch: Branch = PLAN) -> Fold:
    """Some slots as a fold of the core, with the policies of docs/merging.md. branch: the slots; PLAN for all"""
    children = tuple(
        _in_slot(SlotTree(ledger, SLOTS[child - 1])) if isinstance(child, int) else fold_of(ledger, child)
        for child in branch.children
    )
    return Fold(children, ledger.plan(branch).policy)


def _in_slot(slot: SlotTree) -> Layer | Fold:
    """What a slot has; what is unknown there lies over it, as a later word of the same slot would."""
    return Fold((slot.layer(), *slot.unknown), PAIR) if slot.unknown else slot.layer()


class SlotTree:
    """One of the fifteen slots, as a tree of its own: `node.slots[2]`.

    It can be read, printed and folded like any other tree, and always shows the current values. `assigned` lists the
    maps of a recipe that hide the attribute file's values.
    """

    __slots__ = ("_ledger", "slot")

    def __init__(self, ledger: Ledger, slot: Slot) -> None:
        self._ledger = ledger
        self.slot = slot

    @property
    def number(self) -> int:
        """1 to 15, as the Chef documentation counts."""
        return self.slot.number

    @property
    def level(self) -> str:
        """One of six: "default", "force_default", "normal", "override", "force_override", "automatic"."""
        return self.slot.level

    @property
    def source(self) -> str:
        """One of five: "attribute file", "recipe", "environment", "role", "facts"."""
        return self.slot.source

    @property
    def title(self) -> str:
        """Level and source."""
        return self.slot.title

    @property
    def assigned(self) -> list[Path]:
        """The paths of the maps that hide what the attribute file says there."""
        with self._ledger.lock:
            return list(_assigned(self._ledger.trees[self.number], ()))

    @property
    def unknown(self) -> tuple[Layer, ...]:
        """The layers that stand in this slot and cannot be read; see `Node.unknown`."""
        return self._ledger.unknown.get(self.number, ())

    def to_dict(self, evaluate: bool = False) -> dict[Any, Any]:
        """A plain copy of the slot's content; {} where it is empty. evaluate: True computes deferred values"""
        plain: dict[Any, Any] = self._ledger.plain_copy(self._ledger.trees[self.number], evaluate)
        return plain

    def origin(self, path: str | Path) -> Origin:
        """The origin of the value that this slot has at *path*; for an absent one, that of the map above."""
        with self._ledger.lock:
            return self._ledger.origin(self.number, as_path(path))[0]

    at = origin
    """As a locator."""

    def verb(self, path: str | Path) -> Verb:
        """The verb of the value that this slot has at *path*; for an absent one, the verb of the map
        above.
        """
        with self._ledger.lock:
            return self._ledger.origin(self.number, as_path(path))[1].verb

    def layer(self) -> Layer:
        """The slot for the core's `fold`, its assigned maps marked."""
        tree = self._ledger.trees[self.number]
        return Layer(tree, self, f"{self.number} {self.title}")

    def __repr__(self) -> str:
        marks = "".join(f"\n  replaces {spell(path)}" for path in self.assigned)
        return f"<slot {self.number} {self.title}: {self.to_dict()!r}{marks}>"


def _assigned(tree: Any, path: Path) -> Iterator[Path]:
    if isinstance(tree, AssignedMap):
        yield path
    if isinstance(tree, dict):
        for key, inner in tree.items():
            yield from _assigned(inner, (*path, key))
