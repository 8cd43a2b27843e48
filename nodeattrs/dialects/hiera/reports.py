"""Reports of the Hiera commands: values, explanations, unused files and keys, needed variables.

A report has `to_dict()` for JSON and `lines(screen)` for a terminal. Secrets are masked in both.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from nodeattrs.contract.command import PlainReport
from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import plain, without_password
from nodeattrs.core.trace import Row, rows, shown
from nodeattrs.core.tree import NO_ENTRIES, spell
from nodeattrs.dialects.hiera.census import Kept, Unused
from nodeattrs.dialects.hiera.errors import KeyNotFound
from nodeattrs.dialects.hiera.explain import Explanation, SearchedLocation, UnknownLevel
from nodeattrs.dialects.hiera.strategies import strategy_of
from nodeattrs.dialects.hiera.variables import Needed
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.yaml_writing import written
from nodeattrs.reports.screen import Screen, cut, first_of, in_columns, printable

_MOST_LEAVES = 12
_MOST_WINNERS = 2


def _as_yaml(value: Any) -> Iterator[str]:
    """The lines of a value as `puppet lookup` prints it."""
    text = written(plain(value), blocks=True, width=1_000)
    yield from (printable(line) for line in text.splitlines())


class NodeResult(NamedTuple):
    """The result of a command for one node.

    value:   a value, a map of all keys to their values, an explanation, or an error
    unknown: the levels that cannot be read and might change the value, or one of the values
    unset:   variable that is not set -> the keys whose values name it
    kept:    the parts of values that were not decrypted
    """

    value: Any
    unknown: Sequence[UnknownLevel] = ()
    unset: Mapping[str, Iterable[str]] = NO_ENTRIES
    kept: Sequence[Kept] = ()


class LookupReport(NamedTuple):
    """A report: the value of a key for each node, or all keys of each node. `to_dict` gives data, and `lines` the text.

    key:      the keys that were looked up, as one text
    found:    name of the node -> its result, whose value may be an error
    is_whole: whether each value is a map of all keys of the node; a value in that map may be an error
    """

    key: str
    found: Mapping[str, NodeResult]
    is_whole: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Each node with its value."""
        return {"version": 1, "key": self.key, "nodes": {node: self._node(one) for node, one in self.found.items()}}

    def _node(self, one: NodeResult) -> dict[str, Any]:
        data = dict(plain(one.value)) if isinstance(one.value, NodeattrsError) else {"value": plain(one.value)}
        return data | ({"unset": sorted(one.unset)} if one.unset else {})

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the value as YAML. For several nodes, each value stands below "# NAME". An error becomes a comment."""
        for node, (value, *_) in self.found.items():
            if len(self.found) > 1:
                yield screen.paint(f"# {printable(node)}", "strong")
            if isinstance(value, NodeattrsError):
                yield from screen.wrapped(printable(f"{value.message} [{value.code}]"), "#   ", "#   ")
            elif self.is_whole:
                good = {key: entry for key, entry in value.items() if not isinstance(entry, NodeattrsError)}
                yield from _as_yaml(good)
                for key in [key for key in value if key not in good]:
                    yield from screen.wrapped(
                        printable(f"{key}: {value[key].message} [{value[key].code}]"), "#   ", "# "
                    )
            else:
                yield from _as_yaml(value)


class ExplainReport(NamedTuple):
    """The explanation of a key for each node.

    explanations: name of the node -> the explanation
    with_causes:  whether to add the lines of hiera.yaml and lookup_options that chose the levels and the merge

    `nodes` gives the explanation of each node as data, `to_dict` all of the report, and `lines` its text.
    """

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
        """Yield each explanation: the value, the strategy, the places searched, and the line of each leaf.

        At most 12 leaves are shown. Without a value, the first line is "KEY is not set" with its code, or "KEY: no
        answer" if the lookup failed for another reason.
        """
        for node, one in self.explanations.items():
            if len(self.explanations) > 1:
                yield screen.paint(f"# {printable(node)}", "strong")
            yield screen.paint(cut(printable(_head(one)), max(screen.width, 40)), "strong")
            for block in _blocks(one):
                yield from _block(block, screen)
            if self.with_causes and (causes := one.causes()):
                yield "  because of"
                yield from _block([(cause.what, _place(cause.origin)) for cause in causes], screen)


def _head(one: Explanation) -> str:
    if one.found:
        return f"{one.key} = {shown(one.value)}"
    if isinstance(one.error, KeyNotFound):  # it begins with "KEY is not set"
        return one.error.coded().splitlines()[0]
    return f"{one.key}: no answer"


Block = str | list[tuple[str, ...]]
"""One line with its indentation, or the rows of a table."""

_OUTCOMES = {"found": "found", "no_key": "no such key", "no_file": "no such file", "unknown": "cannot be read",
             "no_folder": "no such folder", "skipped": "left out"}  # fmt: skip


def _blocks(one: Explanation) -> Iterator[Block]:
    if one.error is not None:
        lines = one.error.coded().splitlines()
        yield from (f"  {line}" for line in (lines[1:] if isinstance(one.error, KeyNotFound) else lines))
    if one.found and one.found_in != "data":
        yield f"  given by {one.found_in} of the call"
    yield f"  strategy   {strategy_of(one.strategy)}, from {_chosen_by(one)}"
    if one.converted is not None:
        yield f"  converted  to {shown(one.converted)}"
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


def _searched_rows(searched: Iterable[SearchedLocation]) -> Iterator[tuple[str, ...]]:
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


def _searched(item: SearchedLocation) -> tuple[str, ...]:
    place = item.place
    written = f"from {without_password(place.declared)}" if "%{" in place.declared else ""
    return place.layer, place.entry, place.file, _OUTCOMES[item.outcome], written


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
            (spell(path) if path else one.key, shown(value, 40), _places(origins))
            for path, value, origins in leaves[:_MOST_LEAVES]
        ]
    if len(leaves) > _MOST_LEAVES:
        yield f"    and {len(leaves) - _MOST_LEAVES} more"


def _knocked_blocks(one: Explanation) -> Iterator[Block]:
    knocked = () if one.is_secret else one.knocked
    if knocked:
        yield "  knocked out"
    for each in knocked:
        value, marker = shown(each.value, 40), shown(each.marker, 40)
        yield f"    {value} of {_places(each.set_by)} by {marker}, {_places(each.by)}"


def _other_blocks(one: Explanation) -> Iterator[Block]:
    """The other rows of the trace: places that keep a map there, are overridden, or cannot be read."""
    others = list(rows(one.trace()))
    places = {row.rank: _place(row.origin) for row in others}
    for outcome, heading in (("holds", "keeps a map there"), ("loses", "overridden"), ("unknown", "cannot be read")):
        found = [row for row in others if row.outcome == outcome]
        if found:
            yield f"  {heading}"
            yield [(row.title, shown(row.value, 40), _place(row.origin), _note(row, places)) for row in found]
    for level in one.unknown:
        if level.key != one.key or level.is_merge:
            yield f"    {level.sentence(level.key)}"


def _note(row: Row, places: Mapping[int, str]) -> str:
    """How a row was overridden, with the strongest lines that did it."""
    by = first_of([places[rank] for rank in row.by if rank in places], _MOST_WINNERS)
    return "; ".join(filter(None, (row.how, f"overridden by {by}: {row.rule}"))) if by else row.note


def _places(origins: Iterable[Origin]) -> str:
    return ", ".join(map(_place, origins))


def _place(origin: Origin) -> str:
    return str(origin.place or origin)


def _block(block: Block, screen: Screen) -> Iterator[str]:
    """The lines of a block: in columns if they fit on the screen, else each row wrapped below itself."""
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


def unused_report(found: Unused, nodes: int) -> PlainReport:
    """The report of the files that no node reads, and of the keys whose value counts for no node.

    nodes: the number of nodes
    """
    text = [f"{file}: read by none of {nodes} nodes" for file in found.files]
    text += [f"{origin.place}: {key} is always shadowed" for key, origin in found.shadowed]
    shadowed = [{"key": key, "file": origin.file, "line": origin.line} for key, origin in found.shadowed]
    data = {"version": 1, "nodes": nodes, "files": list(found.files), "shadowed": shadowed}
    return PlainReport([printable(line) for line in text], data)


class NeededVariables(NamedTuple):
    """A report: the variables that the hierarchies name, for each node. `to_dict` gives data, and `lines` the text.

    nodes: name of the node -> the variables, each with the paths that need it and whether it is set
    """

    nodes: Mapping[str, Sequence[Needed]]

    def to_dict(self) -> dict[str, Any]:
        """The variables of each node."""
        return {"version": 1, "nodes": {node: [one.to_dict() for one in found] for node, found in self.nodes.items()}}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield a line for each variable: for which nodes it is not set, and the shortest path that needs it."""
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
