"""What the lines behind an attribute read, and which sources that were not read may change that."""

from __future__ import annotations

import linecache
import pathlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from nodeattrs.causes.program_reads import conditions_of, reads_of
from nodeattrs.causes.writes import includes_of, writes_of
from nodeattrs.contract.answers import lines_of
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, parse
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.repository.cookbooks import RUBY
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.ruby.later import reads_at, writes_in
from nodeattrs.dialects.chef.run.lookups import python_at
from nodeattrs.dialects.chef.run.run import Run
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.reports.values import unread_at

_PYTHON = ".py"


def unread_behind(repository: Repository, run: Run, path: Path) -> list[Unread]:
    """The sources that were not read and may change an attribute that the lines for *path* read, also by way of others.

    The lines set a value, or are in files of the node and would set one under a condition. Python
    and Ruby are followed, with the conditions and loops around a line, and attributes whose keys are constant.
    cost: a look at each file of the node for each attribute that such a line reads; none where every source was read
    """
    node, root = run.node, repository.root
    found: dict[Unread, None] = {}
    if not any(slot.unknown for slot in node.slots.values()):
        return []
    files = [*_files(repository, run)]
    seen, ahead = {path}, [path]
    while ahead:
        at = ahead.pop()
        reads = [what for origin in dict.fromkeys(lines_of(node.trace(at))) for what in _read_at(root, origin)]
        for what in dict.fromkeys((*reads, *(what for file in files for what in _read_before_writes(file, at)))):
            if "(" not in what and (read := parse(what)) not in seen:
                seen.add(read)
                ahead.append(read)
                found |= dict.fromkeys(unread_at(node, read))
    return [*found]


class _File(NamedTuple):
    """An attribute file or recipe of a run: its place on disk, its name in messages, its folder in the cookbook."""

    path: pathlib.Path
    shown: str
    part: str


def _files(repository: Repository, run: Run) -> Iterator[_File]:
    """Yield the files that a run has run, in Python and Ruby."""
    attributes = [(name, "attributes", file) for name, _, file in (one.partition("/") for one in run.attribute_files)]
    for name, part, file in [*attributes, *((cookbook_of(one), "recipes", one) for one in run.recipes)]:
        with suppress(NodeattrsError):
            cookbook = repository.cookbook(name)
            file = cookbook.recipe_file(file) if part == "recipes" else file
            if cookbook.root is not None and file.endswith((_PYTHON, RUBY)):
                yield _File(cookbook.root / file, cookbook.shown(file), part)


def _read_before_writes(file: _File, path: Path) -> Iterator[str]:
    """Yield what the lines of a file read that may set a path, or include a file that may."""
    if file.shown.endswith(RUBY):
        for at, lines in writes_in(file.path, file.shown, file.part).items():
            if at[: len(path)] == path[: len(at)]:
                for line in lines:
                    yield from reads_at(file.path, file.shown, line)
        return
    text = "".join(linecache.getlines(str(file.path)))
    for line in _python_writes(text, path):
        yield from (*reads_of(text, line), *conditions_of(text, line))


@lru_cache(maxsize=1024)
def _python_writes(text: str, path: Path) -> tuple[int, ...]:
    return (*includes_of(text), *(write.line for write in writes_of(text, path)))


def _read_at(root: pathlib.Path, origin: Origin) -> tuple[str, ...]:
    """What a line of Python or Ruby reads, and what the conditions around it read; () for another language."""
    if origin.line is None or origin.file is None:
        return ()
    if origin.file.endswith(RUBY):
        return reads_at(root / origin.file, origin.file, origin.line)
    text = python_at(root, origin)
    return (*reads_of(text, origin.line), *conditions_of(text, origin.line))
