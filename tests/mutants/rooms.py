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
    "adapters/hiera": (
        "answer borders budget hiera_census hiera_config hiera_control hiera_explain hiera_eyaml hiera_laws "
        "hiera_lookup hiera_merge hiera_nodes hiera_types hiera_unknown hiera_yaml yaml_readers"
    ),
    "adapters/cloudinit": (
        "answer borders budget cloudinit_changes cloudinit_definitions cloudinit_documented cloudinit_explain "
        "cloudinit_layers cloudinit_mergers cloudinit_parts cloudinit_warnings yaml_readers"
    ),
    "adapters/bindings": (
        "answer borders budget bindings_bad_input bindings_builder bindings_composition bindings_data "
        "bindings_injector bindings_language bindings_laws bindings_types bindings_unknown"
    ),
    "keep": (
        "borders budget carrying filters history search sensitive snapshot store_files store_history store_postgresql "
        "store_sqlite"
    ),
    "catalog": "catalog_chains catalog_order catalog_recipes catalog_run catalog_transaction catalog_types",
    "puppet": "bindings_injector budget bindings_types catalog_chains hiera_types",
}
"""Room -> the stems of its test files. Those of the command line, of the vectors and of the oracles are far away."""

_TESTS = Path(__file__).parents[1]
for _file in sorted(_TESTS.parent.glob("nodeattrs/adapters/*/__init__.py")):
    _own = sorted(test.stem.removeprefix("test_") for test in _TESTS.glob(f"test_{_file.parent.name}*.py"))
    ROOMS.setdefault(f"adapters/{_file.parent.name}", " ".join(["answer borders budget", *_own]))
"""A young adapter has the files that begin with its name."""


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
