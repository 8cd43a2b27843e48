"""Why a path of a node is what it is: the fifteen slots heard again, and the history.

The walk and the rules are the core's; this module adds who said it, elements of united
lists, lists that several worked on, and what is in no tree any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from nodeattrs.core.claim import Claim, Origin, Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Element, Fate, Past, Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig
from nodeattrs.core.walk import Setting
from nodeattrs.node.history import Event
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, Told, Worked, begun, said_in, speakers, steps, told_at
from nodeattrs.node.slots import COMPONENTS, PAIR, PLAN, SLOTS
from nodeattrs.node.speech import Mark
from nodeattrs.node.view import Branch, plain

__all__ = ["Continued", "continued", "trace_of"]

_TITLES = {slot.number: slot.title for slot in SLOTS}
_LOWER = {one.recipe: one.file for one in COMPONENTS}
_MOST_BELOW = 10
_READY = SCALARS | {Absent}
"""What is shown as it is."""


def trace_of(ledger: Ledger, path: Path) -> Trace:
    """The trace of *path*. cost: its depth times fifteen, and the history at and above it"""
    trees = {slot: tree for slot, tree in enumerate(ledger.trees) if tree or type(tree) is AssignedMap}
    unknown = dict(enumerate(((slot, one) for slot, many in ledger.unknown.items() for one in many), len(SLOTS) + 1))
    trees |= {number: layer.value for number, (_, layer) in unknown.items()}
    walked = walk(_folding(ledger.plan(), unknown) if ledger.rules or unknown else _FOLDING, path, trees)

    def claim(setting: Setting) -> Claim:
        if setting.source in unknown:
            slot, layer = unknown[setting.source]
            return Claim(path, layer.value, slot, layer.origin.at(()))
        tree = ledger.trees[setting.source]
        origin, mark = ledger.marks.place(said_in(tree, tree.origin, setting.own)[0])
        verb = _verb(mark, setting.own, dig(ledger.trees[setting.source], setting.own))
        return Claim(setting.path, _shown(setting.value), setting.source, origin, verb)

    value = _read(walked.value)
    trace = traced(walked, path, value, claim, _TITLES, once=False)
    elements = walked.elements(value) if trace.elements else ()
    trace = replace(trace, elements=tuple(_element(ledger, path, entry, found) for entry, found in elements))
    return _gone_on(ledger, trace)


def _gone_on(ledger: Ledger, trace: Trace) -> Trace:
    """The trace with one row for what somebody set and others went on with in place; and the history, without that."""
    found: dict[int, Continued] = {}
    if trace.elements or isinstance(trace.value, list) or int in map(type, trace.path):
        ranks = (one.claim.rank for one in trace.heard if one.claim.path == trace.path and one.fate is not Fate.UNKNOWN)
        found = {rank: one for rank in ranks if (one := _living(ledger, rank, trace.path)) is not None}
    taken = {one.slot for one in found.values()}
    heard = (
        replace(one, claim=_begun(one.claim, found[one.claim.rank]), then=found[one.claim.rank].steps)
        if one.claim.rank in found and one.fate is not Fate.UNKNOWN
        else one
        for one in trace.heard
        if one.claim.rank not in taken or one.fate is not Fate.LOSES
    )
    steps = {id(event) for one in found.values() for event in one.events}
    return replace(trace, heard=tuple(heard), past=tuple(_past(ledger, trace.path, steps)))


def _living(ledger: Ledger, slot: int, path: Path) -> Continued | None:
    """As `continued`, where something of what was begun with is still there."""
    told, _ = told_at(ledger.trees[slot], path)
    if isinstance(told, Worked):
        left = {said.source for one in told for said in speakers(one, path)}
        if left.isdisjoint(told.begun):
            return None
    return continued(ledger, slot, path)


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
            for origin, mark in map(ledger.marks.place, said_in(tree, tree.origin, own)):
                claims.append(Claim(own, entry, slot, origin, mark.verb))
    return Element(entry, tuple(dict.fromkeys(slot for slot, _ in found)), tuple(claims))


@dataclass(frozen=True, slots=True)
class Continued:
    """A list that was worked on in place, or a part of one: what somebody had said there lives on in it.

    slot:   the weaker slot whose word was gone on with, as it stands there now: a recipe works on the attribute
            file's list. None where there is none
    begun:  who said it first, and what it was then; several, where lists had united. The value is ABSENT where
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

    None where nobody worked on one in place, or nobody since that part was said.
    cost: the depth of the path, and the history of the list
    """
    for depth in range(len(path) + 1):
        told, value = told_at(ledger.trees[slot], path[:depth])
        if isinstance(told, Worked) and isinstance(value, list):
            at = path[:depth]
            return _list(ledger, slot, path, told) if at == path else _part(ledger, slot, at, told, path)
    return None


def _list(ledger: Ledger, slot: int, path: Path, now: Worked) -> Continued:
    states = [one for one in _states(ledger, slot, path) if begun(one.told) == now.begun]
    taken = next((one for one in states if _goes_on(one, now, slot)), None)
    first = next((one for one in states if not steps(one.told)), _State(slot, now, ABSENT, None))
    return Continued(
        None if taken is None or taken.event else taken.slot,
        tuple(_claim(ledger, first.slot, At(number, path), path, first.value) for number in now.begun),
        _workers(ledger, slot, path, now, 0, taken),
        tuple(one.event for one in states if one.event and (one is taken or one.event.by in now.steps)),
    )


def _part(ledger: Ledger, slot: int, at: Path, now: Worked, path: Path) -> Continued | None:
    tree, rest, lower = ledger.trees[slot], path[len(at) :], _LOWER.get(slot, slot)
    said = said_in(tree, tree.origin, path)
    since = max((now.steps.index(one.source) + 1 for one in said if one.source in now.steps), default=0)
    if since == len(now.steps):
        return None
    own = None if lower == slot else _said_so(ledger.trees[lower], at, rest[1:], said)
    began, place = (slot, path) if own is None else (lower, own)
    states = list(_states(ledger, slot, at))
    taken = next((one for one in states if _goes_on(one, now, slot)), None)
    return Continued(
        None if own is None else lower,
        tuple(_claim(ledger, began, one, place, dig(ledger.trees[began], place)) for one in said),
        _workers(ledger, slot, at, now, since, taken),
        tuple(one.event for one in states if one.event and said_in(one.value, one.told, rest, at) == said),
    )


def _workers(ledger: Ledger, slot: int, path: Path, now: Worked, since: int, taken: _State | None) -> tuple[Claim, ...]:
    """Those who worked on a list, each in his slot: the first of them in the one it was taken over from."""
    early = 0 if taken is None else len(steps(taken.told))
    return tuple(
        _claim(ledger, taken.slot if taken and index < early else slot, At(number, path), path)
        for index, number in enumerate(now.steps[since:], since)
    )


def _said_so(tree: Any, at: Path, rest: Path, said: list[At]) -> Path | None:
    """Where the list at *at* has what those said; None where it has not."""
    elements = dig(tree, at)
    for index in range(len(elements) if isinstance(elements, list) else 0):
        if said_in(tree, tree.origin, own := (*at, index, *rest)) == said:
            return own
    return None


class _State(NamedTuple):
    """A list that a slot has, or had: who said it, and the event that ended it."""

    slot: int
    told: Told
    value: Any
    event: Event | None


def _states(ledger: Ledger, slot: int, path: Path) -> Iterator[_State]:
    """What stands and stood at a path in a slot, and before it in the one that it goes on with; the newest first."""
    for one in dict.fromkeys((_LOWER.get(slot, slot), slot)):
        told, value = told_at(ledger.trees[one], path)
        if isinstance(value, list):
            yield _State(one, told, value, None)
        chronicle = ledger.history.get(path, {}).get((one, False))
        for event in reversed(chronicle.events()) if chronicle is not None else ():
            if event.what == "overwritten":
                yield _State(one, event.told, event.value, event)


def _goes_on(state: _State, now: Worked, slot: int) -> bool:
    """Whether the work on a list went on with that one of the weaker slot, with all the work on it there."""
    early = steps(state.told)
    return state.slot != slot and early == now.steps[: len(early)]


def _claim(ledger: Ledger, slot: int, said: At, path: Path, value: Any = ABSENT) -> Claim:
    origin, mark = ledger.marks.place(said)
    return Claim(path, value if value is ABSENT else _shown(value), slot, origin, mark.verb)


def _past(ledger: Ledger, path: Path, but: Collection[int]) -> Iterator[Past]:
    """What was said before. but: events that a row of the trace has already, by their identity"""
    for depth in range(len(path), -1, -1):
        yield from _chronicled(ledger, path[:depth], path[depth:], but)
    below = [at for at in ledger.history if len(at) > len(path) and at[: len(path)] == path]
    for at in below[:_MOST_BELOW]:
        yield from _chronicled(ledger, at, (), but)


def _chronicled(ledger: Ledger, at: Path, rest: Path, but: Collection[int]) -> Iterator[Past]:
    chronicles = ledger.history.get(at, {})
    for slot, silent in sorted(chronicles, key=lambda key: (-key[0], key[1])):
        chronicle = chronicles[slot, silent]
        told = [None if id(event) in but else _event(ledger, slot, at, event, rest) for event in chronicle.events()]
        first, *later = told
        dropped = Past(Claim(at, ABSENT, slot, Origin("forgotten")), "forgotten", None, chronicle.dropped)
        for past in (*reversed(later), dropped if chronicle.dropped and not rest else None, first):
            if past is not None:
                yield past


def _event(ledger: Ledger, slot: int, at: Path, event: Event, rest: Path) -> Past | None:
    path, value = (*at, *rest), dig(event.value, rest)
    if value is ABSENT:
        if isinstance(event.value, dict):
            return None
        path, value, rest = at, event.value, ()
    origin, mark = ledger.marks.place(said_in(event.value, event.told, rest, at)[0])
    by = None
    if event.by:
        doer = ledger.marks[event.by]
        verb = Verb.ERASE if event.what == "erased" else doer.verb
        by = Claim(at, ABSENT, slot, doer.speaker.at(at[doer.depth :]), verb)
    return Past(Claim(path, _shown(value), slot, origin, _verb(mark, path, value)), event.what, by)


def _verb(mark: Mark, path: Path, value: Any) -> Verb:
    """How a value at *path* was said: what lies inside of something that was assigned was only set along."""
    if mark.verb not in (Verb.REPLACE, Verb.FULL) or len(path) == mark.depth:
        return mark.verb
    return Verb.REPLACE if isinstance(value, AssignedMap) else Verb.SET
