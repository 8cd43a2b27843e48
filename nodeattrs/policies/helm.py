"""How Helm merges the values of a release: from the chart, its subcharts and values files.

This module takes layers, and reads no files: `dialects.files.charts` reads charts. In a fold of single files the first
file counts as the values of a chart without subcharts.
source: Helm, Chart Template Guide, "Subcharts and Global Values"; what Helm 4.2.3 renders
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.part import Part
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ACROSS,
    ANY,
    DROP,
    KEEP,
    MAP,
    MEET,
    NULL,
    PRESENT,
    TAKE,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.rules import PathRule, Table, at_paths, ruled
from nodeattrs.core.tree import ABSENT, Path, dig, tree_with
from nodeattrs.core.unknown import Unknown
from nodeattrs.errors import MergeConflict
from nodeattrs.policies.named import NamedPolicy

GLOBAL = "global"
"""The key whose values a chart hands to its subcharts."""

_HELM = Policy(
    "helm",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line((ABSENT_KIND, NULL), NULL, TAKE, "null, where there is no default"),
    Line(PRESENT, NULL, DROP, "null removes the default"),
    Line(ANY, PRESENT, TAKE, "the later value replaces the earlier one, lists too"),
)
_VALUES = Policy("helm, among values files", *ACROSS.lines)


@dataclass(frozen=True, slots=True)
class ChartValues:
    """The values of one chart or subchart of a release.

    path:  the place of the values in the release, such as ("db",) for a subchart; () for the chart that is installed
    layer: the values.yaml of the chart, where the paths begin at its own root; or an unknown layer
    laid:  the layer with its values moved below *path*; a subchart without `global` gets an empty map there. An unknown
           layer is unchanged
    is_joined: whether the chart names subcharts as dependencies. Helm then first merges the values of the subcharts
           into the values of the chart, and the layer has the nulls of this merge
    """

    path: Path
    layer: Layer
    is_joined: bool = False

    @property
    def laid(self) -> Layer:
        """The layer with its values moved below *path*. A subchart without the key `global` gets it, with an empty map.

        An unknown layer is returned unchanged.
        """
        return self._laid_with(self.layer.value)

    def _laid_with(self, value: Any) -> Layer:
        """As `laid`, but with *value* in place of the values of the chart. An unknown layer is returned unchanged."""
        layer = self.layer
        if type(value) is Unknown:
            return layer
        if not self.path:
            return layer if value is layer.value else Layer(value, layer.origin, layer.title)
        given = (GLOBAL,) if GLOBAL not in value else None
        locator = MovedLocator(layer.origin, self.path, (), given)
        return Layer(tree_with(self.path, {GLOBAL: {}, **value}), locator, layer.title)


class MovedLocator(NamedTuple):
    """Finds the lines of values that were moved from one path to another.

    `at` takes a path where a value is now, and gives the place where the document has it.

    locator: the locator of the document
    target:  the path where the values are now; `at` requires a path that begins with it, and does not check this
    source:  the path where the document has the values
    given:   a path below *target* with a value that the document does not set, so that its origin has no line; None for
             none
    """

    locator: Locator
    target: Path
    source: Path = ()
    given: Path | None = None

    def at(self, path: Path) -> Origin:
        step = path[len(self.target) :]
        origin = self.locator.at((*self.source, *step))
        return origin if step != self.given else origin._replace(line=None, column=None)


@dataclass(frozen=True, slots=True)
class HelmPolicy(NamedPolicy):
    """A named policy for releases of Helm. The first layers are the values of a chart and its subcharts.

    The layers after them are values files. The values files are merged with each other first, and the result over the
    chart's values. In that second merge a null removes the key.
    `plan` takes one chart without subcharts; `plan_of` takes subcharts, too. Both return a `Fold`, which merges nothing
    yet.

    drops_nulls: whether nulls in a chart's own values are left out, as Helm does since version 4.2
    """

    drops_nulls: bool = True

    def plan(self, layers: Iterable[Layer | Fold], rules: Sequence[PathRule] = ()) -> Fold:
        """The fold of a chart without subcharts and of values files. It computes nothing yet.

        layers: the first one has the values of the chart, the others are values files. If the first one is a fold, it
                is no chart, and all are merged as by a plain `NamedPolicy`
        rules:  paths with another way to merge than the policy's
        """
        children = list(layers)
        if not children or isinstance(children[0], Fold):
            return NamedPolicy.plan(self, children, rules)
        return self.plan_of([ChartValues((), children[0])], children[1:], rules)

    def plan_of(
        self, charts: Sequence[ChartValues], files: Sequence[Layer | Fold], rules: Sequence[PathRule] = ()
    ) -> Fold:
        """The fold of a chart with its subcharts, and of values files over them. It computes nothing yet.

        charts: at least one, each before its subcharts. The values of a chart override the values of its subcharts
        files:  the values files, the weakest first; () is as one empty file
        rules:  paths with another way to merge than the policy's
        """
        held: Layer | Fold = Fold(tuple(files), ruled(_VALUES, rules)) if files else Layer({}, _NO_FILES)
        above: list[tuple[Path, Layer]] = []
        for chart in charts:
            if chart.path:
                held = _with_globals(above, files, chart.path, held, _HELM)
            table = ruled(at_paths(_HELM, [*_tables(chart, charts)]), rules)
            own = self._own(chart, charts, files)
            above.append((chart.path, own))
            held = Fold((own, held), table)
        return held if isinstance(held, Fold) else Fold((held,), _HELM)

    def _own(self, chart: ChartValues, charts: Sequence[ChartValues], files: Sequence[Layer | Fold]) -> Layer:
        """The values of a chart without the nulls that Helm leaves out."""
        value = chart.layer.value
        if not self.drops_nulls or not isinstance(value, dict):
            return chart.laid
        kept = {
            one.path[-1]
            for one in charts
            if one.path and one.path[:-1] == chart.path and _keeps_nulls(chart, one.path, charts, files)
        }
        found = {key: one if key in kept else _bare(one) for key, one in value.items() if one is not None}
        return chart._laid_with(found)


def plan_of_imports(charts: Sequence[ChartValues]) -> Fold:
    """A fold of the values of a chart and its subcharts. The chart takes the values that it imports from the result.

    Helm calls them import-values. Values files are not in this fold, and null is a value like any other. A chart
    overrides the values of its subcharts. The values of a subchart are at its path.
    charts: at least one, each before its subcharts; the first one imports
    """
    held: Layer | Fold = Layer({}, _NO_FILES)
    above: list[tuple[Path, Layer]] = []
    for chart in charts:
        if chart.path:
            held = _with_globals(above, (), chart.path, held, _VALUES)
        above.append((chart.path, chart.laid))
        held = Fold((chart.laid, held), _VALUES)
    return Fold((held,), _VALUES)


def _keeps_nulls(chart: ChartValues, path: Path, charts: Sequence[ChartValues], files: Sequence[Layer | Fold]) -> bool:
    """Whether the nulls count that a chart has for its subchart at *path*: only where values above set that, too."""
    depth = len(chart.path)
    above = [one for one in charts if len(one.path) < depth and one.path == chart.path[: len(one.path)]]
    return any(one.is_joined for one in above) or _set([*files, *(one.laid for one in above)], path)


def _set(layers: Iterable[Layer | Fold], path: Path) -> bool:
    """Whether one of the layers sets something at a path."""
    each = [one for layer in layers for one in (layer.layers() if isinstance(layer, Fold) else (layer,))]
    return any(type(one.value) is not Unknown and dig(one.value, path) is not ABSENT for one in each)


def _bare(value: Any) -> Any:
    """A value without the nulls in its maps, at any depth of maps."""
    if not isinstance(value, dict):
        return value
    return {key: _bare(one) for key, one in value.items() if one is not None}


_NO_FILES = Origin("values files")


def _tables(chart: ChartValues, charts: Sequence[ChartValues]) -> Iterator[tuple[Path, Table]]:
    """The paths with rules of their own: what a chart sets for its subcharts, and its nulls."""
    depth = len(chart.path)
    for other in charts:
        if len(other.path) > depth and other.path[:depth] == chart.path:
            yield other.path, _of_subchart
    if isinstance(chart.layer.value, dict):
        for key, value in chart.layer.value.items():
            if value is None:
                yield (*chart.path, key), _null_twice


def _of_subchart(policy: Policy) -> Policy:
    """A null is kept until it meets the values of the subchart itself."""
    return Policy(
        "helm, values of a subchart",
        Line(MAP, MAP, Meet(_VALUES), "two maps meet key by key"),
        Line(ABSENT_KIND, MAP, TAKE, "nothing was there"),
        Line(ANY, PRESENT, _refused, "the values of a subchart are a map"),
    )


def _refused(lower: Part, upper: Part) -> Part:
    raise MergeConflict("the values of a subchart are a map", hint="Helm refuses the release, too")


def _null_twice(policy: Policy) -> Policy:
    """At the top of its values, a null that the chart has itself leaves nothing of a null of a values file."""
    return Policy(
        "helm, null in both",
        Line((ABSENT_KIND, NULL), NULL, KEEP, "null removes the default, which is null"),
        Line(ANY, PRESENT, policy),
    )


# --- globals


def _with_globals(
    charts: Sequence[tuple[Path, Layer]],
    files: Sequence[Layer | Fold],
    path: Path,
    held: Layer | Fold,
    policy: Policy,
) -> Layer | Fold:
    """The values under the globals that the chart above hands to the subchart at *path*.

    charts: the charts above, each with its path and its own values
    policy: merges what is over a chart's own globals with them
    """
    given = _globals(charts, files, path[:-1], (*path, GLOBAL), policy)
    return held if given is None else Fold((held, given), at_paths(_VALUES, [((*path, GLOBAL), _into_subchart)]))


def _into_subchart(policy: Policy) -> Policy:
    """The globals of a chart win over a subchart's; a map and another value do not replace each other."""
    each = Policy(
        "helm, globals",
        Line(MAP, MAP, Meet(_VALUES), "two maps meet key by key"),
        Line(MAP, PRESENT, KEEP, "a map is not replaced by another value"),
        Line(ABSENT_KIND, PRESENT, TAKE, "the chart above hands it down"),
        Line(PRESENT, MAP, KEEP, "a map does not replace another value"),
        Line(ANY, PRESENT, TAKE, "the globals of the chart above win"),
    )
    return Policy(
        "helm, the globals of a subchart",
        Line(MAP, MAP, Meet(each), "two maps meet key by key"),
        Line(ABSENT_KIND, MAP, TAKE, "nothing was there"),
        Line(ANY, PRESENT, KEEP, "globals are handed to maps only"),
    )


def _globals(
    charts: Sequence[tuple[Path, Layer]], files: Sequence[Layer | Fold], path: Path, target: Path, policy: Policy
) -> Layer | Fold | None:
    """The globals of the chart at *path*, moved to *target*; None if no layer has any."""
    held = _joined([_copied(one, (*path, GLOBAL), target) for one in files], _VALUES)
    for at, own in charts:
        if at != path[: len(at)]:
            continue
        if at and at == path:
            given = _globals(charts, files, path[:-1], target, policy)
            held = _joined([held, given], at_paths(_VALUES, [(target, _into_subchart)]))
        held = _joined([_copied(own, (*path, GLOBAL), target), held], policy if at == path else _VALUES)
    return held


def _joined(parts: Sequence[Layer | Fold | None], policy: Policy) -> Layer | Fold | None:
    there = tuple(one for one in parts if one is not None)
    return Fold(there, policy) if len(there) > 1 else there[0] if there else None


def _copied(one: Layer | Fold, source: Path, target: Path) -> Layer | Fold | None:
    """The map that a layer has at *source*, moved to *target*; None if it has none there, or an empty one."""
    if isinstance(one, Fold):
        return _joined([_copied(child, source, target) for child in one.children], one.policy)
    value: Any = ABSENT if type(one.value) is Unknown else dig(one.value, source)
    if not isinstance(value, dict) or not value:
        return None
    return Layer(tree_with(target, value), MovedLocator(one.origin, target, source), one.title)


HELM = HelmPolicy(
    "helm",
    "as across; null removes what the first file, the chart's values.yaml, has",
    "Helm, Chart Template Guide, Values Files, Deleting a default key; Helm 4.2",
    _HELM,
    among=_VALUES,
)
HELM_4_1 = HelmPolicy(
    "helm-4.1",
    "as helm; the nulls of the chart's own values stay, as in Helm 3 and up to 4.1",
    "Helm, Chart Template Guide, Values Files, Deleting a default key; Helm 4.1",
    _HELM,
    among=_VALUES,
    drops_nulls=False,
)
POLICIES = (HELM, HELM_4_1)
