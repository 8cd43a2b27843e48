"""The effects of the lines of a folder: what each line sets, on which subjects, and what overrides it there.

`FolderLines` traces the values of all subjects, and looks lines up in these traces. `where` and the language server use
it. The module knows no dialect and no editor.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from nodeattrs.contract.answers import Part, Unread
from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.reading import EVERYTHING, watched
from nodeattrs.contract.request import Request
from nodeattrs.contract.sharing import shared_answers
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import held_back
from nodeattrs.core.trace import Outcome, Trace, rows, shown
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import leaves, spell
from nodeattrs.core.unread import unread_in, unresolved
from nodeattrs.dialects import all_dialects, named
from nodeattrs.errors import NodeattrsError
from nodeattrs.verbs.asking import Reply
from nodeattrs.verbs.blocks import lines_below, lines_outwards
from nodeattrs.verbs.comparing import NO_ANSWER, NO_SUCH_KEY, answered
from nodeattrs.verbs.hunks import text_of

MOST = 200
"""The default for the most subjects of a dialect that are computed."""


_ELEMENT = "element"
"""The note of a setter that is an element of a list."""


class FileLine(NamedTuple):
    """A line of a file, perhaps with a column; both count from 1. It prints as "roles/web.json:9", without the column.

    file: relative to the folder, with forward slashes
    """

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Setter(NamedTuple):
    """A source that sets a path of a subject, in words: one row of its trace, or one element of a list.

    outcome: whether the value wins, joins, holds, loses, or is unknown
    title:   number and name of the slot or layer
    value:   the value that was set, as one line of JSON; secrets are withheld
    place:   the line; None where no file of the folder sets it
    who:     the source, for one without a place: "role web"
    note:    the rule that decided; "element" for an element of a list
    unread:  the unread place, for an unknown layer; else None

    `is_read` is True if the value wins or joins.
    """

    outcome: Outcome
    title: str
    value: str
    place: FileLine | None
    who: str
    note: str
    unread: Unread | None = None

    @property
    def is_read(self) -> bool:
        """Whether its value, or a part of it, is in the value that the subject has."""
        return self.outcome in (Outcome.WINS, Outcome.JOINS)


class Account(NamedTuple):
    """All sources that set one path of a subject. Subjects with the same sources and values have equal accounts.

    `name` is the path as text, and `winner` the first setter whose value is read, or None.

    dialect: the dialect of the subject
    kind:    the sort of value: "attribute", "resource", "key", ...
    path:    the steps to the value
    value:   the value that the subject has, as one line of JSON
    setters: the sources, the winner first, and elements of lists last
    """

    dialect: str
    kind: str
    path: TreePath
    value: str
    setters: tuple[Setter, ...]

    @property
    def name(self) -> str:
        """The path as text, steps joined by dots."""
        return spell(self.path)

    @property
    def winner(self) -> Setter | None:
        """The first setter that `is_read`; None if no setter is."""
        return next((one for one in self.setters if one.is_read), None)


@dataclass(frozen=True)
class LineEffect:
    """The effect of one line at one path, on all subjects that have the path. `FolderLines.at` makes it.

    place:    the line, with a column where one is known
    dialect:  the dialect of the subjects
    path:     the path that the line sets
    accounts: Account of the path -> the names of the subjects that have it; each account has a setter at the place.
              `setter` returns that setter

    `wins` names the subjects on which the value of this line is read. `overridden` has the accounts in which another
    source replaces it. `unread` has the unknown layers that may override it.
    """

    place: FileLine
    dialect: str
    path: TreePath
    accounts: Mapping[Account, tuple[str, ...]]

    def setter(self, account: Account) -> Setter:
        """The first setter of an account that stands at the place. raises: StopIteration, without such a setter"""
        return next(one for one in account.setters if one.place is not None and _is_at(self.place, one.place))

    @property
    def _is_of_element(self) -> bool:
        """Whether the line sets an element of the list at the path, and not the list itself."""
        return self.setter(next(iter(self.accounts))).note == _ELEMENT

    @property
    def unread(self) -> list[Unread]:
        """The unknown layers that may override the value on one of the subjects; [] without any."""
        setters = (one for account in self.accounts for one in account.setters)
        return [*dict.fromkeys(one.unread for one in setters if one.unread is not None)]

    @property
    def wins(self) -> tuple[str, ...]:
        """The subjects on which the value of the line is read; () where it is read on none."""
        return tuple(name for account, names in self.accounts.items() if self.setter(account).is_read for name in names)

    @property
    def overridden(self) -> list[Account]:
        """The accounts in which another source overrides the value of the line; [] where it wins everywhere."""
        return [account for account in self.accounts if self.setter(account).outcome is Outcome.LOSES]


def _is_at(place: FileLine, other: FileLine) -> bool:
    return place.file == other.file and place.line == other.line and place.column in (None, other.column)


@dataclass
class _SubjectAnswer:
    """The answer of one subject, as accounts, and what was not read for it.

    accounts: one for each path
    reads:    keys of the files that its answer has read
    unread:   places that were not read, and that no trace names
    layers:   unknown layers; a trace names them where they may decide its path
    failed:   why the subject cannot be resolved; "" where it was
    """

    accounts: list[Account] = field(default_factory=list)
    reads: frozenset[str] = frozenset()
    unread: Sequence[Unread] = ()
    layers: Sequence[Unread] = ()
    failed: str = ""


class FolderLines:
    """The effects of all lines of a folder. Call `look` first; then `at`, `around`, `in_file` and `all` answer from
    memory. `failed` names what could not be resolved, and `unread_of` what was not read.
    The constructor reads nothing. `look` computes all subjects; a later `look` computes only subjects that read a
    changed file. Before the first `look`, the other methods find nothing. The object may be shared by threads: while
    one thread is in `look`, the others wait.
    root:     the folder
    request:  the options for each subject
    most:     the most subjects of each dialect, the first by name
    dialects: the names of the dialects; empty: all
    only:     trace this path alone; None: all paths
    side:     the folder as it is now, if `look` is called only once; None: each `look` reads the folder again
    near:     trace only paths that share a step with one of these; empty: all paths
    sharing:  True: with a *side*, subjects that are equal in all that was read share an answer (`contract.sharing`)
    count:    dialect -> (number of subjects that were computed, number of all); filled by `look`
    unlisted: dialect -> why its subjects cannot be listed; filled by `look`
    warnings: warnings of the dialects; filled by `look`
    cost:     the subjects, and a trace for each path that is set; then a look-up for each line
    """

    def __init__(
        self,
        root: Path,
        request: Request,
        most: int = MOST,
        dialects: Sequence[str] = (),
        only: TreePath | None = None,
        side: Side | None = None,
        near: Sequence[TreePath] = (),
        sharing: bool = True,
    ) -> None:
        self._root, self._request, self._most, self._only, self._fixed_side = root, request, most, only, side
        self._near, self._sharing = near, sharing
        self._files: dict[str, str | None] = {}
        self._dialects = [named(name) for name in dialects] or all_dialects().values()
        self._lock = RLock()
        self._side: Side | None = None
        self._known: dict[tuple[str, str], _SubjectAnswer] = {}
        self._at: dict[tuple[str, int], list[tuple[Sequence[str], Account]]] = {}
        self._in_file: dict[str, list[LineEffect]] = {}
        self.count: dict[str, tuple[int, int]] = {}
        self.unlisted: dict[str, NodeattrsError] = {}
        self._unread_without_subjects: dict[str, Sequence[Unread]] = {}
        self.warnings: list[object] = []

    def look(self, progress: Callable[[str, int, int], None] = lambda name, done, of: None) -> None:
        """Compute each subject that was not computed yet, or that reads a file that has changed since.

        A subject that cannot be resolved, and a dialect that cannot list its subjects, raise nothing: see `failed`.
        progress: called with a name, the number of finished subjects of the dialect, and the number of all
        """
        with self._lock, held_back(not self._request.run_code):
            before, self._side = self._side, self._fixed_side or folder_side(self._root)
            self._files = {}
            for key in [key for key, known in self._known.items() if self._is_stale(known, before)]:
                del self._known[key]
            for dialect in self._dialects:
                self._look(dialect, progress)
            self._at, self._in_file = defaultdict(list), {}
            sharers: dict[int, list[str]] = defaultdict(list)
            for (_, subject), known in self._known.items():
                sharers[id(known)].append(subject)
            for known in self._answers(self._known.values()):
                for account in known.accounts:
                    for file, line in {(one.place.file, one.place.line) for one in account.setters if one.place}:
                        self._at[file, line].append((sharers[id(known)], account))

    def _is_stale(self, known: _SubjectAnswer, before: Side | None) -> bool:
        assert self._side is not None
        after = self._side
        return before is None or any(one == EVERYTHING or before.mark(one) != after.mark(one) for one in known.reads)

    def _look(self, dialect: Dialect, progress: Callable[[str, int, int], None]) -> None:
        side = self._side
        assert side is not None
        opened = dialect.open(side, self._request)
        try:
            names = sorted(opened.subjects()) if opened.is_there else []
            self.unlisted.pop(dialect.name, None)
            self._unread_without_subjects[dialect.name] = () if names else opened.unread
        except NodeattrsError as error:
            names = []
            self.unlisted[dialect.name] = error
        chosen = [name for name in names if not self._request.nodes or name in self._request.nodes][: self._most]
        kind = dialect.name
        self.count[kind] = len(chosen), len(names)
        self._known = {key: one for key, one in self._known.items() if key[0] != kind or key[1] in chosen}

        def missing() -> Iterator[str]:
            for done, name in enumerate(chosen):
                if (kind, name) not in self._known:
                    progress(name, done, len(chosen))
                    yield name

        def watch(name: str) -> _SubjectAnswer:
            with watched(side) as reads:
                known = self._computed(dialect, dialect.open(side, self._request), name)
            known.reads = reads()
            return known

        is_fixed = self._fixed_side is not None
        compute = partial(self._computed, dialect, opened) if is_fixed else watch
        found = shared_answers(opened, missing(), compute, lambda one: one, is_off=not (is_fixed and self._sharing))
        self._known |= {(kind, name): known for name, known in found.answers.items()}
        self.warnings += [one for one in [*opened.warnings, found.note] if one and one not in self.warnings]

    @staticmethod
    def _answers(known: Iterable[_SubjectAnswer]) -> Iterable[_SubjectAnswer]:
        """The answers, each once, although several subjects share it."""
        return {id(one): one for one in known}.values()

    def _computed(self, dialect: Dialect, opened: Opened, name: str) -> _SubjectAnswer:
        answer = answered(opened, name, later=True)
        if NO_ANSWER in answer:
            return _SubjectAnswer(failed=str(answer[NO_ANSWER].tree[NO_ANSWER]))
        accounts = [one for kind, part in answer.items() for one in self._accounts(dialect.name, kind, part)]
        if self._only is not None:
            return _SubjectAnswer(
                accounts, unread=Reply(dialect, name, answer, tuple(opened.unread)).unread_at(self._only)
            )
        # Unknown layers that may set any path are in the trace of one that nothing sets.
        traces = [
            part.trace((NO_SUCH_KEY,) if part.is_keyed else ()) for part in answer.values() if part.trace is not None
        ]
        layers = [one for trace in traces for one in unread_in(trace.unknown)]
        files = {one.claim.origin.file for trace in traces for one in trace.unknown}
        return _SubjectAnswer(accounts, unread=[one for one in opened.unread if one.place not in files], layers=layers)

    def _accounts(self, dialect: str, kind: str, part: Part) -> Iterator[Account]:
        if part.trace is None:
            return
        for path in dict.fromkeys(self._paths_of(part)):
            try:
                trace = part.trace(path)
            except NodeattrsError:
                continue  # a value that cannot be had has no trace
            yield Account(dialect, kind, path, shown(trace.value), tuple(self._setters(trace)))

    def _paths_of(self, part: Part) -> Iterable[TreePath]:
        """The paths that are traced, of all that files set."""
        if self._only is not None:
            return [self._only]
        trees = [part.tree] if part.written is None else part.written()
        if not self._near:
            return (path for tree in trees for path, _ in leaves(tree) if path)
        steps = {step for path in self._near for step in path}
        ends = {path[-1] for path in self._near}
        if part.is_keyed:  # other keys need not be looked up
            trees = [{key: tree[key] for key in tree if key in steps} for tree in trees]
        paths = (path for tree in trees for path, _ in leaves(tree) if path)
        return (path for path in paths if path[-1] in steps or not ends.isdisjoint(path))

    def _setters(self, trace: Trace) -> Iterator[Setter]:
        known: set[tuple[FileLine | None, str]] = set()
        for one, row in zip(trace.claims, rows(trace), strict=True):
            title = f"{row.rank} {row.title}".rstrip()
            for origin in (row.origin, *(claim.origin for claim in one.then)):
                place = self._place(origin)
                known.add((place, title))
                unread = None
                if one.outcome is Outcome.UNKNOWN and self._only is None:
                    unread = next(iter(unread_in([one], trace.path)), None)
                yield Setter(one.outcome, title, shown(row.value, 40), place, str(origin.who), row.note, unread)
        for element in trace.elements if self._only is None else ():  # the lines of the lists say enough
            for claim in element.claims:
                title = trace.title(claim.rank)
                place = self._place(claim.origin)
                if (place, title) not in known:
                    known.add((place, title))
                    yield Setter(Outcome.JOINS, title, shown(claim.value, 40), place, str(claim.origin.who), _ELEMENT)

    def _place(self, origin: Origin) -> FileLine | None:
        if not origin.file or origin.line is None:
            return None
        if origin.file not in self._files:
            self._files[origin.file] = self._real(origin.file)
        file = self._files[origin.file]
        return None if file is None else FileLine(file, origin.line, origin.column)

    def _real(self, file: str) -> str | None:
        """The name of a file from the folder, with links in there resolved; None where it lies outside."""
        side = self._side
        assert side is not None
        named = side.shown(file)
        real = None if named is None else side.shown(os.path.realpath(side.top / named))
        found = named if real is None else real
        return None if found is None else side.named(found)

    # --- answers of the last `look`

    def at(self, place: FileLine) -> list[LineEffect]:
        """The effects of a line, one for each path that it set at the last `look`; [] where it sets nothing.

        With a column, only the effects of the nearest value at or before it.
        """
        found: dict[tuple[str, TreePath, FileLine], dict[Account, list[str]]] = {}
        line = place._replace(column=None)
        with self._lock:
            for subjects, account in self._at.get((place.file, place.line), ()):
                for one in dict.fromkeys(one.place for one in account.setters if one.place and _is_at(line, one.place)):
                    names = found.setdefault((account.dialect, account.path, one), {})
                    names.setdefault(account, []).extend(subjects)
        effects = [
            LineEffect(one, dialect, path, {account: tuple(sorted(names)) for account, names in by.items()})
            for (dialect, path, one), by in found.items()
        ]
        return _nearest(effects, place.column)

    def around(self, place: FileLine) -> list[LineEffect]:
        """The effects of a line, as `at` gives them; for a line that sets nothing itself, the effects of other lines.

        The other lines are the lines below it, such as the entries of a map. If they set nothing either, the nearest
        line around it that sets a value is used, such as the key of a list (`verbs.blocks`). [] without such a line.
        cost: reading the file, for a line that sets nothing
        """
        effects = self.at(place)
        if effects:
            return effects
        text = self._text_of(place.file)
        below = [effect for line in lines_below(text, place.line) for effect in self.at(FileLine(place.file, line))]
        outwards = (self.at(FileLine(place.file, line)) for line in lines_outwards(text, place.line))
        return _without_elements(below) or next(filter(None, outwards), [])

    def _text_of(self, file: str) -> Sequence[str]:
        side = self._side
        shown = None if side is None else side.shown(file)
        return () if side is None or shown is None else text_of(side, shown) or ()

    def in_file(self, file: str) -> list[LineEffect]:
        """The effects of all lines of a file, sorted by line; [] for a file that sets nothing, or that is not known.

        The list is kept until the next call of `look`, so the caller must not change it.
        file: relative to the folder, with forward slashes
        """
        with self._lock:
            if file not in self._in_file:
                places = sorted(place for place in self._at if place[0] == file)
                self._in_file[file] = [effect for place in places for effect in self.at(FileLine(*place))]
            return self._in_file[file]

    def all(self) -> list[LineEffect]:
        """The effects of all lines, sorted by file and line; [] before the first `look`."""
        return [effect for place in sorted(self._at) for effect in self.at(FileLine(*place))]

    def unread_of(self, effects: Sequence[LineEffect], unset: Sequence[TreePath]) -> list[Unread]:
        """The unread places that may change some effects, or may set the paths *unset*, each once; [] for none.

        Two sorts of places are in every result, also for [] and []: subjects that cannot be resolved, and unread places
        of dialects that have no subjects.
        unset: paths that lines of the folder set, and that no subject has
        """
        dialects = {effect.dialect for effect in effects} if not unset else {*self.count}
        with self._lock:
            answers = self._answers(known for (dialect, _), known in self._known.items() if dialect in dialects)
        paths = [*(effect.path for effect in effects), *unset]
        found = [one for known in answers for one in known.unread if any(map(one.may_set, paths))]
        found += [one for known in answers for one in known.layers if any(map(one.may_set, unset))]
        found += [one for effect in effects for one in effect.unread]
        found += [one for some in self._unread_without_subjects.values() for one in some]
        found += [unresolved(name, why, "subject") for name, why in self.failed()]
        return [*dict.fromkeys(found)]

    def failed(self) -> list[tuple[str, str]]:
        """(name, first line of the reason) of dialects that cannot list their subjects, then of unresolved subjects.

        [] if there are none.
        """
        with self._lock:
            found = [(name, error.message) for name, error in self.unlisted.items()]
            found += [(name, known.failed) for (_, name), known in self._known.items() if known.failed]
        return [(name, why.partition("\n")[0]) for name, why in found]


def _without_elements(effects: Sequence[LineEffect]) -> list[LineEffect]:
    """The effects without elements of lists that are among them as a whole."""
    whole = {(one.dialect, one.path) for one in effects if not one._is_of_element}
    return [one for one in effects if not one._is_of_element or (one.dialect, one.path) not in whole]


def _nearest(effects: list[LineEffect], column: int | None) -> list[LineEffect]:
    columns = {one.place.column for one in effects if one.place.column is not None}
    if column is None or len(columns) < 2:
        return effects
    nearest = max((one for one in columns if one <= column), default=min(columns))
    return [one for one in effects if one.place.column in (nearest, None)]
