"""Because of which lines a value is another one: what traces name is tried, where several places may be meant.

A place of a change is a cause if the value is another without it, all else as it is after the change; or, where
several give the same, if the value before is another with it alone. It knows places and answers, and no dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.contract.answers import Answered
from nodeattrs.contract.reading import EVERYTHING, watched
from nodeattrs.contract.request import AS_IT_IS
from nodeattrs.contract.sides import Side, copy_side, write_file
from nodeattrs.core.code import held_back
from nodeattrs.verbs.comparing import NO_ANSWER, Difference, Job, answered, differences
from nodeattrs.verbs.hunks import Hunk, Hunks, Line

_MOST = 200
"""Answers that are tried for one dialect; what is named beyond stands in the traces, and is not tried."""

_Tried = tuple[tuple[Line, ...], tuple[str, ...], bool, bool]


class Because:
    """The trials of one dialect.

    private: a folder of our own, for a side on which some places are as before
    """

    def __init__(self, job: Job, hunks: Hunks, private: Path) -> None:
        self._job, self._hunks = job, hunks
        self._place = private / f"{job.dialect}.tried"
        self._left = _MOST
        self._answers: dict[tuple[str, str, frozenset[Hunk]], Answered] = {}
        self._changed: set[str] = set()
        self._meant: dict[str, list[Hunk]] = {}

    @cached_property
    def _all(self) -> list[Hunk]:
        return [hunk for hunks in self._hunks.all.values() for hunk in hunks]

    def of(self, change: Difference, subject: str, subjects: Sequence[str]) -> _Tried:
        """The lines of a group: lines, subjects, whether they were tried, whether the answer is another each time."""
        lines, names = change.lines, tuple(subjects)
        if self._job.request.what_if != AS_IT_IS or not self._all:
            return lines, names, False, not self._all and self._job.request.what_if == AS_IT_IS
        if len(self._all) == 1:
            return lines or (self._hunks.line_of(self._all[0]),), names, True, False
        if self._left <= 0:
            return lines, names, False, False
        by_trace = {hunk: line for line in lines if (hunk := self._at(line)) is not None}
        meant = self._meant_by(subject)
        if self._is(change, subject, frozenset(), after=True) is False:
            return (), names, False, True
        found = self._causes(change, subject, [*by_trace, *(one for one in meant if one not in by_trace)], by_trace)
        named = tuple(by_trace.get(hunk) or self._hunks.line_of(hunk) for hunk in found)
        return named or lines, names, bool(found), False

    def _at(self, line: Line) -> Hunk | None:
        return self._hunks.at(line.file, line.line, is_gone=line.is_gone)

    def _causes(self, change: Difference, subject: str, meant: Sequence[Hunk], first: dict[Hunk, Line]) -> list[Hunk]:
        """The places that are causes: of those that traces name all, else the first other one, else all together."""
        if len(meant) == 1:
            return [*meant]
        everything = frozenset(self._all)
        for some in ([one for one in meant if one in first], [one for one in meant if one not in first]):
            for reverted, after in (
                (lambda one: frozenset({one}), True),
                (lambda one: everything - {one}, False),
            ):
                found = [one for one in some if self._is(change, subject, reverted(one), after=after) is False]
                if found:
                    return found
        return self._together(change, subject, [*meant])

    def _together(self, change: Difference, subject: str, meant: list[Hunk]) -> list[Hunk]:
        """The fewest places, one taken away after the other, without which together the value is another."""
        if self._is(change, subject, frozenset(meant), after=True) is not False:
            return []
        for one in [*meant]:
            fewer = [other for other in meant if other is not one]
            if fewer and self._is(change, subject, frozenset(fewer), after=True) is False:
                meant = fewer
        return meant

    def _meant_by(self, subject: str) -> list[Hunk]:
        """The places in files that the subject looks at on either side."""
        if subject not in self._meant:
            keys: set[str] = set()
            for side in (self._job.before, self._job.after):
                self._left -= 1
                with held_back(not self._job.request.run_code), watched(side) as found:
                    answered(self._job.opened(side), subject)
                keys |= found()
            self._meant[subject] = [one for one in self._all if EVERYTHING in keys or self._is_seen(one.file, keys)]
        return self._meant[subject]

    def _is_seen(self, file: str, keys: set[str]) -> bool:
        steps = file.split("/")
        above = ("/".join(steps[:at]) for at in range(len(steps)))
        return file in keys or any(f"{folder}/" in keys for folder in above)

    # --- trying

    def _is(self, change: Difference, subject: str, reverted: frozenset[Hunk], *, after: bool) -> bool | None:
        """Whether the value is that of a side still, with some places as before; None where that is not known."""
        side = self._job.after if after else self._job.before
        expected, answer = self._answer(subject, side), self._answer(subject, self._side, reverted)
        if expected is None or answer is None or (NO_ANSWER in answer and change.kind != NO_ANSWER):
            return None
        found = differences(expected, answer, (str(side.top), str(self._side.top)))
        return not any(one.kind == change.kind and _touch(one.path, change.path) for one in found)

    def _answer(self, subject: str, side: Side, reverted: frozenset[Hunk] = frozenset()) -> Answered | None:
        key = subject, str(side.top), reverted
        if key not in self._answers:
            if self._left <= 0:
                return None
            self._left -= 1
            if side is self._side:
                self._lay(reverted)
            with held_back(not self._job.request.run_code):
                self._answers[key] = answered(self._job.opened(side), subject)
        return self._answers[key]

    @cached_property
    def _side(self) -> Side:
        """The side after, laid once more, to be changed."""
        return copy_side(self._job.after, self._place)

    def _lay(self, reverted: frozenset[Hunk]) -> None:
        files = {one.file for one in reverted}
        for file in {*files, *self._changed}:
            write_file(self._side, file, self._hunks.without([*reverted], file))
        self._changed = files


def _touch(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether one of two paths leads to the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
