"""The answer of a dialect for one subject: values by path, the lines that set them, and what was not read (`Unread`).

A subject is a node, host, stack or release. A verb needs nothing else of a dialect to print values.
"""

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
    """The values of one kind in an answer, and functions that find the lines of a value when a verb asks for them.

    tree:     the values. If *is_keyed*, a key may be looked up at its first use, and its value may be an error object
    places:   path -> the lines that set the value there, the line that decides it first; () for a path that is not set
    trace:    path -> its `Trace`: the line that won, the lines that lost, and the rules that decided. It may raise
              NotFound for a path that is not set. None: the dialect has no traces
    deciding: path -> lines such as a condition, which set no value but decide which lines set it
    written:  returns the trees of the layers, which also have the paths of overridden values; None if *tree* has all
              paths that a layer sets
    is_keyed: whether each key of *tree* is looked up on its own; then there is no trace for the empty path
    unread:   path -> what was not read and may change the value there or below; None: taken from the trace
    is_known: True: no layer is unknown, so no trace names one. False: a trace may name one
    read_all: looks up every value of *tree* that has not been looked up yet
    """

    tree: Mapping[Any, Any]
    places: Callable[[Path], Iterable[Origin]]
    trace: Callable[[Path], Trace] | None = None
    deciding: Callable[[Path], Iterable[Origin]] = lambda _: ()
    written: Callable[[], Iterable[Mapping[Any, Any]]] | None = None
    is_keyed: bool = False
    unread: Callable[[Path], Iterable[Unread]] | None = None
    is_known: bool = False
    read_all: Callable[[], None] = lambda: None


Answered = Mapping[str, Part]
"""The answer for one subject: kind of values ("attribute", "resource", "key") -> Part."""


def part_of(answer: Answer) -> Part:
    """An `Answer` of the core as a part. A value that is not a map gets the key ""."""
    value = answer.value
    causes = getattr(answer, "causes", lambda _: ())
    return Part(
        value if isinstance(value, Mapping) else {"": value},
        lambda path: lines_of(answer.trace(path)),
        answer.trace,
        lambda path: (cause.origin for cause in causes(path)),
    )


def lines_of(trace: Trace) -> Iterator[Origin]:
    """Yield the origin of each claim of a trace and of the claim's causes, then the origins of list elements.

    An origin may come twice. Nothing for a path that no line sets.
    """
    for one in trace.claims:
        for claim in (one.claim, *one.then):
            yield claim.origin
            yield from (cause.origin for cause in claim.causes)
    for element in trace.elements:
        yield from (claim.origin for claim in element.claims)


class Setting(NamedTuple):
    """A path that a file sets, and the line, from 1. The elements of a list have no Setting of their own.

    note: where the line counts, if no subject has its value: "in site.yml play 2"
    """

    path: Path
    line: int
    note: str = ""
