"""One version of the files of a question, a *side*: a folder, and a mark for each file in it.

A *mark* is a short text for what is at a path: the name that git gives to a file's content, or "link:TARGET". Two sides
are compared by their marks. `written_sides` makes the side of a commit.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nodeattrs.core.tree import near
from nodeattrs.errors import NotFound

PASSED_OVER = {".git", ".nodeattrs", "__pycache__"}
"""Folders that are no part of a side: of git, of saved runs, of Python's bytecode."""

_MOST_LINKS = 40
"""The most links on the way to one file."""

FOLDER = "folder"


@dataclass(frozen=True)
class Side:
    """The files of one version: a folder to read, and a mark for each file below it.

    Do not call the constructor: `folder_side` or `written_sides.commit_side` makes one.
    title: the name in reports: "main", "the work tree", "old/"
    top:   the folder with all files; origins and file names are relative to it
    root:  the folder of the question, at or below *top*
    files: path relative to *top* -> mark of the file; for a link "link:" and its target
    notes: sentences about files that were left out
    remotes: the URLs of Git's remotes, for the files of a commit; None: the folder has its own
    kept:  a cache of what answers have read of these files; `written_sides.write_file` empties it

    A key is a path relative to *top*, with forward slashes.

    mark:         the mark of a key; "" if nothing is there
    key_of:       yields the keys of all links on the way to a path, and last the key of its end
    links:        key of each link -> its target
    shown:        a file name as a key; None if the file is outside of *top*
    named:        a key as a path relative to *root*, for people
    marks_of:     the marks of some files, and of the links on the way to them; [] outside of *top*
    content_mark: a text that changes with the content of a file; "" for an absent file
    without:      a copy of the side without the marks of some files
    """

    title: str
    top: Path
    root: Path
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()
    remotes: tuple[str, ...] | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False)
    _marks: dict[str, str] = field(default_factory=dict, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kept": {}}

    def mark(self, key: str) -> str:
        """The mark of what is at a path; "" for nothing, FOLDER for a folder; cached.

        key: relative to *top*; with a slash at its end, the mark of a folder's list of names. "*.yaml" is one mark for
             all files that end with .yaml
        """
        if key not in self._marks:
            self._marks[key] = self._marked(key)
        return self._marks[key]

    def _marked(self, key: str) -> str:
        if key.startswith("*"):
            marks = sorted(f"{path} {mark}" for path, mark in self.files.items() if path.endswith(key[1:]))
            return hashlib.sha1("\0".join(marks).encode("utf-8", "surrogateescape")).hexdigest()
        if not key.endswith("/") and key:
            return self.files.get(key) or (FOLDER if key in self._folders else "")
        folder = key.rstrip("/")
        if folder not in self._folders:
            return ""
        within = f"{folder}/".lstrip("/")
        names = sorted(f"{name}/" if f"{within}{name}" in self._folders else name for name in self._folders[folder])
        return hashlib.sha1("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()

    @cached_property
    def _folders(self) -> dict[str, set[str]]:
        """Folder relative to *top* -> the names in it."""
        found: dict[str, set[str]] = {"": set()}
        for path in self.files:
            while path:
                above, _, name = path.rpartition("/")
                known = found.setdefault(above, set())
                if name in known:
                    break
                known.add(name)
                path = above
        return found

    @cached_property
    def _prefixes(self) -> tuple[str, str]:
        """*root* and *top* as texts, the latter with a slash."""
        return str(self.root), os.path.join(self.top, "")

    @cached_property
    def links(self) -> dict[str, str]:
        """Path of each link -> its target, as the link has it."""
        return {path: mark[5:] for path, mark in self.files.items() if mark.startswith("link:")}

    def without(self, ignored: Collection[str]) -> Side:
        """A copy of the side without the marks of some files, so that they count as no change; the files stay on disk.

        ignored: paths relative to *top*, with a slash at the end for a folder
        """
        folders = tuple(one for one in ignored if one.endswith("/"))
        left_out = {one for one in self.files if one in ignored or one.startswith(folders)} if ignored else set()
        files = {file: mark for file, mark in self.files.items() if file not in left_out}
        return replace(self, files=files, _marks={})

    def key_of(self, path: str, *, listed: bool = False) -> Iterator[str]:
        """Yield the keys of what is read if *path* is opened: of each link on the way, and last of its end.

        The place need not exist. A ".." at *top* stays at *top*. After 40 links, further links count as plain names, so
        that a cycle ends.
        path:   relative to *top*
        listed: True: the path is a folder whose names are read, so the last key ends with a slash
        """
        steps, here, left = [*reversed(path.split("/"))], "", _MOST_LINKS
        while steps:
            step = steps.pop()
            if step in ("", "."):
                continue
            here = os.path.normpath(f"{here}/{step}").lstrip("/") if step != ".." else os.path.dirname(here)
            if here in self.links and left:
                yield here
                left -= 1
                steps += reversed(self.links[here].split("/"))
                here = os.path.dirname(here)
        yield f"{here}/" if listed else here

    def shown(self, file: str) -> str | None:
        """A file name, absolute or relative to *root*, as a path relative to *top*; None if it lies outside of *top*.

        No link is followed.
        """
        root, start = self._prefixes
        path = os.path.normpath(os.path.join(root, file))
        if path.startswith(start):
            return path[len(start) :].replace(os.sep, "/")
        inside = os.path.relpath(path, self.top)
        return None if inside.startswith(os.pardir) else inside.replace(os.sep, "/")

    def content_mark(self, file: Path) -> str:
        """A text that changes with the content of a file: its mark, or else its name, time and size.

        "" for a link below *top*, and for a file that does not exist. A side of `folder_side(later=True)` computes no
        mark for this.
        """
        key = None if isinstance(self.files, _LazyMarks) else self.shown(str(file))
        mark = self.files.get(key) if key is not None else None
        if mark:
            return "" if mark.startswith("link:") else mark
        try:
            status = os.stat(file)
        except OSError:
            return ""
        return f"{file} {status.st_mtime_ns} {status.st_size}"

    def marks_of(self, file: str, suffixes: Iterable[str] = ("",)) -> list[str]:
        """The marks of some files, and of the links on the way to them. "" for a file that does not exist.

        [] for a name that is outside of *top*.
        file:     the beginning of the names, absolute or relative to *root*
        suffixes: the endings of the names, such as ".json" and ".yaml"
        """
        start = self.shown(file)
        paths = [] if start is None else [f"{start}{suffix}" for suffix in suffixes]
        keys = [key for path in paths for key in self.key_of(path)] if self.links else paths
        return [self.files.get(key, "") for key in keys]

    def named(self, path: str) -> str:
        """A path relative to *top*, as a path relative to *root*, for people; it may begin with "../"."""
        if self.root == self.top:
            return path
        return os.path.relpath(os.path.join(self.top, path), self.root).replace(os.sep, "/")


class _LazyMarks(Mapping[str, str]):
    """The marks of the files below a folder. The folder is listed at the first use; each read computes a mark."""

    def __init__(self, top: Path) -> None:
        self._top = top

    @cached_property
    def _files(self) -> dict[str, str]:
        return dict(_listed(self._top))

    def __getitem__(self, path: str) -> str:
        return _mark(self._files[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def folder_side(top: Path, prefix: str = "", title: str = "", *, later: bool = False) -> Side:
    """The side of a folder as it is now, with the marks of all files. raises: NotFound, with similar names

    prefix: the folder of the question, relative to *top*; where it does not exist, the side has a note
    title:  the name in reports; "": the name of the folder
    later:  True: files are listed, and marks computed, when they are used; for a side that is compared with no other
    """
    if not top.is_dir():
        close = near(top.name, [one.name for one in top.parent.iterdir()] if top.parent.is_dir() else ())
        hint = f"did you mean {' or '.join(close)}?" if close else "one word is a range of git, two are folders"
        raise NotFound(f"there is no folder {top}", hint=hint)
    top = Path(os.path.realpath(top))
    root = top / prefix
    notes = () if root.is_dir() else (f"the work tree has no folder {prefix.rstrip('/')}",)
    return Side(title or str(top.name), top, root, _LazyMarks(top) if later else dict(_marks(top)), notes)


_AT_ONCE = 1_000_000
"""Bytes of a file that are hashed together."""


def _marks(top: Path) -> Iterator[tuple[str, str]]:
    for name, path in _listed(top):
        mark = _mark(path)
        if mark:
            yield name, mark


def _listed(top: Path) -> Iterator[tuple[str, str]]:
    """Yield (path relative to the folder, whole path) for each file and link below a folder."""
    start = len(os.path.join(top, ""))
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(one for one in folders if one not in PASSED_OVER)
        for name in [*files, *folders]:
            path = os.path.join(folder, name)
            if os.path.islink(path) or os.path.isfile(path):
                yield path[start:].replace(os.sep, "/"), path


def _mark(path: str) -> str:
    """The mark of a file or link; "" for anything else, and for a file that cannot be read."""
    try:
        how = os.lstat(path).st_mode
        if stat.S_ISLNK(how):
            return f"link:{os.readlink(path)}"
        if not stat.S_ISREG(how):
            return ""
        with open(path, "rb") as stream:
            digest = hashlib.sha1(b"blob %d\0" % os.fstat(stream.fileno()).st_size, usedforsecurity=False)
            while content := stream.read(_AT_ONCE):
                digest.update(content)
    except OSError:
        return ""
    return digest.hexdigest()
