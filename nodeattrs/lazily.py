"""What is made when it is first used, so that a start pays for nothing else.

Names of a package are imported, regular expressions compiled: a command meets a hundred of each, and uses a tenth.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; `typing` itself need not be there yet
    import re as re
    from collections.abc import Callable, Mapping
    from re import compile as regexp
    from typing import Any

__all__ = ["imported", "re", "regexp"]


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


patterns: dict[tuple[Any, int], Any] = {}
"""What was compiled, as text and flags, and its parts where a process has begun with what another one has made."""


class _Regexp:
    """A regular expression, compiled when one of its methods is first asked for."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        parts, (text, flags) = patterns.get(self._given), self._given
        if parts is not None:
            import _sre  # type: ignore[import-not-found]

            compiled = _sre.compile(*parts)
        else:
            from re import _compiler  # type: ignore[attr-defined]  # what stands in for `re` has its own `compile`

            patterns[self._given], compiled = None, _compiler.compile(text, int(flags))
        vars(self).update({one: getattr(compiled, one) for one in dir(compiled) if not one.startswith("_")})
        return getattr(compiled, name)


class _Expressions:
    """`re`, which is loaded for what its types and flags do not do: it takes a millisecond, and so does `enum`."""

    ASCII, DOTALL, IGNORECASE, MULTILINE, VERBOSE = 256, 16, 2, 8, 64

    def __getattr__(self, name: str) -> Any:
        if name in ("Match", "Pattern"):
            import _sre

            nothing = _sre.compile("", 0, [1], 0, {}, ())  # 1 is the end of all expressions
            self.Pattern, self.Match = type(nothing), type(nothing.match(""))
            return vars(self)[name]
        import re

        return getattr(re, name)


if not TYPE_CHECKING:
    re, regexp = _Expressions(), _Regexp
