"""Data classes and named tuples of which nothing is compiled before one is made.

To readers, to type checkers and to the standard library (`replace`, `fields`, `asdict`, `copy`, `pickle`) they are its
own. Only where a class is defined they differ: there it compiles six methods, half a millisecond for each class
(docs/decisions/0023).
"""

from __future__ import annotations

import operator
import sys
from collections import namedtuple
from reprlib import recursive_repr

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes them for the standard ones; neither module need be there yet
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import dataclass, field, fields, replace
    from typing import Any, NamedTuple

__all__ = ["NamedTuple", "dataclass", "field", "fields", "replace"]


class _Absent:
    def __repr__(self) -> str:
        return "<factory>"


_ABSENT: Any = _Absent()
"""Where nothing is given, and where a field has no default; in signatures, where a factory makes it."""


class _AtFirstUse:
    """What stands in classes until somebody reaches for it; then what `make` gives for the class takes its place."""

    def __init__(self, name: str, make: Callable[[Any], Any]) -> None:
        self._name, self._make = name, make

    def __get__(self, one: object, kind: type | None = None) -> Any:
        owner = next(base for base in (kind or type(one)).__mro__ if vars(base).get(self._name) is self)
        made = self._make(owner)
        setattr(owner, self._name, made)
        return made.__get__(one, kind) if hasattr(made, "__get__") else made


def _compiled(kind: type, name: str, parameters: Iterable[str], body: Iterable[str], known: Mapping[str, Any]) -> Any:
    """A method of a class from its text, which sees what is known beside the names of the class's module."""
    lines = [
        f"def made({', '.join(known)}):",
        f" def {name}({', '.join(parameters)}):",
        *(f"  {line}" for line in body),
    ]
    space: dict[str, Any] = {}
    exec("\n".join([*lines, f" return {name}"]), vars(sys.modules[kind.__module__]), space)
    method = space["made"](**known)
    method.__qualname__ = f"{kind.__qualname__}.{name}"
    return method


# -- data classes


class _Field:
    """A field; its name and type are known when its class is."""

    name: str
    type: Any

    def __init__(
        self,
        default: Any = _ABSENT,
        default_factory: Any = _ABSENT,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        kw_only: bool = False,
    ) -> None:
        self.default, self.default_factory, self.init = default, default_factory, init
        self.repr, self.compare, self.kw_only = repr, compare, kw_only


def _dataclass(kind: Any = None, **ways: bool) -> Any:
    """As `dataclasses.dataclass`. cost: some 20 microseconds, and 100 more when the first one is made"""
    if kind is None:
        return lambda kind: _dataclass(kind, **ways)
    above = {name: one for base in kind.__mro__[:0:-1] for name, one in vars(base).get("__noted__", {}).items()}
    own = {
        name: _own_field(kind, name, written, ways.get("kw_only", False))
        for name, written in vars(kind).get("__annotations__", {}).items()
        if not str(written).startswith("ClassVar")
    }
    given = {name: one for name, one in vars(kind).items() if name != "__hash__" or one is not None}
    methods = {name: one for name, one in _methods(above | own, **ways).items() if name not in given}
    if ways.get("slots"):
        kind = _with_slots(kind, {name: one for name, one in given.items() if name not in own} | methods, own, above)
    else:
        for name, method in methods.items():
            setattr(kind, name, method)
    return kind


def _own_field(kind: type, name: str, written: Any, kw_only: bool) -> _Field:
    """A field that the body of a class declares; in a class without slots its default can be read there."""
    given = vars(kind).get(name, _ABSENT)
    one = given if isinstance(given, _Field) else _Field(given)
    one.name, one.type, one.kw_only = name, written, one.kw_only or kw_only
    if one is given and one.default is _ABSENT:
        delattr(kind, name)
    elif one is given:
        setattr(kind, name, one.default)
    return one


def _methods(
    fields: dict[str, _Field],
    frozen: bool = False,
    eq: bool = True,
    order: bool = False,
    repr: bool = True,
    slots: bool = False,
    **_: bool,
) -> dict[str, Any]:
    """What needs no compiler: the same for all classes, over what is noted of their fields."""
    return {
        **_LATER,
        "__noted__": fields,
        "__frozen__": frozen,
        "__compared__": _values_of([name for name, one in fields.items() if one.compare]),
        "__match_args__": tuple(name for name, one in fields.items() if one.init and not one.kw_only),
        "__replace__": _replace,
        **({"__repr__": _repr} if repr else {}),
        **({"__eq__": _EQUAL, "__hash__": _hash if frozen else None} if eq else {}),
        **(_ORDER if order else {}),
        **({"__setattr__": _refused, "__delattr__": _refused} if frozen else {}),
        **({"__getstate__": _state, "__setstate__": _restored} if frozen and slots else {}),
    }


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _with_slots(kind: type, space: dict[str, Any], own: Iterable[str], above: Mapping[str, Any]) -> Any:
    """The class once more, since slots are made with it."""
    for name in ("__dict__", "__weakref__"):
        space.pop(name, None)
    made = type(kind)(kind.__name__, kind.__bases__, space | {"__slots__": tuple(own - above.keys())})
    made.__qualname__ = kind.__qualname__
    return made


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in self.__noted__.items() if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _comparing(sign: Callable[[Any, Any], bool]) -> Any:
    def compare(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        values = self.__class__.__compared__
        return sign(values(self), values(other))

    return compare


_EQUAL = _comparing(operator.eq)
_ORDER = {f"__{sign}__": _comparing(getattr(operator, sign)) for sign in ("lt", "le", "gt", "ge")}


def _hash(self: Any) -> int:
    return hash(self.__class__.__compared__(self))


def _refused(self: Any, name: str, *value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__noted__]


def _restored(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__noted__, state, strict=True):
        object.__setattr__(self, name, value)


def _replace(self: Any, /, **changes: Any) -> Any:
    kept = (name for name, one in self.__noted__.items() if one.init and name not in changes)
    return self.__class__(**{name: getattr(self, name) for name in kept}, **changes)


def _fields(kind: Any) -> tuple[_Field, ...]:
    return tuple(kind.__noted__.values())


def _made_init(kind: Any) -> Any:
    """Its `__init__`, as the standard library would write it."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_absent": _ABSENT}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}
    body = []
    for number, (name, one) in enumerate(kind.__noted__.items()):
        default, value = _defaulted(one, f"_{number}", known)
        if one.init:
            parameters[one.kw_only].append(f"{name}={default}" if default else name)
        if one.init or default:
            body.append(f"_put(self, {name!r}, {value})" if kind.__frozen__ else f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    named = ["*", *parameters[True]] if parameters[True] else []
    made = _compiled(kind, "__init__", [*parameters[False], *named], body or ["pass"], known)
    made.__annotations__ = {name: one.type for name, one in kind.__noted__.items() if one.init} | {"return": None}
    return made


def _defaulted(one: _Field, called: str, known: dict[str, Any]) -> tuple[str, str]:
    """The default of a parameter, "" for none, and what the field is set to; what they name becomes known."""
    if one.default_factory is not _ABSENT:
        known[called] = one.default_factory
        return "_absent", f"{called}() if {one.name} is _absent else {one.name}" if one.init else f"{called}()"
    if one.default is not _ABSENT:
        known[called] = one.default
        return called, one.name if one.init else called
    return "", one.name


def _standard(kind: Any) -> Any:
    """The same class as the standard library has it, for those who ask it for fields."""
    from dataclasses import field, make_dataclass

    taken = ("default", "default_factory", "init", "repr", "compare", "kw_only")
    fields = [
        (name, one.type, field(**{way: vars(one)[way] for way in taken if vars(one)[way] is not _ABSENT}))
        for name, one in kind.__noted__.items()
    ]
    return make_dataclass(kind.__name__, fields, frozen=kind.__frozen__)


_LATER = {
    name: _AtFirstUse(name, make)
    for name, make in (
        ("__init__", _made_init),
        ("__dataclass_fields__", lambda kind: _standard(kind).__dataclass_fields__),
        ("__dataclass_params__", lambda kind: _standard(kind).__dataclass_params__),
    )
}


# -- named tuples


class _Tuple(tuple):  # type: ignore[type-arg]
    """What named tuples have in common."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes: Any) -> Any:
        if unknown := [name for name in changes if name not in self._fields]:
            raise ValueError(f"Got unexpected field names: {unknown!r}")
        return self._make((self._asdict() | changes).values())

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{self.__class__.__name__}({', '.join(shown)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Tuples(type):
    """Makes a tuple with names of a class statement, as `typing.NamedTuple` does, in some 15 microseconds."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(cls, name, bases, space)
        fields = tuple(space.get("__annotations__", ()))
        defaults = {name: space.pop(name) for name in fields if name in space}
        getters = {name: _Getter(at, "") for at, name in enumerate(fields)}
        noted = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
        return type(name, (_Tuple,), {"__new__": _NEW} | space | getters | noted)


_Getter: Any = type(vars(namedtuple("_One", "one"))["one"])
"""How the standard library's named tuples read an element."""


def _made_new(kind: Any) -> Any:
    """Its `__new__`, as the standard library would write it."""
    known = {"_new": tuple.__new__} | {f"_{name}": value for name, value in kind._field_defaults.items()}
    parameters = (f"{name}=_{name}" if name in kind._field_defaults else name for name in kind._fields)
    values = "".join(f"{name}, " for name in kind._fields)
    return staticmethod(_compiled(kind, "__new__", ["_cls", *parameters], [f"return _new(_cls, ({values}))"], known))


_NEW = _AtFirstUse("__new__", _made_new)

if not TYPE_CHECKING:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace

    class NamedTuple(metaclass=_Tuples):
        """As `typing.NamedTuple`."""
