"""What a dialect answers: the values of one subject, and what was not read for them (`Unread`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nodeattrs.core.answer import Answer
from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.core.unread import Unread

__all__ = ["Answered", "Part", "Setting", "Unread", "lines_of", "part_of"]


class Part(NamedTuple):
    """Values of one kind in an answer, and the lines that set them.

    places:   the lines that set the value at a path, the winner first
    trace:    path -> winner, losers and rules; None where the dialect has no traces
    deciding: the lines that decide which lines set a path, and set nothing themselves
    written:  the trees that people wrote for it, overridden or not; None where *tree* has every path of them
    is_keyed: whether each first step is a question of its own, so that the root has no trace; *tree* may look each up
              at its first use, and has an error as the value of one that cannot be had
    unread:   what was not read and may change the value at a path, or below it; None asks the trace
    read_all: look every value of *tree* up now; does nothing where all of them are there already
    """

    tree: Mapping[Any, Any]
    places: Callable[[Path], Iterable[Origin]]
    trace: Callable[[Path], Trace] | None = None
    deciding: Callable[[Path], Iterable[Origin]] = lambda _: ()
    written: Callable[[], Iterable[Mapping[Any, Any]]] | None = None
    is_keyed: bool = False
    unread: Callable[[Path], Iterable[Unread]] | None = None
    read_all: Callable[[], None] = lambda: None


Answered = Mapping[str, Part]
"""The answer for one subject: "attribute", "resource" or "key" -> the values of that kind."""


def part_of(answer: Answer) -> Part:
    """An `Answer` of the core as a part. A scalar or a list has the path ("",)."""
    value = answer.value
    causes = getattr(answer, "causes", lambda _: ())
    return Part(
        value if isinstance(value, Mapping) else {"": value},
        lambda path: lines_of(answer.trace(path)),
        answer.trace,
        lambda path: (cause.origin for cause in causes(path)),
    )


def lines_of(trace: Trace) -> Iterator[Origin]:
    """All origins of a trace: first the values that are read, each followed by the lines that its value comes from."""
    for one in trace.claims:
        for claim in (one.claim, *one.then):
            yield claim.origin
            yield from (cause.origin for cause in claim.causes)
    for element in trace.elements:
        yield from (claim.origin for claim in element.claims)


class Setting(NamedTuple):
    """A path that a file sets, and the line; lines count from 1. A list is one value.

    note: where the line counts, if no subject has its value: "in site.yml play 2"
    """

    path: Path
    line: int
    note: str = ""
