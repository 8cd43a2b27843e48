"""One subject, asked on both sides: what it answers, and in what the two answers differ.

It runs in the process that is given the subject, and what it gives is plain data: secrets never leave it.
"""

from __future__ import annotations

import marshal
import os
import pickle
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from nodeattrs.causes.plain_texts import plain_text
from nodeattrs.contract.answers import Answered, Part
from nodeattrs.contract.dialect import Opened
from nodeattrs.contract.reading import EVERYTHING, watched
from nodeattrs.contract.request import AS_IT_IS, Request
from nodeattrs.contract.sharing import Sharing, has_name
from nodeattrs.contract.sides import Side
from nodeattrs.core.changed import changes
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import held_back
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.trace import Outcome
from nodeattrs.core.tree import ABSENT, dig, strict_key
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects import named
from nodeattrs.errors import NodeattrsError
from nodeattrs.verbs.hunks import Hunk, Hunks, Line

SECRET = "$secret"
NO_ANSWER = "no answer"
"""The kind of what cannot be answered at all."""


@dataclass(frozen=True, slots=True)
class FailedValue:
    """What stands for a value that cannot be had."""

    message: str
    code: str
    origins: tuple[Origin, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class Value(NamedTuple):
    """A value of one side, fit to be sent and shown.

    data:      JSON-able, with secrets and failures as their words; None where there is none
    is_there:  whether there is one
    is_secret: whether there is a secret in it
    is_failed: whether it could not be had
    """

    data: Any = None
    is_there: bool = True
    is_secret: bool = False
    is_failed: bool = False


class Difference(NamedTuple):
    """A value that is another one: of which kind, where, from what to what, because of which lines.

    unread: the places that were not read, and may set it on one of the sides
    """

    kind: str
    path: TreePath
    before: Value
    after: Value
    lines: tuple[Line, ...] = ()
    unread: tuple[str, ...] = ()


class ChangedSetting(NamedTuple):
    """A changed line that sets a value: where it stands, and the path in its document."""

    line: Line
    path: TreePath


class Effect(NamedTuple):
    """The effect of a setting on one subject: the line that overrides it, or None where it is in effect."""

    setting: ChangedSetting
    path: TreePath
    by: str | None


@dataclass(frozen=True, slots=True)
class SubjectComparison:
    """What came of one subject.

    reads:  keys of what it looked at on the side before; None where that was not noted
    asked:  whether both sides were
    failed: why neither could answer, in words; "" otherwise
    unread: the changed files that were not read, or not run, for it
    doubtful: whether anything at all was not read for it
    like:   the subject whose answers it shares; "" for its own answers
    """

    name: str
    differences: tuple[Difference, ...] = ()
    reads: frozenset[str] | None = None
    asked: bool = False
    failed: str = ""
    effects: tuple[Effect, ...] = ()
    unread: frozenset[str] = frozenset()
    doubtful: bool = False
    like: str = ""

    def has_answers_of(self, other: SubjectComparison) -> bool:
        """Whether another outcome has the same values, failures and unread places."""
        alike = (self.differences == other.differences, self.failed == other.failed)
        return all(alike) and self.unread == other.unread and self.doubtful == other.doubtful

    def of(self, name: str) -> SubjectComparison:
        """The same of a subject that shares the answers."""
        return replace(self, name=name, like=self.name)


class Job(NamedTuple):
    """What a process has to know of a dialect and two sides.

    settings: the changed lines that are asked about
    """

    dialect: str
    before: Side
    after: Side
    request: Request
    settings: tuple[ChangedSetting, ...] = ()

    def opened(self, side: Side) -> Opened:
        """One side of the comparison, opened anew for a dialect."""
        request = self.request if side is self.after else self.request._replace(what_if=AS_IT_IS)
        return named(self.dialect).open(side, request)

    def is_affected(self, reads: Collection[str]) -> bool:
        """Whether who looked at these might answer otherwise on the side after."""
        if self.request.what_if != AS_IT_IS:
            return True
        return any(one == EVERYTHING or self.before.mark(one) != self.after.mark(one) for one in reads)


class Task(NamedTuple):
    """A job, as it is sent.

    file:    the file that has it
    noting:  whether the files that are read are noted
    sharing: whether subjects share answers
    """

    file: str
    noting: bool
    sharing: bool = False


class _Open:
    """A job in this process, with both sides open."""

    def __init__(self, file: str) -> None:
        self.job: Job = pickle.loads(Path(file).read_bytes())
        self.hunks = Hunks(self.job.before, self.job.after)
        self.sides = [self.job.opened(side) for side in (self.job.before, self.job.after)]
        self.suffixes: dict[ChangedSetting, int] = {}
        self.effective: set[Line] = set()
        self.sharing = Sharing(self.sides)

    def unread_of(self, opened: Opened, answer: Answered) -> tuple[frozenset[str], bool]:
        """The changed files that were not read, or not run, for an answer; and whether anything was not."""
        places = [*(one.place for one in opened.unread), *_unknown_files(answer)]
        files = {opened.side.shown(place) for place in places}
        if any(not one.paths for one in opened.unread):
            files |= {file for file in self.hunks.files if opened.may_run(file)}
        return frozenset(file for file in self.hunks.files if file in files), bool(places)


def _unread_at(one: Difference, sides: Iterable[tuple[Opened, Answered]]) -> Iterator[str]:
    """The places that were not read on either side, and may set what differs."""
    for opened, answer in sides:
        yield from (str(place) for place in opened.unread if place.may_set(one.path))
        part = answer.get(one.kind)
        with suppress(NodeattrsError):  # a value that cannot be had has no trace
            for claim in part.trace(one.path).unknown if part is not None and part.trace is not None else ():
                yield f"{claim.claim.origin}: {claim.why}"


NO_SUCH_KEY = "no_such_key"
"""Its trace names each unknown place that may set another key."""


def _unknown_files(answer: Answered) -> Iterator[str]:
    """The file of each unknown layer of an answer, or its origin in words."""
    for part in answer.values():
        if part.trace is not None:
            for one in part.trace((NO_SUCH_KEY,) if part.is_keyed else ()).unknown:
                yield one.claim.origin.file or str(one.claim.origin)


@lru_cache(maxsize=2)
def _opened(file: str) -> _Open:
    return _Open(file)


def compared(task: Task, name: str) -> SubjectComparison:
    """Ask both sides for one subject, unless it shares the answers of another one."""
    opened = _opened(task.file)
    with held_back(not opened.job.request.run_code):
        if not task.sharing:
            return _compared(task, opened, name)
        like = opened.sharing.equal_subject(name)
        if like:
            return SubjectComparison(name, like=like)
        with opened.sharing.answering(name):
            found = _compared(task, opened, name)
            if found.failed or has_name(name, (found.differences, found.effects, found.unread)):
                opened.sharing.refuse("a text has its name")
        return found


def _compared(task: Task, opened: _Open, name: str) -> SubjectComparison:
    """Ask both sides for one subject; only the one before, where the change touches nothing that it looked at."""
    job = opened.job
    reads = None
    if task.noting:
        asked = job.opened(job.before)
        asked.looks = opened.sides[0].looks
        with watched(job.before) as keys:
            before = answered(asked, name)
        reads = keys()
        if not job.is_affected(reads):
            return SubjectComparison(name, (), reads, False, _failure(before), (), *opened.unread_of(asked, before))
    else:
        asked = opened.sides[0]
        before = answered(asked, name)
    unread, is_doubtful = opened.unread_of(asked, before)
    after = answered(opened.sides[1], name)
    more, is_more = opened.unread_of(opened.sides[1], after)
    tops = str(job.before.top), str(job.after.top)
    failures = [plain(_failure(one), top) for one, top in zip((before, after), tops, strict=True)]
    both = failures[0] if failures[0] == failures[1] else ""
    found = [one._replace(lines=_lines(opened, one, before, after)) for one in differences(before, after, tops)]
    if is_doubtful or is_more:
        sides = ((asked, before), (opened.sides[1], after))
        found = [one._replace(unread=tuple(dict.fromkeys(_unread_at(one, sides)))) for one in found]
    effects = tuple(_effects(opened, before, after, {line for one in found for line in one.lines}))
    return SubjectComparison(name, tuple(found), reads, True, both, effects, unread | more, is_doubtful or is_more)


def answered(opened: Opened, name: str, *, later: bool = False) -> Answered:
    """What a subject answers; where it cannot, the only part says why. Whatever goes wrong is an answer, too.

    later: whether a key may be looked up at its first use; otherwise all that the answer reads is read now
    """
    with _modules_of_its_own(f"{opened.side.top}{os.sep}"):
        try:
            found = opened.answer(name)
            for part in found.values() if not later else ():
                part.read_all()
            return found
        except NodeattrsError as error:
            return {NO_ANSWER: _no_answer(error)}


@contextmanager
def _modules_of_its_own(top: str) -> Iterator[None]:
    """While it lasts, what code imports from a side is imported anew; the other side has modules of the same names."""
    path, written, known = [*sys.path], sys.dont_write_bytecode, {*sys.modules}
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, written
        for name in sys.modules.keys() - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(top):
                del sys.modules[name]


def _no_answer(error: NodeattrsError) -> Part:
    origins = tuple(one for one in error.origins if isinstance(one, Origin))
    file, line = getattr(error, "file", None), getattr(error, "line", None)
    origins += (Origin("error", "", file, line),) if file else ()
    return Part({NO_ANSWER: error}, lambda _: origins)


def _failure(answer: Answered) -> str:
    return str(answer[NO_ANSWER].tree[NO_ANSWER]) if NO_ANSWER in answer else ""


# --- comparing


def differences(before: Answered, after: Answered, tops: tuple[str, str]) -> Iterator[Difference]:
    """Yield a Difference for each path whose value differs between two answers; nothing for equal answers.

    Where one side has no answer, its reason is compared, and nothing else.
    tops: the folders of both sides; file names in the values are shown relative to them
    """
    kinds = [NO_ANSWER] if NO_ANSWER in {*before, *after} else [*dict.fromkeys((*before, *after))]
    nothing = Part({}, lambda _: ())
    for kind in kinds:
        old, new = (side.get(kind, nothing).tree for side in (before, after))
        for step in dict.fromkeys((*new, *old)):
            one, other = old.get(step, ABSENT), new.get(step, ABSENT)
            if _is_same(one, other):
                continue
            try:
                one, other = without_same_later(one, other, (old, new))
                found = [*_differing(kind, step, (one, other), tops)]
            except RecursionError:
                shown = [value if value is ABSENT else "nested too deep to compare" for value in (one, other)]
                found = [Difference(kind, (step,), value_of(shown[0]), value_of(shown[1]))]
            yield from found


def without_same_later(one: Any, other: Any, trees: tuple[Mapping[Any, Any], Mapping[Any, Any]]) -> tuple[Any, Any]:
    """Two values without what is computed when it is read, and is certainly the same, and need not be computed.

    trees: the trees in which it is read
    """
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: without_same_later(value, other[key], trees) for key, value in one.items() if key in other}
        return {**one, **{key: pair[0] for key, pair in pairs.items()}}, {
            **other,
            **{key: pair[1] for key, pair in pairs.items()},
        }
    codes = [getattr(value, "code", None) for value in (one, other)]
    texts = [plain_text(code) for code in codes if isinstance(code, CodeType)]
    if len(texts) < 2 or texts[0] is None or texts[0] != texts[1]:
        return one, other
    text = texts[0]
    read = [(dig(trees[0], path), dig(trees[1], path)) for path in text.reads]
    is_same = all(before is not ABSENT and _is_same(before, after) for before, after in read)
    return ("", "") if is_same else (one, other)


def _differing(kind: str, step: Any, values: tuple[Any, Any], tops: tuple[str, str]) -> Iterator[Difference]:
    """In what two values at one step differ."""
    sides = [*zip(values, tops, strict=True)]
    if kind == "resource" and ABSENT in values:  # it comes or goes as a whole
        old, new = (value_of(value if value is ABSENT else plain(value, top)) for value, top in sides)
        yield Difference(kind, (step,), old, new)
        return
    for change in changes(*({} if value is ABSENT else {step: plain(value, top)} for value, top in sides)):
        yield Difference(kind, change.path, value_of(change.before), value_of(change.after))


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same as far as that can be seen at once: most of a node is."""
    if one is other:
        return True
    try:
        return marshal.dumps(one, 2) == marshal.dumps(other, 2)
    except ValueError:  # something that is no plain data
        return False


def plain(value: Any, top: str) -> Any:
    """A value to be compared: seen from the folder of its side, computed, failures as what they say."""
    if isinstance(value, Mapping):
        return {step: plain(entry, top) for step, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, top) for entry in value]
    if isinstance(value, str):
        return value.replace(f"{top}/", "").replace(top, ".") if top in value else value
    if isinstance(value, NodeattrsError):
        origins = tuple(one for one in value.origins if isinstance(one, Origin))
        return FailedValue(str(value).replace(f"{top}/", ""), value.code, origins)
    if isinstance(value, Sensitive):
        return value
    evaluate = getattr(value, "evaluate", None)
    return value if evaluate is None else plain(_computed(evaluate), top)


def _computed(evaluate: Any) -> Any:
    try:
        return evaluate()
    except NodeattrsError as error:
        return error
    except Exception as error:  # what a cookbook would compute when it is read
        return f"{type(error).__name__}: {error}"


def value_of(value: Any) -> Value:
    """A value as it may be sent and shown."""
    if value is ABSENT:
        return Value(None, is_there=False)
    found: set[str] = set()
    data = _shown(value, found)
    return Value(data, True, SECRET in found, isinstance(value, FailedValue))


def _shown(value: Any, found: set[str]) -> Any:
    if isinstance(value, dict):
        return {str(step): _shown(entry, found) for step, entry in value.items()}
    if isinstance(value, list):
        return [_shown(entry, found) for entry in value]
    if hasattr(value, "unwrap") or type(value).__name__ == "Withheld":
        found.add(SECRET)
        return {SECRET: "withheld"}
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


# --- because of which lines


def _lines(opened: _Open, one: Difference, before: Answered, after: Answered) -> tuple[Line, ...]:
    """The changed lines that traces name, the side after first; of each place of the change the strongest.

    If the winner is set in a changed line, that line is the answer; of a list all setters on the side after are.
    Lines that only decide count where no setter is in a changed line.
    """
    found: dict[Hunk, Line] = {}
    sides = ((opened.job.after, after, False, one.after), (opened.job.before, before, True, one.before))
    for asked in (_set_at, _decided_at):
        for side, answer, is_gone, value in sides if not found else ():
            for number, origin in enumerate(asked(answer.get(one.kind), one.path) if value.is_there else ()):
                file = side.shown(origin.file) if origin.file else None
                hunk = opened.hunks.at(file, origin.line, is_gone=is_gone) if file else None
                if hunk is not None:
                    found.setdefault(hunk, Line(hunk.file, origin.line, is_gone))
                    if number == 0 and not is_gone and not isinstance(value.data, list):
                        return tuple(found.values())
    return tuple(found.values())


def _set_at(part: Part | None, path: TreePath) -> Iterator[Origin]:
    with suppress(NodeattrsError):  # a value that cannot be had has no trace
        yield from part.places(path) if part is not None else ()


def _decided_at(part: Part | None, path: TreePath) -> Iterator[Origin]:
    with suppress(NodeattrsError):
        yield from part.deciding(path) if part is not None else ()


def _effects(opened: _Open, before: Answered, after: Answered, named: set[Line]) -> Iterator[Effect]:
    """What became of the changed lines that set something, on this subject; one that is in effect is asked no more."""
    opened.effective |= named
    for setting in opened.job.settings:
        if setting.line in opened.effective:
            continue
        side, answer = (opened.job.before, before) if setting.line.is_gone else (opened.job.after, after)
        known = opened.suffixes.get(setting)
        for skip in range(min(3, len(setting.path))) if known is None else (known,):
            path = setting.path[skip:]
            for part in answer.values():
                effect = None if part.trace is None else _effect(part, path, setting, side)
                if effect is not None:
                    opened.suffixes[setting] = skip
                    opened.effective |= {setting.line} if effect.by is None else set()
                    yield effect
                    break
            else:
                continue
            break


def _effect(part: Part, path: TreePath, setting: ChangedSetting, side: Side) -> Effect | None:
    if path[0] not in part.tree:
        return None
    try:
        trace = part.trace(path) if part.trace is not None else None
    except NodeattrsError:
        return None
    for one in trace.claims if trace is not None else ():
        origin = one.origin
        if origin.line != setting.line.line or not origin.file or side.shown(origin.file) != setting.line.file:
            continue
        winner = trace.winner if trace is not None else None
        is_over = one.outcome is Outcome.LOSES and winner is not None
        return Effect(setting, path, str(winner.origin.place or winner.origin) if is_over and winner else None)
    return None


def key_of(value: Value) -> Any:
    """What is equal for equal values."""
    return value[1:], strict_key(value.data)
