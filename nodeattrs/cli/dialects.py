"""What else lies in a repository and has a check of its own: cloud-config files, a site of bindings, Ansible.

Each dialect is a function from the root to what it looked at, each file counted, and what it found; whoever adds one
adds its line to `DIALECTS`. No code runs.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from nodeattrs.kinds import NOT_RUN

if TYPE_CHECKING:
    from nodeattrs.reports.findings import Finding
    from nodeattrs.runs.config import Config

Looked = tuple[str, int, list["Finding"]]
"""What was looked at, how many there are, and what was found."""

Count = Callable[[str], object]
"""Called with the name of each file that is looked at."""

_HEAD = b"#cloud-config"
_PASSED = frozenset((".git", "node_modules", "vendor", "cookbooks", "modules", "spec", "test", "tests"))
_SUFFIXES = ("", ".yaml", ".yml", ".cfg", ".txt")
_TEMPLATE = re.compile(rb"\$\{|\{\{|\{%|<%")
_MOST_FILES = 20_000


def others(root: pathlib.Path, config: Config, count: Count) -> Iterator[Looked]:
    """What each dialect says of a repository; a library that is not there is a note."""
    from nodeattrs.errors import MissingExtra
    from nodeattrs.reports.findings import finding_of

    for dialect in DIALECTS:
        try:
            yield from dialect(root, config, count)
        except MissingExtra as error:
            error.kind = NOT_RUN
            yield "", 0, [finding_of(error, "note")]


def repositories_below(root: pathlib.Path) -> list[str]:
    """The folders in a folder, or in one of these, that somebody keeps a repository in, as paths from there."""
    from nodeattrs.adapters.ansible.static import is_repository

    found: list[str] = []
    for folder, folders, names in os.walk(root):
        here = pathlib.Path(folder)
        steps = here.relative_to(root).parts
        is_module = "metadata.json" in names  # of Puppet, which may have a hiera.yaml of its own
        has_mark = bool(_MARKS & {*folders, *names}) or any(here.glob("*/metadata.rb"))
        is_one = bool(steps) and not is_module and (has_mark or is_repository(here))
        found += ["/".join(steps)] if is_one else []
        is_end = is_one or len(steps) == _DEPTH
        folders[:] = [] if is_end else sorted(one for one in folders if one[0] != "." and one not in _PASSED)
    return found


_MARKS = frozenset(("cookbooks", "hiera.yaml", "metadata.rb", "nodeattrs.toml", "Policyfile.rb"))
_DEPTH = 2


def _cloud_config(root: pathlib.Path, config: Config, count: Count) -> Iterator[Looked]:
    """Files that begin with `#cloud-config`, each for itself."""
    files = sorted(_begun_so(root))
    if not files:
        return
    from nodeattrs.adapters.cloudinit import blob_of, merge
    from nodeattrs.reports.cloud_config import findings_of

    found: list[Finding] = []
    for path in files:
        blob = blob_of(path)
        blob.file = path.relative_to(root).as_posix()
        count(blob.file)
        found += findings_of(merge([blob]))
    yield "cloud-config file", len(files), found


def _begun_so(root: pathlib.Path) -> Iterator[pathlib.Path]:
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED)
        for path in (pathlib.Path(folder, name) for name in names if os.path.splitext(name)[1] in _SUFFIXES):
            left -= 1
            if left >= 0 and path.is_file():
                with suppress(OSError), path.open("rb") as stream:
                    is_one = stream.read(len(_HEAD)) == _HEAD
                    if is_one and not _TEMPLATE.search(stream.read(1_000_000)):
                        yield path


def _bindings(root: pathlib.Path, config: Config, count: Count) -> Iterator[Looked]:
    """The site that the settings name, else the repository where it has bindings in their own language."""
    named = config.bindings
    if named is None and not [*(root / "bindings").glob("*.pp"), *(root / "bindings").glob("*.bindings")]:
        return
    from nodeattrs.reports.bindings import findings_of
    from nodeattrs.runs import Repository
    from nodeattrs.runs.binding_sites import site_of

    site = root / (named or ".")
    injector = site_of(Repository(root), site, node="", facts={}).injector(lenient=True)
    yield "binding", len(injector.keys()), [_seen_from(root, site, one) for one in findings_of([("", injector)])]


def _ansible(root: pathlib.Path, config: Config, count: Count) -> Iterator[Looked]:
    """Playbooks, roles and variables of Ansible; and the searches that make groups of kept nodes."""
    from nodeattrs.reports.findings import finding_of

    if config.ansible_groups:
        from nodeattrs.reports.ansible_inventory import doubtful_groups

        found = [finding_of(one, "warning") for one in doubtful_groups(root, config.ansible_groups)]
        yield "group of Ansible", len(config.ansible_groups), found
    from nodeattrs.adapters.ansible.static import Static, is_repository

    if is_repository(root):
        look = Static(root, count)
        warnings = [finding_of(one, "note" if one.kind in look.NOTES else "warning") for one in look.warnings()]
        yield "Ansible file", look.looked, [*(finding_of(one, "error") for one in look.faults), *warnings]


def _seen_from(root: pathlib.Path, site: pathlib.Path, one: Finding) -> Finding:
    return replace(one, file=os.path.relpath(site / one.file, root).replace(os.sep, "/")) if one.file else one


DIALECTS: tuple[Callable[[pathlib.Path, Config, Count], Iterator[Looked]], ...] = (
    _cloud_config,
    _bindings,
    _ansible,
)
