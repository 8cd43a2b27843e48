"""The result of a merge: the config, a report of each part, and explanations of each value; and a copy without secrets.

A method of `Merged` computes an explanation from the steps that the merge has kept, when it is called. The rules of the
merge are in `mergers` and `userdata`. `masked` makes a copy for printing. The texts of its parts keep their secrets:
code that prints must not print these texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Cause, Claim, Locator, Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, Path, as_path, dig
from nodeattrs.core.walk import SetValue, Walk
from nodeattrs.dialects.cloudinit.lints import Warned, warnings_of
from nodeattrs.dialects.cloudinit.mergers import Definition, Mode
from nodeattrs.dialects.cloudinit.parts import JSONP, CloudPart, dumped, independent, value_count
from nodeattrs.dialects.cloudinit.patching import PatchLocator
from nodeattrs.dialects.cloudinit.places import YamlLocator, with_earlier
from nodeattrs.dialects.cloudinit.releases import Release
from nodeattrs.dialects.cloudinit.secrets import WITHHELD, guarded
from nodeattrs.dialects.cloudinit.steps import Change, PartChanges, PartReport, Row, changes_of
from nodeattrs.dialects.cloudinit.templates import InstanceData

_PER_LEFT = 10


class MergeRules(NamedTuple):
    """The settings of one call of `merge`, kept to merge the same parts again.

    mode:    "current": as cloud-init does; "documented": as its older manual says
    how:     the merge definition for every part; None: each part has its own
    release: the release of cloud-init whose behaviour is followed
    data:    variables for templates; None: each template is an unknown layer
    """

    mode: Mode
    how: Definition | None
    release: Release
    data: InstanceData | None


class Merged:
    """A merged config, with a report for each part, and explanations of each value. `merge` and `merge_layers` make it.

    result:  the merged config with the origins of its values; None without a config
    parts:   the report of each part or source, in order
    rows:    the foldings, which are the merges that were done in order; the last one gave the result
    unknown: number of a part that could not be read -> the unknown layer that replaces it
    rules:   the settings of `merge`; None for merged layers
    sources: the parts as `merge` unpacked them, before templates were rendered; () for merged layers

    Secrets are not masked; `masked` makes a copy for printing.
    `config` is a copy of the result, or None if no part has a config. `value` is the same, but {} instead of None.
    `text` is the file that cloud-init writes, with comments that name the parts. `ok` is True if no part was rejected
    or failed. `warnings` is computed at its first use, and `place_of` finds the line of a warning. `definition_origin`
    finds the line of a part's merge definition. `changes` yields what each part changed.
    `trace`, `origins`, `causes` and `explain` take a path. If no part set the path they give an empty trace, (), () and
    a text that says so. They apply the operations of patches again, and raise TooMuch beyond the limit on steps.

    >>> from nodeattrs.dialects.cloudinit.userdata import merge
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
        rules: MergeRules | None = None,
        sources: tuple[CloudPart | Layer, ...] = (),
    ) -> None:
        self.parts = parts
        self.rows = rows
        self.rules = rules
        self.sources = sources
        self.unknown = dict(unknown or {})
        self._result = result
        self._locators: dict[int, Locator] = {}

    @cached_property
    def config(self) -> dict[Any, Any] | None:
        """A copy of the merged config. {} if all cloud-configs failed. None if no part is a cloud-config or patch."""
        return None if self._result is None else independent(self._result.value)

    @property
    def text(self) -> str:
        """The file that cloud-init writes, byte for byte, without unknown parts; "" where `config` is None.

        Comments name the merged parts and, since release 23.3, the rejected ones. Secrets are not masked.
        """
        if self._result is None or self._result.value is None:
            return ""
        merged_parts = [one for row in self.rows for one in row.merged_parts if one.number not in self.unknown]
        names = [_in_a_line(merged_part.filename.replace("\t", " ")) for merged_part in merged_parts]
        lines = ["#cloud-config", ""]
        if names:
            lines += [f"# from {len(names)} files", *(f"# {name or '?'}" for name in names), ""]
        lines += [
            f"# Cloud-config part ignored SCHEMA_ERROR: {_in_a_line(report.filename)}"
            for report in self.parts
            if report.status == "rejected" and (self.rules is None or self.rules.release.notes)
        ]
        return "\n".join([*lines, dumped(self._result.value)])

    @property
    def ok(self) -> bool:
        """Whether no part was rejected and none failed."""
        return all(report.ok for report in self.parts)

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The warnings of `lints` about the parts and the merged config; looked for at the first access."""
        return tuple(warnings_of(self.parts, self.rows, self.value))

    @property
    def value(self) -> dict[Any, Any]:
        """The merged config; {} where there is none."""
        return self.config or {}

    def to_dict(self) -> dict[str, Any]:
        """The config and the report of each part, as data; dates and bytes in the config stay what they are."""
        return {"version": 1, "config": self.config, "parts": [report.to_dict() for report in self.parts]}

    # Explanations

    def changes(self) -> Iterator[PartChanges]:
        """Yield the changes that each part made to the config merged before it, in the order of the merge.

        raises: TooMuch
        """
        return changes_of(self.rows)

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """The origins (file and line) of the value at *path*, the winner's first; () where the path is not set."""
        steps = as_path(path)
        if dig(self.value, steps) is ABSENT:
            return ()
        return tuple(dict.fromkeys(self._claim(setting).origin for setting in self._walk(steps).standing))

    def _walk(self, steps: Path) -> Walk:
        operations = sum(one.steps for row in self.rows for one in row.merged_parts if one.policy is None)
        if operations and self._result is not None:  # each operation of a patch is applied again
            Budget("the explanation").steps(_PER_LEFT * operations * value_count(self._result.value))
        folding = with_earlier(self.rows[-1].folding if self.rows else Folding(), steps, self._locator)
        found, last = walk(folding, steps), folding
        for one in found.standing:  # a patch may have moved a value from another key
            if [step for step in one.own if type(step) is str] != [step for step in steps if type(step) is str]:
                last = with_earlier(last, one.own, self._locator)
        return found if last is folding else walk(last, steps)

    def _claim(self, setting: SetValue) -> Claim:
        layer = self.unknown.get(setting.source)
        value = setting.value if layer is None else layer.value
        return Claim(setting.path, value, setting.source, self._locator(setting.source).at(setting.own))

    def definition_origin(self, number: int) -> Origin | None:
        """The line of a part's own merge definition; the whole part if a header has it. None without a definition.

        number: the number of the part, from 1
        """
        report = self.parts[number - 1]
        if report.source.startswith("body "):
            return self._locator(number).at((report.source.split()[1],))
        return self._origin_of(report) if report.source.startswith("header ") else None

    def place_of(self, warned: Warned) -> Origin:
        """The place of a warning.

        A warning about a part has its own place in the text, or the place of its path. Without both, it is the place of
        the part's definition, or of the whole part. For a warning about the merged config (number 0), it is the line of
        the first part that set the warning's path, or the nearest path above. If no part did, the place has no file.
        """
        if not warned.number:
            return self._place_at(warned.path or ())
        if warned.place is not None:
            part, (line, column) = self.parts[warned.number - 1].part, warned.place
            return self._origin_of(self.parts[warned.number - 1]).moved(part.at(line), part.column(column))
        if warned.path is not None:
            return self._locator(warned.number).at(warned.path)
        return self.definition_origin(warned.number) or self._origin_of(self.parts[warned.number - 1])

    def _place_at(self, path: Path) -> Origin:
        while path and dig(self.value, path) is ABSENT:
            path = path[:-1]
        origins = self._located.origins
        for step in path:
            origins = origins_at(origins, step)
        at = next(wholes(origins, path), None)
        return Origin("config") if at is None or not at.source else self._locator(at.source).at(at.path)

    @cached_property
    def _located(self) -> Part:
        """The result with the path in its source as the origin of each value; one more merge, for many warnings."""
        return self.rows[-1].folding.located() if self.rows else Part({}, ())

    def _locator(self, number: int) -> Locator:
        locator = self._locators.get(number)
        if locator is None:
            locator = self._locators[number] = self._locator_of(self.parts[number - 1])
        return locator

    def _locator_of(self, report: PartReport) -> Locator:
        part, origin = report.part, self._origin_of(report)
        if report.number in self.unknown:
            return self.unknown[report.number].origin
        if part.type == JSONP:
            return PatchLocator(part.text, lambda text: YamlLocator(text, origin, part.at, part.column))
        return YamlLocator(part.text, origin, part.at, part.column) if part.body else origin

    @cached_property
    def _folded(self) -> set[int]:
        """The numbers of the parts that are conf.d files or layers."""
        return {one.number for row in self.rows for one in row.merged_parts if one.folded}

    def _origin_of(self, report: PartReport) -> Origin:
        """The origin of a whole part; its name is "of FILE" where lines count in the part, and not in the file."""
        part = report.part
        if not part.type:
            return Origin("layer", report.filename)
        kind = "patch" if part.type == JSONP else "file" if report.number in self._folded else "part"
        if part.file is None:
            return Origin(kind, "", report.filename, part.line)
        if part.line is None:
            return Origin(kind, f"of {part.file}", report.filename)
        alone = report.title == part.file or report.filename in (part.file, part.file.rpartition("/")[2])
        name = "" if alone else report.filename
        return Origin(kind, name, part.file, part.line)

    def trace(self, path: str | Path) -> Trace:
        """The trace of *path*: each part that set it, the winner first, and the rules that overrode the others.

        A path that no part set has a trace without claims. cost: the depth of the path times the number of parts
        """
        steps = as_path(path)
        titles = {report.number: report.title for report in self.parts}
        # Parts without a file are all called part-001, so equal places do not mean the same line.
        named = all(report.part.file for report in self.parts if report.part.type)
        return traced(self._walk(steps), steps, dig(self.value, steps), self._claim, titles, once=named)

    def causes(self, path: str | Path) -> tuple[Cause, ...]:
        """The lines with the merge definitions of the parts that set *path*; a part without its own has none."""
        numbers = dict.fromkeys(stated.rank for stated in self.trace(path).claims)
        reports = [(self.parts[number - 1], self.definition_origin(number)) for number in numbers]
        return tuple(Cause(f"{one.title} joins by {one.definition}", at) for one, at in reports if at is not None)

    def explain(self, path: str | Path) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))


def _in_a_line(name: str) -> str:
    return name.replace("\n", " ").replace("\r", " ").strip()


# --- a copy for printing


class _MaskedConfig(Merged):
    """A merged config for printing. `value` is masked at once; claims and changes are masked when they are computed."""

    def __init__(self, of: Merged, sensitive: Iterable[Path]) -> None:
        self._guarded = partial(guarded, sensitive=tuple(sensitive))
        result = of._result and Part(self._guarded((), of._result.value), of._result.origins)
        super().__init__(result, of.parts, of.rows, of.unknown, of.rules)

    @cached_property
    def _parts(self) -> dict[int, Any]:
        laid = [(one.number, one.laid) for row in self.rows for one in row.merged_parts]
        return {number: self._guarded((), part.value) for number, part in laid if part is not None}

    def _shown(self, path: Path, value: Any) -> Any:
        hidden = value is not ABSENT and dig(self.value, path) == WITHHELD
        return WITHHELD if hidden else self._guarded(path, value)

    def _claim(self, setting: SetValue) -> Claim:
        claim = super()._claim(setting)
        hidden = dig(self._parts.get(setting.source), setting.own) == WITHHELD
        return replace(claim, value=WITHHELD if hidden else self._shown(setting.path, claim.value))

    def changes(self) -> Iterator[PartChanges]:
        """The changes of each part, as `Merged.changes` yields them, with secrets masked."""
        for step in super().changes():
            yield step._replace(changes=tuple(map(self._changed, step.changes)))

    def _changed(self, change: Change) -> Change:
        return change._replace(old=self._shown(change.path, change.old), new=self._shown(change.path, change.new))


def masked(merged: Merged, sensitive: Iterable[Path] = ()) -> Merged:
    """A copy of a merged config for printing, in which each secret is replaced by "Sensitive(withheld)".

    `secrets` decides which values are secret; *sensitive* adds further paths. Traces and changes hide secrets, too.

    >>> from nodeattrs.dialects.cloudinit.userdata import merge
    >>> masked(merge(["#cloud-config\\npassword: hunter2"])).config
    {'password': 'Sensitive(withheld)'}
    """
    return _MaskedConfig(merged, sensitive)
