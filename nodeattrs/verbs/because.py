"""Find the changed lines that cause a difference, by computing answers without some of the changed places.

A *place* is a `Hunk` of the change. A place is a cause if undoing it alone, in the files after the change, gives
another value. Where several places give the same value, a place is also a cause if making it alone, in the files
before, gives another value. If no single place is a cause, a few places that are a cause together count. The module
knows places and answers, and no dialect.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from nodeattrs.contract.answers import Answered
from nodeattrs.contract.reading import EVERYTHING, watched
from nodeattrs.contract.request import AS_IT_IS
from nodeattrs.contract.sides import Side
from nodeattrs.contract.written_sides import copy_side, write_file
from nodeattrs.core.code import held_back
from nodeattrs.core.tree import overlap
from nodeattrs.verbs.comparing import NO_ANSWER, Difference, Job, answered, differences
from nodeattrs.verbs.hunks import Hunk, Line

_MOST = 200
"""Answers that are computed for one dialect; further differences keep the lines that traces name."""


class CausingLines(NamedTuple):
    """The changed lines that cause a difference.

    lines:     () where none was found
    is_tried:  whether the value was computed without these lines, and was another one
    is_random: whether the value is another one each time it is computed
    """

    lines: tuple[Line, ...]
    is_tried: bool = False
    is_random: bool = False


class CauseSearch:
    """The search for the causes of differences, for one dialect. It computes at most 200 answers in all.

    Call `lines_of` for each difference. The constructor computes nothing. `lines_of` copies the files of the side after
    into a folder, once, and then changes single places there back to the side before. It keeps computed answers. If no
    answers are left, it returns the lines that the traces name.
    job:     the dialect and the two sides
    private: an existing folder that no other code writes to
    """

    def __init__(self, job: Job, private: Path) -> None:
        self._job, self._hunks = job, job.hunks
        self._folder = private / f"{job.dialect}.tried"
        self._left = _MOST
        self._answers: dict[tuple[str, str, frozenset[Hunk]], Answered] = {}
        self._again: dict[str, list[Difference]] = {}  # by subject: where two answers of the side after differ
        self._reverted_files: set[str] = set()
        self._read_by: dict[str, list[Hunk]] = {}

    @cached_property
    def _all(self) -> list[Hunk]:
        return [hunk for hunks in self._hunks.all.values() for hunk in hunks]

    def lines_of(self, change: Difference, subject: str) -> CausingLines:
        """The changed lines that cause a difference of a subject.

        If the value changes when it is computed again, there are no lines, and `is_random` is True. If no place is
        changed, the result has the lines that the traces name, and `is_random` is True. If only one place is changed,
        it is the cause, since the side before is the side after without it. The value is then computed again only if
        no trace names a line. For a what-if, or without a cause or answers left, the result has the lines that the
        traces name. `is_tried` is then False.
        """
        if self._job.request.what_if != AS_IT_IS:
            return CausingLines(change.lines)
        if not self._all:
            return CausingLines(change.lines, is_random=True)
        if len(self._all) == 1:
            if not change.lines and self._is_random(change, subject):
                return CausingLines((), is_random=True)
            return CausingLines(change.lines or (self._hunks.line_of(self._all[0]),), is_tried=True)
        if self._left <= 0:
            return CausingLines(change.lines)
        places = [(self._hunks.at(one.file, one.line, is_gone=one.is_gone), one) for one in change.lines]
        by_trace = {place: line for place, line in places if place is not None}
        others = [one for one in self._places_read_by(subject) if one not in by_trace]
        if self._has_value_of(self._job.after, change, subject, frozenset()) is False:
            return CausingLines((), is_random=True)
        causes = self._causes(change, subject, [*by_trace], others)
        lines = tuple(by_trace.get(hunk) or self._hunks.line_of(hunk) for hunk in causes)
        return CausingLines(lines or change.lines, is_tried=bool(causes))

    def _causes(self, change: Difference, subject: str, by_trace: list[Hunk], others: list[Hunk]) -> list[Hunk]:
        """The places that are causes: all of *by_trace* that are one; else all of *others*; else a few together."""
        if len(by_trace) + len(others) == 1:
            return [*by_trace, *others]
        everything = frozenset(self._all)
        before, after = self._job.before, self._job.after
        for places in (by_trace, others):
            for side, reverted in (
                (after, lambda place: frozenset({place})),
                (before, lambda place: everything - {place}),
            ):
                found = [one for one in places if self._has_value_of(side, change, subject, reverted(one)) is False]
                if found:
                    return found
        return self._joint_causes(change, subject, [*by_trace, *others])

    def _joint_causes(self, change: Difference, subject: str, places: list[Hunk]) -> list[Hunk]:
        """A few places that change the value if they are undone together; [] if undoing all of *places* does not."""
        after = self._job.after
        if self._has_value_of(after, change, subject, frozenset(places)) is not False:
            return []
        for one in [*places]:
            fewer = [other for other in places if other is not one]
            if fewer and self._has_value_of(after, change, subject, frozenset(fewer)) is False:
                places = fewer
        return places

    def _places_read_by(self, subject: str) -> list[Hunk]:
        """The places in files that the subject reads on either side."""
        if subject not in self._read_by:
            keys: set[str] = set()
            for side in (self._job.before, self._job.after):
                self._left -= 1
                with held_back(not self._job.request.run_code), watched(side) as found:
                    answered(self._job.opened(side), subject)
                keys |= found()
            self._read_by[subject] = [one for one in self._all if EVERYTHING in keys or _is_read(one.file, keys)]
        return self._read_by[subject]

    # --- computing answers

    def _is_random(self, change: Difference, subject: str) -> bool:
        """Whether two answers of the side after differ where *change* is; False if no answers are left."""
        after = self._job.after
        if subject not in self._again and self._left > 1:
            self._left -= 2
            with held_back(not self._job.request.run_code):
                one, other = (answered(self._job.opened(after), subject) for _ in range(2))
                self._again[subject] = [*differences(one, other, (str(after.top), str(after.top)))]
        again = self._again.get(subject, ())
        return any(one.kind == change.kind and overlap(one.path, change.path) for one in again)

    def _has_value_of(self, side: Side, change: Difference, subject: str, reverted: frozenset[Hunk]) -> bool | None:
        """Whether the value with some places undone, in the files after, is the value of a side; None: not known."""
        expected, answer = self._answer(subject, side), self._answer(subject, self._side, reverted)
        if expected is None or answer is None or (NO_ANSWER in answer and change.kind != NO_ANSWER):
            return None
        found = differences(expected, answer, (str(side.top), str(self._side.top)))
        return not any(one.kind == change.kind and overlap(one.path, change.path) for one in found)

    def _answer(self, subject: str, side: Side, reverted: frozenset[Hunk] = frozenset()) -> Answered | None:
        key = subject, str(side.top), reverted
        if key not in self._answers:
            if self._left <= 0:
                return None
            self._left -= 1
            if side is self._side:
                self._revert(reverted)
            with held_back(not self._job.request.run_code):
                self._answers[key] = answered(self._job.opened(side), subject)
        return self._answers[key]

    @cached_property
    def _side(self) -> Side:
        """A copy of the side after, in which `_revert` changes files."""
        return copy_side(self._job.after, self._folder)

    def _revert(self, reverted: frozenset[Hunk]) -> None:
        files = {one.file for one in reverted}
        for file in {*files, *self._reverted_files}:
            write_file(self._side, file, self._hunks.without([*reverted], file))
        self._reverted_files = files


def _is_read(file: str, keys: set[str]) -> bool:
    """Whether the file, or a folder above it, is among the keys of what was read."""
    steps = file.split("/")
    above = ("/".join(steps[:at]) for at in range(len(steps)))
    return file in keys or any(f"{folder}/" in keys for folder in above)
