"""Loop over many nodes, so that Ctrl-C ends the loop after the results that are complete.

The module knows signals and the terminal, and not what a node is.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nodeattrs.cli.terminal import Terminal


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """A context manager: within the block the first Ctrl-C only sets a flag, and a second one raises KeyboardInterrupt.

    It gives a function that returns the flag. Outside of the main thread, and where another handler is installed,
    nothing changes, and the function always returns False.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield lambda: False  # other code decides what Ctrl-C means
        return
    is_stopping = False

    def stop(_number: int, _frame: Any) -> None:
        nonlocal is_stopping
        is_stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: is_stopping
    finally:
        signal.signal(signal.SIGINT, before)


def go_through(
    terminal: Terminal,
    count: int,
    outcomes: Callable[[Callable[[], bool]], Iterable[Any]],
    take: Callable[[Any], None],
    stopping: Callable[[], bool] | None = None,
    *,
    jobs: int | None = 1,
) -> int:
    """Pass each outcome of many nodes to *take*, with a progress bar, until Ctrl-C; returns the number taken.

    Ctrl-C raises nothing, not even a second one: the remaining outcomes are not taken. Errors of *outcomes* and *take*
    are raised. A warning is printed if several processes are wanted and cannot be started here.
    count:    the number of all nodes; for one node there is no progress bar
    outcomes: called with a function "is stopping", it yields outcomes, each with a `name`. It should end once
              "is stopping" returns True
    take:     called with each outcome
    stopping: the function "is stopping", from a caller that handles Ctrl-C itself. A KeyboardInterrupt ends the loop at
              once. None: `stoppable` gives the function. After the first Ctrl-C it returns True; a second one ends the
              loop at once
    jobs:     the number of processes, for the warning alone; None: as many as for a fleet
    """
    _warn_without_processes(terminal, count, jobs)
    taken = 0
    progress = terminal.counting(count) if count > 1 else contextlib.nullcontext(lambda name: None)
    interrupts = stoppable() if stopping is None else contextlib.nullcontext(stopping)
    with contextlib.suppress(KeyboardInterrupt), interrupts as is_stopping, progress as tick:
        for outcome in outcomes(is_stopping):
            taken += 1
            take(outcome)
            tick(outcome.name)
    return taken


def _warn_without_processes(terminal: Terminal, count: int, jobs: int | None) -> None:
    """Warn where several processes are wanted and this process does all the work."""
    from nodeattrs.workers.batches import jobs_for, without_processes

    wanted = jobs_for(count) if jobs is None else jobs
    why = without_processes() if wanted > 1 else ""
    if why:
        terminal.warn([f"several processes cannot share locks here ({why}): this process does all the work"])
