"""One question to many nodes: who has the same answer, and which lines gave it.

Any system's answers fit: a value or an error for each node, and the origins of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import strict_key
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.lookup import plain
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import origin_data


@dataclass(frozen=True, slots=True)
class Cell:
    """The answer for one node.

    value:   the value, or the error that the question ended with
    origins: who set it, the strongest first
    notes:   what else there is to say of it, a sentence each
    """

    value: Any
    origins: tuple[Origin, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> Any:
        """What is equal for cells of one group."""
        if isinstance(self.value, NodeattrsError):
            return type(self.value), self.value.message
        return ("secret", self.value) if hasattr(self.value, "unwrap") else strict_key(self.value)


@dataclass(frozen=True, slots=True)
class Matrix:
    """What was asked, and the cell of each node."""

    question: str
    cells: Sequence[tuple[str, Cell]]

    def groups(self) -> list[list[tuple[str, Cell]]]:
        """The nodes with equal values, the largest group first."""
        found: dict[Any, list[tuple[str, Cell]]] = {}
        for node, cell in self.cells:
            found.setdefault(cell.key, []).append((node, cell))
        return sorted(found.values(), key=len, reverse=True)

    def to_dict(self) -> dict[str, Any]:
        """Each group with its value, its origins and its nodes."""
        return {"version": 1, "question": self.question, "groups": list(map(_group, self.groups()))}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A heading, then the value of each group over its lines and its nodes."""
        groups = self.groups()
        values = f"{len(groups)} value{'s' * (len(groups) != 1)}"
        nodes = f"{len(self.cells)} node{'s' * (len(self.cells) != 1)}"
        yield screen.paint(printable(f"{self.question}: {values} on {nodes}"), "strong")
        for group in groups:
            value = group[0][1].value
            failed = isinstance(value, NodeattrsError)
            text = f"no answer: {value.message} [{value.code}]" if failed else shown(value, 200)
            yield from screen.wrapped(printable(text), "    ", "  ")
            for places, names in _by(group, lambda cell: tuple(str(one.place or one) for one in cell.origins)):
                if places:
                    yield from screen.wrapped(printable(", ".join(places)), "        ", "    ")
                yield from screen.wrapped(printable(", ".join(names)), "        ", "      ")
            hints = [value.hint] if failed and value.hint else []
            for note in dict.fromkeys([*hints, *(note for _, cell in group for note in cell.notes)]):
                yield from screen.wrapped(printable(note), "        ", "    ")


def _by(group: Iterable[tuple[str, Cell]], key: Any) -> Iterable[tuple[Any, list[str]]]:
    found: dict[Any, list[str]] = {}
    for node, cell in group:
        found.setdefault(key(cell), []).append(node)
    return found.items()


def _group(group: list[tuple[str, Cell]]) -> dict[str, Any]:
    value = group[0][1].value
    answer = plain(value) if isinstance(value, NodeattrsError) else {"value": plain(value)}
    places = [
        {"set_by": list(map(origin_data, origins)), "nodes": names}
        for origins, names in _by(group, lambda cell: cell.origins)
    ]
    notes = list(dict.fromkeys(note for _, cell in group for note in cell.notes))
    return {**answer, "places": places, "notes": notes}
