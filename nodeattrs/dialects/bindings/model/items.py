"""Sets of bindings and their items, as plain immutable values.

The builder, the data form and the language make them. An *item* is one statement of a set, such as `bind`, `multibind`,
`when` or `include`. Items are equal when they state the same, wherever they are written. `faults` finds the errors of
one item; `resolution` finds errors among items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.bindings.codes import (
    ABSTRACT_NOT_OVERRIDDEN,
    ABSTRACT_PARAMETERS,
    ABSTRACT_WITH_PRODUCER,
    BAD_OPTION,
    INSTANCE_AS_KEY,
    MULTIBIND_BAD_TYPE,
    MULTIBIND_WITH_PRODUCER,
    NO_KEY,
    NO_PRODUCER,
    OVERRIDE_WITHOUT_BASE,
    REBIND_WITH_PRODUCER,
    RESERVED_NAME,
    SYNTAX,
)
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.producers import Constant, ProducerBase
from nodeattrs.dialects.bindings.model.types import Asked, Classes, Type, parse_type, type_of_hint

NOWHERE = Origin("caller")

Category = tuple[str, str]
"""A category and the value it must have."""

BIND_OPTIONS = frozenset({"transformer", "producer_args", "singleton", "scope", "closing"})
MULTIBIND_OPTIONS = frozenset({"combinator", "conflict_resolution", "flatten", "uniq", "transformer"})
PARAMETER_OPTIONS = frozenset({"map", "select_result", "producer_args"})


def category(name: Any, value: Any) -> Category:
    """(category, value as text) of a condition; true and false become "true" and "false"."""
    return str(name), str(value).lower() if isinstance(value, bool) else str(value)


def asked_key(key: Any, type: Any, classes: Classes) -> Asked:
    """The key that a caller of the builder or the injector writes.

    key:     a name, a (name, type) pair, a type alone, or an `Asked`, which is returned as it is
    type:    the type, if *key* is a name; None: any type
    classes: a class that is given as a type is added to these
    raises:  BindingError: "no-key" where key and type are both types, "bad-type"
    """
    if isinstance(key, tuple) and len(key) == 2:
        key, type = key
    if isinstance(key, Asked):
        return key
    if isinstance(key, str):
        return Asked(None if type is None else type_of_hint(type, classes), key)
    if type is not None:
        raise BindingError(NO_KEY, f"{key!r} is not a name", hint="write (name, type), or a type alone")
    return Asked(type_of_hint(key, classes), None)


@dataclass(frozen=True, kw_only=True)
class Item:
    """The base class of the items of a set. origin: the line of the item; it does not count for equality"""

    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, kw_only=True)
class FlaggedItem(Item):
    """The base class of items that bind keys and have flags.

    abstract: a higher layer or category must bind the key
    override: a lower layer or category must bind the key
    final:    no higher layer may bind the key
    optional: if the producer gives nothing, the next lower binding of the key decides
    """

    abstract: bool = False
    override: bool = False
    final: bool = False
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Bind(FlaggedItem):
    """A binding of a key to a producer. With *into* it is a fragment of a multibind instead, and binds no key.

    Nothing is checked here; `faults` finds what is wrong.
    type:    the type of the key; None: Data
    name:    the name of the key; None: the type alone is bound. For a fragment of a hash: the name of its entry
    to:      the producer; None is right only for an abstract binding
    into:    the id of a multibind; None: not a fragment
    options: further options of the item, by name; `BIND_OPTIONS` has the possible names
    """

    type: Type | None = None
    name: str | None = None
    to: ProducerBase | None = None
    into: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Multibind(Bind):
    """A key that is bound to the collection of all fragments that name the id. It takes no producer.

    id:      the name that fragments give; None: the collection takes no fragments
    into:    the id of another multibind, to which this collection is a fragment; None: it is no fragment
    options: further options, by name; `MULTIBIND_OPTIONS` has the possible names
    """

    id: str | None = None


@dataclass(frozen=True, kw_only=True)
class WhenItem(Item):
    """Items that are in effect if at least one of the alternatives holds.

    alternatives: an alternative is a tuple of (category, value) pairs; it holds if all its pairs hold
    items:        the items
    """

    alternatives: tuple[tuple[Category, ...], ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class Rebinding(FlaggedItem):
    """An item that takes the producer of a key at a lower position, and binds a key to it at its own position.

    verb:   "alias" (the key gets a second name), "renamed" (the key is moved to another name), or "rebind" (the key is
            bound again at the position of this item)
    key:    the key at the lower position
    target: the key that this item binds; for "rebind" the same key
    to:     always None in a correct item; `faults` reports a producer as an error
    """

    verb: str
    key: Asked
    target: Asked
    to: ProducerBase | None = None


@dataclass(frozen=True, kw_only=True)
class Inclusion(Item):
    """Classes that are added to the key `/classes`, or taken out of it.

    names:   the classes
    exclude: True: they are taken out, at the position of this item and below
    """

    names: tuple[str, ...]
    exclude: bool = False


@dataclass(frozen=True, kw_only=True)
class Parameters(FlaggedItem):
    """The parameters of a class, a type or an instance, bound together.

    target:  the class, type or instance
    to:      a constant hash (name -> value), or a producer of an object with attributes: an instance, a query, ...
    options: further options, by name; `PARAMETER_OPTIONS` has the possible names
    """

    target: Type
    to: ProducerBase | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ParameterMap(FlaggedItem):
    """The parameter map of two types: parameter of *lhs* -> the parameter of *rhs* that fills it."""

    lhs: Type
    rhs: Type
    map: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class BoundVariables(FlaggedItem):
    """Top scope variables that are bound. A variable without a producer is abstract: a higher layer or category must
    bind it.

    type:   the type of each variable; None: Any
    values: name -> producer; name -> None if the variable is abstract
    single: whether one abstract name was written without a list, for the data form
    """

    type: Type | None = None
    values: Mapping[str, ProducerBase | None]
    single: bool = field(default=False, compare=False)


Chain = tuple[tuple[str, ...] | str, ...]
"""References and arrows in turn: `(("File[a]",), "~>", ("Service[b]",))`."""


def chain_of(links: Iterable[Any]) -> Chain:
    """The chain of a dependency, with canonical references.

    links:  references and arrows in turn, such as `["Sql[one]", "->", ["Web[a]", "Web[b]"]]`. The first and the last
            one are a reference or a list of references; there is at least one arrow, "->" or "~>"
    raises: BindingError: "syntax" for another arrow or a missing reference, "bad-type" for a text that is no reference
    """
    chain: list[tuple[str, ...] | str] = []
    for index, link in enumerate(links):
        if index % 2 == 0:
            texts = link if isinstance(link, (list, tuple)) else [link]
            chain.append(tuple(str(parse_type(str(text))) for text in texts))
        elif link in ("->", "~>"):
            chain.append(str(link))
        else:
            raise BindingError(SYNTAX, f"{link!r} is no arrow", hint="arrows are -> and ~>")
    if len(chain) < 3 or not len(chain) % 2:
        raise BindingError(SYNTAX, "a dependency needs a reference on both sides of each arrow")
    return tuple(chain)


@dataclass(frozen=True, kw_only=True)
class Dependency(Item):
    """An order of resources: the references to the left of an arrow come before those to the right of it.

    chain: references, arrow, references, and so on, as `chain_of` makes it; `pairs` yields each pair of references
    """

    chain: Chain

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """Yield (left, arrow, right) for each pair of references on the two sides of an arrow."""
        for at in range(0, len(self.chain) - 2, 2):
            left, arrow, right = self.chain[at : at + 3]
            for one in left:
                for other in right:
                    yield one, str(arrow), other


@checked_args(name=str, items=ListLike)
@dataclass(frozen=True)
class BindingSet:
    """A named set of bindings, with its items in the order in which they are written.

    `every` yields the items, and the items inside of `when`. `unknown` makes a set that could not be read.
    name:   "module::name", or a name alone for the site
    items:  the items; () for a set that could not be read
    origin: where the set is written; it does not count when sets are compared
    unread: why the set cannot be read, in words; "" for a set that was read
    """

    name: str
    items: tuple[Item, ...]
    origin: Origin = field(default=NOWHERE, compare=False)
    unread: str = ""

    @classmethod
    def unknown(cls, name: str, origin: Origin, reason: str) -> BindingSet:
        """A set that exists and cannot be read: it binds nothing, and might bind any key.

        reason: why, in words: "is encrypted, and there is no key"
        """
        return cls(name, (), origin, reason)

    def every(self) -> Iterator[Item]:
        """Yield all items in order; the items inside a `when` follow it."""
        waiting = list(reversed(self.items))
        while waiting:
            item = waiting.pop()
            yield item
            if isinstance(item, WhenItem):
                waiting.extend(reversed(item.items))


_Rule = tuple[object, Kind, str, str | None]
"""(whether an item breaks the rule, the kind of the error, its message, the way out)."""


def faults(item: Item) -> Iterator[BindingError]:
    """Yield the errors of one item; nothing for a correct item. For a `when` the items inside are not checked."""
    rules: list[_Rule] = []
    if isinstance(item, Multibind):
        rules = _rules_of_multibind(item)
    elif isinstance(item, Bind):
        rules = _rules_of_bind(item)
    elif isinstance(item, Rebinding):
        message = f"{item.verb} of {item.key} takes no producer: it keeps its own"
        rules = [(item.to is not None, REBIND_WITH_PRODUCER, message, None), _reserved(item.target.name)]
    elif isinstance(item, Parameters):
        rules = _rules_of_parameters(item)
    for is_broken, kind, message, hint in rules:
        if is_broken:
            details = () if item.origin is NOWHERE else (f"at {item.origin}",)
            yield BindingError(kind, message, origins=(item.origin,), details=details, hint=hint)


def _words(item: Bind) -> str:
    return str(item.type or "a fragment") if item.name is None else repr(item.name)


def _rules_of_multibind(item: Multibind) -> list[_Rule]:
    """The rules of a multibind."""
    what, of = _words(item), item.type
    return [
        _reserved(item.name if item.into is None else None),
        (of is None or of.name not in ("Array", "Hash"), MULTIBIND_BAD_TYPE,
         f"multibind {what} has the type {of or 'Data'}",
         "a multibind is an Array or a Hash: multibind Array[Data], 'name'"),
        (item.to is not None, MULTIBIND_WITH_PRODUCER,
         f"multibind {what} takes no producer: its fragments do", None),
        *_options(item.options, MULTIBIND_OPTIONS, "a multibind"),
    ]  # fmt: skip


def _rules_of_bind(item: Bind) -> list[_Rule]:
    """The rules of a binding, or of a fragment."""
    what, of, is_fragment = _words(item), item.type, item.into is not None
    is_unnamed = item.name is None and not is_fragment
    return [
        _reserved(None if is_fragment else item.name),
        (item.abstract and item.to is not None, ABSTRACT_WITH_PRODUCER,
         f"{what} is abstract and has a producer", "leave out `abstract`, or the producer"),
        (is_fragment and item.abstract, ABSTRACT_NOT_OVERRIDDEN,
         f"{what} is a fragment and abstract: nothing could override it", None),
        (is_fragment and item.override, OVERRIDE_WITHOUT_BASE,
         f"{what} is a fragment and has no key that could be overridden", None),
        (is_unnamed and of is None, NO_KEY,
         "a binding has neither type nor name", "or is `in 'id'` missing?"),
        (is_unnamed and of is not None and of.is_instance, INSTANCE_AS_KEY,
         f"{of} exists already; its type cannot be bound to another", None),
        *_options(item.options, BIND_OPTIONS, "a binding"),
        (not isinstance(item.options.get("scope", ""), str), BAD_OPTION,
         f"the scope of {what} is not a name", "singleton, none, request, ..."),
    ]  # fmt: skip


def _rules_of_parameters(item: Parameters) -> list[_Rule]:
    """The rules of parameters."""
    return [
        (item.abstract, ABSTRACT_PARAMETERS,
         f"parameters of {item.target} cannot be abstract",
         "a class that declares a parameter already says that it must be given"),
        (item.to is None and not item.abstract, NO_PRODUCER,
         f"the parameters of {item.target} are bound to nothing", None),
        *_options(item.options, PARAMETER_OPTIONS, "a parameter binding"),
        (not is_parameter_map(item.options.get("map", {})), BAD_OPTION,
         "the option map is not a map of parameter names", "{ map => { a => b } }"),
    ]  # fmt: skip


def _options(given: Mapping[str, Any], known: frozenset[str], what: str) -> list[_Rule]:
    """A rule for each option of an item: that the option is known."""
    way_out = f"it knows {', '.join(sorted(known))}" if given else None
    return [(name not in known, BAD_OPTION, f"{what} has no option {name!r}", way_out) for name in given]


def _reserved(name: str | None) -> _Rule:
    """The rule that a name does not begin with a slash, as names of the library do. None breaks no rule."""
    message = f"the name {name!r} begins with a slash; such names belong to the library"
    way_out = "use `bind parameters`, `bind variables`, `include`, or another name"
    return (name or "").startswith("/"), RESERVED_NAME, message, way_out


def is_parameter_map(given: Any) -> bool:
    """Whether a value of the option `map` is valid: a map of names to names, or a list of shared names."""
    if isinstance(given, Mapping):
        return all(isinstance(name, str) for pair in given.items() for name in pair)
    return isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)


def hash_of(item: Parameters) -> Mapping[str, Any] | None:
    """The hash that parameters are bound to; None where they are bound to anything else."""
    return item.to.value if isinstance(item.to, Constant) and isinstance(item.to.value, dict) else None
