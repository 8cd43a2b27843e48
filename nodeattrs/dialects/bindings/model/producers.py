"""Producers: descriptions of how the value of a binding is made, as plain immutable values.

A `ProducerBase` is such a description. Its *product* is what `produce` returns; None means that it produced nothing.
`produce` gets a `ProducerScope`, which looks up other keys, classes and objects; no producer sees the layers. A
`Producer` is an object of a user's class, which gives a value at each call of its method `produce`.
"""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.dialects.bindings.codes import (
    BAD_OPTION,
    FUNCTION_FAILED,
    NOTHING_PRODUCED,
    QUERY_RESULT_COUNT,
    SYNTAX,
    TYPE_MISMATCH,
)
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import HASH, Asked, Classes, Type
from nodeattrs.dialects.bindings.model.values import PATTERN_SIGNS, compared, own_copy, pattern_of
from nodeattrs.errors import NodeattrsError
from nodeattrs.puppet.references import Reference


class Producer(ABC):
    """The base class of custom producers. `produce` gives a value each time it is called; None means no value.

    A binding names a subclass: `.to_producer(P)`. The injector makes one object of it, and calls its `produce` for each
    injection. A class that only has a method `produce` may be bound, too.
    """

    @abstractmethod
    def produce(self) -> Any:
        """The next value; None for nothing."""


class ConstantProducer(Producer):
    """A custom producer whose `produce` returns *value* itself at each call, not a copy; None means no value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def produce(self) -> Any:
        return self.value


class ProducerScope(Protocol):
    """What a producer may use to make a value: other keys, classes, functions, objects, the state. `ValueMaker` is one.

    `ask` gives the value of another key, or None. `call` and `construct` fill missing arguments. `once` makes a thing
    at most once. `variable` gives the value of a variable of the text language.
    register:  the classes that `Type[X]` names
    functions: name -> a function that options and expressions may name
    objects:   the instances that parameters and queries read
    state:     the categories of the request
    """

    register: Classes
    functions: Mapping[str, Callable[..., Any]]
    objects: Objects
    state: State

    def ask(self, asked: Asked) -> Any:
        """The value of another key; None where nothing is bound. raises: LookupLoop, TypeMismatch, BindingError"""

    def once(self, thing: object, make: Callable[[], Any]) -> Any:
        """The result of *make*. It is called once for each *thing*; later calls return the same result."""

    def call(self, call: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """The result of a callable; arguments that are missing are filled by their annotations."""

    def construct(self, of: str | type, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A new object of a class; the hook `__inject__` of the class makes it, if there is one."""

    def variable(self, name: str) -> Any:
        """The value of a variable of the text language."""


Calling = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any]]
"""A callable, and the arguments that are given."""


@dataclass(frozen=True)
class ProducerBase:
    """The base class of producers. A subclass has `produce` and `words`; it may have `asks`, `calls` and `place`.
    `produce` makes a product; None means that nothing was produced.

    `asks` yields the keys that the producer looks up, and `calls` gives the function that it calls. `keeps` says
    whether an injector keeps the first product and returns it again. `describe` and `words` name the producer in
    messages.
    each_time:       True: each injection gets a new product
    takes_arguments: True: `inject` may pass arguments to the callable
    """

    each_time: bool = field(default=False, kw_only=True)
    takes_arguments: ClassVar[bool] = False

    @property
    def keeps(self) -> bool:
        """Whether the first product is handed out again."""
        return not self.each_time

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        """A product, made now; None for nothing.

        given: arguments of the injection by name; {} unless the producer `takes_arguments`
        """
        raise NotImplementedError

    def asks(self) -> Iterator[Asked]:
        """Yield the keys that the producer looks up. Keys that fill parameters of its callable are not among them."""
        return iter(())

    def calls(self, classes: Classes) -> Calling | None:
        """(callable that makes a product, positional arguments, named arguments); None if no callable is called.

        None also for a class that is not known, or that may not be loaded now.
        """
        return None

    def describe(self) -> str:
        """The producer in a few words for messages."""
        return f"each time {self.words()}" if self.each_time else self.words()

    def words(self) -> str:
        """The producer in a few words, without "each time"."""
        raise NotImplementedError

    def place(self, path: Path = ()) -> Origin | None:
        """The place of an entry of the product; None where only the place of the binding is known."""
        return None


def called(given: Any, scope: ProducerScope) -> Callable[..., Any] | None:
    """The function that an option gives; None if it gives none. Its exceptions become BindingError ("function-failed").

    given: a callable, the name of a function of *scope*, or an expression whose value is a function. For a name that
           *scope* does not have, and for any other value, the result is None
    scope: has the functions by name, and the variables of an expression
    """
    if isinstance(given, str):
        given = scope.functions.get(given)
    if hasattr(given, "evaluate"):
        given = given.evaluate(scope.variable, scope.functions)
    return _guarded(given) if callable(given) else None


def _guarded(call: Callable[..., Any]) -> Callable[..., Any]:
    """A callable whose exceptions become a `BindingError`; errors of the library pass."""

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


def with_options(of: ProducerBase, options: Mapping[str, Any]) -> ProducerBase:
    """The producer with two options of its binding applied; without these options *of* itself.

    The map `producer_args` adds named arguments. `singleton` False sets *each_time*; True changes nothing.
    raises: BindingError ("bad-option"), if producer_args are not a map, or if the producer makes no object of a class
    """
    args = options.get("producer_args")
    if args is not None:
        if not isinstance(args, Mapping) or not isinstance(of, _ClassProducer):
            raise BindingError(BAD_OPTION, f"{of.describe()} takes no producer_args")
        of = replace(of, named={**of.named, **args})
    return replace(of, each_time=True) if options.get("singleton") is False and of.keeps else of


@dataclass(frozen=True)
class ProducerWithPlaces(ProducerBase):
    """The base class of producers whose value may be written in a file. `place` gives the line of an entry.

    places: finds the line of an entry of the value; None: `place` returns None, and only the line of the binding is
            known. It does not count for equality
    """

    places: Locator | None = field(default=None, compare=False, repr=False, kw_only=True)

    def place(self, path: Path = ()) -> Origin | None:
        return None if self.places is None else self.places.at(path)


@dataclass(frozen=True)
class Constant(ProducerWithPlaces):
    """A producer of a fixed value; the value None produces nothing.

    For a list or map, each product is a new copy, with new copies of all lists and maps inside. Any other value is
    itself the product; with *each_time*, the product is a deep copy.
    """

    value: Any

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        if self.each_time and not isinstance(self.value, (list, dict)):
            return copy.deepcopy(self.value)
        return own_copy(self.value)

    def words(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class ComputedProducer(ProducerWithPlaces):
    """A producer that evaluates an expression of the text language for each product, such as a text with variables.

    `produce` raises BindingError for an unknown variable, and for values that an operator or a function cannot take.
    expression: the expression; its value null produces nothing
    """

    expression: Any

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return self.expression.evaluate(scope.variable, scope.functions)

    def words(self) -> str:
        return str(self.expression)


@dataclass(frozen=True)
class Lookup(ProducerBase):
    """A producer of the value of another key; None if nothing is bound to that key, or if it produces nothing.

    `produce` raises LookupLoop if *asked* needs the key of this producer. Errors of *asked* are raised as they are.
    asked: the key whose value is produced
    """

    asked: Asked

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return scope.ask(self.asked)

    def asks(self) -> Iterator[Asked]:
        yield self.asked

    def words(self) -> str:
        return f"look up {self.asked}"


@dataclass(frozen=True)
class HashLookup(Lookup):
    """A producer of one entry of another key's hash; None if that key has no value, or its hash lacks the entry.

    asked: the key that has the hash. If its value is no hash: without a type in *asked*, `produce` raises TypeMismatch;
           with a type, the product is None
    key:   the key of the entry in the hash
    """

    key: Any

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        found = scope.ask(self.asked if self.asked.type else Asked(HASH, self.asked.name))
        return found.get(self.key) if isinstance(found, dict) and isinstance(self.key, Hashable) else None

    def words(self) -> str:
        return f"look up {self.asked} at {self.key!r}"


@dataclass(frozen=True)
class FirstFound(ProducerBase):
    """A producer of the value of the first of several keys that has one; None if no key has a value, or for no keys.

    Keys behind the first one with a value are not asked. `produce` raises the errors of the keys that are asked.
    candidates: the keys, in order
    """

    candidates: tuple[Asked, ...]

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        """The value of the first key that has one; None if none has."""
        for asked in self.candidates:
            value = scope.ask(asked)
            if value is not None:
                return value
        return None

    def asks(self) -> Iterator[Asked]:
        yield from self.candidates

    def words(self) -> str:
        return f"the first found of {'; '.join(map(str, self.candidates))}"


@dataclass(frozen=True)
class _ClassProducer(ProducerBase):
    """The base class of producers that make an object of a class.

    `calls` gives the class and the arguments of the call as data, to be checked; None if the class is not known.
    of:          the name of the class, for `ProducerScope.construct`
    args, named: arguments of the binding; each object gets its own copies of lists and maps in them
    """

    of: str
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    takes_arguments = True

    def _made(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return scope.construct(self.of, tuple(map(own_copy, self.args)), {**own_copy(dict(self.named)), **given})

    def calls(self, classes: Classes) -> Calling | None:
        known = classes.find(self.of)
        return None if known is None else (known, self.args, self.named)

    def _call(self) -> str:
        arguments = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.of}({', '.join(arguments)})"


@dataclass(frozen=True)
class Instance(_ClassProducer):
    """A producer of a new object of a class; `produce` makes one at each call.

    The object gets *args* and *named*; arguments of the injection replace equal names in *named*. Annotations of the
    constructor fill the other parameters. `produce` raises BindingError for an unknown or an abstract class, and
    NotBound for a parameter without a value.
    """

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return self._made(scope, given)

    def words(self) -> str:
        return f"new {self._call()}"


@dataclass(frozen=True)
class Factory(ProducerBase):
    """A producer of the result of a callable; `produce` calls it anew each time. The result None produces nothing.

    Annotations fill the parameters of the callable. `produce` raises NotBound for a parameter without a value; the
    exceptions of the callable stay.
    call: the callable; arguments of the injection are passed to it by name
    """

    call: Callable[..., Any]

    takes_arguments = True

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return scope.call(self.call, (), given)

    def calls(self, classes: Classes) -> Calling | None:
        return self.call, (), {}

    def words(self) -> str:
        return f"{getattr(self.call, '__name__', 'a callable')}()"


@dataclass(frozen=True)
class CustomProducer(_ClassProducer):
    """A producer that has a custom `Producer` object, and calls its `produce()` for each value.

    `producer` returns the object. It is made once; with *each_time*, or with arguments of the injection, a new one is
    made for each call. If the object has no `produce`, `producer` and `produce` raise BindingError ("type-mismatch").
    """

    @property
    def keeps(self) -> bool:
        return False

    def producer(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        """The custom producer object; a new one where each_time is set or arguments are given.

        raises: BindingError ("type-mismatch"), where the object has no `produce`
        """
        if self.each_time or given:
            return _checked(self._made(scope, given), self.of)
        return scope.once(self, lambda: _checked(self._made(scope, {}), self.of))

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return self.producer(scope, given).produce()

    def words(self) -> str:
        return f"ask {self._call()}"


@dataclass(frozen=True)
class ProducerObject(_ClassProducer):
    """A producer that makes a custom `Producer` object. The product is this object, and not one of its values.

    A `NamedProducer` looks the object up and calls its `produce`. If the object has no `produce`, this producer raises
    BindingError ("type-mismatch").
    """

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return _checked(self._made(scope, given), self.of)

    def words(self) -> str:
        return f"the producer {self._call()}"


PRODUCER = Type("Type", ("Producer",))


@dataclass(frozen=True)
class NamedProducer(ProducerBase):
    """A producer that gets each value from the custom `Producer` object that is bound under a name.

    The product is None if nothing is bound under the name. If the object has no `produce`, `produce` raises
    BindingError ("type-mismatch").
    name: the name of a key of the type `Producer`
    """

    name: str

    @property
    def keeps(self) -> bool:
        return False

    def asks(self) -> Iterator[Asked]:
        yield Asked(PRODUCER, self.name)

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        found = scope.ask(next(self.asks()))
        return None if found is None else _checked(found, self.name).produce()

    def words(self) -> str:
        return f"ask the producer {self.name!r}"


def _checked(found: Any, name: str) -> Any:
    if not callable(getattr(found, "produce", None)):
        raise BindingError(TYPE_MISMATCH, f"{name} is no producer: {type(found).__name__} has no produce()")
    return found


@dataclass(frozen=True)
class Ref(ProducerBase):
    """A producer of a reference as text: `Sql[one]`, `Class[ntp]`, `File`. `Pattern[x]` gives a compiled pattern
    instead.

    `reference` is the text. `reference_to` makes a Ref, except for a reference `Type[X]`, which becomes an
    `InstanceOfType`.
    type: the type of the reference, with its title
    """

    type: Type

    @property
    def reference(self) -> Reference:
        """The reference as text: `Sql[one]`, or the name of the type alone."""
        return Reference(f"{self.type.name}[{self.type.title}]" if self.type.args else self.type.name)

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        if self.type.name == "Pattern" and self.type.args:
            return re.compile(self.type.title)
        return self.reference

    def words(self) -> str:
        return str(self.type)


@dataclass(frozen=True)
class InstanceOfType(Instance):
    """An `Instance` that is written as the reference `Type[X]`: as `to Type[X]` and as {"ref": "Type[X]"}.

    It makes the same objects as an `Instance`. As the source of parameters, the attributes of the object fill them.
    """


def reference_to(type: Type) -> ProducerBase:
    """The producer for a type that is written as a value: an `InstanceOfType` for `Type[X]`, a `Ref` for the others."""
    return InstanceOfType(type.title) if type.name == "Type" else Ref(type)


Condition = tuple[Any, ...]
"""(attribute, operator, value), ("or", conditions, conditions, ...) or ("not", conditions)."""


def condition(attribute: str, sign: str, wanted: Any) -> Condition:
    """A comparison of a query: (attribute, sign, wanted).

    attribute: the name of a parameter of the instances; "name" and "title" are the title of an instance
    sign:      one of `SIGNS`; it is not checked
    wanted:    the value to compare with; for an operator of patterns, a text or a compiled pattern
    raises:    BindingError ("syntax"), for an operator of patterns without a valid pattern
    """
    if sign in PATTERN_SIGNS and not isinstance(wanted, re.Pattern):
        if not isinstance(wanted, str):
            raise BindingError(SYNTAX, f"{wanted!r} is no pattern")
        pattern_of(wanted)
    return attribute, sign, wanted


@dataclass(frozen=True)
class Query(ProducerBase):
    """A producer of a list: the references to the instances of a type for which all conditions are true.

    `found` and `produce` return [] if none match. `produce` returns None if no instances can be looked up
    (`Objects.is_there`).
    type:  the type of the instances; only its name counts
    where: conditions (attribute, operator, value), ("or", conditions, ...), or ("not", conditions); () selects all
    """

    type: Type
    where: tuple[Condition, ...] = ()

    def found(self, scope: ProducerScope) -> list[Reference]:
        """The references to the instances that match, in the order of the objects; [] for none."""
        return [
            Reference(reference)
            for reference, parameters in scope.objects.of_type(self.type.name, self.where)
            if self._holds(self.where, Reference(reference), parameters)
        ]

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        return self.found(scope) if scope.objects.is_there else None

    def _holds(self, where: tuple[Condition, ...], reference: Reference, has: Mapping[str, Any]) -> bool:
        return all(self._one(condition, reference, has) for condition in where)

    def _one(self, condition: Condition, reference: Reference, has: Mapping[str, Any]) -> bool:
        """Whether one condition holds for an instance; a list attribute is compared element by element."""
        if condition[0] == "or" and not isinstance(condition[1], str):
            return any(self._holds(side, reference, has) for side in condition[1:])
        if condition[0] == "not" and not isinstance(condition[1], str):
            return not self._holds(condition[1], reference, has)
        attribute, sign, wanted = condition
        actual = has.get(attribute)
        if actual is None and attribute in ("name", "title"):  # None is a parameter that is not set
            actual = reference.id
        if isinstance(actual, (list, tuple)) and not isinstance(wanted, list):  # such as roles
            within = (compared(one, sign, wanted) for one in actual)
            return all(within) if sign in ("!=", "!~", "~!") else any(within)
        return compared(actual, sign, wanted)

    def words(self) -> str:
        conditions = (" ".join(map(str, condition)) for condition in self.where)
        return f"query {self.type.name} where {' and '.join(conditions) or 'anything'}"


@dataclass(frozen=True)
class Attribute(ProducerBase):
    """A producer of one attribute of an object: how an instance or a query fills a parameter.

    A Query gives the instance that it finds as the object. A Ref gives the instance with this reference; for `Class[x]`
    or a type alone, else the value bound to that type. Any other producer gives its product. `produce` raises
    BindingError if the object is missing, or if the attribute is missing or None.
    of:       the producer that gives the object
    name:     the name of the attribute, or the key of a map
    select:   the option `select_result`: a function, or its name. If a Query finds two or more instances, it is called
              with their references and returns one of them; None: several instances are an error
    optional: True: the product is None where the object or the attribute is missing
    """

    of: ProducerBase
    name: str
    select: Any = None
    optional: bool = False

    @property
    def keeps(self) -> bool:
        return self.of.keeps

    def asks(self) -> Iterator[Asked]:
        return self.of.asks()

    def produce(self, scope: ProducerScope, given: Mapping[str, Any]) -> Any:
        """The value of the attribute. If it or its object is missing: None with *optional*, else a BindingError."""
        holder = self._holder(scope)
        if holder is None:
            if self.optional:
                return None
            raise BindingError(NOTHING_PRODUCED, f"{self.of.describe()} does not exist", hint="is `optional` meant?")
        value = holder.get(self.name) if isinstance(holder, Mapping) else getattr(holder, self.name, None)
        if value is None and not self.optional:
            raise BindingError(NOTHING_PRODUCED, f"{self.of.describe()} has no {self.name!r}")
        return value

    def _holder(self, scope: ProducerScope) -> Any:
        """The object with the attribute: of a query, an instance, or any producer; None for none."""
        if isinstance(self.of, Query):
            reference = self._selected(self.of.found(scope), scope)
            return None if reference is None else scope.objects.instance(reference)
        if isinstance(self.of, Ref) and self.of.type.name != "Pattern":
            found = scope.objects.instance(self.of.reference)
            return found if found is not None or self.of.type.is_instance else scope.ask(Asked(self.of.type))
        return self.of.produce(scope, {})

    def _selected(self, found: list[Reference], scope: ProducerScope) -> Reference | None:
        """The reference to the instance of a query; *select* picks one of several. None for none, if *optional*.

        raises: BindingError, for no or several instances otherwise, and if *select* returns none of them
        """
        if not found and self.optional:
            return None
        if len(found) > 1 and self.select is not None:
            select = called(self.select, scope)
            if select is None:
                raise BindingError(BAD_OPTION, f"select_result names {self.select!r}, which is not a known function")
            picked = select(found)
            if picked not in found:
                message = f"select_result gave {picked!r}, which is none of {', '.join(found)}"
                raise BindingError(QUERY_RESULT_COUNT, message)
            return Reference(picked)
        if len(found) != 1:
            raise BindingError(
                QUERY_RESULT_COUNT,
                f"{self.of.describe()} found {', '.join(found) or 'nothing'}; it must find one",
                hint="select_result can pick one of several; `optional` allows none",
            )
        return found[0]

    def words(self) -> str:
        return f"{self.name} of {self.of.describe()}"
