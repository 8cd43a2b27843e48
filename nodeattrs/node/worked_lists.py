"""Lists of a slot that were changed in place or united: the first setters, the later ones, and what of each is left.

Elements of one list may have several setters: others may have moved them, put elements beside them, or set a part of
them again. The module knows no other slots than the two of a component.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.core.claim import Claim
from nodeattrs.core.origins import At, Origins
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig
from nodeattrs.node.joined import plain
from nodeattrs.node.ledger import Event, Ledger
from nodeattrs.node.maps import (
    SetBy,
    WorkedList,
    element_setters,
    first_marks,
    last_mark,
    later_marks,
    set_by_at,
    setters,
    setters_at,
)
from nodeattrs.node.slots import COMPONENTS

_LOWER = {one.recipe: one.file for one in COMPONENTS}
READY = SCALARS | {Absent}
"""What is shown as it is."""


def shown(value: Any) -> Any:
    """A value as a claim has it: plain, and nothing computed for it."""
    return value if type(value) in READY else plain(value, False)


class Continuation(NamedTuple):
    """The history of a list that was changed in place, or of a part of one, as claims.

    slot:   the weaker slot that the list was taken over from, and that still has it, as a recipe changes the
            attribute file's list; else None
    begun:  the claims that set it first; several where lists had united. Their value is ABSENT where it is not kept
    steps:  the claims that changed it in place since, each line once, the last one last
    events: the events of the history that are only these changes, and so need no row of their own
    """

    slot: int | None
    begun: tuple[Claim, ...]
    steps: tuple[Claim, ...]
    events: tuple[Event, ...]


def work_at(ledger: Ledger, slot: int, path: Path) -> ListWork | None:
    """The first list on the way of a path that was united or changed in place in a slot; None without one."""
    for depth in range(len(path) + 1):
        set_by, value = set_by_at(ledger.trees[slot], path[:depth])
        if isinstance(set_by, list) and isinstance(value, list):
            return ListWork(ledger, slot, path, depth, set_by)
    return None


class ListWork:
    """A list of a slot that was united or changed in place, and the part of it that a path leads to.

    path:  the path in question
    depth: the list stands at this depth of the path
    now:   the origins of its elements now; a `WorkedList` where it was changed in place

    `states` are its versions, `taken_over` the one that the weaker slot had, `continued` its first setters and changes.
    `is_left` says whether something of the start is left, `continues` whether a weaker claim is, `events` lists what
    the
    history need not repeat.
    """

    def __init__(self, ledger: Ledger, slot: int, path: Path, depth: int, now: list[Origins]) -> None:
        self.ledger, self.slot, self.path, self.depth, self.now = ledger, slot, path, depth, now

    @property
    def at(self) -> Path:
        """The path of the list."""
        return self.path[: self.depth]

    @cached_property
    def states(self) -> list[_State]:
        """The list and its earlier versions, in this slot and the weaker one; the newest first."""
        return list(_states(self.ledger, self.slot, self.at))

    @cached_property
    def taken_over(self) -> _State | None:
        """The version of the list in the weaker slot that this list was taken over from.

        None where it was not taken over, was only united, or that version is not kept.
        """
        if not isinstance(self.now, WorkedList):
            return None
        found = (one for one in self.states if first_marks(one.set_by) == self.now.begun)
        return next((one for one in found if _goes_on(one, self.now, self.slot)), None)

    @cached_property
    def continued(self) -> Continuation | None:
        """The Continuation; None where the list was not changed in place since the part in question was set."""
        if not isinstance(self.now, WorkedList):
            return None
        return self._list(self.now) if self.depth == len(self.path) else self._part(self.now)

    @cached_property
    def is_left(self) -> bool:
        """Whether something of the list is left that it began with; True where *path* leads into the list.

        Also True for a list that began empty.
        """
        early = later_marks(self.taken_over.set_by) if self.taken_over is not None else ()
        is_left = not {setter.source for setter in self._left}.isdisjoint((*first_marks(self.now), *early))
        return is_left or self.depth < len(self.path) or self._first().value == []

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of the history that are only changes of this list in place, and so need no row of their own."""
        return tuple(one.event for one in self.states if one.event is not None and self._lives_on(one))

    def continues(self, claim: Claim, own: Path, path: Path) -> bool:
        """Whether a claim of the weaker slot is the list that was taken over, or a part of it that is still in this
        list.

        own:  the claim's path in its slot
        path: the path of the question
        """
        taken = self.taken_over
        if taken is None or taken.event is not None or claim.rank != taken.slot or own[: self.depth] != self.at:
            return False
        rest = own[self.depth :]
        is_part = claim.path == path and bool(rest)
        return self._has(setters_at(taken.value, taken.set_by, rest, self.at), rest) if is_part else self.is_left

    @cached_property
    def _left(self) -> set[At]:
        return {setter for one in self.now for setter in setters(one, ())}

    def _first(self) -> _State:
        found = (one for one in self.states if first_marks(one.set_by) == first_marks(self.now))
        return next((one for one in found if not later_marks(one.set_by)), _State(self.slot, self.now, ABSENT, None))

    def _lives_on(self, state: _State) -> bool:
        rest = self.path[self.depth :]
        if not isinstance(state.value, list):
            return False
        those = {
            setter for one in element_setters(state.set_by, self.at, len(state.value)) for setter in setters(one, ())
        }
        if those and those <= self._left:
            return True
        is_step = state is self.taken_over or (state.event is not None and state.event.by in later_marks(self.now))
        if not is_step or first_marks(state.set_by) != first_marks(self.now):
            return bool(rest) and setters_at(state.value, state.set_by, rest, self.at) == self._setters
        if not rest:
            return self.is_left or last_mark(state.set_by) in {one.source for one in self._left}
        is_there = dig(state.value, rest) is not ABSENT
        return not is_there or self._has(setters_at(state.value, state.set_by, rest, self.at), rest)

    @cached_property
    def _setters(self) -> list[At]:
        tree = self.ledger.trees[self.slot]
        return setters_at(tree, tree.origin, self.path)

    def _has(self, those: list[At], rest: Path) -> bool:
        """Whether the list has what those set, there or at another index."""
        return _set_so(self.ledger.trees[self.slot], self.at, rest, those)

    def _list(self, now: WorkedList) -> Continuation:
        taken, first = self.taken_over, self._first()
        slot = None if taken is None or taken.event else taken.slot
        claims = (_claim(self.ledger, first.slot, At(one, self.path), self.path, first.value) for one in now.begun)
        return Continuation(slot, tuple(claims), self._workers(now, 0), self.events)

    def _part(self, now: WorkedList) -> Continuation | None:
        since = max((now.steps.index(one.source) + 1 for one in self._setters if one.source in now.steps), default=0)
        if since == len(now.steps):
            return None
        lower, rest = _LOWER.get(self.slot, self.slot), self.path[self.depth :]
        is_lower = lower != self.slot and _set_so(self.ledger.trees[lower], self.at, rest, self._setters)
        value, slot = dig(self.ledger.trees[self.slot], self.path), lower if is_lower else self.slot
        claims = (_claim(self.ledger, slot, one, self.path, value) for one in self._setters)
        return Continuation(lower if is_lower else None, tuple(claims), self._workers(now, since), self.events)

    def _workers(self, now: WorkedList, since: int) -> tuple[Claim, ...]:
        """Those who worked on the list, each in his slot: the first of them in the one it was taken over from."""
        early, lower = (
            (0, 0) if self.taken_over is None else (len(later_marks(self.taken_over.set_by)), self.taken_over.slot)
        )
        return tuple(
            _claim(self.ledger, lower if index < early else self.slot, At(number, self.at), self.at)
            for index, number in enumerate(now.steps[since:], since)
        )


def _set_so(tree: Any, at: Path, rest: Path, those: list[At]) -> bool:
    """Whether the list at *at* has what those set, there or where elements on the way have other indexes."""
    return any(setters_at(tree, tree.origin, (*at, *way)) == those for way in _ways(dig(tree, at), rest))


def _ways(value: Any, rest: Path) -> Iterator[Path]:
    if not rest:
        yield ()
        return
    steps = range(len(value)) if isinstance(value, list) and type(rest[0]) is int else rest[:1]
    for step in steps:
        below = dig(value, (step,))
        yield from ((step, *way) for way in _ways(below, rest[1:]) if below is not ABSENT)


class _State(NamedTuple):
    """A list that a slot has, or had: who set it, and the event that ended it."""

    slot: int
    set_by: SetBy
    value: Any
    event: Event | None


def _states(ledger: Ledger, slot: int, path: Path) -> Iterator[_State]:
    """What stands and stood at a path in a slot, and before it in the one that it goes on with; the newest first."""
    for one in dict.fromkeys((_LOWER.get(slot, slot), slot)):
        set_by, value = set_by_at(ledger.trees[one], path)
        if isinstance(value, list):
            yield _State(one, set_by, value, None)
        chronicle = ledger.history.get(path, {}).get((one, False))
        for event in reversed(chronicle.events()) if chronicle is not None else ():
            if event.what == "overwritten":
                yield _State(one, event.set_by, event.value, event)


def _goes_on(state: _State, now: WorkedList, slot: int) -> bool:
    """Whether the work on a list went on with that one of the weaker slot, with all the work on it there."""
    early = later_marks(state.set_by)
    return state.slot != slot and early == now.steps[: len(early)]


def _claim(ledger: Ledger, slot: int, setter: At, path: Path, value: Any = ABSENT) -> Claim:
    origin, mark = ledger.marks.place(setter)
    return Claim(path, value if value is ABSENT else shown(value), slot, origin, mark.verb)
