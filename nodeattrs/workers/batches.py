"""Run a function over names, in this process, in worker processes, or on an executor such as a cluster.

    for result in each(function, names, jobs=4): ...

A worker gets a chunk of names at a time. The word of `--executor` chooses the executor; the library of a cluster is
imported only for its word. The module does not know what the function does with a name.

Worker processes of this machine read from two pipes of the parent. A message in the first asks them to begin no further
name. The end of the second makes them exit at once, also when the parent is killed.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
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
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from itertools import chain, islice, takewhile
from multiprocessing.connection import Connection
from socket import gethostname
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from nodeattrs import border
from nodeattrs._version import VERSION
from nodeattrs.border import Border
from nodeattrs.children import callers_safe_path, restore_safe_path, safe_path
from nodeattrs.core.budget import Limits, in_force, limited
from nodeattrs.errors import BadArgument, FleetError, missing_extra
from nodeattrs.kinds import CLUSTER_GONE, OTHER_CLOCK, OTHER_VERSION, WORKER_DIED
from nodeattrs.workers.shipping import PackedRepository, unpack_once


def without_processes() -> str:
    """The reason why this system cannot have worker processes with a shared queue; "" if it can.

    The locks of a queue are files in /dev/shm. Some containers do not let a program write there.
    """
    try:
        multiprocessing.get_context("fork").Lock()
    except OSError as error:
        return error.strerror or str(error)
    except ImportError as error:  # this Python was built without semaphores
        return str(error)
    return ""


class Processes(Executor):
    """An executor with worker processes of this machine, as in `concurrent.futures`. The first task starts all of them.

    jobs: the number of processes

    Use it in a `with` block. At the end of the block, tasks that wait are dropped, and started names are finished.
    After a KeyboardInterrupt the workers end at once. `stop` asks the workers to begin no further name, and returns at
    once; `end` ends them at once. `submit` and `shutdown` work as in `Executor`.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._stop_reader, self._stop_writer = multiprocessing.Pipe(duplex=False)
        self._end_reader, self._end_writer = multiprocessing.Pipe(duplex=False)

    @cached_property
    def _pool(self) -> ProcessPoolExecutor:
        start = (self._stop_reader, self._end_reader, callers_safe_path())
        with safe_path():  # the locks of the pool start a process
            return ProcessPoolExecutor(self._jobs, multiprocessing.get_context("spawn"), _begin, start)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        pool = self._pool  # made outside of safe_path, since the workers learn the caller's
        with safe_path(), _interrupts_blocked():  # the pool may start a process
            return pool.submit(_carried_out, function, *arguments, **named)

    def stop(self) -> None:
        """Ask the workers to begin no further name."""
        if not self._stop_writer.closed:
            self._stop_writer.send_bytes(b"stop")
            self._stop_writer.close()

    def end(self) -> None:
        """End the workers at once, also within a task, whose result is lost; no further task can be submitted."""
        self._end_writer.close()
        # A pool that finds its workers dead before it is shut down prints a traceback for tasks that were cancelled.
        self.shutdown(cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if "_pool" in vars(self):
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
        for end in (self._stop_reader, self._stop_writer, self._end_reader, self._end_writer):
            end.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.end()
        self.stop()
        self.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT: a process that starts meanwhile inherits that, and `_begin` unblocks it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a worker --------------------------------------------------------------------

_stop_reader: Connection | None = None
"""The pipe by which the parent stops this worker; None in a process that is no worker."""


def _is_stopped() -> bool:
    """Whether the parent has asked this worker process to begin no further name; False in other processes."""
    return _stop_reader is not None and _stop_reader.poll()


def _begin(stop: Connection, end: Connection, safe_path_before: str | None) -> None:
    """Make this process a worker: watch both pipes, and leave Ctrl-C to the parent."""
    global _stop_reader
    _stop_reader = stop
    restore_safe_path(safe_path_before)
    threading.Thread(target=_exit_at_end, args=(end,), daemon=True).start()
    # Ctrl-C reaches every process of a terminal. The parent decides what happens. Programs that a node starts do not
    # inherit a function, as they would inherit SIG_IGN.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _carried_out(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Carry out a task in a worker; Python collects garbage after the task and not during it.

    Objects that earlier tasks have left are looked through after every tenth task only. With Python's usual collector,
    a run in which nothing changes takes 1.4 times as long.
    """
    gc.disable()
    try:
        return function(*arguments, **named)
    finally:
        gc.collect(2 if gc.get_count()[2] >= _COLLECTIONS else 1)


_COLLECTIONS = 10
"""The number of collections of new objects alone, before all objects are looked through."""


def _exit_at_end(end: Connection) -> None:
    with suppress(OSError, EOFError):
        end.poll(None)
    os._exit(1)


PATIENCE_SECONDS = 20.0
"""The time for a cluster to answer, and to get a worker."""

_START = "on the machines: dask scheduler; dask worker tcp://HOST:8786"


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Workers:
    """Where `run_in_chunks` runs names: an executor, with the properties that `concurrent.futures` does not have.

    executor:  the executor, which the caller closes; None: this process, or for many names processes of this machine
    jobs:      the number of processes if *executor* is None; None: chosen by the number of names
    processes: these processes, if *executor* is None, for all calls; None: each call starts its own, and ends them
    share:     called with data that all chunks need, returns a handle in its place. So it is sent to each worker once
    width:     called without arguments, returns the number of chunks that can run at once; 0 while no worker is
               connected
    stop:      called without arguments, asks the workers to begin no further name
    elsewhere: whether workers may be on other machines, with other files and clocks
    deaths:    exceptions that mean that workers have died
    ends:      exceptions that mean that the executor has ended
    """

    executor: Executor | None = None
    jobs: int | None = None
    processes: Processes | None = None
    share: Callable[[Any], Any] = lambda thing: thing
    width: Callable[[], int] = lambda: 1
    stop: Callable[[], None] = lambda: None
    elsewhere: bool = False
    deaths: tuple[type[Exception], ...] = ()
    ends: tuple[type[Exception], ...] = ()


@contextmanager
def open_workers(word: str, jobs: int | None = None) -> Iterator[Workers]:
    """A context that gives the Workers for a word: process, thread, dask:ADDRESS, or MODULE:CALLABLE.

    For `process`, the first call with many names starts the processes, and later calls use them again. CALLABLE is
    imported and called without arguments, and returns an executor. At the end of the context, executors, processes,
    threads and the connection to a cluster are shut down.

    jobs:   the number of processes or threads, only for the words process and thread; None: chosen by this system
    raises: BadArgument, for an unknown word, or *jobs* with another word; MissingExtra; FleetError, if a cluster does
            not answer or has no worker
    """
    kind, _, rest = word.partition(":")
    if word == "process":
        with Processes(jobs or processors()) as processes:
            yield Workers(jobs=jobs, processes=processes)
    elif jobs is not None and word != "thread":
        raise BadArgument(f"{word} has its own number of workers", hint="--jobs is about process and thread")
    elif kind == "dask" and rest:
        yield from _dask(rest)
    elif word == "thread" or rest:
        with ThreadPoolExecutor(jobs or processors()) if word == "thread" else _made(kind, rest) as executor:
            yield Workers(executor, elsewhere=word != "thread")
    else:
        hint = "known are process, thread, dask:tcp://HOST:8786 and MODULE:CALLABLE, which makes an executor"
        raise BadArgument(f"{word!r} is no executor", hint=hint)


def _made(module: str, name: str) -> Executor:
    """Import a module, and call its callable *name*; returns the executor. raises: BadArgument, if it makes none"""
    try:
        executor = getattr(import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise BadArgument(f"{module}:{name} makes no executor: {error}", hint="is it on PYTHONPATH?") from error
    if not isinstance(executor, Executor):
        raise BadArgument(f"{module}:{name} makes no executor of concurrent.futures, but {executor!r}")
    return executor


def _dask(address: str) -> Iterator[Workers]:
    try:
        dask = import_module("distributed")
    except ImportError as error:
        raise missing_extra("distributed", "dask", "a Dask cluster") from error
    for name in ("distributed", "distributed.client"):  # they print tracebacks of what is reported as an error here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = dask.Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise FleetError(f"no Dask scheduler answers at {address}", kind=CLUSTER_GONE, hint=_START) from error

    def threads() -> int:
        try:
            return sum(client.nthreads().values())
        except (OSError, RuntimeError):
            return 0

    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise FleetError(
                f"the Dask scheduler at {address} has no worker", kind=CLUSTER_GONE, hint=_START
            ) from error
        yield Workers(
            client.get_executor(),
            share=lambda thing: client.scatter([thing], broadcast=True)[0],
            width=threads,
            elsewhere=True,
            deaths=(dask.scheduler.KilledWorker,),
            ends=(dask.comm.CommClosedError, getattr(dask.client, "ClosedClientError", RuntimeError)),
        )


CHUNK = 8
"""The number of names in a chunk."""

UNDER_WAY = 64
"""The number of chunks that are submitted at once, unless there are many workers."""

_SKEW = 5.0
"""Seconds by which a worker's clock may differ."""

_PAUSE = 0.2
"""Seconds after which a waiting parent asks whether to stop."""

_LOSSES = BrokenExecutor, CancelledError, ImportError
"""Errors that mean that an executor of any kind has given up."""

_SAVED = "what was saved is kept"

_A = TypeVar("_A")
_T = TypeVar("_T")
_Run = Callable[[Iterable[_A]], Iterator[_T]]


def jobs_for(count: int) -> int:
    """The number of processes for *count* names: 1 for few names, which are done before a second process has
    started."""
    return 1 if count < 2 * CHUNK else processors()


def each(one: Callable[[_A], _T], names: Iterable[_A], **how: Any) -> Iterator[_T]:
    """Yield `one(name)` for each name, computed by workers. how: the keyword arguments of `run_in_chunks`"""
    return run_in_chunks(partial(map, one), names, **how)


def run_in_chunks(
    run: _Run[_A, _T],
    names: Iterable[_A],
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    in_order: bool = False,
    stopping: Callable[[], bool] = lambda: False,
    pack: PackedRepository | None = None,
) -> Iterator[_T]:
    """Yield the results of *run* for all names, as workers finish chunks of them. Nothing is yielded without names.

    run:      called with an iterator of names, returns an iterator with one result for each. If the work is stopped,
              the iterator of names ends early. *run* and the results are pickled for other processes
    executor: does the work, and is not closed; None: this process or processes of this machine do it
    jobs:     the number of processes, if *executor* is None. With 1, or if this system cannot have worker processes,
              this process does the work. None: `jobs_for` chooses
    in_order: True: results are in the order of *names*; False: in the order in which chunks are finished
    stopping: called repeatedly; once it returns True no further name is started, and started ones are finished
    pack:     a repository to send to each worker once, which gets it by `unpacked_folder`; None: no repository
    raises:   FleetError, if a worker has died or cannot do the work; BadArgument, for *jobs* below 1. An error of *run*
              is raised unchanged
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
    with nullcontext(workers.processes) if workers.processes else Processes(jobs) as processes:
        own = Workers(processes, stop=processes.stop)
        try:
            yield from _handed_out(processes, own, task, waiting, in_order, stopping, pack)
        except KeyboardInterrupt:
            processes.end()
            raise


def _chunks(names: Iterable[_A]) -> Iterator[list[_A]]:
    """Yield the names in lists of at most `CHUNK`."""
    waiting = iter(names)
    while chunk := list(islice(waiting, CHUNK)):
        yield chunk


def _until(stopping: Callable[[], bool], names: Iterable[_A]) -> Iterator[_A]:
    """Yield the names until *stopping* returns True."""
    return takewhile(lambda _: not stopping(), names)


def _handed_out(
    executor: Executor,
    workers: Workers,
    task: _Task,
    names: Iterable[Any],
    in_order: bool,
    stopping: Callable[[], bool],
    pack: PackedRepository | None,
) -> Iterator[Any]:
    """Submit the chunks to an executor, and yield their results."""
    shared = None if pack is None else workers.share(pack)
    waiting = _chunks(names)
    under_way: list[Future[_ChunkResult]] = []
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
                last_came = time.monotonic()
                if not workers.width():
                    raise FleetError("the cluster has no worker any more", kind=CLUSTER_GONE, hint=_SAVED)
    except losses as error:
        raise _loss(error, workers) from error
    finally:
        for future in under_way:
            future.cancel()


def _finished(under_way: list[Future[_ChunkResult]], in_order: bool) -> list[Future[_ChunkResult]]:
    """Wait a moment for a chunk to finish; returns the finished chunks.

    in_order: True: only those before the first unfinished chunk
    """
    wait(under_way[:1] if in_order else under_way, _PAUSE, FIRST_COMPLETED)
    return list(takewhile(Future.done, under_way) if in_order else filter(Future.done, under_way))


def _require_same_time(done: _ChunkResult, began: float, workers: Workers) -> None:
    """Compare the clock of a worker with ours. raises: FleetError, if they differ: times of revisions would be wrong"""
    if workers.elsewhere and not began - _SKEW < done.at < time.time() + _SKEW:
        raise FleetError(
            f"the clock of {done.host} is another one: {done.at - time.time():+.0f} seconds",
            kind=OTHER_CLOCK,
            hint="set it, for --since and --at go by the times of revisions",
        )


def _loss(error: Exception, workers: Workers) -> FleetError:
    """The FleetError for an error of an executor."""
    if isinstance(error, workers.deaths):
        message, kind, hint = "workers have died over the same nodes", WORKER_DIED, "have they enough memory?"
    elif isinstance(error, ImportError):
        message, kind, hint = f"a worker cannot do it: {error}", OTHER_VERSION, "install the same nodeattrs there"
    elif isinstance(error, BrokenExecutor):
        message, kind = "a process that ran nodes has died", WORKER_DIED
        hint = "it may have had too little memory: try with fewer, --jobs 1"
    else:
        message, kind, hint = (
            "the cluster does not answer, or has dropped the work",
            CLUSTER_GONE,
            "is its scheduler there?",
        )
    return FleetError(f"{message}; {_SAVED}", kind=kind, hint=hint)


# --- in a worker --------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """The work for each chunk: a function, and the limits and the border of this process, which workers use, too."""

    run: Callable[[Iterable[Any]], Iterator[Any]]
    limits: Limits
    border: Border | None = None
    version: str = VERSION


class _ChunkResult(NamedTuple):
    """The results of a chunk.

    host:    the name of the machine that did it
    at:      its clock at the end, in seconds since 1970
    refused: paths outside of the border that were not read
    """

    given: list[Any]
    host: str
    at: float
    refused: tuple[str, ...] = ()


def _run_chunk(task: _Task, pack: PackedRepository | None, names: list[Any]) -> _ChunkResult:
    """Run a chunk. raises: FleetError, where this machine cannot do it for any name"""
    host = gethostname()
    if task.version != VERSION:
        message = f"{host} has nodeattrs {VERSION}, and here it is {task.version}"
        raise FleetError(message, kind=OTHER_VERSION, hint="install the same one there")
    if pack is not None:
        unpack_once(pack)
    with limited(task.limits), border.held(task.border):
        given = list(task.run(_until(_is_stopped, names)))
    refused = tuple(task.border.refused) if task.border is not None else ()
    return _ChunkResult(given, host, time.time(), refused)
