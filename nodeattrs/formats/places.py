"""Where in a text each part of a tree is written.

An offset counts characters from the start of the text; lines and columns, which
count from 1, are worked out only when a person is to see them. It knows no
syntax: each reader of a syntax plants its own marks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

from nodeattrs.codes import Kind, NoKind
from nodeattrs.core.tree import MAX_DEPTH, spell
from nodeattrs.errors import DocumentError, Path
from nodeattrs.kinds import REPEATED_KEY

HALF_PAIR = re.compile("[\ud800-\udfff]")
"""What can be escaped into a text, but never written to a file: half of a surrogate pair."""


class Mark:
    """The offset at which something is set, and the marks of what it holds.

    offset: of the key that says it (of the value, where that is a scalar on a later line),
            of the element in a list, of the value at the root
    parts:  key or index -> Mark; shared between the places that repeat one text
    before: what the same map has under the same key last before this, with its mark; None where that is nothing
    """

    __slots__ = ("_again", "before", "offset", "parts")

    def __init__(
        self, offset: int, parts: dict[Any, Mark] | None = None, before: tuple[Any, Mark] | None = None
    ) -> None:
        self.offset, self.before = offset, before
        self.parts: dict[Any, Mark] = {} if parts is None else parts
        self._again: list[tuple[Any, Mark]] | None = None

    @property
    def again(self) -> list[tuple[Any, Mark]]:
        """All that the same map has under the same key before this, each with its mark, the oldest first.

        cost: one step an entry, the first time
        """
        if self._again is None:
            found, one = [], self.before
            while one is not None:
                found.append(one)
                one = one[1].before
            self._again = found[::-1]
        return self._again

    def nearest(self, path: Path) -> Mark:
        """The mark at *path*, or that of its nearest parent which is written."""
        mark = self
        for step in path:
            part = mark.parts.get(step)
            if part is None:
                break
            mark = part
        return mark


class Text:
    """A text with the name that messages give it."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text

    @property
    def content(self) -> bytes:
        """The same in UTF-8."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def _breaks(self) -> list[int]:
        """The offset of each line break; made in C throughout."""
        lengths = accumulate(map(len, self.text.split("\n")))
        return list(map(add, lengths, range(self.text.count("\n"))))

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of *offset*, both from 1.

        cost: one look at every character the first time, then a bisection

        >>> Text("a.json", '{"a":\\n 1}').place(7)
        (2, 2)
        """
        before = bisect_left(self._breaks, offset)
        return before + 1, offset - (self._breaks[before - 1] if before else -1)

    def error(
        self,
        message: str,
        offset: int | None = None,
        *,
        path: Path | None = None,
        hint: str | None = None,
        details: Iterable[str] = (),
        kind: Kind | NoKind = "",
    ) -> DocumentError:
        """The error for what stands at *offset*; to be raised, or kept as a warning."""
        line, column = (None, None) if offset is None else self.place(offset)
        return DocumentError(
            message, file=self.file, line=line, column=column, path=path, hint=hint, details=details, kind=kind
        )

    def repeated(self, path: Path, first: int, again: int) -> DocumentError:
        """The warning for a key that one map has twice, at the offsets *first* and *again*."""
        line, column = self.place(first)
        return self.error(
            f"duplicate key {spell(path)} (first at {line}:{column}); the last one is used",
            again,
            path=path,
            hint="remove one of the two",
            kind=REPEATED_KEY,
        )


class ParsedText(NamedTuple):
    """What a reader of one syntax makes of a text.

    tree:     plain data, its own
    marks:    finds the mark of the root; asked at most once
    warnings: what was read, but probably not meant
    levels:   how many the tree has at most
    root:     the offset of the mark of the root, where it is known without looking for the others
    """

    tree: Any
    marks: Callable[[], Mark]
    warnings: tuple[DocumentError, ...] = ()
    levels: int = MAX_DEPTH
    root: int | None = None
