"""Explain a merged config: origins, traces, changes and the places of warnings.

A method computes its result from the steps that the merge has kept, when it is called. The rules of the merge are in
`mergers` and `userdata`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Cause, Claim, Locator, Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.folding import Folding
from nodeattrs.core.origins import origins_at, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.trace import Trace, traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT, as_path, dig
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.walk import SetValue, Walk
from nodeattrs.dialects.cloudinit.lints import Warned
from nodeattrs.dialects.cloudinit.parts import JSONP, measured
from nodeattrs.dialects.cloudinit.patching import PatchLocator
from nodeattrs.dialects.cloudinit.places import YamlLocator, with_earlier
from nodeattrs.dialects.cloudinit.steps import PartChanges, PartReport, Row, changes_of

# Explanations, differences and warnings are imported when one is asked for: a merge needs none of them.

_PER_LEFT = 10


class Provenance:
    """The base class of `Merged` with its explanations: the part and the line that set each value, and the rule.

    A subclass has `value`, and sets the fields. Nothing is computed before a method is called. The locators of parts
    are cached.

    parts:   the report of each part, in order; a part's number is its index + 1
    rows:    the foldings, which are the merges that were done in order; the last one gave the result
    unknown: number of a part -> the unknown layer that replaces it, for a part that could not be read

    `trace`, `origins`, `causes` and `explain` take a path. If no part set the path they give an empty trace, (), () and
    a text that says so. `place_of` finds the line of a warning.
    """

    parts: tuple[PartReport, ...]
    rows: tuple[Row, ...]
    unknown: dict[int, Layer]
    _result: Part | None
    _locators: dict[int, Locator]

    @property
    def value(self) -> dict[Any, Any]:
        """The merged config; {} where there is none."""
        raise NotImplementedError

    def changes(self) -> Iterator[PartChanges]:
        """Yield the changes that each part made to the config merged before it, in the order of the merge.

        raises: TooMuch
        """
        return changes_of(self.rows)

    def origins(self, path: str | TreePath) -> tuple[Origin, ...]:
        """The origins (file and line) of the value at *path*, the winner's first; () where the path is not set."""
        steps = as_path(path)
        if dig(self.value, steps) is ABSENT:
            return ()
        return tuple(dict.fromkeys(self._claim(setting).origin for setting in self._walk(steps).standing))

    def _walk(self, steps: TreePath) -> Walk:
        self._can_be_walked()
        folding = with_earlier(self.rows[-1].folding if self.rows else Folding(), steps, self._locator)
        found, last = walk(folding, steps), folding
        for one in found.standing:  # a patch may have moved what was written under another key
            if [step for step in one.own if type(step) is str] != [step for step in steps if type(step) is str]:
                last = with_earlier(last, one.own, self._locator)
        return found if last is folding else walk(last, steps)

    def _can_be_walked(self) -> None:
        """Check the size of an explanation: every operation of a patch is applied again. raises: TooMuch"""
        operations = sum(one.steps for row in self.rows for one in row.joinings if one.policy is None)
        if operations and self._result is not None:
            Budget("the explanation").steps(_PER_LEFT * operations * measured(self._result.value))

    def _claim(self, setting: SetValue) -> Claim:
        layer = self.unknown.get(setting.source)
        value = setting.value if layer is None else layer.value
        return Claim(setting.path, value, setting.source, self._locator(setting.source).at(setting.own))

    def definition_origin(self, number: int) -> Origin | None:
        """The place of a part's merge definition, in its body or in a header; None for a part without its own.

        number: the number of the part, from 1
        """
        report = self.parts[number - 1]
        if report.source.startswith("body "):
            return self._locator(number).at((report.source.split()[1],))
        return self._origin_of(report) if report.source.startswith("header ") else None

    def place_of(self, warned: Warned) -> Origin:
        """The place of a warning.

        For a warning about a part, it is the place in the text if the warning has one. Otherwise it is the place of its
        path, of the part's definition, or of the whole part. For a warning about the merged config (number 0), the
        first part that set the path or a parent of it has the place. If no part did, the origin has no file.
        """
        if not warned.number:
            return self._place_at(warned.path or ())
        if warned.place is not None:
            part, (line, column) = self.parts[warned.number - 1].part, warned.place
            return self._origin_of(self.parts[warned.number - 1]).moved(part.at(line), part.column(column))
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
        return {one.number for row in self.rows for one in row.joinings if one.folded}

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

    def trace(self, path: str | TreePath) -> Trace:
        """The trace of *path*: each part that set it, the winner first, and the rules that overrode the others.

        A path that no part set has a trace without claims. cost: the depth of the path times the number of parts
        """
        steps = as_path(path)
        titles = {report.number: report.title for report in self.parts}
        # Parts without a file are all called part-001; only what lies in files can be laid twice.
        named = all(report.part.file for report in self.parts if report.part.type)
        return traced(self._walk(steps), steps, dig(self.value, steps), self._claim, titles, once=named)

    def causes(self, path: str | TreePath) -> tuple[Cause, ...]:
        """The lines with the merge definitions of the parts that set *path*; a part without its own has none."""
        numbers = dict.fromkeys(stated.rank for stated in self.trace(path).claims)
        reports = [(self.parts[number - 1], self.definition_origin(number)) for number in numbers]
        return tuple(Cause(f"{one.title} joins by {one.definition}", at) for one, at in reports if at is not None)

    def explain(self, path: str | TreePath) -> str:
        """The trace of *path* as text."""
        return str(self.trace(path))
