"""What a command may show while it works, beside the `Output` that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from nodeattrs.codes import Code
from nodeattrs.errors import NodeattrsError

if TYPE_CHECKING:
    from nodeattrs.core.unread import Unread
    from nodeattrs.reports import Report, Screen


class Caller:
    """The command line, page or tool for which a command runs. This one shows nothing.

    A command calls it only for what cannot wait for the `Output`: a warning, the first of many nodes, a progress bar.
    """

    def warn(self, warnings: Iterable[object], code: Code = NodeattrsError.entry) -> None:
        """Show warnings, each once. code: for bare sentences"""

    def remark(self, lines: Iterable[str]) -> None:
        """Show lines that are neither an answer nor a warning."""

    def aside(self, lines: Iterable[str]) -> None:
        """Show lines as `remark` does, which may be coloured for `screen(sys.stderr)`."""

    def report(self, report: Report, unread: Iterable[Unread] | None = None) -> None:
        """Show a part of the answer now. unread: as in `Output`"""

    def text(self, text: str) -> None:
        """Show a part of the answer as it is, such as the lines of one node."""

    def progress(self, text: str) -> None:
        """Replace the line that says how far the command is."""

    def counting(self, total: int | None = None, what: str = "node") -> AbstractContextManager[Callable[[str], None]]:
        """A context with a progress bar; gives a function to call with the name of each finished item.

        total: the number of items; None where it is not known
        """
        return nullcontext(lambda name: None)

    def screen(self, stream: TextIO) -> Screen:
        """The width and colours for lines that go to *stream*."""
        from nodeattrs.reports import Screen

        return Screen()


class Through(Protocol):
    """Takes the outcomes of many nodes one by one, with a progress bar, until Ctrl-C."""

    def __call__(
        self,
        count: int,
        outcomes: Callable[[Callable[[], bool]], Iterable[Any]],
        take: Callable[[Any], None],
        stopping: Callable[[], bool] | None = None,
        *,
        jobs: int | None = 1,
    ) -> int:
        """The number of outcomes that were taken: less than *count* after Ctrl-C.

        outcomes: a function from the "is stopping" function to the outcomes, each with a `name`; it should end early
                  once that returns True
        stopping: None: the first Ctrl-C lets the nodes finish that are running. Else Ctrl-C ends them where they are,
                  and this function gives whether the work has to stop
        jobs:     the number of processes that do the work; None: as many as the nodes are worth
        """


def one_by_one(
    count: int,
    outcomes: Callable[[Callable[[], bool]], Iterable[Any]],
    take: Callable[[Any], None],
    stopping: Callable[[], bool] | None = None,
    *,
    jobs: int | None = 1,
) -> int:
    """Take all outcomes, without a progress bar; Ctrl-C is nothing special. Returns their number."""
    taken = list(map(take, outcomes(stopping or (lambda: False))))
    return len(taken)
