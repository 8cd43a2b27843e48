"""Why a path of a node is what it is: the steps of fifteen slots walked again, and the history.

The walk and the rules are the core's; this module adds who set it, elements of united
lists, lists that several worked on, and what is in no tree any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from nodeattrs.core.claim import Cause, Claim, Origin, Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.next_in_line import outwards
from nodeattrs.core.origins import At, Origins
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Earlier, Element, Outcome, Trace, TraceClaim, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig
from nodeattrs.core.walk import Setting
from nodeattrs.node.history import Event
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import (
    AssignedMap,
    Branch,
    Whose,
    Worked,
    begun,
    each,
    last_word,
    setters,
    setters_in,
    steps,
    whose_at,
)
from nodeattrs.node.moment import as_of, plainly_set
from nodeattrs.node.setters import Mark
from nodeattrs.node.slots import COMPONENTS, PAIR, PLAN, SLOTS
from nodeattrs.node.values import Deferred
from nodeattrs.node.view import plain

_TITLES = {slot.number: slot.title for slot in SLOTS}
_LOWER = {one.recipe: one.file for one in COMPONENTS}
_MOST_BELOW, _DEEPEST = 10, 6
_READY = SCALARS | {Absent}
"""What is shown as it is."""


def trace_of(ledger: Ledger, path: Path, seen: frozenset[Path] = frozenset()) -> Trace:
    """The trace of *path*. cost: its depth times fifteen, and the history at and above it

    seen: the attributes that led here, where it is asked what they come from
    """
    trees = {slot: tree for slot, tree in enumerate(ledger.trees) if tree or type(tree) is AssignedMap}
    unknown = dict(enumerate(((slot, one) for slot, many in ledger.unknown.items() for one in many), len(SLOTS) + 1))
    trees |= {number: layer.value for number, (_, layer) in unknown.items()}
    folding = _folding(ledger.plan(), unknown) if ledger.rules or unknown else _FOLDING
    walked = walk(folding, path, trees, lambda at: outwards(at) if at.source in unknown else ledger.along(at))

    owns: dict[int, tuple[Claim, Path]] = {}

    def claim(setting: Setting) -> Claim:
        if setting.source in unknown:
            slot, layer = unknown[setting.source]
            made = Claim(path, layer.value, slot, layer.origin.at(path))
            owns[id(made)] = made, ()
            return made
        tree = ledger.trees[setting.source]
        by = setters_in(tree, tree.origin, setting.own)[0]
        origin, mark = ledger.marks.place(by)
        verb = _verb(mark, setting.own, dig(ledger.trees[setting.source], setting.own))
        why = partial(causes_of, ledger, by, setting.value, seen)
        then = partial(_trace_then, ledger, by, setting.value, seen)
        made = Claim(setting.path, _shown(setting.value), setting.source, origin, verb, why, then)
        owns[id(made)] = made, setting.own  # the claim is held, so that no other one gets its identity
        return made

    value = _read(walked.value)
    trace = traced(walked, path, value, claim, _TITLES, once=False)
    elements = walked.elements(value) if trace.elements else ()
    trace = replace(trace, elements=tuple(_element(ledger, path, entry, found) for entry, found in elements))
    return _gone_on(ledger, trace, {number: own for number, (_, own) in owns.items()})


def causes_of(ledger: Ledger, by: At, value: Any, seen: frozenset[Path], kept: bool = False) -> tuple[Cause, ...]:
    """Where a value comes from.

    by:   who set it at which path of the slot
    seen: the attributes on the way here
    kept: as a snapshot keeps it: of a document of facts the file and no line
    """
    then = getattr(ledger.marks[by.source].locator, "causes_then", None)
    if then is not None:
        return tuple(then.get(by.path, ()))
    from nodeattrs.node.causes import causes_at  # it reads sources, for which most traces have no use

    def read(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        if of in seen or len(seen) > _DEEPEST:
            return None
        if (plain := plainly_set(ledger, by.source, of)) is not None:
            setter, set_to = plain
            return _origin(ledger, setter, kept), causes_of(ledger, setter, set_to, seen | {of}, kept)
        winner = _trace_then(ledger, by, value, seen | {of}, of).winner
        return None if winner is None else (winner.claim.origin, winner.claim.causes)

    with ledger.lock:
        return causes_at(ledger, by, value, read)


def _origin(ledger: Ledger, by: At, kept: bool) -> Origin:
    mark = ledger.marks[by.source]
    return mark.locator.at(()).moved(None) if kept and mark.bulk else ledger.marks.place(by)[0]


def _trace_then(ledger: Ledger, by: At, value: Any, seen: frozenset[Path], path: Path) -> Trace:
    """The trace of what was read when a value was set; a deferred one reads each time."""
    with ledger.lock:
        then = ledger if type(value) is Deferred else as_of(ledger, by.source, path)
        return trace_of(then, path, seen)


def _gone_on(ledger: Ledger, trace: Trace, owns: Mapping[int, Path]) -> Trace:
    """The trace with one row for what somebody set and others went on with in place; and the history, without that.

    owns: claim, by its identity -> its path in its own slot
    """
    works: dict[int, _Work] = {}
    if trace.elements or isinstance(trace.value, list) or int in map(type, trace.path):
        at_path = (one for one in trace.claims if one.claim.path == trace.path and one.outcome is not Outcome.UNKNOWN)
        found = (one.claim for one in at_path)
        works = {id(one): work for one in found if (work := _work(ledger, one.rank, owns[id(one)])) is not None}
    stated = (
        row
        for one in trace.claims
        for row in _each_setter(ledger, _with_workers(one, works.get(id(one.claim))), owns.get(id(one.claim), ()))
        if not any(work.took_over(one.claim, owns[id(one.claim)], trace.path) for work in works.values())
    )
    steps = {id(event) for work in works.values() for event in work.events}
    there = {work.slot: work.path for work in works.values()}
    return replace(trace, claims=tuple(stated), history=tuple(_past(ledger, trace.path, steps, there)))


def _with_workers(stated: TraceClaim, work: _Work | None) -> TraceClaim:
    """The same as set by whoever began it, with those who went on, where something of it lives on."""
    since = work.continued if work is not None and work.lives else None
    return stated if since is None else replace(stated, claim=_begun(stated.claim, since), then=since.steps)


def _each_setter(ledger: Ledger, stated: TraceClaim, own: Path) -> Iterator[TraceClaim]:
    """A row for each who set an element of a list that was united in its slot, the first one first."""
    claim = stated.claim
    tree = ledger.trees[claim.rank]
    several = (
        setters_in(tree, tree.origin, own) if int in map(type, own) and stated.outcome is not Outcome.UNKNOWN else ()
    )
    if len(several) < 2:
        yield stated
        return
    outcome, why = (stated.outcome, stated.why) if stated.outcome is Outcome.LOSES else (Outcome.JOINS, "joined")
    for origin, mark in map(ledger.marks.place, several):
        yield replace(stated, claim=replace(claim, origin=origin, verb=mark.verb), outcome=outcome, why=why)


def _begun(claim: Claim, since: Continued) -> Claim:
    """The claim of a list that was worked on, as whoever set it made it."""
    if claim.verb is not Verb.APPEND or not since.begun:
        return claim
    first = since.begun[0]
    return replace(
        claim, value=claim.value if first.value is ABSENT else first.value, origin=first.origin, verb=first.verb
    )


Unread = Mapping[int, tuple[int, Layer]]
"""Layers that cannot be read by a number behind those of the slots, each with its slot."""


def _folding(branch: Branch, unknown: Unread) -> Folding:
    """The order of precedence as steps; the trees are handed in with each walk."""
    folding = Folding()
    for child in branch.children:
        laid = _in_slot(child, unknown) if isinstance(child, int) else _folding(child, unknown)
        folding.remember(laid, branch.policy)
    return folding


def _in_slot(slot: int, unknown: Unread) -> Part | Folding:
    """As `slot_tree.fold_of` has it: what is unknown lies over what the slot has."""
    over = [Part(layer.value, number) for number, (its, layer) in unknown.items() if its == slot]
    if not over:
        return Part(None, slot)
    folding = Folding()
    for part in (Part(None, slot), *over):
        folding.remember(part, PAIR)
    return folding


_FOLDING = _folding(PLAN, {})


def _read(standing: Any) -> Any:
    """What a reader gets, deferred values computed as far as they can be."""
    if type(standing) in _READY:
        return standing
    try:
        return plain(standing, True)
    except Exception:  # a deferred value may raise anything; the explanation has to stand all the same
        return plain(standing, False)


def _shown(value: Any) -> Any:
    return value if type(value) in _READY else plain(value, False)


def _element(ledger: Ledger, path: Path, entry: Any, found: tuple[At, ...]) -> Element:
    """The element with the place of everyone who set it."""
    claims = []
    for slot, own in found:
        tree = ledger.trees[slot]
        if dig(tree, own) is ABSENT:  # a deferred value that computes a list
            origin, mark = ledger.origin(slot, path)
            claims.append(Claim(path, entry, slot, origin, mark.verb))
        else:
            for origin, mark in map(ledger.marks.place, setters_in(tree, tree.origin, own)):
                claims.append(Claim(own, entry, slot, origin, mark.verb))
    return Element(entry, tuple(dict.fromkeys(slot for slot, _ in found)), tuple(claims))


@dataclass(frozen=True, slots=True)
class Continued:
    """A list that was worked on in place, or a part of one: what somebody had set there lives on in it.

    slot:   the weaker slot whose word was gone on with, as it stands there now: a recipe works on the attribute
            file's list. None where there is none
    begun:  who set it first, and what it was then; several, where lists had united. The value is ABSENT where
            nobody keeps it
    steps:  those who worked on the list since, each line once, the last one last
    events: what is no more than that in the history: such steps, and what they began with
    """

    slot: int | None
    begun: tuple[Claim, ...]
    steps: tuple[Claim, ...]
    events: tuple[Event, ...]


def continued(ledger: Ledger, slot: int, path: Path) -> Continued | None:
    """Who began, and who went on with, the list that a slot has at *path*, or with the one that *path* leads into.

    None where nobody worked on one in place, or nobody since that part was set.
    cost: the depth of the path, and the history of the list
    """
    work = _work(ledger, slot, path)
    return None if work is None else work.continued


def _work(ledger: Ledger, slot: int, path: Path) -> _Work | None:
    for depth in range(len(path) + 1):
        whose, value = whose_at(ledger.trees[slot], path[:depth])
        if isinstance(whose, list) and isinstance(value, list):
            return _Work(ledger, slot, path, depth, whose)
    return None


@dataclass(frozen=True)
class _Work:
    """A list that a slot has and that was united or worked on in place, and what of it a path leads to.

    depth: where on the path the list stands
    now:   who set its elements, and who worked on it
    """

    ledger: Ledger
    slot: int
    path: Path
    depth: int
    now: list[Origins]

    @property
    def at(self) -> Path:
        """The path of the list."""
        return self.path[: self.depth]

    @cached_property
    def states(self) -> list[_State]:
        """What stands and stood there, in this slot and the weaker one; the newest first."""
        return list(_states(self.ledger, self.slot, self.at))

    @cached_property
    def taken(self) -> _State | None:
        """What the weaker slot has, or had, that this one went on with."""
        if not isinstance(self.now, Worked):
            return None
        found = (one for one in self.states if begun(one.whose) == self.now.begun)
        return next((one for one in found if _goes_on(one, self.now, self.slot)), None)

    @cached_property
    def continued(self) -> Continued | None:
        """Who began and who went on; None where nobody did since a part was set."""
        if not isinstance(self.now, Worked):
            return None
        return self._list(self.now) if self.depth == len(self.path) else self._part(self.now)

    @cached_property
    def lives(self) -> bool:
        """Whether a part is asked for, or something is left of what the list began with, or was taken over as.

        An empty list lives on until somebody begins anew: nothing was taken out of it.
        """
        early = steps(self.taken.whose) if self.taken is not None else ()
        is_left = not {setter.source for setter in self._left}.isdisjoint((*begun(self.now), *early))
        return is_left or self.depth < len(self.path) or self._first().value == []

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What is no more than this work in the history: what had nothing there, or what lives on."""
        return tuple(one.event for one in self.states if one.event is not None and self._lives_on(one))

    def took_over(self, claim: Claim, own: Path, path: Path) -> bool:
        """Whether a claim of the weaker slot lives on here: the list that was taken over, or what it has there."""
        taken = self.taken
        if taken is None or taken.event is not None or claim.rank != taken.slot or own[: self.depth] != self.at:
            return False
        rest = own[self.depth :]
        is_part = claim.path == path and bool(rest)
        return self._has(setters_in(taken.value, taken.whose, rest, self.at), rest) if is_part else self.lives

    @cached_property
    def _left(self) -> set[At]:
        return {setter for one in self.now for setter in setters(one, ())}

    def _first(self) -> _State:
        found = (one for one in self.states if begun(one.whose) == begun(self.now))
        return next((one for one in found if not steps(one.whose)), _State(self.slot, self.now, ABSENT, None))

    def _lives_on(self, state: _State) -> bool:
        rest = self.path[self.depth :]
        if not isinstance(state.value, list):
            return False
        those = {setter for one in each(state.whose, self.at, len(state.value)) for setter in setters(one, ())}
        if those and those <= self._left:
            return True
        is_step = state is self.taken or (state.event is not None and state.event.by in steps(self.now))
        if not is_step or begun(state.whose) != begun(self.now):
            return bool(rest) and setters_in(state.value, state.whose, rest, self.at) == self._setters
        if not rest:
            return self.lives or last_word(state.whose) in {one.source for one in self._left}
        is_there = dig(state.value, rest) is not ABSENT
        return not is_there or self._has(setters_in(state.value, state.whose, rest, self.at), rest)

    @cached_property
    def _setters(self) -> list[At]:
        tree = self.ledger.trees[self.slot]
        return setters_in(tree, tree.origin, self.path)

    def _has(self, those: list[At], rest: Path) -> bool:
        """Whether the list has what those set, there or at another index."""
        return _set_so(self.ledger.trees[self.slot], self.at, rest[1:], those)

    def _list(self, now: Worked) -> Continued:
        taken, first = self.taken, self._first()
        slot = None if taken is None or taken.event else taken.slot
        claims = (_claim(self.ledger, first.slot, At(one, self.path), self.path, first.value) for one in now.begun)
        return Continued(slot, tuple(claims), self._workers(now, 0), self.events)

    def _part(self, now: Worked) -> Continued | None:
        since = max((now.steps.index(one.source) + 1 for one in self._setters if one.source in now.steps), default=0)
        if since == len(now.steps):
            return None
        lower, rest = _LOWER.get(self.slot, self.slot), self.path[self.depth + 1 :]
        is_lower = lower != self.slot and _set_so(self.ledger.trees[lower], self.at, rest, self._setters)
        value, slot = dig(self.ledger.trees[self.slot], self.path), lower if is_lower else self.slot
        claims = (_claim(self.ledger, slot, one, self.path, value) for one in self._setters)
        return Continued(lower if is_lower else None, tuple(claims), self._workers(now, since), self.events)

    def _workers(self, now: Worked, since: int) -> tuple[Claim, ...]:
        """Those who worked on the list, each in his slot: the first of them in the one it was taken over from."""
        early, lower = (0, 0) if self.taken is None else (len(steps(self.taken.whose)), self.taken.slot)
        return tuple(
            _claim(self.ledger, lower if index < early else self.slot, At(number, self.at), self.at)
            for index, number in enumerate(now.steps[since:], since)
        )


def _set_so(tree: Any, at: Path, rest: Path, those: list[At]) -> bool:
    """Whether an element of the list at *at* has what those set, *rest* of the way inside of it."""
    elements = dig(tree, at)
    count = len(elements) if isinstance(elements, list) else 0
    return any(setters_in(tree, tree.origin, (*at, index, *rest)) == those for index in range(count))


class _State(NamedTuple):
    """A list that a slot has, or had: who set it, and the event that ended it."""

    slot: int
    whose: Whose
    value: Any
    event: Event | None


def _states(ledger: Ledger, slot: int, path: Path) -> Iterator[_State]:
    """What stands and stood at a path in a slot, and before it in the one that it goes on with; the newest first."""
    for one in dict.fromkeys((_LOWER.get(slot, slot), slot)):
        whose, value = whose_at(ledger.trees[one], path)
        if isinstance(value, list):
            yield _State(one, whose, value, None)
        chronicle = ledger.history.get(path, {}).get((one, False))
        for event in reversed(chronicle.events()) if chronicle is not None else ():
            if event.what == "overwritten":
                yield _State(one, event.whose, event.value, event)


def _goes_on(state: _State, now: Worked, slot: int) -> bool:
    """Whether the work on a list went on with that one of the weaker slot, with all the work on it there."""
    early = steps(state.whose)
    return state.slot != slot and early == now.steps[: len(early)]


def _claim(ledger: Ledger, slot: int, setter: At, path: Path, value: Any = ABSENT) -> Claim:
    origin, mark = ledger.marks.place(setter)
    return Claim(path, value if value is ABSENT else _shown(value), slot, origin, mark.verb)


def _past(ledger: Ledger, path: Path, but: Collection[int], owns: Mapping[int, Path]) -> Iterator[Earlier]:
    """What was set before.

    but:  events that a row of the trace has already, by their identity
    owns: slot -> where it has what stands at the path, if that is an element
    """
    above = [_chronicled(ledger, path[:depth], path[depth:], but, owns) for depth in range(len(path), -1, -1)]
    yield from _newest_first([one for chronicle in above for one in chronicle])
    below = [at for at in ledger.history if len(at) > len(path) and at[: len(path)] == path]
    for at in below[:_MOST_BELOW]:
        yield from _chronicled(ledger, at, (), but, {})


def _newest_first(found: list[Earlier]) -> list[Earlier]:
    """The same; what went with a map or list further up is newer than what its own setter had overwritten."""
    ordered: list[Earlier] = []
    for one in found:
        older = (at for at, other in enumerate(ordered) if _is_newer(one, other))
        ordered.insert(next(older, len(ordered)), one)
    return ordered


def _is_newer(one: Earlier, other: Earlier) -> bool:
    is_above = one.at is not None and other.at is not None and len(one.at) < len(other.at)
    by = other.by
    return is_above and by is not None and (by.rank, by.origin) == (one.claim.rank, one.claim.origin)


def _chronicled(
    ledger: Ledger, at: Path, rest: Path, but: Collection[int], owns: Mapping[int, Path]
) -> Iterator[Earlier]:
    chronicles = ledger.history.get(at, {})
    for slot, silent in sorted(chronicles, key=lambda key: (-key[0], key[1])):
        chronicle = chronicles[slot, silent]
        own = owns.get(slot, (*at, *rest))[len(at) :]
        shown = [
            None if id(event) in but else _event(ledger, slot, at, event, rest, own) for event in chronicle.events()
        ]
        first, *later = shown
        dropped = Earlier(Claim(at, ABSENT, slot, Origin("forgotten")), "forgotten", None, chronicle.dropped)
        for past in (*reversed(later), dropped if chronicle.dropped and not rest else None, first):
            if past is not None:
                yield past


def _event(ledger: Ledger, slot: int, at: Path, event: Event, rest: Path, own: Path) -> Earlier | None:
    """own: the steps on which the slot had what stands at *rest* below *at*."""
    depth = _reach(event.value, own)
    path, own, value = (*at, *rest)[: len(at) + depth], own[:depth], dig(event.value, own[:depth])
    if depth < len(rest) and isinstance(value, dict):
        return None
    origin, mark = ledger.marks.place(setters_in(event.value, event.whose, own, at)[0])
    by = None
    if event.by:
        doer = ledger.marks[event.by]
        verb = Verb.ERASE if event.what == "erased" else doer.verb
        by = Claim(at, ABSENT, slot, doer.locator.at(at[doer.depth :]), verb)
    return Earlier(Claim(path, _shown(value), slot, origin, _verb(mark, path, value)), event.what, by, at=at)


def _reach(value: Any, path: Path) -> int:
    """How far *path* leads: to the end of it, or to what stands in its way or has nothing there."""
    return next(depth for depth in range(len(path), -1, -1) if dig(value, path[:depth]) is not ABSENT)


def _verb(mark: Mark, path: Path, value: Any) -> Verb:
    """How a value at *path* was set: what lies inside of something that was assigned was only set along."""
    if mark.verb not in (Verb.REPLACE, Verb.FULL) or len(path) == mark.depth:
        return mark.verb
    return Verb.REPLACE if isinstance(value, AssignedMap) else Verb.SET
