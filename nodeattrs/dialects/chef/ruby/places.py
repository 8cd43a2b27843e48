"""Find where a Ruby file sets a value: the place inside the literal of a statement, which may have several lines.

Ruby names one line of a statement, not always the first. Before a file runs, the helper sends the lines of each
statement that sets something, with the places in its literal. This module checks these messages, and looks places up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path


class Statement(NamedTuple):
    """A Ruby statement that sets attributes.

    first, last: its first and last line
    column:      the column where it begins
    entries:     path in its literal -> line and column; {} without a literal
    """

    first: int
    last: int
    column: int
    entries: dict[Path, tuple[int, int]]


def statements(given: Any) -> tuple[Statement, ...]:
    """The statements of a file, from a message of the helper: (first, last, column, entries) for each.

    raises: ValueError or TypeError, for a message of another shape
    """
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
    """A locator for the attributes that one line of a Ruby file sets. `at` finds places inside the statement there.

    origin: the file, and the line that Ruby names
    known:  the statements of the file
    """

    origin: Origin
    known: tuple[Statement, ...]

    def at(self, path: Path) -> Origin:
        """The place of *path* in the literal of the statement at the line, or else of the nearest map above it.

        If the literal has neither, the start of the statement. If no known statement has the line, `origin`. Of several
        statements the shortest counts.
        path: inside the value that the line sets
        """
        line = self.origin.line or 0
        covering = [one for one in self.known if one.first <= line <= one.last]
        if not covering:
            return self.origin
        statement = min(covering, key=lambda one: one.last - one.first)
        for length in range(len(path), 0, -1):
            if path[:length] in statement.entries:
                return self.origin.moved(*statement.entries[path[:length]])
        return self.origin.moved(statement.first, statement.column)
