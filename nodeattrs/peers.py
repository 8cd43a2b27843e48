"""How one dialect finds another: by its name. No dialect imports another one.

A dialect that others may ask has a module `peer`, which gives what they may use of it. The protocols that it keeps are
in `contract.peers`.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def peer(name: str) -> ModuleType:
    """The module `peer` of a built-in dialect. raises: ModuleNotFoundError"""
    return importlib.import_module(f"nodeattrs.dialects.{name}.peer")
