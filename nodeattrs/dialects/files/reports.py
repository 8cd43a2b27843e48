"""Reports of `nodeattrs fold`: the tree with origins, traces of paths, changes of the last layer, and the policies.

Each report has `to_dict` for JSON and `lines` for a terminal. Secrets are masked in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nodeattrs.core.changed import TreeDifference, changes
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.dialects.files.text import json_data
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.policies.named import NamedPolicy
from nodeattrs.reports import Report
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.screen import Screen, cut, printable
from nodeattrs.reports.show import tree_lines, written_lines
from nodeattrs.reports.values import on_one_line

_WIDEST = 40
"""The margin takes so many columns at most."""
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


def _place(origin: Origin) -> str:
    return origin.place or origin.who


@dataclass(frozen=True)
class BlameReport:
    """A merged tree with the place that set each line (--blame, --origins).

    folded:    the merged tree
    in_margin: True: the places are before the lines; False: each place is a comment at the end of its line
    """

    folded: Folded
    in_margin: bool = True

    @cached_property
    def _origins(self) -> dict[Path, tuple[Origin, ...]]:
        return {path: origins for path, _, origins in self.folded.leaves()}

    def to_dict(self) -> dict[str, Any]:
        """The tree under "value"; under "leaves" the path and all origins of each scalar and empty map or list."""
        leaves = [
            {"path": spell(path), "set_by": [origin._asdict() for origin in origins]}
            for path, origins in self._origins.items()
        ]
        return {"version": 1, "value": json_data(self.folded.value), "leaves": leaves}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of the tree in YAML, each with its place. If several layers set a value, only the first place
        is shown."""
        if not self.in_margin:
            yield from tree_lines(self.folded.value, screen, lambda path: self._origins.get(path, (None,))[0])
            return
        lines = written_lines(self.folded.value)
        margins = ["" if leaf is None else _margin(self._origins.get(leaf, ())) for _, leaf in lines]
        width = max(map(len, margins), default=0)
        for margin, (text, _) in zip(margins, lines, strict=True):
            yield f"{screen.paint(margin.ljust(width), 'faint')}  {text}"


def _margin(origins: tuple[Origin, ...]) -> str:
    more = f" +{len(origins) - 1}" if len(origins) > 1 else ""
    text = printable(_place(origins[0])) if origins else "-"
    return f"{text if len(text) <= _WIDEST else f'…{text[1 - _WIDEST :]}'}{more}"


@dataclass(frozen=True, slots=True)
class _TraceReport:
    """Explanations of some paths of a merged tree (--explain). `trace_report` makes one from paths.

    explanations: one for each path, in the order of the output
    """

    explanations: Sequence[NodeExplanation]

    def to_dict(self) -> dict[str, Any]:
        """The explanations under "traces", as plain data."""
        return {"version": 1, "traces": [json_data(one.to_dict()) for one in self.explanations]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of each explanation, with an empty line between two of them."""
        for number, one in enumerate(self.explanations):
            if number:
                yield ""
            yield from one.lines(screen)


def trace_report(folded: Folded, paths: Iterable[Path]) -> Report:
    """The report with a trace for each path, also for a path that one layer sets and another layer removes.

    raises: NoSuchAttribute, for the first path that no layer sets
    """
    found = []
    for path in paths:
        trace = folded.trace(path)
        if not (trace.found or trace.claims):
            hint = (way_to(folded.value, path) or "").replace("the node has", "the tree has") or None
            raise NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=hint)
        found.append(NodeExplanation(trace))
    return _TraceReport(found)


@dataclass(frozen=True)
class LastChanges:
    """A report: the changes that the last layer of a fold makes (--diff-last). `to_dict` gives data, `lines` the text.

    title:  the name of the last layer
    before: the merge of all layers but the last
    after:  the merge of all layers
    """

    title: str
    before: Folded
    after: Folded

    @cached_property
    def changes(self) -> list[TreeDifference]:
        """The leaves that differ between *before* and *after*; a list counts as one leaf."""
        return changes(self.before.value, self.after.value)

    def to_dict(self) -> dict[str, Any]:
        """The changes. "before" and "after" have the value and its origins; each is left out if the path is not set."""
        return {"version": 1, "layer": self.title, "changes": [self._dict(one) for one in self.changes]}

    def _dict(self, change: TreeDifference) -> dict[str, Any]:
        sides = {"before": (self.before, change.before), "after": (self.after, change.after)}
        return {
            "path": spell(change.path),
            "change": change.kind,
            **{
                name: {"value": json_data(value), "set_by": [one._asdict() for one in folded.origins(change.path)]}
                for name, (folded, value) in sides.items()
                if value is not ABSENT
            },
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield one line for each change, with both values and their places; one line where nothing changes."""
        for one in self.changes:
            sides = [
                f"{printable(on_one_line(value))}  ({', '.join(map(_place, folded.origins(one.path)))})"
                for folded, value in ((self.before, one.before), (self.after, one.after))
                if value is not ABSENT
            ]
            text = f"{_SIGNS[one.kind]} {printable(spell(one.path))}: {' -> '.join(sides)}"
            yield screen.paint(cut(text, screen.width), one.kind)
        if not self.changes:
            yield f"{printable(self.title)} changes nothing"


@dataclass(frozen=True, slots=True)
class ShownPolicies:
    """The report of `fold --policies`: the name and summary of each policy, and its rules.

    A rule is for a pair of kinds of values, such as a map over a map. Rules for certain paths come last. `to_dict`
    gives data, and `lines` the text.

    policies: the policies to show, in this order
    """

    policies: Sequence[NamedPolicy]

    def to_dict(self) -> dict[str, Any]:
        """The policies as plain data, as `NamedPolicy.to_dict` gives each."""
        return {"version": 1, "policies": [one.to_dict() for one in self.policies]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the name, the summary and the lines of each policy, then its lines for certain paths."""
        for one in self.policies:
            yield screen.paint(one.name, "strong")
            yield from screen.wrapped(f"{one.summary} ({one.source})", "  ")
            shown = one.to_dict()
            yield from (f"    {line}" for line in shown["lines"])
            for path, lines in shown["at"].items():
                yield f"    {path}"
                yield from (f"        {line}" for line in lines)
            yield ""
