"""Producers: how the value of a binding comes about, as plain immutable values.

A producer never looks at layers or precedence: it asks its `Scope` for other keys, for
classes and for the objects. None means that nothing was produced.
"""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from nodeattrs.adapters.bindings.codes import ARGUMENTS, BAD_OPTION, FUNCTION_FAILED, TYPE_MISMATCH
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.state import Objects, State
from nodeattrs.adapters.bindings.model.types import HASH, Asked, Classes, Type
from nodeattrs.adapters.bindings.model.values import taken_in
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.errors import NodeattrsError
from nodeattrs.puppet.references import Reference


class Producer(ABC):
    """What custom producers are: objects that are asked for a value again and again."""

    @abstractmethod
    def produce(self) -> Any:
        """The next value; None for nothing."""


class ConstantProducer(Producer):
    """Gives the value it was made with."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def produce(self) -> Any:
        return self.value


class Scope(Protocol):
    """Whom a producer may ask."""

    register: Classes
    functions: Mapping[str, Callable[..., Any]]
    objects: Objects
    state: State

    def ask(self, asked: Asked) -> Any:
        """The value of another key, or None. raises: LookupLoop, TypeMismatch, BindingError"""
        ...

    def once(self, thing: object, make: Callable[[], Any]) -> Any:
        """What *make* gives, made once for this thing."""
        ...

    def call(self, call: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """What a callable gives, its further arguments filled by their annotations."""
        ...

    def construct(self, of: str | type, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A new object of a class, through its hook where it has one."""
        ...

    def variable(self, name: str) -> Any:
        """The value of a variable of the text language."""
        ...

    def record(self, query: Producing, found: Iterable[Reference]) -> None:
        """Note what a query has read."""
        ...


Calling = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]
"""A callable, and the arguments that are given."""


@dataclass(frozen=True)
class Producing:
    """How a value comes about.

    keeps: whether the first product is handed out again: all but series and custom producers
    """

    @property
    def keeps(self) -> bool:
        return True

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        """A product. given: arguments of the one who injects; most producers take none."""
        raise NotImplementedError

    def asks(self) -> Iterator[Asked]:
        """The keys that it looks up, beside those of what it calls."""
        return iter(())

    def calls(self, classes: Classes) -> Calling | None:
        """What is called for a product, with the arguments that the binding has for it."""
        return None

    def gives(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """What returns the product: what is called for it, or its method."""
        return call

    def describe(self) -> str:
        """What it does, in a few words."""
        raise NotImplementedError

    def place(self, path: Path = ()) -> Origin | None:
        """Where an entry of its product is written; None where nobody knows more than where it is bound."""
        return None


def called(given: Any, scope: Scope) -> Callable[..., Any] | None:
    """The function that an option means: a callable, a name, or a lambda; None where nobody has it."""
    if isinstance(given, str):
        given = scope.functions.get(given)
    if hasattr(given, "evaluate"):
        given = given.evaluate(scope.variable, scope.functions)
    return _guarded(given) if callable(given) else None


def _guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*args: Any) -> Any:
        try:
            return call(*args)
        except NodeattrsError:
            raise
        except Exception as error:
            name = getattr(call, "__name__", "a function")
            message = f"{name} has failed: {type(error).__name__}: {error}"
            raise BindingError(FUNCTION_FAILED, message) from error

    guarded.__name__ = getattr(call, "__name__", "combinator")
    return guarded


def with_options(of: Producing, options: Mapping[str, Any]) -> Producing:
    """A producer with the options of its binding: `producer_args` for what it makes, `singleton` false for a series.

    raises: BindingError ("bad-option")
    """
    args = options.get("producer_args")
    if args is not None:
        if not isinstance(args, Mapping) or not hasattr(of, "named"):
            raise BindingError(BAD_OPTION, f"{of.describe()} takes no producer_args")
        of = replace(of, **{"named": {**of.named, **args}})
    return Series(of) if options.get("singleton") is False and of.keeps else of


def none_given(given: Mapping[str, Any], what: str) -> None:
    """Refuse the arguments of an injection. raises: BindingError ("arguments")"""
    if given:
        raise BindingError(ARGUMENTS, f"{what} takes no arguments, and {', '.join(given)} was given")


@dataclass(frozen=True)
class Written(Producing):
    """Something that stands in a file.

    places: knows where each entry of it stands; None where that is the place of the binding
    """

    places: Locator | None = field(default=None, compare=False, repr=False, kw_only=True)

    def place(self, path: Path = ()) -> Origin | None:
        return None if self.places is None else self.places.at(path)


@dataclass(frozen=True)
class Constant(Written):
    """A value as it is; each injector has a copy of a list or a map, since others may have what it was read from."""

    value: Any

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a constant")
        return taken_in(self.value)

    def describe(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Computed(Written):
    """An expression of the text language: a text with variables, a list that holds one, ..."""

    expression: Any

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "an expression")
        return self.expression.evaluate(scope.variable, scope.functions)

    def describe(self) -> str:
        return str(self.expression)


@dataclass(frozen=True)
class Lookup(Producing):
    """The value of another key."""

    asked: Asked

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a look-up")
        return scope.ask(self.asked)

    def asks(self) -> Iterator[Asked]:
        yield self.asked

    def describe(self) -> str:
        return f"look up {self.asked}"


@dataclass(frozen=True)
class HashLookup(Producing):
    """One entry of the hash that another key has."""

    asked: Asked
    key: Any

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a hash look-up")
        found = scope.ask(self.asked if self.asked.type else Asked(HASH, self.asked.name))
        return found.get(self.key) if isinstance(found, dict) and isinstance(self.key, Hashable) else None

    def asks(self) -> Iterator[Asked]:
        yield self.asked

    def describe(self) -> str:
        return f"look up {self.asked} at {self.key!r}"


@dataclass(frozen=True)
class FirstFound(Producing):
    """The value of the first of several keys that has one."""

    candidates: tuple[Asked, ...]

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a first-found look-up")
        return next((found for asked in self.candidates if (found := scope.ask(asked)) is not None), None)

    def asks(self) -> Iterator[Asked]:
        yield from self.candidates

    def describe(self) -> str:
        return f"the first found of {'; '.join(map(str, self.candidates))}"


@dataclass(frozen=True)
class _OfClass(Producing):
    of: str
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def made(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        return scope.construct(self.of, tuple(map(taken_in, self.args)), {**taken_in(dict(self.named)), **given})

    def calls(self, classes: Classes) -> Calling | None:
        known = classes.find(self.of)
        return None if known is None else (known, self.args, self.named)

    def _words(self) -> str:
        arguments = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.of}({', '.join(arguments)})"


@dataclass(frozen=True)
class Instance(_OfClass):
    """A new object of a class."""

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        return self.made(scope, given)

    def describe(self) -> str:
        return f"new {self._words()}"


@dataclass(frozen=True)
class Factory(Producing):
    """What a callable gives."""

    call: Callable[..., Any]

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        return scope.call(self.call, (), given)

    def calls(self, classes: Classes) -> Calling | None:
        return self.call, (), {}

    def describe(self) -> str:
        return f"{getattr(self.call, '__name__', 'a callable')}()"


def _fresh(value: Any) -> Any:
    return taken_in(value) if isinstance(value, (list, dict)) else copy.deepcopy(value)


@dataclass(frozen=True)
class Series(Producing):
    """Another producer, whose product is never kept: each injection gets its own."""

    of: Producing

    @property
    def keeps(self) -> bool:
        return False

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        product = self.of.produce(scope, given)
        return _fresh(product) if isinstance(self.of, Constant) else product

    def asks(self) -> Iterator[Asked]:
        return self.of.asks()

    def calls(self, classes: Classes) -> Calling | None:
        return self.of.calls(classes)

    def gives(self, call: Callable[..., Any]) -> Callable[..., Any]:
        return self.of.gives(call)

    def place(self, path: Path = ()) -> Origin | None:
        return self.of.place(path)

    def describe(self) -> str:
        return f"each time {self.of.describe()}"


@dataclass(frozen=True)
class Custom(_OfClass):
    """Asks a custom producer object.

    series: every injection makes a new one; else it is made once
    """

    series: bool = False

    @property
    def keeps(self) -> bool:
        return False

    def producer(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        """The producer object."""
        if self.series or given:
            return _checked(self.made(scope, given), self.of)
        return scope.once(self, lambda: _checked(self.made(scope, {}), self.of))

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        return self.producer(scope, given).produce()

    def gives(self, call: Callable[..., Any]) -> Callable[..., Any]:
        return getattr(call, "produce", call)

    def describe(self) -> str:
        return f"ask {self._words()}"


@dataclass(frozen=True)
class ProducerObject(_OfClass):
    """A producer object itself, to be asked by others under its name."""

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        return _checked(self.made(scope, given), self.of)

    def describe(self) -> str:
        return f"the producer {self._words()}"


PRODUCER = Type("Type", ("Producer",))


@dataclass(frozen=True)
class Named(Producing):
    """Asks the producer object that is bound under a name."""

    name: str

    @property
    def keeps(self) -> bool:
        return False

    def asks(self) -> Iterator[Asked]:
        yield Asked(PRODUCER, self.name)

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        none_given(given, "a named producer")
        found = self.bound(scope)
        return None if found is None else _checked(found, self.name).produce()

    def bound(self, scope: Scope) -> Any:
        """The producer object, or None."""
        return scope.ask(next(self.asks()))

    def describe(self) -> str:
        return f"ask the producer {self.name!r}"


def _checked(found: Any, name: str) -> Any:
    if not callable(getattr(found, "produce", None)):
        raise BindingError(TYPE_MISMATCH, f"{name} is no producer: {type(found).__name__} has no produce()")
    return found


@dataclass(frozen=True)
class Ref(Producing):
    """A reference: an instance of the objects, a class, a type, a pattern; `Type[X]` makes an object.

    args, named: for the constructor of `Type[X]`
    """

    type: Type
    named: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> Reference:
        """The reference as text."""
        return Reference(f"{self.type.name}[{self.type.title}]" if self.type.args else self.type.name)

    @property
    def is_instance(self) -> bool:
        """Whether it names one instance of the objects."""
        return bool(self.type.args) and self.type.name not in ("Type", "Class", "Pattern", "Array", "Hash")

    def produce(self, scope: Scope, given: Mapping[str, Any]) -> Any:
        if self.type.name == "Type":
            return scope.construct(self.type.title, (), {**taken_in(dict(self.named)), **given})
        none_given(given, "a reference")
        if self.type.name == "Pattern" and self.type.args:
            return re.compile(self.type.title)
        return self.reference

    def calls(self, classes: Classes) -> Calling | None:
        known = classes.find(self.type.title) if self.type.name == "Type" else None
        return None if known is None else (known, (), self.named)

    def describe(self) -> str:
        return f"new {self.type.title}()" if self.type.name == "Type" else str(self.type)
