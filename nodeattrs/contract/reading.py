"""What an answer looked at below a folder: files that were opened, looked for in vain, folders that were listed.

Python names every file that it opens and every folder that it lists; where files are only looked for, `os.stat` and
`os.lstat` are ours for the time. A program that is started may read anything, and so may who asks the store.
It knows no dialect: one that reads files needs to say nothing.
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
"""The key of who may have looked at anything."""

_OPENS = {"open": False, "os.listdir": True, "os.scandir": True, "glob.glob": False}
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")


class _Looking:
    """Who is watching now, in this process."""

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
        """What was looked at below the folder, as keys of a side."""
        found: set[str] = set()
        for path, listed in tuple(self.raw):  # other threads may look at something meanwhile
            if path == EVERYTHING:
                found.add(EVERYTHING)
                continue
            whole = os.path.abspath(path)
            if whole.startswith(self._top):
                found.update(self._side.key_of(whole[len(self._top) :].replace(os.sep, "/"), listed=listed))
            elif listed and f"{whole}{os.sep}" == self._top:
                found.add("/")
        return frozenset(found)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _Looking.watch
    if watch is None:
        return
    if event in _OPENS:
        watch.note(arguments[0] if arguments else ".", _OPENS[event])
    elif event in _STARTS:
        watch.raw.add((EVERYTHING, False))


def note_everything() -> None:
    """Note that an answer may have looked at anything; nothing happens where no answer is being watched."""
    if _Looking.watch is not None:
        _Looking.watch.raw.add((EVERYTHING, False))


@contextmanager
def watched(side: Side) -> Iterator[Callable[[], frozenset[str]]]:
    """While it lasts, what this process looks at below a side is noted; the callable gives the keys.

    One at a time: others that would watch wait, and what any thread looks at is noted. A hook of Python's cannot be
    taken away, so it stays in the process, asleep.
    """
    with _Looking.lock:
        if not _Looking.hooked:
            sys.addaudithook(_hook)
            _Looking.hooked = True
        watch, real = _Watch(side), (os.stat, os.lstat)
        os.stat, os.lstat = (_noting(one, watch) for one in real)
        _Looking.watch = watch
        try:
            yield watch.keys
        finally:
            _Looking.watch = None
            os.stat, os.lstat = real


def _noting(function: Callable[..., Any], watch: _Watch) -> Callable[..., Any]:
    def noting(path: Any, *words: Any, **named: Any) -> Any:
        watch.note(path, False)
        return function(path, *words, **named)

    return noting
