"""Findings and explanations of merged cloud-configs, as data and as lines.

Findings are made from failed parts, from warnings (`lints`) and from errors of the schema; each has a file and a line.
For a template whose values are not known, findings are made on each way through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT, Path, dig, spell
from nodeattrs.dialects.cloudinit.codes import (
    COMMAND_NO_TEXT,
    COMMANDS_NO_LIST,
    MISSPELT_KEY,
    NOT_IN_USER_DATA,
    SCHEMA,
    SCHEMA_DEPRECATED,
    TEMPLATE,
    UNDEFINED_VARIABLE,
    UNEXPANDED,
)
from nodeattrs.dialects.cloudinit.config_text import json_tree
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.instance import Instance
from nodeattrs.dialects.cloudinit.lints import Warned
from nodeattrs.dialects.cloudinit.merged import Merged
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.schema import Schema
from nodeattrs.dialects.cloudinit.steps import Action, Change, PartReport
from nodeattrs.dialects.cloudinit.templates import MISSING, InstanceData
from nodeattrs.errors import NoSuchAttribute
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports import Report
from nodeattrs.reports.explain import NodeExplanation, way_to
from nodeattrs.reports.findings import Finding, Severity, finding_of
from nodeattrs.reports.screen import Screen, cut, in_columns, printable

_MARKS = {"set": "+", "extended": "+", "replaced": "~", "deleted": "-", "dropped": "!"}
_STYLES = {"set": "added", "extended": "added", "replaced": "changed", "deleted": "removed", "dropped": "warning"}


def faults_of(merged: Merged, but: Collection[int] = ()) -> Iterator[Finding]:
    """Yield a finding for each part that was rejected or failed, with its place. but: numbers of parts to leave out"""
    for report in merged.parts:
        if report.error is not None and report.kind is not None and report.number not in but:
            one, part = finding_of(report.error), report.part
            at = Origin("part", f"of {part.file}", report.filename, one.line, one.column)
            at = at if part.file and not part.line else at._replace(name="", file=part.file or one.file)
            code = report.kind.entry.code
            yield _placed(one._replace(code=code), f"{report.status}: {one.message}", report.title, at)


def findings_of(merged: Merged, schema: Schema | None = None) -> Iterator[Finding]:
    """Yield the findings about a merge: parts that failed, warnings, and errors by the schema; nothing for none.

    schema: checks what user-data and vendor-data set; None: no schema. An error at a path with a warning is left out
    """
    yield from faults_of(merged, {one.number for one in merged.warnings if one.name == UNEXPANDED})
    yield from (finding_about(one, at) for one, at in _placed_warnings(merged, schema))


def findings_of_each_branch(
    merged: Callable[[InstanceData], Merged], schema: Schema | None = None
) -> Iterator[Finding]:
    """Yield the findings about a merge of templates, or of other parts, that hold on any machine; each once.

    The parts are merged once for each way through the templates. A finding that does not occur on every way says "in a
    branch of the template". An error that stops a merge is a finding, too. A finding that depends on the value of a
    variable is left out. Branches that no way goes through get a note, and so does a template of another program.

    merged: called with instance data once for each way, merges the parts with them
    schema: a schema to check each result by; None: no check by a schema
    """
    first = InstanceData.missing()
    ways = [_on_one_way(merged, first, schema)]
    for number in range(1, first.ways):
        ways.append(_on_one_way(merged, InstanceData.missing(number), schema))
    seen: set[Finding] = set()
    for way in ways:
        for key, one in way.items():
            if key not in seen:
                seen.add(key)
                is_on_all = all(key in other for other in ways)
                yield one if is_on_all else one._replace(message=f"{one.message}, in a branch of the template")


_INDEX = re.compile(r"\.\d+(?=[. ])")


def _on_one_way(
    merged: Callable[[InstanceData], Merged], data: InstanceData, schema: Schema | None
) -> dict[Finding, Finding]:
    """The findings on one way: finding without indices in its message -> the finding. Indices depend on the branch."""
    try:
        found = list(_for_any_machine(merged(data), schema))
    except CloudConfigError as error:
        found = [finding_that_ended(error)]
    by_key: dict[Finding, Finding] = {}
    for one in found:
        by_key.setdefault(one._replace(message=_INDEX.sub("", one.message)), one)
    return by_key


def _for_any_machine(merged: Merged, schema: Schema | None) -> Iterator[Finding]:
    later = {one.number for one in merged.parts if _may_be_the_machine(one)}
    for report in merged.parts:
        if report.part.language is not None and report.part.lines:
            is_broken = report.number in later and not _says_nothing(report.part)
            yield _about_filling_in(report, report.part.language.name, is_broken)
    yield from _about_unseen(merged)
    yield from faults_of(merged, later)
    for one, at in _placed_warnings(merged, schema):
        if not _needs_the_machine(one, merged):
            yield finding_about(one, at)


def _about_filling_in(report: PartReport, program: str, is_broken: bool) -> Finding:
    """The note about a template of another program, whose values are not known.

    is_broken: whether the text with placeholders is broken YAML, so that nothing in it was looked at
    """
    part, error = report.part, report.error
    message = f"is a template of {program}: its branches were looked at, with placeholders for what {program} fills in"
    line = part.line
    if is_broken and isinstance(error, CloudConfigError):
        message = f"is a template of {program} and was not looked at: with placeholders it is {error.reason}"
        line = error.line or part.line
    found = Finding(LAYER_IS_UNKNOWN.entry.code, "note", "", hint=f"check what {program} makes of it")
    return _placed(found, message, "" if part.file else report.title, Origin("part", "", part.file, line))


def _about_unseen(merged: Merged) -> Iterator[Finding]:
    """The note about branches that no way goes through; nothing where there are none."""
    data = None if merged.rules is None else merged.rules.data
    part = next((one.part for one in merged.parts if one.part.lines), None)
    if data is not None and data.unseen and part is not None:
        many = "1 branch of the template was" if data.unseen == 1 else f"{data.unseen} branches of the template were"
        message = f"{many} not looked at: a template is rendered a limited number of times"
        yield Finding(LAYER_IS_UNKNOWN.entry.code, "note", message, part.file, part.line or 1, 1)


def _says_nothing(part: CloudPart) -> bool:
    return all(not row.strip() or row.startswith("#") for row in part.text.split("\n"))


def _may_be_the_machine(report: PartReport) -> bool:
    """Whether the error of a part may go away on a machine: a placeholder is near its line, or the part is empty."""
    line, part = getattr(report.error, "line", None), report.part
    rows = part.text.split("\n")
    if line is None:
        return report.kind == TEMPLATE or _says_nothing(part) or MISSING in part.text
    near = [max(at - 1, 0) for at in range(len(rows)) if part.at(at + 1) == line]
    return any(MISSING in row for at in near for row in rows[at : at + 3])


_ABOUT_KEYS = {MISSPELT_KEY, NOT_IN_USER_DATA}
"""Warnings about a key, for any value of it."""
_ABOUT_KINDS = {COMMANDS_NO_LIST, COMMAND_NO_TEXT}
"""Warnings about the type of a value; the text in it does not matter."""


def _needs_the_machine(warned: Warned, merged: Merged) -> bool:
    """Whether another value of a variable could make a warning go away."""
    if warned.name == UNDEFINED_VARIABLE or MISSING in warned.message:
        return True
    if warned.name in _ABOUT_KEYS or warned.is_about_key:
        return False
    value = ABSENT if warned.path is None else dig(merged.value, warned.path)
    if value is None and any(report.part.language for report in merged.parts):  # a placeholder may give its value
        return True
    if warned.name in (SCHEMA, SCHEMA_DEPRECATED) and isinstance(value, (dict, list)):
        return any(str(entry).startswith(MISSING) for entry in value)
    if str(value).startswith(MISSING):
        return True
    return MISSING in str(value) and warned.name not in _ABOUT_KINDS


def _placed_warnings(merged: Merged, schema: Schema | None) -> Iterator[tuple[Warned, Origin]]:
    """Each warning of the merge and of the schema, with its place."""
    known = {one.path for one in merged.warnings if not one.number}
    yield from ((one, merged.place_of(one)) for one in merged.warnings)
    for one in schema.warnings(merged.value) if schema is not None else ():
        at = merged.place_of(one)
        if at.kind in ("part", "patch") and (one.path not in known or one.severity == "note"):
            yield one, at


def finding_about_unread(layer: Layer, severity: Severity) -> Finding:
    """The finding that a layer was not looked at, with the reason, at its place or at line 1."""
    found, at = Finding(LAYER_IS_UNKNOWN.entry.code, severity, ""), layer.origin.at(())
    message = f"was not looked at: {layer.value.reason}"
    return _placed(found, message, layer.title, at if at.file else at._replace(file=layer.title))


def finding_that_ended(error: CloudConfigError) -> Finding:
    """The error that stopped the unpacking or merging of a machine, as a finding; without a line it is on line 1."""
    one = finding_of(error)
    code = error.kind.entry.code
    return one._replace(code=code, line=one.line or 1, column=one.column or 1)


def finding_about(warned: Warned, at: Origin) -> Finding:
    """A warning as a finding, at its place."""
    code = warned.name.entry.code
    return _placed(Finding(code, warned.severity, "", hint=warned.hint or None), warned.message, warned.title, at)


def _placed(found: Finding, message: str, title: str, at: Origin) -> Finding:
    """A copy of a finding with a place and a message. In a packed part the place is the first line of the file, and the
    message has the line of the part.
    """
    file, line, column = at.file, at.line or 1, at.column or 1
    if at.name.startswith("of "):
        message, file = f"{message} (line {line} of {at.file})", at.name.removeprefix("of ")
        line = column = 1
    shown = message if title in ("", file, at.file) else f"{title}: {message}"
    return found._replace(message=shown, file=file, line=line, column=column)


@dataclass(frozen=True, slots=True)
class _ExplainedConfig:
    """The report of `nodeattrs cloud-config explain`: a table of the parts, then traces of paths, then changes.

    `explained_config` makes it. Traces and changes are computed when it is printed.

    merged:          the config that is explained
    paths:           the paths whose traces are shown; (): no traces
    is_step_by_step: whether the changes of each part are shown
    with_causes:     whether a trace also names the lines with merge definitions
    instance:        the machine that has these files; its differences from *merged* are shown. None: no differences
    """

    merged: Merged
    paths: tuple[Path, ...] = ()
    is_step_by_step: bool = True
    with_causes: bool = False
    instance: Instance | None = None

    def to_dict(self) -> dict[str, Any]:
        """The parts, the traces and the changes as JSON-able data; with a machine also its differences."""
        machine = {} if self.instance is None else {"machine": _machine_dict(self.instance)}
        return {
            "version": 1,
            "parts": [
                report.to_dict() | {"source_place": _place(self.merged.definition_origin(report.number))}
                for report in self.merged.parts
            ],
            "traces": [json_tree(self._trace_dict(path)) for path in self.paths],
            "steps": [
                {
                    "number": step.number,
                    "filename": step.filename,
                    "changes": [json_tree(change.to_dict()) for change in step.changes],
                }
                for step in (self.merged.changes() if self.is_step_by_step else ())
            ],
            **machine,
        }

    def _trace_dict(self, path: Path) -> dict[str, Any]:
        trace = self.merged.trace(path)
        data = trace.to_dict()
        for entry, element in zip(data["elements"], trace.elements, strict=True):
            entry["places"] = [str(claim.origin) for claim in element.claims]
        if self.with_causes:
            data["because_of"] = [cause.to_dict() for cause in self.merged.causes(path)]
        return data

    def lines(self, screen: Screen) -> Iterator[str]:
        """The table of parts, the differences of a machine, then each path, then each step. `masked` hides secrets."""
        yield from _parts(self.merged, screen)
        if self.instance is not None:
            yield ""
            yield from _machine(self.instance, screen)
        for path in self.paths:
            yield ""
            trace = self.merged.trace(path)
            hint = None if trace.found else _way_to(self.merged, path)
            causes = self.merged.causes(path) if self.with_causes else None
            yield from NodeExplanation(trace, hint=hint, causes=causes).lines(screen)
        if self.is_step_by_step:
            titles = {report.number: report.title for report in self.merged.parts}
            for step in self.merged.changes():
                yield ""
                yield f"{step.number or '*'} {printable(titles.get(step.number, step.filename))}"
                yield from (_changed(change, screen) for change in step.changes)
                if not step.changes:
                    yield "  changes nothing"


def _machine_dict(instance: Instance) -> dict[str, Any]:
    rows = []
    for one in instance.differing():
        values = (("given", one.given), ("has", one.has))
        rows.append(
            {
                "path": spell(one.path),
                "steps": list(one.path),
                **{name: json_tree(value) for name, value in values if value is not ABSENT},
                "set_at": [str(origin) for origin in one.origins],
                "line": one.place.line,
            }
        )
    return {"file": instance.file, "differing": rows}


def _machine(instance: Instance, screen: Screen) -> Iterator[str]:
    if instance.file is None:
        yield "the machine has no combined-cloud-config.json: nothing to compare with"
        return
    rows = list(instance.differing())
    if not rows:
        yield f"the machine has what its files give ({printable(instance.file)})"
    for one in rows:
        change = Change(one.path, _TURNS[one.given is ABSENT, one.has is ABSENT], one.given, one.has)
        yield _changed(change, screen)
        given = [f"given by {', '.join(map(str, one.origins))}"] if one.origins else []
        has = [] if one.has is ABSENT else [f"the machine has it at {one.place.place}"]
        yield f"      {printable('; '.join([*given, *has]))}"


_TURNS: dict[tuple[bool, bool], Action] = {
    (False, False): "replaced",
    (True, False): "set",
    (False, True): "deleted",
}


def explained_config(
    merged: Merged,
    paths: tuple[Path, ...],
    step_by_step: bool,
    with_causes: bool = False,
    instance: Instance | None = None,
) -> Report:
    """The report about a merged config. Traces and changes are computed when it is printed.

    paths:        the paths whose traces are shown; (): none
    step_by_step: whether the changes of each part are shown. They are also shown if there are neither paths nor a
                  machine
    with_causes:  whether a trace also names the lines with merge definitions
    instance:     the machine with these files, whose differences are shown; None: no machine
    raises:       NoSuchAttribute, for a path that no part sets
    """
    for path in paths:
        trace = merged.trace(path)
        if not (trace.found or trace.claims):
            raise NoSuchAttribute(f"{spell(path)} is not set", path=path, hint=_way_to(merged, path))
    return _ExplainedConfig(merged, paths, step_by_step or not (paths or instance), with_causes, instance)


def _way_to(merged: Merged, path: Path) -> str | None:
    """A sentence that corrects a path that is not in the config; None without an idea."""
    hint = way_to(merged.config or {}, path)
    return hint.replace("the node has", "the config has", 1) if hint and hint.startswith("the node has") else hint


def _place(origin: Origin | None) -> str | None:
    return None if origin is None else origin.place


def _source(merged: Merged, report: PartReport) -> str:
    """The source of a part's definition, such as "body merge_how", with its line."""
    origin = merged.definition_origin(report.number)
    return report.source if origin is None or origin.place is None else f"{report.source}, {origin.place}"


def _parts(merged: Merged, screen: Screen) -> Iterator[str]:
    reports = merged.parts
    rows = []
    for report in reports:
        mergers = "" if report.definition is None else f"{report.definition}  ({_source(merged, report)})"
        rows.append([str(report.number), report.title, report.status, mergers or report.part.type])
    for row in in_columns([[printable(cell) for cell in row] for row in rows], right=(0,)) if rows else ():
        number, name, status, rest = row
        head = f"{number} {name}  {status}"
        yield from (
            screen.wrapped(f"{head}  {rest}", "    ", "  ")
            if len(head) + len(rest) + 4 > screen.width
            else [f"  {head}  {rest}".rstrip()]
        )
    for report in reports:
        if report.error is not None:
            yield from (screen.paint(printable(line), "error") for line in report.error.coded().splitlines())


def _changed(change: Change, screen: Screen) -> str:
    mark = screen.paint(_MARKS[change.action], _STYLES[change.action])
    words = f"{change.action:8}  {printable(spell(change.path))}"
    room = max(screen.width - len(words) - 8, 16)
    old, new = (printable(shown(value, 200)) for value in (change.old, change.new))
    if change.action == "deleted":
        return f"  {mark} {words}: {cut(old, room)}"
    if change.action == "dropped" and change.old is not ABSENT:
        return f"  {mark} {words}: {cut(new, room // 2)}, {cut(old, room // 2)} stays"
    if change.old is ABSENT:
        return f"  {mark} {words}: {cut(new, room)}"
    return f"  {mark} {words}: {cut(old, room // 2)} -> {cut(new, room // 2)}"
