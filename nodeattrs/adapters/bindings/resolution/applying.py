"""What applies: the items of all layers become declarations at their positions.

What has to wait until all of them are known (parameters that come from instances, rebindings)
is put aside here for the modules beside this one. It decides nothing between two of a key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import (
    Bind,
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
)
from nodeattrs.adapters.bindings.model.keys import Key, map_key, parameter_key, variable_key
from nodeattrs.adapters.bindings.model.producers import Constant, Producing, with_options
from nodeattrs.adapters.bindings.model.state import State
from nodeattrs.adapters.bindings.model.types import ANY, DATA, Type
from nodeattrs.adapters.bindings.resolution.declarations import Declaration, Layer, Place, Resolution, UnknownSet
from nodeattrs.core.claim import Below, Cause
from nodeattrs.core.tree import near
from nodeattrs.core.unknown import Unknown

_MANY = 20_000
"""Among more keys than these nobody looks for near misses."""


class Applied:
    """What applies of some layers for a state, while it is being resolved.

    declared:   key -> its declarations, as they come
    rebindings: keys to be bound again, each with the position it is set at
    sources:    parameters that an instance, a query or another producer gives
    ids:        id -> the multibinds that have it
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.resolution = Resolution(state)
        self.declared: defaultdict[Key, list[Declaration]] = defaultdict(list)
        self.rebindings: list[tuple[Rebinding, Declaration]] = []
        self.sources: list[tuple[Parameters, Declaration]] = []
        self.ids: dict[str, list[Declaration]] = {}

    def take(self, layers: list[Layer]) -> None:
        """Take in all that applies. layers: highest first"""
        for index, layer in enumerate(layers):
            listed = () if layer.origin is None else (Cause(f"layer {layer.name} is listed", layer.origin),)
            for one in layer.sets:
                place = Place(len(layers) - index, layer.name, one.name, listed)
                if one.unread:
                    self.resolution.unknown.append(UnknownSet(Unknown(one.name, one.unread), one.origin, place))
                self._block(one.items, place, (0,))

    def declare(self, item: Any, at: Declaration | tuple[Place, int, int], name: str, of: Type) -> Declaration:
        """Declare a name among the data, with the flags of its item. at: a position, or a declaration there"""
        place, rank, mask = (at.place, at.position[1], at.mask) if isinstance(at, Declaration) else at
        one = _flagged(item, place, rank, mask, name, of)
        self.declared["Data", name].append(one)
        return one

    def fault(self, kind: str, message: str, about: Iterable[Declaration], hint: str | None = None) -> None:
        """Note something that is wrong, with all whom it is about."""
        listed = list(about)
        said = [self.resolution.said(one) for one in listed]
        origins = [one.origin for one in listed]
        self.resolution.faults.append(BindingError(kind, message, origins=origins, said=said, hint=hint))

    def near_misses(self, key: Key) -> str | None:
        """A hint with the names of the same kind that look like this one."""
        kind, name = key
        if not name or len(self.declared) >= _MANY:
            return None
        known = (other for (of, other), several in self.declared.items() if several and of == kind and other != name)
        close = near(name, known)
        return f"did you mean {', '.join(close)}?" if close else None

    # --- items -----------------------------------------------------------------------------

    def _block(self, items: Iterable[Item], place: Place, masks: tuple[int, ...]) -> None:
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
                self._other(item, (place, rank, mask))

    def _when(self, item: When, place: Place, masks: tuple[int, ...]) -> None:
        holding = [mask for one in item.alternatives if (mask := self.state.mask(one)) is not None]
        inside = dict.fromkeys(outer | inner for outer in masks for inner in holding)
        if inside:
            self._block(item.items, place.when(item), tuple(inside))

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
                self.fault(error.kind, error.message, [one])

    def _other(self, item: Item, at: tuple[Place, int, int]) -> None:
        match item:
            case Inclusion():
                self.resolution.inclusions.append((item, Declaration(item, *at, None, DATA)))
            case Variables():
                for name, value in item.values.items():
                    one = self.declare(item, at, variable_key(name), item.type or ANY)
                    one.producer = None if item.abstract else value
            case ParameterMap():
                self.declare(item, at, map_key(item.lhs, item.rhs), ANY).producer = Constant(dict(item.map))
            case Parameters():
                self._parameters(item, at)
            case Rebinding():
                self.rebindings.append((item, _flagged(item, *at, "", DATA)))
            case Dependency():
                self.resolution.dependencies.append((item, at[0]))

    def _parameters(self, item: Parameters, at: tuple[Place, int, int]) -> None:
        given = hash_of(item)
        if given is None:
            self.sources.append((item, _flagged(item, *at, "", ANY)))
            return
        for name, value in given.items():
            one = self.declare(item, at, parameter_key(item.target, str(name)), ANY)
            one.producer = value if isinstance(value, Producing) else _entry_of(item, name, value)


def _entry_of(item: Parameters, name: Any, value: Any) -> Constant:
    """One parameter, which knows where it stands in the hash."""
    places = item.to.places if isinstance(item.to, Constant) else None
    return Constant(value, places=None if places is None else Below(places, (name,)))


def _flagged(item: Any, place: Place, rank: int, mask: int, name: str, of: Type) -> Declaration:
    one = Declaration(item, place, rank, mask, ("Data", name), of)
    one.name = name
    one.abstract, one.override, one.final = item.abstract, item.override, item.final
    one.optional = item.optional
    return one
