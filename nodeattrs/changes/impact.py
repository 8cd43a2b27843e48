"""What a change changes: who is asked, on how many sides, and how the answers are grouped.

    impact(before, after, ask) -> Impact

It asks dialects by their table only, starts no process itself but by `runs.fleet`, and prints nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs._version import VERSION
from nodeattrs.changes.asking import AS_IT_IS, Ask, WhatIf
from nodeattrs.changes.because import Because
from nodeattrs.changes.comparing import (
    NO_ANSWER,
    Compared,
    Difference,
    Effect,
    Job,
    Setting,
    Task,
    Value,
    compared,
    key_of,
)
from nodeattrs.changes.dialects import DIALECTS, Dialect
from nodeattrs.changes.hunks import Hunks, Line
from nodeattrs.changes.kept import Read, Reads
from nodeattrs.changes.sides import Side
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import spell, strict_key
from nodeattrs.errors import BadArgument, NodeattrsError, NotFound
from nodeattrs.keep.stores.store import last_runs
from nodeattrs.runs.batches import each
from nodeattrs.texts.documents import read

_MOST_SETTINGS = 40
"""Changed lines that are looked after one by one."""

_DATA = (".json", ".yaml", ".yml", ".toml")


@dataclass(frozen=True, slots=True)
class Group:
    """One change, and everybody who has it.

    lines:    because of which; none where nobody could find one
    tried:    whether it was tried on one of them that the value is another without these lines
    unsteady: whether the value is another each time
    elements: of lists that are not the same, and differ alike: what is gone, and what is new; the two values are
              those of the first subject then
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
    """A changed line that changes nothing for anybody: what it sets, who overrides that, and on how many."""

    dialect: str
    line: Line
    path: TreePath
    by: tuple[str, ...]
    subjects: int


@dataclass(slots=True)
class Asked:
    """What one dialect was asked.

    known:   how many subjects there are; sampled: of how many it was, or None
    passed:  subjects that were resolved on the side before, to note what they look at
    kept:    subjects of whom that was known
    both:    subjects that were resolved on both sides
    left:    subjects that nobody asked, since somebody interrupted
    bare:    subjects of whom no facts are known
    """

    dialect: str
    known: int = 0
    sampled: int | None = None
    passed: int = 0
    kept: int = 0
    both: int = 0
    left: int = 0
    bare: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unanswered: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Impact:
    """The answer.

    files:  that differ, as they are seen from the folder that is asked
    asked:  by dialect
    unread: files outside of the sides that were wanted and not read
    """

    before: str
    after: str
    files: tuple[str, ...] = ()
    asked: list[Asked] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    silent: list[Silent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: tuple[str, ...] = ()

    @property
    def subjects(self) -> set[tuple[str, str]]:
        """Everybody who has a change, with the dialect."""
        found = {(group.dialect, name) for group in self.groups for name in group.subjects}
        return found | {(one.dialect, name) for one in self.asked for name in (*one.added, *one.removed)}

    @property
    def left(self) -> int:
        """How many nobody asked."""
        return sum(one.left for one in self.asked)


@dataclass
class Asking:
    """How the work is done, and how much of it.

    dialects: those that are asked; empty: all that are there
    sample:   ask so many subjects of each at most
    reads:    the file of what answers looked at, or None
    jobs:     processes; None: as a fleet has them
    private:  a folder of our own
    through:  takes the compared subjects, and may stop: (how many, what gives them, what takes one) -> how many
    """

    private: Path
    dialects: Sequence[str] = ()
    sample: int | None = None
    reads: Path | None = None
    jobs: int | None = None
    through: Callable[..., int] | None = None


def impact(before: Side, after: Side, ask: Ask, how: Asking, what_if: WhatIf = AS_IT_IS) -> Impact:
    """What changes from one side to the other.

    cost:   one pass over the subjects of the side before, unless what they look at is kept; then two answers for each
            whom the change might touch; and some more for one of each group, where several places may be meant
    raises: NotFound, where there is nobody to ask; whatever a dialect raises before it has a subject
    """
    hunks = Hunks(before, after)
    found = Impact(
        before.title,
        after.title,
        tuple(map(after.named, hunks.files)),
        notes=[*dict.fromkeys((*before.notes, *after.notes))],
    )
    reads = Reads(how.reads)
    for dialect in _chosen(before, after, ask, how.dialects):
        _asked(dialect, before, after, ask, how, what_if, hunks, reads, found)
    return found


def _chosen(before: Side, after: Side, ask: Ask, names: Sequence[str]) -> list[str]:
    """The dialects that are there on one of the sides. raises: NotFound, BadArgument"""
    for name in names:
        if name not in DIALECTS:
            raise BadArgument(f"there is no dialect {name!r}", hint=f"known are {', '.join(DIALECTS)}")
    found = [
        name
        for name in DIALECTS
        if (not names or name in names) and any(_is_there(DIALECTS[name](side, ask)) for side in (before, after))
    ]
    if not found:
        hint = "name the folder that has nodes/, roles/, hiera.yaml, ...: --repo DIR"
        raise NotFound("there is nobody to ask: neither nodes nor data are there", hint=hint)
    return found


def _is_there(opened: Dialect) -> bool:
    try:
        return opened.is_there
    except NodeattrsError:  # a settings file that cannot be read: whoever is asked says so
        return True


def _asked(
    dialect: str, before: Side, after: Side, ask: Ask, how: Asking, what_if: WhatIf, hunks: Hunks, reads: Reads,
    found: Impact,
) -> None:  # fmt: skip
    job = Job(dialect, before, after, ask, what_if, tuple(_settings(hunks)))
    asked = Asked(dialect)
    names, old, new = _subjects(job, found.notes)
    if how.sample is not None and len(names) > how.sample:
        asked.sampled = len(names)
        names = sorted(names, key=lambda name: hashlib.sha1(name.encode("utf-8", "replace")).digest())[: how.sample]
    asked.known = len(names)
    asked.added, asked.removed = (tuple(sorted(set(names) & (one - other))) for one, other in ((new, old), (old, new)))
    both = sorted(set(names) & old & new)
    question = _question(job)
    tokens = _tokens(job, both, asked)
    kept = {name: one for name, one in reads.of(question, before).items() if tokens.get(name) == one.token}
    known = [name for name in both if name in kept]
    touched = [name for name in known if job.is_affected(kept[name].keys)]
    unknown = [name for name in both if name not in kept]
    if what_if != AS_IT_IS:
        touched, unknown, known = both, [], both
    asked.kept, asked.passed = len(known), len(unknown)
    results: list[Compared] = []
    file = how.private / f"{dialect}.job"
    file.write_bytes(pickle.dumps(job))
    for some, noting in ((touched, False), (unknown, True), ([*asked.added, *asked.removed], False)):
        asked.left += _each(Task(str(file), noting), some, how, results)
    _take(results, asked, job, found, how, hunks)
    noted = {one.name: Read(one.reads, tokens.get(one.name, "")) for one in results if one.reads is not None}
    if noted:
        reads.keep(question, before, {**kept, **noted})
    found.asked.append(asked)


def _subjects(job: Job, notes: list[str]) -> tuple[list[str], set[str], set[str]]:
    """Everybody, and who is there on each side. raises: NodeattrsError, where neither side can say"""
    sets: list[set[str]] = []
    errors: list[NodeattrsError] = []
    for side in (job.before, job.after):
        opened = job.opened(side)
        try:
            sets.append(set(opened.subjects()) if opened.is_there else set())
        except NodeattrsError as error:
            errors.append(error)
            sets.append(set())
            notes.append(f"{job.dialect}: {side.title} cannot say who is there: {error}")
    if len(errors) == 2:
        raise errors[-1]
    wanted = set(job.ask.nodes)
    if wanted:  # who has no name of its own answers to any
        sets = [wanted if one == {""} else one & wanted for one in sets]
    return sorted(sets[0] | sets[1]), sets[0], sets[1]


def _question(job: Job) -> str:
    """Who is asked, and how: what was looked at is good for the same question only."""
    prefix = os.path.relpath(job.before.root, job.before.top)
    written = json.dumps([VERSION, job.dialect, prefix, *job.ask[1:]], default=str)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _tokens(job: Job, names: Sequence[str], asked: Asked) -> dict[str, str]:
    """What decides beside the files of the side: facts and classifiers that lie elsewhere, and the last run."""
    outside = job.opened(job.before)
    facts, enc = getattr(outside, "facts_file", None), job.ask.enc
    latest = {}
    store = getattr(outside, "store", None)
    if store is not None:
        latest = {name: run.number if run is not None else 0 for name, _, run in last_runs(store)}
    shared = _stamp(job, job.ask.place(job.before, enc)) if enc else ""
    files = {name: facts(name) if facts is not None else None for name in names}
    asked.bare = sum(file is None and not latest.get(name) for name, file in files.items()) if facts is not None else 0
    return {name: f"{shared} {_stamp(job, file)} {latest.get(name, '')}".strip() for name, file in files.items()}


def _stamp(job: Job, file: Path | None) -> str:
    if file is None or str(file).startswith(f"{job.before.top}{os.sep}"):
        return ""
    try:
        status = os.stat(file)
        return f"{file}:{status.st_mtime_ns}:{status.st_size}"
    except OSError:
        return f"{file}:"


def _each(task: Task, names: Sequence[str], how: Asking, results: list[Compared]) -> int:
    """Ask them; how many nobody asked."""
    if not names:
        return 0

    def outcomes(stopping: Callable[[], bool]) -> Iterable[Compared]:
        return each(partial(compared, task), names, jobs=how.jobs, stopping=stopping)

    if how.through is None:
        results += outcomes(lambda: False)
        return 0
    return len(names) - how.through(len(names), outcomes, results.append)


def _take(results: Sequence[Compared], asked: Asked, job: Job, found: Impact, how: Asking, hunks: Hunks) -> None:
    groups: dict[Any, tuple[Difference, list[str], set[Any]]] = {}
    beside = {*asked.added, *asked.removed}
    effects: dict[Setting, list[Effect]] = defaultdict(list)
    for one in sorted(results, key=lambda one: one.name):
        asked.both += one.asked and one.name not in beside
        if one.failed:
            asked.unanswered[one.name] = one.failed
        if one.name in beside:
            continue
        for effect in one.effects:
            effects[effect.setting].append(effect)
        for change in one.differences:
            values = key_of(change.before), key_of(change.after)
            elements = _elements(change)
            key = change.kind, change.path, values if elements is None else strict_key(elements), change.lines
            _, names, seen = groups.setdefault(key, (change, [], set()))
            names.append(one.name)
            seen.add(values)
    because = Because(job, hunks, how.private)
    made = [
        Group(
            job.dialect, change.kind, change.path, change.before, change.after, *because.of(change, names[0], names),
            elements=_elements(change) if len(seen) > 1 else None,
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


def _order(group: Group) -> tuple[Any, ...]:
    kinds = (NO_ANSWER, "attribute", "key", "variable", "value", "resource")
    return kinds.index(group.kind) if group.kind in kinds else 9, -len(group.subjects), group.spelled, group.subjects


def _silent(dialect: str, effects: dict[Setting, list[Effect]], named: set[Line]) -> Iterator[Silent]:
    """The settings that nobody has: on everybody somebody else overrides them."""
    for setting, its in effects.items():
        if setting.line not in named and all(effect.by is not None for effect in its):
            by = tuple(sorted({str(effect.by) for effect in its}))
            yield Silent(dialect, setting.line, its[0].path, by, len(its))


def _settings(hunks: Hunks) -> Iterator[Setting]:
    """The changed lines of data files that set something, with the paths in their documents."""
    left = _MOST_SETTINGS
    for is_gone, side in ((False, hunks.after), (True, hunks.before)):
        for file in hunks.files:
            if file not in side.files or not file.endswith(_DATA) or left <= 0:
                continue
            try:
                document = read(Path(side.top, file), file)
            except NodeattrsError:
                continue
            for path in _leaves(document.tree, ()):
                line = document.place(path)[0]
                if path and left > 0 and hunks.at(file, line, is_gone=is_gone) is not None:
                    if is_gone and _is_kept(hunks, file, path):
                        continue  # its line after is asked about
                    left -= 1
                    yield Setting(Line(file, line, is_gone), path)


def _is_kept(hunks: Hunks, file: str, path: TreePath) -> bool:
    try:
        tree: Any = read(Path(hunks.after.top, file), file).tree if file in hunks.after.files else None
        for step in path:
            tree = tree[step]
    except (NodeattrsError, KeyError, IndexError, TypeError):
        return False
    return True


def _leaves(tree: Any, path: TreePath) -> Iterator[TreePath]:
    """The paths that end: lists are one value."""
    if isinstance(tree, dict) and tree:
        for step, entry in tree.items():
            yield from _leaves(entry, (*path, step))
    else:
        yield path
