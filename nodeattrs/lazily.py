"""What is made when it is first used, so that a start pays for nothing else.

Names of a package are imported, the methods of a data class and regular expressions compiled: a command
imports a hundred classes and as many expressions, and uses a tenth of them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; `typing` itself need not be there yet
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import dataclass, field, replace
    from re import compile as regexp
    from typing import Any

__all__ = ["dataclass", "field", "field_names", "guarded_init", "imported", "regexp", "replace"]


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


class _Regexp:
    """A regular expression, compiled when one of its methods is first asked for."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        import re

        compiled = re.compile(*self._given)
        vars(self).update({one: getattr(compiled, one) for one in dir(compiled) if not one.startswith("_")})
        return getattr(compiled, name)


_FIELDS = "__fields_of_ours__"


class _Unset:
    def __repr__(self) -> str:
        return "<factory>"  # in a signature


_NONE: Any = _Unset()


class _Field:
    """What a data class knows of one of its fields; the words are those of `dataclasses.field`."""

    __slots__ = ("compare", "default", "default_factory", "init", "kind", "kw_only", "repr")
    kind: str
    """Its annotation, as it is written."""

    def __init__(
        self,
        default: Any = _NONE,
        default_factory: Any = None,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        kw_only: bool | None = None,
    ) -> None:
        self.default, self.default_factory, self.init = default, default_factory, init
        self.repr, self.compare, self.kw_only = repr, compare, kw_only

    def written(self, name: str) -> str:
        """The field as a parameter; its default is found by its name."""
        return name if self.default is _NONE and self.default_factory is None else f"{name}=_of_{name}"

    def value(self, name: str) -> str:
        """What the field is set to."""
        made = f"_make_{name}()"
        if not self.init:
            return made if self.default_factory else f"_of_{name}"
        return f"{made} if {name} is _of_{name} else {name}" if self.default_factory else name


def _dataclass(cls: Any = None, /, **options: bool) -> Any:
    """As `dataclasses.dataclass`, in a tenth of its time: `__init__` is compiled at the first call, no other method is.

    For annotations that are not evaluated (`from __future__ import annotations`). The rest of the standard
    module takes such a class for one of its own.

    options: frozen, eq, order, repr, slots, kw_only
    """
    return _decorated(cls, **options) if cls is not None else lambda one: _decorated(one, **options)


def _decorated(cls: Any, kw_only: bool = False, slots: bool = False, **options: bool) -> Any:
    fields = _collected(cls, kw_only)
    cls = _slotted(cls, fields) if slots else cls
    own = vars(cls)
    methods = _methods(cls, fields, slots, **options)
    for name in [name for name in methods if name not in own or (name == "__hash__" and own[name] is None)]:
        setattr(cls, name, methods[name])
    return cls


def _collected(cls: Any, kw_only: bool) -> dict[str, _Field]:
    """The fields of the bases, then the class's own; the class keeps their defaults."""
    found: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= vars(base).get(_FIELDS, {})
    for name, kind in cls.__annotations__.items():
        if not kind.startswith("ClassVar"):
            given = vars(cls).get(name, _NONE)
            one = found[name] = given if isinstance(given, _Field) else _Field(given)
            one.kind, one.kw_only = kind, kw_only if one.kw_only is None else one.kw_only
            if one is given and one.default is _NONE:
                delattr(cls, name)
            elif one is given:
                setattr(cls, name, one.default)
    setattr(cls, _FIELDS, found)
    return found


def _slotted(cls: Any, fields: Iterable[str]) -> Any:
    inherited = {name for base in cls.__mro__[1:] for name in vars(base).get("__slots__", ())}
    space = {name: one for name, one in vars(cls).items() if name not in {*fields, "__dict__", "__weakref__"}}
    made = type(cls)(
        cls.__name__, cls.__bases__, {**space, "__slots__": tuple(one for one in fields if one not in inherited)}
    )
    made.__qualname__ = cls.__qualname__
    return made


def _methods(
    cls: Any,
    fields: dict[str, _Field],
    slots: bool,
    frozen: bool = False,
    eq: bool = True,
    order: bool = False,
    repr: bool = True,
) -> dict[str, Any]:
    """The methods by their names, and what the standard module looks for."""
    found = {
        "__init__": _uncompiled(cls, fields, frozen),
        "__match_args__": tuple(name for name, one in fields.items() if one.init and not one.kw_only),
        "__replace__": replace,
        **{name: _Standard(cls, name, frozen) for name in _Standard.NAMES},
    }
    if repr:
        found["__repr__"] = _shown(tuple(name for name, one in fields.items() if one.repr))
    if eq:
        found |= _compared(tuple(name for name, one in fields.items() if one.compare), frozen, order)
    if frozen:
        found |= _frozen(cls, fields)
    if frozen and slots:  # pickle would set them one by one
        found |= _pickled(tuple(fields))
    return found


def _uncompiled(cls: Any, fields: dict[str, _Field], frozen: bool) -> Any:
    """An `__init__` that puts the compiled one in its place."""
    guards: list[Callable[[Any], Any]] = []

    def compiled() -> None:
        if cls.__init__ is __init__:
            made = _init(cls, fields, frozen)
            for guard in guards:
                made = guard(made)
            cls.__init__ = made

    def __init__(self: Any, /, *args: Any, **named: Any) -> None:
        compiled()
        cls.__init__(self, *args, **named)

    __init__.guards, __init__.compiled = guards, compiled  # type: ignore[attr-defined]
    return __init__


def _init(cls: Any, fields: dict[str, _Field], frozen: bool) -> Any:
    inits = {name: one for name, one in fields.items() if one.init}
    places = [one.written(name) for name, one in inits.items() if not one.kw_only]
    named = [one.written(name) for name, one in inits.items() if one.kw_only]
    lines = [
        f"_set(self, {name!r}, {one.value(name)})" if frozen else f"self.{name} = {one.value(name)}"
        for name, one in fields.items()
        if one.init or one.default_factory or one.default is not _NONE
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    known = {f"_of_{name}": one.default for name, one in fields.items()}
    known |= {f"_make_{name}": one.default_factory for name, one in fields.items()}
    words = ", ".join(["self", *places, *(["*", *named] if named else [])])
    space: dict[str, Any] = {"__name__": cls.__module__, "_set": object.__setattr__, **known}
    exec(f"def __init__({words}):\n " + "\n ".join(lines or ["pass"]), space)
    made = space["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{name: one.kind for name, one in inits.items()}, "return": None}
    return made


def guarded_init(cls: Any, guard: Callable[[Any], Any]) -> None:
    """Let what *guard* makes of the class's `__init__` take its place, once that is compiled."""
    waiting = getattr(cls.__init__, "guards", None)
    if waiting is None:
        cls.__init__ = guard(cls.__init__)
    else:
        waiting.append(guard)


def _shown(names: tuple[str, ...]) -> Any:
    from reprlib import recursive_repr

    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _compared(names: tuple[str, ...], frozen: bool, order: bool) -> dict[str, Any]:
    """Equality, hash and order, by the fields as a tuple."""
    import operator

    # One name alone would give its value and no tuple, which compares what is the same object first.
    get: Callable[[Any], Any] = operator.attrgetter(*names * (2 if len(names) == 1 else 1)) if names else lambda one: ()

    def __eq__(self: Any, other: Any) -> Any:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def ordered(compare: Callable[[Any, Any], bool]) -> Any:
        return lambda self, other: (
            compare(get(self), get(other)) if other.__class__ is self.__class__ else NotImplemented
        )

    found: dict[str, Any] = {"__eq__": __eq__, "__hash__": (lambda self: hash(get(self))) if frozen else None}
    return found | {f"__{name}__": ordered(getattr(operator, name)) for name in ("lt", "le", "gt", "ge") if order}


def _frozen(cls: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    def refuse(self: Any, name: str, doing: str) -> None:
        if type(self) is cls or name in fields:
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot {doing} field {name!r}")

    def __setattr__(self: Any, name: str, value: Any) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _pickled(names: tuple[str, ...]) -> dict[str, Any]:
    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: Iterable[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


class _Standard:
    """What the standard modules look for on a data class, made when they do.

    `inspect` asks for a signature: there is none but that of the compiled `__init__`.
    """

    NAMES = ("__dataclass_fields__", "__dataclass_params__", "__signature__")

    def __init__(self, cls: Any, name: str, frozen: bool) -> None:
        self._cls, self._name, self._frozen = cls, name, frozen

    def __get__(self, instance: object, owner: type) -> Any:
        cls = self._cls
        if self._name == "__signature__":
            getattr(cls.__init__, "compiled", lambda: None)()
            raise AttributeError(self._name)
        import dataclasses

        fields = [(name, one.kind, _standard(one)) for name, one in getattr(cls, _FIELDS).items()]
        return getattr(dataclasses.make_dataclass(cls.__name__, fields, frozen=self._frozen), self._name)


def _standard(one: Any) -> Any:
    import dataclasses

    given = {} if one.default is _NONE else {"default": one.default}
    given |= {"default_factory": one.default_factory} if one.default_factory else {}
    return dataclasses.field(init=one.init, repr=one.repr, compare=one.compare, kw_only=one.kw_only, **given)


def _replace(instance: Any, /, **changes: Any) -> Any:
    """A copy with other values in some fields."""
    names = (name for name, one in getattr(instance, _FIELDS).items() if one.init)
    return type(instance)(**({name: getattr(instance, name) for name in names} | changes))


def field_names(of: Any) -> tuple[str, ...]:
    """The names of the fields of such a class, or of an instance."""
    return tuple(getattr(of, _FIELDS))


if not TYPE_CHECKING:
    dataclass, field, replace, regexp = _dataclass, _Field, _replace, _Regexp
