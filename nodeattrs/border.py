"""The border of a repository: the files that a command may read because a repository names them.

A repository is a stranger. Its settings, data files and links may name any path of the machine. While a border is in
force, Python asks it before each file is opened and each folder is listed (an audit hook, PEP 578), whichever module
opens it. What lies outside is refused with `Outside`, an OSError, so each reader reports it as a file that cannot be
read. Readers that can leave a layer open ask `is_outside` first, and name an unread layer.

The command line puts a border in force where no code of the repository runs; code could open any file anyway.
It knows paths, and neither dialects nor options.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

HINT = "--allow-path DIR lets a command read below DIR; `nodeattrs trust DIR` lets a repository name any file"
REASON = "lies outside of the repository"

_READ_EVENTS = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
_NEW_FILE = os.O_CREAT | os.O_EXCL
_MACHINE = ("/proc", "/dev", "/sys")
"""Folders that describe the machine and its processes. Only the caller can name a file in them."""


class Outside(PermissionError):
    """A path beyond the border."""

    def __init__(self, path: str, reason: str = REASON) -> None:
        super().__init__(errno.EACCES, f"{reason} ({HINT})" if reason == REASON else reason, path)


class Border:
    """The folders and files that may be read.

    roots: real paths; a folder stands for all that is below it, but for folders called `.git`
    named: paths that the caller has written. Outside of the roots such a path may be a link, and anywhere a pipe or a
           device. Inside it may be no link that leads out: the repository may have put it there
    refused: the paths that lie beyond, and that a reader wanted so far; `narrowed` and `widened` share them
    is_closed: whether Python refuses what lies beyond; else only readers that ask `is_outside` do
    has_machine: whether places of the user or machine that no file of the repository names are inside
    """

    def __init__(
        self,
        roots: Iterable[str | os.PathLike[str]],
        named: Iterable[str | os.PathLike[str]] = (),
        is_closed: bool = True,
        has_machine: bool = False,
    ) -> None:
        self.roots = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        self.named = frozenset(os.path.abspath(one) for one in named)
        self.is_closed, self.has_machine = is_closed, has_machine
        self.refused: dict[str, None] = {}
        self._libraries = _libraries()
        self._real_folders: dict[str, str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Border, (self.roots, self.named, self.is_closed, self.has_machine)

    def narrowed(self, *roots: str | os.PathLike[str]) -> Border:
        """The border around other folders; what the caller named stays inside."""
        found = Border(roots, self.named, self.is_closed, self.has_machine)
        found.refused = self.refused
        return found

    def for_one_answer(self, is_closed: bool) -> Border:
        """A copy, closed or open, for one answer: its `refused` begins empty and is not shared."""
        return Border(self.roots, self.named, is_closed, self.has_machine)

    def widened(self, *roots: str | os.PathLike[str]) -> Border:
        """The border with more folders inside."""
        return self.narrowed(*self.roots, *roots)

    def fault(self, path: str) -> str:
        """Why a file may not be read; "" where it may. cost: two system calls"""
        whole = os.path.abspath(path)
        reason = self._fault(whole)
        if reason == REASON and os.path.lexists(whole):
            self.refused[whole] = None
        return reason

    def has(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path may be read. Unlike `fault` it notes nothing."""
        return not self._fault(os.path.abspath(path))

    def is_beyond(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path is there and refused because of where it lies. Unlike `fault` it notes nothing."""
        whole = os.path.abspath(path)
        return self._fault(whole) == REASON and os.path.lexists(whole)

    def _fault(self, whole: str) -> str:
        if _is_below(whole, self._libraries):
            return ""
        folder, name = os.path.split(whole)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        place = os.path.join(self._real_folders[folder], name)
        if whole in self.named and not _is_below(whole, self.roots):
            return ""
        real = os.path.realpath(place) if os.path.islink(place) else place
        if real == os.devnull or _is_below(real, self._libraries):
            return ""
        if _is_below(real, _MACHINE) or not _is_below(real, self.roots):
            return REASON
        if ".git" in real.lower().split(os.sep):
            return "belongs to Git"
        try:
            how = _stat(real).st_mode
        except OSError:
            return ""  # the reader says so
        return "" if stat.S_ISREG(how) or stat.S_ISDIR(how) or whole in self.named else "is not a regular file"


def _is_below(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep) for root in roots)


def _libraries() -> tuple[str, ...]:
    """The folders of Python and of installed packages, and where bytecode is kept."""
    places = [*sys.path, os.path.dirname(os.__file__), os.path.dirname(__file__), sys.pycache_prefix]
    here = os.path.abspath(os.curdir)  # which Python puts on its path where it is started with -m
    return tuple(dict.fromkeys(place for place in places if place and os.path.abspath(place) != here))


_stat = os.stat
_held: ContextVar[Border | None] = ContextVar("border", default=None)


def in_force() -> Border | None:
    """The border that is in force here; None where any file may be read."""
    return _held.get()


def is_layer_outside(path: str | os.PathLike[str]) -> bool:
    """As `is_outside`, for readers that give an unknown layer in its place: answers name it where it may decide.

    So nothing is noted, and an answer that it cannot change is certain.
    """
    border = _held.get()
    return border is not None and border.is_beyond(path)


def is_outside(path: str | os.PathLike[str]) -> bool:
    """Whether the border that is in force refuses a path because of where it lies."""
    border = _held.get()
    return border is not None and border.fault(os.fspath(path)) == REASON


def refused() -> tuple[str, ...]:
    """The paths beyond the border that readers wanted so far."""
    border = _held.get()
    return () if border is None else tuple(border.refused)


def note_refused(paths: Iterable[str]) -> None:
    """Note the paths that another process was refused for this one."""
    if (border := _held.get()) is not None:
        border.refused.update(dict.fromkeys(paths))


def admit(*places: str | os.PathLike[str]) -> None:
    """Put places that the caller has chosen inside of the border, as by a variable of the environment."""
    if (border := _held.get()) is not None:
        border.roots = (*border.roots, *map(os.path.realpath, places))


def admit_of_machine(*places: str | os.PathLike[str]) -> None:
    """Put places of the user or machine inside that the original reads where no file names another place."""
    if (border := _held.get()) is not None and border.has_machine:
        admit(*places)


@contextmanager
def held(border: Border | None) -> Iterator[None]:
    """Within the block a border is in force; None lifts the one that is."""
    if border is not None and not _Hook.is_there:
        sys.addaudithook(_hook)  # it cannot be removed; without a border it does nothing
        _Hook.is_there = True
    token = _held.set(border)
    try:
        yield
    finally:
        _held.reset(token)


@contextmanager
def widened(*roots: str | os.PathLike[str]) -> Iterator[None]:
    """Within the block more folders are inside, such as a folder of our own; nothing changes without a border."""
    border = _held.get()
    with held(None if border is None else border.widened(*roots)):
        yield


@contextmanager
def narrowed(*roots: str | os.PathLike[str]) -> Iterator[None]:
    """Within the block the border is around other folders; nothing changes without a border."""
    border = _held.get()
    with held(None if border is None else border.narrowed(*roots)):
        yield


class _Hook:
    is_there = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _READ_EVENTS or (border := _held.get()) is None or not border.is_closed:
        return
    path = arguments[0] if arguments else "."
    if event == "open" and (isinstance(path, int) or _reads_nothing(arguments[2]) or _is_step(path, arguments[2])):
        return
    place = os.curdir if path is None else os.fsdecode(path) if isinstance(path, (bytes, os.PathLike)) else path
    if not isinstance(place, str) or place in ("", ":memory:"):
        return
    if event == "sqlite3.connect":
        place = unquote(place.removeprefix("file://").partition("?")[0])
    reason = border.fault(place)
    if reason:
        raise Outside(place, reason)


def _reads_nothing(flags: object) -> bool:
    """Whether a call of `open` makes a new file, empties the one that is there, or opens a folder to go on from it."""
    if not isinstance(flags, int):
        return False
    return bool(flags & (os.O_TRUNC | os.O_DIRECTORY)) or flags & _NEW_FILE == _NEW_FILE


def _is_step(path: object, flags: object) -> bool:
    """Whether `nodeattrs.disk` opens a name in a folder that is open already: one step, and no link is followed."""
    return isinstance(path, str) and os.sep not in path and isinstance(flags, int) and bool(flags & os.O_NOFOLLOW)
