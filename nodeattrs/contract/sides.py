"""The files of the two sides of a change: folders to be read, and what each file in them holds.

A commit is laid into a private folder; a folder is read where it is. A name from git becomes no path outside of
that folder, a link that leads out of it is not laid. It knows contents by their marks only, and no dialect.
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

from nodeattrs import border
from nodeattrs.core.tree import near
from nodeattrs.errors import BadName, NotFound
from nodeattrs.git import Blob, Git

_PASSED_OVER = {".git", ".nodeattrs", "__pycache__"}
"""What is no part of a work tree: git's own, what our runs have kept, what Python has."""

_LEADS_OUT = 40
"""Links that may lead to each other."""

FOLDER = "folder"

_LINK, _PROGRAM = "120000", "100755"
"""Modes of git."""


@dataclass(frozen=True)
class Side:
    """One side.

    title: what it is called: "main", "the work tree", "old/"
    top:   the folder that has all of it; everything below counts
    root:  the folder that is asked, in it
    files: path below *top* -> mark of what the file holds; of a link its target, with "link:" before it
    notes: what was left out, a sentence each
    """

    title: str
    top: Path
    root: Path
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()
    _marks: dict[str, str] = field(default_factory=dict, compare=False)

    def mark(self, key: str) -> str:
        """What is at a path, in a word; "" for nothing. Of a folder with a slash at the end, the names in it."""
        if key not in self._marks:
            self._marks[key] = self._marked(key)
        return self._marks[key]

    def _marked(self, key: str) -> str:
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
        """Each folder, and the names in it."""
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
    def links(self) -> dict[str, str]:
        """The links, and where each leads."""
        return {path: mark[5:] for path, mark in self.files.items() if mark.startswith("link:")}

    def without(self, ignored: Collection[str]) -> Side:
        """The side, where files that Git ignores count as no change. ignored: with a slash at the end for a folder"""
        folders = tuple(one for one in ignored if one.endswith("/"))
        left_out = {one for one in self.files if one in ignored or one.startswith(folders)} if ignored else set()
        files = {file: mark for file, mark in self.files.items() if file not in left_out}
        return replace(self, files=files, _marks={})

    def key_of(self, path: str, *, listed: bool = False) -> Iterator[str]:
        """The keys of what is looked at when *path*, below *top*, is opened or listed: links on the way, too."""
        steps, here, left = [*reversed(path.split("/"))], "", _LEADS_OUT
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
        """A file as an origin names it, as a path below *top*; None where it lies elsewhere."""
        path, start = os.path.normpath(os.path.join(self.root, file)), os.path.join(self.top, "")
        if path.startswith(start):
            return path[len(start) :].replace(os.sep, "/")
        inside = os.path.relpath(path, self.top)
        return None if inside.startswith(os.pardir) else inside.replace(os.sep, "/")

    def content_mark(self, file: Path) -> str:
        """A text that is equal for equal content of a file: its mark if it is made already, else its age and size.

        "" for a link below the folder and for a file that is not there.
        """
        key = None if isinstance(self.files, _Later) else self.shown(str(file))
        if key is not None and (mark := self.files.get(key)):
            return "" if mark.startswith("link:") else mark
        try:
            status = os.stat(file)
        except OSError:
            return ""
        return f"{file} {status.st_mtime_ns} {status.st_size}"

    def marks_of(self, file: str, suffixes: Iterable[str] = ("",)) -> list[str]:
        """The marks of files and of the links on the way to them; "" for each that is not there or lies elsewhere.

        file: the start of their names, to which each suffix is added
        """
        start = self.shown(file)
        paths = [] if start is None else [f"{start}{suffix}" for suffix in suffixes]
        keys = [key for path in paths for key in self.key_of(path)] if self.links else paths
        return [self.files.get(key, "") for key in keys]

    def named(self, path: str) -> str:
        """A path below *top* as people are shown it: seen from *root*."""
        if self.root == self.top:
            return path
        return os.path.relpath(os.path.join(self.top, path), self.root).replace(os.sep, "/")


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """A folder of our own, which goes at the end. Within the block it is inside of the border."""
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix="nodeattrs-")))
    with border.widened(place):
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def sides_of(before: str, after: str | None, folder: Path, private: Path) -> tuple[Side, Side]:
    """The two sides of a command line.

    before:  BASE..HEAD, BASE...HEAD, a revision, or with *after* a folder
    after:   the other folder, or None
    folder:  the one that is asked; in git it may lie below the root of the work tree
    private: where commits are laid
    raises:  NotFound, NoRevision, BadName
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
    """A commit, laid into a folder. What *like* has, too, is laid as a second name of the same file.

    raises: NoRevision; BadName, for a name that leads out
    """
    entries = git.files(commit)
    for one in entries:
        _check(one.path)
    entries = [one for one in entries if not _PASSED_OVER.intersection(one.path.split("/"))]
    place.mkdir(parents=True)
    laying = _Laying(git, place)
    laying.files(_again([one for one in entries if one.kind == "blob" and one.mode != _LINK], like, place))
    laying.modules([one for one in entries if one.kind == "commit"])
    laying.links([one for one in entries if one.mode == _LINK])
    root = place / git.prefix
    if not root.is_dir():
        root.mkdir(parents=True)
        laying.notes.append(f"{title} has no folder {git.prefix.rstrip('/')}")
    marks = {one.path: one.id for one in entries if one.mode != _LINK} | laying.marks
    return Side(title, place, root, marks, tuple(laying.notes))


def _again(files: list[Blob], like: Side | None, place: Path) -> list[Blob]:
    """Lay what a side has already; those that it has not."""
    known = {} if like is None else {mark: like.top / path for path, mark in like.files.items()}
    left = []
    for one in files:
        source = known.get(one.id)
        if source is None or not source.is_file():
            left.append(one)
        else:
            # A program and a file that is none may hold the same.
            is_alike = os.access(source, os.X_OK) == (one.mode == _PROGRAM)
            (os.link if is_alike else shutil.copyfile)(source, _made(place, one.path))
    return left


class _Laying:
    """A commit on its way into a folder. Links come last, so that none leads anywhere before."""

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
                target = _made(self._place, one.path)
                target.write_bytes(content)
                if one.mode == _PROGRAM:
                    target.chmod(0o755)
        gone = [one.path for some in wanted.values() for one in some]
        if gone:
            more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
            why = "this clone does not have them, or they are too large"
            self.notes.append(f"contents that were not read ({why}): {', '.join(gone[:3])}{more}")

    def modules(self, modules: list[Blob]) -> None:
        for one in modules:
            self.marks[one.path] = f"module:{one.id}"
            self.notes.append(f"{one.path} is a submodule, and was not read")
            _made(self._place, one.path).mkdir(exist_ok=True)

    def links(self, links: list[Blob]) -> None:
        targets = {mark: os.fsdecode(content) for mark, content in self._git.contents(links)}
        for one in links:
            target = targets.get(one.id, "")
            self.marks[one.path] = f"link:{target}"
            if not target or _leads_out(one.path, target):
                self.notes.append(f"{one.path} is a link that leads out of the repository, and was not read")
            else:
                os.symlink(target, _made(self._place, one.path))


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
    """A path in the folder, with the folders above it. Links are laid last, so that none leads anywhere yet."""
    target = place / PurePosixPath(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def copied(side: Side, place: Path, title: str = "") -> Side:
    """A side, laid once more into a folder of our own, to be changed."""
    for file, mark in side.files.items():
        target = _made(place, file)
        if mark.startswith("link:"):
            if not _leads_out(file, mark[5:]):
                os.symlink(mark[5:], target)
            elif (side.top / file).is_symlink():  # it stays one that leads out, and is refused as before
                os.symlink(os.path.realpath(side.top / file), target)
        elif mark.startswith("module:"):
            target.mkdir(exist_ok=True)
        else:
            shutil.copy2(side.top / file, target)
    root = place / os.path.relpath(side.root, side.top)
    root.mkdir(parents=True, exist_ok=True)
    return Side(title or side.title, place, root, dict(side.files))


def put(side: Side, file: str, content: str | bytes | None) -> None:
    """Write a file into a side of our own; None deletes it. A link there is replaced. Marks stay as they were."""
    target = side.top / file
    if target.is_symlink() or target.is_file():
        target.unlink()
    if content is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


class _Later(Mapping[str, str]):
    """The files below a folder, listed at their first use; a mark is made at its first use, too."""

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
    """A folder as it is now. raises: NotFound

    prefix: the part of it that is asked about; a note where it is missing
    title:  the name in reports; "": the name of the folder
    later:  whether its files are looked for at their first use: for one question alone
    """
    if not top.is_dir():
        close = near(top.name, [one.name for one in top.parent.iterdir()] if top.parent.is_dir() else ())
        hint = f"did you mean {' or '.join(close)}?" if close else "one word is a range of git, two are folders"
        raise NotFound(f"there is no folder {top}", hint=hint)
    top = Path(os.path.realpath(top))
    root = top / prefix
    notes = () if root.is_dir() else (f"the work tree has no folder {prefix.rstrip('/')}",)
    return Side(title or str(top.name), top, root, _Later(top) if later else dict(_marks(top)), notes)


_AT_ONCE = 1_000_000
"""Bytes of a file that are hashed together."""


def _marks(top: Path) -> Iterator[tuple[str, str]]:
    for name, path in _listed(top):
        if mark := _mark(path):
            yield name, mark


def _listed(top: Path) -> Iterator[tuple[str, str]]:
    """The regular files and links below a folder: the path from there, and the whole path."""
    start = len(os.path.join(top, ""))
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(one for one in folders if one not in _PASSED_OVER)
        for name in [*files, *folders]:
            path = os.path.join(folder, name)
            if os.path.islink(path) or os.path.isfile(path):
                yield path[start:].replace(os.sep, "/"), path


def _mark(path: str) -> str:
    """What a file holds, as git marks it; "" for what is neither file nor link, and for what cannot be read."""
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
