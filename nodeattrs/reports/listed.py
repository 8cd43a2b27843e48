"""Names of one kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.reports import Long
from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class Listed(Long):
    """The names of everything of one kind, in order."""

    kind: str
    names: Iterable[str]

    def data(self) -> dict[str, Any]:
        """The names as data."""
        return {"version": 1, "kind": self.kind, "names": iter(self.names)}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A name a line."""
        yield from map(printable, self.names)
