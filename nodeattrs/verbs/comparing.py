"""Compare the answers of one subject on two sides of a change.

A *side* is one version of the files. `compared` runs in a worker process. The function returns plain data that can be
pickled; secrets never leave the process. `answered` and `differences` also serve the verbs that ask one side.
"""

from __future__ import annotations

import marshal
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
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
"""The only key of the map that replaces a secret in the data of a `Value`."""
NO_ANSWER = "no answer"
"""The only kind in the answer of a subject that cannot be resolved: its part has the error under this key."""


@dataclass(frozen=True, slots=True)
class _FailedValue:
    """The error in place of a value that cannot be computed; equal errors from other lines are equal."""

    message: str
    code: str
    origins: tuple[Origin, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class Value(NamedTuple):
    """A value of one side as plain data, without methods. It can be pickled. `value_of` makes it.

    data:      the value as JSON has it, with {SECRET: "withheld"} for secrets. For a failed value: the text of the
               error. None for a value that is not set
    is_there:  False for a value that is not set; True for null and for a failed value
    is_secret: whether the value is a secret or contains one
    is_failed: whether the value failed: it could not be computed. False for a map in which only an entry failed
    """

    data: Any = None
    is_there: bool = True
    is_secret: bool = False
    is_failed: bool = False


class Difference(NamedTuple):
    """A path whose value differs between the two sides, for one subject.

    kind:   the kind of value: "attribute", "resource", "key", ...; NO_ANSWER: an error of the subject
    before, after: the values; `is_there` is False on a side without a value
    lines:  the changed lines that the traces of the value name; () where they name none
    unread: the places that were not read, and may set the value on one of the sides
    """

    kind: str
    path: TreePath
    before: Value
    after: Value
    lines: tuple[Line, ...] = ()
    unread: tuple[str, ...] = ()


class ChangedSetting(NamedTuple):
    """A changed line that sets a value, and the path in its document."""

    line: Line
    path: TreePath


class Effect(NamedTuple):
    """The effect of a changed line on one subject.

    setting: the line, and the path in its document
    path:    the path in the subject's answer, perhaps a shorter one than that in the document
    by:      the line that overrides it, in words; None where its value is read
    """

    setting: ChangedSetting
    path: TreePath
    by: str | None


@dataclass(frozen=True, slots=True)
class SubjectComparison:
    """The result of `compared` for one subject.

    `has_answers_of` says whether the result of another subject has equal answers. `shared_by` returns a copy for
    another subject.
    name:        the name of the subject
    differences: the differences; () for equal answers
    reads:       the keys that differ between the sides, and that this process has read on the side before until now
    failed:      the error in words, if both sides have the same error; "" otherwise
    effects:     for each changed line that sets a value, whether it changed the value
    unread:      the changed files that were not read, or not run, for the subject
    doubtful:    True: at least one file or program was not read for the subject
    like:        the name of the other subject whose answers this subject shares; "": it has its own answers. If
                 `compared` sets *like*, it sets only *name* in addition; `shared_by` makes a copy with all fields
    """

    name: str
    differences: tuple[Difference, ...] = ()
    reads: frozenset[str] = frozenset()
    failed: str = ""
    effects: tuple[Effect, ...] = ()
    unread: frozenset[str] = frozenset()
    doubtful: bool = False
    like: str = ""

    def has_answers_of(self, other: SubjectComparison) -> bool:
        """Whether two subjects have the same `differences`, `failed`, `unread` and `doubtful`."""
        names = ("differences", "failed", "unread", "doubtful")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def shared_by(self, name: str) -> SubjectComparison:
        """A copy for the subject *name*, which shares these answers."""
        return replace(self, name=name, like=self.name)


class Job(NamedTuple):
    """One dialect and the two sides to compare: what the comparisons of all subjects have in common. It can be pickled.

    `opened` opens the dialect on one side; `before` and `after` are the two sides.
    dialect:  the name of the dialect
    hunks:    the places in which the two sides differ
    request:  the options for each subject. A what-if in the request counts only on the side after
    settings: the changed lines whose effects are looked for
    """

    dialect: str
    hunks: Hunks
    request: Request
    settings: tuple[ChangedSetting, ...] = ()

    @property
    def before(self) -> Side:
        return self.hunks.before

    @property
    def after(self) -> Side:
        return self.hunks.after

    def opened(self, side: Side) -> Opened:
        """The dialect, opened anew on one side; only on the side *after* with the changes of a what-if."""
        request = self.request if side is self.after else self.request._replace(what_if=AS_IT_IS)
        return named(self.dialect).open(side, request)

    def changed(self, keys: Iterable[str]) -> Iterator[str]:
        """Yield each of some keys whose marks differ between the sides, and EVERYTHING if it is among them."""
        return (one for one in keys if one == EVERYTHING or self.before.mark(one) != self.after.mark(one))


class Task(NamedTuple):
    """The argument of `compared` that all subjects of a job share. It is small: each batch of names is sent with one.

    file:    the file with the pickled job; it is read once in each process
    on_both: True: the subjects are on both sides, and may have equal answers without a computation of both
    sharing: True: subjects share answers
    """

    file: str
    on_both: bool
    sharing: bool = False


class _OpenJob:
    """A job in this process, with both sides open.

    reads:     the keys that differ between the sides, and that were read on the side before until now
    suffixes:  changed line -> steps of its path that an answer does not have: found once, for all subjects
    effective: the changed lines that are in effect on some subject
    """

    def __init__(self, file: str) -> None:
        self.job: Job = pickle.loads(Path(file).read_bytes())
        self.sides = [self.job.opened(side) for side in (self.job.before, self.job.after)]
        self.reads: frozenset[str] = frozenset()
        self.suffixes: dict[ChangedSetting, int] = {}
        self.effective: set[Line] = set()
        self.sharing = Sharing(self.sides)

    def note(self, keys: Iterable[str]) -> None:
        """Add to `reads` each of some keys that differs between the sides. keys: as `watched` gives them"""
        self.reads |= frozenset(self.job.changed(keys))

    def unread_of(self, opened: Opened, answer: Answered) -> tuple[frozenset[str], bool]:
        """Returns (changed files that were not read, or not run, for an answer; whether anything was not)."""
        places = [*(one.place for one in opened.unread), *_unknown_files(answer)]
        files = {opened.side.shown(place) for place in places}
        changed = self.job.hunks.files
        if any(not one.paths for one in opened.unread):
            files |= {file for file in changed if opened.may_run(file)}
        return frozenset(file for file in changed if file in files or opened.fetches(file)), bool(places)

    def files_changing_unread(self) -> frozenset[str]:
        """The changed files that were read, if other files are unread on one side alone, or for another reason there.

        Example: settings no longer name a file that needs an unknown fact. It is unread on the side before alone.
        An empty set if the same other files are unread on both sides. Call it after the answers of both sides.
        """
        files = self.job.hunks.files
        places = [
            {(file, one.reason) for one in side.unread if (file := side.side.shown(one.file)) in side.side.files}
            for side in self.sides
        ]
        is_other = any(file not in files for file, _ in places[0] ^ places[1])
        return frozenset(file for file in files if file in self.reads) if is_other else frozenset()


def _unread_at(one: Difference, sides: Iterable[tuple[Opened, Answered]]) -> Iterator[str]:
    """The places that were not read on either side, and may set what differs."""
    for opened, answer in sides:
        yield from (str(place) for place in opened.unread if place.may_set(one.path))
        part = answer.get(one.kind)
        with suppress(NodeattrsError):  # a value that cannot be had has no trace
            for claim in part.trace(one.path).unknown if part is not None and part.trace is not None else ():
                yield f"{claim.claim.origin}: {claim.why}"


NO_SUCH_KEY = "no_such_key"
"""A key that is set nowhere: its trace names each unknown layer that may set any key."""


def _unknown_files(answer: Answered) -> Iterator[str]:
    """The file of each unknown layer of an answer, or its origin in words."""
    for part in answer.values():
        if part.trace is not None and not part.is_known:
            for one in part.trace((NO_SUCH_KEY,) if part.is_keyed else ()).unknown:
                yield one.claim.origin.file or str(one.claim.origin)


_opened = lru_cache(maxsize=2)(_OpenJob)
"""file of a pickled job -> the open job; a process keeps two of them."""


def compared(task: Task, name: str) -> SubjectComparison:
    """Compute one subject on both sides, and compare the answers.

    If it shares the answers of another subject, nothing is computed, and only `name` and `like` of the result are set.
    The side after is not computed while this process has read nothing on the side before that the change touches.
    Errors of the subject are part of the result. The job is opened once in this process, and stays open.
    """
    opened = _opened(task.file)
    with held_back(not opened.job.request.run_code):
        if not task.sharing:
            return _compared(task, opened, name)
        with watched(opened.job.before) as keys:
            like = opened.sharing.equal_subject(name)
        if like:
            return SubjectComparison(name, like=like)
        opened.note(keys())
        with opened.sharing.answering(name):
            found = _compared(task, opened, name)
            if found.failed or has_name(name, (found.differences, found.effects, found.unread)):
                opened.sharing.refuse("a text has its name")
        return found


def _compared(task: Task, opened: _OpenJob, name: str) -> SubjectComparison:
    job = opened.job
    with watched(job.before) as keys:
        before = answered(opened.sides[0], name)
    opened.note(keys())
    unread, is_doubtful = opened.unread_of(opened.sides[0], before)
    if task.on_both and not opened.reads and job.request.what_if == AS_IT_IS:
        return SubjectComparison(name, failed=_failure(opened.sides[0], before), unread=unread, doubtful=is_doubtful)
    after = answered(opened.sides[1], name)
    more, is_more = opened.unread_of(opened.sides[1], after)
    tops = str(job.before.top), str(job.after.top)
    answers = zip(opened.sides, (before, after), tops, strict=True)
    failures = [plain(_failure(side, answer), top) for side, answer, top in answers]
    failed = failures[0] if failures[0] == failures[1] else ""
    found = [one._replace(lines=_lines(opened, one, before, after)) for one in differences(before, after, tops)]
    if is_doubtful or is_more:
        sides = [*zip(opened.sides, (before, after), strict=True)]
        found = [one._replace(unread=tuple(dict.fromkeys(_unread_at(one, sides)))) for one in found]
    effects = tuple(_effects(opened, before, after, {line for one in found for line in one.lines}))
    unread |= more | opened.files_changing_unread()
    return SubjectComparison(name, tuple(found), opened.reads, failed, effects, unread, is_doubtful or is_more)


def answered(opened: Opened, name: str, *, later: bool = False) -> Answered:
    """The answer of a subject. Where a NodeattrsError is raised, the answer is {NO_ANSWER: part with the error}.

    Modules that code of the side imports are forgotten afterwards, and sys.path is restored.
    later: True: a key may be looked up at its first use. False: all that the answer reads is read now
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
    """A context manager: modules below *top* that are imported within the block are removed at its end.

    The other side has modules of the same names, which must be imported anew.
    """
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


def _failure(opened: Opened, answer: Answered) -> str:
    """Why an answer, or the first deferred value in it, cannot be computed; "" where all of it can."""
    if NO_ANSWER in answer:
        return str(answer[NO_ANSWER].tree[NO_ANSWER])
    return next((str(one) for one in opened.unread if one.is_uncomputed), "")


# --- comparing


def differences(before: Answered, after: Answered, tops: tuple[str, str]) -> Iterator[Difference]:
    """Yield a Difference, without lines, for each path whose value differs between two answers; nothing for equal ones.

    If a side has an error instead of an answer, there is one Difference of kind NO_ANSWER; none if both errors are
    equal. Deferred values are computed. For a value that is nested too deeply, the Difference is at its first step.
    before, after: the answers of one subject on the two sides
    tops:          the folders of the sides, whose names are removed from texts in the values
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
                one, other = _without_same_code(one, other, (old, new))
                found = [*_differing(kind, step, (one, other), tops)]
            except RecursionError:
                shown = [value if value is ABSENT else "nested too deep to compare" for value in (one, other)]
                found = [Difference(kind, (step,), value_of(shown[0]), value_of(shown[1]))]
            yield from found


def _without_same_code(one: Any, other: Any, trees: tuple[Mapping[Any, Any], Mapping[Any, Any]]) -> tuple[Any, Any]:
    """Both values, with "" on both sides for code that certainly computes the same: it need not run.

    trees: the trees that the code of each side reads
    """
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = {**one}, {**other}
        for key in one.keys() & other.keys():
            one[key], other[key] = _without_same_code(one[key], other[key], trees)
        return one, other
    codes = [getattr(value, "code", None) for value in (one, other)]
    texts = [plain_text(code) for code in codes if isinstance(code, CodeType)]
    if len(texts) < 2 or texts[0] is None or texts[0] != texts[1]:
        return one, other
    text = texts[0]
    read = [(dig(trees[0], path), dig(trees[1], path)) for path in text.reads]
    is_same = all(before is not ABSENT and _is_same(before, after) for before, after in read)
    return ("", "") if is_same else (one, other)


def _differing(kind: str, step: Any, values: tuple[Any, Any], tops: tuple[str, str]) -> Iterator[Difference]:
    """Yield a Difference for each path at or below *step* where two values differ."""
    sides = [*zip(values, tops, strict=True)]
    if kind == "resource" and ABSENT in values:  # a resource is added or removed as a whole
        old, new = (value_of(value if value is ABSENT else plain(value, top)) for value, top in sides)
        yield Difference(kind, (step,), old, new)
        return
    for change in changes(*({} if value is ABSENT else {step: plain(value, top)} for value, top in sides)):
        yield Difference(kind, change.path, value_of(change.before), value_of(change.after))


def _is_same(one: Any, other: Any) -> bool:
    """True for two values that are certainly equal, by one quick comparison; False says nothing."""
    if one is other:
        return True
    try:
        return marshal.dumps(one, 2) == marshal.dumps(other, 2)
    except ValueError:  # something that is no plain data
        return False


def plain(value: Any, top: str) -> Any:
    """A copy of a value for comparison: a map as a dict, a list or tuple as a list, a deferred value computed.

    A NodeattrsError, also one that a deferred value raises, becomes an object whose text is "message [code]". Any other
    error of a deferred value becomes a text such as "KeyError: 'a'". Secrets and all other values stay as they are.
    top: the folder of the side. Its name is removed from texts and messages, and not from keys
    """
    if isinstance(value, Mapping):
        return {step: plain(entry, top) for step, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, top) for entry in value]
    if isinstance(value, str):
        return value.replace(f"{top}/", "").replace(top, ".") if top in value else value
    if isinstance(value, NodeattrsError):
        origins = tuple(one for one in value.origins if isinstance(one, Origin))
        return _FailedValue(str(value).replace(f"{top}/", ""), value.code, origins)
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
    """A Value with the plain data of *value*. Keys, and values that JSON does not have, become texts.

    Secrets are withheld, and `is_secret` is then True.
    value: as `plain` returns it; ABSENT gives a Value that is not there
    """
    if value is ABSENT:
        return Value(None, is_there=False)
    secrets: list[Any] = []
    data = _shown(value, secrets)
    return Value(data, True, bool(secrets), isinstance(value, _FailedValue))


def _shown(value: Any, secrets: list[Any]) -> Any:
    """The plain data of a value; each secret in it is appended to *secrets*."""
    if isinstance(value, dict):
        return {str(step): _shown(entry, secrets) for step, entry in value.items()}
    if isinstance(value, list):
        return [_shown(entry, secrets) for entry in value]
    if hasattr(value, "unwrap") or type(value).__name__ == "Withheld":
        secrets.append(value)
        return {SECRET: "withheld"}
    if hasattr(value, "with_inner"):  # a value under a YAML tag, whose text masks its secrets
        _shown(value.value, secrets)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


# --- the lines that cause a difference


def _lines(opened: _OpenJob, one: Difference, before: Answered, after: Answered) -> tuple[Line, ...]:
    """The changed lines that traces name: one for each place of the change, first on the side after.

    If a changed line sets the winner, only that line is returned; for a list, all changed lines that set elements.
    If no changed line sets the value, lines that only decide count, such as a condition.
    """
    found: dict[Hunk, Line] = {}
    sides = ((opened.job.after, after, False, one.after), (opened.job.before, before, True, one.before))
    for origins_of in (lambda part: part.places(one.path), lambda part: part.deciding(one.path)):
        for side, answer, is_gone, value in sides if not found else ():
            origins = _origins(answer.get(one.kind), origins_of) if value.is_there else ()
            for number, origin in enumerate(origins):
                file = side.shown(origin.file) if origin.file else None
                hunk = opened.job.hunks.at(file, origin.line, is_gone=is_gone) if file else None
                if hunk is not None:
                    found.setdefault(hunk, Line(hunk.file, origin.line, is_gone))
                    if number == 0 and not is_gone and not isinstance(value.data, list):
                        return tuple(found.values())
    return tuple(found.values())


def _origins(part: Part | None, origins_of: Callable[[Part], Iterable[Origin]]) -> Iterator[Origin]:
    with suppress(NodeattrsError):  # a value that cannot be had has no trace
        yield from origins_of(part) if part is not None else ()


def _effects(opened: _OpenJob, before: Answered, after: Answered, named: set[Line]) -> Iterator[Effect]:
    """Yield the effect of each changed line that sets a value. Lines that are in effect on some subject are left out.

    named: lines that cause a difference of this subject, so they are in effect
    """
    opened.effective |= named
    for setting in opened.job.settings:
        if setting.line in opened.effective:
            continue
        side, answer = (opened.job.before, before) if setting.line.is_gone else (opened.job.after, after)
        known = opened.suffixes.get(setting)
        skips = range(min(3, len(setting.path))) if known is None else (known,)
        tried = (
            (skip, _effect(part, setting.path[skip:], setting, side)) for skip in skips for part in answer.values()
        )
        for skip, effect in tried:
            if effect is not None:
                opened.suffixes[setting] = skip
                opened.effective |= {setting.line} if effect.by is None else set()
                yield effect
                break


def _effect(part: Part, path: TreePath, setting: ChangedSetting, side: Side) -> Effect | None:
    """The effect of a changed line at *path*; None where the trace of the path does not name the line."""
    if part.trace is None or path[0] not in part.tree:
        return None
    try:
        trace = part.trace(path)
    except NodeattrsError:
        return None
    for one in trace.claims:
        origin, winner = one.origin, trace.winner
        if origin.line == setting.line.line and origin.file and side.shown(origin.file) == setting.line.file:
            is_over = one.outcome is Outcome.LOSES and winner is not None
            return Effect(setting, path, str(winner.origin.place or winner.origin) if is_over and winner else None)
    return None


def value_key(value: Value) -> Any:
    """A hashable key, equal for values with equal data, types included, and equal flags."""
    return value[1:], strict_key(value.data)
