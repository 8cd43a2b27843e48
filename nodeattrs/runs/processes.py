"""Worker processes on this machine, as an executor of `concurrent.futures`.

Used by `batches.through`. The parent holds the writing ends of two pipes, and each worker the reading ends. A message
in the first pipe asks the workers to begin no other node. The end of the second one makes them exit at once; it
also ends when the parent is killed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from types import FrameType, TracebackType
from typing import Any

from nodeattrs.children import callers_safe_path, restore_safe_path, safe_path


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
