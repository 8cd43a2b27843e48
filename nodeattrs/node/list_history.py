"""The history of a list that was merged from lists or changed in place: the lines that set it first and changed it.

Traces use it to show such a list as one row. A recipe that changes an attribute file's list stores the changed copy in
its own slot; the weaker slot still has the old list. So the history of a list may begin in the weaker of the two slots
of a component. Other slots are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from nodeattrs.core.claim import Claim
from nodeattrs.core.origins import Origins, SourcePath
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig
from nodeattrs.node.joined import plain
from nodeattrs.node.ledger import Event, Ledger
from nodeattrs.node.maps import (
    ChangedListOrigins,
    SetBy,
    element_origins,
    first_marks,
    last_mark,
    later_marks,
    set_by_at,
    setters_at,
    setters_in_element,
)
from nodeattrs.node.slots import COMPONENTS

_LOWER = {one.recipe: one.file for one in COMPONENTS}
READY = SCALARS | {Absent}
"""The types of values that need no copy to be shown."""


def shown(value: Any) -> Any:
    """A plain copy of a value for a claim. Deferred values stay deferred."""
    return value if type(value) in READY else plain(value, False)


class ListChanges(NamedTuple):
    """The lines that set and changed a list, or a part of it, as claims for one row of a trace.

    slot:  the weaker slot that the list was taken over from, and that still has it; else None
    first: the claims that set it before any change; several if it was merged from lists. Their value is ABSENT if it is
           not kept
    later: the claims that changed it in place since, each line once, the last one last
    """

    slot: int | None
    first: tuple[Claim, ...]
    later: tuple[Claim, ...]


def list_history_at(ledger: Ledger, slot: int, path: Path) -> ListHistory | None:
    """The history of the outermost list, at *path* or above it in a slot, that was merged or changed in place.

    None if there is no such list. A list is merged here if its elements come from several lists.
    """
    for depth in range(len(path) + 1):
        set_by, value = set_by_at(ledger.trees[slot], path[:depth])
        if isinstance(set_by, list) and isinstance(value, list):
            return ListHistory(ledger, slot, path, depth, set_by)
    return None


class ListHistory:
    """A list of a slot that was merged from lists or changed in place, with its earlier versions, for one trace.

    Made by `list_history_at`. The constructor reads nothing. Each property is computed at its first use and kept, so
    the ledger must not change meanwhile.
    The list may be a copy of the list in the weaker slot. `changes` gives the lines that set and changed the list; None
    if it was not changed in place. `is_left` says whether the list still has an element that was in it before its
    changes in this slot. `events` has the writes that replaced earlier versions of this list. `continues` says whether
    a claim, which is one line's value, is an earlier version. Such events and claims need no row of their own in the
    trace.

    path:  the path that is traced: of the list, or of something in it
    depth: the number of steps of *path* that lead to the list
    now:   the origins of its elements now; a `ChangedListOrigins` if it was changed in place
    """

    def __init__(self, ledger: Ledger, slot: int, path: Path, depth: int, now: list[Origins]) -> None:
        self.ledger, self.slot, self.path, self.depth, self.now = ledger, slot, path, depth, now

    @property
    def at(self) -> Path:
        """The path of the list."""
        return self.path[: self.depth]

    @cached_property
    def _states(self) -> list[_State]:
        """The list and its earlier versions, in this slot and the weaker one; the newest first."""
        return list(_states(self.ledger, self.slot, self.at))

    @cached_property
    def _taken_over(self) -> _State | None:
        """The version of the list in the weaker slot that this list began as, with all its changes there.

        None if the list did not begin as a copy, if no line changed it in place, or if that version is no longer in the
        history.
        """
        if isinstance(self.now, ChangedListOrigins):
            for state in self._states:
                early = later_marks(state.set_by)
                is_weaker = state.slot != self.slot
                if is_weaker and first_marks(state.set_by) == self.now.first and early == self.now.later[: len(early)]:
                    return state
        return None

    @cached_property
    def changes(self) -> ListChanges | None:
        """The setters of the list, or of its part at *path*; None if no line changed the list in place after these."""
        if not isinstance(self.now, ChangedListOrigins):
            return None
        return self._list(self.now) if self.depth == len(self.path) else self._part(self.now)

    @cached_property
    def is_left(self) -> bool:
        """Whether the list still has an element of the lines that set it first, or of changes in the weaker slot.

        True, too, if *path* leads into the list, and for a list that was empty at first.
        """
        if self.depth < len(self.path):
            return True
        early = later_marks(self._taken_over.set_by) if self._taken_over is not None else ()
        marks_left = {setter.source for setter in self._current_origins}
        return not marks_left.isdisjoint((*first_marks(self.now), *early)) or self._first().value == []

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of the history whose old value is an earlier version of this list; () for none."""
        return tuple(one.event for one in self._states if one.event is not None and self._lives_on(one))

    def continues(self, claim: Claim, own: Path, path: Path) -> bool:
        """Whether a claim of the weaker slot is an earlier version of this list, or of a part that is still in it.

        own:  the claim's path in its slot
        path: the path that is traced
        """
        taken = self._taken_over
        if taken is None or taken.event is not None or claim.rank != taken.slot or own[: self.depth] != self.at:
            return False
        rest = own[self.depth :]
        if rest and claim.path == path:
            return self._has(setters_at(taken.value, taken.set_by, rest, self.at), rest)
        return self.is_left

    @cached_property
    def _current_origins(self) -> set[SourcePath]:
        """The origins of all elements of the list now."""
        return {setter for one in self.now for setter in setters_in_element(one, ())}

    def _first(self) -> _State:
        """The oldest version with the same first setters, before any change in place."""
        found = (one for one in self._states if first_marks(one.set_by) == first_marks(self.now))
        return next((one for one in found if not later_marks(one.set_by)), _State(self.slot, self.now, ABSENT, None))

    def _lives_on(self, state: _State) -> bool:
        """Whether an earlier version is this list before changes in place, so that its elements are still here."""
        rest = self.path[self.depth :]
        if not isinstance(state.value, list):
            return False
        those = {
            setter
            for one in element_origins(state.set_by, self.at, len(state.value))
            for setter in setters_in_element(one, ())
        }
        if those and those <= self._current_origins:
            return True
        is_step = state is self._taken_over or (state.event is not None and state.event.by in later_marks(self.now))
        if not is_step or first_marks(state.set_by) != first_marks(self.now):
            return bool(rest) and setters_at(state.value, state.set_by, rest, self.at) == self._setters
        if not rest:
            return self.is_left or last_mark(state.set_by) in {one.source for one in self._current_origins}
        is_there = dig(state.value, rest) is not ABSENT
        return not is_there or self._has(setters_at(state.value, state.set_by, rest, self.at), rest)

    @cached_property
    def _setters(self) -> list[SourcePath]:
        tree = self.ledger.trees[self.slot]
        return setters_at(tree, tree.origin, self.path)

    def _has(self, those: list[SourcePath], rest: Path) -> bool:
        """Whether some lines set a value of the list, at *rest* or at another index."""
        return _set_so(self.ledger.trees[self.slot], self.at, rest, those)

    def _list(self, now: ChangedListOrigins) -> ListChanges:
        taken, first = self._taken_over, self._first()
        slot = None if taken is None or taken.event else taken.slot
        claims = (
            _claim(self.ledger, first.slot, SourcePath(one, self.path), self.path, first.value) for one in now.first
        )
        return ListChanges(slot, tuple(claims), self._changers(now, 0))

    def _part(self, now: ChangedListOrigins) -> ListChanges | None:
        since = max((now.later.index(one.source) + 1 for one in self._setters if one.source in now.later), default=0)
        if since == len(now.later):
            return None
        lower, rest = _LOWER.get(self.slot, self.slot), self.path[self.depth :]
        is_lower = lower != self.slot and _set_so(self.ledger.trees[lower], self.at, rest, self._setters)
        value, slot = dig(self.ledger.trees[self.slot], self.path), lower if is_lower else self.slot
        claims = (_claim(self.ledger, slot, one, self.path, value) for one in self._setters)
        return ListChanges(lower if is_lower else None, tuple(claims), self._changers(now, since))

    def _changers(self, now: ChangedListOrigins, since: int) -> tuple[Claim, ...]:
        """A claim for each change in place but the first *since*: the early ones in the slot it was taken over from."""
        taken = self._taken_over
        early = 0 if taken is None else len(later_marks(taken.set_by))
        claims = []
        for index, number in enumerate(now.later[since:], since):
            slot = taken.slot if taken is not None and index < early else self.slot
            claims.append(_claim(self.ledger, slot, SourcePath(number, self.at), self.at))
        return tuple(claims)


def _set_so(tree: Any, at: Path, rest: Path, those: list[SourcePath]) -> bool:
    """Whether *those* set a value of the list at *at*: at *rest*, or where elements on the way have other indexes."""
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
    """The lists at a path now and before, in the attribute file's slot and in *slot*; of each slot the newest first."""
    for one in dict.fromkeys((_LOWER.get(slot, slot), slot)):
        set_by, value = set_by_at(ledger.trees[one], path)
        if isinstance(value, list):
            yield _State(one, set_by, value, None)
        chronicle = ledger.history.get(path, {}).get((one, False))
        for event in reversed(chronicle.events) if chronicle is not None else ():
            if event.what == "overwritten":
                yield _State(one, event.set_by, event.value, event)


def _claim(ledger: Ledger, slot: int, setter: SourcePath, path: Path, value: Any = ABSENT) -> Claim:
    origin, mark = ledger.marks.place(setter)
    return Claim(path, value if value is ABSENT else shown(value), slot, origin, mark.verb)
