"""Calls for a command that shows something before it returns its `Output`: warnings, lines, a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TextIO

from nodeattrs.codes import Code
from nodeattrs.core.unread import Unread
from nodeattrs.errors import NodeattrsError
from nodeattrs.reports import Report, Screen


class Caller:
    """The command line, page or tool for which a command runs. This class shows nothing; `cli` has a subclass that
    writes.

    A command returns an `Output` at its end. It calls these methods only for what must be shown before that. No method
    raises an error or keeps anything.

    warn, remark, aside: lines beside the answer, on stderr; lines of `aside` may have colours
    report, text:        parts of the answer, on stdout
    progress:            replaces the line that says how far the command is
    counting:            a context manager; it gives a function to call with each finished name
    screen:              the width and colours of a stream
    """

    def warn(self, warnings: Iterable[object], code: Code = NodeattrsError.entry) -> None:
        """Show warnings: sentences, errors or findings, each once. code: the code of those that are sentences"""

    def remark(self, lines: Iterable[str]) -> None:
        """Show lines that are neither an answer nor a warning, such as what a command does now."""

    def aside(self, lines: Iterable[str]) -> None:
        """Show lines as `remark` does; they may have colours for `screen(sys.stderr)`."""

    def report(self, report: Report, unread: Iterable[Unread] | None = None) -> None:
        """Show a part of the answer now.

        unread: what was not read and may change it; None: the report is no answer, such as the result of a save
        """

    def text(self, text: str) -> None:
        """Show a part of the answer as it is, such as the lines of one node."""

    def progress(self, text: str) -> None:
        """Replace the one line on a terminal that says how far the command is."""

    def counting(self, total: int | None = None, what: str = "node") -> AbstractContextManager[Callable[[str], None]]:
        """A context manager with a progress bar. It gives a function to call with the name of each finished item.

        total: the number of items; None where it is not known
        what:  an item in one word
        """
        return nullcontext(lambda name: None)

    def screen(self, stream: TextIO) -> Screen:
        """The width and colours of a stream; here as for a file."""
        return Screen()


class PassOutcomes(Protocol):
    """The type of a function that passes the outcomes of many nodes to another function, one by one.

    Its arguments are the number of nodes, a function that yields the outcomes, and the function that takes each. It
    returns how many it has passed on. `one_by_one` is the plain one. `cli` has one with a progress bar, which stops
    after Ctrl-C.
    """

    def __call__(
        self,
        count: int,
        outcomes: Callable[[Callable[[], bool]], Iterable[Any]],
        take: Callable[[Any], None],
        stopping: Callable[[], bool] | None = None,
        *,
        jobs: int | None = 1,
    ) -> int:
        """Pass each outcome to *take*; returns the number of passed outcomes. After Ctrl-C it is less than *count*.

        count:    the number of nodes
        outcomes: called with a function "is stopping", it yields the outcomes, each with a `name`. It should end early
                  once "is stopping" returns True
        take:     called with each outcome
        stopping: returns True once the work has to stop; Ctrl-C then ends the running nodes at once. None: after the
                  first Ctrl-C, running nodes are finished
        jobs:     the number of processes that do the work; None: it depends on the number of nodes
        """


def one_by_one(
    count: int,
    outcomes: Callable[[Callable[[], bool]], Iterable[Any]],
    take: Callable[[Any], None],
    stopping: Callable[[], bool] | None = None,
    *,
    jobs: int | None = 1,
) -> int:
    """A `PassOutcomes` without a progress bar: pass all outcomes to *take*, and return their number.

    *count* and *jobs* are not used. Ctrl-C raises KeyboardInterrupt.
    """
    taken = list(map(take, outcomes(stopping or (lambda: False))))
    return len(taken)
