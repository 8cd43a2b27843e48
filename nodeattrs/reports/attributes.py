"""The report of `nodeattrs show --winners`: a row for each leaf of a node, with the slot and the line that set it.

A list is one leaf. A row has the facts of a trace. If only one slot sets a path, the row is made without a trace. Such
rows are quick, also for a node with thousands of facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.claim import Origin, Verb
from nodeattrs.core.tree import Path, dig, spell
from nodeattrs.node.node import Node
from nodeattrs.reports import Report
from nodeattrs.reports.screen import Screen, cut, in_columns, printable
from nodeattrs.reports.show import head
from nodeattrs.reports.values import claimed, on_one_line, origin_data

_WIDEST = 60


class Attribute(NamedTuple):
    """A row of the report: one leaf of a node, and the slots that set it. A slot is named by its number, 1 to 15.

    path:      the path of the leaf
    value:     the value; a list is one leaf
    rank:      the strongest slot that sets the value or a part of it
    origin:    the line in the slot *rank*
    joins:     the other slots that set a part of the value; () for none
    overrides: the slots whose values at the path, or above it, are overridden; () for none

    `to_dict` returns the row as JSON-able data, with secrets masked.
    """

    path: Path
    value: Any
    rank: int
    origin: Origin
    joins: tuple[int, ...] = ()
    overrides: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-able data; secrets are masked."""
        return {
            "path": spell(self.path),
            "steps": list(self.path),
            "value": claimed(self.value, self.path),
            "rank": self.rank,
            "joins": list(self.joins),
            "overrides": list(self.overrides),
            **origin_data(self.origin),
        }


def attributes(node: Node, path: Path = ()) -> Iterator[Attribute]:
    """Yield a row for each leaf of the merged tree at and below a path, in the order of the tree.

    A list, an empty map and a scalar are leaves. No row comes where the path is not set.
    cost: a trace for each leaf that several slots set; less for the others
    """
    slots = {number: slot.to_dict() for number, slot in node.slots.items()}
    is_known = not any(slot.unknown for slot in node.slots.values())
    below = {number: found for number, tree in slots.items() for found in [_below(tree, path)] if found is not None}
    yield from _rows(node, dig(node.to_dict(evaluate=False), path), path, below, is_known)


def _below(tree: Any, path: Path) -> Any:
    """The value of a slot at a path, or the value above it that is not a map; None for nothing, and for {}."""
    for step in path:
        if not isinstance(tree, dict):
            break
        tree = tree.get(step)
    return tree if tree != {} else None


def _rows(node: Node, value: Any, path: Path, below: Mapping[int, Any], is_known: bool) -> Iterator[Attribute]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            at = {slot: there for slot, tree in below.items() if (there := _step(tree, key)) is not None}
            yield from _rows(node, inner, (*path, key), at, is_known)
        return
    if len(below) == 1 and is_known:
        (number,) = below
        slot = node.slots[number]
        if not isinstance(value, list) or slot.verb(path) is not Verb.APPEND:  # a list may have got elements later
            yield Attribute(path, value, number, slot.origin(path))
            return
    trace = node.trace(path)
    if trace.winner is not None:
        joins = dict.fromkeys(one.rank for one in trace.standing if one.rank != trace.winner.rank)
        overrides = dict.fromkeys(one.rank for one in trace.losers)
        yield Attribute(path, value, trace.winner.rank, trace.winner.origin, tuple(joins), tuple(overrides))


_NULL = object()
"""For null, which is a value."""


def _step(tree: Any, key: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    return (_NULL if tree[key] is None else tree[key]) if key in tree else None


class _ShownAttributes(NamedTuple):
    """The report about the leaves of one node, at and below a path. `shown_attributes` makes it, with all rows.

    node, environment: the names of the node and of its environment
    path:     the rows are at and below this path; () for all
    revision: the number of the save that the node was read from; None for a node that is not from a store
    """

    node: str
    environment: str
    path: Path
    revision: int | None
    rows: tuple[Attribute, ...]

    def to_dict(self) -> dict[str, Any]:
        """The node, the path, the revision and all rows as JSON-able data; secrets are masked."""
        return {
            **head(self.node, self.environment, self.path),
            "revision": self.revision,
            "attributes": [row.to_dict() for row in self.rows],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line a row: path, value, slot numbers ("12+6"), place, and the numbers of overridden slots."""
        table = [
            [
                printable(spell(row.path)),
                cut(on_one_line(row.value), _WIDEST),
                "+".join(map(str, (row.rank, *row.joins))),
                printable(str(row.origin.place or row.origin.who))
                + (f"  overrides {', '.join(map(str, row.overrides))}" if row.overrides else ""),
            ]
            for row in self.rows
        ]
        yield from ("  ".join(row).rstrip() for row in in_columns(table, right=(2,)))


def shown_attributes(node: Node, path: Path = (), revision: int | None = None) -> Report:
    """Compute the report about the leaves of a node at and below *path*; it has no rows where the path is not set."""
    rows = tuple(attributes(node, path))
    return _ShownAttributes(node.name, node.environment, path, revision, rows)
