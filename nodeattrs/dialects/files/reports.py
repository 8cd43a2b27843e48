"""Reports about folded files: the tree, who set each line of it, and what its last layer changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nodeattrs.core.changed import TreeDifference, changes
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Folded
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.dialects.files.text import data
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.screen import Screen, cut, printable
from nodeattrs.reports.show import tree_lines, written_lines
from nodeattrs.reports.values import on_one_line

if TYPE_CHECKING:
    from nodeattrs.policies.named import NamedPolicy

_WIDEST = 40
"""The margin takes so many columns at most."""
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


def _place(origin: Origin) -> str:
    return origin.place or origin.who


@dataclass(frozen=True)
class BlameReport:
    """A merged tree with who set each line: in a margin before it, or as a remark behind it."""

    folded: Folded
    in_margin: bool = True

    @cached_property
    def _origins(self) -> dict[Path, tuple[Origin, ...]]:
        return {path: origins for path, _, origins in self.folded.leaves()}

    def to_dict(self) -> dict[str, Any]:
        """The tree, and each leaf with everyone who set it."""
        leaves = [
            {"path": spell(path), "set_by": [_origin_dict(origin) for origin in origins]}
            for path, origins in self._origins.items()
        ]
        return {"version": 1, "value": data(self.folded.value), "leaves": leaves}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The tree as YAML reads it back, and the places beside it."""
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


def _origin_dict(origin: Origin) -> dict[str, Any]:
    return origin._asdict()


@dataclass(frozen=True, slots=True)
class TraceReport:
    """Why some paths are what they are."""

    explanations: Sequence[NodeExplanation]

    def to_dict(self) -> dict[str, Any]:
        """The trace of each path as plain data."""
        return {"version": 1, "traces": [data(one.to_dict()) for one in self.explanations]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """One after the other, an empty line between them."""
        for number, one in enumerate(self.explanations):
            if number:
                yield ""
            yield from one.lines(screen)


def traced(folded: Folded, paths: Iterable[Path]) -> TraceReport:
    """The report about some paths. raises: NoSuchAttribute, for one that no layer sets"""
    found = []
    for path in paths:
        trace = folded.trace(path)
        if not (trace.found or trace.claims):
            hint = (way_to(folded.value, path) or "").replace("the node has", "the tree has") or None
            raise NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=hint)
        found.append(NodeExplanation(trace))
    return TraceReport(found)


@dataclass(frozen=True)
class LastChanges:
    """What the last layer changes of those before it.

    title: what that layer is called
    """

    title: str
    before: Folded
    after: Folded

    @cached_property
    def changes(self) -> list[TreeDifference]:
        """The leaves that differ; a list is one."""
        return changes(self.before.value, self.after.value)

    def to_dict(self) -> dict[str, Any]:
        """Each change with both values and who set them."""
        return {"version": 1, "layer": self.title, "changes": [self._dict(one) for one in self.changes]}

    def _dict(self, change: TreeDifference) -> dict[str, Any]:
        sides = {"before": (self.before, change.before), "after": (self.after, change.after)}
        return {
            "path": spell(change.path),
            "change": change.kind,
            **{
                name: {"value": data(value), "set_by": [_origin_dict(one) for one in folded.origins(change.path)]}
                for name, (folded, value) in sides.items()
                if value is not ABSENT
            },
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """A line a change: what it was, what it is, and where each was set."""
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
    """The policies that have a name."""

    policies: Sequence[NamedPolicy]

    def to_dict(self) -> dict[str, Any]:
        """Each policy with its lines as plain data."""
        return {"version": 1, "policies": [one.to_dict() for one in self.policies]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Each with its lines, and those of the paths that have others."""
        for one in self.policies:
            yield screen.paint(one.name, "strong")
            yield from screen.wrapped(f"{one.summary} ({one.source})", "  ")
            shown = one.to_dict()
            yield from (f"    {line}" for line in shown["lines"])
            for path, lines in shown["at"].items():
                yield f"    {path}"
                yield from (f"        {line}" for line in lines)
            yield ""
