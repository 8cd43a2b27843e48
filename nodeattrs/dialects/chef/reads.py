"""Find the unread sources that may change an attribute indirectly: a line that sets it reads another attribute.

Code in Python and Ruby is followed by its text, as far as keys are constant. `opened` uses the result for the certainty
of an answer.
"""

from __future__ import annotations

import linecache
import pathlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import NamedTuple

from nodeattrs.causes.program_reads import conditions_of, reads_of
from nodeattrs.causes.writes import first_keys, includes_of, writes_of
from nodeattrs.contract.answers import lines_of
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path, parse
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.chef.repository.cookbooks import RUBY
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.ruby.later import reads_of_line, writes_in
from nodeattrs.dialects.chef.run.lookups import python_at
from nodeattrs.dialects.chef.run.run import Run
from nodeattrs.errors import NodeattrsError
from nodeattrs.node.run_list import cookbook_of
from nodeattrs.reports.values import unread_at

_PYTHON = ".py"


class _File(NamedTuple):
    """An attribute file or recipe that ran.

    shown: its name in messages
    part:  its folder in the cookbook: "attributes" or "recipes"
    text:  its source if it is Python; "" for Ruby
    """

    path: pathlib.Path
    shown: str
    part: str
    text: str = ""


class UnreadInputs:
    """Finds the unread sources that may change an attribute of one run indirectly. Call `of` with the attribute's path.

    A line that sets the attribute, or might set it, may read another attribute, which an unread source may set.
    `of` follows what these lines read, and what the conditions and loops around them read.
    The constructor reads nothing. `of` reads files and keeps what it found for the next call. It returns [] if every
    source of the run was read.

    repository: the repository of the run, which gives the text of the files
    run:        a finished run of the node
    """

    def __init__(self, repository: Repository, run: Run) -> None:
        self._repository, self._run = repository, run
        self._reads: dict[tuple[str, int], tuple[str, ...]] = {}

    def of(self, path: Path) -> list[Unread]:
        """The unread sources that may change what the lines for *path* read. [] if every source was read.

        The lines for *path* set it, or might. If they read another attribute, the lines for that attribute count too,
        and so on. A source that may only set *path* itself is not included.
        cost: a trace for each attribute that these lines read
        """
        node, root = self._run.node, self._repository.root
        found: dict[Unread, None] = {}
        if not any(slot.unknown for slot in node.slots.values()):
            return []
        seen, ahead = {path}, [path]
        while ahead:
            at = ahead.pop()
            reads = [what for origin in dict.fromkeys(lines_of(node.trace(at))) for what in _read_at(root, origin)]
            for what in dict.fromkeys((*reads, *self._read_before_writes(at))):
                if "(" not in what and (read := parse(what)) not in seen:
                    seen.add(read)
                    ahead.append(read)
                    found |= dict.fromkeys(unread_at(node, read))
        return [*found]

    def _read_before_writes(self, path: Path) -> Iterator[str]:
        """Yield what some lines of the node's files read: lines that may set a path, or include a file."""
        for key in dict.fromkeys((*path[:1], None)) if path else self._writers:
            for file, at, line in self._writers.get(key, ()):
                reads = self._read_on(file, line) if at[: len(path)] == path[: len(at)] else ()
                if reads and (not file.text or line in _writes(file.text, path)):
                    yield from reads

    def _read_on(self, file: _File, line: int) -> tuple[str, ...]:
        if (file.shown, line) not in self._reads:
            self._reads[file.shown, line] = _read_in(file.path, file.shown, file.text, line)
        return self._reads[file.shown, line]

    @cached_property
    def _writers(self) -> dict[object, list[tuple[_File, Path, int]]]:
        """First key -> (file, path, line) of each line that may write below it; None -> lines that may set anything."""
        found: dict[object, list[tuple[_File, Path, int]]] = {}
        for file in _files(self._repository, self._run):
            if not file.shown.endswith(RUBY):
                lines = [*first_keys(file.text), *((None, line) for line in includes_of(file.text))]
                writes = [((), key, line) for key, line in lines]
            else:
                every = writes_in(file.path, file.shown, file.part).items()
                writes = [(at, at[0] if at else None, line) for at, lines in every for line in lines]
            for at, key, line in writes:
                found.setdefault(key, []).append((file, at, line))
        return found


def _files(repository: Repository, run: Run) -> Iterator[_File]:
    """Yield the attribute files and recipes of a run in Python and Ruby; those that cannot be read are left out."""
    attributes = [(name, "attributes", file) for name, _, file in (one.partition("/") for one in run.attribute_files)]
    for name, part, file in [*attributes, *((cookbook_of(one), "recipes", one) for one in run.recipes)]:
        with suppress(NodeattrsError):
            cookbook = repository.cookbook(name)
            file = cookbook.recipe_file(file) if part == "recipes" else file
            if cookbook.root is not None and file.endswith((_PYTHON, RUBY)):
                path = cookbook.root / file
                text = "".join(linecache.getlines(str(path))) if file.endswith(_PYTHON) else ""
                yield _File(path, cookbook.shown(file), part, text)


@lru_cache(maxsize=1024)
def _writes(text: str, path: Path) -> tuple[int, ...]:
    return (*includes_of(text), *(write.line for write in writes_of(text, path)))


def _read_at(root: pathlib.Path, origin: Origin) -> tuple[str, ...]:
    """What the line of an origin and the conditions around it read, as paths; () if it is neither Python nor Ruby."""
    if origin.line is None or origin.file is None:
        return ()
    return _read_in(root / origin.file, origin.file, python_at(root, origin), origin.line)


def _read_in(path: pathlib.Path, shown: str, text: str, line: int) -> tuple[str, ...]:
    """The paths that a line of a file and the conditions around it read. text: the source of a Python file"""
    if shown.endswith(RUBY):
        return reads_of_line(path, shown, line)
    return (*reads_of(text, line), *conditions_of(text, line))
