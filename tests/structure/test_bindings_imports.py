"""The floors of the bindings: what is said, how it is written and who wins, what is made of it, what is asked."""

from __future__ import annotations

from pathlib import Path

from tests.structure.test_imports import imports_of, modules_of

FLOORS = {"codes": -1, "model": 0, "forms": 1, "resolution": 1, "production": 2}
"""A module imports from its own folder, or from one below; what stands in no folder is above all of them."""

BINDINGS = "nodeattrs.dialects.bindings"


def folder_of(module: str) -> str:
    """The folder of the bindings that a module is in; "" for those above."""
    steps = module.removeprefix(BINDINGS).strip(".").split(".")
    return steps[0] if steps[0] in FLOORS else ""


def test_no_floor_knows_one_above_or_beside_it():
    """
    The model knows the codes only; the forms and the resolution do not know each other.
    """
    modules = modules_of(Path(__file__).parents[2] / "nodeattrs")
    found = [
        (one.importer, one.target)
        for module in modules
        if (own := folder_of(module)) and module.startswith(BINDINGS)
        for one in imports_of(module, modules)
        if one.target.startswith(BINDINGS) and (other := folder_of(one.target)) != own
        if FLOORS.get(other, 3) >= FLOORS[own]
    ]

    assert [] == found
