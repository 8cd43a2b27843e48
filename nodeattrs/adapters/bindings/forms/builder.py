"""Bindings written as Python: a set is filled line by line, each line knows where it stands.

What it makes is the same model as the data form and the text language make. It decides
nothing: whether a set makes sense is found when an injector is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from nodeattrs.adapters.bindings.codes import NO_PRODUCER, SYNTAX, TWO_PRODUCERS
from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import (
    Bind,
    BindingSet,
    Category,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    Variables,
    When,
    asked,
)
from nodeattrs.adapters.bindings.model.producers import (
    Constant,
    Custom,
    Factory,
    FirstFound,
    HashLookup,
    Instance,
    Lookup,
    Named,
    ProducerObject,
    Producing,
    Ref,
    Series,
)
from nodeattrs.adapters.bindings.model.queries import Condition, Query
from nodeattrs.adapters.bindings.model.types import Classes, Type, parse_type, target_of, type_of_hint
from nodeattrs.adapters.bindings.model.values import shown_file, taken_in
from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Origin
from nodeattrs.core.frames import frame_above, frame_outside


def _here(name: str) -> Origin:
    """Where the line outside of this module stands that is being run."""
    frame = frame_outside(__file__, frame_above(1))
    return Origin("bindings", name, shown_file(frame.f_code.co_filename), frame.f_lineno)


class _Line:
    """One line of a set while it is being written."""

    def __init__(self, origin: Origin, classes: Classes) -> None:
        self._origin = origin
        self._classes = classes
        self._fields: dict[str, Any] = {}

    def item(self) -> Item:
        """What the line says."""
        raise NotImplementedError


class _Flagged(_Line):
    def _flagged(self, name: str) -> Any:
        self._fields[name] = True
        return self

    def abstract(self) -> Any:
        """Somebody above must give the value."""
        return self._flagged("abstract")

    def override(self) -> Any:
        """Something below must exist."""
        return self._flagged("override")

    def final(self) -> Any:
        """No higher layer may bind it."""
        return self._flagged("final")

    def optional(self) -> Any:
        """Where nothing is produced the next lower binding decides."""
        return self._flagged("optional")


class _Produced(_Flagged):
    _options: dict[str, Any]

    def _to(self, producer: Producing) -> Any:
        if "to" in self._fields:
            raise BindingError(TWO_PRODUCERS, "this binding has a producer already", origins=(self._origin,))
        self._fields["to"] = producer
        return self

    def to(self, value: Any) -> Any:
        """The value itself. What is computed later comes `to_factory`, what is an object of a class `to_class`."""
        return self._to(value if isinstance(value, Producing) else Constant(taken_in(value)))

    def to_class(self, of: type | str, *args: Any, **named: Any) -> Any:
        """An object of a class, whose constructor is filled by its annotations. args, named: those that are given"""
        return self._to(Instance(self._class(of), args, named))

    def to_factory(self, call: Callable[..., Any]) -> Any:
        """What a callable gives when it is asked, its parameters filled by their annotations.

        What a function yields is closed with its scope; one that is `async` is asked by `ainject`.
        """
        return self._to(Factory(call))

    def to_producer(self, of: type | str, *args: Any, each: bool = False, **named: Any) -> Any:
        """What a custom producer gives each time it is asked. each: a new producer for each injection"""
        return self._to(Custom(self._class(of), args, named, each))

    def to_producer_object(self, of: type | str, *args: Any, **named: Any) -> Any:
        """A custom producer itself, for others to name."""
        return self._to(ProducerObject(self._class(of), args, named))

    def to_producer_named(self, name: str) -> Any:
        """What the producer object gives that is bound under a name."""
        return self._to(Named(name))

    def to_instance(self, reference: Any, map: Mapping[str, str] | None = None) -> Any:
        """An object as it is; of a text, the reference that it spells: "Sql[one]".

        map: which of its parameters fills which
        """
        if not isinstance(reference, str):
            return self.to(reference)
        if map is not None:
            self._options["map"] = dict(map)
        return self._to(Ref(parse_type(reference)))

    def to_query(self, type: str, *where: Condition, map: Mapping[str, str] | None = None, select: Any = None) -> Any:
        """The instances of a type for which all conditions hold."""
        if map is not None:
            self._options["map"] = dict(map)
        if select is not None:
            self._options["select_result"] = select
        return self._to(Query(parse_type(type), tuple(map_condition(one) for one in where)))

    def lookup(self, key: Any, type: Any = None) -> Any:
        """The value of another key."""
        return self._to(Lookup(asked(key, type, self._classes)))

    def hash_lookup(self, name: str, key: Any, type: Any = None) -> Any:
        """One entry of the hash of another key."""
        return self._to(HashLookup(asked(name, type, self._classes), key))

    def first_found(self, *keys: Any) -> Any:
        """The value of the first of several keys that has one; a key is a name, a type, or (name, type)."""
        pairs = (key if isinstance(key, tuple) else (key, None) for key in keys)
        return self._to(FirstFound(tuple(asked(key, type, self._classes) for key, type in pairs)))

    def each_time(self) -> Any:
        """Never keep the product: each injection gets its own."""
        producer = self._fields.get("to")
        if producer is None:
            raise BindingError(NO_PRODUCER, "each_time() comes behind the producer", origins=(self._origin,))
        self._fields["to"] = Series(producer)
        return self

    def transform(self, call: Callable[[Any], Any] | str) -> Any:
        """A callable, or its name, that sees the product last."""
        self._options["transformer"] = call
        return self

    def scope(self, name: str) -> Any:
        """How long the product is kept: "singleton", "none", or while a scope of that name is open.

        `with injector.scope("request") as request: ...` opens one.
        """
        self._options["scope"] = name
        return self

    def closing(self) -> Any:
        """The product is a context manager: it is entered, and left when its scope is closed.

        A factory that yields needs no word.
        """
        self._options["closing"] = True
        return self

    def _class(self, of: type | str) -> str:
        return of if isinstance(of, str) else self._classes.add(of)


def map_condition(condition: Condition) -> Condition:
    """A condition with its nested ones as tuples."""
    return tuple(tuple(part) if isinstance(part, list) else part for part in condition)


class BindLine(_Produced):
    """A binding or a fragment."""

    def __init__(
        self, origin: Origin, classes: Classes, type: Type | None, name: str | None, into: str | None = None
    ) -> None:
        super().__init__(origin, classes)
        self._type, self._name, self._into = type, name, into
        self._options = {}

    def item(self) -> Item:
        return Bind(
            origin=self._origin, type=self._type, name=self._name, into=self._into, options=dict(self._options),
            **self._fields,
        )  # fmt: skip


class MultibindLine(_Flagged):
    """A multibind."""

    def __init__(self, origin: Origin, classes: Classes, block: Block, **fields: Any) -> None:
        super().__init__(origin, classes)
        self._block = block
        self._fields.update(fields)

    def collect(self, *classes: type) -> MultibindLine:
        """A fragment for each of these classes, beside those of other sets."""
        for one in classes:
            self._block.fragment(self._fields["id"]).to_class(one)
        return self

    def into(self, id: str) -> MultibindLine:
        """Make it a fragment of another multibind too."""
        self._fields["into"] = id
        return self

    def item(self) -> Item:
        return Multibind(origin=self._origin, **self._fields)


class ParametersLine(_Produced):
    """A binding of parameters."""

    def __init__(self, origin: Origin, classes: Classes, target: Type) -> None:
        super().__init__(origin, classes)
        self._target = target
        self._options = {}

    def item(self) -> Item:
        return Parameters(origin=self._origin, target=self._target, options=dict(self._options), **self._fields)


class _Fixed(_Line):
    def __init__(self, item: Item) -> None:
        self._item = item

    def item(self) -> Item:
        return self._item


class Block:
    """Lines that are in effect together: a whole set, or what stands inside a `when`."""

    def __init__(self, name: str, classes: Classes) -> None:
        self.name = name
        self.classes = classes
        self._lines: list[_Line | _When] = []

    def bind(self, key: Any, type: Any = None) -> BindLine:
        """Bind a name, a name with a type, or a type alone."""
        wanted = asked(key, type, self.classes)
        line = BindLine(_here(self.name), self.classes, wanted.type, wanted.name)
        self._lines.append(line)
        return line

    def fragment(self, id: Any, name: str | None = None, type: Any = None) -> BindLine:
        """Contribute to the multibinds that have this id, or this type. name: the key in a hash"""
        id = id if isinstance(id, str) else str(type_of_hint(id, self.classes))
        of = None if type is None else type_of_hint(type, self.classes)
        line = BindLine(_here(self.name), self.classes, of, name, id)
        self._lines.append(line)
        return line

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
    ) -> MultibindLine:
        """Bind a name, or a type alone, to the collection of all fragments.

        name:     or an array or hash type, such as list[Plugin]: then the type is its id, too
        type:     an array or hash type; a list unless given
        id:       what fragments name; the name itself unless given, None takes no fragments
        combine:  a name (concat, append, flatten, uniq, sum, merge, ...), a callable or a policy of the core
        conflict: for hashes: priority, error, ignore, append, merge
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
        line = MultibindLine(_here(self.name), self.classes, self, name=name, type=of, id=named, options=given)
        self._lines.append(line)
        return line

    def alias(self, key: Any, *, as_: Any, abstract: bool = False) -> None:
        """Give a key that is bound below a second name."""
        self._rebinding("alias", key, as_, abstract)

    def renamed(self, key: Any, *, as_: Any, abstract: bool = False) -> None:
        """Move a key that is bound below to another name."""
        self._rebinding("renamed", key, as_, abstract)

    def rebind(self, key: Any) -> None:
        """Bind a key that is bound below here again, with its producer."""
        self._rebinding("rebind", key, key, False)

    def _rebinding(self, verb: str, key: Any, target: Any, abstract: bool) -> None:
        pairs = [one if isinstance(one, tuple) else (one, None) for one in (key, target)]
        sides = [asked(name, of, self.classes) for name, of in pairs]
        origin = _here(self.name)
        self._fixed(Rebinding(origin=origin, verb=verb, key=sides[0], target=sides[1], abstract=abstract))

    def include(self, *names: str) -> None:
        """Include classes."""
        self._fixed(Inclusion(origin=_here(self.name), names=names))

    def exclude(self, *names: str) -> None:
        """Exclude classes."""
        self._fixed(Inclusion(origin=_here(self.name), names=names, exclude=True))

    def parameters(self, target: str) -> ParametersLine:
        """Bind the parameters of a class ("ntp"), a type ("Web") or an instance ("Web[one]")."""
        line = ParametersLine(_here(self.name), self.classes, target_of(target))
        self._lines.append(line)
        return line

    def parameter_map(self, lhs: str, rhs: str, map: Mapping[str, str]) -> None:
        """Say which parameter of *rhs* fills which one of *lhs*."""
        origin = _here(self.name)
        self._fixed(ParameterMap(origin=origin, lhs=target_of(lhs), rhs=target_of(rhs), map=dict(map)))

    def variables(self, values: Mapping[str, Any] | None = None, type: Any = None, **more: Any) -> None:
        """Bind top scope variables."""
        of = None if type is None else type_of_hint(type, self.classes)
        given = {name: Constant(taken_in(value)) for name, value in {**(values or {}), **more}.items()}
        self._fixed(Variables(origin=_here(self.name), type=of, values=given))

    def abstract_variables(self, *names: str, type: Any = None) -> None:
        """Demand that top scope variables are bound."""
        of = None if type is None else type_of_hint(type, self.classes)
        self._fixed(Variables(origin=_here(self.name), type=of, values=dict.fromkeys(names), abstract=True))

    def dependency(self, *chain: str | Iterable[str]) -> None:
        """References and arrows in turn: dependency("File[a]", "~>", "Service[b]")."""
        links: list[tuple[str, ...] | str] = []
        for index, link in enumerate(chain):
            if index % 2:
                if link not in ("->", "~>"):
                    raise BindingError(SYNTAX, f"{link!r} is no arrow", hint="arrows are -> and ~>")
                links.append(str(link))
            else:
                links.append((link,) if isinstance(link, str) else tuple(link))
        if len(links) < 3 or not len(links) % 2:
            raise BindingError(SYNTAX, "a dependency needs a reference on both sides of each arrow")
        self._fixed(Dependency(origin=_here(self.name), chain=tuple(links)))

    def when(self, categories: Mapping[str, Any] | None = None, **more: Any) -> _When:
        """A block for when all these categories have these values; `.or_(...)` adds an alternative."""
        block = _When(self.name, self.classes, _here(self.name))
        block.or_(categories, **more)
        self._lines.append(block)
        return block

    def add(self, item: Item) -> None:
        """Add an item of the model as it is."""
        self._fixed(item)

    def _fixed(self, item: Item) -> None:
        self._lines.append(_Fixed(item))

    def _items(self) -> tuple[Item, ...]:
        return tuple(line.item() for line in self._lines)


class _When(Block):
    """A block with its conditions. It can be used with `with`, for the eye only."""

    def __init__(self, name: str, classes: Classes, origin: Origin) -> None:
        super().__init__(name, classes)
        self._origin = origin
        self._alternatives: list[tuple[Category, ...]] = []

    def or_(self, categories: Mapping[str, Any] | None = None, **more: Any) -> _When:
        """Another alternative: one of them must hold."""
        given = {**(categories or {}), **more}
        if not given:
            raise BindingError(SYNTAX, "a block needs a category and its value", hint='when(node="kermit")')
        self._alternatives.append(tuple((name, _category(value)) for name, value in given.items()))
        return self

    def item(self) -> Item:
        """What the block says."""
        return When(origin=self._origin, alternatives=tuple(self._alternatives), items=self._items())

    def __enter__(self) -> _When:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


def _category(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Bindings(Block):
    """A named set of bindings, written as Python.

    name: "module::name", or a name alone for the site

    >>> ssh = Bindings("ssh::default")
    >>> _ = ssh.bind("ssh::port", int).to(22)
    >>> ssh.to_set().items[0].name
    'ssh::port'
    """

    @taking(name=str)
    def __init__(self, name: str) -> None:
        super().__init__(name, Classes())
        self._origin = _here(name)

    def to_set(self) -> BindingSet:
        """The set as a value of the model: as it is now."""
        return BindingSet(self.name, self._items(), self._origin)

    @classmethod
    def of_values(cls, name: str, values: Mapping[str, Any]) -> Bindings:
        """A set that binds each name to a value: for providers that have plain data.

        >>> len(Bindings.of_values("inventory", {"rack": "r1", "dc": "ber"}).to_set().items)
        2
        """
        one = cls(name)
        for key, value in values.items():
            one.bind(key).to(value)
        return one
