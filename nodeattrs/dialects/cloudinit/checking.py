"""Checks cloud-config files in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from nodeattrs.contract.dialect import Looked
from nodeattrs.dialects.cloudinit.reports import findings_of
from nodeattrs.dialects.cloudinit.unpacking import blob_of
from nodeattrs.dialects.cloudinit.userdata import merge
from nodeattrs.reports.findings import Finding

_HEAD = b"#cloud-config"
_PASSED = frozenset((".git", "node_modules", "vendor", "cookbooks", "modules", "spec", "test", "tests"))
_SUFFIXES = ("", ".yaml", ".yml", ".cfg", ".txt")
_TEMPLATE = re.compile(rb"\$\{|\{\{|\{%|<%")
_MOST_FILES = 20_000


def looked(root: Path, count: Callable[[str], object]) -> Iterator[Looked]:
    """The findings of files that begin with `#cloud-config`, each for itself."""
    files = sorted(_begun_so(root))
    found: list[Finding] = []
    for path in files:
        blob = blob_of(path)
        blob.file = path.relative_to(root).as_posix()
        count(blob.file)
        found += findings_of(merge([blob]))
    if files:
        yield Looked("cloud-config file", len(files), found)


def _begun_so(root: Path) -> Iterator[Path]:
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED)
        for path in (Path(folder, name) for name in names if os.path.splitext(name)[1] in _SUFFIXES):
            left -= 1
            if left >= 0 and path.is_file():
                with suppress(OSError), path.open("rb") as stream:
                    is_one = stream.read(len(_HEAD)) == _HEAD
                    if is_one and not _TEMPLATE.search(stream.read(1_000_000)):
                        yield path
