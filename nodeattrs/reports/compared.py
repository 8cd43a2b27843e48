"""Values that differ between two sides; for any dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.sensitive import plain
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.screen import Screen, printable


class Compared(NamedTuple):
    """Keys with different values on two sides.

    pairs: key -> both values, ABSENT where a side has none
    """

    sides: tuple[str, str]
    pairs: Mapping[str, tuple[Any, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Each key with what the sides that have it say."""
        one, other = self.sides
        return {
            "version": 1,
            "sides": [one, other],
            "differences": {
                key: {name: plain(value) for name, value in (("left", left), ("right", right)) if value is not ABSENT}
                for key, (left, right) in self.pairs.items()
            },
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A heading, and for each key a line a side."""
        yield screen.paint(f"--- {printable(self.sides[0])}", "removed")
        yield screen.paint(f"+++ {printable(self.sides[1])}", "added")
        for key, (left, right) in self.pairs.items():
            yield printable(key)
            for mark, style, value in (("-", "removed", left), ("+", "added", right)):
                if value is not ABSENT:
                    text = value.message if isinstance(value, NodeattrsError) else shown(plain(value), 10_000)
                    yield screen.paint(printable(f"  {mark} {text}"), style)
