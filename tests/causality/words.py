"""The words of our explanations as data, in one table: what a row of them means to the judge.

`explain --format json` of every dialect is read here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.causality.values import Path

__all__ = ["CONTINUED", "ERASED", "OVERRIDDEN", "READ", "SEEN", "UNKNOWN", "WINS", "Row", "next_in_line", "rows_of"]

WINS = "wins"
"""It is read, alone or as a part of what is read."""
OVERRIDDEN = "overridden"
"""Something else is read; whatever it says changes nothing."""
CONTINUED = "continued"
"""Somebody took the value over and worked on: what it says is in the result."""
READ = "read"
"""Read on the way to the value, which shows it."""
SEEN = "seen"
"""Read on the way by the line that set the value; how much of it can be seen there nobody says."""
ERASED = "erased"
"""Taken away: nobody's next in line."""
UNKNOWN = "unknown"
"""It might decide, and cannot be known."""

WORDS = {
    "wins": WINS,
    "joins": WINS,
    "loses": OVERRIDDEN,
    "overridden": OVERRIDDEN,
    "overwritten": OVERRIDDEN,
    "silent": OVERRIDDEN,
    "removed": ERASED,
    "erased": ERASED,
    "forgotten": UNKNOWN,
    "continued": CONTINUED,
    "read": READ,
    "seen": SEEN,
    "unless": READ,
    "unknown": UNKNOWN,
}
"""Outcome or event, as the JSON has it -> what it means."""


@dataclass(frozen=True)
class Row:
    """One row of an explanation.

    word:    the outcome as it is written; `means` is what that means
    by:      the ranks that it says it is overridden by
    eraser:  what took it away, where that is told
    earlier: whether it tells of what the same source said before
    """

    word: str
    path: Path
    value: Any
    rank: int | None
    file: str | None
    line: int | None
    column: int | None
    by: tuple[int, ...] = ()
    earlier: bool = False
    eraser: Row | None = None

    @property
    def means(self) -> str:
        """One of the words of this module."""
        return WORDS[self.word]

    @property
    def place(self) -> str:
        """As people read it."""
        return "no place" if self.file is None else f"{self.file}:{self.line}"


def rows_of(explained: Mapping[str, Any]) -> list[Row]:
    """All rows of an explanation, in its own order."""
    path = tuple(explained.get("steps", ()))
    found = [_row(one, one.get("outcome") or one["fate"], path) for one in explained["claims"]]
    found += [_row(one, one["event"], path, earlier=True) for one in explained.get("past", ())]
    return found + list(_read(explained))


def _row(one: Mapping[str, Any], word: str, asked: Path, earlier: bool = False) -> Row:
    steps = one.get("steps")
    path = tuple(steps) if steps is not None else _steps(one["path"], asked)
    by = () if earlier else tuple(one.get("beaten_by") or ())
    eraser = one.get("by") if earlier else None
    who = None if eraser is None else _place("erased", path, eraser)
    return Row(word, path, one["value"], one["rank"], one["file"], one["line"], one["column"], by, earlier, who)


def _place(word: str, path: Path, one: Mapping[str, Any]) -> Row:
    return Row(word, path, None, one["rank"], one["file"], one["line"], None)


def _steps(spelled: str, asked: Path) -> Path:
    """The path of a row: the one that was asked, or one above or below it."""
    for depth in range(len(asked), -1, -1):
        if _spelled(asked[:depth]) == spelled:
            return asked[:depth]
    return (*asked, spelled)


def _spelled(path: Path) -> str:
    from nodeattrs.core.tree import spell

    return spell(path)


def _read(explained: Mapping[str, Any]) -> Iterator[Row]:
    """What the line that set the value read: the path, without a place of its own."""
    for one in explained.get("read", ()):
        trace = one.get("trace") or {}
        steps = trace.get("steps", one.get("steps"))
        if steps is not None:
            yield Row("seen", tuple(steps), trace.get("value"), None, None, None, None)
        # A key of Hiera or of bindings: every place that says something of its value.
        for leaf in trace.get("leaves", ()):
            for said in leaf["said_by"]:
                yield Row("seen", (), leaf["value"], None, said["file"], said["line"], said["column"])


def next_in_line(rows: list[Row]) -> Row | None:
    """Whom the explanation calls next: who is read once the winner is gone.

    What the same source said before, then the first of the others that nobody but the winner overrides
    (docs/merging.md, "Provenance").
    """
    winners = [row for row in rows if row.means == WINS]
    ranks = {row.rank for row in winners}
    rank = winners[0].rank if winners else None
    own = [row for row in rows if row.earlier and row.rank == rank and row.means in (OVERRIDDEN, ERASED)]
    at_path = [row for row in own if row.path == (winners[0].path if winners else None)]
    overwritten = [row for row in at_path if row.word != "silent"]
    if overwritten and overwritten[0].means == OVERRIDDEN:
        return overwritten[0]
    silent = [row for row in at_path if row.word == "silent"]
    if silent and not overwritten:
        return silent[-1]
    others = [row for row in rows if row.means == OVERRIDDEN and not row.earlier]
    return next((row for row in others if ranks.issuperset(row.by)), None)
