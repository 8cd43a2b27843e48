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
    """Keys whose values differ between two sides.

    pairs: key -> the value of each side; ABSENT where a side has none, an error where reading the value failed
    """

    sides: tuple[str, str]
    pairs: Mapping[str, tuple[Any, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Each key with its `left` and `right` value; a side without a value is left out. Secrets are masked."""
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
        """The titles of both sides, then for each key a "-" line and a "+" line; a side without a value has no line."""
        yield screen.paint(f"--- {printable(self.sides[0])}", "removed")
        yield screen.paint(f"+++ {printable(self.sides[1])}", "added")
        for key, (left, right) in self.pairs.items():
            yield printable(key)
            for mark, style, value in (("-", "removed", left), ("+", "added", right)):
                if value is not ABSENT:
                    text = value.message if isinstance(value, NodeattrsError) else shown(plain(value), 10_000)
                    yield screen.paint(printable(f"  {mark} {text}"), style)
