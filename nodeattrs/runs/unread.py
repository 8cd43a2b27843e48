"""Ruby that is not run: its warning, and the paths of a node that it may set.

Used by `runs.recipes` while a node runs, and by `runs.absent`. A recipe reaches the libraries, resources and
definitions whose names it uses; what they may set counts, too.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.kinds import RUBY
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.slot_names import LEVELS
from nodeattrs.runs.cookbooks import RUBY as SUFFIX
from nodeattrs.runs.cookbooks import Cookbook

if TYPE_CHECKING:
    from nodeattrs.adapters.chef.unrun import UnrunCode

NOT_RUN = "is Ruby, which was not run"
NOT_READ = f"{NOT_RUN}, nor read"

_KINDS = {"definitions": "definition", "libraries": "library", "providers": "provider", "resources": "resource"}
"""Folder of a cookbook -> what an origin calls a file in it."""

Reached = tuple[Cookbook, Origin, "UnrunCode"]
"""The cookbook of some code, its place, and what it may do."""


def not_run(file: str, hint: str | None = None) -> DocumentError:
    """The warning for a file in Ruby."""
    return DocumentError(NOT_RUN, file=file, hint=hint, kind=RUBY)


def note_anything(node: Attributes, origin: Origin, reason: str) -> None:
    """Note that a source may set anything."""
    for level in LEVELS:
        node.unknown(level, origin.name, origin, reason)


def note_code(node: Attributes, origin: Origin, code: UnrunCode) -> None:
    """Note what some code may set: the paths that it writes out, or anything."""
    for level, lines in code.lines.items():
        node.unknown(level, origin.name, origin, NOT_RUN, lines)
    if code.hidden is not None:
        line, shown = code.hidden
        note_anything(node, origin.moved(line), f"{NOT_RUN}: {f'`{shown}`' if shown else 'it'} may set anything")


class Unrun:
    """The code in Ruby that one node may reach.

    cookbooks: those whose libraries, resources and definitions Chef loads
    """

    def __init__(self, cookbooks: Iterable[Cookbook]) -> None:
        self._cookbooks = tuple(cookbooks)
        self._seen: dict[str, set[int]] = {}

    def reached(self, cookbook: Cookbook, file: str, origin: Origin) -> Iterator[Reached]:
        """The code of a recipe or attribute file, then all code that it reaches by name, and none before it did.

        raises: MissingExtra, without tree-sitter
        cost:   a lookup for each name that the code uses, after the files were parsed once
        """
        code = _code(cookbook, file)
        yield cookbook, origin, code
        left = [*self._named.get("", ()), *self._by(code)]
        seen = self._seen.setdefault(origin.kind, set())
        while left:
            one = left.pop(0)
            if id(one) not in seen:
                seen.add(id(one))
                yield one
                left += self._by(one[2])

    def _by(self, code: UnrunCode) -> Iterator[Reached]:
        for word in sorted(code.words & self._named.keys()):
            yield from self._named[word]

    @cached_property
    def _named(self) -> dict[str, list[Reached]]:
        """Name -> the code that it reaches; "" reaches what Chef may call without a name."""
        found: dict[str, list[Reached]] = {}
        for cookbook in self._cookbooks:
            for file in cookbook.files:
                kind = _KINDS.get(file.partition("/")[0])
                if kind is not None and file.endswith(SUFFIX):
                    code = _code(cookbook, file)
                    one = cookbook, Origin(kind, cookbook.name, cookbook.shown(file)), code
                    for name in ("", *code.names) if code.is_reached else code.names:
                        found.setdefault(name, []).append(one)
        return found


def _code(cookbook: Cookbook, file: str) -> UnrunCode:
    from nodeattrs.adapters.chef.unrun import unrun_code

    part, _, name = file.removesuffix(SUFFIX).rpartition("/")
    part = part.partition("/")[0] or name
    prefix = cookbook.name.replace("-", "_")
    names: tuple[str, ...] = ()
    if part in ("providers", "resources"):
        names = (prefix if name == "default" else f"{prefix}_{name}",)
        names += (name, name.removeprefix("_")) if name.startswith("_") else ()  # a partial, for `use`
    return unrun_code(pathlib.Path(cookbook.root or "", file), cookbook.shown(file), _PARTS.get(part, part), names)


_PARTS = {"attributes": "attributes", "recipe": "recipes"}


def lines_that_set(cookbook: Cookbook, file: str, path: Path) -> Iterator[int]:
    """The lines of a file that may set a path, or something above or below it, as far as its keys are written out."""
    try:
        code = _code(cookbook, file)
    except (DocumentError, MissingExtra):
        return
    for lines in code.lines.values():
        yield from (line for at, line in lines.items() if at and at[: len(path)] == path[: len(at)])
