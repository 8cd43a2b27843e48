"""The revisions of a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.keep import Revision
from nodeattrs.reports.screen import Screen, in_columns, printable

__all__ = ["History", "revision_dict"]


def revision_dict(revision: Revision | None) -> dict[str, Any] | None:
    """A revision as data."""
    if revision is None:
        return None
    noted = revision.noted
    return {
        "number": revision.number,
        "at": revision.at.isoformat(),
        "ok": noted.ok,
        "error": noted.error or None,
        "repository": noted.repository or None,
        "nodeattrs": noted.version or None,
        "report": noted.report,
    }


@dataclass(frozen=True, slots=True)
class History:
    """Revisions, the latest first."""

    node: str
    revisions: Sequence[Revision]

    def to_dict(self) -> dict[str, Any]:
        """All of them as data."""
        return {"version": 1, "node": self.node, "revisions": [revision_dict(one) for one in self.revisions]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line each: number, time, how it went, and the commit of the repository."""
        rows = [
            [
                str(one.number),
                f"{one.at:%Y-%m-%d %H:%M:%S}",
                "ok" if one.noted.ok else f"failed: {printable(one.noted.error)}",
                one.noted.repository[:12],
            ]
            for one in self.revisions
        ]
        for row, one in zip(in_columns(rows, right=(0,)) if rows else [], self.revisions, strict=True):
            row[2] = row[2] if one.noted.ok else screen.paint(row[2], "error")
            yield "  ".join(row).rstrip()
