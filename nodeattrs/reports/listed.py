"""Names of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class Listed:
    """The names of everything of one kind, in order."""

    kind: str
    names: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The names as data."""
        return {"version": 1, "kind": self.kind, "names": list(self.names)}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A name a line."""
        yield from map(printable, self.names)
