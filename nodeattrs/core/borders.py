"""Checks of the arguments of public calls, declared beside the call.

A wrong argument raises BadArgument, which shows how the call is written. Without the check, it would raise a
`TypeError` somewhere inside the library. The checks are for calls that are made once, not for inner loops.
"""

from __future__ import annotations

import inspect
import os
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import Any, TypeVar

from nodeattrs.errors import BadArgument, wrong_argument

_Call = TypeVar("_Call", bound=Callable[..., Any])

A_PATH: Any = str | os.PathLike
NAMED: Any = Mapping | Callable
"""A map from names to values, or a function from a name to a value."""


class ListLike(ABC):  # noqa: B024 (only for `isinstance`)
    """The type of anything that can be iterated, except text, bytes and maps: a list, a tuple, a set, a generator.

    Only for `isinstance` and `checked_args`; nothing inherits from it.
    """

    @classmethod
    def __subclasshook__(cls, kind: type) -> bool:
        return issubclass(kind, Iterable) and not issubclass(kind, (str, bytes, Mapping))


_WORDS = {
    str: "text",
    int: "a whole number",
    bytes: "bytes",
    os.PathLike: "a path",
    Mapping: "a map",
    ListLike: "a list",
    Callable: "a function",
    NoneType: "None",
}


def checked_args(**kinds: Any) -> Callable[[_Call], _Call]:
    """A decorator for a function or a class: its calls raise BadArgument for an argument of another kind.

    A decorated class is changed: its `__init__` then checks. For a function the decorator returns a wrapper.
    kinds:  argument name -> its kind; other arguments are not checked, nor are defaults. A kind is one of
                a type, or a union of types
                a tuple: the allowed values
                a text: the name of a method that the argument must have; "at?" also allows None
    cost:   half a microsecond for each argument that is named here
    raises: BadArgument, at the call; the message shows the signature

    >>> @checked_args(text=str)
    ... def shout(text, times=1): return text.upper() * times
    >>> shout(3)
    Traceback (most recent call last):
    nodeattrs.errors.BadArgument: `text` of shout is text, and not the number 3
      shout(text, times)
    """

    def guarded(call: Any) -> Any:
        if isinstance(call, type):
            call.__init__ = guarded(call.__init__)  # type: ignore[misc]  # of the class, and not of an object
            return call
        code = call.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        positional = names[: code.co_argcount]
        checks = [(name, positional.index(name) if name in positional else 99, kind) for name, kind in kinds.items()]

        @wraps(call)
        def checked(*args: Any, **named: Any) -> Any:
            for name, index, kind in checks:
                if index < len(args):
                    value = args[index]
                elif name in named:
                    value = named[name]
                else:
                    continue
                if not _fits(kind, value):
                    raise _refused(call, name, kind, value)
            return call(*args, **named)

        return checked

    return guarded


def _fits(kind: Any, value: object) -> bool:
    if type(kind) is tuple:
        return value in kind
    if type(kind) is not str:
        return isinstance(value, kind)
    return hasattr(value, kind.removesuffix("?")) or (value is None and kind.endswith("?"))


def _refused(call: Any, name: str, kind: Any, value: object) -> BadArgument:
    code, spelled = call.__code__, call.__qualname__.removesuffix(".__init__")
    names, count = code.co_varnames, code.co_argcount
    total = count + code.co_kwonlyargcount
    rest = [f"*{names[total]}"] if code.co_flags & inspect.CO_VARARGS else []
    signature = ", ".join(one for one in (*names[:count], *rest, *names[count:total]) if one != "self")
    return wrong_argument(f"`{name}` of {spelled}", _spelled(kind), value, f"{spelled}({signature})")


def _spelled(kind: Any) -> str:
    if type(kind) is str:
        return f"something with `{kind.removesuffix('?')}`"
    if type(kind) is tuple:
        return " or ".join(map(repr, kind))
    kinds = kind.__args__ if isinstance(kind, UnionType) else (kind,)
    return " or ".join(_WORDS.get(one) or f"a {one.__name__}" for one in kinds)
