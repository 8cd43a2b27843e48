"""Taking turns: who changes what is stored waits for the others who do, instead of working for nothing.

Of many who load a node, change it and save it, one is faster, and the work of all others is lost. So they
stand in line. A turn is a courtesy and no lock: whoever waited for long goes on without, and a save needs
none. It ends with the process that has it.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from threading import RLock

PATIENCE_SECONDS = 5.0
"""How long one waits for a turn; a change takes milliseconds."""


class Turns:
    """The turns of one store in this process: its threads stand in line here, and one of them for all outside."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pid, self._lock, self._is_inside = os.getpid(), RLock(), False

    @contextlib.contextmanager
    def taken(self, outside: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
        """A turn. *outside*: how to stand in line with other processes"""
        if self._pid != os.getpid():
            self._begin()  # the parent's threads did not come along
        if not self._lock.acquire(timeout=PATIENCE_SECONDS):
            yield
            return
        try:
            if self._is_inside:  # a change that makes another one
                yield
                return
            self._is_inside = True
            try:
                with outside():
                    yield
            finally:
                self._is_inside = False
        finally:
            self._lock.release()


@contextlib.contextmanager
def folder_turn(folder: str) -> Iterator[None]:
    """A turn among all who name the same folder; none where it is not there, or has no locks."""
    handle = -1
    try:
        with contextlib.suppress(ImportError, OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            _wait(handle)
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _wait(handle: int) -> None:
    import fcntl

    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        pause(0.0002, 0.002)


def pause(least: float, most: float) -> None:
    """Sleep for some seconds, and not for as many as those who wait beside us."""
    time.sleep(random.uniform(least, most))
