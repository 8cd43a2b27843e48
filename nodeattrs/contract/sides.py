"""The files of one side of a question: a folder, or a commit that is written into a private folder.

A *mark* is a short text for what is at a path: the name that git gives to a file's content, or "link:TARGET". Two sides
are compared by their marks. A name from git never becomes a path outside of the private folder. A link that leads out
of this folder is not made.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from nodeattrs import border
from nodeattrs.core.tree import near
from nodeattrs.errors import BadName, NotFound
from nodeattrs.git import Blob, Git

_PASSED_OVER = {".git", ".nodeattrs", "__pycache__"}
"""Folders that are no part of a side: of git, of saved runs, of Python's bytecode."""

_MOST_LINKS = 40
"""The most links on the way to one file."""

FOLDER = "folder"

_LINK, _PROGRAM = "120000", "100755"
"""Modes of git."""


@dataclass(frozen=True)
class Side:
    """The files of one version: a folder to read, and a mark for each file below it.

    Do not call the constructor: `folder_side` or `commit_side` makes one.
    title: the name in reports: "main", "the work tree", "old/"
    top:   the folder with all files; origins and file names are relative to it
    root:  the folder of the question, at or below *top*
    files: path relative to *top* -> mark of the file; for a link "link:" and its target
    notes: sentences about files that were left out
    remotes: the URLs of Git's remotes, for the files of a commit; None: the folder has its own
    kept:  what answers have read of these files for the next answer; `write_file` empties it

    A key is a path relative to *top*, with forward slashes.

    mark:         the mark of a key; "" if nothing is there
    key_of:       yields the keys of all links on the way to a path, and last the key of its end
    links:        key of each link -> its target
    shown, named: a path as a key, None if it is outside of *top*; a key as a path relative to *root*
    marks_of:     the marks of some files, and of the links on the way to them
    content_mark: a text that changes with the content of a file
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
        """Yield the keys of all that is read if *path* is opened: each link on the way, and last the place where it
        ends.

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
        """A file name, absolute or relative to *root*, as a path relative to *top*; None if it is outside. No link is
        followed."""
        root, start = self._prefixes
        path = os.path.normpath(os.path.join(root, file))
        if path.startswith(start):
            return path[len(start) :].replace(os.sep, "/")
        inside = os.path.relpath(path, self.top)
        return None if inside.startswith(os.pardir) else inside.replace(os.sep, "/")

    def content_mark(self, file: Path) -> str:
        """A text that stays the same as long as the content of a file does. It is its mark, or its time and size
        without a mark.

        "" for a link below *top*, and for a file that does not exist. If marks are computed later, none is computed for
        this.
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
        """A path relative to *top*, as a path relative to *root*, for people."""
        if self.root == self.top:
            return path
        return os.path.relpath(os.path.join(self.top, path), self.root).replace(os.sep, "/")


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A context manager with the path of a new empty folder, which is removed with its content at the end of the block.

    In the block, the limits on files outside of the repository (`border`) do not forbid files of this folder.
    """
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix="nodeattrs-")))
    with border.widened(place):
        try:
            yield place
        finally:
            with border.held(None):  # garbage collection may end the block during another answer
                shutil.rmtree(place, ignore_errors=True)


def sides_of(before: str, after: str | None, folder: Path, private: Path) -> tuple[Side, Side]:
    """The (old, new) sides that a command line names. Commits are written below *private*.

    before:  BASE..HEAD, BASE...HEAD (from where HEAD branched off), a revision to compare with the work tree; or,
             with *after*, a folder
    after:   the new folder; None: *before* names commits
    folder:  the folder of the question; in git it may lie below the root of the work tree
    raises:  NotFound, for a folder, or where there is no work tree; NoRevision; BadName
    """
    if after is not None:
        return folder_side(Path(before)), folder_side(Path(after))
    git = Git(folder)
    base, dots, head = before.partition("...") if "..." in before else before.partition("..")
    old = git.commit(base or "HEAD")
    new = git.commit(head or "HEAD") if dots else None
    if dots == "..." and new is not None:
        old = git.fork_of(old, new)
    older = commit_side(git, old, base or "HEAD", private / "before")
    if new is not None:
        return older, commit_side(git, new, head or "HEAD", private / "after", older)
    if git.top is None:
        raise NotFound("this repository has no work tree to compare with", hint=f"name two revisions: {before}..HEAD")
    after_side = folder_side(git.top, git.prefix, "the work tree")
    return older, after_side.without(git.ignored())


def commit_side(git: Git, commit: str, title: str, place: Path, like: Side | None = None) -> Side:
    """Write the files of a commit into a new folder *place*, and return the side.

    Submodules, and links that lead out, are left out with a note.
    git:    the repository
    title:  the name of the side in reports
    like:   a side that was written before; files with the same content become hard links to its files. None: all are
            written
    raises: NoRevision; BadName, for a name that leads out of the folder; FileExistsError, if *place* exists
    """
    entries = git.files(commit)
    for one in entries:
        _check(one.path)
    entries = [one for one in entries if not _PASSED_OVER.intersection(one.path.split("/"))]
    place.mkdir(parents=True)
    for folder in {os.path.dirname(one.path) for one in entries}:
        os.makedirs(place / folder, exist_ok=True)
    writer = _CommitWriter(git, place)
    writer.files(_link_equal([one for one in entries if one.kind == "blob" and one.mode != _LINK], like, place))
    writer.modules([one for one in entries if one.kind == "commit"])
    writer.links([one for one in entries if one.mode == _LINK])
    root = place / git.prefix
    if not root.is_dir():
        root.mkdir(parents=True)
        writer.notes.append(f"{title} has no folder {git.prefix.rstrip('/')}")
    marks = {one.path: one.id for one in entries if one.mode != _LINK} | writer.marks
    return Side(title, place, root, marks, tuple(writer.notes), () if git.prefix else tuple(git.remotes()))


def _link_equal(files: list[Blob], like: Side | None, place: Path) -> list[Blob]:
    """Link the files whose content another side has; returns the other files."""
    known = {} if like is None else {mark: f"{like.top}/{path}" for path, mark in like.files.items()}
    left = []
    for one in files:
        source = known.get(one.id)
        if source is None or not os.path.isfile(source):
            left.append(one)
        else:
            has_same_mode = os.access(source, os.X_OK) == (one.mode == _PROGRAM)
            (os.link if has_same_mode else shutil.copyfile)(source, f"{place}/{one.path}")
    return left


class _CommitWriter:
    """Writes the files of a commit into its folders. Call `links` last, so that no file is written through a link."""

    def __init__(self, git: Git, place: Path) -> None:
        self._git, self._place = git, place
        self.marks: dict[str, str] = {}
        self.notes: list[str] = []

    def files(self, files: list[Blob]) -> None:
        wanted: dict[str, list[Blob]] = {}
        for one in files:
            wanted.setdefault(one.id, []).append(one)
        for mark, content in self._git.contents(files):
            for one in wanted.pop(mark):
                target = f"{self._place}/{one.path}"
                with open(target, "wb") as stream:
                    stream.write(content)
                if one.mode == _PROGRAM:
                    os.chmod(target, 0o755)
        gone = [one.path for some in wanted.values() for one in some]
        if gone:
            more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
            why = "this clone does not have them, or they are too large"
            self.notes.append(f"contents that were not read ({why}): {', '.join(gone[:3])}{more}")

    def modules(self, modules: list[Blob]) -> None:
        for one in modules:
            self.marks[one.path] = f"module:{one.id}"
            self.notes.append(f"{one.path} is a submodule, and was not read")
            (self._place / one.path).mkdir(exist_ok=True)

    def links(self, links: list[Blob]) -> None:
        targets = {mark: os.fsdecode(content) for mark, content in self._git.contents(links)}
        for one in links:
            target = targets.get(one.id, "")
            self.marks[one.path] = f"link:{target}"
            if not target or _leads_out(one.path, target):
                self.notes.append(f"{one.path} is a link that leads out of the repository, and was not read")
            else:
                os.symlink(target, self._place / one.path)


def _check(path: str) -> None:
    """raises: BadName, for a name that no work tree can have"""
    if any(step in ("", ".", "..") or step.lower() == ".git" for step in path.split("/")):
        raise BadName(f"git has a file {path!r}, which leads out of the repository", hint="git fsck names the commit")


def _leads_out(path: str, target: str) -> bool:
    where = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return (
        os.path.isabs(target) or where == os.pardir or where.startswith(f"{os.pardir}/") or ".git" in where.split("/")
    )


def _made(place: Path, path: str) -> Path:
    """A path in a folder; the folders above it are made. Links must come after all files."""
    target = place / PurePosixPath(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def copy_side(side: Side, place: Path, title: str = "") -> Side:
    """Copy the files of a side into a folder *place*, and return the side of the copy, whose files may be changed.

    It has the marks of *side*, which do not follow later changes. title: "" keeps the title
    """
    for file, mark in side.files.items():
        target = _made(place, file)
        if mark.startswith("link:"):
            if not _leads_out(file, mark[5:]):
                os.symlink(mark[5:], target)
            elif (side.top / file).is_symlink():  # it stays a link that leads out, which readers refuse
                os.symlink(os.path.realpath(side.top / file), target)
        elif mark.startswith("module:"):
            target.mkdir(exist_ok=True)
        else:
            shutil.copy2(side.top / file, target)
    root = place / os.path.relpath(side.root, side.top)
    root.mkdir(parents=True, exist_ok=True)
    return Side(title or side.title, place, root, dict(side.files), remotes=side.remotes)


def write_file(side: Side, file: str, content: str | bytes | None) -> None:
    """Write a file of a copied side; None deletes it, if it exists. A link there is replaced. Marks do not change.

    file: relative to the top of the side; folders on the way are made
    """
    side.kept.clear()
    target = side.top / file
    if target.is_symlink() or target.is_file():
        target.unlink()
    if content is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


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
        folders[:] = sorted(one for one in folders if one not in _PASSED_OVER)
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
