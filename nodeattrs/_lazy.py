"""Names that a module imports at their first use (PEP 562). So a command loads only the dialects that it uses."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["imported"]


def imported(
    package: str,
    homes: Mapping[str, str],
    below: str | None = None,
) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module: a function (name) -> value.

    It imports the value at its first use, and stores it in the module. It raises AttributeError for a name that is not
    in *homes*.

    package: the name of the module whose `__getattr__` it becomes
    homes:   name -> the module that defines it, relative to the package *below*
    below:   the name of a package; None: *package*

    >>> imported("nodeattrs", {"fold": "policies"})("fold").__name__
    'fold'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{below or package}.{homes[name]}"), name)
        setattr(importlib.import_module(package), name, value)
        return value

    return find
