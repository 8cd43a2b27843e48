"""Read charts of Helm in a folder or a package: the values of a chart and of its enabled subcharts.

This module finds the files of a chart, decides which subcharts are enabled, and imports their values. `policies.helm`
merges the values. Templates are not read here.
"""

from __future__ import annotations

import gzip
import io
import pathlib
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from nodeattrs import border
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Folded, Layer, fold
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.tree import ABSENT, Path, dig, spell, tree_with
from nodeattrs.core.unknown import Unknown
from nodeattrs.errors import DocumentError, MergeConflict
from nodeattrs.formats.documents import Document, content_of, decoded, parse
from nodeattrs.formats.go_scalars import HELM as OF_HELM
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies.helm import GLOBAL, ChartValues, HelmPolicy, plan_of_imports

CHART = "Chart.yaml"
_DEPTH = 8
"""The most charts inside one another."""
_STEPS = 20_000
"""Steps of the budget for a chart or a package: 500 fit into the default budget. A subchart counts for each alias."""
_READ = (CHART, "requirements.yaml", "values.yaml")
"""The files of a package that are kept, beside packages in it."""


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one chart.

    name:    of the folder or package, as messages call it
    read:    a path in the chart -> its content; None where there is no such file. raises: DocumentError
    folders: the charts in its charts/ folder
    """

    name: str
    read: Callable[[str], bytes | None]
    folders: Callable[[], Iterable[_Files]]

    def document(self, file: str) -> Document | None:
        """A YAML file of the chart. raises: DocumentError"""
        content = self.read(file)
        name = f"{self.name}/{file}"
        return None if content is None else parse(decoded(content, name), name, "yaml", Budget(name))


@dataclass(frozen=True, slots=True)
class _Chart:
    """A chart, before it is known which of its subcharts are enabled.

    needs: the entry of each subchart in Chart.yaml, by the key of its values
    """

    values: ChartValues
    needs: Mapping[str, Mapping[str, Any]]
    below: Sequence[_Chart]

    def every(self) -> Iterator[ChartValues]:
        """The values of the chart, then of the charts below it."""
        yield self.values
        for one in self.below:
            yield from one.every()


def charts_at(
    folder: pathlib.Path, reader: LayerReader, name: str, policy: HelmPolicy, files: Sequence[Layer]
) -> list[ChartValues]:
    """The values of the chart in a folder, then of each enabled subchart. Conditions and tags enable subcharts.

    A chart without values.yaml has {}. A subchart that is not in charts/ has an unknown layer.

    name:   the name of the folder, for messages
    policy: merges the values that decide about conditions and tags
    files:  values files over the charts: a condition or tag may be set in them; the result does not contain them
    raises: DocumentError, with file and line; MergeConflict, where the values of a subchart are no map
    """
    budget = Budget(f"{name}/{CHART}")
    chart = _chart(_folder(folder, name, budget), reader, (), "", budget)
    if not chart.below:
        return [chart.values]
    plan = policy.plan_of([*chart.every()], files)
    found = fold([plan], plan.policy)
    values = found.value
    for one in chart.every():
        _check_map(found, one.path)
    tags = values.get("tags")
    enabled = _enabled(chart, values, tags if isinstance(tags, dict) else {})
    return [*_joined(enabled, _disputed([*enabled.every()], files)).every()]


class ChartSummary(NamedTuple):
    """Facts about a chart without its values, from Chart.yaml and charts/.

    has_values:    whether the chart has a values.yaml
    is_library:    whether the chart is of the type "library", which only other charts use
    hides_a_chart: whether the templates of a subchart cannot be read, since it is in a package or missing
    paths_read:    the paths of values that Helm itself reads: the key of each subchart, and each condition
    """

    has_values: bool
    is_library: bool
    hides_a_chart: bool
    paths_read: Sequence[Path]


def chart_summary(folder: pathlib.Path, name: str) -> ChartSummary:
    """Four facts about the chart in a folder. Nothing is rendered; its Chart.yaml and its subcharts' are read.

    Has it a values.yaml? Is it a library? Is there a subchart whose templates cannot be read? Which values does Helm
    itself read?

    name:   the name of the folder, for messages
    raises: DocumentError, for a file that cannot be read or parsed
    """
    files = _folder(folder, name, Budget(f"{name}/{CHART}"))
    tree, needs = _description(files)
    there = {_name_of(one): one for one in files.folders()}
    conditions = [each.strip() for need in needs.values() for each in str(need.get("condition") or "").split(",")]
    named = {str(need["name"]) for need in needs.values()}
    read = [*((key,) for key in {*needs, *there}), *(tuple(one.split(".")) for one in conditions if one)]
    is_packed = bool(named - there.keys()) or any(".tgz/" in one.name for one in there.values())
    has_values = files.read("values.yaml") is not None
    return ChartSummary(has_values, tree.get("type") == "library", is_packed, read)


def _check_map(release: Folded, path: Path) -> None:
    """Refuse another value where a subchart has its values, as Helm does. raises: MergeConflict"""
    value = dig(release.value, path)
    if value is not None and value is not ABSENT and not isinstance(value, dict):
        what = f"the values of a subchart are a map, and this is a {type(value).__name__}, at {spell(path)}"
        origins = release.origins(path)
        details = [f"it was set by {one}" for one in origins]
        raise MergeConflict(what, path=path, origins=origins, details=details, hint="Helm refuses the release, too")


def _folder(folder: pathlib.Path, name: str, budget: Budget) -> _Files:
    def read(file: str) -> bytes | None:
        path = folder / file
        return content_of(path, f"{name}/{file}") if path.is_file() and not border.is_outside(path) else None

    def folders() -> Iterator[_Files]:
        charts = folder / "charts"
        if not charts.is_dir() or border.is_outside(charts):
            return
        for path in sorted(charts.iterdir()):
            inner = f"{name}/charts/{path.name}"
            if path.name[0] in "._" or border.is_outside(path):
                continue
            if path.suffix == ".tgz" and path.is_file():
                yield _packed(content_of(path, inner), inner, budget)
            elif (path / CHART).is_file():
                yield _folder(path, inner, budget)

    return _Files(name, read, folders)


class _LimitedGzip(gzip.GzipFile):
    """The bytes of a package, as `tarfile` asks for them. raises: TooMuch, past the limit"""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(fileobj=io.BytesIO(content))
        self._budget = Budget(name)

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes; b"" at the end."""
        found = super().read(size)
        self._budget.bytes(len(found))
        return found


def _packed(content: bytes, name: str, budget: Budget) -> _Files:
    """The chart in a package; nothing is unpacked to disk. raises: DocumentError; TooMuch

    budget: of all packages of a chart; it pays for what is kept
    """
    budget.steps(_STEPS)
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=_LimitedGzip(content, name), mode="r|") as archive:
            for member in archive:
                budget.steps()
                is_read = member.name.rpartition("/")[2] in _READ or member.name.endswith(".tgz")
                stream = archive.extractfile(member) if is_read and member.isfile() else None
                if stream is not None and "/templates/" not in member.name:
                    budget.bytes(max(member.size, 0))
                    members[member.name.removeprefix("./")] = stream.read()
    except DocumentError:
        raise
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, IndexError) as error:
        raise DocumentError(f"is no package of a chart: {error}", file=name) from error
    tops = sorted(path.partition("/")[0] for path in members if path.count("/") == 1 and path.endswith(f"/{CHART}"))
    if not tops:
        raise DocumentError(f"is no package of a chart: it has no {CHART}", file=name)
    return _in_package(members, tops[0], name, budget)


def _in_package(members: Mapping[str, bytes], top: str, name: str, budget: Budget) -> _Files:
    def folders() -> Iterator[_Files]:
        start = f"{top}/charts/"
        steps = {path[len(start) :].partition("/")[0] for path in members if path.startswith(start)}
        for step in sorted(one for one in steps if not one.startswith((".", "_"))):
            if f"{start}{step}" in members and step.endswith(".tgz"):
                yield _packed(members[f"{start}{step}"], f"{name}/{start}{step}", budget)
            elif f"{start}{step}/{CHART}" in members:
                yield _in_package(members, f"{start}{step}", name, budget)

    return _Files(f"{name}/{top}", lambda file: members.get(f"{top}/{file}"), folders)


def _chart(files: _Files, reader: LayerReader, path: Path, name: str, budget: Budget) -> _Chart:
    budget.steps(_STEPS)
    if len(path) > _DEPTH:
        raise DocumentError(f"has charts inside one another, more than {_DEPTH}", file=f"{files.name}/{CHART}")
    tree, needs = _description(files)
    there = {_name_of(one): one for one in files.folders()}
    below = [
        _chart(one, reader, (*path, key), key, budget) if one is not None else _missing(key, needs[key], path)
        for key, one in _chosen(needs, there)
    ]
    layer = _values(files, reader, name or str(tree.get("name") or "chart"))
    return _Chart(ChartValues(path, layer), needs, below)


def _description(files: _Files) -> tuple[Mapping[str, Any], dict[str, Mapping[str, Any]]]:
    """Chart.yaml as a map; and the subcharts that the chart names: name or alias -> entry, with its "origin"."""
    document = files.document(CHART)
    tree = document.tree if document is not None and isinstance(document.tree, dict) else {}
    old = files.document("requirements.yaml") if tree.get("apiVersion", "v1") == "v1" else None
    document = document if old is None else old
    listed = dig(document.tree, ("dependencies",)) if document is not None else None
    found: dict[str, Mapping[str, Any]] = {}
    for place, one in enumerate(listed if isinstance(listed, list) else ()):
        if document is not None and isinstance(one, dict) and isinstance(one.get("name"), str):
            key = str(one.get("alias") or one["name"])
            line, _ = document.place(("dependencies", place))
            found[key] = {**one, "origin": Origin("chart", key, document.file, line)}
    return tree, found


def _chosen(needs: Mapping[str, Mapping[str, Any]], there: Mapping[str, _Files]) -> Iterator[tuple[str, _Files | None]]:
    """The subcharts by the key of their values: first the ones that Chart.yaml does not name."""
    named = {str(need["name"]) for need in needs.values()}
    for name, files in there.items():
        if name not in named:
            yield name, files
    for key, need in needs.items():
        yield key, there.get(str(need["name"]))


def _name_of(files: _Files) -> str:
    document = files.document(CHART)
    tree = document.tree if document is not None else None
    name = tree.get("name") if isinstance(tree, dict) else None
    return str(name or files.name.rpartition("/")[2])


def _values(files: _Files, reader: LayerReader, name: str) -> Layer:
    """The layer of values.yaml; {} where a chart has none. Helm merges several documents in it."""
    content = files.read("values.yaml")
    file = f"{files.name}/values.yaml"
    if content is None:
        return Layer({}, Origin("file", name, file), name)
    layers = replace(reader, document=None, syntax="yaml", tags=OF_HELM).layers(content, file, name)
    if len(layers) == 1:
        return layers[0]
    merged = fold(layers, ACROSS)
    return Layer(merged.value, _MergedValuesLocator(merged, otherwise=layers[0].origin), name)


def _missing(key: str, need: Mapping[str, Any], path: Path) -> _Chart:
    """A subchart that Chart.yaml names and that is not in charts/: it may set anything below its key."""
    reason = "is not in charts/, so its values were not read (`helm dependency build` puts it there)"
    origin: Origin = need["origin"]._replace(name=f"subchart {key}")
    lines = {(*path, key): origin.line or 1}
    return _Chart(ChartValues((*path, key), Layer.unknown(origin.name, origin, reason, lines)), {}, ())


def _enabled(chart: _Chart, values: Mapping[str, Any], tags: Mapping[str, Any]) -> _Chart:
    """The chart with its enabled subcharts.

    values: of the release with all subcharts
    tags:   of the charts above; a chart's own tags decide about its subcharts, too
    """
    path, own = chart.values.path, chart.values.layer.value
    below = own.get("tags") if isinstance(own, dict) else None
    tags = {**below, **tags} if isinstance(below, dict) else tags
    kept = [one for one in chart.below if _is_enabled(chart.needs.get(_key(one, path), {}), values, path, tags)]
    own_values = replace(chart.values, is_joined=any(_key(one, path) in chart.needs for one in kept))
    return replace(chart, values=own_values, below=[_enabled(one, values, tags) for one in kept])


# --- values that a chart imports from its subcharts


def _joined(chart: _Chart, disputed: Collection[str]) -> _Chart:
    """The chart and its subcharts with the values that Helm adds to them before it reads values files.

    If a chart names subcharts as dependencies, Helm merges the values of these charts. Files over the chart play no
    part. From this merge the chart gets the values that it imports, which are weaker than all others. It also gets
    the nulls and the disputed globals, which are as strong as its own values.
    disputed: the keys from `_disputed`
    source:   Helm, Charts, "Importing Child Values via dependencies"; what Helm 4.2.3 renders
    """
    chart = replace(chart, below=[_joined(one, disputed) for one in chart.below])
    path, own = chart.values.path, chart.values.layer
    if not chart.values.is_joined or not isinstance(own.value, dict):
        return chart
    imports = [
        each for one in chart.below for each in _imports_of(chart.needs.get(_key(one, path), {}), one, len(path))
    ]
    charts = [replace(one, path=one.path[len(path) :]) for one in chart.every()]
    if not imports and not disputed and not any(_nulls(one.layer.value) for one in charts):
        return chart
    plan = plan_of_imports(charts)
    found = fold([plan], plan.policy)
    layers, unknown = [], []
    for one in imports:
        if one.is_unknown:
            unknown.append(one.unread(path))
        elif isinstance(table := dig(found.value, one.source), dict):
            imported = _not_in(tree_with(one.target, table), found.value)
            layers.append(Layer(imported, _MergedValuesLocator(found, one.source, one.target), "imported values"))
    below = [(*one.path, GLOBAL, key) for one in charts if one.path for key in disputed]
    handed = [tree_with(at, one) for at in below if (one := dig(found.value, at)) is not ABSENT]
    kept = [_nulls(found.value), *handed]
    joined = fold([*reversed(layers), own, *(Layer(one, _MergedValuesLocator(found)) for one in kept)], ACROSS)
    layer = Layer(joined.value, _MergedValuesLocator(joined), own.title)
    return replace(chart, values=replace(chart.values, layer=layer), below=[*chart.below, *unknown])


def _disputed(charts: Sequence[ChartValues], files: Sequence[Layer]) -> Collection[str]:
    """The keys of globals that are a map in one chart or values file and no map in another, or that have a null."""
    maps, others = set(), set()
    for layer in (*files, *(one.laid for one in charts)):
        for chart in charts:
            found = ABSENT if type(layer.value) is Unknown else dig(layer.value, (*chart.path, GLOBAL))
            for key, one in found.items() if isinstance(found, dict) else ():
                has_null, is_map = bool(_nulls({key: one})), isinstance(one, dict)
                maps.update([key] if is_map or has_null else [])
                others.update([key] if has_null or not is_map else [])
    return maps & others


def _nulls(value: Any) -> dict[str, Any]:
    """The nulls in the maps of a value, with the maps that have any."""
    if not isinstance(value, dict):
        return {}
    found = {key: None if one is None else _nulls(one) for key, one in value.items()}
    return {key: one for key, one in found.items() if one != {}}


@dataclass(frozen=True, slots=True)
class _Import:
    """An entry of `import-values`.

    source:     the path of the table, in the values of the chart that imports it
    target:     the path under which the chart gets it
    origin:     the line of the dependency
    is_unknown: whether not all of the subchart's values were read
    """

    source: Path
    target: Path
    origin: Origin
    is_unknown: bool

    def unread(self, path: Path) -> _Chart:
        """A chart with unknown values, for the values that are imported into the chart at *path*."""
        reason = "imports values of a subchart that were not all read (import-values)"
        lines = {(*path, *self.target): self.origin.line or 1}
        return _Chart(ChartValues(path, Layer.unknown(self.origin.name, self.origin, reason, lines)), {}, ())


def _imports_of(need: Mapping[str, Any], subchart: _Chart, depth: int) -> Iterator[_Import]:
    """The imports that the entry of a subchart names; none where it has no list. depth: of the path of its chart"""
    named = need.get("import-values")
    is_unknown = any(type(one.layer.value) is Unknown for one in subchart.every())
    for one in named if isinstance(named, list) else ():
        child, parent = f"exports.{one}", "."
        if isinstance(one, dict):
            child, parent = str(one.get("child")), str(one.get("parent"))
        key = str(subchart.values.path[depth])
        target = () if parent == "." else tuple(parent.split("."))
        yield _Import((key, *child.split(".")), target, need["origin"], is_unknown)


def _not_in(value: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a map that another one does not have, at any depth of maps."""
    found = {}
    for key, one in value.items():
        other = others.get(key, ABSENT)
        if other is ABSENT:
            found[key] = one
        elif isinstance(one, dict) and isinstance(other, dict):
            found[key] = _not_in(one, other)
    return found


class _MergedValuesLocator(NamedTuple):
    """Finds the lines of values that were taken out of a merge.

    folded:    the merge
    source:    the path of the values in the merge
    target:    the path under which a chart has them now
    otherwise: finds the places of paths that the merge does not set
    """

    folded: Folded
    source: Path = ()
    target: Path = ()
    otherwise: Locator = Origin("chart", "imported values")

    def at(self, path: Path) -> Origin:
        """The line that sets a value; of a path above *target*, a line below it."""
        found = self.folded.origins((*self.source, *path[len(self.target) :]))
        return found[0] if found else self.otherwise.at(path)


def _key(chart: _Chart, above: Path) -> str:
    """The key under which the chart above has the values; "" for imported values that were not read."""
    path = chart.values.path
    return str(path[-1]) if len(path) > len(above) else ""


def _is_enabled(need: Mapping[str, Any], values: Mapping[str, Any], path: Path, tags: Mapping[str, Any]) -> bool:
    """Whether a subchart counts: the first condition that is a boolean decides, else its tags, else it does."""
    for condition in str(need.get("condition") or "").split(","):
        found = dig(values, (*path, *condition.strip().split("."))) if condition.strip() else ABSENT
        if isinstance(found, bool):
            return found
    wanted = need.get("tags")
    named = [one for one in wanted if isinstance(one, str)] if isinstance(wanted, list) else []
    chosen = [tags[tag] for tag in named if isinstance(tags.get(tag), bool)]
    return any(chosen) or not chosen
