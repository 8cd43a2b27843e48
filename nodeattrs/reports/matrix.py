"""The report about one key on many nodes, grouped by value, with the lines that set each value.

Any dialect can use it. Nodes, hosts and other subjects are called nodes here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import plain
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import strict_key
from nodeattrs.core.unread import Unread
from nodeattrs.errors import NodeattrsError, NoSuchAttribute, NotFound
from nodeattrs.reports.screen import Screen, counted, first_of, printable


@dataclass(frozen=True, slots=True)
class Cell:
    """The answer of one node in a Matrix.

    value:   the value; a NodeattrsError if there is no value
    origins: the places that set the value, the strongest first
    notes:   further remarks, a sentence each
    unread:  sources that were not read and may change the value
    is_skipped: True: the value was not computed because of a limit; *value* is then an error

    `key` is equal for cells of the same value or error.
    """

    value: Any
    origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    is_skipped: bool = False

    @property
    def _is_unset(self) -> bool:
        """Whether the value was looked for, and is not set or not found."""
        return isinstance(self.value, (NoSuchAttribute, NotFound)) and not self.is_skipped

    @property
    def key(self) -> Any:
        """A hashable key: equal for equal values of the same types, and for errors of one class and message."""
        if isinstance(self.value, NodeattrsError):
            return type(self.value), self.value.message
        return ("secret", self.value) if hasattr(self.value, "unwrap") else strict_key(self.value)


MOST_NAMES = 10


def names_of(arguments: Mapping[str, Any]) -> int:
    """The number of nodes of a group that the text names: 10, or `sys.maxsize` with the argument --all-names."""
    return sys.maxsize if arguments.get("all_names") else MOST_NAMES


@dataclass(frozen=True, slots=True)
class Matrix:
    """The report about the values of one key on many nodes.

    `groups` returns lists of nodes with equal values, the largest first; [] without nodes. `is_set` is False if the key
    is not set on any node. `summary` has the counts in words. `to_dict` returns the groups as data, and `lines` yields
    the text.

    question: the title, such as the key
    cells:    (name of a node, its answer), in any order
    most:     the number of nodes that the text names for one set of places in a group; the others are counted
    """

    question: str
    cells: Sequence[tuple[str, Cell]]
    most: int = MOST_NAMES

    def groups(self) -> list[list[tuple[str, Cell]]]:
        """The nodes and cells in groups of equal values or errors, the largest group first; [] without nodes.

        Groups of equal size, and the nodes in a group, keep the order of `cells`.
        """
        found: dict[Any, list[tuple[str, Cell]]] = {}
        for node, cell in self.cells:
            found.setdefault(cell.key, []).append((node, cell))
        return sorted(found.values(), key=len, reverse=True)

    @property
    def is_set(self) -> bool:
        """Whether a node has a value, or an error other than "not set" and "not found".

        True also with a skipped cell, which may have a value; False without nodes.
        """
        return not all(cell._is_unset for _, cell in self.cells)

    @property
    def summary(self) -> str:
        """Counts in words: "2 values on 3 nodes, not set on 1, no answer on 1", or "set on none of 3 nodes".

        Errors are not counted as values. With skipped cells it is "more than 2 values on 3 nodes".
        """
        values = [cell for _, cell in self.cells if not isinstance(cell.value, NodeattrsError)]
        unset = sum(cell._is_unset for _, cell in self.cells)
        left = sum(cell.is_skipped for _, cell in self.cells)
        if unset == len(self.cells):
            return f"set on none of {counted(unset, 'node')}"
        distinct = len({cell.key for cell in values})
        parts = [f"{'more than ' if left else ''}{counted(distinct, 'value')} on {counted(len(values) + left, 'node')}"]
        failed = len(self.cells) - len(values) - unset - left
        parts += [f"not set on {unset}"] if unset else []
        parts += [f"no answer on {failed}"] if failed else []
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The question, the summary, and each group with its value, origins and nodes, as JSON-able data."""
        groups = list(map(_group, self.groups()))
        return {"version": 1, "question": self.question, "summary": self.summary, "groups": groups}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A heading, then for each group its value, or "no answer" with the error; its places and nodes; its notes.

        Nodes of a group whose value comes from other places follow those places.
        """
        yield screen.paint(printable(f"{self.question}: {self.summary}"), "strong")
        for group in self.groups():
            value = group[0][1].value
            failed = isinstance(value, NodeattrsError)
            text = f"no answer: {value.message} [{value.code}]" if failed else shown(value, 200)
            yield from screen.wrapped(printable(text), "    ", "  ")
            for places, names in _names_by(group, lambda cell: tuple(str(one.place or one) for one in cell.origins)):
                if places:
                    yield from screen.wrapped(printable(", ".join(places)), "        ", "    ")
                yield from screen.wrapped(printable(first_of(names, self.most)), "        ", "      ")
            hints = [value.hint] if failed and value.hint else []
            for note in dict.fromkeys([*hints, *(note for _, cell in group for note in cell.notes)]):
                yield from screen.wrapped(printable(note), "        ", "    ")


def _names_by(group: Iterable[tuple[str, Cell]], key: Any) -> Iterable[tuple[Any, list[str]]]:
    found: dict[Any, list[str]] = {}
    for node, cell in group:
        found.setdefault(key(cell), []).append(node)
    return found.items()


def _group(group: list[tuple[str, Cell]]) -> dict[str, Any]:
    value = group[0][1].value
    answer = plain(value) if isinstance(value, NodeattrsError) else {"value": plain(value)}
    places = [
        {"set_by": [one._asdict() for one in origins], "nodes": names}
        for origins, names in _names_by(group, lambda cell: cell.origins)
    ]
    notes = list(dict.fromkeys(note for _, cell in group for note in cell.notes))
    return {**answer, "places": places, "notes": notes}
