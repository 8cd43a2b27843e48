"""Where a Ruby file sets a value: the line that Ruby names, and the line of a literal that is written over several.

The helper sends what its parser knows of each statement that sets something; here it is judged and looked up. Ruby
names some line of a statement; the statement itself begins at its first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path


class Statement(NamedTuple):
    """A Ruby statement that sets attributes.

    first, last: its lines
    column:      its first column
    entries:     path in its literal -> line and column
    """

    first: int
    last: int
    column: int
    entries: dict[Path, tuple[int, int]]


def statements(given: Any) -> tuple[Statement, ...]:
    """The statements of a file, from a message of the helper. raises: ValueError, TypeError, for a bad message"""
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


@dataclass(frozen=True, eq=False, slots=True)
class RubyPlace:
    """A locator for the attributes that one line of a Ruby attribute file sets.

    origin: the file, and the line that Ruby names
    known:  the statements of the file
    """

    origin: Origin
    known: tuple[Statement, ...]

    def at(self, path: Path) -> Origin:
        """The place of *path* in the literal of the statement: its deepest known entry, else the start of the
        statement."""
        line = self.origin.line or 0
        covering = [one for one in self.known if one.first <= line <= one.last]
        if not covering:
            return self.origin
        statement = min(covering, key=lambda one: one.last - one.first)
        ways = (path[:length] for length in range(len(path), 0, -1))
        found = next((statement.entries[way] for way in ways if way in statement.entries), None)
        return self.origin.moved(*(found or (statement.first, statement.column)))
