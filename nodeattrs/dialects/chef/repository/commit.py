"""Find the checked-out commit of a repository, from the files of Git.

A Git process is started only if `.git` is a file: in a linked work tree or a submodule. `repository.Repository` uses
the commit for the notes of a run.
"""

from __future__ import annotations

import contextlib
import os
import pathlib

from nodeattrs.errors import NotFound, TooMuch
from nodeattrs.formats.nearest import work_tree_of
from nodeattrs.git import Git


def commit_of(root: pathlib.Path) -> str:
    """The checked-out commit of the Git repository that contains a folder; "" if it is not known.

    It is the repository of the first folder with a `.git`: *root*, then each folder above it. Where that is a file, Git
    is asked; a `.git` of another folder's repository gives "". No error is raised.
    """
    top = work_tree_of(pathlib.Path(os.path.realpath(root)))
    if top is None:
        return ""
    git = top / ".git"
    try:
        if git.is_file():
            return Git(top).commit("HEAD")
        head = _text(git / "HEAD").strip()
        kind, _, name = head.partition("ref: ")
        if kind or not name:
            return _as_commit(head)
        with contextlib.suppress(FileNotFoundError):
            return _as_commit(_text(git / name).strip())
        for line in _text(git / "packed-refs").splitlines():
            commit, _, its = line.partition(" ")
            if its == name:
                return _as_commit(commit)
    except (OSError, ValueError, NotFound, TooMuch):
        pass
    return ""


def _text(file: pathlib.Path) -> str:
    """The text of a regular file; "" for a pipe or a device, which would be waited for. raises: OSError, ValueError"""
    return file.read_text(encoding="utf-8") if file.is_file() or not file.exists() else ""


def _as_commit(text: str) -> str:
    return text if 40 <= len(text) <= 64 and set(text) <= set("0123456789abcdef") else ""
