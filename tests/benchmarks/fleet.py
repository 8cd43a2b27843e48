"""A fleet that is resolved and saved: how many nodes a second, and how many bytes each.

The nodes are made here: the facts of one Ubuntu machine, varied, over the example repository with
all facts kept. How many there are is said by NODEATTRS_FLEET; 10,000 unless it is.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.keep import Saved, Store, filtered_snapshot, open_store, saved_document
from nodeattrs.runs import Repository
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.run import run_node
from tests.benchmarks.figures import Figure

ROOT = Path(__file__).parents[2]
SIZE = int(os.environ.get("NODEATTRS_FLEET", "10000"))
SAMPLE = min(SIZE, 200)
"""Nodes from which rates are taken: the rate does not depend on how many there are."""

ROLES = ("web", "db")
ENVIRONMENTS = ("production", "staging")


def example(folder: Path) -> Path:
    """The example repository, but that every fact is kept."""
    place = folder / "repository"
    shutil.copytree(ROOT / "cookbooks_example", place)
    settings = place / "nodeattrs.toml"
    settings.write_text(settings.read_text("utf-8").partition("[allowed]")[0], "utf-8")
    return place


def machine() -> dict[str, Any]:
    """The facts that are varied."""
    given = ROOT.parent / "shared" / "ohai" / "ubuntu-20.04.json"
    file = given if given.exists() else ROOT / "cookbooks_example" / "facts" / "web1.json"
    facts: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return facts


def facts_of(number: int, base: dict[str, Any]) -> Facts:
    """One machine's facts: its names, addresses, sizes and clocks are its own."""
    facts = copy.deepcopy(base)
    octets = f"{number // 65_536}.{number // 256 % 256}.{number % 256}"
    facts |= {
        "hostname": f"n{number}",
        "fqdn": f"n{number}.example.com",
        "ipaddress": f"10.{octets}",
        "macaddress": f"02:00:00:{number // 65_536:02x}:{number // 256 % 256:02x}:{number % 256:02x}",
        "uptime_seconds": number * 17,
        "ohai_time": 1_700_000_000.5 + number,
        "site": "spare" if number % 10 == 0 else "main",
    }
    facts["cpu"]["total"] = 2 + number % 30
    facts["memory"]["free"] = f"{number * 13}kB"
    return Facts(facts, Origin("facts", f"n{number}.json"))


def resolved(repository: Repository, number: int, base: dict[str, Any]) -> Saved:
    """One node, run, and as it would be saved."""
    node = run_node(
        repository,
        f"n{number}",
        facts=facts_of(number, base),
        run_list=[f"role[{ROLES[number % len(ROLES)]}]"],
        environment=ENVIRONMENTS[number % len(ENVIRONMENTS)],
    ).node
    return Saved(node.name, saved_document(node), filtered_snapshot(node.snapshot()))


def run_some(place: str, first: int, last: int) -> int:
    """What a worker does: nodes are run, and not saved."""
    repository, base = Repository(place), machine()
    for number in range(first, last):
        run_node(repository, f"n{number}", facts=facts_of(number, base), run_list=["role[web]"], environment="staging")
    return last - first


def fleet_figures(folder: Path) -> Iterator[Figure]:
    """Rates and sizes; the nodes of the sample."""
    place = example(folder)
    run_some(str(place), 0, 5)
    began = time.perf_counter()
    run_some(str(place), 0, SAMPLE)
    yield Figure("resolve, one process", SAMPLE / (time.perf_counter() - began), "nodes/s", of=f"{SAMPLE} nodes")
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(run_some, [str(place)] * 2, [0, 5], [5, 10]))
        began = time.perf_counter()
        done = sum(pool.map(run_some, [str(place)] * 2, [0, SAMPLE], [SAMPLE, 2 * SAMPLE]))
        yield Figure("resolve, two processes", done / (time.perf_counter() - began), "nodes/s", of=f"{done} nodes")

    repository, base = Repository(place), machine()
    nodes = [resolved(repository, number, base) for number in range(SAMPLE)]
    store = open_store(folder / "sample.db")
    first = _seconds(store, nodes)
    again = _seconds(store, nodes)
    for saved in nodes:
        saved.document["automatic"]["uptime_seconds"] += 1
    document = _seconds(store, nodes)
    for saved in nodes:
        assert saved.snapshot is not None
        saved.snapshot["history"] = [*saved.snapshot["history"], [["bench"], 1, 0, []]]
    snapshot = _seconds(store, nodes)
    for saved in nodes:
        saved.document["automatic"]["uptime_seconds"] += 1
        assert saved.snapshot is not None
        saved.snapshot["history"] = [*saved.snapshot["history"], [["bench"], 2, 0, []]]
    both = _seconds(store, nodes)
    yield Figure("save, a new node", SAMPLE / first, "nodes/s", of=f"{SAMPLE} nodes, SQLite, processor time")
    yield Figure("save, an unchanged node", again / both, "times", 0.2, "a changed one")
    yield Figure(
        "save, one fact of the document changed", 1e3 * document / SAMPLE, "ms", of="with its part of the index"
    )
    yield Figure("save, the snapshot changed", 1e3 * snapshot / SAMPLE, "ms", of="which is not in the index")
    store.close()
    yield from _sizes(folder, nodes)


def _seconds(store: Store, nodes: list[Saved]) -> float:
    began = time.process_time()
    for saved in nodes:
        store.save(saved)
    return time.process_time() - began


def _sizes(folder: Path, nodes: list[Saved]) -> Iterator[Figure]:
    file = folder / "ten.db"
    store = open_store(file)
    for _ in range(10):
        for saved in nodes:
            store.save(saved)
    store.close()
    text = sum(len(json.dumps(saved.document)) + len(json.dumps(saved.snapshot)) for saved in nodes)
    size = file.stat().st_size / len(nodes)
    told = f"{text / len(nodes) / 1024:,.0f} KiB of JSON in one revision"
    yield Figure("a node on disk, ten revisions, nine unchanged", size / 1024, "KiB", of=told)
