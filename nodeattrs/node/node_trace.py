"""The trace of a path of a node: which slot wins, which lose, who set each, and what was set before.

The core walks through the merge again (`core.tracing`). This module adds the origins of values, the setters of list
elements, changes of a list in place (`list_history`), and values of the history. For causes it also restores the ledger
as it was when a line set a value. Nothing is cached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from nodeattrs.core.claim import Claim, Origin, Verb
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding, Step, decisions
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.part import Part
from nodeattrs.core.policy import KEEP
from nodeattrs.core.trace import EarlierValue, Element, Outcome, Trace, TraceClaim, rule_in_words, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, dig, tree_with
from nodeattrs.core.walk import SetValue, Walk, outwards
from nodeattrs.node.causes import causes_of
from nodeattrs.node.joined import plain
from nodeattrs.node.ledger import Chronicle, Event, Ledger
from nodeattrs.node.list_history import READY, ListHistory, list_history_at, shown
from nodeattrs.node.maps import (
    AssignedMap,
    Branch,
    OwnedMap,
    SetBy,
    last_mark,
    set_by_at,
    setters_at,
    writable_copy,
)
from nodeattrs.node.setters import Mark
from nodeattrs.node.slots import DEFAULT_GROUP, PAIR, PLAN, SLOTS
from nodeattrs.node.values import Deferred

_TITLES = {slot.number: slot.title for slot in SLOTS}
_MOST_BELOW = 10


def trace_of(ledger: Ledger, path: Path, seen: frozenset[Path] = frozenset(), brief: bool = False) -> Trace:
    """The trace of *path*; for a path that is not set its `found` is False. The caller must hold the ledger's lock.

    A deferred value is computed. If that fails, the trace has the deferred value itself.
    seen:  the attributes whose causes are being looked for; they are not traced again
    brief: True: leave out the history, maps that only hold, and the lines that set single elements. The setting that
           would be read without the winner is not searched
    cost:  the depth of the path times fifteen, and the history at and above it
    """
    trees = {slot: tree for slot, tree in enumerate(ledger.trees) if _may_decide(tree, path)}
    layers = [(slot, layer) for slot, several in ledger.unknown.items() for layer in several]
    unknown = dict(enumerate(layers, len(SLOTS) + 1))
    trees |= {number: layer.value for number, (_, layer) in unknown.items()}
    folding = _folding(ledger.plan(), unknown) if ledger.rules or unknown else _FOLDING
    removals = None if brief else lambda at: outwards(at) if at.source in unknown else _places_removed_with(ledger, at)
    walked = walk(folding, path, trees, removals)
    if walked.cover is not None:
        walked = _through_deferred(walked, path)

    own_paths: dict[int, tuple[Claim, Path]] = {}  # id of a claim -> the claim, held so that its id stays its own

    def claim(setting: SetValue) -> Claim:
        if setting.source in unknown:
            slot, layer = unknown[setting.source]
            made = Claim(path, layer.value, slot, layer.place(path))
            own_paths[id(made)] = made, ()
            return made
        tree = ledger.trees[setting.source]
        by = setters_at(tree, tree.origin, setting.own)[0]
        origin, mark = ledger.marks.place(by)
        verb = _verb(mark, setting.own, dig(ledger.trees[setting.source], setting.own))
        why = partial(causes_of, ledger, by, setting.value, seen, brief_then)
        then = partial(_trace_as_read, ledger, by, setting.value, seen)
        plain = setting.value if type(setting.value) in READY else shown(setting.value)
        made = Claim(setting.path, plain, setting.source, origin, verb, why, then)
        own_paths[id(made)] = made, setting.own
        return made

    value = _read(walked.value)
    trace = traced(walked, path, value, claim, _TITLES, once=False)
    if trace.elements and not brief:
        elements = (_element(ledger, path, entry, found) for entry, found in walked.elements(value))
        trace = trace._replace(elements=tuple(elements))
    return _with_history(ledger, trace, {number: own for number, (_, own) in own_paths.items()}, brief)


def _may_decide(tree: OwnedMap, path: Path) -> bool:
    """Whether a slot may decide a path: it has the first step, or it hides another slot."""
    return type(tree) is AssignedMap or (path[0] in tree if path else bool(tree))


def _trace_as_read(
    ledger: Ledger, by: SourcePath, value: Any, seen: frozenset[Path], path: Path, *, brief: bool = False
) -> Trace:
    """The trace of an attribute as it was read when *by* set a value; for a deferred value, as it is read now."""
    with ledger.lock:
        then = ledger
        if type(value) is not Deferred and not ledger.marks[by.source].is_late:
            then = _ledger_at_mark(ledger, by.source, path)
        return trace_of(then, path, seen, brief)


brief_then = partial(_trace_as_read, brief=True)
"""The brief trace of an attribute as it was when a value was set: `Then` of `causes`."""


def _with_history(ledger: Ledger, trace: Trace, own_paths: Mapping[int, Path], brief: bool) -> Trace:
    """The trace with one row for a list and its later changes in place, and with the history, which leaves these out.

    own_paths: id of a claim -> its path in its own slot
    brief:     True: without the history
    """
    lists = _list_histories(ledger, trace, own_paths)
    rows: list[TraceClaim] = []
    for stated in trace.claims:
        claim, own = stated.claim, own_paths.get(id(stated.claim), ())
        if not any(one.continues(claim, own, trace.path) for one in lists.values()):
            rows += _each_setter(ledger, _with_changes(stated, lists.get(id(claim))), own)
    if brief:
        return trace._replace(claims=tuple(rows))
    shown_events = {id(event) for one in lists.values() for event in one.events}
    element_paths = {one.slot: one.path for one in lists.values()}
    is_covered = any(len(one.claim.path) < len(trace.path) for one in trace.losers)
    history = _earlier_values(ledger, trace.path, shown_events, element_paths, is_covered)
    return trace._replace(claims=tuple(rows), history=tuple(history))


def _list_histories(ledger: Ledger, trace: Trace, own_paths: Mapping[int, Path]) -> dict[int, ListHistory]:
    """id of a claim -> the history of the list that it set, or that it set an element of."""
    found: dict[int, ListHistory] = {}
    if trace.elements or isinstance(trace.value, list) or int in map(type, trace.path):
        for stated in trace.claims:
            claim = stated.claim
            if claim.path == trace.path and stated.outcome is not Outcome.UNKNOWN:
                history = list_history_at(ledger, claim.rank, own_paths[id(claim)])
                if history is not None:
                    found[id(claim)] = history
    return found


def _with_changes(stated: TraceClaim, history: ListHistory | None) -> TraceClaim:
    """The row with the claim that set a list first, and the claims that changed it in place.

    The row itself where nothing of the first list is left.
    """
    changes = history.changes if history is not None and history.is_left else None
    if changes is None:
        return stated
    claim = stated.claim
    if claim.verb is Verb.APPEND and changes.first:
        first = changes.first[0]
        value = claim.value if first.value is ABSENT else first.value
        claim = replace(claim, value=value, origin=first.origin, verb=first.verb)
    return stated._replace(claim=claim, then=changes.later)


def _each_setter(ledger: Ledger, stated: TraceClaim, own: Path) -> Iterator[TraceClaim]:
    """A row for each line that set an element of a list that was merged from lists in its slot; else the row itself."""
    claim = stated.claim
    setters: list[SourcePath] = []
    if int in map(type, own) and stated.outcome is not Outcome.UNKNOWN:
        tree = ledger.trees[claim.rank]
        setters = setters_at(tree, tree.origin, own)
    if len(setters) < 2:
        yield stated
        return
    outcome, why = (stated.outcome, stated.why) if stated.outcome is Outcome.LOSES else (Outcome.JOINS, "joined")
    for origin, mark in map(ledger.marks.place, setters):
        yield stated._replace(claim=replace(claim, origin=origin, verb=mark.verb), outcome=outcome, why=why)


Unread = Mapping[int, tuple[int, Layer]]
"""number above those of the slots -> (slot, layer) for each layer that cannot be read."""


def _folding(branch: Branch, unknown: Unread) -> Folding:
    """A branch of the plan as steps of the core. It holds no trees: each walk brings them."""
    folding = Folding()
    for child in branch.children:
        laid = _in_slot(child, unknown) if isinstance(child, int) else _folding(child, unknown)
        folding.steps.append(Step(laid, branch.policy))
    return folding


def _in_slot(slot: int, unknown: Unread) -> Part | Folding:
    """One slot as a step: its unknown layers lie over its values, as a later line of the same slot would."""
    over = [Part(layer.value, number) for number, (its, layer) in unknown.items() if its == slot]
    if not over:
        return Part(None, slot)
    folding = Folding()
    for part in (Part(None, slot), *over):
        folding.steps.append(Step(part, PAIR))
    return folding


_FOLDING = _folding(PLAN, {})


def _through_deferred(walked: Walk, path: Path) -> Walk:
    """The walk with the value at *path* inside a deferred value that is in the way; the walk itself where none
    has one.
    """
    for by in walked.standing:
        value = dig(_read(by.value), path[len(by.path) :]) if type(by.value) is Deferred else ABSENT
        if value is not ABSENT:
            return walked._replace(value=value, origins=SourcePath(by.source, path), cover=None)
    return walked


def _read(standing: Any) -> Any:
    """A plain copy of a value with deferred values computed; without computing any where one of them fails."""
    if type(standing) in READY:
        return standing
    try:
        return plain(standing, True)
    except Exception:  # a deferred value may raise anything; the trace is given all the same
        return plain(standing, False)


def _element(ledger: Ledger, path: Path, entry: Any, found: tuple[SourcePath, ...]) -> Element:
    """The Element with a claim for each line that set it."""
    claims = []
    for slot, own in found:
        tree = ledger.trees[slot]
        if dig(tree, own) is ABSENT:  # a deferred value that computes a list
            origin, mark = ledger.origin(slot, path)
            claims.append(Claim(path, entry, slot, origin, mark.verb))
        else:
            for origin, mark in map(ledger.marks.place, setters_at(tree, tree.origin, own)):
                claims.append(Claim(own, entry, slot, origin, mark.verb))
    return Element(entry, tuple(dict.fromkeys(slot for slot, _ in found)), tuple(claims))


def _earlier_values(
    ledger: Ledger, path: Path, but: Collection[int], owns: Mapping[int, Path], covered: bool
) -> Iterator[EarlierValue]:
    """Yield values that were set before at *path*, above it, and below it (ten paths at most).

    but:     ids of events that a row of the trace has already
    owns:    slot -> the path in that slot, for an element of a list, whose index may differ
    covered: whether an overridden value lies above the path: an erased map there would override it
    """
    earlier: list[EarlierValue] = []
    for depth in range(len(path), -1, -1):
        earlier += _chronicled(ledger, path[:depth], path[depth:], but, owns, covered)
    yield from _newest_first(earlier)
    below = [at for at in ledger.history if len(at) > len(path) and at[: len(path)] == path]
    for at in below[:_MOST_BELOW]:
        yield from _chronicled(ledger, at, (), but, {}, False)


def _newest_first(found: list[EarlierValue]) -> list[EarlierValue]:
    """The values in order, the newest first. One that went with a map above is newer than one that the map's setter
    had overwritten.
    """
    ordered: list[EarlierValue] = []
    for one in found:
        older = (at for at, other in enumerate(ordered) if _is_newer(one, other))
        ordered.insert(next(older, len(ordered)), one)
    return ordered


def _is_newer(one: EarlierValue, other: EarlierValue) -> bool:
    is_above = one.at is not None and other.at is not None and len(one.at) < len(other.at)
    by = other.by
    return is_above and by is not None and (by.rank, by.origin) == (one.claim.rank, one.claim.origin)


def _chronicled(
    ledger: Ledger, at: Path, rest: Path, but: Collection[int], owns: Mapping[int, Path], covered: bool
) -> Iterator[EarlierValue]:
    chronicles = ledger.history.get(at, {})
    for slot, silent in sorted(chronicles, key=lambda key: (-key[0], key[1])):
        chronicle = chronicles[slot, silent]
        own = owns.get(slot, (*at, *rest))[len(at) :]
        first, *later = [
            None if id(event) in but else _event(ledger, slot, at, event, rest, own, covered)
            for event in chronicle.events
        ]
        dropped = EarlierValue(Claim(at, ABSENT, slot, Origin("forgotten")), "forgotten", None, chronicle.dropped)
        for past in (*reversed(later), dropped if chronicle.dropped and not rest else None, first):
            if past is not None:
                yield past


def _event(
    ledger: Ledger, slot: int, at: Path, event: Event, rest: Path, own: Path, covered: bool
) -> EarlierValue | None:
    """An event at *at* as an earlier value at *rest* below it; None where it says nothing of that path.

    own: the steps below *at* in this slot, which differ from *rest* where an element had another index
    """
    depth = _reach(event.value, own)
    path, own, value = (*at, *rest)[: len(at) + depth], own[:depth], dig(event.value, own[:depth])
    if depth < len(rest) and isinstance(value, dict) and not (covered and event.what == "erased"):
        return None
    origin, mark = ledger.marks.place(setters_at(event.value, event.set_by, own, at)[0])
    by = None
    if event.by:
        doer = ledger.marks[event.by]
        verb = Verb.ERASE if event.what == "erased" else doer.verb
        by = Claim(at, ABSENT, slot, doer.locator.at(at[doer.depth :]), verb)
    rule = _rule_for(ledger, at, event.value) if event.what == "kept out" else ""
    return EarlierValue(
        Claim(path, shown(value), slot, origin, _verb(mark, path, value)), event.what, by, at=at, rule=rule
    )


def _rule_for(ledger: Ledger, path: Path, value: Any) -> str:
    """The rule in words that kept a value out at *path*; "" where the node has no such rule any more."""
    part = Part(tree_with(path, value), ())
    place = next(decisions(ledger.plan(DEFAULT_GROUP).policy, part, part), None)
    return rule_in_words(*place.rule) if place is not None and place.verdict is KEEP else ""


def _reach(value: Any, path: Path) -> int:
    """The number of steps of *path* that lead to something in *value*; all of them where *path* is set."""
    return next(depth for depth in range(len(path), -1, -1) if dig(value, path[:depth]) is not ABSENT)


def _verb(mark: Mark, path: Path, value: Any) -> Verb:
    """How a value at *path* was set. A value inside a map that was replaced or fully assigned counts as plainly set."""
    if mark.verb not in (Verb.REPLACE, Verb.FULL) or len(path) == mark.depth:
        return mark.verb
    return Verb.REPLACE if isinstance(value, AssignedMap) else Verb.SET


def _places_removed_with(ledger: Ledger, at: SourcePath) -> Iterator[SourcePath]:
    """Yield the places that would go if the line that set a place were removed, the smallest first.

    A map that only this line has stepped into goes with it; a map that another line has made does not.
    """
    tree, path = ledger.trees[at.source], at.path
    set_by, _ = set_by_at(tree, path)
    depth = ledger.marks[set_by].depth if isinstance(set_by, int) else len(path)
    while len(path) > depth:  # an entry of a map that was set at once
        yield SourcePath(at.source, path)
        if not _is_one(ledger, at.source, path):
            return
        path = path[:-1]
    while len(path) > 1 and type(holder := dig(tree, path[:-1])) is OwnedMap and len(holder) < 2:
        if not isinstance(set_by, int) or not _is_one(ledger, at.source, path):
            break
        path = path[:-1]
    yield SourcePath(at.source, path)
    while path and (not isinstance(set_by, int) or _is_one(ledger, at.source, path)):
        path = path[:-1]
        yield SourcePath(at.source, path)


def _is_one(ledger: Ledger, slot: int, path: Path) -> bool:
    """Whether the line that set a path has also set the map that holds it, or stepped into it."""
    (set_by, _), (above, _) = (set_by_at(ledger.trees[slot], one) for one in (path, path[:-1]))
    if set_by == above or not isinstance(set_by, int) or not isinstance(above, int):
        return set_by == above
    mine, its = (ledger.origin(slot, one)[0] for one in (path, path[:-1]))
    return (mine.file, mine.line) == (its.file, its.line) or ledger.marks.is_part(above, set_by)


# --- the slots as they were when a line set a value ------------------------------


def _ledger_at_mark(ledger: Ledger, mark: int, path: Path) -> Ledger:
    """A new ledger with the slots as they were when *mark* was last used; *ledger* itself where no new line has set
    a value since.

    Only *path*, the paths below it and the maps above it are taken back; other paths may have later values or none.
    The caller must not write to the result.
    cost: the values at the path, and the history
    """
    last = ledger.marks.last_uses.get(mark, mark + 1)
    if last >= len(ledger.marks):
        return ledger
    moment = _Moment(ledger, last, path)
    then = Ledger(ledger.provenance, ledger.marks.root, ledger.secrets, ledger.rules)
    then.trees = [moment.tree(slot) for slot in range(len(ledger.trees))]
    then.marks, then.lock, then.unknown = ledger.marks, ledger.lock, ledger.unknown
    then.history = moment.history()
    return then


class _Moment:
    """The values and the history of a ledger at an earlier moment, at *path* and below. last: the first later mark"""

    def __init__(self, ledger: Ledger, last: int, path: Path) -> None:
        self.ledger = ledger
        self.last = last
        self.path = path
        self.known = {at: one for at, one in ledger.history.items() if path[: len(at)] == at[: len(path)]}

    def tree(self, slot: int) -> OwnedMap:
        """The tree that a slot had at that moment; an empty map where it had none."""
        tree = self.ledger.trees[slot]
        before, _ = self.before(slot, (), tree, tree.origin)
        return OwnedMap() if before is ABSENT else before

    def before(self, slot: int, at: Path, value: Any, set_by: SetBy) -> tuple[Any, SetBy]:
        """Returns (value, its origin) at a path of a slot at that moment. value, set_by: those there now, or later"""
        if value is ABSENT or last_mark(set_by) >= self.last:
            value, set_by = self.overwritten(slot, at)
        if not isinstance(value, OwnedMap):
            return value, set_by
        same = value
        for key in self.keys(at, same):
            here, who = same.get(key, ABSENT), same.origins.get(key, same.origin)
            was, by = self.before(slot, (*at, key), here, who)
            if was is not here or by != who:
                value = _with(value if value is not same else writable_copy(same), key, was, by)
        return value, set_by

    def overwritten(self, slot: int, at: Path) -> tuple[Any, SetBy]:
        """The value that was overwritten or erased since; ABSENT for none."""
        chronicle = self.known.get(at, {}).get((slot, False))
        events = chronicle.events if chronicle is not None else ()
        found = ((one.value, one.set_by) for one in events if last_mark(one.set_by) < self.last <= one.by)
        return next(found, (ABSENT, 0))

    def keys(self, at: Path, value: OwnedMap) -> tuple[Any, ...]:
        """The keys of a map below which values may have changed: the next step to the path, or all keys below it."""
        if len(at) < len(self.path):
            return (self.path[len(at)],)
        below = (one[len(at)] for one in self.known if len(one) > len(at) and one[: len(at)] == at)
        return tuple(dict.fromkeys((*value, *below)))

    def history(self) -> dict[Path, dict[tuple[int, bool], Chronicle]]:
        """The history with the events before that moment alone."""
        found: dict[Path, dict[tuple[int, bool], Chronicle]] = {}
        for at, chronicles in self.known.items():
            for key, one in chronicles.items():
                events = [event for event in one.events if max(event.by, last_mark(event.set_by)) < self.last]
                if events:
                    found.setdefault(at, {})[key] = Chronicle(events, one.dropped)
        return found


def _with(value: OwnedMap, key: Any, entry: Any, set_by: SetBy) -> OwnedMap:
    if entry is ABSENT:
        value.pop(key, None)
    else:
        value[key], value.origins[key] = entry, set_by
    return value
