"""Shared code of commands that run many nodes: options, Ctrl-C, and how to continue.

It knows signals and command lines, and neither nodes nor reports.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import revision_or_time

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.fleet import Outcome


def going_on(jobs: str = "", since: str = "") -> tuple[Argument, Argument]:
    """How many at a time, and with which nodes to go on. The two texts say what is peculiar to a command."""
    return (
        Argument(
            ("--jobs",),
            f"how many nodes at a time, in so many processes; 1 is this process alone{jobs} "
            "(default: one for each processor, and this process alone for a few nodes)",
            {"metavar": "N", "type": int},
        ),
        Argument(
            ("--since",),
            f"go on where an earlier call was interrupted{since}: skip nodes whose last run went well and was "
            "at TIME or later; in UTC, such as 2030-01-31T12:00Z",
            {"metavar": "TIME"},
        ),
    )


NEW = Argument(
    ("--new",), "save a node of --node that neither nodes/, the store nor facts know by name", {"action": "store_true"}
)
EXPORT = Argument(
    ("--export",),
    "after saving, write the files of the changed nodes to this folder, as `nodeattrs store export --to` does",
    {"metavar": "DIR"},
)


def check_export(options: argparse.Namespace, *, saves: bool) -> None:
    """Refuse a bad --export before any node runs. raises: StoreError, where DIR cannot be a folder

    saves: whether the command saves nodes; without saving --export ends the program with exit code 2
    """
    if options.export is None:
        return
    if not saves:
        options.refuse("--export writes nodes that were saved, and this command saves nothing")
    from nodeattrs.store.folders import make_folder

    make_folder(options.export)


def export_saved(options: argparse.Namespace, terminal: Terminal, place: str, names: list[str]) -> None:
    """Write the files of the named nodes from the store at *place* to the folder of --export.

    Does nothing without --export, and without names.
    """
    if options.export is None or not names:
        return
    from nodeattrs.store import export_nodes, open_store

    done = export_nodes(open_store(place), options.export, names)
    terminal.remark([f"{done.written} file{'' if done.written == 1 else 's'} written to {options.export}"])


def since_of(options: argparse.Namespace) -> datetime | None:
    """The time of --since; None without --since. Ends the program where --since is no time, or --jobs is less than
    1."""
    if options.jobs is not None and options.jobs < 1:
        options.refuse("--jobs is at least 1")
    since = revision_or_time(options.since)
    if isinstance(since, int):
        options.refuse("--since is a time")
    return since if isinstance(since, datetime) else None


def began_now() -> str:
    """The current time in the form that --since takes."""
    return f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """A context in which the first Ctrl-C only sets a flag, and a second one raises KeyboardInterrupt.

    Yields a function that returns the flag. Where another handler is installed, it always returns False.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield lambda: False  # somebody else decides what Ctrl-C means
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
    outcomes: Callable[[Callable[[], bool]], Iterable[Outcome]],
    take: Callable[[Outcome], None],
    interrupts: contextlib.AbstractContextManager[Callable[[], bool]] | None = None,
    *,
    jobs: int | None = 1,
) -> int:
    """Pass each outcome of many nodes to *take*, with a progress bar, until Ctrl-C; returns the number of outcomes
    taken.

    outcomes:   a function from the "is stopping" function to the outcomes; it should end early once that returns True
    interrupts: a context as `stoppable`, which is the default
    jobs:       the number of processes that do the work; None: as many as the nodes are worth
    """
    _warn_without_processes(terminal, count, jobs)
    taken = 0
    progress = terminal.counting(count) if count > 1 else contextlib.nullcontext(lambda name: None)
    with contextlib.suppress(KeyboardInterrupt), interrupts or stoppable() as stopping, progress as tick:
        for outcome in outcomes(stopping):
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


def hint_to_resume(options: argparse.Namespace, terminal: Terminal, began: str, *, interrupted: bool) -> None:
    """Print the command line that continues a fleet: with *interrupted* the rest, else only the failed nodes.

    Does nothing with --why-run. began: the time of the start, for --since
    """
    if options.why_run:
        return  # nothing was saved
    what = "interrupted; go on with" if interrupted else "to run only those again that failed"
    terminal.remark([f"{what}:", f"  {_this_command(options, began)}"])


def _this_command(options: argparse.Namespace, began: str) -> str:
    from nodeattrs.project.settings import without_password

    words = [without_password(word) for word in getattr(options, "words", None) or sys.argv[1:]]
    # What an earlier part of the fleet has done is still to be skipped.
    return shlex.join(["nodeattrs", *words, *([] if options.since else ["--since", began])])
