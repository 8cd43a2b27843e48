"""The report about the differences between two catalogs: as text, as data, and as Markdown for a pull request.

`catalog.differing` computes the differences. Secrets are masked in all three forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, takewhile
from typing import Any

from nodeattrs.catalog.differing import CatalogDifference, ChangedParameter
from nodeattrs.catalog.resources import Resource
from nodeattrs.core.claim import Origin
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import ABSENT
from nodeattrs.reports.markdown import in_code
from nodeattrs.reports.screen import Screen, cut, printable
from nodeattrs.reports.values import claimed, on_one_line

_WIDEST = 60
_MOST_LINES = 40
_MOST_COMPARED = 2_000
_STYLES = {"-": "removed", "+": "added", " ": "faint"}


@dataclass(frozen=True, slots=True)
class ComparedCatalogs:
    """The report about the difference of two catalogs. For equal ones `lines` and `markdown` say "no difference".

    `to_dict` returns the difference as JSON-able data.

    before, after: the titles of the catalogs
    difference:    the resources and relationships that differ
    """

    before: str
    after: str
    difference: CatalogDifference

    def to_dict(self) -> dict[str, Any]:
        """The resources added, removed and changed, and the changed relationships, as JSON-able data.

        A changed parameter has its value before and after; where one of them is secret both are null and `sensitive` is
        true.
        """
        found = self.difference
        return {
            "version": 1,
            "before": self.before,
            "after": self.after,
            "added": [_named(one) for one in found.added],
            "removed": [_named(one) for one in found.removed],
            "changed": [
                {**_named(one), "parameters": [_both(parameter) for parameter in parameters]}
                for one, parameters in found.changed
            ],
            "relations": [
                {
                    "before": str(one.first),
                    "after": str(one.then),
                    "sign": "added" if one.is_new else "removed",
                    "because": one.reason,
                    **_place(one.origin),
                }
                for one in found.relations
            ],
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """The line "BEFORE against AFTER", lines of what differs (+, -, ~), then counts or "no difference".

        Each resource, changed parameter and relationship has a line.
        """
        found = self.difference
        yield f"{printable(self.before)} {screen.paint('against', 'faint')} {printable(self.after)}"
        for sign, style, some in (("+", "added", found.added), ("-", "removed", found.removed)):
            for one in some:
                yield f"{screen.paint(sign, style)} {printable(one.ref)}{_at(one.origin, screen)}"
        for one, parameters in found.changed:
            yield f"{screen.paint('~', 'changed')} {printable(one.ref)}{_at(one.origin, screen)}"
            for parameter in parameters:
                changed = _changed_lines(parameter)
                head = f"    {printable(parameter.name)}:"
                yield head if changed else f"{head} {_shown(parameter.before)} -> {_shown(parameter.after)}"
                yield from (screen.paint(f"      {line}", _STYLES[line[0]]) for line in changed)
        for relation in found.relations:
            sign, style = ("+", "added") if relation.is_new else ("-", "removed")
            order = f"{relation.first} -> {relation.then}"
            why = f"{printable(relation.reason)}{_at(relation.origin, screen)}"
            yield f"{screen.paint(sign, style)} {printable(order)}: {why}"
        yield self._counted()

    def markdown(self) -> str:
        """The difference as Markdown for a pull request: the counts, then a folded section for each kind of change."""
        found = self.difference
        parts = [f"**{in_code(self.before)}** against **{in_code(self.after)}**: {self._counted()}", ""]
        for title, some in (("added", found.added), ("removed", found.removed)):
            parts += _folded(title, [f"- {in_code(one.ref)}{_in_line(one.origin)}" for one in some])
        rows = [
            f"| {in_code(one.ref)} | {in_code(parameter.name)} | {in_code(_shown(parameter.before))} "
            f"| {in_code(_shown(parameter.after))} | {_in_line(one.origin)[2:]} |"
            for one, parameters in found.changed
            for parameter in parameters
        ]
        head = ["| resource | parameter | before | after | where |", "| --- | --- | --- | --- | --- |"]
        parts += _folded("changed", rows, head)
        for one, parameters in found.changed:
            for parameter in parameters:
                if changed := _changed_lines(parameter):
                    parts += [f"{in_code(one.ref)} {in_code(parameter.name)}:", "", *_fenced(changed), ""]
        signs = {True: "now", False: "no longer"}
        relations = [
            f"- {signs[one.is_new]}: {in_code(one.first)} before {in_code(one.then)}, {in_code(one.reason)}"
            for one in found.relations
        ]
        parts += _folded("relationships", relations)
        return "\n".join(parts)

    def _counted(self) -> str:
        found = self.difference
        parts = (("added", found.added), ("removed", found.removed), ("changed", found.changed),
                 ("relationships", found.relations))  # fmt: skip
        return ", ".join(_many(len(some), title) for title, some in parts if some) or "no difference"


def _many(count: int, title: str) -> str:
    return f"{count} {title.removesuffix('s') if count == 1 else title}"


def _named(one: Resource) -> dict[str, Any]:
    return {"resource": str(one.ref), **_place(one.origin)}


def _place(origin: Origin | None) -> dict[str, Any]:
    return {"file": origin.file if origin else None, "line": origin.line if origin else None}


def _both(one: ChangedParameter) -> dict[str, Any]:
    secret = isinstance(one.before, Sensitive) or isinstance(one.after, Sensitive)
    values = {"before": None, "after": None} if secret else {"before": claimed(one.before), "after": claimed(one.after)}
    return {"parameter": one.name, **values, "sensitive": secret}


def _shown(value: Any) -> str:
    return "(not set)" if value is ABSENT else cut(printable(on_one_line(value)), _WIDEST)


def _changed_lines(one: ChangedParameter) -> list[str]:
    """The lines that differ, with their signs and one line beside them; [] for values on one line.

    cost: one comparison by `difflib` of at most 2,000 lines
    """
    if not isinstance(one.before, str) or not isinstance(one.after, str) or "\n" not in one.before + one.after:
        return []
    before, after = one.before.splitlines(), one.after.splitlines()
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    left = zip(before[start:][::-1], after[start:][::-1], strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], left))
    first = max(start - 1, 0)
    old, new = before[first : len(before) - max(end - 1, 0)], after[first : len(after) - max(end - 1, 0)]
    if len(old) + len(new) > _MOST_COMPARED:
        return [f"- {len(old)} lines", f"+ {len(new)} lines"]
    unified = islice(unified_diff(old, new, n=1, lineterm=""), 3, None)  # without the names and the first hunk's place
    found = [" ..." if line.startswith("@@") else line for line in unified]
    shown = [f"{line[0]} {cut(printable(line[1:]), _WIDEST * 2)}".rstrip() or " " for line in found[:_MOST_LINES]]
    return [*shown, *([f"  and {len(found) - _MOST_LINES} more lines"] if len(found) > _MOST_LINES else [])]


def _fenced(lines: list[str]) -> list[str]:
    """Lines as a block of Markdown that no line of theirs can end."""
    fence = "`" * (max((len(run) for line in lines for run in re.findall("`+", line)), default=2) + 1)
    return [f"{max(fence, '```', key=len)}diff", *lines, max(fence, "```", key=len)]


def _at(origin: Origin | None, screen: Screen) -> str:
    return screen.paint(f"  {printable(origin.place)}", "faint") if origin and origin.place else ""


def _in_line(origin: Origin | None) -> str:
    return f", {in_code(origin.place)}" if origin and origin.place else ""


def _folded(title: str, rows: list[str], head: list[str] | None = None) -> list[str]:
    if not rows:
        return []
    return [f"<details><summary>{_many(len(rows), title)}</summary>", "", *(head or ()), *rows, "", "</details>", ""]
