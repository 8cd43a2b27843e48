"""What can be mended without changing a value: keys that a file has twice, values equal to what they override.

It makes new texts of files, and writes them when it is asked to. Of a finding that cannot be mended by taking an
entry out, nothing is made. Files that are code, links, or no part of the repository are left alone.
"""

from __future__ import annotations

import difflib
import os
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodeattrs.disk import Entry, folder_below
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import Syntax, text_of
from nodeattrs.formats.removing import without
from nodeattrs.kinds import EQUAL_TO_OVERRIDDEN, REPEATED_KEY

SAFE: dict[str, bool] = {REPEATED_KEY: True, EQUAL_TO_OVERRIDDEN: False}
"""Kind -> whether it is the earlier entries that go."""

_SYNTAX: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".eyaml": "yaml"}


@dataclass(frozen=True, slots=True)
class Fix:
    """A corrected file.

    before, after: its text
    mended:        the findings that the correction removes
    """

    file: str
    before: str
    after: str
    mended: tuple[NodeattrsError, ...]

    def diff(self) -> Iterator[str]:
        """The lines of a unified diff from the old to the new text."""
        old, new = self.before.splitlines(), self.after.splitlines()
        yield from difflib.unified_diff(old, new, f"a/{self.file}", f"b/{self.file}", lineterm="", n=2)


def fixes(root: pathlib.Path, found: Iterable[NodeattrsError]) -> list[Fix]:
    """The files that can be corrected without changing a value, sorted by name; [] for none.

    cost: reads each file three times for each finding in it
    """
    of_files: dict[str, list[DocumentError]] = {}
    for one in found:
        if isinstance(one, DocumentError) and one.kind in SAFE and one.file and one.path:
            of_files.setdefault(one.file, []).append(one)
    made = (_fix(root, file, ones) for file, ones in sorted(of_files.items()))
    return [one for one in made if one is not None]


def _fix(root: pathlib.Path, file: str, found: list[DocumentError]) -> Fix | None:
    path = root / file
    syntax = _SYNTAX.get(path.suffix)
    inside = os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)
    if syntax is None or not inside or os.path.islink(path):
        return None
    before = after = text_of(path, file)
    mended = []
    # A key that stands twice first: what is left of it may be equal to what it overrides.
    for one in sorted(found, key=lambda one: not SAFE[one.kind]):
        text = without(after, one.path or (), syntax, earlier=SAFE[one.kind])
        if text is not None:
            after = text
            mended.append(one)
    return Fix(file, before, after, tuple(mended)) if mended else None


def apply(root: pathlib.Path, made: Iterable[Fix]) -> None:
    """Write the new texts of corrected files, each file whole. raises: OSError"""
    for one in made:
        *folders, name = one.file.split("/")
        with folder_below(root, folders) as folder:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
            Entry(folder, name).replace(one.after.encode("utf-8"), mode)
