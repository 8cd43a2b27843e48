"""The screen that text is formatted for: its width, and whether it has colours.

Control characters are made visible before text is coloured or wrapped. So no value can move the cursor or set colours.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_STYLES = {
    "wins": "1;32",
    "joins": "32",
    "holds": "32",
    "unknown": "33",
    "loses": "2",
    "strong": "1",
    "faint": "2",
    "added": "32",
    "changed": "33",
    "removed": "31",
    "error": "1;31",
    "warning": "1;33",
}


class Screen(NamedTuple):
    """The width and the colours of the output. `paint` colours a text, and `wrapped` breaks it into lines.

    Neither escapes control characters; call `printable` before.
    width:  the width of lines in characters
    colour: whether colours are used; False: `paint` changes nothing
    """

    width: int = 80
    colour: bool = False

    def paint(self, text: str, style: str) -> str:
        """*text* in the colour of a style; unchanged where `colour` is false."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def wrapped(self, text: str, indent: str = "", first: str = "", most: int = 0) -> list[str]:
        """*text* wrapped to lines of the screen's width: the first begins with *first*, the others with *indent*.

        "" gives one line. A line may be wider than the screen: at least 20 characters follow *indent*.
        most: the largest number of lines; the last one ends with "…" where text is left out. 0: no limit
        """
        width, start = max(self.width, len(indent) + 20), first or indent
        wrapped = textwrap.wrap(text, width, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False)
        lines = wrapped or [start]
        if most and len(lines) > most:
            lines = lines[:most]
            lines[-1] = f"{lines[-1][: self.width - 2]} …"
        return lines


def printable(text: str) -> str:
    """*text* on one line: line breaks and control characters are written as escapes.

    >>> printable("a\\x1b[31m\\tb")
    'a\\\\x1b[31m\\\\tb'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def cut(text: str, width: int) -> str:
    """*text*, shortened to *width* characters with "…" at the end where it is longer."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


_AT_ONCE = 1_000
"""The number of rows that are looked at before the first of them is written."""


def first_of(names: Sequence[str], most: int) -> str:
    """The first *most* names, and the number of the others.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 node", "2 nodes"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def in_columns(rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> Iterator[list[str]]:
    """Yield the cells of each row, padded to the width of their column; the last cell of a row is not padded.

    rows:  lists of equal length; empty: nothing is yielded
    right: the indexes of columns that are aligned to the right, such as numbers
    cost:  widths are known for some rows at a time; beyond a thousand rows a column may get wider
    """
    waiting, widths = iter(rows), [0] * 100
    while some := list(islice(waiting, _AT_ONCE)):
        columns = zip(*some, strict=True)
        widths = [max(width, *map(len, column)) for width, column in zip(widths, columns, strict=False)]
        for row in some:
            cells = [
                cell.rjust(width) if index in right else cell.ljust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            yield [*cells[:-1], row[-1]]
