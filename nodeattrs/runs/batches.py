"""Work on many things, a few at a time, by any executor of `concurrent.futures`, or processes of our own.

It says how much a worker is given at once, how the work is stopped, what it means that workers have gone, and what a
worker does around each batch. It does not know what the work is.
"""

from __future__ import annotations

import atexit
import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from io import IOBase
from itertools import chain, islice
from multiprocessing import parent_process
from multiprocessing.resource_tracker import ensure_running
from multiprocessing.util import Finalize
from socket import gethostname
from threading import Lock
from types import FrameType
from typing import Any, NamedTuple, TypeVar

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.border import Border
from nodeattrs.children import callers_safe_path, restore_safe_path, safe_path
from nodeattrs.core.budget import Limits, in_force, limited
from nodeattrs.errors import BadArgument, FleetError
from nodeattrs.keep.stores import may_be_copied
from nodeattrs.kinds import CLUSTER_GONE, OTHER_CLOCK, OTHER_VERSION, WORKER_DIED
from nodeattrs.runs.executors import BATCHES, PATIENCE_SECONDS, Sizes, Workers, processors, without_processes
from nodeattrs.runs.shipping import Packed, hold

BATCH = 8
"""Nodes that a worker is given at once, until it is known how long they take."""

TOGETHER = 2 * BATCH
"""So many a process of our own is given where there are many; and so many are saved at once."""

_SKEW = 5.0
"""Seconds by which a worker's clock may differ."""

_PAUSE = 0.2
"""Seconds after which somebody who waits looks whether it is to stop."""

_A = TypeVar("_A")
_T = TypeVar("_T")
_Submit = Callable[..., "Future[_Done]"]


def _nothing() -> None:
    """What is called where nobody has anything to do."""


def jobs_for(count: int) -> int:
    """How many processes so many nodes are worth: few are done before a process has begun."""
    return 1 if count < 2 * BATCH else processors()


def each(one: Callable[[_A], _T], names: Iterable[_A], **how: Any) -> Iterator[_T]:
    """What *one* gives for each name; the words are those of `through`."""
    return through(partial(map, one), names, **how)


def through(
    some: Callable[[Iterable[_A]], Iterator[_T]],
    names: Iterable[_A],
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    stopping: Callable[[], bool] | None = None,
    repository: Packed | None = None,
    ready: Callable[[], None] = _nothing,
    ending: Callable[[], None] = _nothing,
) -> Iterator[_T]:
    """What *some* gives for the names, one for each, on any number of processes; the words are those of `resolve`.

    some:   is given names as long as there are any, and nobody has stopped; what it gives may come later, and in their
            order. It can be sent to another process, and so can what it gives
    jobs:   how many processes; this one alone where `without_processes` says why it must
    ready:  called before processes begin as copies of this one: what it loads they have
    ending: called in each of these before it ends
    raises: FleetError, where a worker died
    """
    stopping = stopping or (lambda: False)
    workers = executor if isinstance(executor, Workers) else Workers(executor, jobs)
    task = _Task(some, in_force(), border.in_force())
    if workers.executor is not None:
        submit: _Submit = workers.executor.submit
        shared = None if repository is None else workers.share(repository)
        sizes = Sizes(BATCH, workers.width())
        yield from _sent(partial(submit, _resolved, task, shared), names, workers, sizes, in_order, stopping)
        return
    waiting = iter(names)
    first = tuple(islice(waiting, 2 * TOGETHER))
    jobs = jobs_for(len(first)) if workers.jobs is None else workers.jobs
    if jobs < 1:
        raise BadArgument(f"{jobs} processes can do nothing", hint="one is the least")
    if jobs == 1 or without_processes():
        yield from some(_until(stopping, chain(first, waiting)))
        return
    sizes = Sizes(min(TOGETHER, math.ceil(len(first) / jobs)) or 1)
    is_copied = workers.copied and _is_alone()
    if is_copied:
        ready()
    with _pool(jobs, stopping, is_copied, ending) as (submit_to, asked):
        yield from _sent(
            partial(submit_to, _resolved, task, None), chain(first, waiting), workers, sizes, in_order, asked
        )


def _until(stopping: Callable[[], bool], names: Iterable[_A]) -> Iterator[_A]:
    """The names, until it is time to stop."""
    for name in names:
        if stopping():
            return
        yield name


def _sent(
    submit: _Submit,
    names: Iterable[Any],
    workers: Workers,
    sizes: Sizes,
    in_order: bool,
    stopping: Callable[[], bool],
) -> Iterator[Any]:
    waiting = iter(names)
    under_way: dict[Future[_Done], tuple[Any, ...]] = {}
    began, most, idle = time.time(), max(BATCHES, 2 * workers.width()), time.monotonic()
    try:
        while True:
            if stopping():
                # What has begun cannot be called back: it is waited for.
                under_way = {future: some for future, some in under_way.items() if not future.cancel()}
            else:
                while len(under_way) < most and (some := tuple(islice(waiting, sizes.next))):
                    under_way[submit(some)] = some
            if not under_way:
                return
            wait([next(iter(under_way))] if in_order else under_way, _PAUSE, FIRST_COMPLETED)
            done = [future for future in under_way if future.done()]
            if in_order:
                done = [future for future, other in zip(done, under_way, strict=False) if future is other]
            for future in done:
                came = future.result()
                del under_way[future]
                sizes.learn(len(came.given), came.seconds)
                _require_same_time(came, began, workers)
                border.note_refused(came.refused)
                yield from came.given
            idle = _require_workers(workers, time.monotonic() if done else idle)
    except (*_losses(), *workers.deaths, *workers.ends) as error:
        raise _loss(error, workers) from error
    finally:
        for future in under_way:
            future.cancel()


def _require_workers(workers: Workers, idle: float) -> float:
    """Since when nothing has come. raises: FleetError, where that is long ago, and nobody is there"""
    if time.monotonic() - idle < PATIENCE_SECONDS:
        return idle
    if not workers.width():
        raise FleetError("the cluster has no worker any more", kind=CLUSTER_GONE, hint=_KEPT)
    return time.monotonic()


def _require_same_time(came: _Done, began: float, workers: Workers) -> None:
    """raises: FleetError, where a worker's clock is another one: times of revisions would mean nothing"""
    if workers.elsewhere and not began - _SKEW < came.at < time.time() + _SKEW:
        raise FleetError(
            f"the clock of {came.host} is another one: {came.at - time.time():+.0f} seconds",
            kind=OTHER_CLOCK,
            hint="set it, for --since and --at go by the times of revisions",
        )


_KEPT = "what was saved is kept"


def _losses() -> tuple[type[Exception], ...]:
    return BrokenExecutor, CancelledError, ImportError


def _loss(error: Exception, workers: Workers) -> FleetError:
    """What it means that an executor gave up."""
    if isinstance(error, workers.deaths):
        message, kind, hint = "workers have died over the same nodes", WORKER_DIED, "have they enough memory?"
    elif isinstance(error, ImportError):
        message, kind, hint = f"a worker cannot do it: {error}", OTHER_VERSION, "install the same nodeattrs there"
    elif isinstance(error, BrokenExecutor):
        message, kind = "a process that ran nodes has died", WORKER_DIED
        hint = "it may have had too little memory: try with fewer, --jobs 1"
    else:
        message, kind, hint = "the cluster has gone, or let go of the work", CLUSTER_GONE, "is its scheduler there?"
    return FleetError(f"{message}; {_KEPT}", kind=kind, hint=hint)


def _is_alone() -> bool:
    """Whether a copy of this process would have all of it: other threads would be missing, with what they hold, and
    locks of a store are nothing to copy.

    Elsewhere than on Linux nobody says how many threads there are, and libraries of the system take no copies.
    """
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1 and may_be_copied()
    except OSError:
        return False


@contextmanager
def _pool(
    jobs: int, stopping: Callable[[], bool], is_copied: bool, ending: Callable[[], None]
) -> Iterator[tuple[_Submit, Callable[[], bool]]]:
    """The way to processes of our own, and *stopping*, which reaches them too."""
    # Imported here: a few nodes need no processes, and these modules take a while.
    # Connections of this process are nothing to share, so that they are copies only where somebody says so.
    context = multiprocessing.get_context("fork" if is_copied else "spawn")
    stop = context.RawValue("b", 0)

    def asked() -> bool:
        if not stop.value and stopping():
            stop.value = 1
        return bool(stop.value)

    before = callers_safe_path()
    with safe_path():  # its locks start a process that keeps track of them
        pool = ProcessPoolExecutor(jobs, context, _begin, (stop, is_copied, ending, before))

    def submit(*words: Any) -> Future[_Done]:
        with safe_path(), _not_interrupted(is_copied):  # it may start a process
            return pool.submit(*words)

    try:
        yield submit, asked
    finally:
        stop.value = 1
        pool.shutdown(cancel_futures=True)


@contextmanager
def _not_interrupted(is_copied: bool) -> Iterator[None]:
    """Ctrl-C reaches processes that begin meanwhile when they are ready for it, and this one at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if not is_copied:  # copies have nothing to keep track of
        ensure_running()  # it would undo what follows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """What is done with nodes, wherever that is, under which limits and within which border."""

    some: Callable[[Iterable[Any]], Iterator[Any]]
    limits: Limits
    border: Border | None = None
    version: str = VERSION


class _Done(NamedTuple):
    """What came of a batch, on which machine, when that was there, and how long it took."""

    given: list[Any]
    host: str
    at: float
    seconds: float
    refused: tuple[str, ...] = ()


class _Stop:
    """What a process of our own pool knows of stopping.

    by_the_fleet: shared with the others: not 0 once no other node is to be begun; None in any other process
    by_hand:      whether Ctrl-C, which reaches all processes of a terminal, has reached this one
    at_work:      whether a node is running
    """

    by_the_fleet: Any = None
    by_hand = False
    at_work = False


def _begin(stop: Any, is_copied: bool, ending: Callable[[], None], safe_path_before: str | None) -> None:
    restore_safe_path(safe_path_before)
    if is_copied:
        Finalize(None, _end, (ending, _open_files()), exitpriority=0)
        if sys.version_info < _HAVE_EXITS:
            atexit._clear()  # what came along is to be done where it comes from
        gc.freeze()  # and is nothing to look through
    threading.Thread(target=_end_with_the_fleet, daemon=True).start()
    _Stop.by_the_fleet = stop
    signal.signal(signal.SIGINT, _interrupted)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end(ending: Callable[[], None], came_along: set[tuple[str, str]]) -> None:
    """Do what other processes do at their end, which a copy does not come to: what programs have left open is written,
    and what they wanted to have done at the end is done.
    """
    ending()
    if sys.version_info < _HAVE_EXITS:
        atexit._run_exitfuncs()
    if _open_files() - came_along:
        for one in gc.get_objects():
            if issubclass(type(one), IOBase) and not one.closed:
                with suppress(OSError, ValueError):
                    one.flush()


_HAVE_EXITS = (3, 13)
"""From this version of Python on copies do at their end what was given to `atexit`."""


def _open_files() -> set[tuple[str, str]]:
    """What is open, by its number, which another one may have later, and what it is."""
    found, folder = set(), "/proc/self/fd"
    for number in os.listdir(folder):
        with suppress(OSError):  # that of the folder itself
            found.add((number, os.readlink(f"{folder}/{number}")))
    return found


def _end_with_the_fleet() -> None:
    """Nobody sends work to a process whose parent was killed, and nobody would end it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    # The first time it is for the fleet to say what happens; the second time somebody is in a hurry.
    if _Stop.by_hand and _Stop.at_work and _Stop.by_the_fleet.value:
        raise KeyboardInterrupt
    _Stop.by_hand = True


_ALL = 64
"""One of so many batches after which the collector looks at everything."""


class _Quiet:
    """While it lasts the collector does not run: between batches is the time to look for circles, and not whenever a
    file of facts is read. Several threads may be in it.

    It looks at what the batch has left: at all, which takes as long as some nodes, once in a while.
    """

    _lock, _inside, _was, _batches = Lock(), 0, False, 0

    @classmethod
    @contextmanager
    def kept(cls) -> Iterator[None]:
        with cls._lock:
            if not cls._inside:
                cls._was = gc.isenabled()
                gc.disable()
            cls._inside += 1
        try:
            yield
        finally:
            with cls._lock:
                cls._inside -= 1
                cls._batches += 1
                gc.collect(1 if cls._batches % _ALL else 2)
                if not cls._inside and cls._was:
                    gc.enable()


def _resolved(task: _Task, shared: Packed | None, names: tuple[Any, ...]) -> _Done:
    """What a worker does. raises: FleetError, where it cannot do it for any node"""
    began, host = time.perf_counter(), gethostname()
    if task.version != VERSION:
        message = f"{host} has nodeattrs {VERSION}, and here it is {task.version}"
        raise FleetError(message, kind=OTHER_VERSION, hint="install the same one there")
    if shared is not None:
        hold(shared)
    outcomes: list[Any] = []
    _Stop.at_work = True
    try:
        with _Quiet.kept(), limited(task.limits), border.held(task.border):
            for outcome in task.some(
                _until(lambda: _Stop.by_the_fleet is not None and _Stop.by_the_fleet.value, names)
            ):
                outcomes.append(outcome)
    except KeyboardInterrupt:
        if _Stop.by_the_fleet is None:
            raise
    finally:
        _Stop.at_work = False
    refused = tuple(task.border.refused) if task.border is not None else ()
    return _Done(outcomes, host, time.time(), time.perf_counter() - began, refused)
