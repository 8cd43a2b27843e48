"""Documents enter a node: deep merged over what a slot holds, each leaf with its origin.

Chef's other merge (roles, `-j` JSON, late facts): maps meet, lists unite, anything else
is replaced, in one pass. What it replaces goes into the history, so that a role
that lost to another role is still found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.core.tree import Path, dig, strict_key
from nodeattrs.node.component_tree import ComponentTree
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, ElementTold, OwnedMap, SaidAt, Several, Worked, each, renumbered, speakers
from nodeattrs.node.slots import SLOTS
from nodeattrs.node.speech import Mark
from nodeattrs.node.values import stored

__all__ = ["adopt", "lay_over", "load", "settle", "sink"]


def load(component: ComponentTree, tree: Any, speaker: Speaker) -> None:
    """Make *tree* the whole content of the (lower) slot of a component. raises: BadKey, BadValue, TooDeep"""
    ledger = component.ledger
    with ledger.lock:
        new = stored(tree, ())
        component.leave()
        ledger.replace(component.lower, new, _mark(component, speaker), remember=False)


def settle(component: ComponentTree, tree: Mapping[Any, Any], speaker: Speaker) -> Mapping[Any, Any]:
    """As `load`, of JSON data of at most ROOM levels that nobody changes any more: it is not copied.

    What of the slot is such data now, entry by entry; nothing where there may be secrets in it.
    """
    ledger = component.ledger
    if ledger.secrets is not None and ledger.secrets.concern(tree):
        load(component, tree, speaker)
        return {}
    with ledger.lock:
        component.leave()
        ledger.replace(component.lower, dict(tree), _mark(component, speaker), remember=False)
        return dict(ledger.trees[component.lower])


def _mark(component: ComponentTree, speaker: Speaker) -> int:
    ledger = component.ledger
    bulk = SLOTS[component.lower - 1].source == "facts" and not isinstance(speaker, Origin)
    return ledger.marks.add(Mark(speaker, bulk=bulk)) if ledger.provenance else 0


def lay_over(component: ComponentTree, tree: Any, speaker: Speaker) -> None:
    """Deep merge *tree* over the content of the (lower) slot of a component. raises: BadKey, BadValue, TooDeep"""
    if not component.ledger.trees[component.lower]:
        load(component, tree, speaker)
        return
    mark = _mark(component, speaker)
    for key, value in stored(tree, ()).items():
        _lay(component, (key,), value, mark)


def sink(component: ComponentTree) -> None:
    """Move the content of a recipe's slot down into the attribute file's, keeping who said it.

    What was said in normal is, in the next run, what was saved: it stands in the lower slot then.
    """
    ledger, lower, upper = component.ledger, component.lower, component.upper
    tree = ledger.trees[upper]
    if isinstance(tree, AssignedMap):
        ledger.replace(lower, {}, remember=False)
    _sink(ledger, lower, tree, ())
    ledger.replace(upper, {}, remember=False)


def _sink(ledger: Ledger, lower: int, tree: OwnedMap, path: Path) -> None:
    for key, value in tree.items():
        at = (*path, key)
        told = tree.origins.get(key, tree.origin)
        if type(value) is OwnedMap and isinstance(dig(ledger.trees[lower], at), dict):
            _sink(ledger, lower, value, at)
        elif isinstance(value, OwnedMap):
            ledger.store(lower, at, OwnedMap((), value.origin), value.origin)
            _sink(ledger, lower, value, at)
        elif isinstance(told, list):
            ledger.store(lower, at, value, 0, told)
        else:
            ledger.store(lower, at, value, told)


def adopt(component: ComponentTree, saved: Ledger, but: Callable[[Origin], bool]) -> None:
    """Take over the (lower) slot from another ledger with its marks, which are those of a speaker who was saved.

    but: what these said is left out
    """
    tree = _Adoption(component.ledger, saved, but).tree(saved.trees[component.lower])
    component.leave()
    component.ledger.replace(component.lower, tree, tree.origin, remember=False)


class _Saved:
    """A speaker of an earlier run."""

    __slots__ = ("_speaker",)

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def at(self, path: Path) -> Origin:
        origin = self._speaker.at(path)
        return origin if origin.kind.startswith("saved") else origin.saved()


class _Adoption:
    """A tree that comes with its marks: those that it refers to and no others, or each run would bring those of all."""

    def __init__(self, ledger: Ledger, saved: Ledger, but: Callable[[Origin], bool]) -> None:
        self._ledger, self._saved, self._but = ledger, saved, but
        self._numbers: dict[int, int] = {0: 0}
        self._left_out: dict[int, bool] = {}

    def tree(self, tree: OwnedMap) -> OwnedMap:
        copy = OwnedMap((), self._number(tree.origin))
        for key, value in tree.items():
            told = tree.origins.get(key, tree.origin)
            if isinstance(told, list):
                kept = [pair for pair in zip(value, told, strict=True) if not self._only_by_left_out(pair[1])]
                if kept or not value:
                    copy[key] = [entry for entry, _ in kept]
                    copy.origins[key] = self._elements(told, [who for _, who in kept])
                continue
            inner = self.tree(value) if isinstance(value, OwnedMap) else value
            if not self._is_left_out(told) or (inner and isinstance(inner, OwnedMap)):
                copy[key] = inner
                copy.origins[key] = renumbered(told, self._number)
        return copy

    def _elements(self, told: list[ElementTold], kept: list[ElementTold]) -> list[ElementTold]:
        elements = renumbered(kept, self._number)
        if not isinstance(told, Worked):
            return elements  # type: ignore[no-any-return]
        begun, steps = (
            [self._number(one) for one in marks if not self._is_left_out(one)] for marks in (told.begun, told.steps)
        )
        return Worked(elements, tuple(begun), tuple(steps))

    def _number(self, old: int) -> int:
        new = self._numbers.get(old)
        if new is None:
            mark = self._saved.marks[old]
            new = self._numbers[old] = self._ledger.marks.add(mark._replace(speaker=_Saved(mark.speaker)))
        return new

    def _is_left_out(self, number: int) -> bool:
        known = self._left_out.get(number)
        if known is None:
            known = self._left_out[number] = self._but(self._saved.marks[number].speaker.at(()))
        return known

    def _only_by_left_out(self, told: ElementTold) -> bool:
        return all(self._is_left_out(said.number) for said in speakers(told, ()))


def _lay(component: ComponentTree, path: Path, value: Any, mark: int) -> None:
    ledger, slot = component.ledger, component.lower
    below = dig(ledger.trees[slot], path)
    if isinstance(below, dict) and isinstance(value, dict):
        for key, entry in value.items():
            _lay(component, (*path, key), entry, mark)
        return
    if isinstance(below, (dict, list)):
        component.leave(path)
    if isinstance(below, list) and isinstance(value, list):
        _unite(ledger, slot, path, below, value, mark)
    else:
        ledger.store(slot, path, value, mark)


def _unite(ledger: Ledger, slot: int, path: Path, below: list[Any], value: list[Any], mark: int) -> None:
    lower = each(ledger.told(slot, path)[0] if ledger.provenance else 0, path, len(below))
    above = [SaidAt(mark, (*path, index)) for index in range(len(value))]
    united: dict[Any, tuple[Any, list[ElementTold]]] = {}
    for entry, who in zip([*below, *value], [*lower, *above], strict=True):
        united.setdefault(strict_key(entry), (entry, []))[1].append(who)
    entries = [entry for entry, _ in united.values()]
    tellers = [who[0] if len(who) == 1 else Several(tuple(who)) for _, who in united.values()]
    ledger.store(slot, path, entries, mark, tellers if ledger.provenance else None)
