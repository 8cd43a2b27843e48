"""Many nodes one by one, until Ctrl-C. It knows signals and the terminal, and neither nodes nor reports."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nodeattrs.cli.terminal import Terminal


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """A context in which the first Ctrl-C only sets a flag, and a second one raises KeyboardInterrupt.

    Yields a function that returns the flag. Where another handler is installed, it always returns False.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield lambda: False  # other code decides what Ctrl-C means
        return
    asked = False

    def ask(_number: int, _frame: Any) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
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

    count:    of all nodes; one node has no progress bar
    outcomes: a function that yields outcomes until the function that it is given returns True
    stopping: asked instead of catching Ctrl-C; None: Ctrl-C stops
    jobs:     the number of processes, for a warning alone
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
    """Say so where several processes are wanted and this one does all the work."""
    from nodeattrs.workers.batches import jobs_for, without_processes

    wanted = jobs_for(count) if jobs is None else jobs
    if wanted > 1 and (why := without_processes()):
        terminal.warn([f"several processes cannot share locks here ({why}): this process does all the work"])
