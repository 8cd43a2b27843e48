"""Find values of charts that no template reads, and keys that look like a misspelt one.

Each chart is checked with the values files and releases that are merged over its values. The values of its subcharts
are not checked. If a template reads values by a computed name, or cannot be read, a note replaces the findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.contract.folder import Folder
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, dig, is_near, spell
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.files.charts import CHART, ChartSummary, chart_summary
from nodeattrs.dialects.files.found import FoundFold, found_folds
from nodeattrs.dialects.files.git_sources import GitSources
from nodeattrs.dialects.files.releases import Release, ValuesFile
from nodeattrs.dialects.files.uses import ChartUses, uses_of
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.layers import LayerReader
from nodeattrs.kinds import COMPUTED_NAME, LAYER_IS_UNKNOWN, MISSPELT, UNREAD_VALUE
from nodeattrs.project.config import PlainFold
from nodeattrs.reports.findings import Finding

_NAMED = 3
"""The most paths that a note names."""
_ANCHOR = re.compile(r":\s*&\w")


def check_charts(root: Path, count: Callable[[str], object]) -> Iterator[CheckedFiles]:
    """Check the charts of a folder: yield one `CheckedFiles` with all findings, or nothing if there is no chart.

    Charts come from the folds in the settings; if the settings have none, from the folds that are found in the folder.
    A chart that cannot be read gets a note as its finding.

    count:  called with each Chart.yaml before its chart is checked
    raises: DocumentError, for settings that cannot be read
    """
    folder = Folder(root)
    charts = _charts(folder.config.folds or found_folds(GitSources(folder.root)), folder.root)
    found: list[Finding] = []
    for name, over_chart in charts.items():
        count(f"{name}/{CHART}")
        try:
            found += _of_chart(folder, name, over_chart)
        except NodeattrsError as error:
            found.append(_not_checked(error, name))
    if charts:
        yield CheckedFiles("Helm chart", len(charts), [*dict.fromkeys(found)])


def _charts(folds: Mapping[str, FoundFold | None], root: Path) -> dict[str, list[str | Layer]]:
    """The folder of each chart -> what lies over its values: values files, and the values in releases."""
    found: dict[str, list[str | Layer]] = {}
    for one in folds.values():
        if isinstance(one, PlainFold) and one.files and (root / one.files[0] / CHART).is_file():
            found.setdefault(one.files[0], []).extend(one.files[1:])
        elif isinstance(one, Release) and one.chart:
            over_chart = found.setdefault(one.chart, [])
            over_chart += [each.path for each in one.values if isinstance(each, ValuesFile) and each.path]
            over_chart += one.inline
    return found


def _of_chart(folder: Folder, name: str, over_chart: Sequence[str | Layer]) -> Iterator[Finding]:
    """The findings of one chart. raises: DocumentError"""
    about = chart_summary(folder.root / name, name)
    if about.is_library:
        return
    uses = uses_of(folder.root / name, name)
    reason = _kept_back(uses, about)
    if reason is not None:
        place, why = reason
        file, _, line = place.rpartition(":") if ":" in place else (place, "", "")
        what = f"values that no template reads are not looked for in {name}: {why}"
        yield Finding(COMPUTED_NAME.entry.code, "note", what, file, int(line) if line else None)
        return
    uses.paths |= {("global",), ("tags",), ("exports",), *about.paths_read}
    yield from _computed(uses, name)
    layers = []
    if about.has_values:
        layers = LayerReader("yaml").read(folder.root / name / "values.yaml", f"{name}/values.yaml")
    known = _Values(uses, [one for one in layers if isinstance(one.value, dict)])
    for layer in layers:
        yield from known.findings(layer, "note")
    for one in over_chart:
        try:
            read = [one] if isinstance(one, Layer) else LayerReader("yaml").read(folder.root / one, one)
        except DocumentError as error:
            yield _not_checked(error, str(one))
            continue
        for layer in read:
            yield from known.findings(layer, "warning")


def _not_checked(error: NodeattrsError, file: str) -> Finding:
    return Finding(LAYER_IS_UNKNOWN.entry.code, "note", f"was not looked at: {error.message}", file)


def _kept_back(uses: ChartUses, about: ChartSummary) -> tuple[str, str] | None:
    """The place and the reason that keep the findings of a chart back; None where nothing does."""
    if uses.unread:
        return uses.unread[0], "this file was not read"
    if () in uses.computed:
        return uses.computed[()], "all values are read as a whole, or by a computed name"
    name, place = next(uses.foreign, ("", ""))
    if place:
        return place, f"the template {name} is included, and is not here"
    if about.hides_a_chart and "" in uses.included:
        return uses.included[""], "a template is included by a computed name, and a subchart is packed or not here"
    return None


def _computed(uses: ChartUses, name: str) -> Iterator[Finding]:
    """The note about paths below which a template reads values by a computed name."""
    for file in dict.fromkeys(place.rpartition(":")[0] for place in uses.computed.values()):
        of_file = {path: place for path, place in uses.computed.items() if place.startswith(f"{file}:")}
        paths = sorted(map(spell, of_file))
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        what = f"reads values below {', '.join(paths[:_NAMED])}{more} by a computed name, so unread ones are not found"
        line = min(int(place.rpartition(":")[2]) for place in of_file.values())
        yield Finding(COMPUTED_NAME.entry.code, "note", what, file, line)


@dataclass(frozen=True, slots=True)
class _Values:
    """The uses and the defaults of one chart, and the findings that follow.

    defaults: the layers of its own values.yaml
    """

    uses: ChartUses
    defaults: Sequence[Layer]

    def findings(self, layer: Layer, severity: Any) -> Iterator[Finding]:
        """The values of a layer that no template reads: of each the topmost path."""
        if type(layer.value) is Unknown:
            return
        is_own = layer in self.defaults
        unread = [*self._unread(layer.value, ())]
        if not is_own and 1 < len(layer.value) == len([path for path in unread if len(path) == 1]):
            return  # the chart reads none of these keys: the file is for another chart
        for path in unread:
            if is_own or all(dig(one.value, path) is ABSENT for one in self.defaults):
                yield from self._finding(layer, path, severity)

    def _unread(self, value: Any, path: TreePath) -> Iterator[TreePath]:
        for key, one in value.items() if isinstance(value, dict) else ():
            at = (*path, key)
            if not isinstance(key, str) or key.startswith(("_", ".", "x-")) or self.uses.covers(at):
                continue
            if self.uses.names_below(at):
                yield from self._unread(one, at)
            else:
                yield at

    def _finding(self, layer: Layer, path: TreePath, severity: Any) -> Iterator[Finding]:
        at = layer.origin.at(path)
        near = sorted(name for name in self.uses.names_below(path[:-1]) if is_near(path[-1], name))
        near = [name for name in near if dig(layer.value, (*path[:-1], name)) is ABSENT]
        if near:
            what = f"no template reads {spell(path)}; one reads {spell((*path[:-1], near[0]))}"
            hint = f"did you mean {near[0]}?"
            yield Finding(MISSPELT.entry.code, "warning", what, at.file, at.line, at.column, hint=hint)
        elif not _has_anchor(layer, at.line):
            what = f"no template of the chart reads {spell(path)}"
            yield Finding(UNREAD_VALUE.entry.code, severity, what, at.file, at.line, at.column)


def _has_anchor(layer: Layer, line: int | None) -> bool:
    """Whether the line has an anchor of YAML, whose value other keys may have."""
    document = getattr(layer.origin, "document", None)
    lines = document.text.split("\n")[line - 1 : line] if document is not None and line else []
    return bool(lines and _ANCHOR.search(lines[0]))
