"""Files that a tool merges by itself, found in a folder without settings: charts of Helm, and Compose files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nodeattrs import border
from nodeattrs.dialects.files.charts import CHART
from nodeattrs.dialects.files.extends import is_tsconfig
from nodeattrs.policies import COMPOSE, DEFAULT_POLICY, TSCONFIG
from nodeattrs.project.config import PlainFold

_VALUES = re.compile(r"values[-._][^/]+\.ya?ml|[^/]+[-._]values\.ya?ml")
"""Values files beside a chart's values.yaml: values-prod.yaml, prod-values.yaml."""
_FOR_TESTS = "ci"
"""The folder of a chart with values files for its tests."""
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDES = (
    "compose.override.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
    "docker-compose.override.yaml",
)
_PASSED = frozenset(("node_modules", "templates", "charts", "__pycache__"))
"""Folders in which no chart and no Compose file is looked for; a chart has its subcharts in charts/."""
_DEPTH = 8


def found_folds(root: Path) -> Mapping[str, PlainFold]:
    """The merges that Helm and Compose do by themselves in a folder and below it, by the path of their last file.

    A chart is one by the path of its folder, and one more with each values file beside it.
    source: Helm, "Values Files"; Compose Specification, "The Compose file"; Docker, "Merge Compose files"
    """
    found: dict[str, PlainFold] = {}
    for folder, folders, names in os.walk(root):
        steps = Path(folder).relative_to(root).parts
        is_chart = CHART in names
        inner = _PASSED if is_chart else _PASSED - {"charts"}
        folders[:] = sorted(one for one in folders if one[0] != "." and one not in inner) if len(steps) < _DEPTH else []
        if is_chart:
            found |= _of_chart(Path(folder), steps, names)
        found |= dict(_of_compose("/".join(steps), names))
    return found


def policy_for(files: Sequence[str], folder: Path) -> str:
    """The policy of the program that reads files of these names: Helm's, Compose's, TypeScript's, else the usual one.

    folder: what the names count from
    """
    names = [os.path.basename(file) for file in files]
    if (folder / files[0] / CHART).is_file() or names[0] in ("values.yaml", "values.yml"):
        return "helm"
    if is_tsconfig(names[-1]):
        return TSCONFIG
    return COMPOSE if names[0] in _COMPOSE else DEFAULT_POLICY


def _of_chart(folder: Path, steps: Sequence[str], names: Sequence[str]) -> dict[str, PlainFold]:
    chart = "/".join(steps) or "."
    found = {chart: PlainFold((chart,), "helm")}
    tests = folder / _FOR_TESTS
    is_read = tests.is_dir() and not border.is_layer_outside(tests)
    inner = [f"{_FOR_TESTS}/{name}" for name in os.listdir(tests)] if is_read else []
    for name in sorted([*names, *inner]):
        if _VALUES.fullmatch(name.removeprefix(f"{_FOR_TESTS}/")):
            file = "/".join((*steps, name))
            found[file] = PlainFold((chart, file), "helm")
    return found


def _of_compose(folder: str, names: Sequence[str]) -> Iterator[tuple[str, PlainFold]]:
    base = next((name for name in _COMPOSE if name in names), None)
    if base is not None:
        override = [name for name in _OVERRIDES if name in names][:1]
        files = tuple(f"{folder}/{name}".lstrip("/") for name in (base, *override))
        yield files[0], PlainFold(files, COMPOSE)
