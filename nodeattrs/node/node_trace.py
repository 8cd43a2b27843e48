"""Why a path of a node is what it is: the fifteen slots heard again, and the history.

The walk and the rules are the core's; this module adds who said it, elements of united
lists, and what is in no tree any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nodeattrs.core.claim import Claim, Origin, Verb
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import At
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Element, Past, Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, SCALARS, Absent, Path, dig
from nodeattrs.core.walk import Setting
from nodeattrs.node.ledger import Event, Ledger
from nodeattrs.node.maps import AssignedMap
from nodeattrs.node.slots import PLAN, SLOTS, Branch
from nodeattrs.node.speech import Mark
from nodeattrs.node.view import plain

__all__ = ["trace_of"]

_TITLES = {slot.number: slot.title for slot in SLOTS}
_MOST_BELOW = 10
_READY = SCALARS | {Absent}
"""What is shown as it is."""


def trace_of(ledger: Ledger, path: Path) -> Trace:
    """The trace of *path*. cost: its depth times fifteen, and the history at and above it"""
    trees = {slot: tree for slot, tree in enumerate(ledger.trees) if tree or type(tree) is AssignedMap}
    walked = walk(_FOLDING, path, trees)

    def claim(setting: Setting) -> Claim:
        origin, mark = ledger.origin(setting.source, setting.own)
        verb = _verb(mark, setting.own, dig(ledger.trees[setting.source], setting.own))
        return Claim(setting.path, _shown(setting.value), setting.source, origin, verb)

    value = _read(walked.value)
    trace = traced(walked, path, value, claim, _TITLES, tuple(_past(ledger, path)), once=False)
    elements = walked.elements(value) if trace.elements else ()
    return replace(trace, elements=tuple(_element(ledger, path, entry, found) for entry, found in elements))


def _folding(branch: Branch) -> Folding:
    """The order of precedence as steps; the trees are handed in with each walk."""
    folding = Folding()
    for child in branch.children:
        folding.remember(Part(None, child) if isinstance(child, int) else _folding(child), branch.policy)
    return folding


_FOLDING = _folding(PLAN)


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
            for origin, mark in ledger.all_in(tree, tree.origin, own):
                claims.append(Claim(own, entry, slot, origin, mark.verb))
    return Element(entry, tuple(dict.fromkeys(slot for slot, _ in found)), tuple(claims))


def _past(ledger: Ledger, path: Path) -> Iterator[Past]:
    for depth in range(len(path), -1, -1):
        yield from _chronicled(ledger, path[:depth], path[depth:])
    below = [at for at in ledger.history if len(at) > len(path) and at[: len(path)] == path]
    for at in below[:_MOST_BELOW]:
        yield from _chronicled(ledger, at, ())


def _chronicled(ledger: Ledger, at: Path, rest: Path) -> Iterator[Past]:
    chronicles = ledger.history.get(at, {})
    for slot, silent in sorted(chronicles, key=lambda key: (-key[0], key[1])):
        chronicle = chronicles[slot, silent]
        first, *later = [_event(ledger, slot, at, event, rest) for event in chronicle.events()]
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
    origin, mark = ledger.told_in(event.value, event.told, rest, at)
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
