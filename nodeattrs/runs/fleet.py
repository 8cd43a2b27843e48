"""Many nodes, on all processors: each is run and saved as `runs.session` does it.

The work goes to any executor of `concurrent.futures`, a few nodes at a time, so that a fleet of
any size needs the memory of a few. A process reads each file of the repository once, however
many nodes it runs. What fails is reported with the others, and those go on. It prints nothing, and does
not know what is reported of a run: who wants more than a number hands in who makes it.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from types import FrameType

from nodeattrs.catalog import Catalog, Report
from nodeattrs.core.budget import Limits, hold, in_force
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import checked_name
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.keep import Store, open_store
from nodeattrs.keep.maintenance import last_runs
from nodeattrs.lazily import dataclass, field
from nodeattrs.runs.facts import Facts, load_facts
from nodeattrs.runs.policies import NOTHING_ASKED, Asked
from nodeattrs.runs.recipes import LogLine
from nodeattrs.runs.remembered import remembered
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.session import Session, perform
from nodeattrs.texts.documents import Document, read
from nodeattrs.typed import Any, TypeVar

BATCH = 8
"""Nodes that a worker is given at once."""

BATCHES = 64
"""Batches that are under way at once, whatever the executor."""

_PAUSE = 0.2
"""Seconds after which somebody who waits looks whether it is to stop."""

_OF_THE_RUN = ("expanded_run_list", "recipes", "roles")
"""What a run makes itself, and does not take from saved facts."""

Collect = Callable[[str, Session | NodeattrsError, Sequence[LogLine]], Any]
"""What somebody wants to know of a node: of its session, or of what went wrong and what had been logged by then.
It is called where the node ran; it and what it gives must be fit to be sent between processes."""

Apply = Callable[[str, Catalog], Report]
"""Brings the resources of a node into their state; see `perform`."""

_T = TypeVar("_T")
_Submit = Callable[..., "Future[list[Any]]"]


@dataclass(frozen=True, slots=True)
class Fleet:
    """What each worker has to know; made of texts, it can be sent to another process, or another machine.

    repository:  its directory
    store:       a place, as for `open_store`
    facts:       a directory with NODE.json in it, or one file for all, or the facts of all
    environment: of all nodes from now on; None leaves each its own
    save:        False runs them and keeps nothing
    force:       see `perform`
    new:         whether a node that nobody knows is made
    run_list:    of all nodes from now on; None leaves each its own
    override_run_list: what they run instead of it, this once
    json_attributes: of all nodes: a file, or what was read from it
    asked:       of the repository
    last_facts:  whether a node that *facts* has nothing of, and every node where it is None, has the facts
                 of its last run
    """

    repository: str
    store: str
    facts: str | Facts | None = None
    environment: str | None = None
    save: bool = True
    force: bool = False
    run_list: tuple[str, ...] | None = None
    json_attributes: str | Document | None = None
    last_facts: bool = True
    new: bool = True
    override_run_list: tuple[str, ...] | None = None
    asked: Asked = NOTHING_ASKED


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one node.

    error:     what went wrong, in words; "" where nothing did
    code:      of that error
    revision:  its number in the store, or None where nothing was saved
    collected: what was collected of it, or None
    """

    name: str
    error: str = ""
    code: str = ""
    revision: int | None = None
    seconds: float = 0.0
    collected: Any = None


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_for(count: int) -> int:
    """How many processes so many nodes are worth: few are done before a process has begun."""
    return 1 if count < 2 * BATCH else processors()


def still_to_do(store: Store, names: Iterable[str], since: datetime) -> list[str]:
    """Those of the nodes whose last run was before *since*, or did not go well."""
    done = {name for name, _, run in last_runs(store) if run is not None and run.noted.ok and run.at >= since}
    return [name for name in names if name not in done]


def resolve(
    fleet: Fleet,
    names: Iterable[str],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    collect: Collect | None = None,
    apply: Apply | None = None,
    stopping: Callable[[], bool] | None = None,
) -> Iterator[Outcome]:
    """Run nodes, and give what came of each as soon as it is known.

    executor: who does the work, here or elsewhere, in threads or processes; it is left open. Unless given,
              *jobs* processes of this machine
    jobs:     how many; `jobs_for` says how many unless given, and with 1 this process itself
    in_order: give the outcomes in the order of *names*, and not in that in which they come
    collect:  makes `Outcome.collected`
    apply:    see `perform`
    stopping: asked again and again; once it says so no other node is begun, and what has begun is given
    raises:   NodeattrsError, where a worker died
    """
    work = _Work(fleet, collect, apply)
    try:
        yield from each(partial(_one, work), names, executor=executor, jobs=jobs, in_order=in_order, stopping=stopping)
    finally:
        with suppress(NodeattrsError):  # reported for each node
            _close(work)


def each(
    one: Callable[[str], _T],
    names: Iterable[str],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    stopping: Callable[[], bool] | None = None,
) -> Iterator[_T]:
    """What *one* gives for each name, on any number of processes; the words are those of `resolve`.

    one:    can be sent to another process, and so can what it gives
    raises: NodeattrsError, where a worker died
    """
    stopping = stopping or (lambda: False)
    if executor is not None:
        yield from _sent(one, names, executor.submit, BATCH, in_order, stopping)
        return
    waiting = iter(names)
    first = tuple(islice(waiting, 2 * BATCH))
    jobs = jobs_for(len(first)) if jobs is None else jobs
    if jobs < 1:
        raise BadArgument(f"{jobs} processes can do nothing", hint="one is the least")
    if jobs == 1:
        for name in chain(first, waiting):
            if stopping():
                return
            yield one(name)
        return
    batch = min(BATCH, math.ceil(len(first) / jobs)) or 1
    with _pool(jobs, stopping) as (submit, asked):
        yield from _sent(one, chain(first, waiting), submit, batch, in_order, asked)


def _sent(
    one: Callable[[str], _T],
    names: Iterable[str],
    submit: _Submit,
    batch: int,
    in_order: bool,
    stopping: Callable[[], bool],
) -> Iterator[_T]:
    waiting = iter(names)
    under_way: list[Future[list[_T]]] = []
    try:
        while True:
            if stopping():
                # What has begun cannot be called back: it is waited for.
                under_way = [future for future in under_way if not future.cancel()]
            else:
                while len(under_way) < BATCHES and (some := tuple(islice(waiting, batch))):
                    under_way.append(submit(_resolved, one, some))
            if not under_way:
                return
            wait(under_way[:1] if in_order else under_way, _PAUSE, FIRST_COMPLETED)
            done = [future for future in under_way if future.done()]
            if in_order:
                done = [future for future, other in zip(done, under_way, strict=False) if future is other]
            for future in done:
                under_way.remove(future)
                yield from future.result()
    except BrokenExecutor as error:
        raise NodeattrsError(
            "a process that ran nodes has died; what it had saved is kept",
            hint="it may have had too little memory: try with fewer, --jobs 1",
        ) from error
    finally:
        for future in under_way:
            future.cancel()


@contextmanager
def _pool(jobs: int, stopping: Callable[[], bool]) -> Iterator[tuple[_Submit, Callable[[], bool]]]:
    """The way to processes of our own, and *stopping*, which reaches them too."""
    # Imported here: a few nodes need no processes, and these modules take a while.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not by forking: connections of this process are nothing to share.
    context = multiprocessing.get_context("spawn")
    stop = context.RawValue("b", 0)

    def asked() -> bool:
        if not stop.value and stopping():
            stop.value = 1
        return bool(stop.value)

    pool = ProcessPoolExecutor(jobs, context, _begin, (stop, in_force()))

    def submit(*words: Any) -> Future[list[Outcome]]:
        with _not_interrupted():  # it may start a process
            return pool.submit(*words)

    try:
        yield submit, asked
    finally:
        stop.value = 1
        pool.shutdown(cancel_futures=True)


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Ctrl-C reaches processes that begin meanwhile when they are ready for it, and this one at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # it would undo what follows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker is sent with each batch. Two are equal where they belong to one call of `resolve`."""

    fleet: Fleet = field(compare=False)
    collect: Collect | None = field(default=None, compare=False)
    apply: Apply | None = field(default=None, compare=False)
    call: str = field(default_factory=lambda: uuid.uuid4().hex)


class _Stop:
    """What a process of our own pool knows of stopping.

    by_the_fleet: shared with the others: not 0 once no other node is to be begun; None in any other process
    by_hand:      whether Ctrl-C, which reaches all processes of a terminal, has reached this one
    at_work:      whether a node is running
    """

    by_the_fleet: Any = None
    by_hand = False
    at_work = False


def _begin(stop: Any, limits: Limits) -> None:
    hold(limits)
    threading.Thread(target=_end_with_the_fleet, daemon=True).start()
    _Stop.by_the_fleet = stop
    # Between batches is the time to look for circles, and not whenever a file of facts is read.
    gc.disable()
    signal.signal(signal.SIGINT, _interrupted)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_the_fleet() -> None:
    """Nobody sends work to a process whose parent was killed, and nobody would end it."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    # The first time it is for the fleet to say what happens; the second time somebody is in a hurry.
    if _Stop.by_hand and _Stop.at_work and _Stop.by_the_fleet.value:
        raise KeyboardInterrupt
    _Stop.by_hand = True


def _resolved(one: Callable[[str], _T], names: tuple[str, ...]) -> list[_T]:
    """What a worker does."""
    outcomes: list[_T] = []
    _Stop.at_work = True
    try:
        for name in names:
            if _Stop.by_the_fleet is not None and _Stop.by_the_fleet.value:
                break
            outcomes.append(one(name))
    except KeyboardInterrupt:
        if _Stop.by_the_fleet is None:
            raise
    finally:
        _Stop.at_work = False
        if not gc.isenabled():
            gc.collect()
    return outcomes


def _one(work: _Work, name: str) -> Outcome:
    began = time.perf_counter()
    fleet, collect, error, revision, collected = work.fleet, work.collect, "", None, None
    code = ""
    log: list[LogLine] = []
    try:
        worker = _worker(work)
        session = perform(
            worker.repository,
            worker.store,
            name,
            facts=worker.facts_of(name),
            run_list=fleet.run_list,
            override_run_list=fleet.override_run_list,
            environment=fleet.environment,
            json_attributes=worker.json_attributes,
            save=fleet.save,
            force=fleet.force,
            new=fleet.new,
            apply=partial(work.apply, name) if work.apply else None,
            log=log.append,
        )
        revision = session.revision.number if session.revision else None
        collected = collect(name, session, log) if collect else None
    except NodeattrsError as problem:
        error, code = str(problem), problem.code
        collected = collect(name, problem, log) if collect else None
    return Outcome(name, error, code, revision, time.perf_counter() - began, collected)


class _Worker:
    """What one process has open for a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.repository = Repository(fleet.repository, asked=fleet.asked)
        self.store = open_store(fleet.store)

    @cached_property
    def json_attributes(self) -> Document | None:
        """Those of all nodes."""
        given = self._fleet.json_attributes
        return read(Path(given), self.repository.shown(Path(given))) if isinstance(given, str) else given

    def facts_of(self, name: str) -> Facts:
        """Those of a node. raises: as `load_facts`; BadArgument, where there are none"""
        given = self._fleet.facts
        if isinstance(given, Facts):
            return given
        if given is not None:
            file = Path(given)
            if not file.is_dir():
                return self._shared
            file /= f"{checked_name(name, 'node')}.json"
            if file.exists() or not self._fleet.last_facts:
                return load_facts(file, self.repository.shown(file), settled=True)
        return self._last_facts(name)

    @cached_property
    def _shared(self) -> Facts:
        file = Path(str(self._fleet.facts))
        return load_facts(file, self.repository.shown(file), settled=True)

    def _last_facts(self, name: str) -> Facts:
        last = remembered(self.store, name, self.repository.config.sensitive)
        tree = last.node.automatic.to_dict() if last else {}
        if not tree:
            raise BadArgument(
                f"no facts are known of the node {name}", hint=f"put {name}.json into a directory: --facts DIR"
            )
        return Facts({key: value for key, value in tree.items() if key not in _OF_THE_RUN}, Origin("facts", "last run"))


@lru_cache(maxsize=4)
def _worker(work: _Work) -> _Worker:
    return _Worker(work.fleet)


def _close(work: _Work) -> None:
    if _worker.cache_info().currsize:
        _worker(work).store.close()
