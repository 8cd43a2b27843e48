"""What each line of a repository sets, on which subjects, and what overrides it: an editor shows that beside the line.

Each subject is asked once, and again when something that its answer looked at has changed. It knows no
dialect and no editor: lines come out of traces.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from nodeattrs.contract.answers import Part, Unread
from nodeattrs.contract.dialect import Dialect, Opened
from nodeattrs.contract.reading import EVERYTHING, watched
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import held_back
from nodeattrs.core.trace import Outcome, Trace, rows, shown
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import spell
from nodeattrs.core.unread import unread_in
from nodeattrs.dialects import every, named
from nodeattrs.errors import NodeattrsError
from nodeattrs.verbs.asking import Reply
from nodeattrs.verbs.comparing import NO_ANSWER, NO_SUCH_KEY, answered

MOST = 200
"""The default number of subjects of a dialect that are asked."""


class FileLine(NamedTuple):
    """A line of a file, seen from the folder that is asked; both count from 1."""

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Setter(NamedTuple):
    """A line that sets a path.

    outcome: what became of it
    title:   the slot or layer
    value:   what was set, in words; secrets are withheld
    place:   where; None for what no file says
    who:     who, in words
    note:    the rule
    unread:  the unknown layer that it is, or None
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
        """Whether what it sets is read, or a part of what is."""
        return self.outcome in (Outcome.WINS, Outcome.JOINS)


class Account(NamedTuple):
    """The lines that set one path of a subject, the winner first. Subjects with the same lines share one Account.

    kind:  the sort of value: "attribute", "resource", "key", ...
    value: as text
    """

    dialect: str
    kind: str
    path: TreePath
    value: str
    setters: tuple[Setter, ...]

    @property
    def name(self) -> str:
        """The path as people write it."""
        return spell(self.path)


@dataclass(frozen=True)
class Effect:
    """What a line does at one path, on all subjects that were asked.

    place:    the place
    accounts: who sets the path -> on whom it is so
    """

    place: FileLine
    dialect: str
    path: TreePath
    accounts: Mapping[Account, tuple[str, ...]]

    def setter(self, account: Account) -> Setter:
        """What the place is in an account."""
        return next(one for one in account.setters if one.place is not None and _is_at(self.place, one.place))

    @property
    def unread(self) -> list[Unread]:
        """What was not read, and may override what is set there."""
        setters = (one for account in self.accounts for one in account.setters)
        return [*dict.fromkeys(one.unread for one in setters if one.unread is not None)]

    @property
    def wins(self) -> tuple[str, ...]:
        """The subjects on which the value of the line is read."""
        return tuple(n for account, names in self.accounts.items() if self.setter(account).is_read for n in names)


def _is_at(place: FileLine, other: FileLine) -> bool:
    return place.file == other.file and place.line == other.line and place.column in (None, other.column)


@dataclass
class _Known:
    """What one subject answered.

    accounts: who sets what
    reads:    what it looked at
    unread:   what was not read, and no trace names
    layers:   unknown layers: traces name those that may decide a path
    failed:   why it could not be asked
    """

    accounts: list[Account] = field(default_factory=list)
    reads: frozenset[str] = frozenset()
    unread: Sequence[Unread] = ()
    layers: Sequence[Unread] = ()
    failed: str = ""


class FolderLines:
    """The lines of a folder.

    root:     the folder
    request:  the options of each question
    most:     how many subjects of each dialect, the first by name
    dialects: the names of the dialects to ask; empty: all
    only:     the path of the question; None for all paths
    near:     paths that a line sets: only paths that share a step with one of them; empty for all
    side:     the folder as it is, for one look alone; None for an editor, which looks again

    Threads may share it: one looks, the others wait.
    cost: what the subjects cost, and a trace for each path that is set; then a look-up a line
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
    ) -> None:
        self._root, self._request, self._most, self._only, self._once = root, request, most, only, side
        self._near = near
        self._files: dict[str, str | None] = {}
        self._dialects = [named(name) for name in dialects] or every().values()
        self._lock = RLock()
        self._side: Side | None = None
        self._known: dict[tuple[str, str], _Known] = {}
        self._at: dict[tuple[str, int], list[tuple[str, Account]]] = {}
        self.count: dict[str, tuple[int, int]] = {}
        """Dialect -> how many were asked, of how many."""
        self.unlisted: dict[str, NodeattrsError] = {}
        """Dialect -> why it cannot list its subjects."""
        self._nobody: dict[str, Sequence[Unread]] = {}
        self.warnings: list[object] = []
        """What was read, and is probably not meant."""

    def look(self, progress: Callable[[str, int, int], None] = lambda name, done, of: None) -> None:
        """Ask each subject that was not asked yet, or for which something has changed.

        progress: called with a name, how many are done, and of how many
        """
        with self._lock, held_back(not self._request.run_code):
            before, self._side = self._side, self._once or folder_side(self._root)
            self._files = {}
            for key in [key for key, known in self._known.items() if self._is_stale(known, before)]:
                del self._known[key]
            for dialect in self._dialects:
                self._look(dialect, progress)
            self._at = defaultdict(list)
            for (_, subject), known in self._known.items():
                for account in known.accounts:
                    for file, line in {(one.place.file, one.place.line) for one in account.setters if one.place}:
                        self._at[file, line].append((subject, account))

    def _is_stale(self, known: _Known, before: Side | None) -> bool:
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
            self._nobody[dialect.name] = () if names else opened.unread
        except NodeattrsError as error:
            names = []
            self.unlisted[dialect.name] = error
        asked = [name for name in names if not self._request.nodes or name in self._request.nodes][: self._most]
        kind = dialect.name
        self.count[kind] = len(asked), len(names)
        self._known = {key: one for key, one in self._known.items() if key[0] != kind or key[1] in asked}
        for done, name in enumerate(asked):
            if (kind, name) not in self._known:
                progress(name, done, len(asked))
                if self._once is not None:
                    self._known[kind, name] = self._asked(dialect, opened, name)
                    continue
                with watched(side) as reads:
                    self._known[kind, name] = known = self._asked(dialect, dialect.open(side, self._request), name)
                known.reads = reads()
        self.warnings += [one for one in opened.warnings if one not in self.warnings]

    def _asked(self, dialect: Dialect, opened: Opened, name: str) -> _Known:
        answer = answered(opened, name, later=True)
        if NO_ANSWER in answer:
            return _Known(failed=str(answer[NO_ANSWER].tree[NO_ANSWER]))
        accounts = [one for kind, part in answer.items() for one in self._accounts(dialect.name, kind, part)]
        if self._only is not None:
            return _Known(accounts, unread=Reply(dialect, name, answer, tuple(opened.unread)).unread_at(self._only))
        traces = [part.trace(_another(part)) for part in answer.values() if part.trace is not None]
        layers = [one for trace in traces for one in unread_in(trace.unknown)]
        files = {one.claim.origin.file for trace in traces for one in trace.unknown}
        return _Known(accounts, unread=[one for one in opened.unread if one.place not in files], layers=layers)

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
        """The paths whose lines count, of all that files set."""
        if self._only is not None:
            return [self._only]
        trees = [part.tree] if part.written is None else part.written()
        if not self._near:
            return (path for tree in trees for path in _paths(tree))
        steps = {step for path in self._near for step in path}
        ends = {path[-1] for path in self._near}
        if part.is_keyed:  # keys that were not asked for are not looked up
            trees = [{key: tree[key] for key in tree if key in steps} for tree in trees]
        return (path for tree in trees for path in _paths(tree) if path[-1] in steps or not ends.isdisjoint(path))

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
                    yield Setter(Outcome.JOINS, title, shown(claim.value, 40), place, str(claim.origin.who), "element")

    def _place(self, origin: Origin) -> FileLine | None:
        if not origin.file or origin.line is None:
            return None
        if origin.file not in self._files:
            self._files[origin.file] = self._real(origin.file)
        file = self._files[origin.file]
        return None if file is None else FileLine(file, origin.line, origin.column)

    def _real(self, file: str) -> str | None:
        """A file as it is seen from the folder, behind links in there; None where it lies outside."""
        side = self._side
        assert side is not None
        named = side.shown(file)
        real = None if named is None else side.shown(os.path.realpath(side.top / named))
        found = named if real is None else real
        return None if found is None else side.named(found)

    # --- asked by those who show it

    def at(self, place: FileLine) -> list[Effect]:
        """What a line sets on the subjects, as the last `look` found it; with a column, the value there or before it.

        [] if the line sets nothing on any of them.
        """
        found: dict[tuple[str, TreePath, FileLine], dict[Account, list[str]]] = {}
        line = place._replace(column=None)
        with self._lock:
            for subject, account in self._at.get((place.file, place.line), ()):
                for one in {one.place for one in account.setters if one.place and _is_at(line, one.place)}:
                    names = found.setdefault((account.dialect, account.path, one), {})
                    names.setdefault(account, []).append(subject)
        effects = [
            Effect(one, dialect, path, {account: tuple(names) for account, names in by.items()})
            for (dialect, path, one), by in found.items()
        ]
        return _nearest(effects, place.column)

    def lines_in(self, file: str) -> set[int]:
        """The lines of a file that set a value of a subject."""
        with self._lock:
            return {line for name, line in self._at if name == file}

    def all(self) -> list[Effect]:
        """What every line does, the lines in order."""
        return [effect for place in sorted(self._at) for effect in self.at(FileLine(*place))]

    def doubts(self, effects: Sequence[Effect], unset: Sequence[TreePath]) -> list[Unread]:
        """What was not read and may change the effects, or may set a path that no line sets."""
        dialects = {effect.dialect for effect in effects} if not unset else {*self.count}
        with self._lock:
            asked = [one for one in self._known.items() if one[0][0] in dialects]
        paths = [*(effect.path for effect in effects), *unset]
        found = [one for _, known in asked for one in known.unread if any(map(one.may_set, paths))]
        found += [one for _, known in asked for one in known.layers if any(map(one.may_set, unset))]
        found += [one for effect in effects for one in effect.unread]
        found += [one for some in self._nobody.values() for one in some]
        return [*dict.fromkeys(found)]

    def failed(self) -> Iterable[tuple[str, str]]:
        """The subjects that could not be resolved, and the dialects that cannot list theirs, with the reason."""
        with self._lock:
            found = [(name, error.message) for name, error in self.unlisted.items()]
            found += [(name, known.failed) for (_, name), known in self._known.items() if known.failed]
        return [(name, why.partition("\n")[0]) for name, why in found]


def _nearest(effects: list[Effect], column: int | None) -> list[Effect]:
    columns = {one.place.column for one in effects if one.place.column is not None}
    if column is None or len(columns) < 2:
        return effects
    nearest = max((one for one in columns if one <= column), default=min(columns))
    return [one for one in effects if one.place.column in (nearest, None)]


def _another(part: Part) -> TreePath:
    """A path whose trace names all that may set what no line sets."""
    return (NO_SUCH_KEY,) if part.is_keyed else ()


def _paths(tree: Any, path: TreePath = ()) -> Iterator[TreePath]:
    """The paths of all leaves; a list is one, and so is a map with nothing in it."""
    for step, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _paths(value, (*path, step))
        else:
            yield (*path, step)
