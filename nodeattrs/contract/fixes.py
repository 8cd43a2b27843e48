"""Corrected files that a check proposes; `apply` writes them."""

from __future__ import annotations

import difflib
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodeattrs.disk import FolderEntry, folder_below
from nodeattrs.reports.findings import Finding


class Fix(NamedTuple):
    """A proposed correction of one file. The function `apply` of this module writes it; the methods write nothing.

    file:   the name relative to the folder of the check, with forward slashes
    after:  the whole new text of the file
    shown:  the old and the new text for people, without secret values
    mended: the findings that the correction removes

    `diff` yields the lines of a unified diff of `shown`.
    """

    file: str
    after: str
    shown: tuple[str, str]
    mended: tuple[Finding, ...]

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff of `shown`, without line feeds; none where the two texts are equal."""
        old, new = (text.splitlines() for text in self.shown)
        yield from difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}", lineterm="", n=2)


def apply(root: pathlib.Path, made: Iterable[Fix]) -> None:
    """Write the new text of each corrected file, which must exist; each file is replaced whole, and keeps its mode.

    Links are not followed. root: the folder to which the names of files are relative
    raises: OSError; files before the failing one are written then
    """
    for one in made:
        *folders, name = one.file.split("/")
        with folder_below(root, folders) as folder:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
            FolderEntry(folder, name).replace(one.after.encode("utf-8"), mode)
