"""Find the files in a folder that begin with `#cloud-config`, and check each by itself.

Only the first lines of a file decide whether it is checked. Folders of tests and of other tools, such as node_modules,
are skipped.
"""

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


def plain_configs_in(root: Path) -> list[str]:
    """The sorted paths, relative to *root*, of files that begin with `#cloud-config` and have no markup."""
    return sorted(path.relative_to(root).as_posix() for path, form in _configs_in(root) if form is _Form.PLAIN)


def checked_files(root: Path, count: Callable[[str], object]) -> Iterator[CheckedFiles]:
    """Check the files below *root* that begin with `#cloud-config`. Yields one result for all, or nothing without such
    a file.

    A template of Jinja is checked with each of its branches. A template of another program is checked in the same way
    if it has blocks, which are conditions or loops. A note names each template, since the text that a machine gets is
    not known.

    count: called with the path of a file, relative to *root*, before the file is checked
    """
    forms = dict(_configs_in(root))
    files = sorted(path for path, form in forms.items() if form is not _Form.TEMPLATE)
    found: list[Finding] = []
    for path in files:
        blob = blob_of(path)
        blob.file = path.relative_to(root).as_posix()
        count(blob.file)
        found += findings_of(merge([blob])) if forms[path] is _Form.PLAIN else _of_each_branch(blob, forms[path])
    templates = [path for path, form in forms.items() if form in (_Form.JINJA, _Form.TEMPLATE)]
    for path in templates:
        found.append(Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, path.relative_to(root).as_posix()))
    if forms:
        yield CheckedFiles("cloud-config file", len(files), found)


def _of_each_branch(blob: Blob, form: _Form) -> Iterator[Finding]:
    """The findings about a template that hold on any machine; where Jinja2 is not there, that none was looked for."""
    try:
        yield from findings_of_each_branch(lambda data: merge([blob], instance_data=data))
    except MissingExtra as error:
        if form is _Form.BLOCKS:  # `checked_files` names all others
            yield Finding(LAYER_IS_UNKNOWN.entry.code, "note", _UNREAD, blob.file, hint=error.hint)


def _configs_in(root: Path) -> Iterator[tuple[Path, _Form]]:
    """Each file that begins with `#cloud-config`, and its form; at most `_MOST_FILES` files are opened."""
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
