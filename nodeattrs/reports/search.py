"""The nodes that a search found, with the attributes that were asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, NO_ENTRIES, Path, dig
from nodeattrs.keep.search import read_tree
from nodeattrs.node.node import Node
from nodeattrs.reports import Long
from nodeattrs.reports.screen import Screen, cut, in_columns, printable
from nodeattrs.reports.undecided import Undecided, data_of
from nodeattrs.reports.values import on_one_line
from nodeattrs.texts.hidden import ESCAPES

_WIDEST = 60
_ORDER = {bool: 0, int: 1, float: 1, str: 2}


class Finding(NamedTuple):
    """One node, and its value for each attribute that was asked for; ABSENT where it has none.

    unknown: for some attributes, the layers that cannot be read and might override it
    """

    name: str
    values: dict[str, Any]
    unknown: Mapping[str, tuple[Undecided, ...]] = NO_ENTRIES

    def to_dict(self) -> dict[str, Any]:
        """As data: an attribute that the node does not have is null, as in Chef's partial search."""
        values = {title: None if value is ABSENT else value for title, value in self.values.items()}
        more = data_of(self.unknown, "attribute")
        return {"name": self.name, "values": values, **more} if values else {"name": self.name}


def finding(document: dict[str, Any], attributes: dict[str, Path], snapshot: dict[str, Any] | None = None) -> Finding:
    """What a node's document says of some attributes, as the node reads them.

    snapshot: the node's, if there is one: it knows what cannot be read
    """
    tree, unknown = {}, {}
    if attributes:
        tree = read_tree(document)
        if snapshot and snapshot.get("unknown"):
            node = Node.restore(snapshot)
            unknown = {title: Undecided.at(node, path) for title, path in attributes.items()}
    return Finding(str(document["name"]), {title: dig(tree, path) for title, path in attributes.items()}, unknown)


def in_order(findings: Sequence[Finding], title: str) -> list[Finding]:
    """By the value of an attribute: true and false, numbers, texts, anything else, nothing; then by name."""

    def key(one: Finding) -> tuple[Any, ...]:
        value = one.values[title]
        kind = 9 if value is ABSENT or value is None else _ORDER.get(type(value), 3)
        return kind, on_one_line(value) if kind in (3, 9) else value, one.name

    return sorted(findings, key=key)


class Findings(Long):
    """A page of what was found.

    total:  how many nodes were found in all
    offset: how many of them stand before this page
    count:  how many are on it
    titles: the attributes that were asked for
    page:   the nodes
    """

    def __init__(
        self, query: str, total: int, offset: int, count: int, titles: Sequence[str], page: Iterable[Finding]
    ) -> None:
        self.query, self.total, self.offset, self.count = query, total, offset, count
        self.titles, self.page = titles, page

    def data(self) -> dict[str, Any]:
        """The page as data."""
        nodes = (one.to_dict() for one in self.page)
        return {"version": 1, "query": self.query, "total": self.total, "offset": self.offset, "nodes": nodes}

    def json_lines(self) -> Iterator[str]:
        """One JSON document a node."""
        for one in self.page:
            yield json.dumps(one.to_dict(), ensure_ascii=False).translate(ESCAPES) + "\n"

    def lines(self, screen: Screen) -> Iterator[str]:
        """One line a node."""
        if not self.count:
            yield "no node was found" if not self.total else f"there are {self.total} nodes, none on this page"
            return
        for number, row in enumerate(in_columns(self._rows())) if self.titles else ():
            line = "  ".join(row).rstrip()
            yield line if number else screen.paint(line, "strong")
        yield from (one.name for one in self.page if not self.titles)
        if self.count < self.total:
            yield f"({self.offset + 1} to {self.offset + self.count} of {self.total})"

    def _rows(self) -> Iterator[list[str]]:
        yield ["node", *map(printable, self.titles)]
        for one in self.page:
            shown = ("" if value is ABSENT else cut(on_one_line(value), _WIDEST) for value in one.values.values())
            yield [one.name, *shown]
