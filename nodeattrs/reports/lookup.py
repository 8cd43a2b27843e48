"""What lookups gave: values, explanations, whole views, and what is in a tree for nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from nodeattrs.adapters.hiera import Explanation, Unused
from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.screen import Screen, cut, in_columns, printable

__all__ = ["Compared", "Explained", "LookedUp", "NobodyReads", "WhoHas", "plain"]


def plain(value: Any) -> Any:
    """A value as data, with a secret as it prints, and an error as what went wrong."""
    if isinstance(value, NodeattrsError):
        return {"error": getattr(value, "kind", type(value).__name__), "message": value.message}
    return str(value) if hasattr(value, "unwrap") else value


def _as_yaml(value: Any) -> Iterator[str]:
    # What `puppet lookup` prints too. No node is known here, so that one lookup starts quickly.
    text = yaml.dump(plain(value), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1_000)
    yield from (printable(line) for line in text.removesuffix("...\n").splitlines())


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A value for each node; or with `whole` all keys of each node.

    values: node -> the value, or the error that the lookup ended with
    """

    key: str
    values: Mapping[str, Any]
    whole: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Each node with its value."""
        return {
            "version": 1,
            "key": self.key,
            "nodes": {node: self._plain(value) for node, value in self.values.items()},
        }

    def _plain(self, value: Any) -> Any:
        if self.whole and isinstance(value, dict):
            return {"value": {key: plain(entry) for key, entry in value.items()}}
        return plain(value) if isinstance(value, NodeattrsError) else {"value": plain(value)}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The value alone for one node; for several each below its name."""
        if len(self.values) == 1 and not self.whole:
            (value,) = self.values.values()
            yield from _as_yaml(value)
            return
        for node, value in self.values.items():
            if len(self.values) > 1:
                yield screen.paint(f"# {printable(node)}", "strong")
            if isinstance(value, NodeattrsError):
                yield from screen.wrapped(printable(value.message), "#   ", "#   ")
            elif self.whole:
                good = {key: entry for key, entry in value.items() if not isinstance(entry, NodeattrsError)}
                yield from _as_yaml({key: plain(entry) for key, entry in good.items()})
                for key in [key for key in value if key not in good]:
                    yield from screen.wrapped(printable(f"{key}: {value[key].message}"), "#   ", "# ")
            else:
                yield from _as_yaml(value)


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a key has its value, for each node."""

    explanations: Mapping[str, Explanation]

    def to_dict(self) -> dict[str, Any]:
        """The explanation of each node."""
        return {"version": 1, "nodes": {node: one.to_dict() for node, one in self.explanations.items()}}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The explanations below each other."""
        for node, one in self.explanations.items():
            if len(self.explanations) > 1:
                yield screen.paint(f"# {printable(node)}", "strong")
            head, *rest = one.blocks()
            yield screen.paint(cut(printable(str(head)), max(screen.width, 40)), "strong")
            for block in rest:
                yield from _block(block, screen)


def _block(block: str | list[tuple[str, ...]], screen: Screen) -> Iterator[str]:
    """A part of an explanation, in columns where they fit; otherwise the cells of a row go on below it."""
    if isinstance(block, str):
        indent = " " * (len(block) - len(block.lstrip()))
        yield from screen.wrapped(printable(block.strip()), f"{indent}    ", indent)
        return
    rows = [[printable(cell) for cell in row] for row in block]
    lines = [f"    {'  '.join(cells)}" for cells in in_columns(rows)]
    if max(map(len, lines)) <= screen.width:
        yield from lines
        return
    for first, *more in rows:
        indent, line = " " * 4, first
        for cell in more:
            if len(indent) + len(line) + 2 + len(cell) <= screen.width:
                line += f"  {cell}"
            else:
                yield from screen.wrapped(line, " " * 8, indent)
                indent, line = " " * 8, cell
        yield from screen.wrapped(line, " " * 8, indent)


@dataclass(frozen=True, slots=True)
class WhoHas:
    """Every line of every data file that says a key."""

    key: str
    origins: tuple[Origin, ...]

    def to_dict(self) -> dict[str, Any]:
        """The places."""
        return {
            "version": 1,
            "key": self.key,
            "places": [{"file": one.file, "line": one.line, "column": one.column} for one in self.origins],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """One place a line."""
        for one in self.origins:
            yield printable(str(one.place))


@dataclass(frozen=True, slots=True)
class NobodyReads:
    """Files that no node reads, and keys that every node sees shadowed."""

    found: Unused
    nodes: int

    def to_dict(self) -> dict[str, Any]:
        """Files, and keys with their places."""
        return {
            "version": 1,
            "nodes": self.nodes,
            "files": list(self.found.files),
            "shadowed": [{"key": key, "file": origin.file, "line": origin.line} for key, origin in self.found.shadowed],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A line for each file, then one for each key."""
        for file in self.found.files:
            yield printable(f"{file}: read by none of {self.nodes} nodes")
        for key, origin in self.found.shadowed:
            yield printable(f"{origin.place}: {key} is always shadowed")


@dataclass(frozen=True, slots=True)
class Compared:
    """Keys with different values on two sides.

    pairs: key -> both values, ABSENT where a side has none
    """

    sides: tuple[str, str]
    pairs: Mapping[str, tuple[Any, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Each key with what the sides that have it say."""
        one, other = self.sides
        return {
            "version": 1,
            "sides": [one, other],
            "differences": {
                key: {name: plain(value) for name, value in (("left", left), ("right", right)) if value is not ABSENT}
                for key, (left, right) in self.pairs.items()
            },
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A heading, and for each key a line a side."""
        yield screen.paint(f"--- {printable(self.sides[0])}", "removed")
        yield screen.paint(f"+++ {printable(self.sides[1])}", "added")
        for key, (left, right) in self.pairs.items():
            yield printable(key)
            for mark, style, value in (("-", "removed", left), ("+", "added", right)):
                if value is not ABSENT:
                    text = value.message if isinstance(value, NodeattrsError) else shown(plain(value), 10_000)
                    yield screen.paint(printable(f"  {mark} {text}"), style)
