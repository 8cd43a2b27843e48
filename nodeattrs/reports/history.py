"""The revisions of a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.reports.screen import Screen, in_columns, printable
from nodeattrs.store import Revision


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
        "by": noted.by,
        "repository": noted.repository or None,
        "nodeattrs": noted.version or None,
        "report": noted.report,
    }


def in_words(report: Any) -> str:
    """The report of a catalog, briefly; "" where nothing was to be done. Anybody may have written it.

    >>> in_words({"counts": {"changed": 3, "failed": 1, "visited": 9}, "noop": False, "interrupted": True})
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


def went(revision: Revision) -> str:
    """How a run went: ok or failed, with the kind of the error, or with what its catalog did."""
    noted = revision.noted
    how = "ok" if noted.ok else f"failed: {printable(noted.error)}" if noted.error else "failed"
    parts = in_words(noted.report)
    return f"{how} ({parts})" if parts else how


class ChangedNode(NamedTuple):
    """A node after somebody has changed what is stored of it; its latest revision is None where it was forgotten."""

    node: str
    latest: Revision | None
    store: str

    def to_dict(self) -> dict[str, Any]:
        """The revision as data."""
        return {"version": 1, "node": self.node, "latest": revision_dict(self.latest), "store": self.store}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line."""
        how = "forgotten" if self.latest is None else f"at revision {self.latest.number} in {printable(self.store)}"
        yield f"{printable(self.node)} is {how}"


class History(NamedTuple):
    """Revisions, the latest first."""

    node: str
    revisions: Sequence[Revision]

    def to_dict(self) -> dict[str, Any]:
        """All of them as data."""
        return {
            "version": 1,
            "node": self.node,
            "revisions": [revision_dict(one) for one in self.revisions],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line each: number, time, how it went or who else made it, and the commit of the repository."""
        rows = [
            [
                str(one.number),
                f"{one.at:%Y-%m-%d %H:%M:%S}",
                went(one) if one.noted.is_run else printable(one.noted.by),
                printable(one.noted.repository[:12]),
            ]
            for one in self.revisions
        ]
        for row, one in zip(in_columns(rows, right=(0,)) if rows else [], self.revisions, strict=True):
            row[2] = row[2] if one.noted.ok else screen.paint(row[2], "error")
            yield "  ".join(row).rstrip()
