"""Data classes and named tuples of which nothing is compiled before one is made, and enums without `enum`.

To readers, to type checkers and to the standard library (`replace`, `fields`, `asdict`, `copy`, `pickle`) they are its
own. Only where a class is defined they differ: there it compiles six methods, half a millisecond for each class
(docs/decisions/0023).
"""

from __future__ import annotations

import operator
import sys
from collections import namedtuple
from reprlib import recursive_repr
from types import CellType, CodeType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes them for the standard ones; neither module need be there yet
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import dataclass, field, fields, replace
    from enum import Enum
    from typing import Any, NamedTuple

__all__ = ["Enum", "NamedTuple", "dataclass", "field", "fields", "replace"]


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


codes: dict[str, CodeType] = {}
"""What was compiled, by its text; of a class, with its name and fields ahead. A process may begin with what another one
has made."""


def _code(text: str) -> CodeType:
    """The code of a method within a function, once for all classes of one shape: f0, f1, ... stand for its fields."""
    if text not in codes:
        space: dict[str, Any] = {}
        exec(text, space)  # `compile` would make all classes of syntax trees first: a millisecond and a half
        codes[text] = next(one for one in space["made"].__code__.co_consts if isinstance(one, CodeType))
    return codes[text]


def _of_class(code: CodeType, whose: str, called: Mapping[str, str]) -> CodeType:
    """The code of a shape as that of one class. called: its fields, by the names that stand for them"""
    names, variables = ([called.get(one, one) for one in some] for some in (code.co_names, code.co_varnames))
    texts = (called.get(one, one) if isinstance(one, str) else one for one in code.co_consts)
    return code.replace(
        co_names=tuple(names),
        co_varnames=tuple(variables),
        co_consts=tuple(texts),
        co_filename="<nodeattrs.records>",
        co_qualname=whose,
    )


def _method(
    kind: type, name: str, parameters: str, body: str, fields: Iterable[str], known: Mapping[str, Any]
) -> FunctionType:
    """A method of a class.

    parameters, body: its text, in which f0, f1, ... stand for the fields
    known:            what else stands in it
    """
    text, whose = f"def made({', '.join(known)}):\n def {name}({parameters}):\n  {body}", f"{kind.__qualname__}.{name}"
    code = codes.get(key := f"{whose} {' '.join(fields)}\n{text}")
    if code is None:
        code = codes[key] = _of_class(_code(text), whose, {f"f{number}": field for number, field in enumerate(fields)})
    cells = tuple(CellType(known[one]) for one in code.co_freevars)
    return FunctionType(code, vars(sys.modules[kind.__module__]), name, None, cells)


def _defaults(parameters: Iterable[tuple[bool, Any]]) -> tuple[Any, ...]:
    """Those of parameters: whether each has one, and which. raises: TypeError, for one without behind one with"""
    parameters = [*parameters]
    if (has := [one for one, _ in parameters]) != sorted(has):
        raise TypeError("non-default argument follows default argument")
    return tuple(default for one, default in parameters if one)


# -- data classes


class _Field:
    """A field; its name and type are known when its class is. What a body leaves open stands in this class."""

    name: str
    type: Any
    default = default_factory = made_of = _ABSENT
    init = repr = compare = True
    kw_only = has_default = False

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
        self.made_of = default if default_factory is _ABSENT else default_factory
        self.has_default = self.made_of is not _ABSENT


def _dataclass(kind: Any = None, **ways: bool) -> Any:
    """As `dataclasses.dataclass`. cost: some 20 microseconds, and 100 more when the first one is made"""
    if kind is None:
        return lambda kind: _dataclass(kind, **ways)
    above: dict[str, _Field] = {}
    for base in kind.__mro__[-2:0:-1]:
        above |= vars(base).get("__noted__", ())
    given = dict(vars(kind))
    own = {
        name: _own_field(kind, name, written, given.get(name, _ABSENT), ways.get("kw_only", False))
        for name, written in given.get("__annotations__", {}).items()
        if not str(written).startswith("ClassVar")
    }
    if given.get("__hash__", _ABSENT) is None:
        del given["__hash__"]
    methods = {name: one for name, one in _methods(above | own, **ways).items() if name not in given}
    if ways.get("slots"):
        kind = _with_slots(kind, {name: one for name, one in given.items() if name not in own} | methods, own, above)
    else:
        for name, method in methods.items():
            setattr(kind, name, method)
    return kind


def _own_field(kind: type, name: str, written: Any, given: Any, kw_only: bool) -> _Field:
    """A field that the body of a class declares; in a class without slots its default can be read there.

    given: its default, or what the body says of it; _ABSENT for nothing
    """
    if not isinstance(given, _Field):
        one: _Field = object.__new__(_Field)
        if given is not _ABSENT:
            one.default = one.made_of = given
            one.has_default = True
    else:
        one = given
        if one.default is _ABSENT:
            delattr(kind, name)
        else:
            setattr(kind, name, one.default)
    one.name, one.type = name, written
    if kw_only:
        one.kw_only = True
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
    """What needs no compiler: it goes by what is noted of the fields of this class, in classes below it as well."""
    made = _LATER | {
        "__noted__": fields,
        "__frozen__": frozen,
        "__match_args__": tuple([name for name, one in fields.items() if one.init and not one.kw_only]),
        "__replace__": _replace,
    }
    if repr:
        made["__shown__"] = [name for name, one in fields.items() if one.repr]
        made["__repr__"] = _shown
    if eq:
        made["__compared__"] = _values_of([name for name, one in fields.items() if one.compare])
        made["__eq__"], made["__hash__"] = _COMPARE["eq"], _hashed if frozen else None
    if order:
        made |= {f"__{sign}__": _COMPARE[sign] for sign in ("lt", "le", "gt", "ge")}
    if frozen:
        made["__setattr__"] = made["__delattr__"] = _refused
        if slots:
            made["__getstate__"], made["__setstate__"] = _state, _restored
    return made


def _values_of(names: list[str]) -> Any:
    """What reads fields, as a class has it."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    return staticmethod(lambda one: tuple([getattr(one, name) for name in names]))


def _with_slots(kind: type, space: dict[str, Any], own: Iterable[str], above: Mapping[str, Any]) -> Any:
    """The class once more, since slots are made with it."""
    for name in ("__dict__", "__weakref__"):
        space.pop(name, None)
    made = type(kind)(kind.__name__, kind.__bases__, space | {"__slots__": tuple(own - above.keys())})
    made.__qualname__ = kind.__qualname__
    return made


@recursive_repr()
def _shown(self: Any) -> str:
    return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__shown__)})"


def _comparing(sign: str) -> Any:
    compared = getattr(operator, sign)

    def compare(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self.__compared__(self), self.__compared__(other))

    return compare


_COMPARE = {sign: _comparing(sign) for sign in ("eq", "lt", "le", "gt", "ge")}


def _hashed(self: Any) -> int:
    return hash(self.__compared__(self))


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
    noted = {f"f{number}": one for number, one in enumerate(kind.__noted__.values())}
    made_here = {name: one for name, one in noted.items() if one.default_factory is not _ABSENT or not one.init}
    put = "_put_(self, {0!r}, {1})" if kind.__frozen__ else "self.{0} = {1}"
    body = [put.format(name, _value(name, one)) for name, one in noted.items() if one.init or one.has_default]
    body += ["self.__post_init__()"] if hasattr(kind, "__post_init__") else []
    given, named = ([name for name, one in noted.items() if one.init and one.kw_only is way] for way in (False, True))
    made = _method(
        kind,
        "__init__",
        ", ".join(["self", *given, *(["*"] if named else []), *named]),
        "; ".join(body) or "pass",
        kind.__noted__,
        {"_put_": object.__setattr__, "_absent_": _ABSENT}
        | {f"_{name}_": one.made_of for name, one in made_here.items()},
    )
    made.__defaults__ = _defaults((noted[name].has_default, noted[name].default) for name in given)
    made.__kwdefaults__ = {noted[name].name: noted[name].default for name in named if noted[name].has_default}
    made.__annotations__ = {one.name: one.type for one in noted.values() if one.init} | {"return": None}
    return made


def _value(name: str, one: _Field) -> str:
    """What a field is set to, in the text of `__init__`."""
    if one.default_factory is _ABSENT:
        return name if one.init else f"_{name}_"
    return f"_{name}_() if {name} is _absent_ else {name}" if one.init else f"_{name}_()"


def _standard(kind: Any) -> Any:
    """The same class as the standard library has it, for those who ask it for fields."""
    from dataclasses import field, make_dataclass

    taken = ("default", "default_factory", "init", "repr", "compare", "kw_only")
    fields = [
        (name, one.type, field(**{way: getattr(one, way) for way in taken if getattr(one, way) is not _ABSENT}))
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
    names = "".join(f", f{number}" for number in range(len(kind._fields)))
    body = f"return _new_(_cls{', (' + names[2:] + ',)' if names else ''})"
    made = _method(kind, "__new__", f"_cls{names}", body, kind._fields, {"_new_": tuple.__new__})
    made.__defaults__ = _defaults(
        (name in kind._field_defaults, kind._field_defaults.get(name)) for name in kind._fields
    )
    return staticmethod(made)


_NEW = _AtFirstUse("__new__", _made_new)


# -- enums


class _Members(type):
    """Makes the members of a class statement, as `enum.Enum` does; each stands for itself."""

    __members__: dict[str, Any]
    _of_value: dict[Any, Any]

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        values = {name: value for name, value in space.items() if name[0] != "_" and not hasattr(value, "__get__")}
        kept = {one: space[one] for one in space if one not in values}
        made: Any = super().__new__(cls, name, bases, {"__slots__": ()} | kept)
        made.__members__ = {name: object.__new__(made) for name in values}
        for name, one in made.__members__.items():
            one.name, one.value = name, values[name]
            setattr(made, name, one)
        made._of_value = {one.value: one for one in made}
        return made

    def __call__(cls, value: Any) -> Any:
        try:
            return cls._of_value[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

    def __iter__(cls) -> Any:
        return iter(cls.__members__.values())

    def __getitem__(cls, name: str) -> Any:
        return cls.__members__[name]

    def __len__(cls) -> int:
        return len(cls.__members__)


if not TYPE_CHECKING:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace

    class NamedTuple(metaclass=_Tuples):
        """As `typing.NamedTuple`."""

    class Enum(metaclass=_Members):
        """As `enum.Enum`: one member for each value."""

        __slots__ = ("name", "value")

        def __repr__(self) -> str:
            return f"<{self}: {self.value!r}>"

        def __str__(self) -> str:
            return f"{type(self).__qualname__}.{self.name}"

        def __reduce__(self) -> Any:
            return type(self), (self.value,)
