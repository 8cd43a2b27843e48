"""The parameters of callables as *slots*: each with the key that its annotation names.

A class, a `list` or `dict` of a class, or `Annotated[str, named("db_url")]` names a key; a plain `int` or `str` names
none. Only signatures are read here; `maker` fills slots with values.
"""

from __future__ import annotations

import types
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, isroutine, signature, unwrap
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.bindings.codes import BAD_TYPE
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.types import Asked, Classes, Type, type_of_hint
from nodeattrs.dialects.bindings.model.values import shown_file

Way = Literal["by position", "either way", "by name"]
_WAYS: dict[Any, Way] = {
    Parameter.POSITIONAL_ONLY: "by position",
    Parameter.POSITIONAL_OR_KEYWORD: "either way",
    Parameter.KEYWORD_ONLY: "by name",
}


@checked_args(name=str)
def named(name: str) -> Asked:
    """A mark for annotations, which names the key of a parameter: `Annotated[str, named("db_url")]`."""
    return Asked(None, name)


@dataclass(frozen=True)
class Slot:
    """A parameter of a callable that may be filled with the value of a key.

    wanted:   the key of its annotation; None where the annotation names no key
    default:  its own default; ABSENT for none
    optional: whether its annotation allows None
    way:      whether it is given by position, by name, or either way
    words:    its annotation as text, for messages; "" without one

    `label` names the slot in messages. `is_required` is True for a slot without a default that may not be None.
    """

    name: str
    wanted: Asked | None
    default: Any
    optional: bool
    way: Way
    words: str = ""

    @property
    def label(self) -> str:
        """The parameter in messages: the name or type of its key. Without a key "name: annotation", or the name."""
        if self.wanted is None:
            return f"{self.name}{self.words and ': '}{self.words}"
        return self.wanted.label

    @property
    def is_required(self) -> bool:
        """Whether the parameter has no default, and may not be None."""
        return self.default is ABSENT and not self.optional


def slots_of(call: Callable[..., Any], register: Classes) -> tuple[Slot, ...]:
    """The parameters of a callable or a class, without `*args` and `**kwargs`; () where its signature is not known.

    register: classes of annotations are added to it
    cost:     reading a signature; `Bound.slots` caches the result
    raises:   BindingError ("bad-type", "ambiguous-class")
    """
    try:
        parameters = signature(call).parameters.values()
    except (TypeError, ValueError):
        return ()
    hints, given = _hints(call), call.keywords if isinstance(call, partial) else {}
    asked = (one for one in parameters if one.kind in _WAYS and one.name not in given)
    return tuple(_slot(one, hints.get(one.name, ABSENT), register) for one in asked)


def not_given(slots: tuple[Slot, ...], args: tuple[Any, ...], named: Mapping[str, Any]) -> Iterator[Slot]:
    """Yield the parameters that get no value from the arguments of a call.

    args:  the positional arguments
    named: the arguments by name
    """
    for index, slot in enumerate(slots):
        by_position = index < len(args) and slot.way != "by name"
        if not by_position and slot.name not in named:
            yield slot


def returned(call: Callable[..., Any], register: Classes) -> Type | None:
    """The type in the `->` annotation of a function, without None; for a generator, the type of what it yields.

    The result is None for a class, without an annotation, and for an annotation that is no type of bindings.
    register: finds and registers the classes in the annotation
    """
    hint = None if isinstance(call, type) else _hints(call).get("return")
    if get_origin(hint) in (Iterator, Generator, AsyncIterator, AsyncGenerator):
        hint = get_args(hint)[0]  # what a generator yields
    try:
        return None if hint in (None, Any, types.NoneType) else type_of_hint(_without_none(hint)[0], register)
    except BindingError:
        return None


def place_of(call: Callable[..., Any]) -> Origin:
    """The file and line of a class or a function; its module and name where they are not known."""
    made = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]  # of the class, and not of an object
    code = getattr(unwrap(made), "__code__", None)
    kind, name = "class" if isinstance(call, type) else "function", name_of(call)
    if code is None or code.co_filename.startswith("<"):
        return Origin(kind, f"{getattr(call, '__module__', '')}.{name}")
    return Origin(kind, name, shown_file(code.co_filename), code.co_firstlineno)


def name_of(call: Any) -> str:
    """The name of a callable in messages."""
    return getattr(call, "__name__", None) or type(call).__name__


def _hints(call: Any) -> dict[str, Any]:
    """The annotations of a callable by parameter; those that cannot be evaluated are left out."""
    if isinstance(call, partial):
        call = call.func
    target = call
    is_class = isinstance(call, type)
    if is_class:
        target = call.__init__ if call.__init__ is not object.__init__ else call.__new__
    elif not isroutine(call):
        target = type(call).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):  # a name that only type checkers know
        found = getattr(unwrap(target), "__annotations__", {})
        return {name: hint for name, hint in found.items() if not isinstance(hint, str)}


def _slot(one: Parameter, hint: Any, register: Classes) -> Slot:
    """The slot of a parameter. hint: its annotation, ABSENT for none"""
    name, way = one.name, _WAYS[one.kind]
    default = ABSENT if one.default is one.empty else one.default
    if hint is ABSENT:
        written = one.annotation
        return Slot(name, None, default, False, way, written if type(written) is str else "")
    of, optional = _without_none(hint)
    key = None
    if get_origin(of) is Annotated:
        of, *notes = get_args(of)
        of, inside = _without_none(of)
        optional = optional or inside
        key = next((note for note in notes if isinstance(note, (str, Asked))), None)
    return Slot(name, _wanted(of, key, register), default, optional, way, _words(of))


def _wanted(of: Any, key: str | Asked | None, register: Classes) -> Asked | None:
    """The key of an annotation and a name; None for a plain type without a name. raises: BindingError"""
    if isinstance(key, Asked) and (key.type is not None or key.name is None):
        return key
    if key is None and getattr(of, "__module__", "") == "builtins" and not get_args(of):
        return None
    try:
        found = type_of_hint(of, register)
    except BindingError as error:
        if key is None and error.kind == BAD_TYPE:
            return None
        raise
    name = key.name if isinstance(key, Asked) else key
    if name is None and (found.is_data or found.name in ("Any", "Pattern")):
        return None
    return Asked(None if found.name == "Any" else found, name)


def _without_none(hint: Any) -> tuple[Any, bool]:
    """An annotation without its None, and whether None was part of it."""
    args = get_args(hint)
    if get_origin(hint) not in (Union, types.UnionType) or types.NoneType not in args:
        return hint, False
    left = [one for one in args if one is not types.NoneType]
    return (left[0] if len(left) == 1 else Union[tuple(left)]), True  # noqa: UP007 (made while it runs)


def _words(of: Any) -> str:
    return of.__name__ if isinstance(of, type) and not get_args(of) else str(of).replace("typing.", "")
