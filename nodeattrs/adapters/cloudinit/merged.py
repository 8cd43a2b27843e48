"""The result of merging: the config, what became of each part, and why each value is what it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nodeattrs.adapters.cloudinit.loading import dumped
from nodeattrs.adapters.cloudinit.parts import JSONP, PartReport
from nodeattrs.adapters.cloudinit.steps import Step, renumbered_step
from nodeattrs.adapters.cloudinit.trees import independent
from nodeattrs.core.claim import Origin, Speaker
from nodeattrs.core.origins import origins_at, sources
from nodeattrs.core.part import Part
from nodeattrs.core.tree import ABSENT, Path, dig, parse

if TYPE_CHECKING:
    from nodeattrs.adapters.cloudinit.changes import PartChanges
    from nodeattrs.adapters.cloudinit.lints import Warned
    from nodeattrs.core.trace import Trace

__all__ = ["Merged", "renumbered"]

# Explanations, differences and warnings are imported when one is asked for: a merge needs none of them.


class Merged:
    """A merged config that can say where each part of it came from.

    parts: what became of each part or source, in order

    >>> from nodeattrs.adapters.cloudinit import merge
    >>> merged = merge(["#cloud-config\\nhostname: a", "#cloud-config\\nhostname: b"])
    >>> print(merged.explain("hostname"))
    hostname = "b"
      wins   2 part-002  "b"  part-002:2 (part)
      loses  1 part-001  "a"  part-001:2 (part)  beaten by 2: dict(replace): the new value replaces the old one
    """

    def __init__(self, result: Part | None, parts: tuple[PartReport, ...], steps: tuple[Step, ...]) -> None:
        self.parts = parts
        self._result = result
        self._steps = steps
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
        names = [_clean(step.filename) for step in self._steps]
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

        return tuple(warnings_of(self.parts, self._steps))

    @property
    def result(self) -> Part:
        """The merged value with its origins, for further merging; never to be changed."""
        return self._result if self._result is not None else Part({}, 0)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Each meeting, in order."""
        return self._steps

    # --- why ----------------------------------------------------------------------------

    def changes(self) -> Iterator[PartChanges]:
        """What each part did to the result so far, part by part."""
        from nodeattrs.adapters.cloudinit.changes import changes_of

        return changes_of(self._steps)

    def origins(self, path: str | Path) -> tuple[Origin, ...]:
        """Everyone who said what stands at *path*: file and line; nobody where nothing stands."""
        steps = _steps_of(path)
        told = self.result.origins
        if dig(self.result.value, steps) is ABSENT:
            return ()
        for step in steps:
            told = origins_at(told, step)
        return tuple(self.origin(number, steps) for number in sources(told) if number)

    def origin(self, number: int, path: Path) -> Origin:
        """Where the part *number* said what the merged config has at *path*."""
        from nodeattrs.adapters.cloudinit.tracing import own_path

        said = next((step.said for step in self._steps if step.number == number and step.said is not None), None)
        where = own_path(said.value, self.result.value, path) if said is not None else path
        return self._speaker(number).at(where)

    def definition_origin(self, number: int) -> Origin | None:
        """Where the definition of the part *number* is written; None for a default, or where none was read."""
        report = self.parts[number - 1]
        if report.source.startswith("body "):
            return self._speaker(number).at((report.source.split()[1],))
        return self._origin_of(report) if report.source.startswith("header ") else None

    def _speaker(self, number: int) -> Speaker:
        from nodeattrs.adapters.cloudinit.places import YamlSpeaker

        speaker = self._speakers.get(number)
        if speaker is None:
            report = self.parts[number - 1]
            part = report.part
            speaker = origin = self._origin_of(report)
            if part.type != JSONP and part.body:
                speaker = YamlSpeaker(part.text, origin, part.line)
            self._speakers[number] = speaker
        return speaker

    def _origin_of(self, report: PartReport) -> Origin:
        """The speaker of a part as a whole. Lines of a part that was packed count in the part, not in the file."""
        part = report.part
        if not part.type:
            return Origin("layer", report.filename)
        folded = any(step.folded for step in self._steps if step.number == report.number)
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
        from nodeattrs.adapters.cloudinit.tracing import trace_of

        titles = {report.number: report.title for report in self.parts}
        return trace_of(self.result, self._steps, _steps_of(path), self.origin, titles)

    def explain(self, path: str | Path) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))


def renumbered(merged: Merged, offset: int) -> Merged:
    """The same, its parts counted on from *offset*."""
    if not offset:
        return merged
    moved: dict[int, Any] = {}
    reports = tuple(replace(report, number=report.number + offset) for report in merged.parts)
    steps = tuple(renumbered_step(step, offset, moved) for step in merged.steps)
    result = steps[-1].after if steps else merged.result
    return Merged(result, reports, steps)


def _steps_of(path: str | Path) -> Path:
    return parse(path) if isinstance(path, str) else tuple(path)


def _clean(name: str) -> str:
    for odd in "\n\r\t":
        name = name.replace(odd, " ")
    return name.strip()
