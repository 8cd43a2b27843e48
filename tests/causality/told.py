"""What an explanation says of one leaf, in terms of the settings that its rows name."""

from __future__ import annotations

from typing import Any

from tests.causality import words
from tests.causality.case import Case
from tests.causality.system import Files, Setting
from tests.causality.values import Changes, Path, dig, texts

__all__ = ["Told"]


class Told:
    """What is told of one leaf.

    wins:       the settings whose value is read
    part:       those that were read on the way, or continued, and can be seen in the value
    perhaps:    those of which another part may have been read
    overridden: those that are said to change nothing
    beside:     those on a line whose key, and no value, is read: of a map that was appended to a list
    bare:       rows of winners whose line holds no setting
    is_unclear: whether equal values on one line cannot be told apart
    is_vague:   whether something was read of which nobody knows who set it
    is_placed:  whether every winner's line could be found; nothing more is asked otherwise
    """

    def __init__(self, case: Case, path: Path, rows: list[words.Row]) -> None:
        self.case = case
        self.path = path
        self.value = dig(case.value, path)
        self.rows = rows
        continued = self._meaning(words.CONTINUED)
        self.winners = self._meaning(words.WINS) or continued
        self.bare = [row for row in self.winners if row.file and not case.named(row)]
        named = [case.named(row, self.value) for row in self.winners]
        self.is_unclear = any(len({one.old for one in found}) < len(found) for found in named)
        self.is_vague = False
        self.is_placed = bool(self.winners) and all(row.line is not None for row in self.winners)
        self.wins = {one for found in named for one in found}
        self.beside: set[Setting] = set()
        self._take_apart()
        self.part = {one for row in self._meaning(words.READ) for one in case.named(row)} - self.wins
        self.part |= self._seen_before()
        seen = {one for row in [*continued, *self._meaning(words.SEEN)] for one in case.named(row)} - self.wins
        seen |= (self._seen_in_part_before() | self._seen_then()) - self.wins
        self.part |= {one for one in seen if one.shown in texts(self.value)}
        self.perhaps = seen - self.part
        self.overridden = {
            one for row in self._meaning(words.OVERRIDDEN) for one in case.named(row) if _may_say(row, one)
        }
        self.statements = {case.statement(row) for row in self.bare if case.is_computed(row)}

    def _take_apart(self) -> None:
        """Leave only what can be seen in the value."""
        if self.value is None or isinstance(self.value, (bool, dict, list)):
            self.wins = {one for one in self.wins if one.shown == repr(self.value)}
        elif isinstance(self.value, str) and not any(one.shown in texts(self.value) for one in self.wins):
            self.wins, self.beside = set(), self.wins

    def _seen_then(self) -> set[Setting]:
        """What was read when the value was set: something else may be there now."""
        rows = (row for read in self._meaning(words.SEEN) for row in read.within)
        return {one for row in rows if row.means in (words.WINS, words.CONTINUED) for one in self.case.named(row)}

    def _seen_before(self) -> set[Setting]:
        """What was read on the way before somebody set another value there: it is overridden there by now, and seen."""
        rows = (row for row in self._before() if not isinstance(row.value, (dict, list)))
        return {one for row in rows for one in self.case.named(row) if one.shown in texts(self.value)} - self.wins

    def _seen_in_part_before(self) -> set[Setting]:
        """The same of maps and lists, whose entries stand on lines of their own."""
        rows = [row for row in self._before() if isinstance(row.value, (dict, list))]
        mine = (
            one for row in rows for one in self.case.settings if one.file == row.file and one.shown in texts(row.value)
        )
        return {one for one in mine if one.shown in texts(self.value)}

    def _before(self) -> list[words.Row]:
        then = [row for row in self._meaning(words.SEEN) if str(row.value) not in texts(self.value)]
        return [one for row in then for one in row.within if one.means in (words.OVERRIDDEN, words.ERASED)]

    def _meaning(self, word: str) -> list[words.Row]:
        return [row for row in self.rows if row.means == word]

    @property
    def known(self) -> set[Setting]:
        """All that may change the value, and is told to."""
        return self.wins | self.part | self.perhaps | self.beside

    @property
    def is_element(self) -> bool:
        """Whether the path leads through a list."""
        return any(isinstance(step, int) for step in self.path)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the value that a line could say."""
        return self.value in ({}, [])

    @property
    def equal(self) -> bool:
        """Whether several lines set the same."""
        return len(self.wins) > 1 and len({one.old for one in self.wins}) == 1

    def next(self, files: Files, further: bool = False, hidden: bool = False) -> words.Row | None:
        """Whom the explanation calls next, where of the winner what is not in some files is gone.

        further: whether an `unless` that looked at what holds the path finds nothing there
        hidden:  whether the map of another source hides what the same one said before
        """
        return words.next_in_line(self.rows, lambda row: self.case.is_gone(row, files), further, hidden)

    @property
    def readings(self) -> list[Path]:
        """The paths that were read on the way."""
        return [row.path for row in self._meaning(words.SEEN) if row.file is None]

    def in_group(self, what: Changes) -> bool:
        """Whether it is one of several equal elements."""
        return any(self.path in members for members in what.groups)

    def holds_down(self, gone: set[Setting]) -> list[words.Row]:
        """The rows that are said to be overridden by what is gone: by its rank, or in the history by its line.

        Of what was read on the way, too: that is another value then. An `unless` that found something says of itself
        that it speaks when it finds nothing.
        """
        rows = self._all_rows()
        overridden = [row for row in rows if row.means == words.OVERRIDDEN]
        ranks = {row.rank for row in overridden if gone.intersection(self.case.named(row))}
        earlier = [
            row for row in overridden if row.eraser is not None and gone.intersection(self.case.named(row.eraser))
        ]
        silent = [row for row in overridden if row.word == "silent"]
        return [row for row in overridden if ranks.intersection(row.by)] + earlier + silent

    def beats_others(self, gone: set[Setting]) -> bool:
        """Whether others are said to be overridden by what is gone, and by nobody else."""
        ranks = {row.rank for row in self._meaning(words.OVERRIDDEN) if gone.intersection(self.case.named(row))}
        return any(row.by and ranks.issuperset(row.by) for row in self._meaning(words.OVERRIDDEN))

    def is_held(self, gone: set[Setting], files: Files) -> bool:
        """Whether something of what is gone is said to hold a map here, or was the last that this map had."""
        holding = [row for row in self._all_rows() if row.means == words.HOLDS]
        return any(
            gone.intersection(self.case.named(row))
            or self.case.touches(row, files)
            or any(one.file == row.file and one.shown in texts(row.value) for one in gone)
            for row in holding
        )

    def _all_rows(self) -> list[words.Row]:
        return [*self.rows, *(row for read in self._meaning(words.SEEN) for row in read.within)]

    def __repr__(self) -> Any:
        return f"<Told of {'.'.join(map(str, self.path))}: {self.rows}>"


def _may_say(row: words.Row, one: Setting) -> bool:
    """Whether a setting on the line of a row may be what that tells: of a map or list, if it can be seen in it.

    Entries that came later stand on other lines; what stands beside it on its own is another one's.
    """
    return not isinstance(row.value, (dict, list)) or one.shown in texts(row.value)
