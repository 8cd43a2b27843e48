"""The border of a repository: which files a command may read, whatever the files of the repository name.

The settings, data files and links of a repository may name any path of the machine. While a border is in force, Python
opens and lists no path outside of it: an audit hook (PEP 578) raises `Outside`. This is an OSError, so a reader handles
the file like one that cannot be read. Some readers can go on without the file. They call `is_outside` or
`is_layer_outside` first, and return an unread layer.

The command line puts a border in force (`held`) where no code of the repository runs; code could open any file.
"""

from __future__ import annotations

import errno
import os
import shutil
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
    """Raised where a path outside of the border is opened or listed; its text names --allow-path and `trust`."""

    def __init__(self, path: str, reason: str = REASON) -> None:
        super().__init__(errno.EACCES, f"{reason} ({HINT})" if reason == REASON else reason, path)


class Border:
    """A set of folders and files that may be read. It checks nothing by itself: `held(border)` puts it in force.

    Python's own folders and installed packages are always inside. `has` says whether a path may be read. `fault` gives
    the reason against it, or "", and notes the path in `refused`. `narrowed` returns a border with other roots, and
    `for_one_answer` a copy with a `refused` of its own.

    roots:       folders, as real paths; all that is below them is inside, except folders called `.git`
    named:       absolute paths that the caller wrote, such as arguments of a command. They may be outside of the roots,
                 and may be pipes or devices. But a link below a root must not lead out of the roots
    refused:     path -> None, for each existing path outside that `fault` refused so far. A narrowed border uses the
                 same dict
    is_closed:   True: Python refuses to open paths outside. False: only readers that call `is_outside` leave them out
    has_machine: whether `admit_of_machine` adds folders of the user or machine, such as /etc/ansible, to the roots
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

    def __reduce__(self) -> tuple[Any, ...]:
        return Border, (self.roots, self.named, self.is_closed, self.has_machine)

    def narrowed(self, *roots: str | os.PathLike[str]) -> Border:
        """A new border with only these folders as roots. Named paths stay inside, and `refused` is shared with this
        border.
        """
        found = Border(roots, self.named, self.is_closed, self.has_machine)
        found.refused = self.refused
        return found

    def for_one_answer(self, is_closed: bool) -> Border:
        """A copy, closed or open, for one answer. Its `refused` is empty and is not shared."""
        return Border(self.roots, self.named, is_closed, self.has_machine)

    def fault(self, path: str) -> str:
        """The reason why a path may not be read, in words; "" if it may be read.

        A path that does not exist may be read if it lies inside. An existing path outside is noted in `refused`.
        cost: a system call for each step of the path, and one more
        """
        whole = os.path.abspath(path)
        reason = self._fault(whole)
        if reason == REASON and os.path.lexists(whole):
            self.refused[whole] = None
        return reason

    def has(self, path: str | os.PathLike[str]) -> bool:
        """Whether a path may be read; nothing is noted in `refused`."""
        return not self._fault(os.path.abspath(path))

    def _fault(self, whole: str) -> str:
        if _is_below(whole, self._libraries):
            return ""
        if whole in self.named and not _is_below(whole, self.roots):
            return ""
        real = os.path.realpath(whole)
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
    """Whether a path exists and lies outside of the border in force; False without a border.

    For readers that return an unknown layer in place of the file. The path is not noted as refused, since the unknown
    layer itself shows what is missing.
    """
    border, whole = _held.get(), os.path.abspath(path)
    return border is not None and border._fault(whole) == REASON and os.path.lexists(whole)


def is_outside(path: str | os.PathLike[str]) -> bool:
    """Whether a path lies outside of the border in force, and note it if it exists. False without a border."""
    border = _held.get()
    return border is not None and border.fault(os.fspath(path)) == REASON


def refused() -> tuple[str, ...]:
    """The existing paths outside of the border in force that readers asked for so far; () without a border."""
    border = _held.get()
    return () if border is None else tuple(border.refused)


def note_refused(paths: Iterable[str]) -> None:
    """Add paths to `refused` of the border in force, as another process reported them; nothing without a border."""
    if (border := _held.get()) is not None:
        border.refused.update(dict.fromkeys(paths))


def admit(*places: str | os.PathLike[str]) -> None:
    """Add folders to the roots of the border in force, which is changed; does nothing without a border."""
    if (border := _held.get()) is not None:
        border.roots = (*border.roots, *map(os.path.realpath, places))


def admit_of_machine(*places: str | os.PathLike[str]) -> None:
    """Add folders of the user or machine, such as /etc/ansible, to the roots of the border in force.

    Does nothing without a border, and if its `has_machine` is False.
    """
    if (border := _held.get()) is not None and border.has_machine:
        admit(*places)


@contextmanager
def held(border: Border | None) -> Iterator[None]:
    """A context in which this border is in force, in place of any other one. None: no border is in force in the block.

    It applies to the current context of `contextvars`. After the block, the earlier border is in force again.
    """
    if border is not None and not _Hook.is_there:
        sys.addaudithook(_hook)  # it cannot be removed; without a border it does nothing
        _Hook.is_there = True
    token = _held.set(border)
    try:
        yield
    finally:
        _held.reset(token)


def remove_folder(folder: str | os.PathLike[str]) -> None:
    """Remove a temporary folder of this process with its content; an error is ignored.

    The border in force does not apply: a folder may be removed while an answer for another repository is computed.
    """
    with held(None):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def widened(*roots: str | os.PathLike[str]) -> Iterator[None]:
    """A context in which more folders are inside of the border in force; without a border it changes nothing."""
    border = _held.get()
    with held(None if border is None else border.narrowed(*border.roots, *roots)):
        yield


@contextmanager
def narrowed(*roots: str | os.PathLike[str]) -> Iterator[None]:
    """A context in which only these folders are inside of the border in force; without a border it changes nothing."""
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
    """Whether a call of `open` only makes a new file, empties a file, or opens a folder."""
    if not isinstance(flags, int):
        return False
    return bool(flags & (os.O_TRUNC | os.O_DIRECTORY)) or flags & _NEW_FILE == _NEW_FILE


def _is_step(path: object, flags: object) -> bool:
    """Whether a call of `open` takes one step from an open folder without following a link, as in `nodeattrs.disk`."""
    return isinstance(path, str) and os.sep not in path and isinstance(flags, int) and bool(flags & os.O_NOFOLLOW)
