"""Corrected files, as a check makes them: `apply` writes them, and nothing else does."""

from __future__ import annotations

import difflib
import os
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodeattrs.core.tree import Path
from nodeattrs.disk import FolderEntry, folder_below
from nodeattrs.formats.removing import veiled
from nodeattrs.reports.findings import Finding


@dataclass(frozen=True, slots=True)
class Fix:
    """A corrected file.

    before, after: its text
    mended:        the findings that the correction removes
    sensitive:     paths of attributes whose values are not shown
    """

    file: str
    before: str
    after: str
    mended: tuple[Finding, ...]
    sensitive: tuple[Path, ...] = ()

    def diff(self) -> Iterator[str]:
        """The lines of a unified diff from the old to the new text, without secret values."""
        old, new = (veiled(text, self.sensitive).splitlines() for text in (self.before, self.after))
        yield from difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}", lineterm="", n=2)


def apply(root: pathlib.Path, made: Iterable[Fix]) -> None:
    """Write the new texts of corrected files, each file whole. raises: OSError"""
    for one in made:
        *folders, name = one.file.split("/")
        with folder_below(root, folders) as folder:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
            FolderEntry(folder, name).replace(one.after.encode("utf-8"), mode)
