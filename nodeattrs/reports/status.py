"""The report of `nodeattrs status`: the last run of each saved node, and its outcome."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from nodeattrs.reports import StreamedReport
from nodeattrs.reports.history import outcome_of, revision_dict
from nodeattrs.reports.screen import Screen, counted, in_columns, printable
from nodeattrs.store import Revision

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def age(span: timedelta) -> str:
    """A span of time in its largest unit.

    >>> age(timedelta(hours=50)), age(timedelta(seconds=0.2))
    ('2 d', '0 s')
    """
    seconds = max(int(span.total_seconds()), 0)
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds // size} {unit}"


class NodeStatus(NamedTuple):
    """A row of the report: one saved node, with its last run and its latest revision.

    `failed` says whether the last run failed; False without a run. `changed` is the latest revision if a command other
    than a run saved it, or None. `to_dict` returns the row as JSON-able data.
    name:   the name of the node
    latest: the latest revision; None where it cannot be read
    run:    the latest revision that a run saved; None if the store has no such revision
    """

    name: str
    latest: Revision | None
    run: Revision | None

    @property
    def failed(self) -> bool:
        """Whether the last run failed; False without a run."""
        return self.run is not None and not self.run.noted.ok

    @property
    def changed(self) -> Revision | None:
        """The latest revision, where a command changed the saved node after its last run; else None."""
        return None if self.latest == self.run else self.latest

    def to_dict(self) -> dict[str, Any]:
        """The name, the last run and the later change (null where there is none) as JSON-able data."""
        return {"name": self.name, "last": revision_dict(self.run), "changed": revision_dict(self.changed)}

    def _cells(self, now: datetime) -> list[str]:
        """The columns of the node's line: name, age of the last run ("?" without a run), revision, outcome."""
        name, latest, run = self
        if latest is None:
            return [name, "?", "", "unknown"]
        since = f"changed by {printable(latest.noted.by)}, revision {latest.number}"
        if run is None:
            return [name, "?", "", f"no run is known; {since}"]
        how = f"{outcome_of(run)}; since then {since}" if self.changed else outcome_of(run)
        return [name, age(now - run.at), f"revision {run.number}", how]


@dataclass(frozen=True, slots=True)
class Status(StreamedReport):
    """The report about the last run of each saved node: a row for each node, then a line with counts.

    `lines` and `data` use up the rows: only one of them can be called, once.
    nodes: the rows, in the order of the report
    now:   the time that ages are computed from
    """

    nodes: Iterable[NodeStatus]
    now: datetime

    def data(self) -> dict[str, Any]:
        """An iterator over the nodes as JSON-able data."""
        return {"version": 1, "nodes": (one.to_dict() for one in self.nodes)}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line a node, failed ones coloured, then the number of nodes and of failed runs."""
        ahead: deque[NodeStatus] = deque()

        def cells() -> Iterator[list[str]]:
            for one in self.nodes:
                ahead.append(one)
                yield one._cells(self.now)

        count = failed = 0
        for row in in_columns(cells(), right=(1,)):
            is_failed = ahead.popleft().failed
            count, failed = count + 1, failed + is_failed
            line = "  ".join(row).rstrip()
            yield screen.paint(line, "error") if is_failed else line
        yield f"{counted(count, 'node')}, {failed} failed"
