"""How two catalogs differ: as text, as data, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class ComparedCatalogs:
    """The difference of two catalogs, with the titles of both."""

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
        """A line for each resource (+, -, ~), changed parameter and relationship, then counts or "no difference"."""
        found = self.difference
        yield f"{printable(self.before)} {screen.paint('against', 'faint')} {printable(self.after)}"
        for sign, style, some in (("+", "added", found.added), ("-", "removed", found.removed)):
            for one in some:
                yield f"{screen.paint(sign, style)} {printable(one.ref)}{_at(one.origin, screen)}"
        for one, parameters in found.changed:
            yield f"{screen.paint('~', 'changed')} {printable(one.ref)}{_at(one.origin, screen)}"
            for parameter in parameters:
                yield f"    {printable(parameter.name)}: {_shown(parameter.before)} -> {_shown(parameter.after)}"
        for relation in found.relations:
            sign, style = ("+", "added") if relation.is_new else ("-", "removed")
            order = f"{relation.first} -> {relation.then}"
            why = f"{printable(relation.reason)}{_at(relation.origin, screen)}"
            yield f"{screen.paint(sign, style)} {printable(order)}: {why}"
        yield self._counted()

    def markdown(self) -> str:
        """The difference as Markdown for a pull request: the counts, then a section that can be opened for each kind of
        change."""
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


def _at(origin: Origin | None, screen: Screen) -> str:
    return screen.paint(f"  {printable(origin.place)}", "faint") if origin and origin.place else ""


def _in_line(origin: Origin | None) -> str:
    return f", {in_code(origin.place)}" if origin and origin.place else ""


def _folded(title: str, rows: list[str], head: list[str] | None = None) -> list[str]:
    if not rows:
        return []
    return [f"<details><summary>{_many(len(rows), title)}</summary>", "", *(head or ()), *rows, "", "</details>", ""]
