"""Who does the work of a fleet: the word of `--executor` becomes an executor of `concurrent.futures`.

It knows neither nodes nor repositories. The library of a cluster is imported when its word is given.

Of worker processes on this machine the parent holds the writing ends of two pipes, and each worker the reading ends. A
message in the first pipe asks the workers to begin no other node. The end of the second one makes them exit at once;
it also ends when the parent is killed.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from types import FrameType, TracebackType
from typing import Any

from nodeattrs.children import callers_safe_path, restore_safe_path, safe_path
from nodeattrs.errors import BadArgument, FleetError, missing_extra
from nodeattrs.kinds import CLUSTER_GONE


def without_processes() -> str:
    """Why worker processes cannot share a queue here; "" where they can.

    The locks of a queue are files in /dev/shm, which some containers do not let a program write.
    """
    try:
        multiprocessing.get_context("fork").Lock()
    except OSError as error:
        return error.strerror or str(error)
    except ImportError as error:  # this Python was built without semaphores
        return str(error)
    return ""


class Processes(Executor):
    """Worker processes. The end of a `with` block lets the nodes that are running finish, and waits for them.

    A KeyboardInterrupt that leaves the block ends the workers at once.
    """

    def __init__(self, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._stop_reader, self._stop_writer = context.Pipe(duplex=False)
        self._end_reader, self._end_writer = context.Pipe(duplex=False)
        start = (self._stop_reader, self._end_reader, callers_safe_path())
        with safe_path():  # the locks of the pool start a process
            self._pool = ProcessPoolExecutor(jobs, context, _begin, start)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        with safe_path(), _interrupts_blocked():  # the pool may start a process
            return self._pool.submit(_carried_out, function, *arguments, **named)

    def stop(self) -> None:
        """Ask the workers to begin no other node."""
        if not self._stop_writer.closed:
            self._stop_writer.send_bytes(b"stop")
            self._stop_writer.close()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
        for end in (self._stop_reader, self._stop_writer, self._end_reader, self._end_writer):
            end.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._end_writer.close()
        self.stop()
        self.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT: a process that starts meanwhile inherits that, and `_begin` unblocks it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a worker --------------------------------------------------------------------

_stop_reader: Connection | None = None
"""The pipe by which the parent stops this worker; None in a process that is no worker."""


def is_stopped() -> bool:
    """Whether the parent has asked this worker to begin no other node."""
    return _stop_reader is not None and _stop_reader.poll()


def _begin(stop: Connection, end: Connection, safe_path_before: str | None) -> None:
    """Make this process a worker."""
    global _stop_reader
    _stop_reader = stop
    restore_safe_path(safe_path_before)
    threading.Thread(target=_exit_at_end, args=(end,), daemon=True).start()
    # Ctrl-C reaches every process of a terminal. The parent decides what happens. Programs that a node starts do not
    # inherit a function, as they would inherit SIG_IGN.
    signal.signal(signal.SIGINT, _pass)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _carried_out(function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
    """Carry out a task, and look for unreachable objects after it instead of in the middle of it.

    What the first task has loaded lives as long as the worker, so it is not looked through again. With Python's usual
    collector a run in which nothing changes takes 1.4 times as long.
    """
    gc.disable()
    try:
        return function(*arguments, **named)
    finally:
        gc.collect()
        if not gc.get_freeze_count():
            gc.freeze()


def _exit_at_end(end: Connection) -> None:
    with suppress(OSError, EOFError):
        end.poll(None)
    os._exit(1)


def _pass(_number: int, _frame: FrameType | None) -> None:
    """Do nothing."""


PATIENCE_SECONDS = 20.0
"""How long a cluster may take to answer, or to have a worker."""

_START = "on the machines: dask scheduler; dask worker tcp://HOST:8786"


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Workers:
    """An executor, and what `concurrent.futures` does not say of it.

    executor:  None stands for this process, or processes of its own where there are many nodes
    jobs:      how many of these; None lets the count of nodes decide
    share:     turns something that all chunks need into an argument that is sent to each worker once
    width:     how many chunks can run at once, as far as that is known; 0 where no worker is left
    stop:      asks the workers to begin no other node
    elsewhere: the workers are, or may be, on other machines with files of their own
    deaths:    errors that mean that workers have died
    ends:      errors that mean that the executor itself is gone
    """

    executor: Executor | None = None
    jobs: int | None = None
    share: Callable[[Any], Any] = lambda thing: thing
    width: Callable[[], int] = lambda: 1
    stop: Callable[[], None] = lambda: None
    elsewhere: bool = False
    deaths: tuple[type[Exception], ...] = ()
    ends: tuple[type[Exception], ...] = ()


@contextmanager
def opened(word: str, jobs: int | None = None) -> Iterator[Workers]:
    """The workers that a word names: process, thread, dask:ADDRESS, or MODULE:CALLABLE, which makes an executor.

    jobs:   how many processes or threads
    raises: BadArgument, MissingExtra; FleetError, where a cluster does not answer
    """
    kind, _, rest = word.partition(":")
    if word == "process":
        yield Workers(jobs=jobs)
    elif jobs is not None and word != "thread":
        raise BadArgument(f"{word} has its own number of workers", hint="--jobs is about process and thread")
    elif kind == "dask" and rest:
        yield from _dask(rest)
    elif word == "thread" or rest:
        with _threads(jobs) if word == "thread" else _made(kind, rest) as executor:
            yield Workers(executor, elsewhere=word != "thread")
    else:
        hint = "known are process, thread, dask:tcp://HOST:8786 and MODULE:CALLABLE, which makes an executor"
        raise BadArgument(f"{word!r} is no executor", hint=hint)


def _threads(jobs: int | None) -> Executor:
    return ThreadPoolExecutor(jobs or processors())


def _made(module: str, name: str) -> Executor:
    """The executor that a callable of a module makes. To name a module on the command line is to ask for its code."""
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
