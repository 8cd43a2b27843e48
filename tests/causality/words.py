"""The words of our explanations as data, in one table: what a row of them means to the judge.

`explain --format json` of every dialect is read here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.tree import parse, spell
from tests.causality.values import Path

__all__ = [
    "CONTINUED",
    "ERASED",
    "HOLDS",
    "OVERRIDDEN",
    "READ",
    "SEEN",
    "UNKNOWN",
    "WINS",
    "Row",
    "next_in_line",
    "rows_of",
]

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
HOLDS = "holds"
"""Sets nothing there, and keeps a map above over what another one sets: without it that one stands in the way."""
UNKNOWN = "unknown"
"""It might decide, and cannot be known."""

WORDS = {
    "wins": WINS,
    "joins": WINS,
    "holds": HOLDS,
    "loses": OVERRIDDEN,
    "overridden": OVERRIDDEN,
    "overwritten": OVERRIDDEN,
    "silent": OVERRIDDEN,
    "kept out": OVERRIDDEN,
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
    slot:    what the rank is called
    by:      the ranks that it says it is overridden by
    eraser:  what took it away, where that is told
    earlier: whether it tells of what the same source said before
    at:      where that happened: at the path, or further up
    within:  the rows of the explanation of what was read, where there is one
    """

    word: str
    path: Path
    value: Any
    rank: int | None
    file: str | None
    line: int | None
    column: int | None
    slot: str = ""
    by: tuple[int, ...] = ()
    earlier: bool = False
    eraser: Row | None = None
    at: Path | None = None
    within: tuple[Row, ...] = ()

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
    found = [_row(one, one.get("outcome") or one["outcome"], path) for one in explained["claims"]]
    found += [_row(one, one["event"], path, earlier=True) for one in explained.get("history", ())]
    return found + list(_read(explained))


def _row(one: Mapping[str, Any], word: str, asked: Path, earlier: bool = False) -> Row:
    steps = one.get("steps")
    path = tuple(steps) if steps is not None else _steps(one["path"], asked)
    by = () if earlier else tuple(one.get("overridden_by") or ())
    eraser = one.get("by") if earlier else None
    who = None
    if eraser is not None:
        who = Row("erased", _steps(eraser["path"], path), None, None, eraser["file"], eraser["line"], eraser["column"])
    place, at = (one["file"], one["line"], one["column"]), None if one.get("at") is None else _steps(one["at"], asked)
    return Row(word, path, one["value"], one["rank"], *place, one.get("slot") or "", by, earlier, who, at)


def _steps(spelled: str, asked: Path) -> Path:
    """The path of a row: the one that was asked, or one above or below it."""
    for depth in range(len(asked), -1, -1):
        if _spelled(asked[:depth]) == spelled:
            return asked[:depth]
    below = parse(spelled)
    return below if below[: len(asked)] == asked else (*asked, spelled)


def _spelled(path: Path) -> str:

    return spell(path)


def _read(explained: Mapping[str, Any]) -> Iterator[Row]:
    """What the line that set the value read: the path, without a place of its own."""
    for one in explained.get("read", ()):
        trace = one.get("trace") or {}
        steps = trace.get("steps", one.get("steps"))
        if steps is not None:
            within = tuple(rows_of(trace)) if "claims" in trace else ()
            yield Row("seen", tuple(steps), trace.get("value"), None, None, None, None, within=within)
        # A key of Hiera or of bindings: every place that says something of its value.
        for leaf in trace.get("leaves", ()):
            for said in leaf["set_by"]:
                yield Row("seen", (), leaf["value"], None, said["file"], said["line"], said["column"])


def next_in_line(
    rows: list[Row], is_gone: Callable[[Row], bool], further: bool = False, hidden: bool = False
) -> Row | None:
    """Whom the explanation calls next: who is read once the winner is gone.

    What the same source said before, then an `unless` that finds nothing any more, then the first of the others
    that nobody but the winner overrides (docs/merging.md, "Provenance").

    is_gone: whether the line that a row names is gone, too: what a whole map has overwritten waits for that
    further: whether an `unless` that looked at what holds the path finds nothing there either
    hidden:  whether the map of another source hides what the same one said before
    """
    winners = [row for row in rows if row.means == WINS]
    others = [row for row in rows if row.means == OVERRIDDEN and not row.earlier]
    ranks = {row.rank for row in rows if row.means == WINS or (row.means == HOLDS and is_gone(row))}
    first = next((row for row in others if ranks.issuperset(row.by)), None)
    if not winners:
        return first
    winner = winners[0]
    before = [
        row for row in rows if row.earlier and row.means in (OVERRIDDEN, ERASED) and _leads(row.path, winner.path)
    ]
    own = [row for row in before if row.rank == winner.rank and row.word != "silent"]
    kept_out = [row for row in own if row.word == "kept out"]
    if kept_out and kept_out[0] is own[0]:
        own = kept_out[-1:]  # the first that comes finds nothing to be kept
    # The newest is first: what took it away took away what was there before it, too.
    own = [row for row in own[:1] if row.eraser is None or row.eraser.path == winner.path or is_gone(row.eraser)]
    if own and own[0].means == OVERRIDDEN and not hidden:
        return own[0]
    # What comes after the first one is hidden by the map that held the winner: an `unless` does not find it either.
    found_first = others[: others.index(first) + 1] if first is not None else others
    if not any(_is_component(winner, row) and row.value is not None for row in found_first):
        # To an `unless` null is nothing. An attribute file's speaks before a recipe's, and of two the first.
        found = [row for row in before if row.word == "silent" and _heeds(row, winner)]
        found = [row for row in found if further or row.at in (None, winner.path)]
        silent = sorted(found, key=lambda row: row.rank or 0)
        if silent:
            return [row for row in silent if row.rank == silent[0].rank][-1]
    return first


def _leads(above: Path, path: Path) -> bool:
    return path[: len(above)] == above


LEVELS = "default", "force_default", "normal", "override", "force_override"
PAIR = "attribute file", "recipe"


def _is_component(one: Row, other: Row) -> bool:
    """Whether two slots are the attribute file's and the recipe's of one component."""
    return one.rank != other.rank and any({one.slot, other.slot} == {f"{of} / {who}" for who in PAIR} for of in LEVELS)


def _heeds(silent: Row, winner: Row) -> bool:
    """Whether an `unless` has looked at what won: a recipe's looks at the attribute file's, too."""
    return silent.rank == winner.rank or (_is_component(silent, winner) and (silent.rank or 0) > (winner.rank or 0))
