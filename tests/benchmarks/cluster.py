"""A fleet on a cluster of Dask beside our own processes: the same nodes, stores and processors, in turns.

PostgreSQL waits for its disk, as one does that keeps things. Dask's workers have begun before the clock does, and have
read the repository: a fleet of some nodes goes first. Our own begin with each call. SQLite stands beside them.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from nodeattrs.dialects.chef.fleet import Fleet, compared, resolve
from nodeattrs.workers.batches import Workers, open_workers
from tests import postgresql_server
from tests.benchmarks.figures import Figure
from tests.benchmarks.fleet import describe, example, write_facts

SIZE = int(os.environ.get("NODEATTRS_CLUSTER", "240"))
BAR = 1 / 0.6
FIRST = [f"n{number}" for number in range(16)]


def cluster_figures(rounds: int) -> Iterator[Figure]:
    """The rates, and how they compare; no node may be lost."""
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        place, facts = str(example(folder)), str(write_facts(folder / "facts", 0, SIZE))
        describe(Path(place), SIZE)
        postgresql_server.IS_DURABLE = True
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
            ways: dict[str, tuple[str, Callable[[], str]]] = {
                "Dask, PostgreSQL": (f"dask:{cluster.scheduler_address}", postgresql_server.fresh),
                "own processes, PostgreSQL": ("process", postgresql_server.fresh),
                "own processes, SQLite": ("process", lambda: tempfile.mkdtemp(dir=folder) + "/nodes.db"),
            }
            rates = dict.fromkeys(ways, (0.0, 0.0))
            for _ in range(min(rounds, 3)):
                for name, (word, store) in ways.items():
                    with open_workers(word, 2 if word == "process" else None) as workers:
                        found = _rates(Fleet(place, store(), facts), workers)
                    rates[name] = max(rates[name][0], found[0]), max(rates[name][1], found[1])
    for number, title in enumerate(("the first run", "a run in which nothing changes")):
        for name, found in rates.items():
            yield Figure(f"{title}: {name}", found[number], "nodes/s", of=f"{SIZE} nodes, two workers")
        dask, own, sqlite = (found[number] for found in rates.values())
        yield Figure(f"{title}: time on Dask", own / dask, "times", BAR, "our own processes")
        if not number:
            yield Figure("the first run: time on PostgreSQL", sqlite / own, "times", of="SQLite, our own processes")


def _rates(fleet: Fleet, workers: Workers) -> tuple[float, float]:
    if workers.elsewhere:
        fleet = compared(fleet)
    list(resolve(replace(fleet, save=False), FIRST, executor=workers))
    return _rate(fleet, workers), _rate(fleet, workers)


def _rate(fleet: Fleet, workers: Workers) -> float:
    began = time.perf_counter()
    outcomes = list(resolve(fleet, [f"n{number}" for number in range(SIZE)], executor=workers))
    seconds = time.perf_counter() - began
    failed = [one.error for one in outcomes if one.error]
    if failed or len(outcomes) != SIZE:
        raise AssertionError(f"{len(outcomes)} of {SIZE} nodes, {failed[:1]}")
    return SIZE / seconds
