"""Hand names out to workers in chunks, and give the results.

    for came in each(function, names, jobs=4): ...

Used by `runs.fleet` and `verbs.impact`. It does not know what is done with a name. Who the workers are is known to
`executors`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, takewhile
from socket import gethostname
from typing import Any, NamedTuple, TypeVar

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.border import Border
from nodeattrs.core.budget import Limits, in_force, limited
from nodeattrs.errors import BadArgument, FleetError
from nodeattrs.kinds import CLUSTER_GONE, OTHER_CLOCK, OTHER_VERSION, WORKER_DIED
from nodeattrs.runs.executors import PATIENCE_SECONDS, Processes, Workers, is_stopped, processors, without_processes
from nodeattrs.runs.shipping import Packed, hold

CHUNK = 8
"""Names that a worker is given at once."""

UNDER_WAY = 64
"""Chunks that are under way at once, unless there are many workers."""

_SKEW = 5.0
"""Seconds by which a worker's clock may differ."""

_PAUSE = 0.2
"""Seconds after which a waiting parent asks whether to stop."""

_LOSSES = BrokenExecutor, CancelledError, ImportError
"""Errors that mean that an executor has given up, whoever made it."""

_SAVED = "what was saved is kept"

_A = TypeVar("_A")
_T = TypeVar("_T")
_Run = Callable[[Iterable[_A]], Iterator[_T]]


def jobs_for(count: int) -> int:
    """How many processes to use for *count* names: a few names are done before a second process has started."""
    return 1 if count < 2 * CHUNK else processors()


def each(one: Callable[[_A], _T], names: Iterable[_A], **how: Any) -> Iterator[_T]:
    """Give what *one* returns for each name. The keywords are those of `through`."""
    return through(partial(map, one), names, **how)


def through(
    run: _Run[_A, _T],
    names: Iterable[_A],
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    stopping: Callable[[], bool] = lambda: False,
    pack: Packed | None = None,
) -> Iterator[_T]:
    """Give what *run* gives for the names, a chunk of them at a time.

    run:      takes names from an iterator, which ends early when the work is stopped, and gives one thing for each.
              It can be sent to another process, and so can what it gives
    executor: does the work, and stays open. Without one, *jobs* processes of this machine do it
    jobs:     1 is this process alone; None lets `jobs_for` choose. Where `without_processes` gives a reason, this
              process does the work
    in_order: give the results in the order of *names*
    stopping: asked again and again. Once it is true no other name is begun, and what has begun is given
    pack:     sent to each worker once
    raises:   FleetError, where a worker has died
    """
    workers = executor if isinstance(executor, Workers) else Workers(executor, jobs)
    task = _Task(run, in_force(), border.in_force())
    if workers.executor is not None:
        yield from _handed_out(workers.executor, workers, task, names, in_order, stopping, pack)
        return
    waiting = iter(names)
    first = list(islice(waiting, 2 * CHUNK))
    waiting = chain(first, waiting)
    jobs = jobs_for(len(first)) if workers.jobs is None else workers.jobs
    if jobs < 1:
        raise BadArgument(f"{jobs} processes can do nothing", hint="one is the least")
    if jobs == 1 or without_processes():
        yield from run(_until(stopping, waiting))
        return
    with Processes(jobs) as processes:
        own = Workers(processes, stop=processes.stop)
        yield from _handed_out(processes, own, task, waiting, in_order, stopping, pack)


def _chunks(names: Iterable[_A]) -> Iterator[list[_A]]:
    """The names, up to `CHUNK` of them at a time."""
    waiting = iter(names)
    while chunk := list(islice(waiting, CHUNK)):
        yield chunk


def _until(stopping: Callable[[], bool], names: Iterable[_A]) -> Iterator[_A]:
    """The names, until it is time to stop."""
    return takewhile(lambda _: not stopping(), names)


def _handed_out(
    executor: Executor,
    workers: Workers,
    task: _Task,
    names: Iterable[Any],
    in_order: bool,
    stopping: Callable[[], bool],
    pack: Packed | None,
) -> Iterator[Any]:
    """Submit the chunks, and give their results."""
    shared = None if pack is None else workers.share(pack)
    waiting = _chunks(names)
    under_way: list[Future[_Done]] = []
    most = max(UNDER_WAY, 2 * workers.width())
    losses: tuple[type[Exception], ...] = (*_LOSSES, *workers.deaths, *workers.ends)
    began, last_came = time.time(), time.monotonic()
    try:
        while True:
            if stopping():
                workers.stop()
                under_way = [future for future in under_way if not future.cancel()]
            else:
                new = islice(waiting, most - len(under_way))
                under_way += [executor.submit(_run_chunk, task, shared, chunk) for chunk in new]
            if not under_way:
                return
            for future in _finished(under_way, in_order):
                under_way.remove(future)
                done, last_came = future.result(), time.monotonic()
                _require_same_time(done, began, workers)
                border.note_refused(done.refused)
                yield from done.given
            if time.monotonic() - last_came > PATIENCE_SECONDS:
                _require_workers(workers)
                last_came = time.monotonic()
    except losses as error:
        raise _loss(error, workers) from error
    finally:
        for future in under_way:
            future.cancel()


def _finished(under_way: list[Future[_Done]], in_order: bool) -> list[Future[_Done]]:
    """Wait a moment for a chunk to finish; those that have, or with *in_order* those that nothing precedes."""
    wait(under_way[:1] if in_order else under_way, _PAUSE, FIRST_COMPLETED)
    return list(takewhile(Future.done, under_way) if in_order else filter(Future.done, under_way))


def _require_workers(workers: Workers) -> None:
    """raises: FleetError, where no worker is left"""
    if not workers.width():
        raise FleetError("the cluster has no worker any more", kind=CLUSTER_GONE, hint=_SAVED)


def _require_same_time(done: _Done, began: float, workers: Workers) -> None:
    """raises: FleetError, where a worker's clock differs: times of revisions would mean nothing"""
    if workers.elsewhere and not began - _SKEW < done.at < time.time() + _SKEW:
        raise FleetError(
            f"the clock of {done.host} is another one: {done.at - time.time():+.0f} seconds",
            kind=OTHER_CLOCK,
            hint="set it, for --since and --at go by the times of revisions",
        )


def _loss(error: Exception, workers: Workers) -> FleetError:
    """What to say when an executor gives up."""
    if isinstance(error, workers.deaths):
        message, kind, hint = "workers have died over the same nodes", WORKER_DIED, "have they enough memory?"
    elif isinstance(error, ImportError):
        message, kind, hint = f"a worker cannot do it: {error}", OTHER_VERSION, "install the same nodeattrs there"
    elif isinstance(error, BrokenExecutor):
        message, kind = "a process that ran nodes has died", WORKER_DIED
        hint = "it may have had too little memory: try with fewer, --jobs 1"
    else:
        message, kind, hint = "the cluster has gone, or let go of the work", CLUSTER_GONE, "is its scheduler there?"
    return FleetError(f"{message}; {_SAVED}", kind=kind, hint=hint)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """What a worker does with a chunk, and under which limits and within which border."""

    run: Callable[[Iterable[Any]], Iterator[Any]]
    limits: Limits
    border: Border | None = None
    version: str = VERSION


class _Done(NamedTuple):
    """What came of a chunk.

    host:    the machine that did it
    at:      its clock at the end, in seconds since 1970
    refused: paths beyond the border that a reader wanted
    """

    given: list[Any]
    host: str
    at: float
    refused: tuple[str, ...] = ()


def _run_chunk(task: _Task, pack: Packed | None, names: list[Any]) -> _Done:
    """Run a chunk. raises: FleetError, where this machine cannot do it for any name"""
    host = gethostname()
    if task.version != VERSION:
        message = f"{host} has nodeattrs {VERSION}, and here it is {task.version}"
        raise FleetError(message, kind=OTHER_VERSION, hint="install the same one there")
    if pack is not None:
        hold(pack)
    with limited(task.limits), border.held(task.border):
        given = list(task.run(_until(is_stopped, names)))
    refused = tuple(task.border.refused) if task.border is not None else ()
    return _Done(given, host, time.time(), refused)
