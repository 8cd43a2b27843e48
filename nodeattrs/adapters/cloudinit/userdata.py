"""The parts of user-data joined to one config, each by its own definition; and what came of it.

`merge` is the handler of cloud-init for a whole user-data; nothing is run, fetched or
written. A part that cannot be merged leaves the result as it was. The folding keeps its steps,
so that what each part did, and who has set what, can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nodeattrs.adapters.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.adapters.cloudinit.mergers import (
    CONFIG_DEFAULT,
    PART_DEFAULT,
    Definition,
    Mode,
    lay,
    parse_definition,
    policy_of,
    take_definition,
)
from nodeattrs.adapters.cloudinit.merging import as_definition
from nodeattrs.adapters.cloudinit.parts import (
    CLOUD_CONFIG,
    INCLUDES,
    JSONP,
    SCRIPTS,
    CloudPart,
    Repeated,
    dumped,
    independent,
    load_config,
    measured,
)
from nodeattrs.adapters.cloudinit.steps import Joining, PartReport, Row, Step, status_of, steps_of
from nodeattrs.adapters.cloudinit.unpacking import unpack
from nodeattrs.core.borders import A_PATH, taking
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Cause, Claim, Locator, Origin
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, sources, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT, as_path, dig
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.errors import MergeConflict, MissingExtra, NodeattrsError, TooMuch, wrong_argument

if TYPE_CHECKING:
    from nodeattrs.adapters.cloudinit.lints import Warned
    from nodeattrs.adapters.cloudinit.steps import PartChanges
    from nodeattrs.core.fold import Layer
    from nodeattrs.core.trace import Trace
    from nodeattrs.core.walk import Setting, Walk


# Explanations, differences and warnings are imported when one is asked for: a merge needs none of them.

HEADERS = ("Merge-Type", "X-Merge-Type")
_WRITTEN = re.compile(r"^(merge_how|merge_type)\s*:", re.MULTILINE)


@taking(launch_index=int | None, include_root=A_PATH | None, budget=Budget | None)
def merge(
    parts: Iterable[Any],
    *,
    mode: Mode = "current",
    how: Any = None,
    launch_index: int | None = None,
    include_root: Path | None = None,
    budget: Budget | None = None,
) -> Merged:
    """Merge user-data as cloud-init does, offline.

    parts:        texts or bytes of whole user-data (cloud-config, MIME, gzip, archive, patch), paths
                  of such files, or `CloudPart`s; read one after the other into one row of parts
    mode:         "current": each part joins by its own definition; "documented": by the stack of
                  the older manual
    how:          a definition to use for every part instead of its own: a what-if
    launch_index: keep the parts for this index, and those without one
    include_root: the folder in which includes are looked up; nothing is ever fetched
    budget:       what unpacking and merging may take, all parts together
    raises:       CloudConfigError, where unpacking itself stops. A part that is rejected or fails
                  raises nothing: its report says so
    source:       docs/cloudinit.md

    >>> merged = merge(["#cloud-config\\npackages: [vim]", "#cloud-config\\npackages: [git]"])
    >>> merged.config, [warning.name for warning in merged.warnings]
    ({'packages': ['git']}, ['default-replaces'])
    """
    if mode not in get_args(Mode):
        raise wrong_argument(
            "the mode of a merge", " or ".join(map(repr, get_args(Mode))), mode, "leave it out for today's"
        )
    asked = None if how is None else as_definition(how)
    budget = budget or Budget("user-data")
    run = _Run(mode, asked, budget)
    for part in unpack(parts, launch_index=launch_index, include_root=include_root, budget=budget):
        run.take(part)
    return run.merged()


_READ_IN_A_STEP = 100
_PER_LEFT = 10


class _Effort:
    """What joining one part after the other takes.

    Each may make the result anew, and the result is no larger than all that was read before.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._read = 0

    def next(self, text: str) -> None:
        """One more part joins. raises: TooMuch"""
        self.budget.steps(self._read // _READ_IN_A_STEP)
        self._read += len(text)

    def read(self, text: str, config: Any) -> None:
        """What a text says; only where it has aliases this may be more than it wrote. raises: TooMuch, TooDeep"""
        if "*" in text:
            size = measured(config)
            self.budget.values(size)
            self._read += size


class _Run:
    def __init__(self, mode: Mode, how: Definition | None, budget: Budget) -> None:
        self.mode = mode
        self.effort = _Effort(budget)
        self.how = how
        self.folding: Folding | None = None
        self.reports: list[PartReport] = []
        self.joinings: list[Joining] = []
        self.stack: list[tuple[Definition, str]] = [(CONFIG_DEFAULT, "default")]

    def take(self, part: CloudPart) -> None:
        number = len(self.reports) + 1
        name = part.filename or f"part-{number:03d}"
        if part.type in (CLOUD_CONFIG, JSONP):
            self.reports.append(self._handled(number, part, name))
        elif part.type in SCRIPTS:
            self.reports.append(PartReport(number, part, name, "script"))
        elif part.type in INCLUDES:
            self.reports.append(PartReport(number, part, name, "include"))
        else:
            self.reports.append(PartReport(number, part, name, "ignored" if part.body else "empty"))

    def _handled(self, number: int, part: CloudPart, name: str) -> PartReport:
        if self.folding is None:
            self.folding = Folding(start=Part({}, 0), growing=True)
        elif self.folding.result.value is None:
            self._begin_anew(self.folding)
        try:
            self.effort.next(part.text)
            if part.type == JSONP:
                from nodeattrs.adapters.cloudinit.patching import changes_in, given_in, operations_of

                operations = operations_of(part.text)
                self.folding.change(*changes_in(operations, self.effort.budget), of=given_in(operations, number))
                self.joinings.append(Joining(number, part, name, None, None, steps=len(operations)))
                return PartReport(number, part, name, "merged")
            repeated: list[Repeated] = []
            config = load_config(part.text, self.effort.budget.whole(), repeated)
            self.effort.read(part.text, config)
            own, rest, source = _own_definition(config, part)
            used, source = self._used(own, source)
            policy = policy_of(used, self.mode)
            laid = Part(rest, number)
            lay(self.folding, laid, policy)
            self.joinings.append(Joining(number, part, name, policy, laid))
            if own:
                self.stack.append((own, f"part {number}"))
            return PartReport(number, part, name, "merged", used, source, repeated=repeated)
        except MissingExtra:
            raise
        except RecursionError:
            error: NodeattrsError = CloudConfigError("too-deep", "nested too deep to be merged")
        except TooMuch as passed:
            error = past_a_limit(passed, "all so far")
        except NodeattrsError as raised:
            error = raised
        error = self._placed(error, part, name)
        return PartReport(number, part, name, status_of(error), error=error)

    def _placed(self, error: NodeattrsError, part: CloudPart, name: str) -> NodeattrsError:
        """The error with the part's name, and the line of what it is about."""
        title = PartReport(0, part, name, "failed").title
        shown = title if part.file is None or title.startswith(part.file) else f"{part.file} {name}"
        first = part.line if part.line is not None and part.file is not None else 1
        if isinstance(error, MergeConflict):
            from nodeattrs.adapters.cloudinit.places import YamlLocator

            path = tuple(error.path or ())
            origin = YamlLocator(part.text, Origin("part", "", shown), first).at(path)
            details = [f"what was there is set by {old}" for old in self._setters_before(path)]
            return MergeConflict(
                f"{origin.place}: {error.message}", path=path, origins=(origin,), details=details, hint=error.hint
            )
        if not isinstance(error, CloudConfigError):
            return error
        line = error.line
        if line is None and error.kind in ("format", "definition", "unknown-merger"):
            written = None if "in the header" in error.reason else _WRITTEN.search(part.text)
            line = None if written is None else part.text.count("\n", 0, written.start()) + 1
        line = None if line is None else line + first - 1
        return CloudConfigError(error.kind, error.reason, file=shown, line=line, column=error.column, hint=error.hint)

    def _setters_before(self, path: TreePath) -> list[str]:
        """The titles of the parts whose word stands at a path so far."""
        origins = self.folding.result.origins if self.folding is not None else ()
        for step in path:
            origins = origins_at(origins, step)
        return [self.reports[number - 1].title for number in sources(origins) if number]

    def _used(self, own: Definition, source: str) -> tuple[Definition, str]:
        if self.how is not None:
            return self.how, "asked"
        if self.mode == "documented":
            policy_of(own, self.mode)  # one that cannot be built fails its own part, not the next one
            return self.stack[-1]
        return (own, source) if own else (PART_DEFAULT, "default")

    def _begin_anew(self, folding: Folding) -> None:
        """A patch has put null in place of the whole config: cloud-init goes on with nothing."""
        folding.change(lambda before, laid: Part({}, 0))
        self.joinings.append(replace(self.joinings[-1], policy=None, laid=None, steps=1))

    def merged(self) -> Merged:
        if self.folding is None:
            return Merged(None, tuple(self.reports))
        return Merged(self.folding.result, tuple(self.reports), (Row(self.folding, tuple(self.joinings)),))


def _own_definition(config: dict[Any, Any], part: CloudPart) -> tuple[Definition, dict[Any, Any], str]:
    """What body and header ask for together, the body first; the config without it; and who asked."""
    body, rest, key = take_definition(config)
    name = next((name for name in HEADERS if part.headers.get(name)), None)
    text = "" if name is None else part.headers[name]
    if not isinstance(text, str):
        raise CloudConfigError("definition", f"the header {name} is no plain text")
    try:
        header = parse_definition(text)
    except CloudConfigError as error:
        raise CloudConfigError("format", f"in the header {name}: {error.reason}", hint=error.hint) from error
    sources = [f"body {key}"] * bool(body) + [f"header {name}"] * bool(header)
    return body + header, rest, " and ".join(sources)


class Merged:
    """A merged config that can say where each part of it came from.

    parts:   what became of each part or source, in order
    rows:    how they were merged; the last row gave the result
    unknown: the layers that cannot be read, by their number

    >>> from nodeattrs.adapters.cloudinit import merge
    >>> merged = merge(["#cloud-config\\nhostname: a", "#cloud-config\\nhostname: b"])
    >>> for claim in merged.trace("hostname").claims:
    ...     print(claim.outcome.value, claim.value, claim.origin, claim.why or "-")
    wins b part-002:2 (part) -
    loses a part-001:2 (part) dict(replace): the new value replaces the old one (dict(replace)+list()+str())
    """

    def __init__(
        self,
        result: Part | None,
        parts: tuple[PartReport, ...],
        rows: tuple[Row, ...] = (),
        unknown: Mapping[int, Layer] | None = None,
    ) -> None:
        self.parts = parts
        self.rows = rows
        self.unknown = dict(unknown or {})
        self._result = result
        self._locators: dict[int, Locator] = {}

    @cached_property
    def config(self) -> dict[Any, Any] | None:
        """The merged config; {} if parts came and none was merged, None if no cloud-config came at all."""
        return None if self._result is None else independent(self._result.value)

    @property
    def text(self) -> str:
        """The file that cloud-init writes, byte for byte; empty where no cloud-config came."""
        if self._result is None or self._result.value is None:
            return ""
        names = [_clean(joining.filename) for row in self.rows for joining in row.joinings]
        lines = ["#cloud-config", ""]
        if names:
            lines += [f"# from {len(names)} files", *(f"# {name or '?'}" for name in names), ""]
        lines += [
            f"# Cloud-config part ignored SCHEMA_ERROR: {_clean(report.filename)}"
            for report in self.parts
            if report.status == "rejected"
        ]
        return "\n".join([*lines, dumped(self._result.value)])

    @property
    def ok(self) -> bool:
        """Whether no part was rejected and none failed."""
        return all(report.ok for report in self.parts)

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The traps that these parts fall into; looked for when first asked."""
        from nodeattrs.adapters.cloudinit.lints import warnings_of

        return tuple(warnings_of(self.parts, self.rows, self.value))

    @property
    def value(self) -> dict[Any, Any]:
        """The merged config; {} where there is none."""
        return self.config or {}

    def to_dict(self) -> dict[str, Any]:
        """The config, and what became of the parts, as data."""
        return {"version": 1, "config": self.config, "parts": [report.to_dict() for report in self.parts]}

    @property
    def steps(self) -> Iterator[Step]:
        """Each joining, in order, with the result before and after it; none is kept. cost: that of the merge"""
        return steps_of(self.rows)

    # --- why ----------------------------------------------------------------------------

    def changes(self) -> Iterator[PartChanges]:
        """What each part did to the result so far, part by part."""
        from nodeattrs.adapters.cloudinit.steps import changes_of

        return changes_of(steps_of(self.rows))

    def origins(self, path: str | TreePath) -> tuple[Origin, ...]:
        """Everyone who set what stands at *path*: file and line; nobody where nothing stands."""
        steps = as_path(path)
        if dig(self.value, steps) is ABSENT:
            return ()
        return tuple(dict.fromkeys(self._claim(setting).origin for setting in self._walk(steps).standing))

    def _walk(self, steps: TreePath) -> Walk:
        from nodeattrs.adapters.cloudinit.places import with_earlier
        from nodeattrs.core.folding import Folding
        from nodeattrs.core.tracing import walk

        self._can_be_walked()
        folding = with_earlier(self.rows[-1].folding if self.rows else Folding(), steps, self._locator)
        found, last = walk(folding, steps), folding
        for one in found.standing:  # a patch may have moved what was written under another key
            if [step for step in one.own if type(step) is str] != [step for step in steps if type(step) is str]:
                last = with_earlier(last, one.own, self._locator)
        return found if last is folding else walk(last, steps)

    def _can_be_walked(self) -> None:
        """Each operation of a patch is looked at with all that it leaves. raises: TooMuch"""
        operations = sum(one.steps for row in self.rows for one in row.joinings if one.policy is None)
        if operations and self._result is not None:
            Budget("the explanation").steps(_PER_LEFT * operations * measured(self._result.value))

    def _claim(self, setting: Setting) -> Claim:
        layer = self.unknown.get(setting.source)
        value = setting.value if layer is None else layer.value
        return Claim(setting.path, value, setting.source, self._locator(setting.source).at(setting.own))

    def definition_origin(self, number: int) -> Origin | None:
        """Where the definition of the part *number* is written; None for a default, or where none was read."""
        report = self.parts[number - 1]
        if report.source.startswith("body "):
            return self._locator(number).at((report.source.split()[1],))
        return self._origin_of(report) if report.source.startswith("header ") else None

    def place_of(self, warned: Warned) -> Origin:
        """Where what a warning is about is written; of the merged config, by whoever is read there first."""
        if not warned.number:
            return self._place_at(warned.path or ())
        if warned.place is not None:
            part, (line, column) = self.parts[warned.number - 1].part, warned.place
            return self._origin_of(self.parts[warned.number - 1]).moved(
                line - 1 + (part.line or 1), column + part.indent
            )
        if warned.path is not None:
            return self._locator(warned.number).at(warned.path)
        return self.definition_origin(warned.number) or self._origin_of(self.parts[warned.number - 1])

    def _place_at(self, path: TreePath) -> Origin:
        while path and dig(self.value, path) is ABSENT:
            path = path[:-1]
        origins = self._located.origins
        for step in path:
            origins = origins_at(origins, step)
        at = next(wholes(origins, path), None)
        return Origin("config") if at is None or not at.source else self._locator(at.source).at(at.path)

    @cached_property
    def _located(self) -> Part:
        """The result with its places: many questions about it cost one more merge, and not a walk each."""
        return self.rows[-1].folding.located() if self.rows else Part({}, ())

    def _locator(self, number: int) -> Locator:
        locator = self._locators.get(number)
        if locator is None:
            locator = self._locators[number] = self._locator_of(self.parts[number - 1])
        return locator

    def _locator_of(self, report: PartReport) -> Locator:
        from nodeattrs.adapters.cloudinit.patching import PatchLocator
        from nodeattrs.adapters.cloudinit.places import YamlLocator

        part, origin = report.part, self._origin_of(report)
        if report.number in self.unknown:
            return self.unknown[report.number].origin
        if part.type == JSONP:
            return PatchLocator(part.text, lambda text: YamlLocator(text, origin, part.line, part.indent))
        return YamlLocator(part.text, origin, part.line, part.indent) if part.body else origin

    def _origin_of(self, report: PartReport) -> Origin:
        """The origin of a part as a whole. Lines of a part that was packed count in the part, not in the file."""
        part = report.part
        if not part.type:
            return Origin("layer", report.filename)
        folded = any(one.folded for row in self.rows for one in row.joinings if one.number == report.number)
        kind = "patch" if part.type == JSONP else "file" if folded else "part"
        if part.file is None:
            return Origin(kind, "", report.filename, part.line)
        if part.line is None:
            return Origin(kind, f"of {part.file}", report.filename)
        alone = report.title == part.file or report.filename in (part.file, part.file.rpartition("/")[2])
        name = "" if alone else report.filename
        return Origin(kind, name, part.file, part.line)

    def trace(self, path: str | TreePath) -> Trace:
        """Every part that set *path*, the winner first, with the rule that overrode each other one.

        cost: the depth of the path times the number of parts
        """
        from nodeattrs.core.trace import traced

        steps = as_path(path)
        titles = {report.number: report.title for report in self.parts}
        # Parts without a file are all called part-001; only what lies in files can be laid twice.
        named = all(report.part.file for report in self.parts if report.part.type)
        return traced(self._walk(steps), steps, dig(self.value, steps), self._claim, titles, once=named)

    def causes(self, path: str | TreePath) -> tuple[Cause, ...]:
        """The lines that decide how those who set *path* are merged: headers, merge_how, merge_type."""
        numbers = dict.fromkeys(stated.rank for stated in self.trace(path).claims)
        reports = [(self.parts[number - 1], self.definition_origin(number)) for number in numbers]
        return tuple(Cause(f"{one.title} joins by {one.definition}", at) for one, at in reports if at is not None)

    def explain(self, path: str | TreePath) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))


def _clean(name: str) -> str:
    for odd in "\n\r\t":
        name = name.replace(odd, " ")
    return name.strip()
