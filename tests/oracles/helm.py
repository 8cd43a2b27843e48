"""python -m tests.oracles.helm [--count N] [--seed S]

Random charts with subcharts, aliases, conditions, tags, imports, globals, packages, odd scalars and values files: the
values of the release by Helm (the package helm-python-sdk) and by us, compared. HELM_PYTHON names a Python 3.12 that
has the package.
The last line is `N passed, M failed`; exit code 1 if any failed or none was asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.dialects.files.folds import chart_folder, folded, layers_over_chart
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named
from tests.oracles.peer import Peer

TEMPLATE = "{{ .Values | toJson }}"
GLOBALS: dict[str, Callable[[random.Random], Any]] = {
    "a": lambda chance: chance.choice(("x", "y", 1, None)),
    "b": lambda chance: {key: chance.choice(("x", 1, None)) for key in chance.sample("abc", 2)},
    "c": lambda chance: chance.choice((["x"], ["y"], None)),
    "d": lambda chance: chance.choice(("x", {"a": "x"}, {"b": None}, None)),
}
"""No map stands in another one: see docs/differences.md."""
NAMES = {3: ("s", "t"), 2: ("v", "w"), 1: ("y", "z")}
"""How many charts may stand below one another -> the names of subcharts, which differ from the names below them."""
SCALARS = ("x", "y", 0, 1, True, False, None, None)
SIGNS = "0ox_1e.7b+-yn"
"""The signs of scalars that may be numbers or booleans."""


def tree(chance: random.Random, depth: int) -> Any:
    """A small tree of few keys, with nulls."""
    if depth and chance.random() < 0.5:
        return {key: tree(chance, depth - 1) for key in chance.sample("abc", chance.randint(0, 3))}
    return ["l", None] if chance.random() < 0.1 else chance.choice(SCALARS)


def odd_scalars(chance: random.Random) -> str:
    """A map of scalars that may be numbers or booleans, the last one with such a key, in YAML."""
    words = ["".join(chance.choices(SIGNS, k=chance.randint(1, 6))) for _ in range(6)]
    keys = ("g", "h", "i", "j", "k", chance.choice(("l", "y", "off", "0.25", "2020-01-01", words[0])))
    return ", ".join(f"{key}: {word}" for key, word in zip(keys, words, strict=True) if "-" not in (key, word))


def as_json(value: Any) -> str:
    """A tree as JSON, in which 1.0 and 1 are one number, and so are 0 and -0.0."""
    whole = json.loads(json.dumps(value), parse_int=float, parse_float=lambda text: float(text) + 0.0)
    return json.dumps(whole, sort_keys=True)


def values(chance: random.Random, children: Mapping[str, Any], depth: int = 2) -> dict[str, Any]:
    """Values of a chart, or a values file: some for its subcharts, some globals."""
    found = {key: tree(chance, depth) for key in chance.sample("abcd", chance.randint(0, 3))}
    for name, below in children.items():
        if chance.random() < 0.6:
            found[name] = values(chance, below)
        if chance.random() < 0.3:
            found.setdefault(name, {})["enabled"] = chance.random() < 0.6
    if chance.random() < 0.4:
        found["global"] = {key: GLOBALS[key](chance) for key in chance.sample("abcd", chance.randint(0, 3))}
    if chance.random() < 0.2:
        found["tags"] = {tag: chance.random() < 0.5 for tag in chance.sample(("t", "u"), chance.randint(1, 2))}
    return found


def imported(chance: random.Random, children: Mapping[str, Any]) -> Any:
    """An entry of import-values."""
    if chance.random() < 0.3:
        return chance.choice("ab")
    child = chance.choice(("a", "b", "a.b", *children))
    return {"child": child, "parent": chance.choice((".", "a", "n", "n.m", "s.q", "v.q"))}


def made(chance: random.Random, folder: Path, name: str, depth: int, imports: bool) -> dict[str, Any]:
    """Write a chart with its subcharts; returns their names as Chart.yaml has them, inside one another.

    imports: whether charts may import values
    """
    folder.mkdir(parents=True)
    children: dict[str, Any] = {}
    needs: list[dict[str, Any]] = []
    for child in chance.sample(NAMES[depth], chance.randint(0, 2)) if depth else ():
        below = made(chance, folder / "charts" / child, child, depth - 1, imports)
        key = child
        if chance.random() < 0.7:
            need: dict[str, Any] = {"name": child, "version": "1.0.0", "repository": ""}
            if chance.random() < 0.3 and (name == "p" or not below):  # of others: see docs/differences.md
                need["alias"] = key = f"{child}x"
            if chance.random() < 0.5:
                need["condition"] = f"{key}.enabled"
            if chance.random() < 0.3:
                need["tags"] = ["t", "u"][: chance.randint(1, 2)]
            if imports and chance.random() < 0.6 and not any("import-values" in one for one in needs):
                need["import-values"] = [imported(chance, below)]  # two that meet: see docs/differences.md
            needs.append(need)
        children[key] = below
        if chance.random() < 0.2:
            packed(folder / "charts" / child)
    described = {"apiVersion": "v2", "name": name, "version": "1.0.0", "dependencies": needs}
    (folder / "Chart.yaml").write_text(json.dumps(described))
    (folder / "templates").mkdir()
    (folder / "templates" / "values.yaml").write_text(TEMPLATE)
    if chance.random() < 0.9:
        own = values(chance, children)
        if chance.random() < 0.3:
            own["exports"] = {"a": {"x": 1}, "b": {"a": {"y": 2}}}
        own["odd"] = "SCALARS"
        (folder / "values.yaml").write_text(json.dumps(own).replace('"SCALARS"', f"{{{odd_scalars(chance)}}}"))
    return children


def packed(folder: Path) -> None:
    """Replace the folder of a chart by its package."""
    with tarfile.open(folder.with_suffix(".tgz"), "w:gz") as archive:
        archive.add(folder, folder.name)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    folder.rmdir()


def merged(lower: Any, upper: Any) -> Any:
    """Helm's way to join its values files."""
    if isinstance(lower, dict) and isinstance(upper, dict):
        return {**lower, **{key: merged(lower.get(key), value) for key, value in upper.items()}}
    return upper


def ours(folder: Path, files: list[Path]) -> Any:
    """Our values of the release; "refused" where there are none."""
    policy, reader = policy_named("helm"), LayerReader()
    chart = chart_folder([str(folder)], Path(), policy)
    assert chart is not None
    try:
        layers = [layer for file in files for layer in reader.read(file)]
        laid = layers_over_chart(chart, layers, reader, policy)
        return folded(laid.layers, policy, charts=laid.charts).value
    except NodeattrsError:
        return "refused"


def main(arguments: list[str] | None = None) -> int:
    """Compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    python = os.environ.get("HELM_PYTHON")
    if not python:
        print("HELM_PYTHON names no Python with helm-python-sdk")
        print("0 passed, 0 failed")
        return 1
    peer = Peer(python, str(Path(__file__).with_name("helm_peer.py")))
    passed = failed = 0
    for seed in range(options.seed, options.seed + options.count):
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "chart"
            imports = chance.random() < 0.4
            children = made(chance, folder, "p", chance.randint(2, 3), imports)
            trees = [values(chance, children, 3) for _ in range(chance.randint(0, 2))]
            files = [Path(place) / f"values-{number}.yaml" for number in range(len(trees))]
            joined: dict[str, Any] = {}
            for file, one in zip(files, trees, strict=True):
                file.write_text(json.dumps(one))
                joined = merged(joined, one)
            theirs = peer.ask({"chart": str(folder), "values": joined}).get("values", "refused")
            found = ours(folder, files)
        if as_json(theirs) == as_json(found):
            passed += 1
        else:
            failed += 1
            print(f"seed {seed}:\n  theirs: {theirs}\n  ours:   {found}")
    peer.close()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
