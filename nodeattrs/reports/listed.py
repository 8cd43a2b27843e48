"""The report of `nodeattrs list`: the names of one kind of thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.reports import StreamedReport
from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class NameList(StreamedReport):
    """The report with the names of one kind, such as nodes or roles.

    kind:  the word that the command was given, such as "nodes"
    names: read once, when the report is written
    """

    kind: str
    names: Iterable[str]

    def data(self) -> dict[str, Any]:
        """The kind, and an iterator over the names."""
        return {"version": 1, "kind": self.kind, "names": iter(self.names)}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Each name on its own line."""
        yield from map(printable, self.names)
