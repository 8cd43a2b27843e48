"""What a change changes: who is asked, on how many sides, and how the answers are grouped.

    impact(before, after, request, how) -> Impact

It knows dialects by their contract only and prints nothing.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from nodeattrs.contract.dialect import Opened
from nodeattrs.contract.reading import EVERYTHING
from nodeattrs.contract.request import AS_IT_IS, Request
from nodeattrs.contract.sharing import compute_samples
from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import spell, strict_key
from nodeattrs.dialects import every, named
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.verbs.because import Because
from nodeattrs.verbs.comparing import (
    NO_ANSWER,
    ChangedSetting,
    Difference,
    Effect,
    Job,
    SubjectComparison,
    Task,
    Value,
    compared,
    key_of,
)
from nodeattrs.verbs.hunks import Hunks, Line
from nodeattrs.workers.batches import each

NOT_READ = "is read by no dialect"
"""The outcome of a changed file that no dialect reads."""

_MOST_AT_ONCE = 32
"""Subjects that a worker is handed together: handing one over costs more than an answer that is shared."""

_BATCHES = 64
"""The least number of batches, if there are enough subjects."""

_MOST_SETTINGS = 40
"""Changed lines that are looked after one by one."""


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """One change, and the subjects that have it.

    lines:    the changed lines that cause it; () where none was found
    tried:    whether one subject was computed without these lines, and the value was another one
    unsteady: whether the value differs at each computation
    elements: (removed, added) elements, where the lists of the subjects differ but change in the same way; `before`
              and `after` are then the values of the first subject
    unread:   places that were not read and may set the value
    """

    dialect: str
    kind: str
    path: TreePath
    before: Value
    after: Value
    lines: tuple[Line, ...]
    subjects: tuple[str, ...]
    tried: bool = False
    unsteady: bool = False
    elements: tuple[list[Any], list[Any]] | None = None
    unread: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """One of "added", "changed", "removed", "broken", "mended"."""
        if self.kind == NO_ANSWER:
            return "mended" if not self.after.is_there else "broken" if not self.before.is_there else "changed"
        return "added" if not self.before.is_there else "removed" if not self.after.is_there else "changed"

    @property
    def spelled(self) -> str:
        """The path, as people write it."""
        return spell(self.path) if self.kind != "resource" else ".".join(map(str, self.path))


@dataclass(frozen=True, slots=True)
class Silent:
    """A changed line that changes no value of any subject, since other lines override it.

    path:     the path that the line sets
    by:       the lines that override it
    subjects: the number of subjects on which they do
    """

    dialect: str
    line: Line
    path: TreePath
    by: tuple[str, ...]
    subjects: int


@dataclass(slots=True)
class DialectAnswers:
    """What one dialect was asked.

    known:   how many subjects there are; sampled: of how many it was, or None
    passed:  subjects of both sides, if the change is one of files
    shared:  subjects that share the answers of another one
    checked: of these, the ones that were computed in full as well; drawn with *seed*
    one_by_one: subjects that were computed in full, since one of their group had other answers
    both:    subjects that were resolved on both sides
    left:    subjects that were not asked, since the user interrupted
    bare:    subjects of whom no facts are known
    read:    changed files that a subject reads
    not_run: changed files that were not read, or not run, for a subject
    unseen:  changed files of the dialect that no subject reads
    left_out: changed files that may set values which no answer has
    doubtful: whether something was not read for a subject
    is_for_all: whether the change is no edit of files, and so may matter to each subject
    """

    dialect: str
    known: int = 0
    sampled: int | None = None
    passed: int = 0
    shared: int = 0
    checked: int = 0
    seed: int = 0
    one_by_one: int = 0
    both: int = 0
    left: int = 0
    bare: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unanswered: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    not_run: set[str] = field(default_factory=set)
    unseen: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    doubtful: bool = False
    is_for_all: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether its subjects are all that there are, at least one, and each could be resolved and was read whole."""
        has_facts = not self.bare or not named(self.dialect).facts_choose_files
        return self.known > 0 and has_facts and not self.unanswered and not self.doubtful

    @property
    def not_known(self) -> list[str]:
        """Subjects that may change, and could not be resolved."""
        is_touched = self.read or self.not_run or self.unseen or self.is_for_all
        return sorted(self.unanswered) if is_touched else []


@dataclass(slots=True)
class Impact:
    """The answer.

    files:  that differ, as they are seen from the folder that is asked
    changed: the same files, as they are seen from the top
    asked:  by dialect
    unread: files outside of the sides that were wanted and not read
    """

    before: str
    after: str
    files: tuple[str, ...] = ()
    asked: list[DialectAnswers] = field(default_factory=list)
    groups: list[ChangeGroup] = field(default_factory=list)
    silent: list[Silent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def subjects(self) -> set[tuple[str, str]]:
        """The subjects that have a change, each with its dialect."""
        found = {(group.dialect, name) for group in self.groups for name in group.subjects}
        return found | {(one.dialect, name) for one in self.asked for name in (*one.added, *one.removed)}

    @property
    def not_run(self) -> list[str]:
        """Changed files that were not read, or not run, and may set something."""
        return sorted({file for one in self.asked for file in one.not_run})

    @property
    def unseen(self) -> list[str]:
        """Changed files of a dialect that no subject reads, and that may matter to some.

        They may where not all subjects are known, or where no answer has what the file sets.
        """
        known = {file for one in self.asked for file in (*one.read, *one.not_run)}
        missed = {file for one in self.asked if not one.is_complete for file in one.unseen}
        return sorted((missed | {file for one in self.asked for file in one.left_out}) - known)

    @property
    def is_certain(self) -> bool:
        """Whether nothing that was not read, and no subject that could not be resolved, may have another change."""
        is_open = self.unread or self.not_run or self.unseen or self.doubtful
        return not (is_open or any(one.not_known for one in self.asked))

    @property
    def doubtful(self) -> list[ChangeGroup]:
        """The changes whose values a place may set that was not read."""
        return [group for group in self.groups if group.unread]

    def outcome(self, file: str) -> str:
        """The effect of a changed file, in words."""
        if any(line.file == file for group in self.groups for line in group.lines):
            return "changes values"
        if file in self.not_run:
            return "was not run, or not read"
        if any(file in one.read for one in self.asked):
            return "is read and changes nothing"
        if any(file in (*one.unseen, *one.left_out) for one in self.asked):
            return "is read by no subject"
        return NOT_READ

    @property
    def left(self) -> int:
        """The number of subjects that were not asked."""
        return sum(one.left for one in self.asked)


@dataclass
class Asking:
    """How the work is done, and how much of it.

    dialects: those that are asked; empty: all that are there
    sample:   ask so many subjects of each at most
    sharing:  whether subjects that have the same where an answer looked share it
    jobs:     processes; None: as a fleet has them
    private:  a folder of our own
    through:  takes the compared subjects, and may stop: (how many, what gives them, what takes one) -> how many
    """

    private: Path
    dialects: Sequence[str] = ()
    sample: int | None = None
    sharing: bool = True
    jobs: int | None = None
    through: Callable[..., int] | None = None


def impact(before: Side, after: Side, request: Request, how: Asking) -> Impact:
    """What changes from one side to the other.

    cost:   two answers for each group of subjects that share them, and for some of its members; one answer where the
            change touches nothing that was read; some more for each change, where several places may be meant
    raises: NotFound, where there is no subject; whatever a dialect raises before it has a subject
    """
    hunks = Hunks(before, after)
    found = Impact(
        before.title,
        after.title,
        notes=[*dict.fromkeys((*before.notes, *after.notes))],
    )
    for dialect in _chosen(before, after, request, how.dialects):
        _asked(dialect, before, after, request, how, hunks, found)
    found.changed = tuple(file for file in hunks.files if _counts(found, after, file))
    found.files = tuple(map(after.named, found.changed))
    return found


def _counts(found: Impact, side: Side, file: str) -> bool:
    """Whether a file lies in the folder that is asked, or matters to a subject all the same."""
    if not side.named(file).startswith(os.pardir):
        return True
    named = {line.file for group in found.groups for line in group.lines}
    return file in named or any(file in one.read for one in found.asked)


def _chosen(before: Side, after: Side, request: Request, names: Sequence[str]) -> list[str]:
    """The dialects that are there on one of the sides. raises: NotFound, BadArgument"""
    wanted = [named(name) for name in names] or every().values()
    found = [one.name for one in wanted if any(_is_there(one.open(side, request)) for side in (before, after))]
    if not found:
        hint = "name the folder that has their files: --repo DIR"
        raise NotFound("nothing to compare: there are no nodes and no data", hint=hint)
    return found


def _is_there(opened: Opened) -> bool:
    try:
        return opened.is_there
    except NodeattrsError:  # a settings file that cannot be read: the dialect reports it
        return True


def _asked(dialect: str, before: Side, after: Side, request: Request, how: Asking, hunks: Hunks, found: Impact) -> None:
    job = Job(dialect, before, after, request)
    job = job._replace(settings=tuple(_settings(job, hunks)))
    asked = DialectAnswers(dialect, is_for_all=request.what_if != AS_IT_IS)
    names, old, new = _subjects(job, found.notes)
    if how.sample is not None and len(names) > how.sample:
        asked.sampled = len(names)
        names = sorted(names, key=lambda name: hashlib.sha1(name.encode("utf-8", "replace")).digest())[: how.sample]
    asked.known = len(names)
    asked.added, asked.removed = (tuple(sorted(set(names) & (one - other))) for one, other in ((new, old), (old, new)))
    both = sorted(set(names) & old & new)
    asked.bare = _without_facts(job, both)
    asked.passed = 0 if asked.is_for_all else len(both)
    results: list[SubjectComparison] = []
    file = how.private / f"{dialect}.job"
    file.write_bytes(pickle.dumps(job))
    task = Task(str(file), not asked.is_for_all, how.sharing)
    asked.left += _each(task, both, how, results)
    if how.sharing:
        results = _shared(task, results, how, asked)
    asked.left += _each(Task(str(file), False), [*asked.added, *asked.removed], how, results)
    _take(results, asked, job, found, how, hunks)
    _note_files(asked, job, {one.reads for one in results if one.reads is not None}, hunks.files)
    found.asked.append(asked)


def _note_files(asked: DialectAnswers, job: Job, reads: Iterable[Iterable[str]], files: Sequence[str]) -> None:
    """Which changed files a subject reads, and which of the dialect no subject reads."""
    keys = {key for some in reads for key in some}
    is_open = EVERYTHING in keys or asked.added or asked.removed or asked.is_for_all
    for file in files:
        folder = f"{os.path.dirname(file)}/"
        if is_open or file in keys or (file not in job.before.files and folder in keys):
            asked.read.add(file)
    sides = [(job.opened(side), side) for side in (job.before, job.after)]
    if asked.unanswered:  # a subject that cannot be resolved may read any file that sets something
        asked.not_run |= {*_those([file for file in files if file not in asked.read], sides, _sets)}
    if job.request.nodes or asked.sampled is not None:
        return  # the caller wants to know of some subjects only
    left = [file for file in files if file not in asked.read | asked.not_run]
    asked.unseen, asked.left_out = _those(left, sides, _covers), _those(left, sides, _leaves_out)


def _those(
    files: Iterable[str], sides: Iterable[tuple[Opened, Side]], asks: Callable[[Opened, str], bool]
) -> tuple[str, ...]:
    """The files for which *asks* is true on one of the sides that have them."""
    return tuple(file for file in files if any(file in side.files and asks(opened, file) for opened, side in sides))


def _covers(opened: Opened, file: str) -> bool:
    try:
        return opened.covers(file)
    except NodeattrsError:  # settings that cannot be read: the subjects say so
        return True


def _sets(opened: Opened, file: str) -> bool:
    try:
        return any(True for _ in opened.settings(file))
    except NodeattrsError:  # one that cannot be read may set anything
        return True


def _leaves_out(opened: Opened, file: str) -> bool:
    try:
        return opened.leaves_out(file)
    except NodeattrsError:  # an inventory that cannot be read: its hosts are not known
        return True


def _subjects(job: Job, notes: list[str]) -> tuple[list[str], set[str], set[str]]:
    """All subjects, and the subjects of each side. raises: NodeattrsError, where neither side can list them"""
    sets: list[set[str]] = []
    errors: list[NodeattrsError] = []
    for side in (job.before, job.after):
        opened = job.opened(side)
        try:
            sets.append(set(opened.subjects()) if opened.is_there else set())
        except NodeattrsError as error:
            errors.append(error)
            sets.append(set())
            notes.append(f"{job.dialect}: {side.title} cannot list its subjects: {error}")
    if len(errors) == 2:
        raise errors[-1]
    wanted = set(job.request.nodes)
    if wanted:  # who has no name of its own answers to any
        sets = [wanted if one == {""} else one & wanted for one in sets]
    return sorted(sets[0] | sets[1]), sets[0], sets[1]


def _without_facts(job: Job, names: Iterable[str]) -> int:
    """The number of subjects of whom neither a file nor a last run has facts."""
    if not named(job.dialect).needs_facts:
        return 0
    opened = job.opened(job.before)
    latest = opened.revisions()
    return sum(opened.facts_file(name) is None and not latest.get(name) for name in names)


def _shared(
    task: Task, results: list[SubjectComparison], how: Asking, asked: DialectAnswers
) -> list[SubjectComparison]:
    """The results with the ones of subjects that share answers. Some of these are computed in full as well."""

    def compute(names: Sequence[str]) -> dict[str, SubjectComparison]:
        found: list[SubjectComparison] = []
        asked.left += _each(task._replace(sharing=False), names, how, found)
        return {one.name: one for one in found}

    own = {one.name: one for one in results if not one.like}
    like = {one.name: one.like for one in results if one.like}
    found = compute_samples(own, like, compute, SubjectComparison.has_answers_of)
    asked.shared, asked.checked, asked.one_by_one, asked.seed = found[1:]
    return [one if one.name == name else one.of(name) for name, one in found.answers.items()]


def _each(task: Task, names: Sequence[str], how: Asking, results: list[SubjectComparison]) -> int:
    """Ask the subjects; returns the number of those that were not asked."""
    if not names:
        return 0

    size = max(1, min(_MOST_AT_ONCE, len(names) // _BATCHES))
    batches = [names[start : start + size] for start in range(0, len(names), size)]

    def outcomes(stopping: Callable[[], bool]) -> Iterable[SubjectComparison]:
        return chain.from_iterable(each(partial(_compared, task), batches, jobs=how.jobs, stopping=stopping))

    if how.through is None:
        results += outcomes(lambda: False)
        return 0
    return len(names) - how.through(len(names), outcomes, results.append)


def _compared(task: Task, names: Sequence[str]) -> list[SubjectComparison]:
    found = []
    for name in names:
        found.append(compared(task, name))
        if not found[-1].like and not gc.isenabled():
            gc.collect(0)  # a worker does so at the end of many batches only
    return found


def _take(
    results: Sequence[SubjectComparison], asked: DialectAnswers, job: Job, found: Impact, how: Asking, hunks: Hunks
) -> None:
    groups: dict[Any, tuple[Difference, list[str], set[Any]]] = {}
    beside = {*asked.added, *asked.removed}
    effects: dict[ChangedSetting, list[Effect]] = defaultdict(list)
    for one in sorted(results, key=lambda one: one.name):
        asked.both += one.asked and one.name not in beside
        if one.failed:
            asked.unanswered[one.name] = one.failed
        asked.not_run |= one.unread
        asked.doubtful |= one.doubtful
        if one.name in beside:
            continue
        for effect in one.effects:
            effects[effect.setting].append(effect)
        for change in one.differences:
            values = key_of(change.before), key_of(change.after)
            elements = _elements(change)
            shown = values if elements is None else strict_key(elements)
            key = change.kind, change.path, shown, change.lines, change.unread
            _, names, seen = groups.setdefault(key, (change, [], set()))
            names.append(one.name)
            seen.add(values)
    because = Because(job, hunks, how.private)
    made = [
        ChangeGroup(
            job.dialect, change.kind, change.path, change.before, change.after, *because.of(change, names[0], names),
            elements=_elements(change) if len(seen) > 1 else None, unread=change.unread,
        )
        for change, names, seen in groups.values()
    ]  # fmt: skip
    found.groups += sorted(made, key=_order)
    named = {line for group in made for line in group.lines}
    found.silent += _silent(job.dialect, effects, named)


def _elements(change: Difference) -> tuple[list[Any], list[Any]] | None:
    """What of a list is gone, and what is new; None for other values, and where only the order is another."""
    old, new = change.before.data, change.after.data
    if not isinstance(old, list) or not isinstance(new, list) or change.before.is_secret or change.after.is_secret:
        return None
    gone, more = _only_in(old, new), _only_in(new, old)
    return (gone, more) if gone or more else None


def _only_in(one: list[Any], other: list[Any]) -> list[Any]:
    left = Counter(map(strict_key, other))
    found = []
    for entry in one:
        key = strict_key(entry)
        if left[key] > 0:
            left[key] -= 1
        else:
            found.append(entry)
    return found


def _order(group: ChangeGroup) -> tuple[Any, ...]:
    kinds = (NO_ANSWER, "attribute", "key", "variable", "value", "resource")
    return kinds.index(group.kind) if group.kind in kinds else 9, -len(group.subjects), group.spelled, group.subjects


def _silent(dialect: str, effects: dict[ChangedSetting, list[Effect]], named: set[Line]) -> Iterator[Silent]:
    """The changed settings that no subject has, since other lines override them everywhere."""
    for setting, its in effects.items():
        if setting.line not in named and all(effect.by is not None for effect in its):
            by = tuple(sorted({str(effect.by) for effect in its}))
            yield Silent(dialect, setting.line, its[0].path, by, len(its))


def _settings(job: Job, hunks: Hunks) -> Iterator[ChangedSetting]:
    """The changed lines that set something, with the paths in their documents."""
    left = _MOST_SETTINGS
    kept: set[tuple[str, TreePath]] = set()
    for is_gone, side in ((False, hunks.after), (True, hunks.before)):
        opened = job.opened(side)
        for file in hunks.files:
            for setting in opened.settings(file) if file in side.files else ():
                if not is_gone:
                    kept.add((file, setting.path))
                elif (file, setting.path) in kept:
                    continue  # its line on the side after is in the list
                if left > 0 and hunks.at(file, setting.line, is_gone=is_gone) is not None:
                    left -= 1
                    yield ChangedSetting(Line(file, setting.line, is_gone), setting.path)
