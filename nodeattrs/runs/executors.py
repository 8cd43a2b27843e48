"""Who does the work of a fleet: the word of `--executor` becomes an executor of `concurrent.futures`.

It knows neither nodes nor repositories. The library of a cluster is imported when its word is given.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nodeattrs.errors import BadArgument, FleetError, missing_extra
from nodeattrs.kinds import CLUSTER_GONE

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
