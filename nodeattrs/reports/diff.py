"""The report of `nodeattrs diff`: the differences of two nodes by path, and in lists by element, with origins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from nodeattrs.core.changed import TreeDifference, changes
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT, Path, dig, spell, strict_key
from nodeattrs.core.unread import Unread
from nodeattrs.node.documents import json_ready
from nodeattrs.node.node import Node
from nodeattrs.node.slot_tree import SlotTree
from nodeattrs.node.slots import SLOTS
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import on_one_line, unread_at

_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


class DiffSide(NamedTuple):
    """One of two compared nodes.

    title: "web1", or "web1@3" for revision 3
    node:  the node itself
    """

    title: str
    node: Node


def _changes_below(path: Path, before: Any, after: Any) -> list[TreeDifference]:
    """The leaves at or below a path that differ between two trees."""
    found = changes(dig(before, path), dig(after, path))
    return [TreeDifference((*path, *one.path), one.before, one.after) for one in found]


class _ElementChange(NamedTuple):
    """A list element that only one side has.

    kind:    "removed" where only the left side has the element, "added" where only the right side has it
    origins: the places that set the element
    """

    kind: str
    value: Any
    origins: tuple[Origin, ...]


_Elements = list[tuple[Any, tuple[Origin, ...]]]
"""The elements of a list, each with the places that set it."""


def _element_changes(before: _Elements, after: _Elements) -> list[_ElementChange]:
    """The list elements that only one side has: first the removed ones, then the added ones.

    Elements are compared by value and count; a change of order is no difference.

    >>> [(one.kind, one.value) for one in _element_changes([(1, ()), (1, ())], [(2, ()), (1, ())])]
    [('removed', 1), ('added', 2)]
    """
    return [*_only_in(before, after, "removed"), *_only_in(after, before, "added")]


def _only_in(one: _Elements, other: _Elements, kind: str) -> Iterator[_ElementChange]:
    left = Counter(strict_key(value) for value, _ in other)
    for value, origins in one:
        key = strict_key(value)
        if left[key]:
            left[key] -= 1
        else:
            yield _ElementChange(kind, value, origins)


def _node_origins(node: Node, path: Path) -> tuple[Origin, ...]:
    winner = node.trace(path).winner
    return () if winner is None else (winner.claim.origin,)


def _node_elements(node: Node, path: Path, values: Sequence[Any]) -> _Elements:
    """The elements of a merged list, each with the places that set it."""
    found = [tuple(dict.fromkeys(claim.origin for claim in one.claims)) for one in node.trace(path).elements]
    if len(found) != len(values):
        found = [_node_origins(node, path)] * len(values)
    return list(zip(values, found, strict=True))


def _slot_origins(slot: SlotTree, path: Path) -> tuple[Origin, ...]:
    return (slot.origin(path),)


def _slot_elements(slot: SlotTree, path: Path, values: Sequence[Any]) -> _Elements:
    return [(value, _slot_origins(slot, (*path, index))) for index, value in enumerate(values)]


_Side = TypeVar("_Side")
"""A node or a slot."""


def _details(
    change: TreeDifference,
    sides: tuple[_Side, _Side],
    origins_of: Callable[[_Side, Path], tuple[Origin, ...]],
    elements_of: Callable[[_Side, Path, Sequence[Any]], _Elements],
) -> tuple[list[tuple[Origin, ...]], list[_ElementChange]]:
    """Returns (origins of both values, elements that only one of two lists has); () and [] without a value or lists."""
    values = (change.before, change.after)
    found = [*zip(sides, values, strict=True)]
    origins = [() if value is ABSENT else origins_of(side, change.path) for side, value in found]
    if not all(isinstance(value, list) for value in values):
        return origins, []
    return origins, _element_changes(*(elements_of(side, change.path, value) for side, value in found))


class Difference:
    """The report about the differences of two nodes, in their merged attributes at and below a path.

    `changes` has the leaves that differ, and `slots` the slots that differ; [] for none. `unread` has the sources that
    were not read and may change a compared value; [] for none. The trees are compared at the first access. `to_dict`
    returns the changes as JSON-able data, and `lines` yields them as text, both without `unread`. Traces are computed
    only then.
    left, right: the two nodes, with their titles
    path:    only values at and below this path are compared; () for all
    by_slot: True: each of the fifteen slots is compared, too, which finds differences that an override hides
    causes:  True: the report also has the lines that the values of the right side come from
    """

    def __init__(
        self, left: DiffSide, right: DiffSide, path: Path = (), by_slot: bool = False, causes: bool = False
    ) -> None:
        self.left, self.right, self.path, self.by_slot, self.causes = left, right, path, by_slot, causes

    @cached_property
    def changes(self) -> list[TreeDifference]:
        """The leaves of the merged trees that differ; a list is one leaf."""
        trees = (json_ready(side.node.to_dict(evaluate=False)) for side in (self.left, self.right))
        return _changes_below(self.path, *trees)

    @cached_property
    def slots(self) -> list[_SlotDifference]:
        """One _SlotDifference for each slot that differs; [] without *by_slot*."""
        sides = (self.left.node.slots, self.right.node.slots)
        found = [_SlotDifference(sides[0][slot.number], sides[1][slot.number], self.path) for slot in SLOTS]
        return [one for one in found if one.changes] if self.by_slot else []

    @property
    def unread(self) -> list[Unread]:
        """The sources of both nodes that were not read and may change a compared value; [] for none. Not kept."""
        return [one for side in (self.left, self.right) for one in unread_at(side.node, self.path)]

    def _details(self, change: TreeDifference) -> tuple[list[tuple[Origin, ...]], list[_ElementChange]]:
        return _details(change, (self.left.node, self.right.node), _node_origins, _node_elements)

    def _ways(self, change: TreeDifference) -> list[str]:
        """The lines that a value of the right side comes from; [] without *causes*."""
        winner = self.right.node.trace(change.path).winner if self.causes and change.after is not ABSENT else None
        return [] if winner is None else winner.claim.cause_lines()

    def to_dict(self) -> dict[str, Any]:
        """The changes as JSON-able data: values, origins and list elements; with *by_slot* also the slots."""
        entries = [_entry(one, *self._details(one)) for one in self.changes]
        if self.causes:
            for entry, change in zip(entries, self.changes, strict=True):
                entry["causes"] = self._ways(change)
        data = {"version": 1, "before": self.left.title, "after": self.right.title, "changes": entries}
        return data | ({"slots": [one.to_dict() for one in self.slots]} if self.by_slot else {})

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a line with both titles, a block for each changed path, then a block for each slot that differs.

        A block has the values, or the elements that only one of two lists has, with their origins. With *causes*
        it also has the lines that the right value comes from. Without changes, the line "no difference" takes the place
        of the paths; with *by_slot* it is "no difference in what is read". Sources that were not read are not named.
        """
        yield f"{screen.paint(self.left.title, 'strong')} -> {screen.paint(self.right.title, 'strong')}"
        if not self.changes:
            yield "  no difference in what is read" if self.by_slot else "  no difference"
        for change in self.changes:
            yield from _block(change, *self._details(change), screen)
            for way in self._ways(change):
                yield from screen.wrapped(f"comes from {printable(way)}", " " * 10, "        ")
        for slot in self.slots:
            yield ""
            yield from slot.lines(screen)


class _SlotDifference:
    """The differences between the same slot of two nodes, at and below a path; a part of the report `Difference`.

    left, right: the slot of each node
    """

    def __init__(self, left: SlotTree, right: SlotTree, path: Path = ()) -> None:
        self.left, self.right, self.path = left, right, path

    @cached_property
    def changes(self) -> list[TreeDifference]:
        """The leaves of the slot that differ; a list is one leaf."""
        return _changes_below(self.path, *(json_ready(side.to_dict()) for side in (self.left, self.right)))

    def _details(self, change: TreeDifference) -> tuple[list[tuple[Origin, ...]], list[_ElementChange]]:
        return _details(change, (self.left, self.right), _slot_origins, _slot_elements)

    def to_dict(self) -> dict[str, Any]:
        """The slot's number, level and source, and its changes, as JSON-able data."""
        found = [_entry(one, *self._details(one)) for one in self.changes]
        return {"slot": self.left.number, "level": self.left.level, "source": self.left.source, "changes": found}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The number and title of the slot, then a block for each changed path."""
        yield screen.paint(f"{self.left.number} {self.left.title}", "strong")
        for change in self.changes:
            yield from _block(change, *self._details(change), screen)


def _entry(
    change: TreeDifference, origins: Sequence[tuple[Origin, ...]], elements: list[_ElementChange]
) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": spell(change.path), "change": change.kind}
    for side, value, who in zip(("before", "after"), (change.before, change.after), origins, strict=True):
        if value is not ABSENT:
            entry[side] = {"value": value, "origin": str(who[0]) if who else None}
    if elements:
        entry["elements"] = [
            {"change": one.kind, "value": one.value, "origins": [str(origin) for origin in one.origins]}
            for one in elements
        ]
    return entry


def _block(
    change: TreeDifference, origins: Sequence[tuple[Origin, ...]], elements: list[_ElementChange], screen: Screen
) -> Iterator[str]:
    yield f"  {screen.paint(_SIGNS[change.kind], change.kind)} {printable(spell(change.path))}"
    for one in elements:
        yield from _side(_SIGNS[one.kind], one.value, one.origins, screen)
    if not elements:
        for sign, value, who in zip("-+", (change.before, change.after), origins, strict=True):
            if value is not ABSENT:
                yield from _side(sign, value, who, screen)


def _side(sign: str, value: Any, origins: tuple[Origin, ...], screen: Screen) -> Iterator[str]:
    places = f"  ({printable(', '.join(map(str, origins)))})" if origins else ""
    yield from screen.wrapped(f"{on_one_line(value)}{places}", " " * 8, f"      {sign} ", 4)
