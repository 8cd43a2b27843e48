"""The words of `typing`, for modules that need them for their annotations only.

Nobody evaluates an annotation here, so while a program runs most of them stand for nothing, and a start does without
`typing` itself. Who looks at types at run time imports that.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true
    from typing import (
        Any,
        BinaryIO,
        ClassVar,
        Literal,
        NamedTuple,
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
    from collections import namedtuple

    class Any:
        """Can stand in unions and between brackets."""

    BinaryIO = ClassVar = NoReturn = Self = TextIO = Any

    class Protocol:
        """A class like others."""

    class Literal:
        """`Literal["a", "b"]` is its values."""

        def __class_getitem__(cls, values):
            return values if isinstance(values, tuple) else (values,)

    def get_args(values):
        return values

    def TypeVar(name, *constraints, bound=None):
        return Any

    def cast(kind, value):
        return value

    def overload(function):
        return function

    class _Named(type):
        """Makes a `namedtuple` of a class that names its fields with annotations."""

        def __new__(cls, name, bases, space):
            fields = space.get("__annotations__", {})
            defaults = [space[field] for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])
            for key, value in space.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Named, "NamedTuple", (), {})

__all__ = [
    "TYPE_CHECKING",
    "Any",
    "BinaryIO",
    "ClassVar",
    "Literal",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "Self",
    "TextIO",
    "TypeVar",
    "cast",
    "get_args",
    "overload",
]
