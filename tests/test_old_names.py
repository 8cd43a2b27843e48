"""Names that a version before had: importing one fails, and the error names the new one."""

from __future__ import annotations

import importlib

import pytest

MOVED = {
    "nodeattrs.adapters.ansible": "nodeattrs.ansible",
    "nodeattrs.adapters.cloudinit": "nodeattrs.cloudinit",
    "nodeattrs.adapters.chef": "nodeattrs.chef",
    "nodeattrs.runs": "nodeattrs.chef",
    "nodeattrs.adapters.bindings": "nodeattrs.bindings",
    "nodeattrs.adapters.hiera": "nodeattrs.hiera",
    "nodeattrs.adapters.plain": "nodeattrs.policies",
    "nodeattrs.keep": "nodeattrs.store",
}


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_name_cannot_be_imported_and_names_the_new_one(old: str, new: str):
    with pytest.raises(ImportError, match=f"{old} has moved: import from {new}$"):
        importlib.import_module(old)
