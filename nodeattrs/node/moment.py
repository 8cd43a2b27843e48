"""The slots of a node as they were when a line set a value: later changes are taken back.

Marks are numbered in the order in which lines first set a value. So each line that came after the last use of a
mark has a greater number. The history has the values that such lines overwrote or erased, as far as it is kept.
The module knows neither policies nor traces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.core.origins import At
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.node.history import Chronicle
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, SetBy, last_mark, setters_at

_PLAIN, _MAPS = {str, int, float, bool}, {dict, OwnedMap, AssignedMap}


def ledger_at_mark(ledger: Ledger, mark: int, path: Path) -> Ledger:
    """A ledger as it was when a mark was used last, at *path*, below it and in the maps above it.

    Other paths may be missing. The same ledger where nothing has changed there since. The result must not be written
    to.
    cost: the values at the path, and the history
    """
    last = ledger.marks.until.get(mark, mark + 1)
    if last >= len(ledger.marks) or _is_older(ledger, last, path):
        return ledger
    moment = _Moment(ledger, last, path)
    then = Ledger(ledger.provenance, ledger.marks.root, ledger.secrets, ledger.rules)
    then.trees = [moment.tree(slot) for slot in range(len(ledger.trees))]
    then.marks, then.lock, then.unknown = ledger.marks, ledger.lock, ledger.unknown
    then.history = moment.history()
    return then


def _is_older(ledger: Ledger, last: int, path: Path) -> bool:
    """Whether all that stands at a path, and what happened there, above and below, is of marks before one."""
    for at, chronicles in ledger.history.items():
        if path[: len(at)] == at[: len(path)]:
            events = (event for chronicle in chronicles.values() for event in chronicle.events())
            if any(max(one.by, last_mark(one.set_by)) >= last for one in events):
                return False
    return all(_is_all_older(tree, tree.origin, last, path) for tree in ledger.trees)


def _is_all_older(value: Any, set_by: SetBy, last: int, path: Path) -> bool:
    if last_mark(set_by) >= last:
        return False
    if not isinstance(value, OwnedMap):
        return True
    keys = path[:1] if path and path[0] in value else () if path else value
    return all(_is_all_older(value[key], value.origins.get(key, value.origin), last, path[1:]) for key in keys)


def quick_setter(ledger: Ledger, mark: int | None, path: Path) -> tuple[At, Any] | None:
    """The setter of the value at *path*, and the value, where one look at the highest slot that has it is enough.

    None where that is not enough: for unset paths, lists, rules, unknown layers, and changes since the mark was last
    used.
    For a map it is the setter of the map in the highest slot, and that map.
    mark: the mark whose last use is the moment in question; None: now
    """
    last = len(ledger.marks) if mark is None else ledger.marks.until.get(mark, mark + 1)
    if ledger.rules or ledger.unknown or (ledger.history and _was_changed(ledger, last, path)):
        return None
    if path and type(path[-1]) is int and path[:-1]:
        return _element(ledger, last, path[:-1], path[-1])
    for tree in reversed(ledger.trees):
        if path and path[0] not in tree:
            continue
        value: Any = tree
        for step in path:
            if type(value) not in _MAPS:
                return None
            if step not in value:
                break
            value = value[step]
        else:
            setter = setters_at(tree, tree.origin, path)[0]
            is_plain = type(value) in _PLAIN or (type(value) in _MAPS and not ledger.marks[setter.source].bulk)
            return (setter, value) if setter.source < last and is_plain else None
    return None


_UNITED = frozenset({1, 3, 4, 5})
"""Slots whose lists unite, and that none of the others replaces."""


def _element(ledger: Ledger, last: int, above: Path, index: int) -> tuple[At, Any] | None:
    """The same of an element, where lists of different texts unite, and nothing has happened to them."""
    if any(at[: len(above)] == above for at in ledger.history):
        return None
    lists: list[tuple[OwnedMap, list[Any]]] = []
    for slot, tree in enumerate(ledger.trees):
        value = _list_at(tree, above)
        if value is None or (value and (slot not in _UNITED or not _is_all_older(tree, tree.origin, last, above))):
            return None
        lists += [(tree, value)] if value else []
    texts = [text for _, value in lists for text in value]
    if not {*map(type, texts)} <= {str} or len({*texts}) < len(texts) or not 0 <= index < len(texts):
        return None
    own = index
    for tree, value in lists:
        if own < len(value):
            setter = setters_at(tree, tree.origin, (*above, own))[0]
            return (setter, value[own]) if setter.source < last else None
        own -= len(value)
    return None


def _list_at(tree: OwnedMap, path: Path) -> list[Any] | None:
    """The list at a path; an empty one where nothing is, and None for anything else, or on the way."""
    value: Any = tree
    for step in path:
        if type(value) is not OwnedMap and type(value) is not dict:
            return None
        if step not in value:
            return []
        value = value[step]
    return value if type(value) is list and value else None


def _was_changed(ledger: Ledger, last: int, path: Path) -> bool:
    """Whether a mark that is too late has overwritten or erased something at a path, or what holds it."""
    for depth in range(len(path) + 1):
        chronicles = ledger.history.get(path[:depth])
        if chronicles is not None and any(one.by >= last for its in chronicles.values() for one in its.events()):
            return True
    return False


class _Moment:
    """last: the first mark that is too late."""

    def __init__(self, ledger: Ledger, last: int, path: Path) -> None:
        self.ledger = ledger
        self.last = last
        self.path = path
        self.known = {at: one for at, one in ledger.history.items() if path[: len(at)] == at[: len(path)]}

    def tree(self, slot: int) -> OwnedMap:
        """What a slot had."""
        tree = self.ledger.trees[slot]
        before, _ = self.before(slot, (), tree, tree.origin)
        return OwnedMap() if before is ABSENT else before

    def before(self, slot: int, at: Path, value: Any, set_by: SetBy) -> tuple[Any, SetBy]:
        """What stood somewhere, and who had set it. value, set_by: what stands there, or stood later"""
        if value is ABSENT or last_mark(set_by) >= self.last:
            value, set_by = self.overwritten(slot, at)
        if not isinstance(value, OwnedMap):
            return value, set_by
        same = value
        for key in self.keys(at, same):
            here, who = same.get(key, ABSENT), same.origins.get(key, same.origin)
            was, by = self.before(slot, (*at, key), here, who)
            if was is not here or by != who:
                value = _with(value if value is not same else _copy(same), key, was, by)
        return value, set_by

    def overwritten(self, slot: int, at: Path) -> tuple[Any, SetBy]:
        """What somebody has overwritten or erased since; ABSENT where that was nothing."""
        chronicle = self.known.get(at, {}).get((slot, False))
        events = chronicle.events() if chronicle is not None else ()
        found = ((one.value, one.set_by) for one in events if last_mark(one.set_by) < self.last <= one.by)
        return next(found, (ABSENT, 0))

    def keys(self, at: Path, value: OwnedMap) -> tuple[Any, ...]:
        """Where to look for changes: on the way to the path, and everywhere below it."""
        if len(at) < len(self.path):
            return (self.path[len(at)],)
        below = (one[len(at)] for one in self.known if len(one) > len(at) and one[: len(at)] == at)
        return tuple(dict.fromkeys((*value, *below)))

    def history(self) -> dict[Path, Mapping[tuple[int, bool], Chronicle]]:
        """What had happened by then."""
        kept = {at: {key: self.chronicle(one) for key, one in many.items()} for at, many in self.known.items()}
        return {at: {key: one for key, one in many.items() if one is not None} for at, many in kept.items()}

    def chronicle(self, of: Chronicle) -> Chronicle | None:
        """The events that were; None where there was none."""
        events = [one for one in of.events() if max(one.by, last_mark(one.set_by)) < self.last]
        return Chronicle.from_events(events, of.dropped) if events else None


def _copy(value: OwnedMap) -> OwnedMap:
    copy = type(value)(value, value.origin)
    copy.origins = value.origins.copy()
    return copy


def _with(value: OwnedMap, key: Any, entry: Any, set_by: SetBy) -> OwnedMap:
    if entry is ABSENT:
        value.pop(key, None)
    else:
        value[key], value.origins[key] = entry, set_by
    return value
