"""Merge the parts of user-data to one config, each by its own merge definition, as cloud-init does.

Nothing is run, fetched or written. If a part cannot be merged, the config stays as it was, and the report of the part
has the error. A part whose content is not known (an include, a template without instance data) is an unknown layer: it
may set anything. The merge keeps its steps, so that `Merged` can explain each value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import NOT_RUN
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.cloudinit.codes import DEFINITION, FORMAT, TEMPLATE, TOO_DEEP, UNKNOWN_MERGER, VALUE
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.merged import Merged, MergeRules
from nodeattrs.dialects.cloudinit.mergers import (
    ANY_DEFINITION,
    CONFIG_DEFAULT,
    PART_DEFAULT,
    Definition,
    Mode,
    as_definition,
    lay,
    own_definition,
    policy_of,
)
from nodeattrs.dialects.cloudinit.other_templates import filled_as_jinja, unescaped
from nodeattrs.dialects.cloudinit.parts import (
    CLOUD_CONFIG,
    INCLUDES,
    JINJA,
    JSONP,
    SCRIPTS,
    CloudPart,
    load_config,
    value_count,
)
from nodeattrs.dialects.cloudinit.patching import operations_of, patch_changes, patch_values
from nodeattrs.dialects.cloudinit.places import YamlLocator
from nodeattrs.dialects.cloudinit.releases import NEWEST, release_of
from nodeattrs.dialects.cloudinit.secrets import veiled
from nodeattrs.dialects.cloudinit.steps import MergedPart, PartReport, Row, Status, status_of
from nodeattrs.dialects.cloudinit.templates import REDACTED, InstanceData, template_in, unrendered
from nodeattrs.dialects.cloudinit.unpacking import type_of_text, unpack
from nodeattrs.errors import MergeConflict, MissingExtra, NodeattrsError, TooMuch
from nodeattrs.formats.yaml_events import RepeatedKey

_KEY = re.compile(r"[a-z_]+:")
_WRITTEN = re.compile(r"(?m)^(merge_how|merge_type)\s*:")


@checked_args(
    mode=("current", "documented"),
    launch_index=int | None,
    include_root=A_PATH | None,
    budget=Budget | None,
    instance_data=InstanceData | None,
)
def merge(
    parts: Iterable[Any],
    *,
    mode: Mode = "current",
    how: Any = None,
    launch_index: int | None = None,
    include_root: Path | None = None,
    budget: Budget | None = None,
    cloud_init: str = NEWEST,
    instance_data: InstanceData | None = None,
) -> Merged:
    """Unpack and merge the user-data of one machine as cloud-init does. Without parts, `config` of the result is None.

    parts:         user-data of any kind, in order: texts, bytes, paths, blobs, `CloudPart`s, or unknown layers
    mode:          "current": each part is merged by its own definition; "documented": by the stack of the older manual
    how:           a definition for every part instead of its own, for a what-if; None: their own
    launch_index:  keep the parts for this index, and those without one; None: all
    include_root:  the folder in which includes are looked up; None: includes are unknown layers
    budget:        limits unpacking and merging of all parts together
    cloud_init:    the release whose rules apply, such as "22.4"
    instance_data: variables for templates; None: templates are unknown layers
    raises:        CloudConfigError, where unpacking stops; BadArgument. A part that is rejected or fails raises
                   nothing: its report has the error
    source:        docs/cloudinit.md

    >>> merged = merge(["#cloud-config\\npackages: [vim]", "#cloud-config\\npackages: [git]"])
    >>> merged.config, [warning.name for warning in merged.warnings]
    ({'packages': ['git']}, ['default-replaces'])
    """
    asked = None if how is None else as_definition(how)
    rules = MergeRules(mode, asked, release_of(cloud_init), instance_data)
    budget = budget or Budget("user-data")
    run = _Run(rules, budget)
    for part in unpack(parts, launch_index=launch_index, include_root=include_root, budget=budget):
        run.take(part)
    return run.merged()


_READ_IN_A_STEP = 100
_MET_IN_A_STEP = 50


class _MergeBudget:
    """Counts the work of merging parts, as steps of the budget.

    A part copies the maps and lists in which it is merged. A patch or a custom merger may copy the whole config, which
    is never larger than all texts before it.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._read = 0

    def all(self) -> None:
        """Count a part that may copy the whole config. raises: TooMuch"""
        self.budget.steps(self._read // _READ_IN_A_STEP)

    def meeting(self, before: Any, laid: Any) -> None:
        """Count a config *laid* that is merged into *before*: the sizes of all maps, lists and texts that it meets.

        raises: TooMuch
        """
        size, pairs = 0, [(before, laid)]
        while pairs:
            old, new = pairs.pop()
            size += len(old) if isinstance(old, (dict, list, str)) else 0
            if isinstance(old, dict) and isinstance(new, dict):
                pairs += [(old[key], inner) for key, inner in new.items() if key in old]
            elif isinstance(old, list) and isinstance(new, list):
                pairs += zip(old, new, strict=False)
        if size >= _MET_IN_A_STEP:
            self.budget.steps(size // _MET_IN_A_STEP)

    def read(self, text: str, config: Any = None) -> None:
        """Count a text that was read; with aliases its config is larger than the text. raises: TooMuch, TooDeep"""
        self._read += len(text)
        if "*" in text and config is not None:
            size = value_count(config)
            self.budget.values(size)
            self._read += size


def _keys_in(part: CloudPart) -> dict[TreePath, int] | None:
    """Path of a key -> its line, for a template that a platform makes; None for any other, since it may set any key."""
    rows = enumerate(part.text.split("\n"), 1)
    if part.indent is not None or "{%" in part.text or "{#" in part.text:
        return None
    return {(row.partition(":")[0],): part.at(number) for number, row in rows if _KEY.match(row)}


def _named(part: CloudPart, name: str) -> tuple[str, Origin]:
    """The title of a part, and the place of the whole part."""
    title = PartReport(0, part, name, "unknown").title
    alone = part.file is None or title == part.file
    return title, Origin("part", "" if alone else title, part.file or name, part.line and part.at(1))


class _Run:
    """One merge of user-data: `take` each part in order, then `merged` for the result.

    Each part gets a report. The folding begins with the first config or unknown layer; before that there is no config.
    """

    def __init__(self, rules: MergeRules, budget: Budget) -> None:
        self.rules = rules
        self.mode, self.how, self.release, self.data = rules
        self.effort = _MergeBudget(budget)
        self.folding: Folding | None = None
        self.has_config = False
        self.sources: list[CloudPart | Layer] = []
        self.reports: list[PartReport] = []
        self.unknown: dict[int, Layer] = {}
        self.merged_parts: list[MergedPart] = []
        self.stack: list[tuple[Definition, str]] = [(CONFIG_DEFAULT, "default")]

    def take(self, part: CloudPart | Layer) -> None:
        """Handle one part by its type: merge a config or patch, render a template, and report anything else."""
        number = len(self.reports) + 1
        self.sources.append(part)
        if not isinstance(part, CloudPart):
            name = part.title or f"part-{number:03d}"
            self.reports.append(
                self._unknown(number, CloudPart("", filename=name, type="", line=None), name, part, "unknown")
            )
            return
        name = f"part-{number:03d}" if part.filename is None else part.filename
        if part.type == JINJA:
            self.reports.append(self._template(number, part, name))
        elif part.type in (CLOUD_CONFIG, JSONP):
            self.reports.append(self._of_other_program(number, part, name))
        elif part.type in SCRIPTS:
            self.reports.append(PartReport(number, part, name, "script"))
        elif part.type in INCLUDES and not part.headers:
            # An include in an archive has headers, and cloud-init ignores it.
            layer = Layer.unknown(*_named(part, name), f"is {veiled(part.text)!r}, which was not fetched")
            self.reports.append(self._unknown(number, part, name, layer, "include"))
        else:
            self.reports.append(PartReport(number, part, name, "ignored" if part.body else "empty"))

    def _template(self, number: int, part: CloudPart, name: str) -> PartReport:
        """Render a template, and handle the result like a part with that text; a patch in it is a config."""
        title, origin = _named(part, name)
        try:
            is_rendered = part.lines and part.indent is not None
            template = None if is_rendered else template_in(part.text)
            if template is None:
                raise CloudConfigError(TEMPLATE, "a template begins with its first line", line=1)
            layer = unrendered(self.data, template, title, origin, _keys_in(part))
            if layer is not None:
                return self._unknown(number, part, name, layer, "template")
            assert self.data is not None
            text, lines = self._rendered(self.data, template)
            if part.lines:
                lines = tuple(part.lines[min(line, len(part.lines)) - 1] for line in lines)
        except TooMuch as passed:
            passed_limit = past_a_limit(passed, "the template")
            return PartReport(number, part, name, "failed", error=self._placed(passed_limit, part, name))
        except CloudConfigError as raised:
            return PartReport(number, part, name, "failed", error=self._placed(raised, part, name))
        if REDACTED in text:
            why = "is rendered with a secret that the instance data withholds"
            return self._unknown(number, part, name, Layer.unknown(title, origin, why), "template")
        part, kind = part._replace(body=text, lines=lines), type_of_text(text)
        if kind in (CLOUD_CONFIG, JSONP):
            return self._handled(number, part, name)
        is_script = kind in ("text/x-shellscript", "text/cloud-boothook")
        return PartReport(number, part, name, "script" if is_script else "ignored" if text else "empty")

    def _rendered(self, data: InstanceData, template: str) -> tuple[str, tuple[int, ...]]:
        """The text of a template, and the line of the template for each of its lines. raises: CloudConfigError"""
        budget = self.effort.budget
        try:
            text = data.render(template, budget)
            budget.bytes(len(text))
            return text, data.lines(template, text, budget)
        except TooMuch as passed:
            raise past_a_limit(passed, "the template") from None

    def _of_other_program(self, number: int, part: CloudPart, name: str) -> PartReport:
        """Handle a config. A template of another program is rendered with placeholders if the machine is unknown.

        Otherwise it is taken as it is; where that is refused, it is an unknown layer, too.
        """
        if self.data is None or not self.data.is_missing or (language := part.filled_in_by) is None:
            body = unescaped(part.text) if part.language else part.body
            report = self._handled(number, part._replace(body=body), name)._replace(part=part)
            if report.error is not None and number not in self.unknown and (language := part.filled_in_by):
                layer = Layer.unknown(*_named(part, name), f"is a template, which {language.name} renders")
                self._unknown(number, part, name, layer, report.status)
            return report
        first, _, rest = part.text.partition("\n")
        try:
            text, lines = self._rendered(self.data, filled_as_jinja(rest, language) or rest)
        except CloudConfigError as raised:
            return PartReport(number, part, name, "failed", error=self._placed(raised, part, name))
        filled = part._replace(body=f"{first}\n{text}", lines=(1, *lines), language=language)
        return self._handled(number, filled, name)

    def _unknown(self, number: int, part: CloudPart, name: str, layer: Layer, status: Status) -> PartReport:
        """Merge an unknown layer in place of a part: it may have any definition, and set anything."""
        self._open_folding().lay(Part(layer.value, number), ANY_DEFINITION)
        self.unknown[number] = layer
        self.merged_parts.append(MergedPart(number, part, name, ANY_DEFINITION, None))
        return PartReport(number, part, name, status)

    def _open_folding(self) -> Folding:
        if self.folding is None:
            self.folding = Folding(start=Part({}, 0), growing=True)
        elif self.folding.result.value is None:
            # A patch has replaced the whole config by null: cloud-init begins with an empty one again.
            self.folding.change(lambda before, laid: Part({}, 0))
            self.merged_parts.append(self.merged_parts[-1]._replace(policy=None, laid=None, steps=1))
        return self.folding

    def _handled(self, number: int, part: CloudPart, name: str) -> PartReport:
        folding, self.has_config = self._open_folding(), True
        try:
            text = part.text
            if part.body == b"":
                raise CloudConfigError(VALUE, "the part holds something else than text")
            if part.type == JSONP:
                self.effort.read(text)
                self.effort.all()
                operations = operations_of(text)
                folding.change(*patch_changes(operations, self.effort.budget), of=patch_values(operations, number))
                self.merged_parts.append(MergedPart(number, part, name, None, None, steps=len(operations)))
                return PartReport(number, part, name, "merged")
            repeated: list[RepeatedKey] = []
            config = load_config(text, self.effort.budget.renewed(), self.release, repeated)
            self.effort.read(text, config)
            own, rest, source = own_definition(config, part.headers)
            used, source = self._used(own, source)
            policy = policy_of(used, self.mode)
            if used.is_built_in:
                self.effort.meeting(folding.result.value, rest)
            else:
                self.effort.all()
            laid = Part(rest, number)
            lay(folding, laid, policy)
            self.merged_parts.append(MergedPart(number, part, name, policy, laid))
            if own.mergers:
                self.stack.append((own, f"part {number}"))
            return PartReport(number, part, name, "merged", used, source, repeated=repeated)
        except MissingExtra:
            raise
        except RecursionError:
            error: NodeattrsError = CloudConfigError(TOO_DEEP, "nested too deep to be merged")
        except TooMuch as passed:
            error = past_a_limit(passed, "all so far")
        except NodeattrsError as raised:
            error = raised
        error = self._placed(error, part, name)
        if error.kind == UNKNOWN_MERGER or NOT_RUN in error.message:  # on the machine cloud-init may have the merger
            self._unknown(number, part, name, Layer.unknown(*_named(part, name), error.message), "failed")
        return PartReport(number, part, name, status_of(error), error=error)

    def _placed(self, error: NodeattrsError, part: CloudPart, name: str) -> NodeattrsError:
        """A copy of an error with the name of the part, and with the line of the file where it is known."""
        title = PartReport(0, part, name, "failed").title
        shown = title if part.file is None or title.startswith(part.file) else f"{part.file} {name}"
        at = part.at if part.file is not None else part._replace(line=1).at
        if isinstance(error, MergeConflict):
            path = tuple(error.path or ())
            origin = YamlLocator(part.text, Origin("part", "", shown), at).at(path)
            details = [f"what was there is set by {old}" for old in self._setters_before(path)]
            return MergeConflict(
                f"{origin.place}: {error.message}", path=path, origins=(origin,), details=details, hint=error.hint
            )
        if not isinstance(error, CloudConfigError):
            return error
        line = error.line
        if line is None and error.kind in (FORMAT, DEFINITION, UNKNOWN_MERGER):
            written = None if "in the header" in error.reason else _WRITTEN.search(part.text)
            line = None if written is None else part.text.count("\n", 0, written.start()) + 1
        line = None if line is None else at(line)
        return CloudConfigError(error.kind, error.reason, file=shown, line=line, column=error.column, hint=error.hint)

    def _setters_before(self, path: TreePath) -> list[str]:
        """The titles of the parts that set a path so far."""
        origins = self.folding.result.origins if self.folding is not None else ()
        for step in path:
            origins = origins_at(origins, step)
        return [self.reports[number - 1].title for number in sources(origins) if number]

    def _used(self, own: Definition, source: str) -> tuple[Definition, str]:
        if self.how is not None:
            return self.how, "asked"
        if self.mode == "documented":
            policy_of(own, self.mode)  # an error in it is an error of its own part
            return self.stack[-1]
        return (own, source) if own.mergers else (PART_DEFAULT, "default")

    def merged(self) -> Merged:
        rows = () if self.folding is None else (Row(self.folding, tuple(self.merged_parts)),)
        result = self.folding.result if self.folding is not None and self.has_config else None
        return Merged(result, tuple(self.reports), rows, self.unknown, self.rules, tuple(self.sources))


def without_types(merged: Merged, types: Collection[str]) -> Merged:
    """A new `Merged` of the same parts without the parts of some types. These get the status "disabled".

    Includes are kept. *merged* must have `rules`, so it must not be a merge of layers.

    types: content types, such as "text/x-shellscript"
    """
    assert merged.rules is not None
    run = _Run(merged.rules, Budget("user-data"))
    for report, source in zip(merged.parts, merged.sources, strict=True):
        if report.part.type in types and report.status != "include":
            run.sources.append(source)
            run.reports.append(report._replace(status="disabled", error=None))
        else:
            run.take(source)
    return run.merged()
