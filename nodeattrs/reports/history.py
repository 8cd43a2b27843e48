"""The report of `nodeattrs history`, and revisions of saved nodes as data and in words.

A revision is the state of a node at one save, by a run or by another command. `store` keeps revisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.reports.screen import Screen, in_columns, printable
from nodeattrs.store import Revision


def revision_dict(revision: Revision | None) -> dict[str, Any] | None:
    """A revision as JSON-able data: number, time, outcome, command, repository and report; None for None."""
    if revision is None:
        return None
    noted = revision.noted
    return {
        "number": revision.number,
        "at": revision.at.isoformat(),
        "ok": noted.ok,
        "error": noted.error or None,
        "by": noted.by,
        "repository": noted.repository or None,
        "nodeattrs": noted.version or None,
        "report": noted.report,
    }


def _catalog_counts(report: Any) -> str:
    """The report of a catalog, briefly; "" where nothing was to be done. It may be written by any program.

    >>> _catalog_counts({"counts": {"changed": 3, "failed": 1, "visited": 9}, "noop": False, "interrupted": True})
    '3 changed, 1 failed, interrupted'
    """
    if not isinstance(report, dict):
        return ""
    counts = report.get("counts")
    parts = []
    for name in ("changed", "refreshed", "failed", "skipped", "would_change"):
        count = counts.get(name) if isinstance(counts, dict) else None
        if isinstance(count, int) and count:
            parts.append(f"{count} {name.replace('_', ' ')}")
    if report.get("interrupted"):
        parts.append("interrupted")
    return ", ".join(parts)


def outcome_of(revision: Revision) -> str:
    """How a run went: "ok" or "failed: KIND", with counts in brackets if its catalog was applied."""
    noted = revision.noted
    how = "ok" if noted.ok else f"failed: {printable(noted.error)}" if noted.error else "failed"
    parts = _catalog_counts(noted.report)
    return f"{how} ({parts})" if parts else how


class History(NamedTuple):
    """The report about the saved revisions of one node.

    `to_dict` returns the node and its revisions as JSON-able data. `lines` yields a line for each revision; nothing for
    none.

    node:      the name of the node
    revisions: its revisions, the latest first
    """

    node: str
    revisions: Sequence[Revision]

    def to_dict(self) -> dict[str, Any]:
        """The node, and all its revisions as JSON-able data."""
        return {
            "version": 1,
            "node": self.node,
            "revisions": [revision_dict(one) for one in self.revisions],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line a revision: number, time, outcome or command, and 12 characters of the repository's commit.

        A run has its outcome there, and a save by another command the name of the command.
        """
        rows = [
            [
                str(one.number),
                f"{one.at:%Y-%m-%d %H:%M:%S}",
                outcome_of(one) if one.noted.is_run else printable(one.noted.by),
                printable(one.noted.repository[:12]),
            ]
            for one in self.revisions
        ]
        for row, one in zip(in_columns(rows, right=(0,)), self.revisions, strict=True):
            row[2] = row[2] if one.noted.ok else screen.paint(row[2], "error")
            yield "  ".join(row).rstrip()
