"""Bindings written in Python: calls on a `Bindings` add items to a set, each with the file and line of its call.

The items are those that the data form and the text language make. Building an injector finds the errors of a binding.
Only a malformed key or type, and a second producer of one binding, are errors at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Origin
from nodeattrs.core.frames import frame_above, frame_outside
from nodeattrs.dialects.bindings.codes import NO_PRODUCER, SYNTAX, TWO_PRODUCERS
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import (
    Bind,
    BindingSet,
    BoundVariables,
    Category,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    WhenItem,
    asked_key,
    category,
    chain_of,
)
from nodeattrs.dialects.bindings.model.producers import (
    Condition,
    Constant,
    CustomProducer,
    Factory,
    FirstFound,
    HashLookup,
    Instance,
    Lookup,
    NamedProducer,
    ProducerBase,
    ProducerObject,
    Query,
    reference_to,
)
from nodeattrs.dialects.bindings.model.types import Classes, Type, parse_type, target_of, type_of_hint
from nodeattrs.dialects.bindings.model.values import own_copy, shown_file


def _caller_place(name: str) -> Origin:
    """The file and line of the nearest caller outside of this module."""
    frame = frame_outside(__file__, frame_above(1))
    return Origin("bindings", name, shown_file(frame.f_code.co_filename), frame.f_lineno)


class _Line:
    """One item of a set that is being built: the class of the item and the fields that it has so far."""

    def __init__(self, item: type[Item], block: Block, **fields: Any) -> None:
        self._item = item
        self._block = block
        self._origin = _caller_place(block.name)
        self._fields = fields

    def item(self) -> Item:
        """The finished item."""
        return self._item(origin=self._origin, **self._fields)

    def _with(self, **fields: Any) -> Self:
        self._fields |= fields
        return self

    def abstract(self) -> Self:
        """A higher layer or category must bind the key; otherwise building the injector fails."""
        return self._with(abstract=True)

    def override(self) -> Self:
        """A lower layer or category must bind the key; otherwise building the injector fails."""
        return self._with(override=True)

    def final(self) -> Self:
        """No higher layer may bind the key; otherwise building the injector fails."""
        return self._with(final=True)

    def optional(self) -> Self:
        """Where the producer gives nothing, the next lower binding decides."""
        return self._with(optional=True)


class _BindLine(_Line):
    """A binding, a fragment or parameters that are being built: its methods set the producer, flags and options."""

    def _to(self, producer: ProducerBase) -> Self:
        if "to" in self._fields:
            raise BindingError(TWO_PRODUCERS, "this binding has a producer already", origins=(self._origin,))
        return self._with(to=producer)

    def _option(self, name: str, value: Any) -> Self:
        return self._with(options={**self._fields.get("options", {}), name: value})

    def to(self, value: Any) -> Self:
        """Bind a copy of a value: a class is bound itself (`to_class` binds an object of it)."""
        return self._to(value if isinstance(value, ProducerBase) else Constant(own_copy(value)))

    def to_class(self, of: type | str, *args: Any, **named: Any) -> Self:
        """Bind an object of a class. Its constructor gets *args* and *named*; annotations fill the other parameters."""
        return self._to(Instance(self._class(of), args, named))

    def to_factory(self, call: Callable[..., Any]) -> Self:
        """Bind the result of a callable; its parameters are filled by their annotations.

        A generator function is closed with its scope; an `async` function needs `ainject`.
        """
        return self._to(Factory(call))

    def to_producer(self, of: type | str, *args: Any, each: bool = False, **named: Any) -> Self:
        """Bind the values of an object of a `Producer` class. each: a new producer object for each injection"""
        return self._to(CustomProducer(self._class(of), args, named, each_time=each))

    def to_producer_object(self, of: type | str, *args: Any, **named: Any) -> Self:
        """Bind an object of a `Producer` class itself, for `to_producer_named` of other bindings."""
        return self._to(ProducerObject(self._class(of), args, named))

    def to_producer_named(self, name: str) -> Self:
        """Bind the values of the producer object that is bound under a name."""
        return self._to(NamedProducer(name))

    def to_instance(self, reference: Any, map: Mapping[str, str] | None = None) -> Self:
        """Bind an object; a text is a reference, "Sql[one]", whose instance can fill parameters.

        map:    for parameters: parameter of the target -> parameter of the instance
        raises: BindingError ("bad-type")
        """
        if not isinstance(reference, str):
            return self.to(reference)
        if map is not None:
            self._option("map", dict(map))
        return self._to(reference_to(parse_type(reference)))

    def to_query(self, type: str, *where: Condition, map: Mapping[str, str] | None = None, select: Any = None) -> Self:
        """Bind the references of the instances of a type for which all conditions hold: (attribute, operator, value).

        map:    for parameters: parameter of the target -> parameter of the instance
        select: a function, or its name, that picks one of several instances
        """
        if map is not None:
            self._option("map", dict(map))
        if select is not None:
            self._option("select_result", select)
        return self._to(Query(parse_type(type), tuple(_frozen_condition(one) for one in where)))

    def lookup(self, key: Any, type: Any = None) -> Self:
        """Bind the value of another key."""
        return self._to(Lookup(asked_key(key, type, self._block.classes)))

    def hash_lookup(self, name: str, key: Any, type: Any = None) -> Self:
        """Bind the entry *key* of the hash that is bound to another name."""
        return self._to(HashLookup(asked_key(name, type, self._block.classes), key))

    def first_found(self, *keys: Any) -> Self:
        """Bind the value of the first of several keys that has one; a key is a name, a type, or (name, type)."""
        return self._to(FirstFound(tuple(asked_key(key, None, self._block.classes) for key in keys)))

    def each_time(self) -> Self:
        """Give each injection a product of its own. raises: BindingError, if the binding has no producer yet"""
        producer = self._fields.get("to")
        if producer is None:
            raise BindingError(NO_PRODUCER, "each_time() comes behind the producer", origins=(self._origin,))
        return self._with(to=replace(producer, each_time=True))

    def transform(self, call: Callable[[Any], Any] | str) -> Self:
        """Change each product with a callable, or with the function of that name. None is passed on, too."""
        return self._option("transformer", call)

    def scope(self, name: str) -> Self:
        """Set how long the product is kept. "singleton": by the injector; "none": not at all.

        Any other name: as long as a scope of that name is open. `with injector.scope("request") as request: ...` opens
        one.
        """
        return self._option("scope", name)

    def closing(self) -> Self:
        """Enter each product, a context manager, when it is made, and leave it when its scope is closed.

        A factory that yields is entered and left without this.
        """
        return self._option("closing", True)

    def _class(self, of: type | str) -> str:
        return of if isinstance(of, str) else self._block.classes.add(of)


def _frozen_condition(condition: Condition) -> Condition:
    """A condition of a query, with tuples in place of lists inside of it."""
    return tuple(tuple(part) if isinstance(part, list) else part for part in condition)


class _MultibindLine(_Line):
    """A multibind that is being built. `collect` and `Block.fragment` add its fragments."""

    def collect(self, *classes: type) -> Self:
        """Add a fragment for each of the classes, whose value is an instance of the class."""
        for one in classes:
            self._block.fragment(self._fields["id"]).to_class(one)
        return self

    def into(self, id: str) -> Self:
        """Make the collection a fragment of another multibind, too."""
        return self._with(into=id)


_AnyLine = TypeVar("_AnyLine", bound=_Line)


class Block:
    """Items that are in effect together: a whole set (`Bindings`), or the items inside a `when`.

    These methods return an unfinished item, whose methods complete it (`.to(22)`):

    bind:       a binding of a name, a name with a type, or a type
    fragment:   a fragment of a multibind
    multibind:  a list or hash of fragments
    parameters: the parameters of a class, a type or an instance

    These methods add a complete item and return None:

    alias:              a second name for a key of a lower position
    renamed:            another name for a key of a lower position
    rebind:             a key of a lower position at this position
    include, exclude:   classes that the key `/classes` gets or loses
    parameter_map:      the parameters of one type that fill parameters of another type
    variables:          top scope variables and their values
    abstract_variables: top scope variables that a better position must bind
    dependency:         an order of resources
    add:                any finished item

    `when` returns a block with categories, for a `with` statement.

    name:    the name of the set
    classes: the classes that the items name; an injector gets to know them
    """

    def __init__(self, name: str, classes: Classes) -> None:
        self.name = name
        self.classes = classes
        self._lines: list[_Line | _WhenBlock | Item] = []

    def bind(self, key: Any, type: Any = None) -> _BindLine:
        """Add a binding of a name, a name with a type, or a type alone; returns its line, which takes the producer."""
        wanted = asked_key(key, type, self.classes)
        return self._bound(_BindLine(Bind, self, type=wanted.type, name=wanted.name))

    def fragment(self, id: Any, name: str | None = None, type: Any = None) -> _BindLine:
        """Add a fragment of the multibinds that have this id.

        id:   a text, or a type such as list[Plugin], whose text is the id
        name: the key in a hash; type: what the fragment must be
        """
        id = id if isinstance(id, str) else str(type_of_hint(id, self.classes))
        return self._bound(_BindLine(Bind, self, type=self._type(type), name=name, into=id))

    def multibind(
        self,
        name: Any,
        type: Any = None,
        *,
        id: str | bool | None = True,
        combine: Any = None,
        conflict: str | None = None,
        flatten: bool | int | None = None,
        uniq: bool | None = None,
        transform: Any = None,
    ) -> _MultibindLine:
        """Bind a key to a list or hash of all fragments with this id. The key is a name, or a type alone.

        Returns the unfinished item.

        name:     a name. Or an array or hash type, such as list[Plugin]; then the text of the type is the id
        type:     an array or hash type; None: a list
        id:       the id that fragments name; True: the name itself. None or "": the collection has no fragments
        combine:  a name (concat, append, flatten, uniq, sum, merge, ...), a callable or a policy of the core
        conflict: for two fragments with the same name in a hash: priority, error, ignore, append, merge
        flatten:  True, or a number of levels: lists in the collection are replaced by their entries
        uniq:     True: equal elements are taken once
        transform: a function, or its name, that is called with the collection and returns the value
        """
        options = {
            "combinator": combine, "conflict_resolution": conflict, "flatten": flatten, "uniq": uniq,
            "transformer": transform,
        }  # fmt: skip
        given = {option: value for option, value in options.items() if value is not None}
        if not isinstance(name, str):
            name, type = None, name
        of = type_of_hint(list if type is None else type, self.classes)
        named = (name or str(of)) if id is True else (id or None)
        return self._bound(_MultibindLine(Multibind, self, name=name, type=of, id=named, options=given))

    def alias(self, key: Any, *, as_: Any, abstract: bool = False) -> None:
        """Bind a key of a lower position under a second name, too. abstract: a higher position must bind that name"""
        self._rebinding("alias", key, as_, abstract)

    def renamed(self, key: Any, *, as_: Any, abstract: bool = False) -> None:
        """Move a key of a lower position to another name. abstract: a higher position must bind that name"""
        self._rebinding("renamed", key, as_, abstract)

    def rebind(self, key: Any) -> None:
        """Bind a key of a lower position here again, with its producer."""
        self._rebinding("rebind", key, key, False)

    def _rebinding(self, verb: str, key: Any, target: Any, abstract: bool) -> None:
        given, again = (asked_key(one, None, self.classes) for one in (key, target))
        self.add(Rebinding(origin=_caller_place(self.name), verb=verb, key=given, target=again, abstract=abstract))

    def include(self, *names: str) -> None:
        """Add classes to the key `/classes`."""
        self.add(Inclusion(origin=_caller_place(self.name), names=names))

    def exclude(self, *names: str) -> None:
        """Take classes out of the key `/classes`, at this position and below."""
        self.add(Inclusion(origin=_caller_place(self.name), names=names, exclude=True))

    def parameters(self, target: str) -> _BindLine:
        """Bind the parameters of a class ("ntp"), a type ("Web") or an instance ("Web[one]") to a hash or a source."""
        return self._bound(_BindLine(Parameters, self, target=target_of(target)))

    def parameter_map(self, lhs: str, rhs: str, map: Mapping[str, str]) -> None:
        """Bind the parameter map of two types. map: parameter of *lhs* -> the parameter of *rhs* that fills it"""
        self.add(ParameterMap(origin=_caller_place(self.name), lhs=target_of(lhs), rhs=target_of(rhs), map=dict(map)))

    def variables(self, values: Mapping[str, Any] | None = None, type: Any = None, **more: Any) -> None:
        """Bind top scope variables to copies of values; each is the key `/var/NAME`. type: of all of them"""
        given = {name: Constant(own_copy(value)) for name, value in {**(values or {}), **more}.items()}
        self.add(BoundVariables(origin=_caller_place(self.name), type=self._type(type), values=given))

    def abstract_variables(self, *names: str, type: Any = None) -> None:
        """Demand that a higher layer or category binds these top scope variables."""
        demanded: dict[str, ProducerBase | None] = dict.fromkeys(names)
        self.add(BoundVariables(origin=_caller_place(self.name), type=self._type(type), values=demanded, abstract=True))

    def dependency(self, *chain: str | Iterable[str]) -> None:
        """Add an order of resources: dependency("File[a]", "~>", "Service[b]").

        raises: BindingError ("syntax", "bad-type")
        """
        self.add(Dependency(origin=_caller_place(self.name), chain=chain_of(chain)))

    def when(self, categories: Mapping[str, Any] | None = None, **more: Any) -> _WhenBlock:
        """Add a block that is in effect where all these categories have these values; `.or_(...)` adds an alternative.

        raises: BindingError ("syntax"), without a category
        """
        block = _WhenBlock(self.name, self.classes, _caller_place(self.name))
        block.or_(categories, **more)
        self._lines.append(block)
        return block

    def add(self, item: Item) -> None:
        """Add a finished item after the items that the block has."""
        self._lines.append(item)

    def _bound(self, line: _AnyLine) -> _AnyLine:
        self._lines.append(line)
        return line

    def _type(self, given: Any) -> Type | None:
        return None if given is None else type_of_hint(given, self.classes)

    def _items(self) -> tuple[Item, ...]:
        return tuple(line if isinstance(line, Item) else line.item() for line in self._lines)


class _WhenBlock(Block):
    """A block with its conditions. Its `with` has no effect; it indents the lines of the block."""

    def __init__(self, name: str, classes: Classes, origin: Origin) -> None:
        super().__init__(name, classes)
        self._origin = origin
        self._alternatives: list[tuple[Category, ...]] = []

    def or_(self, categories: Mapping[str, Any] | None = None, **more: Any) -> _WhenBlock:
        """Add an alternative; the block is in effect where one holds. raises: BindingError, without a category"""
        given = {**(categories or {}), **more}
        if not given:
            raise BindingError(SYNTAX, "a block needs a category and its value", hint='when(node="kermit")')
        self._alternatives.append(tuple(category(name, value) for name, value in given.items()))
        return self

    def item(self) -> Item:
        """The finished `WhenItem` item with its items."""
        return WhenItem(origin=self._origin, alternatives=tuple(self._alternatives), items=self._items())

    def __enter__(self) -> _WhenBlock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


class Bindings(Block):
    """A named set of bindings, written as Python. Calls such as `bind` add items; `to_set` returns the items so far.

    An injector accepts the object itself in a layer. `of_values` makes a set from plain data.
    name: "module::name", or a name alone for the site

    >>> ssh = Bindings("ssh::default")
    >>> _ = ssh.bind("ssh::port", int).to(22)
    >>> ssh.to_set().items[0].name
    'ssh::port'
    """

    @checked_args(name=str)
    def __init__(self, name: str) -> None:
        super().__init__(name, Classes())
        self._origin = _caller_place(name)

    def to_set(self) -> BindingSet:
        """A new set with the items of the lines so far; later calls do not change it."""
        return BindingSet(self.name, self._items(), self._origin)

    @classmethod
    def of_values(cls, name: str, values: Mapping[str, Any]) -> Bindings:
        """A set that binds each name to a copy of its value: for providers that have plain data.

        >>> len(Bindings.of_values("inventory", {"rack": "r1", "dc": "ber"}).to_set().items)
        2
        """
        one = cls(name)
        for key, value in values.items():
            one.bind(key).to(value)
        return one
