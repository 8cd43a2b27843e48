"""How the nodes are: when each ran last, and how that went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nodeattrs.keep import Revision
from nodeattrs.reports.history import revision_dict
from nodeattrs.reports.screen import Screen, in_columns, printable

__all__ = ["Status", "age"]

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def age(span: timedelta) -> str:
    """A span of time in its largest unit.

    >>> age(timedelta(hours=50)), age(timedelta(seconds=0.2))
    ('2 d', '0 s')
    """
    seconds = max(int(span.total_seconds()), 0)
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds // size} {unit}"


@dataclass(frozen=True, slots=True)
class Status:
    """The latest revision of each node; None where nothing is known of it.

    now: what ages are counted from
    """

    nodes: Sequence[tuple[str, Revision | None]]
    now: datetime

    def to_dict(self) -> dict[str, Any]:
        """As data."""
        return {"version": 1, "nodes": [{"name": name, "last": revision_dict(last)} for name, last in self.nodes]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line a node, then how many there are of each sort."""
        rows = [
            [name, *(("?", "", "unknown") if last is None else (age(self.now - last.at), *_went(last)))]
            for name, last in self.nodes
        ]
        for row, (_, last) in zip(in_columns(rows, right=(1,)) if rows else [], self.nodes, strict=True):
            line = "  ".join(row).rstrip()
            yield screen.paint(line, "error") if last is not None and not last.noted.ok else line
        failed = sum(last is not None and not last.noted.ok for _, last in self.nodes)
        yield f"{len(self.nodes)} node{'' if len(self.nodes) == 1 else 's'}, {failed} failed"


def _went(last: Revision) -> tuple[str, str]:
    how = "ok" if last.noted.ok else f"failed: {printable(last.noted.error)}"
    return f"revision {last.number}", how
