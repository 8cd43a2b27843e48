"""Many nodes, on all processors: each is run and saved as `runs.session` does it.

The work goes to any executor of `concurrent.futures`, a few nodes at a time, so that a fleet of
any size needs the memory of a few. A process reads each file of the repository once, however
many nodes it runs. What fails is told with the others and stops nobody. It prints nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice

from nodeattrs.core.claim import Origin
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.keep import Store, checked_name, open_store
from nodeattrs.runs.facts import Facts, load_facts
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.session import perform, remembered, shown_in

__all__ = ["Fleet", "Outcome", "processors", "resolve", "still_to_do"]

HANDFUL = 8
"""Nodes that a worker is given at once."""

HANDFULS = 64
"""Handfuls that are under way at once, whatever the executor."""

_OF_THE_RUN = ("expanded_run_list", "recipes", "roles")
"""What a run makes itself, and does not take from saved facts."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """What each worker has to know; it can be sent to another process, or another machine.

    repository:  its directory
    store:       a place, as for `open_store`
    facts:       a directory with NODE.json in it, or one file for all; a node that has none there,
                 and every node where this is None, has the facts of its last run
    environment: of all nodes from now on; None leaves each its own
    save:        False runs them and keeps nothing
    force:       see `perform`
    """

    repository: str
    store: str
    facts: str | None = None
    environment: str | None = None
    save: bool = True
    force: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one node.

    error:    what went wrong, in words; "" where nothing did
    revision: its number in the store, or None where nothing was saved
    """

    name: str
    error: str = ""
    revision: int | None = None
    seconds: float = 0.0


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def still_to_do(store: Store, names: Iterable[str], since: datetime) -> list[str]:
    """Those of the nodes that were not saved by a run that went well since then."""
    done = {name for name, last in store.latest() if last is not None and last.noted.ok and last.at >= since}
    return [name for name in names if name not in done]


def resolve(
    fleet: Fleet, names: Iterable[str], *, executor: Executor | None = None, jobs: int | None = None
) -> Iterator[Outcome]:
    """Run nodes, and give what came of each as soon as it is known, in no particular order.

    executor: who does the work; it is left open. Unless given, *jobs* processes of this machine
    jobs:     how many; as many as there are processors unless given, and with 1 this process itself
    raises:   NodeattrsError, where a worker died
    """
    if executor is not None:
        yield from _sent(fleet, names, executor)
        return
    jobs = processors() if jobs is None else jobs
    if jobs < 1:
        raise BadArgument(f"{jobs} processes can do nothing", hint="one is the least")
    if jobs == 1:
        for name in names:
            yield from _resolved(fleet, (name,))
        return
    # Not by forking: connections of this process are nothing to share.
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield from _sent(fleet, names, pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _sent(fleet: Fleet, names: Iterable[str], executor: Executor) -> Iterator[Outcome]:
    waiting = iter(names)
    under_way: set[Future[list[Outcome]]] = set()
    try:
        while True:
            while len(under_way) < HANDFULS and (handful := tuple(islice(waiting, HANDFUL))):
                under_way.add(executor.submit(_resolved, fleet, handful))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    except BrokenExecutor as error:
        raise NodeattrsError(
            "a process that ran nodes has died; what it had saved is kept",
            hint="it may have had too little memory: try with fewer, --jobs 1",
        ) from error
    finally:
        for future in under_way:
            future.cancel()


def _resolved(fleet: Fleet, names: tuple[str, ...]) -> list[Outcome]:
    """What a worker does."""
    return [_one(fleet, name) for name in names]


def _one(fleet: Fleet, name: str) -> Outcome:
    began = time.perf_counter()
    revision = None
    error = ""
    try:
        repository, store = _repository(fleet.repository), _store(fleet.store)
        session = perform(
            repository,
            store,
            name,
            facts=_facts(fleet, repository, store, name),
            environment=fleet.environment,
            save=fleet.save,
            force=fleet.force,
        )
        revision = session.revision.number if session.revision else None
    except NodeattrsError as problem:
        error = str(problem)
    return Outcome(name, error, revision, time.perf_counter() - began)


@lru_cache(maxsize=4)
def _repository(root: str) -> Repository:
    return Repository(root)


@lru_cache(maxsize=4)
def _store(place: str) -> Store:
    return open_store(place)


def _facts(fleet: Fleet, repository: Repository, store: Store, name: str) -> Facts:
    if fleet.facts is not None:
        file = repository.root.__class__(fleet.facts)
        if file.is_dir():
            file /= f"{checked_name(name, 'node')}.json"
        if file.exists() or not file.parent.is_dir():
            return load_facts(file, shown_in(repository, file))
    last = remembered(store, name, repository.config.sensitive)
    if last is None:
        raise BadArgument(
            f"no facts are known of the node {name}", hint=f"put {name}.json into a directory: --facts DIR"
        )
    tree = last.node.automatic.to_dict()
    return Facts({key: value for key, value in tree.items() if key not in _OF_THE_RUN}, Origin("facts", "last run"))
