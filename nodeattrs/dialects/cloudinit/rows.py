"""Where a body of user-data stands in the file that it came from.

Used by `unpacking`, which looks for each part in the text that was unpacked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from nodeattrs.core.budget import Budget

_SEEN_IN_A_STEP = 1_000
"""How many signs are looked at in one step: as near as one can say."""


class Rows:
    """The lines of a text. What is found in it lies behind what was found before.

    text:   nothing where bodies do not stand in the file as they are
    budget: what the looking may take
    first:  the line of the file on which the text begins
    """

    def __init__(self, text: str, budget: Budget, first: int = 1) -> None:
        self.text = text
        self._first = first
        self._budget = budget
        self._searched = 0

    @cached_property
    def _rows(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(row) + 1 for row in self._rows)]

    @cached_property
    def _where(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self._rows):
            found.setdefault(_unindented(row), []).append(number)
        return found

    def place(self, body: str) -> tuple[int | None, int]:
        """The line on which a body begins, and how far it is indented: in an archive it is a block of the YAML."""
        line = self.line(body)
        if line is not None or not body.strip() or not self.text:
            return line, 0
        wanted = body.rstrip("\n").split("\n")
        for number in self._candidates(wanted, 0, self._row_at(self._searched)):
            rows = self._rows[number : number + len(wanted)]
            indent = len(rows[0]) - len(wanted[0])
            if len(rows) == len(wanted) and indent > 0 and all(map(_is_indented, rows, wanted, [indent] * len(rows))):
                self._searched = self._starts[number + len(wanted)]
                return number + self._first, indent
        return None, 0

    def line(self, body: str) -> int | None:
        """The line on which a body begins, where it stands in the file as it is."""
        at = self._found(body) if body and self.text else -1
        if at < 0:
            return None
        self._searched = at + len(body)
        return self._row_at(at) + self._first

    def _row_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _found(self, body: str) -> int:
        """Where it stands first; -1 for nowhere."""
        before, *inner = body.split("\n")[:-1] or [""]
        if not inner:
            at = self.text.find(body, self._searched)
            self._budget.steps(((at if at >= 0 else len(self.text)) - self._searched) // _SEEN_IN_A_STEP)
            return at
        # What is between its first and its last line are whole lines of the file.
        for number in self._candidates(inner, 1, self._row_at(self._searched)):
            at = self._starts[number + 1] - len(before) - 1
            if at >= self._searched and self.text.startswith(body, at):
                return at
        return -1

    def _candidates(self, wanted: Sequence[str], after: int, first: int) -> Iterator[int]:
        """The rows, from one on, that several wanted lines may follow after so many others, by the rarest of these."""
        self._budget.steps(len(wanted))
        known = [self._where.get(_unindented(line), ()) for line in wanted]
        rarest = min(range(len(wanted)), key=lambda index: len(known[index]))
        rows = known[rarest]
        for at in range(bisect_left(rows, first + after + rarest), len(rows)):
            self._budget.steps()
            yield rows[at] - after - rarest


def _unindented(row: str) -> str:
    return row.lstrip(" ") if row.strip() else ""


def _is_indented(row: str, wanted: str, indent: int) -> bool:
    return row == " " * indent + wanted or (not wanted and not row.strip())
