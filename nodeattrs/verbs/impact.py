"""Compute what a change changes: compare all subjects on two sides, and group equal differences.

    impact(before, after, request, how) -> Impact

A *side* is one version of the files. The module knows dialects by their contract only and prints nothing;
`impact_report` prints the result.
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
from itertools import chain, islice
from pathlib import Path
from typing import Any

from nodeattrs.contract.caller import one_by_one
from nodeattrs.contract.dialect import Opened
from nodeattrs.contract.reading import EVERYTHING
from nodeattrs.contract.request import AS_IT_IS, Request
from nodeattrs.contract.sharing import compute_samples
from nodeattrs.contract.sides import Side
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import spell, strict_key
from nodeattrs.dialects import all_dialects, named
from nodeattrs.errors import NodeattrsError, NotFound
from nodeattrs.verbs.because import CauseSearch
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
    value_key,
)
from nodeattrs.verbs.hunks import Hunks, Line
from nodeattrs.workers.batches import Workers, each, open_workers

NOT_RUN = "was not run, or names what was not read"
"""The outcome of a changed file that was not run, or has a line that names a file, program or variable not read."""
NOT_READ = "is read by no dialect"
"""The outcome of a changed file that no dialect reads."""

_MOST_AT_ONCE = 32
"""The most subjects in a batch for a worker: handing a batch over costs more than an answer that is shared."""

_BATCHES = 64
"""The least number of batches, if there are enough subjects."""

_NOTHING = "nothing to compare: there are no nodes and no data"
_HINT = "name their folder, --repo DIR, or an inventory, -i SOURCE; `nodeattrs` alone says what lies here"

_MOST_SETTINGS = 40
"""The most changed lines whose effects are looked for; the effects of further ones are not reported."""


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """A difference, and the subjects that all have it. `impact` makes it.

    `sign` is "added", "changed" or "removed"; for an error "broken" or "mended". `spelled` is the path as text.
    dialect:  the dialect of the subjects
    kind:     the kind of value: "attribute", "resource", "key", ...; NO_ANSWER: the subjects cannot be resolved
    path:     the path of the value
    before, after: the values on both sides
    lines:    the changed lines that cause it; () if none was found
    subjects: the names of the subjects
    tried:    True: the value of one subject was computed without these lines, and was different
    unsteady: True: the value differs each time it is computed, without any change of files
    elements: (removed, added) elements, if the subjects have different lists that lose and get the same elements;
              *before* and *after* are then the lists of the first subject. None: any other change
    unread:   places that were not read and may set the value, of all subjects
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
        """One of "added", "changed", "removed"; of errors "broken" for a new one, "mended" for one that is gone."""
        is_error = self.kind == NO_ANSWER
        if not self.before.is_there:
            return "broken" if is_error else "added"
        if not self.after.is_there:
            return "mended" if is_error else "removed"
        return "changed"

    @property
    def spelled(self) -> str:
        """The path as text; of a resource, "File[/etc/motd].content", without quotes."""
        return spell(self.path) if self.kind != "resource" else ".".join(map(str, self.path))


@dataclass(frozen=True, slots=True)
class LineWithoutEffect:
    """A changed line that changes no value of any subject, since other lines override it everywhere.

    dialect:       the dialect of the subjects
    line:          the changed line
    path:          the path that the line sets
    overridden_by: the lines that override it, in words
    subject_count: the number of subjects on which these lines override it
    """

    dialect: str
    line: Line
    path: TreePath
    overridden_by: tuple[str, ...]
    subject_count: int


@dataclass(slots=True)
class DialectAnswers:
    """What was computed in one dialect, in numbers, and which changed files matter to it. `impact` fills it.

    The numbers are numbers of subjects, except for *seed*. `not_known` has the names of subjects that cannot be
    resolved; [] if no changed file matters to the dialect.
    known:      subjects that are compared; with --sample, only the sample
    sampled:    all subjects, if only a sample is compared; None: there is no sample
    shared:     subjects that share the answers of another subject
    checked:    subjects that share answers and were computed as well, to check; *seed* is the seed of this random
                choice
    one_by_one: subjects that were computed because a check in their group failed
    left:       subjects that were not computed, because the user interrupted
    bare:       subjects without known facts
    added, removed: the names of subjects that are on one side only
    unanswered: subject -> why it cannot be resolved on either side
    read:       changed files that a subject reads
    not_run:    changed files that were not read, or not run, for a subject
    noted:      of `read`, the files that a subject is known to read; a subject of one side alone may read any file
    unseen:     changed files of the dialect that no subject reads
    left_out:   changed files that may set values which no answer has
    doubtful:   True: a file or program was not read for a subject
    is_for_all: True: the change is a what-if, which may matter to each subject
    """

    dialect: str
    known: int = 0
    sampled: int | None = None
    shared: int = 0
    checked: int = 0
    seed: int = 0
    one_by_one: int = 0
    left: int = 0
    bare: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unanswered: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    noted: set[str] = field(default_factory=set)
    not_run: set[str] = field(default_factory=set)
    unseen: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    doubtful: bool = False
    is_for_all: bool = False

    @property
    def _is_complete(self) -> bool:
        """Whether there are subjects, all have the facts that choose files, and each was resolved and read whole."""
        has_facts = not self.bare or not named(self.dialect).facts_choose_files
        return self.known > 0 and has_facts and not self.unanswered and not self.doubtful

    @property
    def not_known(self) -> list[str]:
        """The subjects that could not be resolved, sorted; [] where no changed file matters to the dialect."""
        is_touched = self.read or self.not_run or self.unseen or self.is_for_all
        return sorted(self.unanswered) if is_touched else []


@dataclass(slots=True)
class Impact:
    """What a change changes. `impact` fills it; the caller of `impact` may set `unread`.

    `outcome(file)` returns the effect of one changed file in words, such as "changes values". Its argument is a name of
    *changed*. `is_certain` is True if *groups* certainly has all changes, even if there are none. `subjects` has
    (dialect, name) of each subject that changes, or that is on one side only. `not_run` has the changed files that were
    not read or not run. `unseen` has changed files that no subject reads and that may matter. `doubtful` has the groups
    with unread places. `left` is the number of subjects that were not computed because the user interrupted.
    before, after: the titles of the sides
    files:    the changed files, relative to the folder of the question
    changed:  the same files in the same order, relative to the top folder of the side
    dialects: the numbers and files of each dialect
    groups:   the differences; subjects with equal differences are in one group
    silent:   the changed lines without an effect
    notes:    warnings
    unread:   files outside of the sides that a dialect named and nodeattrs did not read
    """

    before: str
    after: str
    files: tuple[str, ...] = ()
    dialects: list[DialectAnswers] = field(default_factory=list)
    groups: list[ChangeGroup] = field(default_factory=list)
    silent: list[LineWithoutEffect] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def subjects(self) -> set[tuple[str, str]]:
        """(dialect, name) of each subject that has a change, or is on one side only."""
        found = {(group.dialect, name) for group in self.groups for name in group.subjects}
        return found | {(one.dialect, name) for one in self.dialects for name in (*one.added, *one.removed)}

    @property
    def not_run(self) -> list[str]:
        """The changed files that were not read, or not run, and may set a value; sorted."""
        return sorted({file for one in self.dialects for file in one.not_run})

    @property
    def unseen(self) -> list[str]:
        """The changed files that no subject reads and that may matter all the same; sorted.

        A file may matter if not all subjects of its dialect are known, or if answers leave out what the file sets.
        """
        known = {file for one in self.dialects for file in (*one.noted, *one.not_run)}
        missed = {file for one in self.dialects if not one._is_complete for file in one.unseen}
        return sorted((missed | {file for one in self.dialects for file in one.left_out}) - known)

    @property
    def is_certain(self) -> bool:
        """Whether the groups are all changes: everything that may set a value was read, and all subjects resolved.

        False also after an interrupt, if subjects were not computed.
        """
        is_open = self.unread or self.not_run or self.unseen or self.doubtful or self.left
        return not (is_open or any(one.not_known for one in self.dialects))

    @property
    def doubtful(self) -> list[ChangeGroup]:
        """The changes whose value an unread place may set."""
        return [group for group in self.groups if group.unread]

    def outcome(self, file: str) -> str:
        """The effect of a changed file, in words: "changes values", "was not run, or not read", "is read and changes
        nothing" or "is read by no subject".

        NOT_READ for a file that no dialect reads, for one that did not change, and for an unknown name.
        file: relative to the top folder of the side, as in *changed*
        """
        if any(line.file == file for group in self.groups for line in group.lines):
            return "changes values"
        if file in self.not_run:
            return NOT_RUN
        if any(file in one.read for one in self.dialects):
            return "is read and changes nothing"
        if any(file in (*one.unseen, *one.left_out) for one in self.dialects):
            return "is read by no subject"
        return NOT_READ

    @property
    def left(self) -> int:
        """The number of subjects that were not computed, since the user interrupted."""
        return sum(one.left for one in self.dialects)


@dataclass
class ImpactOptions:
    """How an impact is computed, and of how many subjects.

    private:  an existing folder for files of the computation; the caller removes it
    dialects: the names of the dialects; empty: all dialects whose files are there
    sample:   the limit on the subjects of each dialect; None: all subjects
    sharing:  True: subjects share an answer if they have the same facts at all places that the answer looked at
    jobs:     the number of processes; None: as many as for a fleet
    through:  a function that passes the results of all subjects to another one, as `contract.caller.PassOutcomes`. It
              may show progress, and stop early
    """

    private: Path
    dialects: Sequence[str] = ()
    sample: int | None = None
    sharing: bool = True
    jobs: int | None = None
    through: Callable[..., int] = one_by_one


def impact(before: Side, after: Side, request: Request, how: ImpactOptions) -> Impact:
    """Compute all subjects on both sides, in worker processes; returns what differs, and the lines that cause it.

    A subject that cannot be resolved is part of the result. A dialect without subjects is part of the result only if a
    changed file may matter to the dialect.
    before, after: the two versions of the files
    request: facts, options and overrides, for both sides
    how:    which dialects are asked, and what is compared
    cost:   two answers for each group of subjects that share them; one if no file that was read has changed.
            Some members of each group are computed, too. Up to 200 more answers in a dialect find the causing lines
    raises: NotFound, if both sides have no subjects, or lack a name in the request; the error of a dialect that cannot
            list its subjects on either side
    """
    hunks = Hunks(before, after)
    found = Impact(before.title, after.title, notes=[*dict.fromkeys((*before.notes, *after.notes))])
    jobs = [Job(dialect, hunks, request) for dialect in _chosen(before, after, request, how.dialects)]
    listed = [_subjects(job, found.notes) for job in jobs]
    unknown = set(request.nodes).difference(*(names for names, _, _ in listed))
    if unknown:
        raise NotFound(f"there is no subject {' or '.join(sorted(unknown))}", hint="`nodeattrs list subjects`")
    with open_workers("process", how.jobs) as workers:
        comparer = _Comparer(how, workers)
        for job, subjects in zip(jobs, listed, strict=True):
            _compare_dialect(job, subjects, comparer, found)
    found.dialects = [one for one in found.dialects if one.known or one.unseen or one.left_out]
    if not found.dialects:
        raise NotFound(_NOTHING, hint=_HINT)
    found.changed = tuple(file for file in hunks.files if _counts(found, after, file))
    found.files = tuple(map(after.named, found.changed))
    return found


def _counts(found: Impact, side: Side, file: str) -> bool:
    """Whether a file lies in the folder of the question, or matters to a subject all the same."""
    if not side.named(file).startswith(os.pardir):
        return True
    named = {line.file for group in found.groups for line in group.lines}
    return file in named or any(file in one.read for one in found.dialects)


def _chosen(before: Side, after: Side, request: Request, names: Sequence[str]) -> list[str]:
    """The dialects that are there on one of the sides. raises: NotFound, BadArgument"""
    wanted = [named(name) for name in names] or all_dialects().values()
    found = [
        one.name
        for one in wanted
        if any(_is_or_fails(lambda opened: opened.is_there, one.open(side, request)) for side in (before, after))
    ]
    if not found:
        raise NotFound(_NOTHING, hint=_HINT)
    return found


def _is_or_fails(holds: Callable[..., bool], *arguments: Any) -> bool:
    """The result of *holds*; True where it raises a NodeattrsError, since what cannot be read may be anything."""
    try:
        return holds(*arguments)
    except NodeattrsError:
        return True


def _compare_dialect(
    job: Job, subjects: tuple[list[str], set[str], set[str]], comparer: _Comparer, found: Impact
) -> None:
    """Compare all subjects of one dialect, and add the differences and numbers to *found*.

    subjects: what `_subjects` returned for the job
    """
    how = comparer.how
    job = job._replace(settings=tuple(islice(_settings(job), _MOST_SETTINGS)))
    numbers = DialectAnswers(job.dialect, is_for_all=job.request.what_if != AS_IT_IS)
    names, old, new = subjects
    if how.sample is not None and len(names) > how.sample:
        numbers.sampled = len(names)
        names = sorted(names, key=lambda name: hashlib.sha1(name.encode("utf-8", "replace")).digest())[: how.sample]
    chosen = set(names)
    numbers.known = len(names)
    numbers.added, numbers.removed = tuple(sorted(chosen & (new - old))), tuple(sorted(chosen & (old - new)))
    both = sorted(chosen & old & new)
    numbers.bare = _without_facts(job, both)
    file = how.private / f"{job.dialect}.job"
    file.write_bytes(pickle.dumps(job))
    task = Task(str(file), True, how.sharing)
    results = comparer.compare(task, both)
    if how.sharing:
        results = _with_shared(task, results, comparer, numbers)
    reads = {one.reads for one in results}
    on_one_side = [*numbers.added, *numbers.removed]
    results += comparer.compare(Task(str(file), False), on_one_side)
    numbers.left = len(both) + len(on_one_side) - len(results)
    _group(results, numbers, job, found, how)
    _note_files(numbers, job, reads, job.hunks.files)
    found.dialects.append(numbers)


def _note_files(numbers: DialectAnswers, job: Job, reads: Iterable[Iterable[str]], files: Sequence[str]) -> None:
    """Note which changed files a subject reads, and which files of the dialect no subject reads."""
    keys = {key for some in reads for key in some}
    is_open = EVERYTHING in keys or numbers.is_for_all
    for file in files:
        folder = f"{os.path.dirname(file)}/"
        if is_open or file in keys or (file not in job.before.files and folder in keys):
            numbers.noted.add(file)
    numbers.read |= {*files} if numbers.added or numbers.removed else numbers.noted
    sides = [(job.opened(side), side) for side in (job.before, job.after)]

    def those(holds: Callable[[Opened, str], bool]) -> tuple[str, ...]:
        """The other files for which *holds* is true on one of the sides that have them.

        A file that only one side has may belong to a subject that only this side has, and is left out then.
        """
        one_sided = {file for file in numbers.read if not all(file in side.files for _, side in sides)}
        known = numbers.noted | numbers.not_run | one_sided
        return tuple(
            file
            for file in files
            if file not in known
            and any(file in side.files and _is_or_fails(holds, opened, file) for opened, side in sides)
        )

    if numbers.unanswered:  # a subject that cannot be resolved may read any file that sets a value
        numbers.not_run |= {*those(lambda opened, file: any(True for _ in opened.settings(file)))}
    if not job.request.nodes and numbers.sampled is None:  # else another subject may read them, who was not asked for
        numbers.unseen = those(lambda opened, file: opened.covers(file))
    numbers.left_out = those(lambda opened, file: opened.leaves_out(file))


def _subjects(job: Job, notes: list[str]) -> tuple[list[str], set[str], set[str]]:
    """Returns (all subjects, subjects of the side before, of the side after). Adds to *notes* why a side lists none.

    raises: NodeattrsError, where neither side can list them
    """
    sets: list[set[str]] = []
    errors: list[NodeattrsError] = []
    for side in (job.before, job.after):
        opened = job.opened(side)
        try:
            sets.append(set(opened.subjects()) if opened.is_there else set())
        except NodeattrsError as error:
            errors.append(error)
            sets.append(set())
            first = str(error).partition("\n")[0]
            notes.append(f"{job.dialect}: {side.title} cannot list its subjects: {first}")
    if len(errors) == 2:
        raise errors[-1]
    wanted = set(job.request.nodes)
    if wanted:  # a subject without a name answers for any name
        sets = [wanted if one == {""} else one & wanted for one in sets]
    if sets[0] | sets[1] != {""}:  # it answers for the subjects that the other side names
        sets = [one - {""} for one in sets]
    if not errors:
        old, new = sets
        sets = [
            old | {name for name in new - old if job.opened(job.before).may_have(name)},
            new | {name for name in old - new if job.opened(job.after).may_have(name)},
        ]
    return sorted(sets[0] | sets[1]), sets[0], sets[1]


def _without_facts(job: Job, names: Iterable[str]) -> int:
    """The number of subjects whose facts are in no file and in no last run."""
    if not named(job.dialect).needs_facts:
        return 0
    opened = job.opened(job.before)
    latest = opened.revisions()
    return sum(opened.facts_file(name) is None and not latest.get(name) for name in names)


def _with_shared(
    task: Task, results: list[SubjectComparison], comparer: _Comparer, numbers: DialectAnswers
) -> list[SubjectComparison]:
    """The results, with whole ones for subjects that share answers; some of these are computed, too, and compared."""

    def compute(names: Sequence[str]) -> dict[str, SubjectComparison]:
        return {one.name: one for one in comparer.compare(task._replace(sharing=False), names)}

    own = {one.name: one for one in results if not one.like}
    like = {one.name: one.like for one in results if one.like}
    found = compute_samples(own, like, compute, SubjectComparison.has_answers_of)
    numbers.shared, numbers.checked, numbers.one_by_one, numbers.seed = found[1:]
    return [one if one.name == name else one.shared_by(name) for name, one in found.answers.items()]


class _Comparer:
    """Compares subjects in worker processes, until the user interrupts; from then on `compare` returns []."""

    def __init__(self, how: ImpactOptions, workers: Workers) -> None:
        self.how, self._workers = how, workers
        self._is_interrupted = False

    def compare(self, task: Task, names: Sequence[str]) -> list[SubjectComparison]:
        """The result of each subject, in any order; after Ctrl-C only those that were complete."""
        results: list[SubjectComparison] = []
        if not names or self._is_interrupted:
            return results
        size = max(1, min(_MOST_AT_ONCE, len(names) // _BATCHES))
        batches = [names[start : start + size] for start in range(0, len(names), size)]

        def outcomes(stopping: Callable[[], bool]) -> Iterable[SubjectComparison]:
            found = each(partial(_compare_batch, task), batches, executor=self._workers, stopping=stopping)
            return chain.from_iterable(found)

        self._is_interrupted = self.how.through(len(names), outcomes, results.append) < len(names)
        return results


def _compare_batch(task: Task, names: Sequence[str]) -> list[SubjectComparison]:
    found = []
    for name in names:
        found.append(compared(task, name))
        if not found[-1].like:
            # A worker collects garbage after a task, which is many batches. Then 1,003 nodes without sharing took
            # 171 MB a process in place of 123 MB.
            gc.collect(0)
    return found


def _group(
    results: Sequence[SubjectComparison],
    numbers: DialectAnswers,
    job: Job,
    found: Impact,
    how: ImpactOptions,
) -> None:
    """Group equal differences of the subjects of a dialect, find their causes, and add the groups to *found*.

    Counts failures and unread files in *numbers*. Differences of subjects that are on one side only do not count.
    A group of values that unread places may set has the places of all its subjects; certain values are another group.
    """
    groups: dict[Any, tuple[Difference, list[str], set[Any], dict[str, None]]] = {}
    on_one_side = {*numbers.added, *numbers.removed}
    effects: dict[ChangedSetting, list[Effect]] = defaultdict(list)
    for one in sorted(results, key=lambda one: one.name):
        if one.failed:
            numbers.unanswered[one.name] = one.failed
        numbers.not_run |= one.unread
        numbers.doubtful |= one.doubtful
        if one.name in on_one_side:
            continue
        for effect in one.effects:
            effects[effect.setting].append(effect)
        for change in one.differences:
            values = value_key(change.before), value_key(change.after)
            elements = _elements(change)
            shown = values if elements is None else strict_key(elements)
            key = change.kind, change.path, shown, change.lines, bool(change.unread)
            _, names, seen, unread = groups.setdefault(key, (change, [], set(), {}))
            names.append(one.name)
            seen.add(values)
            unread.update(dict.fromkeys(change.unread))
    search = CauseSearch(job, how.private)
    made = []
    for change, names, seen, unread in groups.values():
        cause = search.lines_of(change, names[0])
        made.append(
            ChangeGroup(
                job.dialect, change.kind, change.path, change.before, change.after, cause.lines, tuple(names),
                cause.is_tried, cause.is_random, _elements(change) if len(seen) > 1 else None, (*unread,),
            )
        )  # fmt: skip
    found.groups += sorted(made, key=_order)
    named = {line for group in made for line in group.lines}
    found.silent += _without_effect(job.dialect, effects, named)


def _elements(change: Difference) -> tuple[list[Any], list[Any]] | None:
    """Returns (removed, added) elements of a list; None for other values, and where only the order is another."""
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


def _without_effect(
    dialect: str, effects: dict[ChangedSetting, list[Effect]], named: set[Line]
) -> Iterator[LineWithoutEffect]:
    """Yield the changed lines that are in effect on no subject, since other lines override them everywhere."""
    for setting, its in effects.items():
        if setting.line not in named and all(effect.by is not None for effect in its):
            by = tuple(sorted({str(effect.by) for effect in its}))
            yield LineWithoutEffect(dialect, setting.line, its[0].path, by, len(its))


def _settings(job: Job) -> Iterator[ChangedSetting]:
    """Yield the changed lines that set a value, with the paths in their documents."""
    hunks = job.hunks
    kept: set[tuple[str, TreePath]] = set()
    for is_gone, side in ((False, hunks.after), (True, hunks.before)):
        opened = job.opened(side)
        for file in hunks.files:
            for setting in opened.settings(file) if file in side.files else ():
                if not is_gone:
                    kept.add((file, setting.path))
                elif (file, setting.path) in kept:
                    continue  # its line on the side after is in the list
                if hunks.at(file, setting.line, is_gone=is_gone) is not None:
                    yield ChangedSetting(Line(file, setting.line, is_gone), setting.path)
