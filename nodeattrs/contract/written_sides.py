"""Make sides in a private folder: from a commit, or as a copy of another side, whose files may then be changed.

A name from git never becomes a path outside of the private folder. A link of a commit that leads out is not made. A
link of a copied folder that leads out still does so, and readers refuse it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nodeattrs import border
from nodeattrs.contract.sides import PASSED_OVER, Side, folder_side
from nodeattrs.errors import BadName, NotFound
from nodeattrs.git import Blob, Git

_LINK, _PROGRAM = "120000", "100755"
"""Modes of git."""


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
            border.remove_folder(place)


def sides_of(before: str, after: str | None, folder: Path, private: Path) -> tuple[Side, Side]:
    """The (old, new) sides that a command line names. Commits are written below *private*.

    before:  a range BASE..HEAD, or BASE...HEAD from where HEAD branched off; a missing name is HEAD. Or one revision,
             to compare with the work tree. With *after* it is a folder
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

    Left out, with a note: submodules, links that lead out, and contents that Git does not have or that are too large.
    git:    the repository
    title:  the name of the side in reports
    like:   a side that was written before; files with the same content become hard links to its files. None: all are
            written
    raises: NoRevision; BadName, for a name that leads out of the folder; FileExistsError, if *place* exists
    """
    entries = git.files(commit)
    for one in entries:
        _check(one.path)
    entries = [one for one in entries if not PASSED_OVER.intersection(one.path.split("/"))]
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


def copy_side(side: Side, place: Path, title: str = "") -> Side:
    """Copy the files of a side that have a mark (`Side.files`), and return the side of the copy, without notes.

    Files of the copy may be changed with `write_file`. The copy has the marks of *side*, and keeps them when its files
    change. A link stays a link. A link that leads out of the side leads to the same place as before. One that
    `commit_side` did not make is missing here, too. A submodule becomes an empty folder.
    place:  the folder for the copy; it is made if it does not exist
    title:  the title of the copy; "" keeps the title of *side*
    raises: OSError, for a file that cannot be copied, or that is no longer there
    """
    for file, mark in side.files.items():
        target = place / file
        target.parent.mkdir(parents=True, exist_ok=True)
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
    """Write a file of a copied side. A link there is replaced. Marks do not change.

    file:    relative to the top of the side; folders on the way are made
    content: the new content; None deletes the file, if it exists
    """
    side.kept.clear()
    target = side.top / file
    if target.is_symlink() or target.is_file():
        target.unlink()
    if content is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
