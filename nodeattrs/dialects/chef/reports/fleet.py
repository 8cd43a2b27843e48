"""What came of many nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.dialects.chef.fleet import Outcome
from nodeattrs.reports.screen import Screen, printable


@dataclass(frozen=True, slots=True)
class FleetReport:
    """The outcomes, by name; for text those that failed are enough.

    done:    how many there were
    seconds: how long all of it took
    skipped: how many nodes had been done before
    left:    how many were not begun, since somebody interrupted
    """

    outcomes: Sequence[Outcome]
    done: int
    seconds: float
    skipped: int = 0
    left: int = 0

    @property
    def failed(self) -> list[Outcome]:
        """Those that failed."""
        return [one for one in self.outcomes if one.error]

    def to_dict(self) -> dict[str, Any]:
        """As data."""
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
        """What failed and why, then how many there were."""
        for one in self.failed:
            first, *rest = [printable(line) for line in one.error.splitlines()]
            yield f"{screen.paint(f'{printable(one.name)}:', 'error')} {first} {screen.paint(f'[{one.code}]', 'faint')}"
            yield from (f"  {line.strip()}" for line in rest)
        done = self.done
        rate = f", {done / self.seconds:.0f} a second" if done and self.seconds >= 1 else ""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        left = f", {self.left} left" if self.left else ""
        yield f"{done} node{'' if done == 1 else 's'}{rate}, {len(self.failed)} failed{skipped}{left}"
