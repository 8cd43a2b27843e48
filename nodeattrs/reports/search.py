"""Search saved nodes, and report one page of them with the values of some attributes, for `nodeattrs search`.

`store.search` finds the names. This module sorts them, cuts them to a page, and reads each node of the page.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, NO_ENTRIES, Path, dig
from nodeattrs.core.unread import Unread, unread_layer
from nodeattrs.errors import NotFound
from nodeattrs.formats.hidden import ESCAPES
from nodeattrs.node.node import Node
from nodeattrs.reports import StreamedReport
from nodeattrs.reports.screen import Screen, cut, in_columns, printable
from nodeattrs.reports.values import on_one_line, unread_at
from nodeattrs.store import Store
from nodeattrs.store.search import Query, found_tree
from nodeattrs.store.search.doubts import no_such_path, paths_of, unknown_names

_WIDEST = 60
_LOOKED_AT = 100
_ORDER = {bool: 0, int: 1, float: 1, str: 2}


class _FoundNode(NamedTuple):
    """A row of the report: one node, and its values for the requested attributes.

    name:   the name of the node
    values: the title of each attribute -> its value; ABSENT where the node has none
    """

    name: str
    values: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON-able data: null for an attribute that the node does not have, as in Chef's partial search."""
        values = {title: None if value is ABSENT else value for title, value in self.values.items()}
        return {"name": self.name, "values": values} if values else {"name": self.name}


class SearchPage(NamedTuple):
    """The part of a search result that is reported, and its order.

    only:    names of nodes; other nodes that were found are left out. None: all are reported
    sort:    the path of the attribute to sort by; nodes without it, or with null, come last. None: sort by name
    reverse: True: reverse the whole order, so that nodes without the attribute come first
    offset:  the number of nodes to skip at the beginning; a number above the count gives no nodes
    limit:   the largest number of nodes to report; None: all
    """

    only: Collection[str] | None = None
    sort: Path | None = None
    reverse: bool = False
    offset: int = 0
    limit: int | None = None


ALL = SearchPage()
"""All nodes found, by name."""


def search(
    store: Store,
    query: Query,
    attributes: Mapping[str, Path] = NO_ENTRIES,
    page: SearchPage = ALL,
    at: datetime | None = None,
) -> FoundNodes:
    """Search saved nodes; returns one page of rows with the values of some attributes.

    attributes: title of a column -> the path of its values; empty: names only
    page:       order, offset and limit
    at:         search the revisions of that time; None: the latest ones
    raises:     NotFound, if none of the found nodes has the attribute to sort by
    cost:       reads each node of the page, when its row is read; with `page.sort` it reads each node found, at once.
                To list unread sources, at most 100 more nodes are read
    """
    names = found = store.search(query, at)
    missing = unknown_names(store, query, bool(names), at)
    if page.only is not None:
        names = sorted(set(names).intersection(page.only))
    if page.sort is not None:
        names = _sorted(store, names, page.sort, at)
    if page.reverse:
        names.reverse()
    end = None if page.limit is None else page.offset + page.limit
    shown = names[page.offset : end]
    rows = (_row(store, name, attributes, at) for name in shown)
    unread = _unread(store, query, found, [*attributes.values()], at)
    return FoundNodes(query.text, len(names), page.offset, len(shown), list(attributes), rows, missing, unread)


def _unread(
    store: Store, query: Query, found: Sequence[str], columns: Sequence[Path], at: datetime | None
) -> list[Unread]:
    """What was not read and may decide which nodes are found, or what a column has; nodes found come first."""
    paths, by_fields = paths_of(query)
    if not (paths or by_fields or columns):
        return []
    names = store.names() if at else [name for name, latest in store.latest() if latest and latest.noted.unread]
    among = {*found}
    if not (paths or by_fields):
        names = [name for name in names if name in among]
    names.sort(key=lambda name: (name not in among, name))
    unread: dict[Unread, None] = {}
    for name in names[:_LOOKED_AT]:
        saved = store.load(name, at)
        if saved is not None and saved.snapshot and saved.snapshot.get("unknown"):
            node = Node.restore(saved.snapshot)
            for path in (*paths, *(columns if name in among else ())):
                unread |= dict.fromkeys(unread_at(node, path))
            layers = [layer for slot in node.slots.values() for layer in slot.unknown] if by_fields else []
            unread |= dict.fromkeys(unread_layer(one.value, one.place(())) for one in layers)
    if len(names) > _LOOKED_AT:
        more = Unread(f"{len(names) - _LOOKED_AT} more nodes", f"was not looked at: only {_LOOKED_AT} nodes are")
        unread[more] = None
    return [*unread]


def _row(store: Store, name: str, attributes: Mapping[str, Path], at: datetime | None) -> _FoundNode:
    """One node. A node without a revision has its name alone."""
    if not attributes:
        return _FoundNode(name, {})
    saved = store.load(name, at)
    document: dict[str, Any] = {"name": name} if saved is None else saved.document
    tree = found_tree(document)
    return _FoundNode(name, {title: dig(tree, path) for title, path in attributes.items()})


def _sorted(store: Store, names: list[str], path: Path, at: datetime | None) -> list[str]:
    """The names by the value of an attribute: true and false, numbers, texts, anything else, nothing; then by name."""
    values = {name: _row(store, name, {"": path}, at).values[""] for name in names}
    if names and all(value is ABSENT for value in values.values()):
        raise no_such_path(path, (saved.document for name in names if (saved := store.load(name, at))))

    def key(name: str) -> tuple[Any, ...]:
        value = values[name]
        kind = 9 if value is ABSENT or value is None else _ORDER.get(type(value), 3)
        return kind, on_one_line(value) if kind in (3, 9) else value, name

    return sorted(names, key=key)


class FoundNodes(StreamedReport):
    """The report about one page of a search result; its rows can be read once.

    `data` has query, total, offset and the rows. `json_lines` yields each row as a line of JSON, and `lines` the text.
    *doubts* and *unread* are in none of the three: the command prints them beside the report.

    query:  the text of the query
    total:  the number of nodes found
    offset: the number of nodes before this page
    count:  the number of nodes on this page
    titles: the titles of the requested attributes
    page:   an iterator over the rows; a node is read from the store when its row is taken
    doubts: an error for each field or path of the query that no node has
    unread: sources that were not read and may change the result
    """

    def __init__(
        self,
        query: str,
        total: int,
        offset: int,
        count: int,
        titles: Sequence[str],
        page: Iterable[_FoundNode],
        doubts: Sequence[NotFound] = (),
        unread: Sequence[Unread] = (),
    ) -> None:
        self.query, self.total, self.offset, self.count = query, total, offset, count
        self.titles, self.doubts, self.unread, self.page = titles, doubts, unread, iter(page)

    def data(self) -> dict[str, Any]:
        """The query, the counts and an iterator over the rows, as JSON-able data."""
        nodes = (one.to_dict() for one in self.page)
        head = {"version": 1, "query": self.query, "total": self.total, "offset": self.offset}
        return {**head, "nodes": nodes}

    def json_lines(self) -> Iterator[str]:
        """Each row as one line of JSON. Like `data` and `lines`, it uses up the rows."""
        for one in self.page:
            yield json.dumps(one.to_dict(), ensure_ascii=False).translate(ESCAPES) + "\n"

    def lines(self, screen: Screen) -> Iterator[str]:
        """The titles, then one line for each node; without titles only the names of the nodes.

        If the page has not all nodes, a last line says which: "(1 to 20 of 300)". An empty page is one sentence.
        """
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
