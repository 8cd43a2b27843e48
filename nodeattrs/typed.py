"""The words of `typing` that our modules say, without loading it: three milliseconds of every start.

To type checkers they are its own. While a program runs most of them stand in annotations alone, which nobody
evaluates, and the rest name types that nobody takes apart. Who does, imports `typing` itself: where classes of others
are looked at (`adapters/bindings`), where a library looks at ours (`cli/mcp`), and for `Answer`, of which anybody may
ask whether something is one (docs/decisions/0023).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (
        Any,
        BinaryIO,
        ClassVar,
        Literal,
        NoReturn,
        Protocol,
        Self,
        TextIO,
        TypeVar,
        cast,
        get_args,
        overload,
    )
else:
    from types import GenericAlias

    class Any:
        """Whatever it is."""

    class Protocol:
        """What has certain methods."""

    class Literal:
        """One of some values, which `get_args` gives."""

        def __class_getitem__(cls, values):
            return GenericAlias(cls, values)

    BinaryIO = ClassVar = NoReturn = Self = TextIO = Any

    def TypeVar(_name, **_words):
        return Any

    def get_args(kind):
        return kind.__args__

    def cast(_kind, value):
        return value

    def overload(function):
        return function


__all__ = [
    "TYPE_CHECKING",
    "Any",
    "BinaryIO",
    "ClassVar",
    "Literal",
    "NoReturn",
    "Protocol",
    "Self",
    "TextIO",
    "TypeVar",
    "cast",
    "get_args",
    "overload",
]
