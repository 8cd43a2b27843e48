"""Find the lines of a file that have the body of a part of user-data.

Used by `unpacking`. A message or an archive gives the bodies of its parts, and not their lines.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, repeat

from nodeattrs.core.budget import Budget

_SEEN_IN_A_STEP = 1_000
"""The characters that are searched for one step of the budget."""


class BodySearch:
    """Finds bodies in a text one after the other. Each search begins at the end of the body that was found before.

    So bodies must be searched for in the order of the text. A search that finds nothing leaves the position as it is.

    text:   the text of the file. "": the file has its bodies in another form, such as base64, and nothing is found
    budget: limits the search
    first:  the number of the line of the file on which the text begins

    `find` returns a line of the file, or None. `find_block` finds an indented body, and returns (line or None, number
    of blanks before each line). Both raise TooMuch.
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
        """Row without its indent -> the numbers of the rows that are so."""
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self._rows):
            found.setdefault(_unindented(row), []).append(number)
        return found

    def find_block(self, body: str) -> tuple[int | None, int]:
        """The line of the file on which a body begins, and the number of blanks before each of its lines. (None, 0) if
        not found.

        An archive in YAML has bodies that are indented. raises: TooMuch
        """
        line = self.find(body)
        if line is not None or not body.strip() or not self.text:
            return line, 0
        wanted = body.rstrip("\n").split("\n")
        for number in self._candidates(wanted):
            indent = len(self._rows[number]) - len(wanted[0])
            rows = self._rows[number : number + len(wanted)] if indent > 0 else []
            if len(rows) == len(wanted) and all(map(_is_indented, rows, wanted, repeat(indent))):
                self._searched = self._starts[number + len(wanted)]
                return number + self._first, indent
        return None, 0

    def _candidates(self, wanted: list[str]) -> Iterator[int]:
        """Yield the rows where a body may begin. The rarest of its lines decides which rows are tried."""
        self._budget.steps(len(wanted))
        known = [self._where.get(_unindented(row), []) for row in wanted]
        rarest = min(range(len(wanted)), key=lambda index: len(known[index]))
        first = self._row_at(self._searched) + rarest
        for place in range(bisect_left(known[rarest], first), len(known[rarest])):
            self._budget.steps()
            yield known[rarest][place] - rarest

    def find(self, body: str) -> int | None:
        """The line of the file on which a body without indentation begins; None if the body is not found.

        The next search begins at the end of the body. raises: TooMuch
        """
        at = self.text.find(body, self._searched) if body and self.text else -1
        self._budget.steps(((at if at >= 0 else len(self.text)) - self._searched) // _SEEN_IN_A_STEP)
        if at < 0:
            return None
        self._searched = at + len(body)
        return self._row_at(at) + self._first

    def _row_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1


def _unindented(row: str) -> str:
    return row.lstrip(" ") if row.strip() else ""


def _is_indented(row: str, wanted: str, indent: int) -> bool:
    return row == " " * indent + wanted or (not wanted and not row.strip())
