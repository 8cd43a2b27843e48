"""The permission to run code that a document names: programs have it, the command line gives it with --run-code.

Everything that executes a file of a repository checks here first. So does what loads an installed package by a name
from a document.
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
    """Whether such code may run: True, except within `held_back`."""
    return not _HELD.get()


@taking(what=str)
def require_may_run(what: str) -> None:
    """Raise UnknownLayer within `held_back`; else do nothing. what: the code, named at the start of the message"""
    if _HELD.get():
        raise UnknownLayer(f"{what} {NOT_RUN}", hint="ask for it where it is trusted: --run-code")


@contextlib.contextmanager
@taking(held=bool)
def held_back(held: bool = True) -> Iterator[None]:
    """A context manager: within the block no code runs that a document names; it gives nothing.

    held: False allows code within the block, even inside another `held_back`

    >>> with held_back():
    ...     may_run()
    False
    """
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
