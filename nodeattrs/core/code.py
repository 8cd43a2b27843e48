"""The permission to run code that a document names: the library gives it, the command line only with --run-code.

Code that executes a file of a repository, or imports a package by a name from a document, checks the permission first.
The permission is a context variable: each thread or task has its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from nodeattrs.core.borders import checked_args
from nodeattrs.errors import UnknownLayer

NOT_RUN = "is code, which was not run"

_HELD = ContextVar("held", default=False)


def may_run() -> bool:
    """Whether code that a document names may run: True, except within `held_back`."""
    return not _HELD.get()


@checked_args(what=str)
def require_may_run(what: str) -> None:
    """Raise UnknownLayer within `held_back`; else do nothing. what: begins the message: "the role web" """
    if _HELD.get():
        raise UnknownLayer(f"{what} {NOT_RUN}", hint="ask for it where it is trusted: --run-code")


@contextlib.contextmanager
@checked_args(held=bool)
def held_back(held: bool = True) -> Iterator[None]:
    """A context manager: within the block `may_run` is False; afterwards it is as before. It gives nothing.

    Nothing is stopped by force: callers of `may_run` and `require_may_run` obey.
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
