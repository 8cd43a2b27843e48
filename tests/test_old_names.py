"""Names that a version before had: importing one fails, and the error names the new one."""

from __future__ import annotations

import importlib

import pytest

MOVED = {
    "nodeattrs.runs": "nodeattrs.chef",
    "nodeattrs.keep": "nodeattrs.store",
}


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_name_cannot_be_imported_and_names_the_new_one(old: str, new: str):
    with pytest.raises(ImportError, match=f"{old} has moved: import from {new}$"):
        importlib.import_module(old)
