"""Names that a package imports at their first use (PEP 562): a command loads no dialect that it does not use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["imported"]


def imported(
    package: str,
    homes: Mapping[str, str],
    made: Callable[[str, Any], Any] = lambda name, value: value,
    below: str | None = None,
) -> Callable[[str], Any]:
    """The `__getattr__` of a package. cost: one import for each name

    homes: name -> the module that has it
    made:  what the package gives instead of what that module has
    below: the package of those modules; by default the package itself

    >>> imported("nodeattrs", {"fold": "policies"})("fold").__name__
    'fold'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = made(name, getattr(importlib.import_module(f"{below or package}.{homes[name]}"), name))
        setattr(importlib.import_module(package), name, value)
        return value

    return find
