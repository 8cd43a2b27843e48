"""Places in a text: the offsets of the parts of a parsed tree, and their lines.

An offset counts characters from the start of the text. Lines and columns count from 1, and are computed only when they
are needed. The parser of each syntax makes the marks; this module knows no syntax.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.codes import Kind, NoKind
from nodeattrs.core.tree import MAX_DEPTH, spell
from nodeattrs.errors import DocumentError, Path
from nodeattrs.kinds import REPEATED_KEY

HALF_PAIR = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: a text may have one by an escape, and no file in UTF-8 can hold it."""


class Mark:
    """The offset of one value in the text of a parsed tree, and the marks of its parts. A parser makes a tree of marks.

    offset: for an entry of a map, the offset of its key; if its value is a scalar on a later line, of the value.
            For an element of a list and for the root, the offset of the value
    parts:  key or index -> Mark; {} for a scalar. Values that a YAML alias repeats share one dict
    before: if the map has the key several times, (value, mark) of the entry just before this one; else None

    `again` lists all earlier entries under the key, the oldest first. `nearest` gives the mark at a path, or at the
    nearest path above that has one.
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
        """(value, mark) of each earlier entry of the map under the same key, the oldest first; [] for none."""
        if self._again is None:
            found, one = [], self.before
            while one is not None:
                found.append(one)
                one = one[1].before
            self._again = found[::-1]
        return self._again

    def nearest(self, path: Path) -> Mark:
        """The mark at *path*. If it has none, the mark of the nearest path above; at last this mark itself."""
        mark = self
        for step in path:
            part = mark.parts.get(step)
            if part is None:
                break
            mark = part
        return mark


class Text:
    """A text with the name of its file, for errors with line and column. Lines are counted at the first `place`.

    file: the name in messages; the file is not read
    text: the text

    `place` gives the line and column of an offset, and `after` the end of a match there. `error` returns a
    DocumentError at an offset, and `repeated` returns the warning for a key that a map has twice; neither raises it.
    `content` is the text in UTF-8.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text

    @property
    def content(self) -> bytes:
        """The text in UTF-8; half of a surrogate pair is encoded, too."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def _breaks(self) -> list[int]:
        """The offset of each line break."""
        return [found.start() for found in re.finditer("\n", self.text)]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of *offset*, both from 1. An offset past the end counts on in the last line.

        >>> Text("a.json", '{"a":\\n 1}').place(7)
        (2, 2)
        """
        before = bisect_left(self._breaks, offset)
        return before + 1, offset - (self._breaks[before - 1] if before else -1)

    def after(self, pattern: re.Pattern[str], offset: int) -> int:
        """The end of a match of *pattern* that begins at *offset*; *offset* itself without a match."""
        found = pattern.match(self.text, offset)
        return found.end() if found else offset

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
        """Make, not raise, the error about the text at *offset*; without an offset it names the file alone.

        path, hint, details, kind: as for `DocumentError`
        """
        line, column = (None, None) if offset is None else self.place(offset)
        return DocumentError(
            message, file=self.file, line=line, column=column, path=path, hint=hint, details=details, kind=kind
        )

    def repeated(self, path: Path, first: int, again: int) -> DocumentError:
        """Make the warning for a key that one map has twice, at the offsets *first* and *again*."""
        line, column = self.place(first)
        return self.error(
            f"duplicate key {spell(path)} (first at {line}:{column}); the last one is used",
            again,
            path=path,
            hint="remove one of the two",
            kind=REPEATED_KEY,
        )


class ParsedText(NamedTuple):
    """The result of a parser. `Document` takes it.

    tree:     the value of the text, as plain data
    marks:    a function that returns the mark of the root. It may scan the text; `Document` calls it at most once
    warnings: faults that did not stop the parser
    levels:   the depth of *tree* is at most this many maps and lists
    root:     the offset of the root if it is known without *marks*; else None
    """

    tree: Any
    marks: Callable[[], Mark]
    warnings: tuple[DocumentError, ...] = ()
    levels: int = MAX_DEPTH
    root: int | None = None
