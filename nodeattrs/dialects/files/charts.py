"""Charts of Helm in a folder or a package: the values of a chart and of its enabled subcharts.

Knows which files belong to a chart. `policies.helm` knows what happens where their values meet.
"""

from __future__ import annotations

import io
import pathlib
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nodeattrs import border
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer, fold
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, content_of, decoded, parse
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies.helm import ChartValues, HelmPolicy

CHART = "Chart.yaml"
_DEPTH = 8
"""The most charts inside one another."""


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
    """The values of the chart in a folder, and of the subcharts that its conditions and tags leave enabled.

    name:  of the folder, in messages
    files: the values files, which decide with the charts
    raises: DocumentError, with file and line; MergeConflict
    """
    chart = _chart(_folder(folder, name), reader, (), "")
    if not chart.below:
        return [chart.values]
    plan = policy.plan_of([*chart.every()], files)
    values = fold([plan], plan.policy).value
    tags = values.get("tags")
    return [*_enabled(chart, values, tags if isinstance(tags, dict) else {})]


def _folder(folder: pathlib.Path, name: str) -> _Files:
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
                yield from _packed(content_of(path, inner), inner)
            elif (path / CHART).is_file():
                yield _folder(path, inner)

    return _Files(name, read, folders)


def _packed(content: bytes, name: str) -> Iterator[_Files]:
    """The chart in a package; nothing is unpacked to disk. raises: DocumentError"""
    budget = Budget(name)
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for member in archive:
                budget.bytes(max(member.size, 0))
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None and "/templates/" not in member.name:
                    members[member.name.removeprefix("./")] = stream.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DocumentError(f"is no package of a chart: {error}", file=name) from error
    tops = sorted(path.partition("/")[0] for path in members if path.count("/") == 1 and path.endswith(f"/{CHART}"))
    for top in tops[:1]:
        yield _in_package(members, top, name)


def _in_package(members: Mapping[str, bytes], top: str, name: str) -> _Files:
    def folders() -> Iterator[_Files]:
        start = f"{top}/charts/"
        steps = {path[len(start) :].partition("/")[0] for path in members if path.startswith(start)}
        for step in sorted(steps):
            if f"{start}{step}" in members and step.endswith(".tgz"):
                yield from _packed(members[f"{start}{step}"], f"{name}/{start}{step}")
            elif f"{start}{step}/{CHART}" in members:
                yield _in_package(members, f"{start}{step}", name)

    return _Files(f"{name}/{top}", lambda file: members.get(f"{top}/{file}"), folders)


def _chart(files: _Files, reader: LayerReader, path: Path, name: str) -> _Chart:
    if len(path) > _DEPTH:
        raise DocumentError(f"has charts inside one another, more than {_DEPTH}", file=f"{files.name}/{CHART}")
    described = files.document(CHART)
    tree = described.tree if described is not None and isinstance(described.tree, dict) else {}
    needs, document = _dependencies(files, described, tree)
    there = {_name_of(one): one for one in files.folders()}
    below = [
        _chart(one, reader, (*path, key), key) if one is not None else _missing(key, needs[key], document, path)
        for key, one in _chosen(needs, there)
    ]
    layer = _values(files, reader, name or str(tree.get("name") or "chart"))
    imports = [key for key, need in needs.items() if need.get("import-values")]
    if imports and document is not None:
        below.append(_imported(imports[0], document, path))
    return _Chart(ChartValues(path, layer, bool(needs)), needs, below)


def _dependencies(
    files: _Files, described: Document | None, tree: Mapping[str, Any]
) -> tuple[dict[str, Mapping[str, Any]], Document | None]:
    """The subcharts that a chart names: under its name, or its alias; and the document that names them."""
    document, listed = described, tree.get("dependencies")
    if tree.get("apiVersion", "v1") == "v1" and (old := files.document("requirements.yaml")) is not None:
        document, listed = old, old.tree.get("dependencies") if isinstance(old.tree, dict) else None
    found: dict[str, Mapping[str, Any]] = {}
    for place, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            found[str(one.get("alias") or one["name"])] = {**one, "place": ("dependencies", place)}
    return found, document


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
    """The layer of values.yaml; {} where a chart has none."""
    content = files.read("values.yaml")
    file = f"{files.name}/values.yaml"
    if content is None:
        return Layer({}, Origin("file", name, file), name)
    layers = replace(reader, document=None, syntax="yaml").layers(content, file, name)
    return layers[0] if layers else Layer({}, Origin("file", name, file), name)


def _missing(key: str, need: Mapping[str, Any], document: Document | None, path: Path) -> _Chart:
    """A subchart that Chart.yaml names and that is not in charts/: it may set anything below its key."""
    reason = "is not in charts/, so its values were not read (`helm dependency build` puts it there)"
    return _unknown(f"subchart {key}", reason, need, document, (*path, key), (*path, key))


def _imported(key: str, document: Document, path: Path) -> _Chart:
    reason = "values are imported from subcharts (import-values), which was not done"
    return _unknown(f"imports of {key}", reason, {"place": ("dependencies",)}, document, path, path)


def _unknown(
    name: str, reason: str, need: Mapping[str, Any], document: Document | None, path: Path, sets: Path
) -> _Chart:
    line = document.place(need["place"])[0] if document is not None else 1
    origin = Origin("chart", name, document.file if document is not None else None, line)
    return _Chart(ChartValues(path, Layer.unknown(name, origin, reason, {sets: line} if sets else None)), {}, ())


def _enabled(chart: _Chart, values: Mapping[str, Any], tags: Mapping[str, Any]) -> Iterator[ChartValues]:
    """The values of a chart and of its enabled subcharts.

    values: of the release with all subcharts
    tags:   of the charts above; a chart's own tags decide about its subcharts, too
    """
    path, own = chart.values.path, chart.values.layer.value
    below = own.get("tags") if isinstance(own, dict) else None
    tags = {**below, **tags} if isinstance(below, dict) else tags
    kept = [one for one in chart.below if _is_enabled(chart.needs.get(_key(one, path), {}), values, path, tags)]
    yield replace(chart.values, needs=any(_key(one, path) in chart.needs for one in kept))
    for one in kept:
        yield from _enabled(one, values, tags)


def _key(chart: _Chart, above: Path) -> str:
    """The key under which the chart above has the values; "" for imported values."""
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
