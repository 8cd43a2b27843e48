"""Which tests are near which code."""

from __future__ import annotations

from pathlib import Path

ROOMS = {
    "core": (
        "answer borders budget cloudinit_explain cloudinit_mergers code fold hiera_merge made policy rules sensitive "
        "trace tracing tree unknown value_causes"
    ),
    "node": (
        "answer attributes borders budget causes documents filters history ledger precedence provenance rules run_list "
        "sensitive shared snapshot unknown_slots value_causes values view writers"
    ),
    "keep": (
        "borders budget carrying filters history search sensitive snapshot store_files store_history store_postgresql "
        "store_sqlite"
    ),
    "catalog": (
        "catalog_chains catalog_compiled catalog_order catalog_recipes catalog_run catalog_transaction catalog_types"
    ),
    "puppet": "bindings_injector budget bindings_types catalog_chains hiera_types",
}
"""Room -> the stems of its test files. Those of the command line, of the vectors and of the oracles are far away."""

_TESTS = Path(__file__).parents[1]
for _file in sorted(_TESTS.parent.glob("nodeattrs/adapters/*/__init__.py")):
    _own = sorted(test.stem.removeprefix("test_") for test in _TESTS.glob(f"test_{_file.parent.name}*.py"))
    _near = [stem for stem in _own if not stem.endswith("_cli")]
    ROOMS[f"adapters/{_file.parent.name}"] = " ".join(["answer borders budget yaml_readers", *_near])
"""An adapter has the files that begin with its name."""


def room_of(file: str) -> str:
    """The room of a file, "nodeattrs/core/fold.py" -> "core"; "" for one that has no tests of its own here."""
    inside = file.removeprefix("nodeattrs/")
    return next((room for room in ROOMS if inside.startswith(f"{room}/")), "")


def tests_of(room: str) -> list[str]:
    """Its test files, relative to the checkout."""
    return [f"tests/test_{stem}.py" for stem in ROOMS[room].split()]


def files_of(checkout: Path, room: str) -> list[str]:
    """Its source files, relative to the checkout, in order."""
    return [str(file.relative_to(checkout)) for file in sorted((checkout / "nodeattrs" / room).rglob("*.py"))]
