"""How both sides of a change are asked: one value, made of texts, that can be sent to another process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nodeattrs.changes.sides import Side
from nodeattrs.core.claim import Origin
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path as TreePath


class Ask(NamedTuple):
    """How it is asked.

    home:     the folder that is asked, as it is named outside of both sides; "" where there are two folders
    nodes:    whom; empty: everybody
    facts:    a file for all, or a folder with NODE.json or NODE.yaml; "" is `facts/` of each side, if it is there
    store:    where runs are kept, from whose last state nodes start; "" for none
    enc:      a file with what a classifier says of each node: name -> `environment`, `parameters`, `run_list`
    places:   dialect -> what its option named: a hiera.yaml, the folder of a site, of catalogs
    run_code: whether code of the repository runs
    ruby:     whether attribute files in Ruby do
    roles_only: whether cookbooks are left out
    sensitive: further paths whose values are not shown: those of both sides count for each
    """

    home: str = ""
    nodes: tuple[str, ...] = ()
    facts: str = ""
    store: str = ""
    enc: str = ""
    environment: str = ""
    places: tuple[tuple[str, str], ...] = ()
    run_code: bool = True
    ruby: bool = False
    roles_only: bool = False
    sensitive: tuple[TreePath, ...] = ()

    def place(self, side: Side, text: str) -> Path:
        """What a word of the command line means on a side: in the repository its own, elsewhere the same for both."""
        if not self.home:
            own = side.root / text
            return own if own.exists() else Path(os.path.abspath(text))
        whole = os.path.realpath(text)
        top = os.path.normpath(os.path.join(self.home, os.path.relpath(side.top, side.root)))
        inside = os.path.relpath(whole, top)
        return Path(whole) if inside.startswith(os.pardir) else side.top / inside

    def named(self, side: Side, dialect: str, default: str | None) -> Path | None:
        """The place of a dialect: of its option, else *default* below the side; None for neither."""
        given = dict(self.places).get(dialect)
        if given is not None:
            return self.place(side, given)
        return None if default is None else side.root / default


class WhatIf(NamedTuple):
    """A change that nobody has made: what of it is no edit of files.

    without: items that no run-list has: role[web], recipe[app]
    set:     path -> value, over everything that is asked; on a node as normal attributes
    levels:  levels of Hiera that are left out
    """

    without: tuple[str, ...] = ()
    set: tuple[tuple[TreePath, Any], ...] = ()
    levels: tuple[str, ...] = ()


AS_IT_IS = WhatIf()


class Part(NamedTuple):
    """Values of one kind in an answer, and who set them.

    places:   the lines that set what stands at a path, or would, the strongest first
    trace:    everyone who set a path; None where there are no traces
    deciding: the lines that decided who sets it, and set nothing themselves
    written:  the trees that people wrote for it, overridden or not; None where *tree* has every path of them
    """

    tree: Mapping[Any, Any]
    places: Callable[[TreePath], Iterable[Origin]]
    trace: Callable[[TreePath], Trace] | None = None
    deciding: Callable[[TreePath], Iterable[Origin]] = lambda _: ()
    written: Callable[[], Iterable[Mapping[Any, Any]]] | None = None


Answered = Mapping[str, Part]
"""What one subject answers: "attribute", "resource" or "key" -> the values of that kind."""


def lines_of(trace: Trace) -> Iterable[Origin]:
    """Everyone in a trace, those that are read first, each followed by what its value comes from."""
    for one in trace.claims:
        for claim in (one.claim, *one.then):
            yield claim.origin
            yield from (cause.origin for cause in claim.causes)
    for element in trace.elements:
        yield from (claim.origin for claim in element.claims)
