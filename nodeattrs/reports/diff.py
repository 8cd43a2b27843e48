"""What differs between two kept nodes: by path, with who said each side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.node.node import Node
from nodeattrs.reports.run import Change, changes
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.show import winner_of
from nodeattrs.reports.values import data_of, on_one_line

__all__ = ["Difference", "Side"]

_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@dataclass(frozen=True, slots=True)
class Side:
    """A node as it is compared, and what it is called: "web1", "web1@3"."""

    title: str
    node: Node


@dataclass(frozen=True)
class Difference:
    """What the right side has that the left one has not, and the other way round."""

    left: Side
    right: Side
    path: Path = ()

    @cached_property
    def changes(self) -> list[Change]:
        """The leaves that differ; a list is one leaf."""
        before, after = (dig(data_of(side.node.to_dict(evaluate=False)), self.path) for side in (self.left, self.right))
        return [Change((*self.path, *one.path), one.before, one.after) for one in changes(before, after)]

    def _origins(self, change: Change) -> tuple[Origin | None, Origin | None]:
        left = None if change.before is ABSENT else winner_of(self.left.node)(change.path)
        return left, None if change.after is ABSENT else winner_of(self.right.node)(change.path)

    def to_dict(self) -> dict[str, Any]:
        """The differences as data, each side with its value and origin."""
        told = []
        for change in self.changes:
            entry: dict[str, Any] = {"path": spell(change.path), "change": change.kind}
            sides = zip(("before", "after"), (change.before, change.after), self._origins(change), strict=True)
            for side, value, origin in sides:
                if value is not ABSENT:
                    entry[side] = {"value": value, "origin": None if origin is None else str(origin)}
            told.append(entry)
        return {"version": 1, "before": self.left.title, "after": self.right.title, "changes": told}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One block for each path: the values, and who said them."""
        yield f"{screen.paint(self.left.title, 'strong')} -> {screen.paint(self.right.title, 'strong')}"
        if not self.changes:
            yield "  no difference"
        for change in self.changes:
            yield f"  {screen.paint(_SIGNS[change.kind], change.kind)} {printable(spell(change.path))}"
            values = zip("-+", (change.before, change.after), self._origins(change), strict=True)
            for sign, value, origin in values:
                if value is not ABSENT:
                    said = f"  ({printable(str(origin))})" if origin else ""
                    yield from screen.wrapped(f"{on_one_line(value)}{said}", " " * 8, f"      {sign} ", 4)
