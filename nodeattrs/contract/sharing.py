"""Answers that subjects share: those that have the same wherever one of them looked have the same answer.

This is memoisation by observed dependencies. A tree has the first look of an answer, a branch for each value found
there, the next look, and so on down to the answer. A subject is led down by its own values. Where no branch has its
value, it is computed, and adds one. Some members of each group are computed in full all the same, and compared.

Used by `impact`, `what-if` and each `matrix` of a repository. It knows no dialect: `Opened.look` says what one has.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, Generic, NamedTuple, TypeVar

from nodeattrs.contract.dialect import Opened
from nodeattrs.core.looks import OWN, Look, Looks
from nodeattrs.errors import NodeattrsError

SMALL = 20
"""A group of more members has some that are computed in full."""

_EACH = 100
"""One member in a hundred is computed in full; of each group at least `_LEAST`."""

_LEAST = 2

_Answer = TypeVar("_Answer")


class _Branch:
    """A look, and for each value the branch or the subject that follows."""

    __slots__ = ("look", "next")

    def __init__(self, look: Look) -> None:
        self.look = look
        self.next: dict[Any, _Branch | str] = {}


class Sharing:
    """The subjects of a dialect on one or two sides, and the subject that each shares the answers with.

        like = sharing.like(name)
        if not like:
            with sharing.noted(name):
                ...  # answer it; a caller that finds its name in the answer calls `refuse`

    sides: the same dialect, opened on each side
    """

    def __init__(self, sides: Sequence[Opened]) -> None:
        self._sides = sides
        self._shared = LookTree()

    def like(self, name: str) -> str:
        """The subject whose answers a subject shares; "" where it must be answered itself."""
        return (self._shared.find(partial(self._value_of, name)) or "") if self._may_share(name) else ""

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        """A block that answers a subject: where it looks is noted, and the next ones may share its answers."""
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
            self._shared.add(_in_order(looks), partial(self._value_of, name), name)

    def refuse(self, why: str) -> None:
        """Say within `noted` that no other subject shares these answers."""
        for opened in self._sides:
            if opened.looks is not None:
                opened.looks.refuse(why)

    def _value_of(self, name: str, look: tuple[int, Look]) -> Any:
        side, its = look
        return self._sides[side].look(name, its)

    def _may_share(self, name: str) -> bool:
        """Whether all that a subject looks at is noted, and what is its own is the same on both sides."""
        try:
            own = [opened.own(name) for opened in self._sides if len(self._sides) > 1]
            return all(one.notes_looks for one in self._sides) and all(one == own[0] for one in own)
        except NodeattrsError:
            return False


def _in_order(looks: Sequence[Looks]) -> list[tuple[int, Look]]:
    """The looks of all sides, each with the number of its side: 0 for what is the same on each."""
    made = dict.fromkeys(look for its in looks for look in its.made)
    return [(side, look) for look in made for side in range(1 if look[0] in OWN else len(looks))]


class LookTree:
    """The subjects that were answered, by what they have at their looks."""

    def __init__(self) -> None:
        self._top: _Branch | str | None = None

    def find(self, value_of: Callable[[Any], Any]) -> str | None:
        """The subject that has the same at each of its looks; None without one.

        value_of: what the subject of the question has at a look
        """
        here = self._top
        try:
            while isinstance(here, _Branch):
                here = here.next.get(value_of(here.look))
        except NodeattrsError:  # what it has cannot be read: its own answer says so
            return None
        return here

    def add(self, looks: Iterable[Any], value_of: Callable[[Any], Any], name: str) -> bool:
        """Keep a subject. Returns False, and keeps nothing, where equal values led to another look before.

        looks: of its answer, in order
        """
        try:
            found = [(look, value_of(look)) for look in looks]
        except NodeattrsError:
            return False
        here, above, depth = self._top, None, 0
        while here is not None:
            if depth == len(found) or isinstance(here, str) or here.look != found[depth][0]:
                return False
            above, here, depth = here, here.next.get(found[depth][1]), depth + 1
        new: _Branch | str = name
        for look, value in reversed(found[depth:]):
            branch = _Branch(look)
            branch.next[value] = new
            new = branch
        if above is None:
            self._top = new
        else:
            above.next[found[depth - 1][1]] = new
        return True


def has_name(name: str, answer: Any) -> bool:
    """Whether a text of an answer has the name of its subject. Then no other subject shares it."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", repr(answer)) is not None


class SampledAnswers(NamedTuple, Generic[_Answer]):
    """The answers of all subjects, after some that are shared were computed as well.

    answers:    subject -> its answer
    shared:     the number of subjects that share an answer
    checked:    the number of these that were computed as well
    one_by_one: the number of subjects that were computed because one of their group has another answer
    seed:       of the choice
    """

    answers: dict[str, _Answer]
    shared: int
    checked: int
    one_by_one: int
    seed: int

    @property
    def note(self) -> str:
        """That subjects were computed one by one, in words; "" where none was."""
        some = f"{self.one_by_one} subjects have the same facts wherever they were read, and not the same answer"
        return f"{some}: each of them was computed" if self.one_by_one else ""


def checked(
    own: Mapping[str, _Answer],
    like: Mapping[str, str],
    compute: Callable[[Sequence[str]], Mapping[str, _Answer]],
    is_same: Callable[[_Answer, _Answer], bool],
) -> SampledAnswers[_Answer]:
    """Compute some members of each large group as well. Where one differs, each member of its group is computed.

    own:     subject -> its answer, for those that were computed
    like:    subject -> the subject whose answer it shares
    compute: computes subjects without sharing
    """
    groups: dict[str, list[str]] = {}
    for name, one in like.items():
        if one in own:
            groups.setdefault(one, []).append(name)
    shared = {name: one for one, names in groups.items() for name in names}
    seed = seed_of(sorted([*own, *shared]))
    again = compute([*drawn(groups, seed)])
    odd = {shared[name] for name, answer in again.items() if not is_same(answer, own[shared[name]])}
    one_by_one = [name for one in sorted(odd) for name in groups[one]]
    answers = {**own, **{name: own[one] for name, one in shared.items() if one not in odd}, **compute(one_by_one)}
    return SampledAnswers(answers, len(shared) - len(one_by_one), len(again), len(one_by_one), seed)


def answers(
    opened: Opened,
    names: Iterable[str],
    compute: Callable[[str], _Answer],
    says: Callable[[_Answer], object],
) -> SampledAnswers[_Answer]:
    """The answer of each subject of one side, all computed in this process.

    compute: computes the answer of a subject
    says:    gives all that an answer says: equal for equal answers
    """
    sharing = Sharing([opened])
    own: dict[str, _Answer] = {}
    like: dict[str, str] = {}
    for name in names:
        if other := sharing.like(name):
            like[name] = other
            continue
        with sharing.noted(name):
            own[name] = compute(name)
            if has_name(name, says(own[name])):
                sharing.refuse("a text has its name")
    return checked(
        own, like, lambda some: {name: compute(name) for name in some}, lambda one, other: says(one) == says(other)
    )


def seed_of(names: Sequence[str]) -> int:
    """The seed of the samples of some subjects: the same for the same subjects."""
    return int.from_bytes(sha256("\0".join(names).encode("utf-8", "surrogatepass")).digest()[:4], "big")


def drawn(groups: Mapping[str, Sequence[str]], seed: int) -> Iterator[str]:
    """The members of the larger groups that are computed in full, beside the one that was."""
    chance = random.Random(seed)
    for one in sorted(groups):
        members = sorted(groups[one])
        if len(members) > SMALL:
            yield from chance.sample(members, max(_LEAST, len(members) // _EACH))
