"""Where a Ruby file sets a value: the line that Ruby names, and the line of a literal that is written over several.

The helper sends what its parser knows of each statement that sets something; here it is judged and looked up. Ruby
names some line of a statement; the statement itself begins at its first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path

__all__ = ["RubyPlace", "Statement", "statements"]


class Statement(NamedTuple):
    """A statement that sets something.

    first, last: its lines
    column:      where it begins
    entries:     path in the literal that it sets -> line and column
    """

    first: int
    last: int
    column: int
    entries: dict[Path, tuple[int, int]]


def statements(given: Any) -> tuple[Statement, ...]:
    """The statements of a file, as the helper sent them. raises: ValueError, TypeError, where they are not that"""
    return tuple(
        Statement(_number(first), _number(last), _number(column), {_path(path): _place(at) for path, *at in entries})
        for first, last, column, entries in given
    )


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("a line is a number")
    return value


def _place(at: Any) -> tuple[int, int]:
    line, column = at
    return _number(line), _number(column)


def _path(steps: Any) -> Path:
    return tuple(step if type(step) is int else str(step) for step in steps)


class RubyPlace:
    """A line of an attribute file in Ruby that set something.

    origin: with the line that Ruby names
    known:  the statements of the file
    """

    __slots__ = ("_known", "_origin")

    def __init__(self, origin: Origin, known: tuple[Statement, ...]) -> None:
        self._origin = origin
        self._known = known

    @property
    def name(self) -> str:
        """Of the attribute file that runs, or ran."""
        return self._origin.name

    def at(self, path: Path) -> Origin:
        """Where the statement says *path*: the deepest entry of its literal that is on the way, else its beginning."""
        line = self._origin.line or 0
        covering = [one for one in self._known if one.first <= line <= one.last]
        if not covering:
            return self._origin
        statement = min(covering, key=lambda one: one.last - one.first)
        ways = (path[:length] for length in range(len(path), 0, -1))
        found = next((statement.entries[way] for way in ways if way in statement.entries), None)
        return self._origin.moved(*(found or (statement.first, statement.column)))
