"""Checks cloud-config files in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path

from nodeattrs.contract.dialect import CheckedFiles
from nodeattrs.dialects.cloudinit.other_templates import filled_as_jinja, language_of
from nodeattrs.dialects.cloudinit.reports import findings_of, findings_of_each_branch
from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of
from nodeattrs.dialects.cloudinit.userdata import merge
from nodeattrs.errors import MissingExtra
from nodeattrs.kinds import LAYER_IS_UNKNOWN
from nodeattrs.reports.findings import Finding

_HEAD = b"#cloud-config"
_PASSED = frozenset((".git", "node_modules", "vendor", "cookbooks", "modules", "spec", "test", "tests"))
_SUFFIXES = ("", ".yaml", ".yml", ".cfg", ".txt")
_TEMPLATE = re.compile(rb"\$\{|%\{~? *(?:if|for)\b|\{\{|\{%|<%")
_JINJA = re.compile(rb"## template:\s*jinja")
_UNREAD = "was not looked at: is a template"
_MOST_FILES = 20_000


class _Form(Enum):
    """What a file is: plain, a template of cloud-init's, or one of another program, with blocks or without any."""

    PLAIN = "plain"
    JINJA = "jinja"
    BLOCKS = "blocks"
    TEMPLATE = "template"


def begun_in(root: Path) -> list[str]:
    """The files that begin with `#cloud-config` and can be merged, as paths from a folder, sorted."""
    return sorted(path.relative_to(root).as_posix() for path, form in _begun_so(root) if form is _Form.PLAIN)


def looked(root: Path, count: Callable[[str], object]) -> Iterator[CheckedFiles]:
    """The findings of files that begin with `#cloud-config`, each for itself.

    A template is named, and is read without a machine; one of another program only where it has blocks.
    """
    begun = dict(_begun_so(root))
    files = sorted(path for path in begun if begun[path] is not _Form.TEMPLATE)
    found: list[Finding] = []
    for path in files:
        blob = blob_of(path)
        blob.file = path.relative_to(root).as_posix()
        count(blob.file)
        found += findings_of(merge([blob])) if begun[path] is _Form.PLAIN else _of_each_branch(blob, begun[path])
    unread = (_Form.JINJA, _Form.TEMPLATE)
    templates = [path.relative_to(root).as_posix() for path in begun if begun[path] in unread]
    found += [Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, file) for file in templates]
    if begun:
        yield CheckedFiles("cloud-config file", len(files), found)


def _of_each_branch(blob: Blob, form: _Form) -> Iterator[Finding]:
    """The findings about a template that hold on any machine; where Jinja2 is not there, that none was looked for."""
    try:
        yield from findings_of_each_branch(lambda data: merge([blob], instance_data=data))
    except MissingExtra as error:
        if form is _Form.BLOCKS:  # `looked` names all others
            yield Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, blob.file, hint=error.hint)


def _begun_so(root: Path) -> Iterator[tuple[Path, _Form]]:
    """Each file of cloud-config, and its form."""
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED)
        for path in (Path(folder, name) for name in names if os.path.splitext(name)[1] in _SUFFIXES):
            left -= 1
            if left >= 0 and path.is_file():
                with suppress(OSError), path.open("rb") as stream:
                    first = stream.readline(200)
                    is_jinja = _JINJA.match(first) is not None
                    if (stream.readline(200) if is_jinja else first).startswith(_HEAD):
                        yield path, _Form.JINJA if is_jinja else _form_of(stream.read(1_000_000))


def _form_of(text: bytes) -> _Form:
    if _TEMPLATE.search(text) is None:
        return _Form.PLAIN
    config = text.decode("utf-8", "replace")
    language = language_of(config)
    is_read = language is not None and filled_as_jinja(config, language) is not None
    return _Form.BLOCKS if is_read else _Form.TEMPLATE
