"""The result of merging: the config, what became of each part, and why each value is what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nodeattrs.adapters.cloudinit.loading import dumped, independent
from nodeattrs.adapters.cloudinit.parts import JSONP, PartReport
from nodeattrs.adapters.cloudinit.steps import Row, Step, steps_of
from nodeattrs.core.claim import Claim, Origin, Speaker
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT, Path, dig, parse

if TYPE_CHECKING:
    from nodeattrs.adapters.cloudinit.changes import PartChanges
    from nodeattrs.adapters.cloudinit.lints import Warned
    from nodeattrs.core.fold import Layer
    from nodeattrs.core.trace import Trace
    from nodeattrs.core.walk import Setting, Walk

__all__ = ["Merged"]

# Explanations, differences and warnings are imported when one is asked for: a merge needs none of them.


class Merged:
    """A merged config that can say where each part of it came from.

    parts:   what became of each part or source, in order
    rows:    how they were merged; the last row gave the result
    unknown: the layers that cannot be read, by their number

    >>> from nodeattrs.adapters.cloudinit import merge
    >>> merged = merge(["#cloud-config\\nhostname: a", "#cloud-config\\nhostname: b"])
    >>> for heard in merged.trace("hostname").heard:
    ...     print(heard.fate.value, heard.claim.value, heard.claim.origin, heard.why or "-")
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
        self._speakers: dict[int, Speaker] = {}

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

        return tuple(warnings_of(self.parts, self.steps))

    @property
    def value(self) -> dict[Any, Any]:
        """The merged config; {} where there is none."""
        return self.config or {}

    def to_dict(self) -> dict[str, Any]:
        """The config, and what became of the parts, as data."""
        return {"version": 1, "config": self.config, "parts": [report.to_dict() for report in self.parts]}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Each joining, in order, with the result before and after it. cost: that of the merge"""
        return tuple(steps_of(self.rows))

    # --- why ----------------------------------------------------------------------------

    def changes(self) -> Iterator[PartChanges]:
        """What each part did to the result so far, part by part."""
        from nodeattrs.adapters.cloudinit.changes import changes_of

        return changes_of(self.steps)

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Everyone who set what stands at *path*: file and line; nobody where nothing stands."""
        steps = _steps_of(path)
        if dig(self.value, steps) is ABSENT:
            return ()
        return tuple(dict.fromkeys(self._claim(setting).origin for setting in self._walk(steps).standing))

    def _walk(self, steps: Path) -> Walk:
        from nodeattrs.adapters.cloudinit.twice import told_twice
        from nodeattrs.core.folding import Folding
        from nodeattrs.core.tracing import walk

        folding = told_twice(self.rows[-1].folding if self.rows else Folding(), steps, self._speaker)
        found, told = walk(folding, steps), folding
        for one in found.standing:  # a patch may have moved what was written under another key
            if [step for step in one.own if type(step) is str] != [step for step in steps if type(step) is str]:
                told = told_twice(told, one.own, self._speaker)
        return found if told is folding else walk(told, steps)

    def _claim(self, setting: Setting) -> Claim:
        layer = self.unknown.get(setting.source)
        value = setting.value if layer is None else layer.value
        return Claim(setting.path, value, setting.source, self._speaker(setting.source).at(setting.own))

    def definition_origin(self, number: int) -> Origin | None:
        """Where the definition of the part *number* is written; None for a default, or where none was read."""
        report = self.parts[number - 1]
        if report.source.startswith("body "):
            return self._speaker(number).at((report.source.split()[1],))
        return self._origin_of(report) if report.source.startswith("header ") else None

    def _speaker(self, number: int) -> Speaker:
        speaker = self._speakers.get(number)
        if speaker is None:
            speaker = self._speakers[number] = self._speaker_of(self.parts[number - 1])
        return speaker

    def _speaker_of(self, report: PartReport) -> Speaker:
        from nodeattrs.adapters.cloudinit.patching import PatchSpeaker
        from nodeattrs.adapters.cloudinit.places import YamlSpeaker

        part, origin = report.part, self._origin_of(report)
        if report.number in self.unknown:
            return self.unknown[report.number].origin
        if part.type == JSONP:
            return PatchSpeaker(part.text, lambda text: YamlSpeaker(text, origin, part.line, part.indent))
        return YamlSpeaker(part.text, origin, part.line, part.indent) if part.body else origin

    def _origin_of(self, report: PartReport) -> Origin:
        """The speaker of a part as a whole. Lines of a part that was packed count in the part, not in the file."""
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

    def trace(self, path: str | Path) -> Trace:
        """Every part that spoke about *path*, the winner first, with the rule that beat each loser.

        cost: the depth of the path times the number of parts
        """
        from nodeattrs.core.trace import traced

        steps = _steps_of(path)
        titles = {report.number: report.title for report in self.parts}
        # Parts without a file are all called part-001; only what lies in files can be laid twice.
        named = all(report.part.file for report in self.parts if report.part.type)
        return traced(self._walk(steps), steps, dig(self.value, steps), self._claim, titles, once=named)

    def explain(self, path: str | Path) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))


def _steps_of(path: str | Path) -> Path:
    return parse(path) if isinstance(path, str) else tuple(path)


def _clean(name: str) -> str:
    for odd in "\n\r\t":
        name = name.replace(odd, " ")
    return name.strip()
