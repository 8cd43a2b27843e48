"""Which declaration speaks for each key, and everything that is wrong with a composition.

A declaration stands at a position: its layer, then the categories that make it apply.
The best position of a key wins; the order in which things are declared never matters.
All faults of all keys are collected before anybody is told. It produces no value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.adapters.bindings.faults import BindingError
from nodeattrs.adapters.bindings.model import (
    NOWHERE,
    Bind,
    BindingSet,
    Dependency,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    Variables,
    When,
    faults,
    hash_of,
    is_parameter_map,
)
from nodeattrs.adapters.bindings.names import map_key, parameter_key, variable_key
from nodeattrs.adapters.bindings.producers import Attribute, Constant, Producing, Query, Ref, with_options
from nodeattrs.adapters.bindings.state import State
from nodeattrs.adapters.bindings.types import ANY, DATA, Type
from nodeattrs.adapters.bindings.world import World
from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import near

__all__ = ["CLASS_IDS", "Declaration", "Key", "Layer", "Resolution", "Warned", "resolve", "spelled_key", "standing"]

Key = tuple[str, str]
"""The kind of a type ("Data" for all data), and a name."""

CLASS_IDS = ("included_classes", "excluded_classes")
"""The ids whose fragments are includes and excludes of classes; they need no multibind."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A named list of binding sets. The name is for people only."""

    name: str
    sets: tuple[BindingSet, ...] = ()


def spelled_key(key: Key) -> str:
    """A key as messages show it.

    >>> spelled_key(("Data", "ssh::port")), spelled_key(("Type[Logger]", ""))
    ("Data, 'ssh::port'", 'Type[Logger]')
    """
    kind, name = key
    return f"{kind}, {name!r}" if name else kind


_MANY = 20_000
"""Among more keys than these nobody looks for near misses."""


class Place:
    """Where declarations stand: a layer, and a set in it."""

    __slots__ = ("layer", "number", "set")

    def __init__(self, number: int, layer: str, of: str) -> None:
        self.number = number  # the layer's rank, the greatest is the highest
        self.layer = layer
        self.set = of


class Declaration:
    """One thing that applies: a key, or a fragment, at a position.

    position: (rank of the layer, rank of the categories); the greatest wins
    mask:     the categories that made it apply
    source:   for an alias: the declaration whose producer it has; its product is shared
    lower:    for an alias: what lay below its source, for an optional source that gives nothing
    """

    __slots__ = (
        "abstract", "demands", "final", "id", "item", "key", "lower", "mask", "name", "optional", "options",
        "override", "place", "position", "producer", "source", "type",
    )  # fmt: skip

    def __init__(self, item: Item, place: Place, rank: int, mask: int, key: Key | None, of: Type) -> None:
        self.item = item
        self.place = place
        self.position = (place.number, rank)
        self.mask = mask
        self.key = key
        self.type = of
        self.name: str | None = None
        self.producer: Producing | None = None
        self.abstract = self.override = self.final = self.optional = False
        self.options: Mapping[str, Any] = {}
        self.id: str | None = None
        self.source: Declaration | None = None
        self.lower: tuple[Declaration, ...] = ()
        self.demands: tuple[Type, ...] = ()

    @property
    def origin(self) -> Origin:
        """Where it stands."""
        return self.item.origin

    @property
    def root(self) -> Declaration:
        """The declaration whose producer this one has: itself, unless it is an alias."""
        one = self
        while one.source is not None:
            one = one.source
        return one

    @property
    def is_multibind(self) -> bool:
        """Whether its value is collected."""
        return isinstance(self.root.item, Multibind)

    def flags(self) -> str:
        """Its flags in words, with a blank behind each."""
        return "".join(f"{flag} " for flag in ("abstract", "override", "final") if getattr(self, flag))

    def describe(self) -> str:
        """What it gives, in words."""
        root = self.root
        if self.abstract:
            return self.flags().strip()
        if isinstance(root.item, Multibind):
            return f"multibind {root.type}" + (f" as {root.id!r}" if root.id is not None else "")
        return root.producer.describe() if root.producer else "(no producer)"


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that is allowed and probably not meant.

    kind: "unknown-id", "shared-id"
    """

    kind: str
    message: str
    origin: Origin

    def __str__(self) -> str:
        place = self.origin.place
        return f"{place}: {self.message}" if place else self.message


@dataclass(slots=True)
class Resolution:
    """What a composition comes to for a state.

    winners:      key -> the declaration that speaks for it
    declared:     key -> all that apply, the best position first
    fragments:    id -> the fragments, highest layer first, then as declared
    inclusions:   included and excluded classes
    dependencies: those that apply, with their places
    """

    state: State
    winners: dict[Key, Declaration] = field(default_factory=dict)
    declared: dict[Key, list[Declaration]] = field(default_factory=dict)
    fragments: dict[str, list[Declaration]] = field(default_factory=dict)
    inclusions: list[tuple[Inclusion, Declaration]] = field(default_factory=list)
    dependencies: list[tuple[Dependency, Place]] = field(default_factory=list)
    faults: list[BindingError] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def said(self, one: Declaration) -> str:
        """A declaration as a line of a message."""
        where = "" if one.origin is NOWHERE else f"{one.origin}; "
        what = one.flags().strip() if one.abstract else f"{one.flags()}{one.describe()}"
        return f"{what}: {where}set {one.place.set}, layer {one.place.layer}, {self.when(one)}"

    def pairs(self) -> list[tuple[str, str, str]]:
        """(left, arrow, right) of every dependency that applies, each once."""
        return list(dict.fromkeys(pair for item, _ in self.dependencies for pair in item.pairs()))

    def when(self, one: Declaration) -> str:
        """The categories that made a declaration apply, in words."""
        return self.state.title(one.mask)


def resolve(layers: Iterable[Layer], state: State, world: World) -> Resolution:
    """Decide who speaks for each key.

    layers: highest first
    cost:   linear in the number of bindings
    source: docs/bindings.md, "Who wins"
    """
    collected = _Collected(state)
    listed = list(layers)
    for index, layer in enumerate(listed):
        for one in layer.sets:
            place = Place(len(listed) - index, layer.name, one.name)
            collected.take(one.items, place, (0,))
    collected.parameters(world)
    collected.rebind()
    collected.choose()
    collected.check_ids()
    return collected.resolution


class _Collected:
    def __init__(self, state: State) -> None:
        self.state = state
        self.resolution = Resolution(state)
        self.declared: defaultdict[Key, list[Declaration]] = defaultdict(list)
        self.rebindings: list[tuple[Rebinding, Declaration]] = []
        self.bound_parameters: list[tuple[Parameters, Declaration]] = []
        self.ids: dict[str, list[Declaration]] = {}

    # --- taking in -------------------------------------------------------------------

    def take(self, items: Iterable[Item], place: Place, masks: tuple[int, ...]) -> None:
        """Take in the items of a block. masks: the conjunctions that hold around it"""
        ranked = self.state.ranked
        mask = max(masks, key=ranked)
        rank = ranked(mask)
        for item in items:
            if type(item) is When:
                self._when(item, place, masks)
                continue
            self.resolution.faults.extend(faults(item))
            if isinstance(item, Bind):
                self._bind(item, place, rank, mask)
            else:
                self._other(item, place, rank, mask)

    def _when(self, item: When, place: Place, masks: tuple[int, ...]) -> None:
        holding = [mask for one in item.alternatives if (mask := self.state.mask(one)) is not None]
        inside = dict.fromkeys(outer | inner for outer in masks for inner in holding)
        if inside:
            self.take(item.items, place, tuple(inside))

    def _bind(self, item: Bind, place: Place, rank: int, mask: int) -> None:
        of = item.type or DATA
        key = None if item.into is not None and type(item) is not Multibind else (of.kind, item.name or "")
        one = Declaration(item, place, rank, mask, key, of)
        one.name = item.name
        one.producer = item.to
        one.abstract, one.override, one.final = item.abstract, item.override, item.final
        one.optional = item.optional
        if item.options:
            one.options = item.options
            self._with_options(one)
        if isinstance(item, Multibind):
            one.id = item.id
            if item.id is not None:
                self.ids.setdefault(item.id, []).append(one)
        if key is not None:
            self.declared[key].append(one)
        if item.into is not None:
            self.resolution.fragments.setdefault(item.into, []).append(one)

    def _with_options(self, one: Declaration) -> None:
        if one.producer is not None:
            try:
                one.producer = with_options(one.producer, one.options)
            except BindingError as error:
                self._fault(error.kind, error.message, [one])

    def _other(self, item: Item, place: Place, rank: int, mask: int) -> None:
        if isinstance(item, Inclusion):
            self.resolution.inclusions.append((item, Declaration(item, place, rank, mask, None, DATA)))
        elif isinstance(item, Variables):
            for name, value in item.values.items():
                one = self._flagged(item, place, rank, mask, variable_key(name), item.type or ANY)
                one.producer = None if item.abstract else value
                self.declared[_data(one)].append(one)
        elif isinstance(item, ParameterMap):
            one = self._flagged(item, place, rank, mask, map_key(item.lhs, item.rhs), ANY)
            one.producer = Constant(dict(item.map))
            self.declared[_data(one)].append(one)
        elif isinstance(item, Parameters):
            self._parameters(item, place, rank, mask)
        elif isinstance(item, Rebinding):
            self.rebindings.append((item, self._flagged(item, place, rank, mask, "", DATA)))
        elif isinstance(item, Dependency):
            self.resolution.dependencies.append((item, place))

    def _flagged(self, item: Any, place: Place, rank: int, mask: int, name: str, of: Type) -> Declaration:
        one = Declaration(item, place, rank, mask, ("Data", name), of)
        one.name = name
        one.abstract, one.override, one.final = item.abstract, item.override, item.final
        one.optional = item.optional
        return one

    def _parameters(self, item: Parameters, place: Place, rank: int, mask: int) -> None:
        given = hash_of(item)
        if given is None:
            self.bound_parameters.append((item, self._flagged(item, place, rank, mask, "", ANY)))
            return
        for name, value in given.items():
            producer = value if isinstance(value, Producing) else Constant(value)
            self._declare_parameter(item, place, rank, mask, str(name), producer)

    def _declare_parameter(
        self, item: Parameters, place: Place, rank: int, mask: int, name: str, producer: Producing
    ) -> None:
        one = self._flagged(item, place, rank, mask, parameter_key(item.target, name), ANY)
        one.producer = producer
        self.declared[_data(one)].append(one)

    # --- parameters that come from instances -------------------------------------------

    def parameters(self, world: World) -> None:
        """Declare each parameter that an instance, a query or another producer gives. Maps are known by now."""
        best: dict[tuple[str, str], list[tuple[Parameters, Declaration]]] = {}
        for item, at in self.bound_parameters:
            if item.to is None or item.abstract or not is_parameter_map(item.options.get("map", {})):
                continue  # a fault that was reported
            if isinstance(item.to, Constant):
                self._fault(
                    "type-mismatch", f"the parameters of {item.target} are bound to {item.to.describe()}", [at],
                    hint="give a hash, an instance, a query or a producer",
                )  # fmt: skip
                continue
            best.setdefault((str(item.target), str(_source_type(item.to))), []).append((item, at))
        for (target, source), several in best.items():
            top = max(at.position for _, at in several)
            tied = [at for _, at in several if at.position == top]
            if len(tied) > 1 and isinstance(_source_type(several[0][0].to), Type):
                self._fault("type-already-bound", f"{source} already gives the parameters of {target}", tied)
                continue
            for item, at in several:
                self._from_source(item, at, world)

    def _from_source(self, item: Parameters, at: Declaration, world: World) -> None:
        assert item.to is not None
        names = self._names(item, at, world)
        if not names:
            self._fault(
                "map-required", f"{item.to.describe()} and {item.target} have no parameter name in common", [at],
                hint=f"say which fills which: {{ map => {{ name_in_{item.target.name.lower()} => name }} }}",
            )  # fmt: skip
            return
        for left, right in names.items():
            producer = Attribute(item.to, right, item.options.get("select_result"), item.optional)
            self._declare_parameter(item, at.place, at.position[1], at.mask, left, producer)

    def _names(self, item: Parameters, at: Declaration, world: World) -> dict[str, str]:
        own = item.options.get("map")
        source = _source_type(item.to)
        left = item.target if item.target.name == "Class" else Type(item.target.name)
        mapped = self._map(left, source) if isinstance(source, Type) else None
        if mapped is not None and (own is None or mapped.position > at.position):
            assert isinstance(mapped.producer, Constant)
            return dict(mapped.producer.value)
        if own is not None:
            return dict(own) if isinstance(own, Mapping) else {name: name for name in own}
        if not isinstance(source, Type):
            return {}
        right = world.parameters(str(source)) or []
        if left == source:
            return {name: name for name in right}
        wanted = world.parameters(str(left)) or []
        return {name: name for name in wanted if name in right}

    def _map(self, left: Type, right: Type) -> Declaration | None:
        declared = self.declared.get(("Data", map_key(left, right)))
        # Two at one position are a conflict, which `choose` reports.
        return max(declared, key=lambda one: one.position) if declared else None

    # --- rebinding -----------------------------------------------------------------------

    def rebind(self) -> None:
        """Bind again what was asked to be, from the lowest position up, in the order of names at one position."""
        for item, at in sorted(self.rebindings, key=lambda pair: (pair[1].position, *map(str, _sides(pair[0])))):
            below = [one for one in self.declared.get(item.key.key, ()) if one.position < at.position]
            if not below:
                hint = _did_you_mean(item.key.key, self.declared)
                self._fault("rebind-missing", f"{item.verb} of {item.key}: nothing below binds it", [at], hint=hint)
                continue
            below.sort(key=lambda one: one.position, reverse=True)
            tied = standing(below)
            if len(tied) > 1:
                self._fault("conflict", f"{item.verb} of {item.key}: what lies below is not decided", [at, *tied])
                continue
            self._bound_again(item, at, tied[0], below)
            if item.verb == "renamed":
                gone = {id(one) for one in below}
                self.declared[item.key.key] = [one for one in self.declared[item.key.key] if id(one) not in gone]

    def _bound_again(self, item: Rebinding, at: Declaration, source: Declaration, below: list[Declaration]) -> None:
        target = item.target
        one = Declaration(item, at.place, at.position[1], at.mask, target.key, target.type or source.type)
        one.name = target.name or ""
        one.abstract = item.abstract or source.abstract
        one.final = item.final  # override says nothing new: what is bound again exists
        one.optional = source.optional
        if not one.abstract:
            one.source = source
            one.lower = tuple(other for other in below if other.position < source.position)
        self.declared[target.key].append(one)

    # --- choosing --------------------------------------------------------------------------

    def choose(self) -> None:
        """Pick the winner of each key, and find what is wrong with it."""
        winners, declared = self.resolution.winners, self.resolution.declared
        for key, several in self.declared.items():
            if not several:
                continue
            if len(several) > 1:
                several.sort(key=_position, reverse=True)
            declared[key] = several
            winner = several[0]
            if len(several) > 1:
                self._finals(key, several)
                best = standing(several)
                if len(best) > 1:
                    self._conflict(key, best)
                    continue
                winner = best[0]
                if key[1].startswith("/var/"):
                    winner.demands = tuple(one.type for one in several if one.abstract and one.type is not ANY)
            if winner.abstract:
                hint: str | None = (
                    _did_you_mean(key, self.declared) or f"bind {spelled_key(key)} in a higher layer or category"
                )
                self._fault("abstract-not-overridden", f"{spelled_key(key)} must be bound", several, hint=hint)
                continue
            if winner.override and several[-1].position == winner.position:
                hint = _did_you_mean(key, self.declared)
                self._fault("override-without-base", f"{spelled_key(key)} overrides nothing", [winner], hint=hint)
            winners[key] = winner

    def _conflict(self, key: Key, tied: list[Declaration]) -> None:
        what = "demanded" if tied[0].abstract else "bound"
        self._fault(
            "conflict", f"{spelled_key(key)} is {what} {len(tied)} times at one precedence", tied,
            hint="bind it once more in a higher layer, or in a category of its own",
        )  # fmt: skip

    def _finals(self, key: Key, several: list[Declaration]) -> None:
        top = several[0]
        for one in several:
            if one.final and top.position[0] > one.position[0]:
                self._fault("final-overridden", f"{spelled_key(key)} is final, and bound again above", [top, one])
                return

    def check_ids(self) -> None:
        """Warn of ids that nobody has, and of ids that several keys share."""
        for name, fragments in self.resolution.fragments.items():
            if name not in self.ids and name not in (*CLASS_IDS, "bindings_providers"):
                close = near(name, self.ids)
                hint = f"; did you mean {', '.join(close)}?" if close else ""
                for one in fragments:
                    message = f"no multibind has the id {name!r}: the fragment is not used{hint}"
                    self.resolution.warnings.append(Warned("unknown-id", message, one.origin))
        effective = {id(one.root) for one in self.resolution.winners.values()}
        for name, several in self.ids.items():
            keys = {one.key for one in several if id(one) in effective and one.key is not None}
            if len(keys) > 1:
                listed = " and ".join(sorted(map(spelled_key, keys)))
                message = f"the id {name!r} is shared by {listed}: both get its fragments"
                self.resolution.warnings.append(Warned("shared-id", message, several[0].origin))

    def _fault(self, kind: str, message: str, about: Iterable[Declaration], hint: str | None = None) -> None:
        listed = list(about)
        said = [self.resolution.said(one) for one in listed]
        origins = [one.origin for one in listed]
        self.resolution.faults.append(BindingError(kind, message, origins=origins, said=said, hint=hint))


def _data(one: Declaration) -> Key:
    assert one.key is not None
    return one.key


def _position(one: Declaration) -> tuple[int, int]:
    return one.position


def _sides(item: Rebinding) -> tuple[Any, Any, str]:
    return item.key, item.target, item.verb


def _source_type(of: Producing | None) -> Type | int:
    """The type that gives parameters; a number for producers whose type nobody knows before they are asked."""
    if isinstance(of, Ref):
        return Type(of.type.name) if of.is_instance else of.type
    return of.type if isinstance(of, Query) else id(of)


def standing(several: list[Declaration]) -> list[Declaration]:
    """Those of the best position: the concrete ones, or all where there is none. several: the best first"""
    best = several[0].position
    top = [one for one in several if one.position == best]
    return [one for one in top if not one.abstract] or top


def _did_you_mean(key: Key, declared: Mapping[Key, list[Declaration]]) -> str | None:
    kind, name = key
    known: Iterator[str] = (
        other for (of, other), several in declared.items() if several and of == kind and other != name
    )
    close = near(name, known) if name and len(declared) < 20_000 else []
    return f"did you mean {', '.join(close)}?" if close else None
