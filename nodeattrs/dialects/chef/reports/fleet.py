"""The report of `fleet resolve`: failed nodes with their errors, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.dialects.chef.fleet import NodeOutcome
from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class FleetReport:
    """The report of a fleet, as data (`to_dict`) or as text (`lines`). `failed` has the outcomes with an error.

    outcomes: the results, in the order to show. For `lines` the failed ones are enough
    done:     the number of nodes that ran, failed ones included
    seconds:  the duration of the whole fleet
    skipped:  the number of nodes that an earlier call had done
    left:     the number of nodes that were not started because of an interruption
    """

    outcomes: Sequence[NodeOutcome]
    done: int
    seconds: float
    skipped: int = 0
    left: int = 0

    @property
    def failed(self) -> list[NodeOutcome]:
        """The outcomes with an error, in order."""
        return [one for one in self.outcomes if one.error]

    def to_dict(self) -> dict[str, Any]:
        """Each node with its error and revision, and the counts, as data for JSON."""
        nodes = [
            {
                "name": one.name,
                "ok": not one.error,
                "error": one.error or None,
                "code": one.code or None,
                "revision": one.revision,
            }
            for one in self.outcomes
        ]
        return {"version": 1, "nodes": nodes, "failed": len(self.failed), "skipped": self.skipped, "left": self.left}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the failed nodes with their errors, then one line of counts: nodes, rate, failed, skipped, left."""
        for one in self.failed:
            first, *rest = [printable(line) for line in one.error.splitlines()]
            code = f" {screen.paint(f'[{one.code}]', 'faint')}" if one.code else ""
            yield f"{screen.paint(f'{printable(one.name)}:', 'error')} {first}{code}"
            yield from (f"  {line.strip()}" for line in rest)
        done = self.done
        rate = f", {done / self.seconds:.0f} a second" if done and self.seconds >= 1 else ""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        left = f", {self.left} left" if self.left else ""
        yield f"{done} node{'' if done == 1 else 's'}{rate}, {len(self.failed)} failed{skipped}{left}"
