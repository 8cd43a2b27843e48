"""Reports of runs: what ran, how many values each slot has, and what changed since the last run.

`RunReport.of` makes plain data from a session, in the worker that ran it. The command prints it, as text or JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.changed import TreeDifference, changes
from nodeattrs.core.tree import ABSENT, spell
from nodeattrs.dialects.chef.run.recipes import LogLine
from nodeattrs.dialects.chef.run.session import Session, wrong_machine_warnings
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.documents import json_ready
from nodeattrs.node.slots import SLOTS
from nodeattrs.reports.findings import Finding, finding_of
from nodeattrs.reports.screen import Screen, printable
from nodeattrs.reports.values import on_one_line

_MOST_CHANGES = 10
_HARD_SPACE = "\xa0"
_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@dataclass(frozen=True)
class RunReport:
    """The report of one run, as plain data that can be sent between processes. Make it with `RunReport.of`.

    `to_dict` returns all fields as data. `lines` yields a text with at most ten changes, without *warnings* and *note*.
    `brief` returns one line.

    roles, expanded_run_list: what the run-list expands to
    attribute_files, recipes: in the order in which they ran
    log:      the messages that cookbook files wrote
    warnings: the warnings of the run, each once. One is added if the facts are of a machine with another name
    facts:    the file of the facts, "platform debian-12", or "this machine"
    leaves:   number of a slot -> the number of scalars in it, for all slots
    changes:  the differences from the attributes that the last run saved; None for the first run
    note:     a remark of the store about the saved node; "" for none
    saved:    the store that has the node now, in words; None if the node was not saved
    """

    node: str
    environment: str
    run_list: list[str]
    roles: list[str]
    expanded_run_list: list[str]
    attribute_files: list[str]
    recipes: list[str]
    log: list[LogLine]
    warnings: list[Finding]
    facts: str
    leaves: dict[int, int]
    changes: list[TreeDifference] | None
    note: str
    saved: str | None

    @classmethod
    def of(cls, session: Session) -> RunReport:
        """Make the report of a session. cost: merges the attributes before and after, unless the snapshots are equal"""
        run = session.run
        return cls(
            run.node.name,
            run.node.environment,
            run.node.run_list,
            list(run.expansion.roles),
            list(run.expansion.qualified),
            run.attribute_files,
            run.recipes,
            run.log,
            _found([*run.warnings, *wrong_machine_warnings(run)]),
            run.facts,
            {number: _count(slot.layer().value) for number, slot in run.node.slots.items()},
            _changes(session),
            session.note,
            session.place,
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as data for JSON."""
        return {
            "node": self.node,
            "environment": self.environment,
            "facts": self.facts,
            "run_list": self.run_list,
            "roles": self.roles,
            "expanded_run_list": self.expanded_run_list,
            "attribute_files": self.attribute_files,
            "recipes": self.recipes,
            "log": [
                {"level": line.level, "message": line.message, "file": line.origin.file, "line": line.origin.line}
                for line in self.log
            ],
            "warnings": [one.to_dict() for one in self.warnings],
            "leaves": {str(number): count for number, count in self.leaves.items()},
            "changes": None if self.changes is None else [_change_dict(change) for change in self.changes],
            "note": self.note or None,
            "saved": self.saved,
        }

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield facts, run-list, roles, files, counts by slot, changed attributes, log and place, with headings.

        At most ten changed attributes are shown; one line counts the others. An empty list has no heading.
        """
        yield f"{screen.paint(self.node, 'strong')} in {printable(self.environment)}"
        yield from _listed("facts", [self.facts] if self.facts else [], screen)
        yield from _listed("run list", self.run_list, screen)
        yield from _listed("roles", self.roles, screen)
        yield from _listed("attribute files", self.attribute_files, screen)
        yield from _listed("recipes", self.recipes, screen)
        yield from _listed("slots", self._slot_counts(), screen)
        yield from self._changed(screen)
        if self.log:
            yield "  log"
            for line in self.log:
                place = f"  ({line.origin.place})" if line.origin.place else ""
                yield from screen.wrapped(f"{line.level}: {printable(line.message)}{place}", " " * 6, "    ")
        yield from _listed("saved", [self.saved or "nothing"], screen)

    def brief(self) -> str:
        """One line: node, environment, run-list, and the numbers of recipes, values and changed attributes."""
        ran = f"{', '.join(self.run_list) or 'no run-list'}, {_number(len(self.recipes), 'recipe')}"
        values = f"{sum(self.leaves.values()):,} values set"
        changed = "first run" if self.changes is None else f"{len(self.changes)} changed"
        unsaved = "" if self.saved else "; not saved"
        return printable(f"{self.node} in {self.environment}: {ran}; {values}; {changed}{unsaved}")

    def _slot_counts(self) -> list[str]:
        return [f"{slot.number} {slot.title}: {self.leaves[slot.number]}" for slot in SLOTS if self.leaves[slot.number]]

    def _changed(self, screen: Screen) -> Iterator[str]:
        differing = self.changes
        if differing is None:
            yield from _listed("changes", ["this is the first run"], screen)
            return
        counts = {kind: sum(change.kind == kind for change in differing) for kind in _SIGNS}
        parts = [f"{count} {kind}" for kind, count in counts.items() if count]
        yield from _listed("changes", parts or ["none"], screen)
        for change in differing[:_MOST_CHANGES]:
            sign = screen.paint(_SIGNS[change.kind], change.kind)
            first, *rest = screen.wrapped(_described(change), " " * 8, " " * 6, 3)
            yield f"    {sign}{first[5:]}"
            yield from rest
        if len(differing) > _MOST_CHANGES:
            yield f"    … and {len(differing) - _MOST_CHANGES} more; --format json has all"


@dataclass(frozen=True)
class RunReports:
    """The report of several runs of one command.

    reports: the reports of the nodes that succeeded, in order
    failed:  node that failed -> (error message, code). `to_dict` includes them; `lines` does not show them
    """

    reports: Sequence[RunReport]
    failed: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The runs, and the failed nodes with their errors, as data for JSON."""
        failed = [{"node": name, "error": error, "code": code} for name, (error, code) in self.failed.items()]
        return {"version": 1, "runs": [report.to_dict() for report in self.reports], "failed": failed}

    def lines(self, screen: Screen) -> Iterator[str]:
        """Yield the lines of each report, with an empty line between two; nothing for none."""
        for number, report in enumerate(self.reports):
            if number:
                yield ""
            yield from report.lines(screen)


def _found(warnings: Iterable[NodeattrsError | str]) -> list[Finding]:
    """Warnings as findings, each once."""
    return list(dict.fromkeys(finding_of(one, "warning", NodeattrsError.entry.code) for one in warnings))


def _changes(session: Session) -> list[TreeDifference] | None:
    if session.is_as_before:
        return []
    if (before := session.before) is None:
        return None
    return changes(json_ready(before), json_ready(session.after))


def _described(change: TreeDifference) -> str:
    path = printable(spell(change.path))
    if change.kind == "changed":
        return f"{path}: {on_one_line(change.before)} -> {on_one_line(change.after)}"
    return f"{path}: {on_one_line(change.before if change.after is ABSENT else change.after)}"


def _change_dict(change: TreeDifference) -> dict[str, Any]:
    data: dict[str, Any] = {"path": spell(change.path), "change": change.kind}
    if change.before is not ABSENT:
        data["before"] = change.before
    if change.after is not ABSENT:
        data["after"] = change.after
    return data


def _listed(title: str, items: Sequence[str], screen: Screen) -> Iterator[str]:
    if items:
        # A line is broken between items, and not inside of an item.
        text = ", ".join(printable(item).replace(" ", _HARD_SPACE) for item in items)
        for line in screen.wrapped(text, " " * 19, f"  {title:15}  "):
            yield line.replace(_HARD_SPACE, " ")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _count(tree: Any) -> int:
    """The scalars in a tree."""
    total, left = 0, [tree]
    for holder in left:
        inside = holder.values() if isinstance(holder, dict) else holder
        below = [inner for inner in inside if isinstance(inner, (dict, list))]
        total += len(inside) - len(below)
        left += below
    return total
