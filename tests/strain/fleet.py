"""Fleets on a cluster of Dask of which something is killed meanwhile: each node is saved once, whatever it was."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from nodeattrs.dialects.chef.fleet import Fleet, compared, resolve, shipped, still_to_do
from nodeattrs.errors import FleetError, NodeattrsError
from nodeattrs.store import open_store
from nodeattrs.workers.batches import open_workers
from tests import dask_programs, postgresql_server
from tests.on_disk import repository

NAMES = [f"n{number:03}" for number in range(120)]
TRIES = 8


def strain(folder: pathlib.Path, count: int, chance: random.Random) -> dict[str, Any]:
    """So many fleets; of each a worker, the scheduler or the server is killed at some moment, and then it goes on."""
    files: dict[str, object] = {
        "cookbooks/app/recipes/default.py": "import time\ntime.sleep(0.05)\nnode.default['n'] = node['fqdn']\n",
        **{f"nodes/{name}.json": {"name": name, "run_list": ["recipe[app]"]} for name in NAMES},
        **{f"facts/{name}.json": {"fqdn": name, "platform": "ubuntu"} for name in NAMES},
    }
    repository(folder / "repo", files)
    bad: list[str] = []
    seen: Counter[str] = Counter()
    for number in range(count):
        kind = chance.choice(["worker", "scheduler", "server"])
        seen[f"{kind} killed"] += 1
        with postgresql_server.server() as url:
            fleet = Fleet(str(folder / "repo"), url, str(folder / "repo" / "facts"))
            bad += [f"{number}, {kind}: {fault}" for fault in _one(fleet, folder, kind, chance, seen)]
    return {"fleets": count, "seen": dict(seen), "bad": bad}


def _one(fleet: Fleet, folder: pathlib.Path, kind: str, chance: random.Random, seen: Counter[str]) -> list[str]:
    began, left, ship = datetime.now(UTC), NAMES, chance.random() < 0.5
    delay = chance.uniform(0.5, 5.0)
    for attempt in range(TRIES):
        with dask_programs.running(folder) as (address, scheduler), contextlib.ExitStack() as stack:
            try:
                with open_workers(f"dask:{address}") as workers:
                    if attempt == 0:
                        kill = _killing(kind, workers.executor, scheduler.pid, fleet.store)
                        stack.enter_context(_after(delay, kill))
                    ready, pack = shipped(fleet, left) if ship else (compared(fleet), None)
                    errors = [one.error for one in resolve(ready, left, executor=workers, pack=pack) if one.error]
                seen["nodes that failed"] += len(errors)
            except FleetError as error:
                seen[error.kind] += 1
        left = still_to_do(open_store(fleet.store), NAMES, began)
        if not left:
            break
    store = open_store(fleet.store)
    numbers = {name: [one.number for one in store.history(name)] for name in NAMES}
    faults = [f"{name} has the revisions {found}" for name, found in numbers.items() if found != [1]]
    return faults + store.check()


def _killing(kind: str, executor: Any, scheduler: int, url: str) -> Callable[[], None]:
    if kind == "scheduler":
        return lambda: os.kill(scheduler, signal.SIGKILL)
    if kind == "worker":
        worker = next(iter(executor._client.run(os.getpid).values()))
        return lambda: os.kill(worker, signal.SIGKILL)

    def away() -> None:
        with postgresql_server.away(url):
            time.sleep(1)

    return away


@contextlib.contextmanager
def _after(seconds: float, task: Callable[[], None]) -> Any:
    """Something is done meanwhile, and is done at the end."""

    def wait() -> None:
        time.sleep(seconds)
        with contextlib.suppress(NodeattrsError, ProcessLookupError):
            task()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()
