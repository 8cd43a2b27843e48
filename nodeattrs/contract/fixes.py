"""Corrected files, as a check makes them: `apply` writes them, and nothing else does."""

from __future__ import annotations

import difflib
import os
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodeattrs.disk import FolderEntry, folder_below
from nodeattrs.reports.findings import Finding


@dataclass(frozen=True, slots=True)
class Fix:
    """A corrected file.

    after:  its new text
    shown:  the old and the new text for people, without secret values
    mended: the findings that the correction removes
    """

    file: str
    after: str
    shown: tuple[str, str]
    mended: tuple[Finding, ...]

    def diff(self) -> Iterator[str]:
        """The lines of a unified diff from the old to the new text, without secret values."""
        old, new = (text.splitlines() for text in self.shown)
        yield from difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}", lineterm="", n=2)


def apply(root: pathlib.Path, made: Iterable[Fix]) -> None:
    """Write the new texts of corrected files, each file whole. raises: OSError"""
    for one in made:
        *folders, name = one.file.split("/")
        with folder_below(root, folders) as folder:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
            FolderEntry(folder, name).replace(one.after.encode("utf-8"), mode)
