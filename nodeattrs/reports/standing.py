"""The values that a role or an environment sets, and the nodes that still read them.

A trace of each node decides: the value wins there, is merged with others, or is overridden.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Outcome, Trace
from nodeattrs.core.tree import Path, spell
from nodeattrs.core.unread import Unread, unread_in
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import claimed, is_leaf, on_one_line, origin_data

if TYPE_CHECKING:
    from nodeattrs.node.node import Node

LEVELS = {"default_attributes": "default", "override_attributes": "override"}


@dataclass(slots=True)
class Standing:
    """One value that a role or an environment sets, and its effect on the nodes that `add_node` was called with.

    level:      "default" or "override"
    wins:       names of the nodes that read the value, alone or merged with others
    overridden: (rank, origin) of the overriding claim -> names of the nodes; rank 0 where no claim overrides and the
                value is still not read
    unread:     a source that was not read and may override the value -> names of the nodes
    """

    level: str
    path: Path
    value: Any
    origin: Origin
    wins: list[str] = field(default_factory=list)
    overridden: dict[tuple[int, Origin], list[str]] = field(default_factory=dict)
    unread: dict[Unread, list[str]] = field(default_factory=dict)

    def add_node(self, node: Node, kind: str, name: str) -> None:
        """Trace the path on *node* and add the node's name to `wins` or `overridden`, and to `unread`.

        kind, name: of the role or environment that sets the value
        """
        trace = node.trace(self.path)
        for place in unread_in(trace.unknown, self.path):
            self.unread.setdefault(place, []).append(node.name)
        ours = [
            one
            for one in trace.claims
            if (one.origin.kind, one.origin.name) == (kind, name)
            and trace.title(one.rank).split()[1] == self.level
            and one.outcome is not Outcome.HOLDS
        ]
        if any(one.outcome in (Outcome.WINS, Outcome.JOINS) for one in ours) and trace.found:
            self.wins.append(node.name)
        else:
            by = ours[0].by if ours else ()
            self.overridden.setdefault(_over(trace, by), []).append(node.name)

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-able data; secrets are masked."""
        return {
            "path": spell(self.path),
            "level": self.level,
            "value": claimed(self.value, self.path),
            **origin_data(self.origin),
            "wins": self.wins,
            "overridden": [
                {"rank": rank, **origin_data(origin), "nodes": nodes}
                for (rank, origin), nodes in self.overridden.items()
            ],
            "unread": [{**one.to_dict(), "nodes": nodes} for one, nodes in self.unread.items()],
        }


def _over(trace: Trace, by: Iterable[int]) -> tuple[int, Origin]:
    ranks = tuple(by)
    found = next((one for one in trace.claims if one.rank in ranks), trace.winner)
    return (0, Origin("")) if found is None else (found.rank, found.origin)


def standings(fields: Mapping[str, Any], origin: Any) -> Iterator[Standing]:
    """Yield a Standing for each value that a role or an environment sets in its default and override attributes.

    A list is one value, and so is an empty map, unless the whole field is empty.
    fields: the document of the role or environment
    origin: a function from a path of the document to the origin of its value
    """

    def rows(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
        if is_leaf(value) or isinstance(value, list):
            yield path, value
            return
        for key, inner in value.items():
            yield from rows(inner, (*path, key))

    for name, level in LEVELS.items():
        for path, value in rows(fields[name], ()):
            if path:
                yield Standing(level, path, value, origin((name, *path)))


@dataclass(frozen=True, slots=True)
class ShownStandings:
    """The values that a role or an environment sets, and their effect on some nodes.

    kind, name: of the role or environment
    looked_at:  names of the nodes that were traced
    total:      the number of saved nodes that have the role or environment
    """

    kind: str
    name: str
    looked_at: tuple[str, ...]
    total: int
    rows: tuple[Standing, ...]

    def to_dict(self) -> dict[str, Any]:
        """The role or environment, the nodes and all rows as JSON-able data."""
        return {
            "version": 1,
            "kind": self.kind,
            "name": self.name,
            "nodes": list(self.looked_at),
            "total": self.total,
            "attributes": [row.to_dict() for row in self.rows],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A heading, then for each value its level, path and place, and the nodes that read or override it."""
        of = "" if len(self.looked_at) == self.total else f" of {self.total}"
        yield screen.paint(printable(f"{self.kind} {self.name}, on {len(self.looked_at)}{of} nodes"), "strong")
        for row in self.rows:
            head = f"{row.level} {spell(row.path)} = {on_one_line(row.value)}"
            yield from screen.wrapped(printable(head), "    ", "  ", 2)
            yield f"      read on {len(row.wins)}  {screen.paint(printable(row.origin.place or ''), 'faint')}".rstrip()
            for (rank, origin), nodes in row.overridden.items():
                who = f"overridden on {len(nodes)} by {rank} {origin}" if rank else f"not read on {len(nodes)}"
                yield from screen.wrapped(printable(f"{who}: {', '.join(nodes)}"), " " * 10, "      ", 3)
