"""Find the lines of hierarchies and data files that name legacy facts, which agents of Puppet 8 no longer send.

`nodeattrs.puppet.legacy_facts` knows the names. `readiness` searches Puppet code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from nodeattrs.core.tree import Path, spell
from nodeattrs.dialects.hiera.expressions import variables_in
from nodeattrs.dialects.hiera.hierarchies import LoadedTree
from nodeattrs.dialects.hiera.locations import templates_of
from nodeattrs.puppet.legacy_facts import modern_fact


class LegacyUse(NamedTuple):
    """A line that names a legacy fact.

    file:     the name of the file
    line:     the number of the line, counted from 1
    what:     where in the file: "the level NAME", the path in the data, or "code"
    variable: the legacy fact, as it is written
    instead:  the fact to write, without "facts."
    """

    file: str
    line: int
    what: str
    variable: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what} names {self.variable}"


def uses_in_levels(tree: LoadedTree, environment: str) -> Iterator[LegacyUse]:
    """Yield the legacy facts in paths, URIs and options of each hiera.yaml of an environment.

    raises: NodeattrsError, where a hiera.yaml cannot be read
    """
    for config in tree.configs(environment):
        for entry in (*config.entries, *(config.defaults or ())):
            for name in dict.fromkeys(name for _, names in templates_of(entry) for name in names):
                new = modern_fact(name)
                if new is not None:
                    yield LegacyUse(config.file or "", entry.line or 1, f"the level {entry.name}", name, new)


def uses_in_data(tree: LoadedTree, environment: str) -> Iterator[LegacyUse]:
    """Yield the legacy facts in the values and keys of all data files of an environment.

    cost:   one visit of each file
    raises: NodeattrsError, where a file cannot be read
    """
    for file in tree.data_files(environment):
        for path, text in _texts(file.tree):
            for name in variables_in(text) if "%{" in text else ():
                new = modern_fact(name)
                if new is not None:
                    yield LegacyUse(file.file, file.document.place(path)[0], spell(path), name, new)


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts of a value and of its keys, each with its path."""
    if type(value) is str:
        yield path, value
    entries = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for step, one in entries:
        if type(step) is str:
            yield (*path, step), step
        yield from _texts(one, (*path, step))
