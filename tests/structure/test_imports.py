"""The house: which room may know which.

Reads the imports of every module from its source, so that one inside a function or for
type checkers only counts too. It knows the order of the rooms and nothing of what they do.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.structure.statements import statements

FACE = ""
"""The room of `nodeattrs/__init__.py`."""

RANKS = {
    "_lazy": -1,
    "_version": -1,
    "peers": -1,
    "codes": -1,
    "cache": -1,
    "errors": 0,
    "kinds": 0,
    "core": 1,
    "disk": 1,
    "border": 1,
    "children": 1,
    "formats": 2,
    "causes": 3,
    "git": 3,
    "packages": 3,
    "puppet": 3,
    "trust": 3,
    "node": 4,
    "catalog": 5,
    "store": 5,
    "policies": 6,
    "project": 7,
    "workers": 7,
    "reports": 8,
    "contract": 9,
    "dialects.common": 10,
    "dialects.resources": 10,
    "ansible": 12,
    "bindings": 12,
    "chef": 12,
    "cloudinit": 12,
    "hiera": 12,
    "inject": 13,
    "recipe": 12,
    "settings": 12,
    "dialects.folders": 12,
    "dialects.built_in": 12,
    "dialects.registry": 13,
    "dialects": 14,
    "verbs": 15,
    "web": 16,
    "cli": 17,
    FACE: 18,
    "testing": 19,
    "pytest_plugin": 19,
    "__main__": 19,
    "adapters": 19,
    "keep": 19,
    "runs": 19,
}
"""A room may import those of a lower rank. Those of one rank do not know each other.

A name with a dot goes before the name of its first step. `dialects.X` without a row is a dialect.
"""

DIALECT = 11
"""The rank of each dialect."""

NOWHERE = 99
"""The rank of a room that is not in the table."""

Modules = dict[str, Path]
"""The name of each module, and its file."""


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another of ours.

    target: the module that is imported
    name:   what is taken from it; "" where it is the module itself
    """

    importer: str
    target: str
    name: str
    line: int


def modules_of(package: Path) -> Modules:
    """Every module below the folder of a package, by its dotted name."""
    return {
        ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): file
        for file in sorted(package.rglob("*.py"))
    }


def imports_of(module: str, modules: Modules) -> Iterator[Import]:
    """What a module imports of our own, in the order of its lines."""
    face = module.partition(".")[0]
    file = modules[module]
    for statement in _statements(file.read_text(encoding="utf-8")):
        for target, name in _named(statement, module, file.name == "__init__.py"):
            if target.partition(".")[0] != face:
                continue
            if f"{target}.{name}" in modules:
                target, name = f"{target}.{name}", ""
            yield Import(module, target, name, statement.lineno)


@cache
def _statements(text: str) -> list[ast.Import | ast.ImportFrom]:
    return [one for one in statements(ast.parse(text)) if isinstance(one, (ast.Import, ast.ImportFrom))]


def _named(statement: ast.Import | ast.ImportFrom, module: str, is_package: bool) -> list[tuple[str, str]]:
    if isinstance(statement, ast.Import):
        return [(alias.name, "") for alias in statement.names]
    base = statement.module or ""
    if statement.level:
        parts = module.split(".")
        above = parts[: len(parts) + is_package - statement.level]
        base = ".".join([*above, base] if base else above)
    return [(base, alias.name) for alias in statement.names]


def room_of(module: str) -> str:
    """The first step below the package; each dialect is a room of its own."""
    steps = module.split(".")[1:]
    return ".".join(steps[:2] if steps[:1] == ["dialects"] else steps[:1])


def rank_of(room: str) -> int:
    return RANKS.get(room, DIALECT if room.startswith("dialects.") else NOWHERE)


OUTSIDE = {
    "ansible": "names of the dialect",
    "bindings": "names of the dialect",
    "chef": "names of the dialect",
    "cloudinit": "names of the dialect",
    "hiera": "names of the dialect",
    "recipe": "the words of recipes, for editors",
    "settings": "settings of Python programs",
    "pytest_plugin": "fixtures that run nodes",
}
"""The modules outside of `dialects` that import a dialect, and why. This list only gets shorter."""


def importers_of_dialects(modules: Modules) -> set[str]:
    """The modules outside of `dialects` that import a module of one dialect."""
    return {
        module.partition(".")[2]
        for module in modules
        if not room_of(module).startswith("dialects")
        for one in imports_of(module, modules)
        if one.target.count(".") > 2 and room_of(one.target).startswith("dialects.")
    }


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def strangers(modules: Modules) -> list[str]:
    """The modules in rooms that the table of ranks does not have."""
    return [f"{file}: no rank for {name}" for name, file in modules.items() if rank_of(room_of(name)) == NOWHERE]


def upward(modules: Modules) -> list[str]:
    """The imports of a room that is not below."""
    return [
        f"{modules[one.importer]}:{one.line}: {one.importer} may not know {one.target}"
        for module in modules
        for one in imports_of(module, modules)
        if room_of(module) != room_of(one.target) and rank_of(room_of(module)) <= rank_of(room_of(one.target))
    ]


def pried(modules: Modules) -> list[str]:
    """The imports of a private name, or from a private module, of another room.

    A private module beside the rooms, as `_lazy`, is private to the package: all rooms may import it.
    """
    return [
        f"{modules[one.importer]}:{one.line}: {'.'.join(filter(None, [one.target, one.name]))} is private"
        for module in modules
        for one in imports_of(module, modules)
        if room_of(module) != room_of(one.target) and any(map(is_private, [*one.target.split(".")[2:], one.name]))
    ]


def rings(modules: Modules) -> dict[frozenset[str], list[str]]:
    """The modules that know each other in a ring, however long, and the imports that make it."""
    known = {module: list(imports_of(module, modules)) for module in modules}
    beyond = {module: _reached(module, known) for module in modules}
    ringed = {frozenset(one for one in beyond[module] if module in beyond[one]) for module in modules}
    return {
        ring: list(
            dict.fromkeys(
                f"{modules[module]}:{one.line}: {module} imports {one.target}"
                for module in sorted(ring)
                for one in known[module]
                if one.target in ring
            )
        )
        for ring in ringed
        if ring
    }


def _reached(module: str, known: dict[str, list[Import]]) -> set[str]:
    """What a module knows, and what that knows, and so on: itself only where a way leads back."""
    reached: set[str] = set()
    ahead = [module]
    while ahead:
        new = {one.target for one in known.get(ahead.pop(), ())} - reached
        reached |= new
        ahead += new
    return reached & known.keys()


ROOT = Path(__file__).parents[2] / "nodeattrs"
HOUSE = modules_of(ROOT)


class TestHouse:
    def test_every_room_has_a_rank(self):
        """
        A new room is entered in the table before anyone moves in.
        """
        assert [] == strangers(HOUSE)

    def test_no_import_goes_upward_or_sideways(self):
        """
        A room imports only what stands below it, also inside a function.
        """
        assert [] == upward(HOUSE)

    def test_only_the_listed_modules_outside_of_dialects_import_one(self):
        """
        Verbs, pages and commands know the contract. A module that no longer imports a dialect leaves the list.
        """
        assert set(OUTSIDE) == importers_of_dialects(HOUSE)

    def test_no_modules_import_each_other_in_a_ring(self):
        """
        The modules can be put in an order in which each knows only earlier ones. An import that
        waits in a function, or is for annotations only, is knowledge too: what two modules share
        has a place of its own below both.
        """
        assert {} == rings(HOUSE)

    def test_no_room_imports_private_names_of_another(self):
        """
        No room imports a name with an underscore from another.
        """
        assert [] == pried(HOUSE)

    @pytest.mark.parametrize("heavy", ["jinja2", "psutil", "distro", "lark", "psycopg", "sqlite3"])
    def test_the_face_is_light(self, heavy: str):
        """
        `from nodeattrs import Node` loads no library that only some need.
        """
        assert heavy not in loaded_by("from nodeattrs import Node")


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter loads for a statement."""
    program = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


Build = Callable[..., Modules]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Builds a small house of the given files, to see whether its faults are found."""

    def built(**texts: str) -> Modules:
        package = tmp_path / "hut"
        for module, text in {"__init__": "", **texts}.items():
            file = package.joinpath(*module.split("__in__")).with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return modules_of(package)

    return built


class TestTheInspector:
    """What judges the house is judged on small ones with a fault each."""

    def test_downward_imports_are_fine(self, build: Build):
        """
        Each room may import any below, and its own modules.
        """
        hut = build(
            errors="", core__in__tree="from hut.errors import A", core__in__fold="from .tree import _own", __main__=""
        )

        assert ([], [], {}, []) == (strangers(hut), upward(hut), rings(hut), pried(hut))

    @pytest.mark.parametrize(
        "text",
        [
            "from hut.node import Node",
            "import hut.node.view as view",
            "from hut import node",
            "from ..node import view",
            "from .. import node",
            "from hut import Node",
            "def late():\n    from hut.node import Node",
            "if TYPE_CHECKING:\n    from hut.node import Node",
            "try:\n    import hut.node\nexcept ImportError:\n    pass",
        ],
    )
    def test_an_upward_import_is_found(self, build: Build, text: str):
        """
        However it is written, and wherever it stands.
        """
        hut = build(core__in__tree=text, node__in__view="", node__in____init__="")

        (fault,) = upward(hut)

        assert fault.startswith(f"{hut['hut.core.tree']}:{2 if chr(10) in text else 1}: hut.core.tree may not know hut")

    def test_neighbours_do_not_know_each_other(self, build: Build):
        """
        Rooms of one rank are strangers, and so are two dialects.
        """
        hut = build(
            store__in__search="import hut.dialects.hiera.lookup",
            dialects__in__hiera__in__lookup="import hut.dialects.bindings.model, hut.dialects.hiera.config",
            dialects__in__hiera__in__config="",
            dialects__in__bindings__in__model="",
        )

        assert ["hut.dialects.bindings.model", "hut.dialects.hiera.lookup"] == sorted(
            fault.rpartition(" ")[2] for fault in upward(hut)
        )

    def test_a_new_dialect_needs_no_row(self, build: Build):
        """
        It may know what all dialects share, and no other dialect.
        """
        hut = build(
            dialects__in__new__in__dialect="import hut.dialects.common, hut.dialects.hiera, hut.dialects.built_in",
            dialects__in__common="",
            dialects__in__hiera="",
            dialects__in__built_in="import hut.dialects.new.dialect",
        )

        assert ["hut.dialects.built_in", "hut.dialects.hiera"] == sorted(
            fault.rpartition(" ")[2] for fault in upward(hut)
        )

    def test_a_ring_is_found_with_its_lines(self, build: Build):
        """
        Three modules of one room, each needing the next; who only looks on is not in it.
        """
        hut = build(
            core__in__a="import hut.core.b",
            core__in__b="\nfrom hut.core import c, d",
            core__in__c="from .a import x",
            core__in__d="",
            node="from hut.core import a",
        )

        ((ring, lines),) = rings(hut).items()

        assert {"hut.core.a", "hut.core.b", "hut.core.c"} == ring
        assert lines == [
            f"{hut['hut.core.a']}:1: hut.core.a imports hut.core.b",
            f"{hut['hut.core.b']}:2: hut.core.b imports hut.core.c",
            f"{hut['hut.core.c']}:1: hut.core.c imports hut.core.a",
        ]

    @pytest.mark.parametrize("late", ["def late():\n    import hut.core.a", "if TYPE_CHECKING:\n    import hut.core.a"])
    def test_an_import_that_waits_closes_a_ring_too(self, build: Build, late: str):
        """
        Inside a function, or for type checkers only.
        """
        assert [{"hut.core.a", "hut.core.b"}] == list(rings(build(core__in__a="import hut.core.b", core__in__b=late)))

    def test_each_ring_is_told_apart(self, build: Build):
        """
        Two pairs that know each other, one of which knows the other.
        """
        hut = build(
            core__in__a="import hut.core.b",
            core__in__b="import hut.core.a, hut.core.c",
            core__in__c="from . import d",
            core__in__d="from .c import x",
        )

        assert {frozenset({"hut.core.a", "hut.core.b"}), frozenset({"hut.core.c", "hut.core.d"})} == rings(hut).keys()

    def test_prying_is_found(self, build: Build):
        """
        A private name and a private module of another room; a version's double underscore is not private.
        """
        hut = build(
            core__in___inner="",
            core__in__tree="",
            node__in__view="from hut.core.tree import _x, y, __all__\nfrom hut.core._inner import z",
        )

        assert [fault.partition(": ")[2] for fault in pried(hut)] == [
            "hut.core.tree._x is private",
            "hut.core._inner.z is private",
        ]

    def test_a_room_without_a_rank_is_found(self, build: Build):
        """
        A room that nobody planned.
        """
        hut = build(utils__in__misc="")

        assert [f"{hut['hut.utils.misc']}: no rank for hut.utils.misc"] == strangers(hut)
