"""What lookups gave: values, explanations, whole views, and what is in a tree for nobody."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import rows, shown
from nodeattrs.core.tree import ABSENT, NO_ENTRIES, spell
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports.screen import Screen, cut, first_of, in_columns, printable
from nodeattrs.texts.yaml_writing import written

if TYPE_CHECKING:
    from nodeattrs.adapters.hiera import Explanation, Needed, Unused
    from nodeattrs.adapters.hiera.recorder import Searched

_MOST_LEAVES = 12


def plain(value: Any) -> Any:
    """A value as data, with secrets as they print, and an error as what went wrong."""
    if type(value) is dict:
        return {key: plain(entry) for key, entry in value.items()}
    if type(value) is list:
        return [plain(entry) for entry in value]
    if isinstance(value, NodeattrsError):
        return {"error": str(value.kind) or type(value).__name__, "code": value.code, "message": value.message}
    return str(value) if hasattr(value, "unwrap") else value


def _shown(value: Any, width: int = 60) -> str:
    return shown(value, width)


def _as_yaml(value: Any) -> Iterator[str]:
    # What `puppet lookup` prints too. No node is known here, so that one lookup starts quickly.
    text = written(plain(value), blocks=True, width=1_000)
    yield from (printable(line) for line in text.splitlines())


class LookedUp(NamedTuple):
    """A value for each node; or with `whole` all keys of each node.

    values: node -> the value, or the error that the lookup ended with
    unset:  node -> the variables that its value, or one of them, names and that are not set, with the key
    """

    key: str
    values: Mapping[str, Any]
    whole: bool = False
    unset: Mapping[str, Mapping[str, str]] = NO_ENTRIES

    def to_dict(self) -> dict[str, Any]:
        """Each node with its value."""
        return {
            "version": 1,
            "key": self.key,
            "nodes": {node: self._plain(value) | self._unset(node) for node, value in self.values.items()},
        }

    def _plain(self, value: Any) -> dict[str, Any]:
        if self.whole and isinstance(value, dict):
            return {"value": {key: plain(entry) for key, entry in value.items()}}
        return dict(plain(value)) if isinstance(value, NodeattrsError) else {"value": plain(value)}

    def _unset(self, node: str) -> dict[str, Any]:
        return {"unset": sorted(self.unset[node])} if self.unset.get(node) else {}

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
                yield from screen.wrapped(printable(f"{value.message} [{value.code}]"), "#   ", "#   ")
            elif self.whole:
                good = {key: entry for key, entry in value.items() if not isinstance(entry, NodeattrsError)}
                yield from _as_yaml({key: plain(entry) for key, entry in good.items()})
                for key in [key for key in value if key not in good]:
                    yield from screen.wrapped(
                        printable(f"{key}: {value[key].message} [{value[key].code}]"), "#   ", "# "
                    )
            else:
                yield from _as_yaml(value)


class Explained(NamedTuple):
    """Why a key has its value, for each node. with_causes: also the lines that decided who is asked, and how"""

    explanations: Mapping[str, Explanation]
    with_causes: bool = False

    def nodes(self) -> dict[str, Any]:
        """The explanation of each node as data."""
        return {
            node: one.to_dict()
            | ({"because_of": [cause.to_dict() for cause in one.causes()]} if self.with_causes else {})
            for node, one in self.explanations.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The explanation of each node."""
        return {"version": 1, "nodes": self.nodes()}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The explanations below each other."""
        for node, one in self.explanations.items():
            if len(self.explanations) > 1:
                yield screen.paint(f"# {printable(node)}", "strong")
            head = f"{one.key} = {_shown(one.value)}" if one.found else f"{one.key}: no answer"
            yield screen.paint(cut(printable(head), max(screen.width, 40)), "strong")
            for block in _blocks(one):
                yield from _block(block, screen)
            if self.with_causes and (causes := one.causes()):
                yield "  because of"
                yield from _block([(cause.what, _place(cause.origin)) for cause in causes], screen)


Block = str | list[tuple[str, ...]]
"""A line with its indentation; or rows of cells that stand below each other."""

_OUTCOMES = {"found": "found", "no_key": "no such key", "no_file": "no such file", "unknown": "cannot be read",
             "no_folder": "no such folder", "skipped": "left out"}  # fmt: skip


def _blocks(one: Explanation) -> Iterator[Block]:
    if one.error is not None:
        yield from (f"  {line}" for line in one.error.coded().splitlines())
    if one.found and one.found_in != "data":
        yield f"  given by {one.found_in} of the call"
    yield f"  strategy   {_strategy(one.strategy)}, from {_chosen_by(one)}"
    if one.converted is not None:
        yield f"  converted  to {_shown(one.converted)}"
    if one.searched:
        yield "  searched"
        yield list(_searched_rows(one.searched))
    if one.unset:
        yield "  not set"
        yield from (f"    {sentence}" for sentence in one.unset)
    yield from _leaf_blocks(one)
    if one.encrypted:
        yield "  encrypted"
        yield [(spell(path) if path else one.key, _places(places), reason) for path, reason, places in one.encrypted]
    yield from _knocked_blocks(one)
    yield from _other_blocks(one)
    if one.needed:
        yield "  looked up on the way"
        yield [(key, _places(one.needed_at[key])) for key in one.needed]


def _searched_rows(searched: Iterable[Searched]) -> Iterator[tuple[str, ...]]:
    """A row for each place; one for all places of a level whose folder is not there."""
    for (layer, entry, outcome), group in groupby(
        searched, lambda one: (one.place.layer, one.place.entry, one.outcome)
    ):
        items = list(group)
        files = [item.place.file for item in items]
        is_one = len({file.startswith("/") for file in files}) == 1 < len(files)
        common = posixpath.commonpath(files) if outcome == "no_folder" and is_one else ""
        if common:
            yield layer, entry, f"{common}/", _OUTCOMES[outcome], f"for {len(files)} paths"
        else:
            yield from map(_searched, items)


def _searched(item: Searched) -> tuple[str, ...]:
    place = item.place
    written = f"from {place.declared}" if "%{" in place.declared else ""
    return place.layer, place.entry, place.file, _OUTCOMES[item.outcome], written


def _strategy(data: str | Mapping[str, Any]) -> str:
    if isinstance(data, str):
        return data
    options = ", ".join(f"{name}: {value!r}" for name, value in data.items() if name != "strategy")
    return f"{data['strategy']} ({options})"


def _chosen_by(one: Explanation) -> str:
    origin = one.strategy_from
    if isinstance(origin, str):
        return origin
    named = f" for {one.option!r}" if one.option is not None and one.option != one.root else ""
    return f"lookup_options{named}, {origin.place}"


def _leaf_blocks(one: Explanation) -> Iterator[Block]:
    leaves = list(one.leaves())
    if leaves:
        yield "  set by"
        yield [
            (spell(path) if path else one.key, _shown(value, 40), _places(origins))
            for path, value, origins in leaves[:_MOST_LEAVES]
        ]
    if len(leaves) > _MOST_LEAVES:
        yield f"    and {len(leaves) - _MOST_LEAVES} more"


def _knocked_blocks(one: Explanation) -> Iterator[Block]:
    knocked = () if one.is_secret else one.knocked
    if knocked:
        yield "  knocked out"
    for each in knocked:
        value, marker = _shown(each.value, 40), _shown(each.marker, 40)
        yield f"    {value} of {_places(each.set_by)} by {marker}, {_places(each.by)}"


def _other_blocks(one: Explanation) -> Iterator[Block]:
    """Who else sets the value as a whole, or might: the rows of its trace that are not read."""
    others = list(rows(one.trace()))
    for outcome, heading in (("holds", "keeps a map there"), ("loses", "overridden"), ("unknown", "cannot be read")):
        found = [row for row in others if row.outcome == outcome]
        if found:
            yield f"  {heading}"
            yield [(f"{row.rank} {row.title}", _shown(row.value, 40), _place(row.origin), row.note) for row in found]
    for level in one.unknown:
        if level.key != one.key or level.is_merge:
            yield f"    {level.sentence(level.key)}"


def _places(origins: Iterable[Origin]) -> str:
    return ", ".join(map(_place, origins))


def _place(origin: Origin) -> str:
    return str(origin.place or origin)


def _block(block: Block, screen: Screen) -> Iterator[str]:
    """A part of an explanation, in columns where they fit; otherwise the cells of a row go on below it."""
    if isinstance(block, str):
        indent = " " * (len(block) - len(block.lstrip()))
        yield from screen.wrapped(printable(block.strip()), f"{indent}    ", indent)
        return
    cells = [[printable(cell) for cell in row] for row in block]
    lines = [f"    {'  '.join(row)}".rstrip() for row in in_columns(cells)]
    if max(map(len, lines)) <= screen.width:
        yield from lines
        return
    for row in cells:
        yield from _row(row, screen)


def _row(cells: list[str], screen: Screen) -> Iterator[str]:
    indent, line = " " * 4, cells[0]
    for cell in cells[1:]:
        if len(indent) + len(line) + 2 + len(cell) <= screen.width:
            line += f"  {cell}"
        else:
            yield from screen.wrapped(line, " " * 8, indent)
            indent, line = " " * 8, cell
    yield from screen.wrapped(line, " " * 8, indent)


class WhoHas(NamedTuple):
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
        """One place a line; a sentence where there is none."""
        for one in self.origins:
            yield printable(str(one.place))
        if not self.origins:
            yield printable(f"{self.key}: no data file has it")


class NobodyReads(NamedTuple):
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


class Compared(NamedTuple):
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
                    text = value.message if isinstance(value, NodeattrsError) else _shown(plain(value), 10_000)
                    yield screen.paint(printable(f"  {mark} {text}"), style)


class Variables(NamedTuple):
    """The variables that hierarchies need.

    nodes: node -> what its hierarchies need, in their order
    """

    nodes: Mapping[str, Sequence[Needed]]

    def to_dict(self) -> dict[str, Any]:
        """The variables of each node."""
        return {"version": 1, "nodes": {node: [one.to_dict() for one in found] for node, found in self.nodes.items()}}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A line for each variable: for which nodes it is not set, and the shortest path that needs it."""
        needed: dict[str, list[Needed]] = {}
        missing: dict[str, dict[str, None]] = {}
        for node, found in self.nodes.items():
            for one in found:
                needed.setdefault(one.variable, []).append(one)
                if not one.is_set:
                    missing.setdefault(one.variable, {})[node] = None
        rows: Block = [(name, self._where(missing.get(name, ())), *_needs(found)) for name, found in needed.items()]
        yield from (line.strip() for line in _block(rows, screen)) if rows else ()

    def _where(self, missing: Iterable[str]) -> str:
        names = list(missing)
        if not names:
            return "set"
        return "not set" if len(names) == len(self.nodes) else f"not set for {first_of(names, 3)}"


def _needs(found: Sequence[Needed]) -> tuple[str, str]:
    shortest = min(found, key=lambda one: len(one.template))
    count = len({one.template for one in found})
    return _place(shortest.origin), shortest.template + (f" and {count - 1} more" if count > 1 else "")
