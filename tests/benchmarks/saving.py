"""What it costs to run and to save, beside a program that keeps two texts in one row and finds nothing again.

With the extra "fast", in a store that packs with zstd; the old checkout to compare with is named by NODEATTRS_OLD.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import orjson
import zstandard

from nodeattrs.chef import Repository
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.store import Saved, Store, open_store
from nodeattrs.store.engines import store as stores
from tests.benchmarks import plain
from tests.benchmarks.clock import once, seconds_each
from tests.benchmarks.figures import Figure
from tests.benchmarks.fleet import SAMPLE, describe, example, plain_one, repository_at, resolved, run_of

_FLOOR = "orjson, zstd, one row"
OLD = os.environ.get("NODEATTRS_OLD", "")
"""A checkout of 878e2e7."""

_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from nodeattrs.dialects.chef.fleet import Fleet, resolve
if __name__ == "__main__":
    fleet = Fleet(*sys.argv[2:5])
    names = [f"n{number}" for number in range(int(sys.argv[5]))]
    failed = [one.error for one in resolve(fleet, names, jobs=2) if one.error]
    assert not failed, failed[0]
"""


def saving_figures(folder: Path) -> Iterator[Figure]:
    """What saving costs. folder: as `fleet_figures` left it"""
    place, facts = str(folder / "repository"), folder / "facts"
    common = place
    if OLD:  # which does not read all that ours has
        common = str(example(folder / "old", Path(OLD)))
        describe(Path(common), SAMPLE)
    yield from _fleets(folder, common, facts)
    yield from _kept(folder, place, facts)


def _fleets(folder: Path, place: str, facts: Path) -> Iterator[Figure]:
    """Processor time of two processes without their start, the best of some rounds in turns."""
    ways: dict[str, Callable[[str, int], None]] = {"floor": partial(_floor, folder, place, facts)}
    for title, checkout in (("new", str(Path(__file__).parents[2])), *([("old", OLD)] if OLD else [])):
        ways[title] = partial(_program, folder, place, facts, checkout, title)
    again = [("again", "all", SAMPLE)] * 3  # which is short, and is made over and over
    tasks = [("start", "start", 2), ("first", "all", SAMPLE), ("second", "all", SAMPLE), *again]
    best: dict[str, dict[str, float]] = {task: {} for task, _, _ in tasks}
    for number in range(ROUNDS):
        for store in ("start", "all"):
            open_store(folder / f"new-{store}{number}.db").make("zstd")
        for task, store, count in tasks:  # the second notes of normal attributes that they were saved
            for title, way in ways.items():
                began = _children()
                way(f"{store}{number}", count)
                best[task][title] = min(best[task].get(title, math.inf), _children() - began)
    first, same = (
        {title: (seconds - best["start"][title]) / (SAMPLE - 2) for title, seconds in best[task].items()}
        for task in ("first", "again")
    )
    told = f"the floor program ({_FLOOR}): {1e3 * first['floor']:.1f} ms a node"
    yield Figure("run and save, the first run, two processes: time", first["new"] / first["floor"], "times", of=told)
    told = f"the same; {1e3 * same['new']:.1f} ms a node"
    yield Figure("run and save, nothing changed, two processes: time", same["new"] / same["floor"], "times", of=told)
    if OLD:
        for title, times in (("the first run", first), ("nothing changed", same)):
            told = f"878e2e7: {1e3 * times['old']:.1f} ms a node"
            yield Figure(f"run and save, {title}: time", times["new"] / times["old"], "times", 1 / 2, told)


ROUNDS = 3


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _program(folder: Path, place: str, facts: Path, checkout: str, title: str, store: str, count: int) -> None:
    words = [checkout, place, str(folder / f"{title}-{store}.db"), str(facts), str(count)]
    script = folder / "run_fleet.py"
    script.write_text(_RUN, "utf-8")
    subprocess.run(
        [sys.executable, str(script), *words], check=True, env={**os.environ, "PYTHONPATH": checkout}, cwd=folder
    )


def _floor(folder: Path, place: str, facts: Path, store: str, count: int) -> None:
    file = folder / f"floor-{store}.db"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS node (name TEXT PRIMARY KEY, document BLOB, snapshot BLOB)")
    connection.close()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        parts = [range(first, count, 2) for first in range(2)]
        list(pool.map(_floor_some, [str(file)] * 2, [place] * 2, [facts] * 2, parts))


def _floor_some(file: str, place: str, facts: Path, numbers: range) -> None:
    """What a worker does: facts are parsed, cookbooks run on plain dicts, and the tree is kept twice."""
    plain.json = SimpleNamespace(loads=orjson.loads)  # type: ignore[assignment]
    connection = _opened(file)
    for number in numbers:
        tree = plain_one(place, facts, number)
        _keep(connection, f"n{number}", tree, tree)


def _opened(file: str) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _keep(connection: sqlite3.Connection, name: str, *trees: Any) -> None:
    pack = zstandard.ZstdCompressor(1).compress
    texts = [pack(orjson.dumps(tree, option=orjson.OPT_NON_STR_KEYS, default=str)) for tree in trees]
    connection.execute("INSERT OR REPLACE INTO node VALUES (?, ?, ?)", (name, *texts))


def _bare_write(folder: Path, nodes: list[Saved]) -> float:
    """Seconds in which documents and snapshots are written, each node in a row and a transaction."""
    connection = _opened(str(folder / "rows.db"))
    connection.execute("CREATE TABLE node (name TEXT PRIMARY KEY, document BLOB, snapshot BLOB)")
    began = time.process_time()
    for saved in nodes:
        _keep(connection, saved.name, saved.document, saved.snapshot)
    seconds = time.process_time() - began
    connection.close()
    return seconds


def _snapshots(repository: Repository, facts: Path) -> Iterator[Figure]:
    """What a node's snapshot costs where other nodes had theirs before."""
    files = [facts / f"n{number}.json" for number in range(min(SAMPLE, 36))]
    texts = [file.read_bytes() for file in files]
    runs = [run_of(repository, number, load_facts(file)) for number, file in enumerate(files)]
    taken, parsed = seconds_each(
        once(lambda: [run.node.snapshot(shared=True) for run in runs]),
        once(lambda: [json.loads(text) for text in texts]),
    )
    told = f"json.loads of its facts; {1e3 * taken / len(files):.2f} ms"
    yield Figure("snapshot of a node that shares its facts", taken / parsed, "times", 3.2, told)


def _kept(folder: Path, place: str, facts: Path) -> Iterator[Figure]:
    repository = repository_at(place)
    yield from _snapshots(repository, facts)
    facts_of = [load_facts(facts / f"n{number}.json") for number in range(SAMPLE)]
    nodes = [resolved(repository, number, each) for number, each in enumerate(facts_of)]

    store, bare = open_store(folder / "sample.db"), open_store(folder / "bare.db")
    store.make("zstd")
    floor = _bare_write(folder, nodes)
    first = _seconds(store, nodes)
    with patch.object(stores, "index_parts", lambda _: []):  # of a document without parts search knows nothing
        without = _seconds(bare, nodes)
    bare.close()
    again = _seconds(store, nodes)
    _change(nodes, document=True)
    document = _seconds(store, nodes)
    _change(nodes, snapshot=True)
    snapshot = _seconds(store, nodes)
    _change(nodes, document=True, snapshot=True)
    both = _seconds(store, nodes)
    store.close()
    yield Figure("save, a new node", SAMPLE / first, "nodes/s", of=f"{SAMPLE} nodes, SQLite, processor time")
    yield Figure("save, a new node: time", first / floor, "times", 8.0, f"{_FLOOR}: {1e3 * floor / SAMPLE:.1f} ms")
    yield Figure("save, an unchanged node: time", again / floor, "times", of=_FLOOR)
    told = "of a save, and as much more in the file as is said below"
    yield Figure("save, a new node: the index for search", 100 * (first - without) / first, "%", of=told)
    yield Figure("save, an unchanged node", again / both, "times", 0.2, "a changed one")
    told = "with its part of the index"
    yield Figure("save, one fact of the document changed", 1e3 * document / SAMPLE, "ms", of=told)
    yield Figure("save, the snapshot changed", 1e3 * snapshot / SAMPLE, "ms", of="which is not in the index")
    yield from _sizes(folder, nodes)


def _change(nodes: list[Saved], *, document: bool = False, snapshot: bool = False) -> None:
    """A fact of each document, and the history of each snapshot."""
    for saved in nodes:
        assert saved.snapshot is not None
        if document:
            saved.document["automatic"]["uptime_seconds"] += 1
        if snapshot:
            saved.snapshot["history"] = [*saved.snapshot["history"], [["bench"], 1, 0, []]]


def _seconds(store: Store, nodes: list[Saved]) -> float:
    """Seconds in which nodes are saved."""
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
