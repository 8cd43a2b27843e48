"""Find the lines below a key, and the lines around a line of a file, by indentation.

No syntax is parsed, so the functions serve data files and code. In files with sections in brackets, the lines of a
section count as below its heading. Used by `lines`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_NOTHING = re.compile(r"\s*(?:$|#|//|[\])}]+[,;]?\s*$)")
"""A line that sets nothing: empty, a comment, or closing brackets alone."""

_HEADING = re.compile(r"\[.*\]\s*(?:[#;].*)?$")


def lines_below(text: Sequence[str], line: int) -> range:
    """The numbers of the lines below a line that are indented more, or belong to the section of a heading.

    text: the lines of the file; line: counts from 1. An empty range for an empty line, a comment or a bracket, and for
    a line that is not there.
    """
    if not _is_code(text, line):
        return range(0)
    stop = line + 1
    for number in range(line + 1, len(text) + 1):
        if _is_code(text, number):
            if not _is_inside(text, number, line):
                break
            stop = number + 1
    return range(line + 1, stop)


def lines_outwards(text: Sequence[str], line: int) -> Iterator[int]:
    """Yield the numbers of the lines that enclose a line, the nearest first: the key of its map, then the key above.

    An enclosing line is above and indented less, or is the heading of the section. The key of a YAML list also encloses
    elements that are indented as the key. Nothing is yielded for an empty line, a comment, a bracket, a missing line,
    and a line at the top.
    text: the lines of the file
    line: counts from 1
    """
    if not _is_code(text, line):
        return
    inner = line
    for number in range(line - 1, 0, -1):
        if _is_code(text, number) and _is_inside(text, inner, number):
            yield number
            inner = number


def _is_code(text: Sequence[str], line: int) -> bool:
    return 0 < line <= len(text) and not _NOTHING.match(text[line - 1])


def _is_inside(text: Sequence[str], inner: int, outer: int) -> bool:
    """Whether a line is indented more than a line above it. An element of a YAML list may be indented as its key is."""
    one, other = text[inner - 1], text[outer - 1]
    if _HEADING.match(other):
        return not _HEADING.match(one)
    one_indent, other_indent = _indent(one), _indent(other)
    is_element = one.lstrip().startswith("- ") and not other.lstrip().startswith("- ")
    return one_indent > other_indent or (is_element and one_indent == other_indent)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
