"""Whether code that a document names may run: for whoever asked to run it, and for nobody who only looks.

Everything that executes a file of a repository, or loads what an installed package offers
under a name that a document says, asks here first. A program may; the command line holds code
back unless its command is one that runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from nodeattrs.core.borders import taking
from nodeattrs.errors import UnknownLayer

NOT_RUN = "is code, which was not run"

_HELD = ContextVar("held", default=False)


def may_run() -> bool:
    """Whether code may run now."""
    return not _HELD.get()


@taking(what=str)
def require_may_run(what: str) -> None:
    """raises: UnknownLayer, naming *what*, where code is held back"""
    if _HELD.get():
        raise UnknownLayer(f"{what} {NOT_RUN}", hint="ask for it where it is trusted: --run-code")


@contextlib.contextmanager
@taking(held=bool)
def held_back(held: bool = True) -> Iterator[None]:
    """While it lasts, no code runs that a document names.

    >>> with held_back():
    ...     may_run()
    False
    """
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
