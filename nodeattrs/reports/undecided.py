"""Layers that cannot be read and may override what is shown: as data and in words, alike for every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import TraceClaim
from nodeattrs.core.tree import Path
from nodeattrs.node.node import Node
from nodeattrs.node.slot_tree import SlotTree


class Undecided(NamedTuple):
    """A layer that cannot be read, why, and where it is named."""

    layer: str
    reason: str
    origin: Origin

    @classmethod
    def of(cls, claims: Iterable[TraceClaim]) -> tuple[Undecided, ...]:
        """Those of a trace."""
        return tuple(cls(one.claim.value.name, one.why, one.claim.origin) for one in claims)

    @classmethod
    def at(cls, node: Node, path: Path) -> tuple[Undecided, ...]:
        """Those that may override what a node has at a path. cost: a trace, where a slot has one at all"""
        return cls.of(node.trace(path).unknown) if any(slot.unknown for slot in node.slots.values()) else ()

    @classmethod
    def in_slot(cls, slot: SlotTree) -> tuple[Undecided, ...]:
        """Those of one slot."""
        return tuple(cls(one.value.name, one.value.reason, one.place(())) for one in slot.unknown)

    def to_dict(self) -> dict[str, Any]:
        """The layer as data."""
        return {"layer": self.layer, "file": self.origin.file, "line": self.origin.line, "reason": self.reason}


def data_of(found: Mapping[str, Iterable[Undecided]], whose: str = "") -> dict[str, Any]:
    """The field `unknown` of a report; none where there is none.

    found: by whatever they may override
    whose: what that is called in each row; "" leaves it out
    """
    unknown = [{whose: what, **one.to_dict()} for what, layers in found.items() for one in layers]
    for row in unknown:
        row.pop("", None)
    return {"unknown": unknown} if unknown else {}


def words_of(found: Mapping[str, Iterable[Undecided]]) -> Iterator[str]:
    """A warning for each."""
    for what, layers in found.items():
        yield from (f"{what} may be overridden by {one.origin}: {one.reason}" for one in layers)
