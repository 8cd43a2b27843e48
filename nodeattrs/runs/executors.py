"""Who does the work of a fleet: a word becomes an executor of concurrent.futures.

It knows clusters by their way to an executor, and neither nodes nor repositories. A library is imported where it is
asked for.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nodeattrs.errors import BadArgument, FleetError, missing_extra
from nodeattrs.kinds import CLUSTER_GONE

BATCHES = 64
"""Batches that are under way at once, unless there are many workers."""

SECONDS = 0.25
"""How long a batch should take: long beside its way to a worker, short beside the fleet."""

_A_SECOND = 200
"""Batches that whoever hands them out can hand out in a second; many workers are given longer ones."""

_LARGEST = 512
"""Nodes of a batch."""

PATIENCE_SECONDS = 20.0
"""How long a cluster may take to answer, or to have a worker."""

_START = "on the machines: dask scheduler; dask worker tcp://HOST:8786"


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def without_processes() -> str:
    """Why several processes cannot work together here; "" where they can.

    Their locks and shared memory are files in /dev/shm, which some containers do not let a program write.
    """
    try:
        context = multiprocessing.get_context("fork")
        context.Lock()
        context.RawValue("b", 0)
    except OSError as error:
        return error.strerror or str(error)
    except ImportError as error:  # this Python was built without semaphores
        return str(error)
    return ""


@dataclass(frozen=True)
class Workers:
    """An executor, and what a fleet has to know of it.

    executor:  None are processes of our own
    jobs:      how many of these; None leaves it open
    copied:    they may begin as copies of this process: nothing is open here that they would share, such as a socket
    share:     makes of what all batches need something that may be an argument of each, and is sent to a worker once
    width:     how many batches can run at once, as far as that is known; 0 where nobody is there
    elsewhere: on other machines, or nobody knows where: their files need not be those of this one
    deaths:    errors by which it says that workers have died
    ends:      errors by which it says that it is gone itself
    """

    executor: Executor | None = None
    jobs: int | None = None
    copied: bool = False
    share: Callable[[Any], Any] = lambda thing: thing
    width: Callable[[], int] = lambda: 1
    elsewhere: bool = False
    deaths: tuple[type[Exception], ...] = ()
    ends: tuple[type[Exception], ...] = ()


@contextmanager
def opened(word: str, jobs: int | None = None) -> Iterator[Workers]:
    """The workers that a word names: process, thread, dask:ADDRESS, or MODULE:CALLABLE, which makes an executor.

    Who asks for processes has nothing open that they would share, such as a socket: they may begin as copies.

    jobs:   how many processes or threads
    raises: BadArgument, MissingExtra; FleetError, where a cluster does not answer
    """
    kind, _, rest = word.partition(":")
    if word == "process":
        yield Workers(jobs=jobs, copied=True)
    elif jobs is not None and word != "thread":
        raise BadArgument(f"{word} has its own number of workers", hint="--jobs is about process and thread")
    elif kind == "dask" and rest:
        yield from _dask(rest)
    elif word == "thread" or rest:
        # Threads see the files that we see.
        with _threads(jobs) if word == "thread" else _made(kind, rest) as executor:
            yield Workers(executor, elsewhere=word != "thread")
    else:
        hint = "known are process, thread, dask:tcp://HOST:8786 and MODULE:CALLABLE, which makes an executor"
        raise BadArgument(f"{word!r} is no executor", hint=hint)


def _threads(jobs: int | None) -> Executor:
    return ThreadPoolExecutor(jobs or processors())


def _made(module: str, name: str) -> Executor:
    """What a callable of a module gives. Whoever names it asks for its code to be run."""
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
    for name in ("distributed", "distributed.client"):  # they print whole tracebacks of what is an error here
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


class Sizes:
    """How many nodes make a batch: as many as take SECONDS, going by those that are done.

    first: before anything is known
    width: how many batches run at once
    """

    def __init__(self, first: int, width: int = 1) -> None:
        self.next = first
        self._seconds = max(SECONDS, width / _A_SECOND)

    def learn(self, count: int, seconds: float) -> None:
        """So many have taken so long."""
        if count:
            fitting = int(count * self._seconds / max(seconds, 1e-6))
            # Step by step: the first nodes of a worker wait for its repository, others may be small.
            self.next = max(1, min(fitting, 2 * self.next, _LARGEST))
