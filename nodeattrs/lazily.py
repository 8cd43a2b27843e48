"""Packages whose names are imported when they are first used, so that a start pays for nothing else."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; `typing` itself need not be there yet
    from collections.abc import Callable, Mapping
    from typing import Any


def imported(
    package: str, homes: Mapping[str, str], made: Callable[[str, Any], Any] = lambda name, value: value
) -> Callable[[str], Any]:
    """The `__getattr__` of a package. cost: one import for each name

    homes: name -> the module below the package that has it
    made:  what the package gives instead of what it has found

    >>> imported("nodeattrs", {"fold": "core.fold"})("fold").__name__
    'fold'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = made(name, getattr(import_module(f"{package}.{homes[name]}"), name))
        setattr(sys.modules[package], name, value)
        return value

    return find
