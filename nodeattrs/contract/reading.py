"""Note which files and folders of a side an answer has looked at, without help from the dialect.

An audit hook of Python names every file that is opened and every folder that is listed. `os.stat` and `os.lstat` are
replaced meanwhile, to note files that an answer only looks for. If an answer starts a program, the notes say
EVERYTHING, since the program may read any file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from nodeattrs.contract.sides import Side

EVERYTHING = "*"
"""The key that means: it may have looked at anything. "*.yaml" means each file that ends so."""

_OPENS = {"open": False, "os.listdir": True, "os.scandir": True, "glob.glob": False}
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")


class _CurrentWatch:
    """The watch of this process; None while nothing is watched."""

    watch: _Watch | None = None
    hooked = False
    lock = RLock()


class _Watch:
    def __init__(self, side: Side) -> None:
        self.raw: set[tuple[str, bool]] = set()
        self._side = side
        self._top = f"{side.top}{os.sep}"

    def note(self, path: Any, listed: bool) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if isinstance(path, str) or hasattr(path, "__fspath__"):
            self.raw.add((os.fspath(path), listed))

    def keys(self) -> frozenset[str]:
        """The keys of what was looked at in the side's folder, as `Side.mark` takes them; empty for nothing."""
        found: set[str] = set()
        for path, listed in tuple(self.raw):  # other threads may look at something meanwhile
            if path.startswith(EVERYTHING):
                found.add(path)
                continue
            whole = os.path.abspath(path)
            if whole.startswith(self._top):
                found.update(self._side.key_of(whole[len(self._top) :].replace(os.sep, "/"), listed=listed))
            elif listed and f"{whole}{os.sep}" == self._top:
                found.add("/")
        return frozenset(found)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _CurrentWatch.watch
    if watch is None:
        return
    if event in _OPENS:
        watch.note(arguments[0] if arguments else ".", _OPENS[event])
    elif event in _STARTS:
        watch.raw.add((EVERYTHING, False))


def note_read(*paths: str) -> None:
    """Note that the watched answer depends on files that were read before it; does nothing outside of `watched`.

    paths: of files; "*" with an ending for all files below the side that have it; EVERYTHING for any file or store
    """
    if _CurrentWatch.watch is not None:
        _CurrentWatch.watch.raw.update((path, False) for path in paths)


@contextmanager
def unnoted() -> Iterator[None]:
    """A context manager: what this process looks at in the block is not noted, in any thread.

    It is for files that are read once for many answers: else the first of these answers would depend on all of them.
    After the block the caller notes what its answer needs; a `note_read` inside the block is dropped, too. Outside of
    `watched` the block changes nothing.
    """
    watch, raw = _CurrentWatch.watch, {*_CurrentWatch.watch.raw} if _CurrentWatch.watch is not None else set()
    try:
        yield
    finally:
        if watch is not None:
            watch.raw = raw


@contextmanager
def watched(side: Side) -> Iterator[Callable[[], frozenset[str]]]:
    """A context manager that notes which files and folders below a side this process looks at, in any thread.

    It gives a function without arguments. The function returns the keys of all that was noted so far, as `Side.mark`
    takes them; also after the block. EVERYTHING is among them if a program was started, which may have read anything.
    Only one thread has a block at a time: another thread waits until that block has ended. Blocks must not be nested
    in one thread: from the start of the inner block on, the outer one has no notes of opened files any more. The audit
    hook stays in the process, and does nothing between two blocks.
    """
    with _CurrentWatch.lock:
        if not _CurrentWatch.hooked:
            sys.addaudithook(_hook)
            _CurrentWatch.hooked = True
        watch, real = _Watch(side), (os.stat, os.lstat)
        os.stat, os.lstat = (_noting(one, watch) for one in real)
        _CurrentWatch.watch = watch
        try:
            yield watch.keys
        finally:
            _CurrentWatch.watch = None
            os.stat, os.lstat = real


def _noting(function: Callable[..., Any], watch: _Watch) -> Callable[..., Any]:
    def noting(path: Any, *words: Any, **named: Any) -> Any:
        watch.note(path, False)
        return function(path, *words, **named)

    return noting
