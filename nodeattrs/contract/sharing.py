"""Find subjects that have the same answer, so that it is computed only once.

An answer notes each value that it reads of its subject, as a *look* (`core.looks`). Another subject with equal values
for all looks has the same answer. Some members of each group are computed nevertheless, and compared.

There are two ways to use this module. For the answers of one side, `shared_answers` does everything; `matrix` and
`where` call it. For two sides, `Sharing` finds the equal subjects, and `compute_samples` compares; so do `impact` and
`what-if`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import Any, Generic, NamedTuple, TypeVar

from nodeattrs.contract.dialect import Opened
from nodeattrs.core.looks import OWN, Look, Looks
from nodeattrs.errors import NodeattrsError

_SMALL = 20
"""A group of at most so many members has no samples."""

_EACH = 100
"""One member in a hundred is a sample; of each group at least `_LEAST`."""

_LEAST = 2

_Answer = TypeVar("_Answer")


class _Branch:
    """A look, and for each value at it the next branch, or the subject that was answered."""

    __slots__ = ("look", "next")

    def __init__(self, look: Look) -> None:
        self.look = look
        self.next: dict[Any, _Branch | str] = {}


class Sharing:
    """Finds, for each subject of a dialect, an earlier subject with equal answers on one or two sides.

        equal = sharing.equal_subject(name)
        if not equal:
            with sharing.answering(name):
                ...  # compute the answers of this subject on all sides

    `equal_subject` returns the name of the earlier subject, or "" if the subject must be computed. `answering` is a
    context manager around the computation. After an error in its block, no other subject shares the answers. If the
    answer contains the subject's own name, the caller calls `refuse` in the block. For a dialect that notes no looks,
    `equal_subject` always returns "". An instance keeps names and looks. The caller keeps the answers.
    sides: the same dialect, opened on each side; the constructor reads nothing
    """

    def __init__(self, sides: Sequence[Opened]) -> None:
        self._sides = sides
        self._shared = LookTree()

    def equal_subject(self, name: str) -> str:
        """An earlier subject that has the same answers; "" where there is none, and it must be computed."""
        found = self._shared.find(self._values_of(name)) if self._may_share(name) else None
        return found or ""

    @contextmanager
    def answering(self, name: str) -> Iterator[None]:
        """A context manager for the computation of a subject's answers. It notes what they read, so that other subjects
        may share them.

        After an error in the block, or after `refuse`, no other subject shares the answers. The block of one subject
        has to end before the block of the next subject begins.
        """
        looks = [Looks() for _ in self._sides]
        may_share = self._may_share(name)
        for opened, its in zip(self._sides, looks, strict=True):
            opened.looks = its if may_share else None
        try:
            yield
        finally:
            for opened in self._sides:
                opened.looks = None
        if may_share and not any(one.unshared for one in looks):
            self._shared.add(_in_order(looks), self._values_of(name), name)

    def refuse(self, why: str) -> None:
        """Say, in the block of `answering`, that no other subject may share these answers. why: in words"""
        for opened in self._sides:
            if opened.looks is not None:
                opened.looks.refuse(why)

    def _values_of(self, name: str) -> Callable[[tuple[int, Look]], Any]:
        """A function that returns the value of a subject for (side, look). It raises the errors of the dialect."""
        on = cache(lambda side: self._sides[side].values_of(name))
        return lambda look: on(look[0])(look[1])

    def _may_share(self, name: str) -> bool:
        """Whether the dialect notes all looks, and the subject's own files are the same on both sides."""
        try:
            own = [opened.own(name) for opened in self._sides if len(self._sides) > 1]
            return all(one.notes_looks for one in self._sides) and all(one == own[0] for one in own)
        except NodeattrsError:
            return False


def _in_order(looks: Sequence[Looks]) -> list[tuple[int, Look]]:
    """(side, look) for each look of all sides; only side 0 for looks at the subject's own files, which are the same."""
    made = dict.fromkeys(look for its in looks for look in its.made)
    return [(side, look) for look in made for side in range(1 if look[0] in OWN else len(looks))]


class LookTree:
    """A tree of answered subjects. It finds an earlier subject whose answer another subject can share. Empty at first.

    The top is the first look of all answers. Each look has a branch for each value that was found there. A branch leads
    to the next look, and at last to a subject. `find` follows the values of a new subject; it returns None where there
    is no branch. `add` adds the path of a subject that was answered, and returns whether it was added.
    """

    def __init__(self) -> None:
        self._first: dict[Any, _Branch | str] = {}

    def find(self, value_of: Callable[[Any], Any]) -> str | None:
        """An added subject whose looks all have the same values on the subject in question; None without one.

        None also if a value cannot be read.
        value_of: called with a look, it returns the value of the subject in question. Its NodeattrsError means "cannot
                  be read"
        """
        here = self._first.get(None)
        try:
            while isinstance(here, _Branch):
                here = here.next.get(value_of(here.look))
        except NodeattrsError:  # its own answer will say why
            return None
        return here

    def add(self, looks: Iterable[Any], value_of: Callable[[Any], Any], name: str) -> bool:
        """Add a subject that was answered; returns True if it was added.

        It is not added if a value cannot be read, if the tree has a subject with equal values already, or if the tree
        has another look after equal values.
        looks:    the looks of its answer, in order
        value_of: look -> the value of this subject
        name:     the subject
        """
        try:
            found = [(look, value_of(look)) for look in looks]
        except NodeattrsError:
            return False
        branches, key = self._first, None
        for look, value in found:
            branch = branches.setdefault(key, _Branch(look))
            if isinstance(branch, str) or branch.look != look:
                return False
            branches, key = branch.next, value
        is_new = key not in branches
        branches.setdefault(key, name)
        return is_new


def has_name(name: str, answer: Any) -> bool:
    """Whether the name of a subject is in a text of its answer, so that no other subject may share it."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", repr(answer)) is not None


class SampledAnswers(NamedTuple, Generic[_Answer]):
    """The answers of all subjects, and how many of them were shared.

    answers:    subject -> its answer
    shared:     the number of subjects that have the answer of another one, and were not computed
    checked:    the number of subjects that were computed only to compare them with the answer of their group
    one_by_one: the number of subjects that were computed because a comparison in their group differed
    seed:       the seed for choosing the subjects to compare
    note:       a warning if a comparison differed; "" if none did
    """

    answers: dict[str, _Answer]
    shared: int
    checked: int
    one_by_one: int
    seed: int

    @property
    def note(self) -> str:
        """A warning that samples differed, so that groups were computed one by one; "" where none did."""
        some = f"{self.one_by_one} subjects have the same facts wherever they were read, and not the same answer"
        return f"{some}: each of them was computed" if self.one_by_one else ""


def compute_samples(
    own: Mapping[str, _Answer],
    equal: Mapping[str, str],
    compute: Callable[[Sequence[str]], Mapping[str, _Answer]],
    is_same: Callable[[_Answer, _Answer], bool],
) -> SampledAnswers[_Answer]:
    """The answers of all subjects, also of those that share the answer of another subject, and how many share one.

    Of each large group, some subjects are computed and compared with the answer of the group. If one differs, all
    subjects of the group are computed.

    own:     subject -> its answer, for the subjects that were computed
    equal:   subject -> the subject in *own* whose answer it shares. A subject is left out if *own* lacks that answer
    compute: called with a list of subjects, it returns subject -> answer, computed without sharing. It is called twice;
             the list may be empty
    is_same: called with two answers, it returns whether they are equal
    """
    groups: dict[str, list[str]] = {}
    for name, one in equal.items():
        if one in own:
            groups.setdefault(one, []).append(name)
    shared = {name: one for one, names in groups.items() for name in names}
    names = "\0".join(sorted([*own, *shared])).encode("utf-8", "surrogatepass")
    seed = int.from_bytes(sha256(names).digest()[:4], "big")  # the same for the same subjects
    samples = compute([*drawn(groups, seed)])
    wrong = {shared[name] for name, answer in samples.items() if not is_same(answer, own[shared[name]])}
    one_by_one = [name for one in sorted(wrong) for name in groups[one]]
    answers = {**own, **{name: own[one] for name, one in shared.items() if one not in wrong}, **compute(one_by_one)}
    return SampledAnswers(answers, len(shared) - len(one_by_one), len(samples), len(one_by_one), seed)


def shared_answers(
    opened: Opened,
    names: Iterable[str],
    compute: Callable[[str], _Answer],
    content: Callable[[_Answer], object],
    *,
    is_off: bool = False,
) -> SampledAnswers[_Answer]:
    """The answers of subjects of one side, in the order of *names*, and how many of them were shared.

    Subjects share one answer if they have equal values for everything that its computation read. Some of these
    subjects are computed nevertheless, and compared. If one differs, each subject of its group is computed.
    opened:  the dialect, opened on the side
    names:   the subjects
    compute: called with a subject, it returns its answer, in this process
    content: called with an answer, it returns the value to compare. If the subject's name is a word in the repr of this
             value, the answer is not shared
    is_off:  True: no answer is shared, each subject is computed
    raises:  the errors of *compute*; no answers then
    """
    if is_off:
        return SampledAnswers({name: compute(name) for name in names}, 0, 0, 0, 0)
    sharing = Sharing([opened])
    own: dict[str, _Answer] = {}
    equal: dict[str, str] = {}
    for name in names:
        equal[name] = sharing.equal_subject(name)
        if equal[name]:
            continue
        with sharing.answering(name):
            own[name] = compute(name)
            if has_name(name, content(own[name])):
                sharing.refuse("a text has its name")

    def compute_all(some: Sequence[str]) -> Mapping[str, _Answer]:
        return {name: compute(name) for name in some}

    shared = {name: other for name, other in equal.items() if other}
    found = compute_samples(own, shared, compute_all, lambda one, two: content(one) == content(two))
    return found._replace(answers={name: found.answers[name] for name in equal})


def drawn(groups: Mapping[str, Sequence[str]], seed: int) -> Iterator[str]:
    """Yield the subjects to compute and compare: one in a hundred, at least two, of each group with more than 20.

    groups: the subject that was computed -> the subjects that share its answer
    seed:   the same seed gives the same subjects
    """
    chance = random.Random(seed)
    for one in sorted(groups):
        members = sorted(groups[one])
        if len(members) > _SMALL:
            yield from chance.sample(members, max(_LEAST, len(members) // _EACH))
