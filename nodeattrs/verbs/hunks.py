"""Find the lines in which the files of two sides differ: a `Hunk` for each place of each changed file.

The module compares lines of text, and does not know what they mean. A file that is binary, too large, or on one side
only, is one place.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side

_MOST = 10_000_000
"""Bytes of a file that is looked into; a larger one is one place."""

_MOST_LINES = 20_000

_FILE_LINE = re.compile(r"(.+):(\d{1,9})")


class Hunk(NamedTuple):
    """A place of a change: lines of one file on the side before, and the lines that replace them on the side after.

    file:                the name of the file, which is equal on the two sides
    first, last:         the lines before, as a half-open range that counts from 0; an empty range: lines are only added
    new_first, new_last: the lines after, as a half-open range that counts from 0; an empty range: lines are only
                         removed
    whole:               True: the place is the whole file
    """

    file: str
    first: int
    last: int
    new_first: int
    new_last: int
    whole: bool = False


class Line(NamedTuple):
    """A line of a changed file, as reports name it. It prints as "roles/web.json:9" or "roles/web.json:9 (gone)".

    line:    counts from 1; None for a file as a whole
    is_gone: True: a line of the side before; False: of the side after
    """

    file: str
    line: int | None
    is_gone: bool = False

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place} (gone)" if self.is_gone else place


def file_and_line(side: Side, request: Request, text: str) -> tuple[str, int | None] | None:
    """Returns (file, line or None) for the words FILE or FILE:LINE; None where the side has no such file.

    All of *text* is tried as the name of a file first, then without `:LINE`. Each name is looked for below the root of
    the side, then where `request.place` puts it. The result's file is the name that reports show. The line need not
    exist.
    """
    parsed = _FILE_LINE.fullmatch(text)
    for name, line in ((text, None), *([(parsed[1], int(parsed[2]))] if parsed else [])):
        for place in (side.root / name, request.place(side, name)):
            file = side.shown(str(place))
            if file is not None and file in side.files:
                return file, line
    return None


def text_of(side: Side, file: str) -> list[str] | None:
    """The lines of a file of a side, each with its end, read now; [] for a file that is not there.

    None for a link, a submodule, and a file that is binary, not UTF-8, larger than 10 MB or unreadable.
    """
    mark = side.files.get(file, "")
    if mark.startswith(("link:", "module:")):
        return None
    if not mark:
        return []
    path = os.path.join(side.top, file)
    try:
        if os.path.getsize(path) > _MOST:
            return None
        with open(path, encoding="utf-8", newline="") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else _lines(text)


def _lines(text: str) -> list[str]:
    """The lines, each with its end; only a line feed ends one, as readers count."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True)
class Hunks:
    """The places in which the files of two sides differ. A place is a Hunk: some lines, or a whole file.

    A file is one place as a whole, for example, if only one side has it, or if it is binary. The constructor reads
    nothing. `files` compares the files by their marks, and `all` reads the changed files; each does so once. `at` finds
    the place that contains a line, and `line_of` the line that names a place. `without` gives the content of a file
    with some places changed back.
    before, after: the two sides
    """

    before: Side
    after: Side

    @cached_property
    def files(self) -> list[str]:
        """The names of the files that differ or are on one side only, sorted; [] for equal sides."""
        names = sorted({*self.before.files, *self.after.files})
        return [name for name in names if self.before.files.get(name) != self.after.files.get(name)]

    @cached_property
    def all(self) -> dict[str, list[Hunk]]:
        """Changed file -> its places, from the top; at least one place for each file."""
        return {file: list(self._of(file)) for file in self.files}

    def _of(self, file: str) -> Iterator[Hunk]:
        old, new = text_of(self.before, file), text_of(self.after, file)
        on_both = file in self.before.files and file in self.after.files
        if old is None or new is None or not on_both or len(old) + len(new) > _MOST_LINES:
            yield Hunk(file, 0, len(old or ()), 0, len(new or ()), whole=True)
            return
        changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        found = [Hunk(file, first, last, at, end) for tag, first, last, at, end in changes if tag != "equal"]
        for one in found or [Hunk(file, 0, len(old), 0, len(new), whole=True)]:
            yield from _by_line(one)

    def at(self, file: str, line: int | None, *, is_gone: bool) -> Hunk | None:
        """The place that contains a line of one side; None for a line, or a file, that did not change.

        line:    counts from 1. None: the place of a file that is one place as a whole. A line of such a file, if it
                 is text, also gives this place
        is_gone: True: a line of the side before; False: a line of the side after
        """
        for hunk in self.all.get(file, ()):
            first, last = (hunk.first, hunk.last) if is_gone else (hunk.new_first, hunk.new_last)
            if (line is None and hunk.whole) or (line is not None and first < line <= last):
                return hunk
        return None

    def line_of(self, hunk: Hunk) -> Line:
        """The line that names a place: its first line after the change; else its first line before, with `is_gone`."""
        if hunk.new_last > hunk.new_first or (hunk.file in self.after.files and hunk.whole):
            return Line(hunk.file, hunk.new_first + 1 if hunk.new_last > hunk.new_first else None)
        return Line(hunk.file, hunk.first + 1 if hunk.last > hunk.first else None, is_gone=True)

    def without(self, hunks: Sequence[Hunk], file: str) -> str | bytes | None:
        """The content of a file after the change, with some places changed back; None if the file would not exist.

        If none of *hunks* is in the file, the result is its content after the change, as bytes. If the file is one
        place as a whole, the result is its content before, as bytes. Links and submodules give None.
        hunks: the places to change back; places of other files are ignored
        """
        reverted = sorted(one for one in hunks if one.file == file)
        if not reverted or any(one.whole for one in reverted):
            return _content(self.before if reverted else self.after, file)
        old, lines = text_of(self.before, file) or [], text_of(self.after, file) or []
        for one in reversed(reverted):
            lines[one.new_first : one.new_last] = old[one.first : one.last]
        return "".join(lines)


def _by_line(hunk: Hunk) -> Iterator[Hunk]:
    """Yield a place for each line, if the number of lines stays the same; else the place itself."""
    count = hunk.last - hunk.first
    if hunk.whole or count != hunk.new_last - hunk.new_first:
        yield hunk
        return
    for at in range(count):
        first, new = hunk.first + at, hunk.new_first + at
        yield Hunk(hunk.file, first, first + 1, new, new + 1)


def _content(side: Side, file: str) -> bytes | None:
    if file not in side.files or side.files[file].startswith(("link:", "module:")):
        return None
    with open(os.path.join(side.top, file), "rb") as stream:
        return stream.read()
