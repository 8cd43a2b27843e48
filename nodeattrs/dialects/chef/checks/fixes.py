"""Correct files without a change of any value: remove repeated keys, and values equal to those that they override.

The corrected texts are returned; `contract.fixes` writes them. Code, links, and files outside of the repository are not
corrected.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable

from nodeattrs.contract.fixes import Fix
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import Syntax, text_of
from nodeattrs.formats.removing import veiled, without
from nodeattrs.kinds import EQUAL_TO_OVERRIDDEN, REPEATED_KEY
from nodeattrs.reports.findings import finding_of

SAFE: dict[str, bool] = {REPEATED_KEY: True, EQUAL_TO_OVERRIDDEN: False}
"""Kind of finding that can be corrected -> True if the earlier entries of the key are removed, False for the last."""

_SYNTAX: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".eyaml": "yaml"}


def fixes(root: pathlib.Path, found: Iterable[NodeattrsError], sensitive: tuple[Path, ...] = ()) -> list[Fix]:
    """The corrected files for some findings, sorted by name; [] for none. Nothing is written.

    Findings of other kinds than `SAFE`, and findings whose entry cannot be removed, are ignored.
    root:      the folder that the files in findings are relative to
    sensitive: paths of attributes whose values are not shown
    raises: DocumentError, for a file that can no longer be read
    """
    of_files: dict[str, list[DocumentError]] = {}
    for one in found:
        if isinstance(one, DocumentError) and one.kind in SAFE and one.file and one.path:
            of_files.setdefault(one.file, []).append(one)
    made = (_fix(root, file, ones, sensitive) for file, ones in sorted(of_files.items()))
    return [one for one in made if one is not None]


def _fix(root: pathlib.Path, file: str, found: list[DocumentError], sensitive: tuple[Path, ...]) -> Fix | None:
    path = root / file
    syntax = _SYNTAX.get(path.suffix)
    inside = os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)
    if syntax is None or not inside or os.path.islink(path):
        return None
    before = after = text_of(path, file)
    mended = []
    # Repeated keys first: the entry that is left may be equal to the value that it overrides.
    for one in sorted(found, key=lambda one: not SAFE[one.kind]):
        text = without(after, one.path or (), syntax, earlier=SAFE[one.kind])
        if text is not None:
            after = text
            mended.append(one)
    if not mended:
        return None
    findings = tuple(finding_of(one, "warning") for one in mended)
    return Fix(file, after, (veiled(before, sensitive), veiled(after, sensitive)), findings)
