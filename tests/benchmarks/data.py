"""Nodes whose attribute files are data: what one costs beside the floor, a parser in C and one map over another.

The repository is that of the fleet, with what its cookbooks say in files of data, part of each under a condition;
the floor knows what they come to. Both read the facts of each node from its file and end with one map of
all keys, in which the facts are those that were read: nobody copies them. The floor's parser is orjson,
which the extra of developers brings.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nodeattrs.chef import Repository
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.dialects.chef.run.run import Run
from nodeattrs.node.running import merged_shared
from tests.benchmarks.clock import once, seconds_each
from tests.benchmarks.figures import Figure
from tests.benchmarks.fleet import ENVIRONMENTS, ROLES, example, run_of, what_of, write_facts

COOKBOOKS = ("base", "apache2", "postgresql", "app")
LEVELS = {"default": (1, 2), "force_default": (5, 6), "override": (9, 10), "force_override": (13, 14)}
NODES = [number for number in range(3 * len(ROLES) * len(ENVIRONMENTS)) if what_of(number)[2] in ENVIRONMENTS[:2]]
"""In the environments that the example has, too."""
FLEET = 10_000


def data_figures(rounds: int) -> Iterator[Figure]:
    """One node, programs and data."""
    import orjson

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = Repository(example(folder))
        place = write_facts(folder / "facts", 0, NODES[-1] + 1)
        facts = {number: place / f"n{number}.json" for number in NODES}
        runs = [run_of(programs, number, load_facts(file)) for number, file in facts.items()]
        data = Repository(as_data(programs.root, folder / "data", runs))

        def resolved(repository: Repository, number: int) -> dict[Any, Any]:
            node = run_of(repository, number, load_facts(facts[number])).node
            return merged_shared(node)

        said = {number: _said(resolved(data, number), json.loads(file.read_bytes())) for number, file in facts.items()}
        works = (
            lambda: [resolved(data, number) for number in NODES],
            lambda: [{**orjson.loads(file.read_bytes()), **said[number]} for number, file in facts.items()],
            lambda: [resolved(programs, number) for number in NODES],
        )
        ours, floor, other = (spent / len(NODES) for spent in seconds_each(*map(once, works), rounds=rounds))
    told = f"orjson and one map over another; {FLEET:,} nodes on two processors {ours * FLEET / 2:.1f} s"
    yield Figure("resolve, attribute files as data", ours / floor, "times", 2.0, told)
    told = f"the same by programs; {FLEET:,} nodes on two processors {other * FLEET / 2:.1f} s"
    yield Figure("resolve, data against programs", ours / other, "times", None, told)


def _said(resolved: dict[Any, Any], facts: dict[str, Any]) -> dict[Any, Any]:
    """What a node has besides its facts."""
    said = {key: value for key, value in resolved.items() if key not in facts}
    if not {"base", "name", "roles"} <= said.keys() or {**facts, **said} != resolved:
        raise AssertionError("the floor does not come to the same")
    return said


def as_data(place: Path, folder: Path, runs: list[Run]) -> Path:
    """A repository with what cookbooks set on some nodes as files of data, and recipes in which nothing stands."""
    for name in ("roles", "environments", "cookbooks"):
        shutil.copytree(place / name, folder / name)
    for file in (folder / "cookbooks").glob("*/recipes/*.py"):
        file.write_text("", "utf-8")
    for cookbook in COOKBOOKS:
        attributes = folder / "cookbooks" / cookbook / "attributes"
        shutil.rmtree(attributes)
        attributes.mkdir()
        (attributes / "default.json").write_text(json.dumps(_file(cookbook, runs)), "utf-8")
    return folder


def _file(cookbook: str, runs: list[Run]) -> dict[str, Any]:
    levels: dict[str, Any] = {level: {} for level in LEVELS}
    for run in runs[: len(ROLES)]:
        for level, slots in LEVELS.items():
            for slot in slots:
                tree = run.node.slots[slot].to_dict().get(cookbook, {})
                levels[level] |= json.loads(json.dumps(tree, default=str))
    said = {level: {cookbook: tree} for level, tree in levels.items() if tree}
    block = {"when": {"platform_family": "debian"}, "default": said.pop("default", {})}
    return {**said, "blocks": [block, {**block, "when": {"platform_family": ["rhel", "fedora"]}}]}
