"""How one dialect finds another one by its name: no dialect imports another.

A dialect that others may use has a module `peer` with the names that it offers. The protocols of these names are in
`contract.peers`.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def peer(name: str) -> ModuleType:
    """Import the module `peer` of a built-in dialect. raises: ModuleNotFoundError, where the dialect has none"""
    return importlib.import_module(f"nodeattrs.dialects.{name}.peer")
