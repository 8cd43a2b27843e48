"""Which folder a file belongs to, and which test files are near it: by what they import."""

from __future__ import annotations

import ast
import math
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.structure.statements import statements

TOP = "top"
"""The room of the modules that are in no folder, such as `nodeattrs/errors.py`."""


def room_of(file: str) -> str:
    """The folder of a file: "nodeattrs/core/fold.py" -> "core". Each dialect is a room of its own."""
    folders = file.split("/")[1:-1]
    return "/".join(folders[:2] if folders[:1] == ["dialects"] else folders[:1]) or TOP


def files_of(checkout: Path) -> list[str]:
    """All source files, relative to the checkout, in order."""
    return sorted(str(file.relative_to(checkout)) for file in (checkout / "nodeattrs").rglob("*.py"))


def rooms_of(checkout: Path) -> list[str]:
    """All rooms, in order."""
    return sorted({room_of(file) for file in files_of(checkout)})


@cache
def imported(file: Path, module: str) -> frozenset[str]:
    """The names that the import statements of a file may mean as modules, inside functions too.

    module: the file's own dotted name, which relative imports begin at
    """
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    for node in statements(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, node.module] if node.module else above)
            found.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return frozenset(found)


class Tests:
    """The test files of a checkout, by their distance from a source file.

    A test file that imports a module is at distance 0 from it. Each import between, and each step between a package and
    a module in it, adds one. At one distance a test file is nearer if its name has a word of the module's name, and
    then if it imports more of the module's neighbours, as a share of what it imports.
    """

    def __init__(self, checkout: Path) -> None:
        self._checkout = checkout
        modules = {_dotted(file): checkout / file for file in files_of(checkout)}
        known = {name: imported(file, name) & modules.keys() for name, file in modules.items()}
        self._below: dict[str, set[str]] = {name: set() for name in modules}
        """Module -> what imports it, the package that it is in, and the modules in it."""
        for name, targets in known.items():
            for target in targets:
                self._below[target].add(name)
            package = name.rpartition(".")[0]
            if package:
                self._below[name].add(package)
                self._below[package].add(name)
        self._known = known
        self.imports = {
            str(file.relative_to(checkout)): imported(file, _dotted(str(file.relative_to(checkout))))
            for file in sorted((checkout / "tests").rglob("test_*.py"))
        }
        """Test file -> what it imports."""

    def near(self, file: str) -> list[str]:
        """The test files from which imports lead to a source file, the nearest first, then the shortest."""
        module = _dotted(file)
        distances = dict(self._distances(module))
        neighbours = {module} | self._known[module] | self._below[module]
        words = set(module.rpartition(".")[2].split("_"))
        found = []
        for test, names in self.imports.items():
            reached = [distances[name] for name in names if name in distances]
            if reached:
                size = (self._checkout / test).stat().st_size
                share = len(names & neighbours) / math.sqrt(len(names & self._known.keys()))
                named = len(words & set(Path(test).stem.split("_")))
                found.append((min(reached), -named, -share, size, test))
        return [test for *_, test in sorted(found)]

    def _distances(self, module: str) -> Iterator[tuple[str, int]]:
        seen, ahead = {module}, deque([(module, 0)])
        while ahead:
            name, distance = ahead.popleft()
            yield name, distance
            for other in self._below[name] - seen:
                seen.add(other)
                ahead.append((other, distance + 1))


def _dotted(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def in_rooms(files: Iterable[str], rooms: Iterable[str]) -> list[str]:
    """Those of the files that are in one of the rooms."""
    wanted = set(rooms)
    return [file for file in files if room_of(file) in wanted]
