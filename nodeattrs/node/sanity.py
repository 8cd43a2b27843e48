"""A check for contradictions inside of a ledger, for the reader of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodeattrs.core.tree import Path, is_json
from nodeattrs.node.history import HISTORY_BOUND
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, WorkedList, setters
from nodeattrs.node.slots import SLOTS


def contradictions(ledger: Ledger) -> Iterator[str]:
    """Yield a sentence for each contradiction in a ledger; nothing where there is none. cost: everything is
    looked at
    """
    for slot, tree in enumerate(ledger.trees[1:], 1):
        yield from _Slot(ledger, slot).faults(tree, ())
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if len(chronicle.events()) > HISTORY_BOUND:
                yield f"too much history at {path} in slot {slot}"
            for event in chronicle.events():
                known = _is_mark(ledger, event.by) and _are_marks(ledger, event.set_by, path)
                if not (known and _fits(event.value, event.set_by)):
                    yield f"an unknown mark in the history of {path} in slot {slot}"
                yield from _Slot(ledger, slot).faults(event.value, path)


def _is_mark(ledger: Ledger, number: Any) -> bool:
    return type(number) is int and 0 <= number < len(ledger.marks)


def _are_marks(ledger: Ledger, set_by: Any, path: Path) -> bool:
    if type(set_by) is int:
        return _is_mark(ledger, set_by)  # as most are
    elements = set_by if isinstance(set_by, list) else [set_by]
    numbers = [setter.source for one in elements for setter in setters(one, path)]
    if isinstance(set_by, WorkedList):
        numbers += [*set_by.begun, *set_by.steps]
    return all(_is_mark(ledger, number) for number in numbers)


def _fits(value: Any, set_by: Any) -> bool:
    return not isinstance(set_by, list) or (isinstance(value, list) and len(value) == len(set_by))


class _Slot:
    """A walk through the tree of one slot."""

    def __init__(self, ledger: Ledger, slot: int) -> None:
        self._ledger, self._slot = ledger, slot
        self._seen: set[int] = set()

    def faults(self, tree: Any, path: Path) -> Iterator[str]:
        if (type(tree) is dict or type(tree) is list) and is_json(tree):
            return  # so none of our maps is in it
        if isinstance(tree, OwnedMap):
            yield from self._of_owned(tree, path)
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
        for step, value in entries:
            if isinstance(value, OwnedMap) and not isinstance(tree, OwnedMap):
                what = "a list" if isinstance(tree, list) else "a frozen one"
                yield f"an owned map inside {what} at {path} in slot {self._slot}"
            if isinstance(value, (dict, list)):
                yield from self.faults(value, (*path, step))

    def _of_owned(self, tree: OwnedMap, path: Path) -> Iterator[str]:
        where = f"at {path} in slot {self._slot}"
        if id(tree) in self._seen:
            yield f"an owned map has two parents, one {where}"
        self._seen.add(id(tree))
        if not tree.origins.keys() <= tree.keys():
            yield f"marks without entries {where}"
        every = tree.origins.values()
        if not _is_mark(self._ledger, tree.origin) or not all(
            _are_marks(self._ledger, set_by, path) for set_by in every
        ):
            yield f"an unknown mark {where}"
        if not all(_fits(tree.get(key), set_by) for key, set_by in tree.origins.items()):
            yield f"marks for elements that are not there {where}"
        if isinstance(tree, AssignedMap) and SLOTS[self._slot - 1].source != "recipe":
            yield f"slot {self._slot} is no recipe's, and {path} is marked assigned"
