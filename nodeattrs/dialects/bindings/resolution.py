"""Decide which declaration counts for each key, for some layers and a state.

A *declaration* is an item that applies in the state. Its *position* is the rank of its layer, then the rank of the
categories that make it apply. The declaration at the best position decides its key; the order of items never matters.
`resolve` declares all items, then parameters that come from instances, then rebindings, and chooses a declaration for
each key. `resolve` collects all faults and raises none. No value is made here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf
from typing import Any, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Cause, LocatorBelow, Origin
from nodeattrs.core.tree import hint_for, near
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.bindings.codes import (
    ABSTRACT_NOT_OVERRIDDEN,
    CONFLICT,
    FINAL_OVERRIDDEN,
    MAP_REQUIRED,
    OVERRIDE_WITHOUT_BASE,
    REBIND_MISSING,
    SHARED_ID,
    TYPE_ALREADY_BOUND,
    TYPE_MISMATCH,
    UNKNOWN_ID,
)
from nodeattrs.dialects.bindings.model.faults import BindingError
from nodeattrs.dialects.bindings.model.items import (
    NOWHERE,
    Bind,
    BindingSet,
    BoundVariables,
    Dependency,
    FlaggedItem,
    Inclusion,
    Item,
    Multibind,
    ParameterMap,
    Parameters,
    Rebinding,
    WhenItem,
    faults,
    hash_of,
    is_parameter_map,
)
from nodeattrs.dialects.bindings.model.producers import (
    Attribute,
    Constant,
    InstanceOfType,
    ProducerBase,
    Query,
    Ref,
    with_options,
)
from nodeattrs.dialects.bindings.model.state import Objects, State
from nodeattrs.dialects.bindings.model.types import (
    ANY,
    DATA,
    Key,
    Type,
    map_key,
    parameter_key,
    spelled_key,
    variable_key,
)

CLASS_IDS = ("included_classes", "excluded_classes")
"""The ids whose fragments are names of included and excluded classes; they need no multibind."""
BOUND_PROVIDERS = "bindings_providers"
"""The id of the fragments that are providers of further sets; the name of each is its scheme."""

Position = tuple[int, int]
"""The rank of a layer, and the rank of the categories; the greatest wins."""


@checked_args(name=str, sets=ListLike)
@dataclass(frozen=True)
class Layer:
    """A named list of binding sets; all of its declarations override those of the layers below it.

    name:   for messages
    sets:   in any order, which has no effect on who wins
    origin: the line of a site that lists the layer; None for none

    `unknown` makes a layer that cannot be read.
    """

    name: str
    sets: tuple[BindingSet, ...] = ()
    origin: Origin | None = field(default=None, compare=False)

    @classmethod
    def unknown(cls, name: str, origin: Origin, reason: str) -> Layer:
        """A layer that exists and cannot be read, or must not be asked: it binds nothing, and might bind any key.

        An explanation names the layer where it might decide the value.
        origin: its place
        reason: why it cannot be read, in words: "needs a server"
        """
        return cls(name, (BindingSet.unknown(name, origin, reason),))


@dataclass(frozen=True, slots=True)
class DeclarationPlace:
    """The place of declarations: a layer, a set of the layer, and the conditions around them.

    number: the rank of the layer; the highest layer has the greatest number
    layer, set: their names, for messages
    causes: the lines because of which the place is in effect: conditions, and lists of layers and categories
    mask:   the categories that make a declaration apply (`State.mask`)
    rank:   the rank of those categories (`State.ranked`); the greatest wins

    `when` makes the place inside of a condition, with the mask and rank 0.
    """

    number: int
    layer: str
    set: str
    causes: tuple[Cause, ...] = ()
    mask: int = 0
    rank: int = 0

    def when(self, item: WhenItem, listed_at: Mapping[str, Origin]) -> DeclarationPlace:
        """The place inside of a condition, with the mask and rank 0.

        Its causes begin with the line of the condition, and the lines that list the categories of the condition.
        listed_at: category -> the line of the site that lists it
        """
        words = " or ".join(" and ".join(" ".join(map(str, one)) for one in all_of) for all_of in item.alternatives)
        names = dict.fromkeys(str(name) for all_of in item.alternatives for name, *_ in all_of if name in listed_at)
        listed = (Cause(f"category {name} is listed", listed_at[name]) for name in names)
        return DeclarationPlace(
            self.number, self.layer, self.set, (Cause(f"when {words}", item.origin), *listed, *self.causes)
        )


class _OpenBlock(NamedTuple):
    """A block with a condition on a category that has no value, so that it is not known whether the block is in effect.

    `keys` are the names that it may bind; None if they are not known.
    item:  the block, with its items
    place: the layer and set of the block
    names: the categories without a value
    """

    item: WhenItem
    place: DeclarationPlace
    names: tuple[str, ...]

    @property
    def keys(self) -> set[str] | None:
        """The names of the keys that the block may bind; None where they are not known, as with parameters."""
        inside = [*BindingSet("", self.item.items).every()]
        names = {one.name for one in inside if isinstance(one, Bind)}
        binds_names = all(isinstance(one, (Bind, WhenItem, Inclusion, Dependency)) for one in inside)
        is_closed = binds_names and None not in names
        return {str(name) for name in names} if is_closed else None


class UnknownSet(NamedTuple):
    """A set that cannot be read, and its place.

    value:    the name of the set, and the reason why it cannot be read
    origin:   the place of the set
    place:    the layer of the set
    position: a position above all declarations of its layer, since a declaration in the set could have any position
              there
    """

    value: Unknown
    origin: Origin
    place: DeclarationPlace

    @property
    def position(self) -> tuple[int, float]:
        return self.place.number, inf


class Reason(Enum):
    """Why one declaration of a key is better than another. The value of a member is the reason in words."""

    LAYER = "a higher layer hides what lies below"
    CATEGORY = "the higher category wins"
    CATEGORIES = "more categories win over fewer"
    FILLED = "a concrete binding fills an abstract one beside it"


class Declaration:
    """An item that is in effect, at a position: it declares a key, is a fragment, or includes or excludes classes.

    `resolve` makes it, and sets `source`, `lower` and `demands`.

    `name`, `origin` and `options` are the name, the line and the options of the item. `root` is the declaration that
    has the producer, behind any rebindings. `words`, `label`, `flags` and `describe` return texts for messages.
    `scope` says how long the product is kept: "" as long as the injector, "none" not at all, any other name as long
    as the scope with that name. `is_multibind` says whether the value is collected from fragments, and `id` is the id
    of the fragments; None if it is not. `constant` is the constant that the value is a copy of, or None.
    item:     the item
    place:    the layer and conditions of the item
    position: (rank of the layer, rank of the categories); the greater position wins
    key:      (kind, name); None for a fragment, and for an include or exclude of classes
    type:     the type that the value must conform to
    producer: how the value is made; None for an abstract declaration, a multibind and a rebinding
    abstract, override, final, optional: the flags of the item. `resolve` adds flags of the source to a rebinding
    source:   for a rebinding, the declaration whose producer and product it uses; None for all others
    lower:    for a rebinding, the declarations below its source; they are tried if an optional source gives nothing
    demands:  for a variable, the types that abstract declarations of it require
    """

    __slots__ = (
        "abstract", "demands", "final", "item", "key", "lower", "optional", "override", "place", "position", "producer",
        "source", "type",
    )  # fmt: skip

    def __init__(
        self, item: Item, place: DeclarationPlace, key: Key | None, of: Type, producer: ProducerBase | None = None
    ) -> None:
        self.item = item
        self.place = place
        self.position: Position = (place.number, place.rank)
        self.key = key
        self.type = of
        self.producer = producer
        self.abstract = self.override = self.final = self.optional = False
        if isinstance(item, FlaggedItem):
            self.abstract, self.override = item.abstract, item.override
            self.final, self.optional = item.final, item.optional
        self.source: Declaration | None = None
        self.lower: tuple[Declaration, ...] = ()
        self.demands: tuple[Type, ...] = ()

    @property
    def name(self) -> str:
        """The name in the item: of the key, or of a fragment of a hash; "" for none."""
        return (self.item.name or "") if isinstance(self.item, Bind) else ""

    @property
    def id(self) -> str | None:
        """The id of a multibind; None for any other declaration."""
        return self.item.id if isinstance(self.item, Multibind) else None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the item; {} for an item without options."""
        return self.item.options if isinstance(self.item, Bind) else {}

    @property
    def origin(self) -> Origin:
        """The origin of the item: its file and line."""
        return self.item.origin

    @property
    def words(self) -> str:
        """The declaration in messages: its key, or "a fragment of 'ID'"."""
        if self.key is not None:
            return spelled_key(self.key)
        return f"a fragment of {self.item.into!r}" if isinstance(self.item, Bind) else "an item without a key"

    @property
    def label(self) -> str:
        """The declaration in one word, for messages: the name in its key, or the type if the key has no name.

        Without a key, it is `words`.
        """
        if self.key is None:
            return self.words
        kind, name = self.key
        return name or kind.removeprefix("Type[").removesuffix("]" * kind.startswith("Type["))

    @property
    def root(self) -> Declaration:
        """The declaration that has the producer: this one, or the one behind all rebindings."""
        one = self
        while one.source is not None:
            one = one.source
        return one

    @property
    def is_multibind(self) -> bool:
        """Whether the value is collected from fragments."""
        return isinstance(self.root.item, Multibind)

    @property
    def constant(self) -> Constant | None:
        """The constant that the value is a copy of; None for an abstract declaration, a multibind, another producer."""
        producer = None if self.abstract or self.is_multibind else self.root.producer
        return producer if isinstance(producer, Constant) else None

    @property
    def scope(self) -> str:
        """How long the product is kept: "" with the injector, "none" not at all, else with the scope of that name.

        The option `scope` of the item counts first ("singleton" gives ""), then its option `singleton`, then what the
        producer `keeps`. It is "" without a producer.
        """
        named = self.options.get("scope")
        if named is not None:
            return "" if named == "singleton" else str(named)
        keeps = self.producer is None or self.options.get("singleton", self.producer.keeps)
        return "" if keeps else "none"

    def flags(self) -> str:
        """The flags abstract, override and final in words, each followed by a blank; "" for none."""
        return "".join(f"{flag} " for flag in ("abstract", "override", "final") if getattr(self, flag))

    def describe(self) -> str:
        """What gives the value, in words: the producer, "multibind TYPE as ID", or the flags if it is abstract."""
        root = self.root
        if self.abstract:
            return self.flags().strip()
        if isinstance(root.item, Multibind):
            return f"multibind {root.type}" + (f" as {root.id!r}" if root.id is not None else "")
        return root.producer.describe() if root.producer else "(no producer)"


def best_ones(several: list[Declaration]) -> list[Declaration]:
    """The declarations at the best position: the concrete ones, or the abstract ones if none is concrete.

    More than one is a conflict.

    several: at least one, the best position first
    """
    best = several[0].position
    top = [one for one in several if one.position == best]
    return [one for one in top if not one.abstract] or top


@dataclass
class Resolution:
    """The result of `resolve`: the declarations in effect for a state, and the one that decides each key.

    A key is (kind, name). `unread_blocks` yields each block of *open* that may change a key, with its keys. Blocks are
    left out if higher layers decide all of their keys. `described` returns a declaration in words, and `when` only its
    categories. `pairs` maps each pair of resources that depend on each other to a line.
    state:        the categories of the request
    winners:      key -> the declaration that decides it; a key whose own declarations are wrong is missing
    declared:     key -> all declarations of it, the best position first
    fragments:    id -> the fragments, the highest layer first, then in the order of the items
    inclusions:   (item, its declaration) for each include and exclude of classes
    dependencies: the `Dependency` items that are in effect, the highest layer first
    faults, warnings: errors; `key` of an error is the key that it is about, or None
    unknown:      the sets that cannot be read, the highest layer first
    open:         the blocks with a condition on a category that has no value
    """

    state: State
    winners: dict[Key, Declaration] = field(default_factory=dict)
    declared: dict[Key, list[Declaration]] = field(default_factory=dict)
    fragments: dict[str, list[Declaration]] = field(default_factory=dict)
    inclusions: list[tuple[Inclusion, Declaration]] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)
    faults: list[BindingError] = field(default_factory=list)
    warnings: list[BindingError] = field(default_factory=list)
    unknown: list[UnknownSet] = field(default_factory=list)
    open: list[_OpenBlock] = field(default_factory=list)

    def unread_blocks(self) -> Iterator[Unread]:
        """Yield the open blocks as unread places, with the keys that each may set; no keys if they are not known.

        A block is left out if layers above its own decide all of its keys.
        """
        for one in self.open:
            keys = one.keys
            paths = tuple((key,) for key in sorted(keys or ()) if self._layer_of(key) <= one.place.number)
            if keys is None or paths:
                reason = f"may count: the category {' and '.join(one.names)} has no value"
                yield Unread(one.item.origin.place or one.place.set, reason, paths, "block")

    def _layer_of(self, name: str) -> int:
        """The rank of the layer that decides a name of data; -1 where nothing is bound."""
        winner = self.winners.get(("Data", name))
        return -1 if winner is None else winner.place.number

    def described(self, one: Declaration) -> str:
        """A declaration as a line of a message: what is bound, its place, set, layer and categories."""
        where = "" if one.origin is NOWHERE else f"{one.origin}; "
        what = one.flags().strip() if one.abstract else f"{one.flags()}{one.describe()}"
        return f"{what}: {where}set {one.place.set}, layer {one.place.layer}, {self.when(one)}"

    def pairs(self) -> dict[tuple[str, str, str], Origin]:
        """(left, arrow, right) -> the line that orders this pair of resources; of several, the highest layer's line."""
        found: dict[tuple[str, str, str], Origin] = {}
        for item in self.dependencies:
            for pair in item.pairs():
                found.setdefault(pair, item.origin)
        return found

    def when(self, one: Declaration) -> str:
        """The categories that make a declaration apply, in words: "node kermit + virtual true", "common"."""
        return self.state.title(one.place.mask)


_MANY = 50_000
"""The keys that one resolution compares for near misses; after that it looks for no further ones."""


def resolve(layers: Iterable[Layer], state: State, objects: Objects) -> Resolution:
    """The resolution of layers for a state. Errors are added to its faults, and are not raised.

    layers:  the highest first
    objects: has the names of the parameters of types
    cost:    linear in the number of bindings
    source:  docs/bindings.md, "Which declaration wins"
    """
    table = _DeclarationTable(state)
    table.declare_layers(list(layers))
    _declare_parameters(table, objects)
    _declare_rebindings(table)
    _choose(table)
    _check_ids(table)
    return table.resolution


class _DeclarationTable:
    """The declarations of some layers for a state, while `resolve` runs.

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
        self._looked_at = 0

    def declare_layers(self, layers: list[Layer]) -> None:
        """Declare the items that are in effect. layers: the highest first"""
        for index, layer in enumerate(layers):
            listed = () if layer.origin is None else (Cause(f"layer {layer.name} is listed", layer.origin),)
            for one in layer.sets:
                place = DeclarationPlace(len(layers) - index, layer.name, one.name, listed)
                if one.unread:
                    self.resolution.unknown.append(UnknownSet(Unknown(one.name, one.unread), one.origin, place))
                self._block(one.items, place, (0,))

    def declare(self, item: Item, place: DeclarationPlace, name: str, of: Type, producer: ProducerBase | None) -> None:
        """Declare a name among the data, with the flags of its item."""
        self.declared["Data", name].append(Declaration(item, place, ("Data", name), of, producer))

    def fault(self, kind: Kind, message: str, about: Iterable[Declaration], hint: str | None = None) -> None:
        """Note an error with the declarations that the error is about, the strongest first."""
        listed = list(about)
        details = [self.resolution.described(one) for one in listed]
        origins = [one.origin for one in listed]
        error = BindingError(kind, message, origins=origins, details=details, hint=hint)
        error.key = listed[0].key
        self.resolution.faults.append(error)

    def near_misses(self, key: Key) -> str | None:
        """A hint with similar names of the same kind; None for none, and after many keys."""
        kind, name = key
        self._looked_at += len(self.declared)
        if not name or self._looked_at > _MANY:
            return None
        known = (other for (of, other), several in self.declared.items() if several and of == kind and other != name)
        return hint_for(name, known)

    # --- items -----------------------------------------------------------------------------

    def _block(self, items: Iterable[Item], place: DeclarationPlace, masks: tuple[int, ...]) -> None:
        """Declare the items of a block. masks: the conjunctions that hold around the block"""
        ranked = self.state.ranked
        mask = max(masks, key=ranked)
        at = replace(place, mask=mask, rank=ranked(mask))
        for item in items:
            if type(item) is WhenItem:
                self._when(item, place, masks)
                continue
            self.resolution.faults.extend(faults(item))
            if isinstance(item, Bind):
                self._bind(item, at)
            else:
                self._other(item, at)

    def _when(self, item: WhenItem, place: DeclarationPlace, masks: tuple[int, ...]) -> None:
        holding = [mask for one in item.alternatives if (mask := self.state.mask(one)) is not None]
        inside = dict.fromkeys(outer | inner for outer in masks for inner in holding)
        if inside:
            self._block(item.items, place.when(item, self.state.listed_at), tuple(inside))
        elif names := self._without_value(item):
            self.resolution.open.append(_OpenBlock(item, place, names))

    def _without_value(self, item: WhenItem) -> tuple[str, ...]:
        """The categories without a value because of which a condition does not hold; `node` is never among them."""
        for alternative in item.alternatives:
            names = [name for name, _ in alternative if name != "node" and self.state.is_open(name)]
            if names:
                return tuple(names)
        return ()

    def _bind(self, item: Bind, at: DeclarationPlace) -> None:
        """Declare a binding, or add a fragment or the id of a multibind."""
        is_fragment = item.into is not None and type(item) is not Multibind
        of = item.type or (ANY if is_fragment else DATA)  # its multibind checks the type of a fragment
        key = None if is_fragment else (of.kind, item.name or "")
        one = Declaration(item, at, key, of, item.to)
        if item.options and item.to is not None:
            try:
                one.producer = with_options(item.to, item.options)
            except BindingError as error:
                self.fault(error.kind, error.message, [one])
        if one.id is not None:
            self.ids.setdefault(one.id, []).append(one)
        if key is not None:
            self.declared[key].append(one)
        if item.into is not None:
            self.resolution.fragments.setdefault(item.into, []).append(one)

    def _other(self, item: Item, at: DeclarationPlace) -> None:
        match item:
            case Inclusion():
                self.resolution.inclusions.append((item, Declaration(item, at, None, DATA)))
            case BoundVariables():
                for name, value in item.values.items():
                    self.declare(item, at, variable_key(name), item.type or ANY, None if item.abstract else value)
            case ParameterMap():
                self.declare(item, at, map_key(item.lhs, item.rhs), ANY, Constant(dict(item.map)))
            case Parameters():
                self._parameters(item, at)
            case Rebinding():
                self.rebindings.append((item, Declaration(item, at, ("Data", ""), DATA)))
            case Dependency():
                self.resolution.dependencies.append(item)

    def _parameters(self, item: Parameters, at: DeclarationPlace) -> None:
        """Declare the parameters of a hash one by one; another source waits for `_declare_parameters`."""
        given = hash_of(item)
        if given is None:
            self.sources.append((item, Declaration(item, at, ("Data", ""), ANY)))
            return
        for name, value in given.items():
            producer = value if isinstance(value, ProducerBase) else _entry_of(item, name, value)
            self.declare(item, at, parameter_key(item.target, str(name)), ANY, producer)


def _entry_of(item: Parameters, name: Any, value: Any) -> Constant:
    """The producer of one parameter of a hash, with the place of the entry."""
    places = item.to.places if isinstance(item.to, Constant) else None
    return Constant(value, places=None if places is None else LocatorBelow(places, (name,)))


def _declare_rebindings(table: _DeclarationTable) -> None:
    """Declare all aliases, renamed and rebound keys, from the lowest position up."""
    for item, at in sorted(table.rebindings, key=_rebinding_order):
        below = [one for one in table.declared.get(item.key.key, ()) if one.position < at.position]
        if not below:
            hint = table.near_misses(item.key.key)
            table.fault(REBIND_MISSING, f"{item.verb} of {item.key}: nothing below binds it", [at], hint=hint)
            continue
        below.sort(key=lambda one: one.position, reverse=True)
        tied = best_ones(below)
        if len(tied) > 1:
            table.fault(CONFLICT, f"{item.verb} of {item.key}: what lies below is not decided", [at, *tied])
            continue
        one = _rebound(item, at, tied[0], below)
        table.declared[item.target.key].append(one)
        if item.verb == "renamed":
            table.declared[item.key.key] = [one for one in table.declared[item.key.key] if one not in below]


def _rebinding_order(rebinding: tuple[Rebinding, Declaration]) -> tuple[Position, str, str, str]:
    item, at = rebinding
    return at.position, str(item.key), str(item.target), item.verb


def _rebound(item: Rebinding, at: Declaration, source: Declaration, below: list[Declaration]) -> Declaration:
    """The declaration of a rebinding, which shares the producer of its source; an abstract one has no source."""
    target = item.target
    one = Declaration(item, at.place, target.key, target.type or source.type)
    one.abstract = item.abstract or source.abstract
    one.final = item.final  # override needs no check: the source is below
    one.optional = source.optional
    if not one.abstract:
        one.source = source
        one.lower = tuple(other for other in below if other.position < source.position)
    return one


def _choose(table: _DeclarationTable) -> None:
    """Put the declaration that decides each key into the winners of the resolution; note the faults of keys.

    A key has no winner where declarations conflict, and where the best one is abstract.
    """
    resolution = table.resolution
    for key, several in table.declared.items():
        if not several:
            continue
        resolution.declared[key] = several
        winner = several[0] if len(several) == 1 else _best(table, key, several)
        if winner is None:
            continue
        if winner.abstract:
            hint = table.near_misses(key) or _unread(table) or f"{_line_for(key)} in a higher layer or category"
            table.fault(ABSTRACT_NOT_OVERRIDDEN, f"{spelled_key(key)} must be bound", several, hint=hint)
            continue
        is_lowest = several[-1].position == winner.position and not any(one.abstract for one in several)
        if winner.override and is_lowest:
            message = f"{spelled_key(key)} overrides nothing"
            table.fault(OVERRIDE_WITHOUT_BASE, message, [winner], hint=table.near_misses(key) or _unread(table))
        resolution.winners[key] = winner


def _best(table: _DeclarationTable, key: Key, several: list[Declaration]) -> Declaration | None:
    """The declaration of the best position; None for a conflict, which is noted."""
    several.sort(key=lambda one: one.position, reverse=True)
    _check_finals(table, key, several)
    best = best_ones(several)
    if len(best) > 1:
        what = "demanded" if best[0].abstract else "bound"
        table.fault(
            CONFLICT, f"{spelled_key(key)} is {what} {len(best)} times at one precedence", best,
            hint="bind it once more in a higher layer, or in a category of its own",
        )  # fmt: skip
        return None
    winner = best[0]
    if key[1].startswith("/var/"):
        winner.demands = tuple(one.type for one in several if one.abstract and one.type is not ANY)
    return winner


def reason_above(upper: Declaration, lower: Declaration) -> Reason:
    """The reason why the position of *upper* is better than the position of *lower*. The positions must not be equal.

    `Reason.LAYER` for a higher layer; `Reason.CATEGORIES` where *upper* has all categories of *lower*, and further
    ones that rank below them; else `Reason.CATEGORY`, since the highest category that differs ranks higher.
    """
    if upper.position[0] != lower.position[0]:
        return Reason.LAYER
    above, below = upper.position[1], lower.position[1]
    lowest = below & -below
    return Reason.CATEGORIES if below and above - below < lowest and above & below == below else Reason.CATEGORY


def _check_finals(table: _DeclarationTable, key: Key, several: list[Declaration]) -> None:
    """Note a final declaration that a higher layer binds again."""
    top = several[0]
    for one in several:
        if one.final and top.position[0] > one.position[0]:
            table.fault(FINAL_OVERRIDDEN, f"{spelled_key(key)} is final, and bound again above", [top, one])
            return


_OWN_NAMES = (
    (re.compile("/var/(.+)"), "bind variables to {{ {0} => ... }}"),
    (re.compile(r"/param/(?:Class\[(.+)\]|(.+))/(.+)"), "bind parameters {0} to {{ {1} => ... }}"),
    (re.compile("/map/(.+)/(.+)"), "bind map {0} to {1} {{ ... }}"),
)


def _line_for(key: Key) -> str:
    """The source line that would bind a key; for a name of the library the item that binds it."""
    for pattern, line in _OWN_NAMES:
        if found := pattern.fullmatch(key[1]):
            return line.format(*filter(None, found.groups()))
    return f"bind {spelled_key(key)}"


def _unread(table: _DeclarationTable) -> str | None:
    """The hint that an unread set may bind the key; None where all sets were read."""
    names = ", ".join(one.value.name for one in table.resolution.unknown)
    return f"it may be bound in what cannot be read: {names}" if names else None


def _check_ids(table: _DeclarationTable) -> None:
    """Warn of fragments for unknown ids, and of ids that several keys share."""
    warnings = table.resolution.warnings
    for name, fragments in table.resolution.fragments.items():
        if name not in table.ids and name not in (*CLASS_IDS, BOUND_PROVIDERS):
            close = near(name, table.ids)
            hint = f"; did you mean {', '.join(close)}?" if close else ""
            message = f"no multibind has the id {name!r}: the fragment is not used{hint}"
            warnings.extend(BindingError(UNKNOWN_ID, message, origins=[one.origin]) for one in fragments)
    effective = {one.root for one in table.resolution.winners.values()}
    for name, several in table.ids.items():
        keys = {one.key for one in several if one in effective and one.key is not None}
        if len(keys) > 1:
            listed = " and ".join(sorted(map(spelled_key, keys)))
            message = f"the id {name!r} is shared by {listed}: both get its fragments"
            warnings.append(BindingError(SHARED_ID, message, origins=[several[0].origin]))


_Bound = tuple[Parameters, Declaration]
"""Parameters that are bound to a source, and their declaration."""


def _declare_parameters(table: _DeclarationTable, objects: Objects) -> None:
    """Declare each parameter that a source gives; two sources of one type at the best position are a fault."""
    for (target, source), several in _by_source(table).items():
        top = max(at.position for _, at in several)
        tied = [at for _, at in several if at.position == top]
        if len(tied) > 1 and isinstance(_source_type(several[0][0].to), Type):
            table.fault(TYPE_ALREADY_BOUND, f"{source} already gives the parameters of {target}", tied)
            continue
        for item, at in several:
            _from_source(table, item, at, objects)


def _by_source(table: _DeclarationTable) -> dict[tuple[str, str], list[_Bound]]:
    """Parameters with a source by (target, source); those with a fault are left out."""
    found: dict[tuple[str, str], list[_Bound]] = {}
    for item, at in table.sources:
        if item.to is None or item.abstract or not is_parameter_map(item.options.get("map", {})):
            continue  # `faults` reports it
        if isinstance(item.to, Constant):
            table.fault(
                TYPE_MISMATCH, f"the parameters of {item.target} are bound to {item.to.describe()}", [at],
                hint="give a hash, an instance, a query or a producer",
            )  # fmt: skip
            continue
        found.setdefault((str(item.target), str(_source_type(item.to))), []).append((item, at))
    return found


def _from_source(table: _DeclarationTable, item: Parameters, at: Declaration, objects: Objects) -> None:
    """Declare each parameter that a source gives; none in common is noted as an error."""
    assert item.to is not None
    names = _names(table, item, at, objects)
    if not names:
        table.fault(
            MAP_REQUIRED, f"{item.to.describe()} and {item.target} have no parameter name in common", [at],
            hint=f"say which fills which: {{ map => {{ name_in_{item.target.name.lower()} => name }} }}",
        )  # fmt: skip
    for left, right in names.items():
        producer = Attribute(item.to, right, item.options.get("select_result"), item.optional)
        table.declare(item, at.place, parameter_key(item.target, left), ANY, producer)


def _names(table: _DeclarationTable, item: Parameters, at: Declaration, objects: Objects) -> dict[str, str]:
    """Parameter of the target -> parameter of the source that fills it; {} where no names match."""
    own = item.options.get("map")
    source = _source_type(item.to)
    left = item.target if item.target.name == "Class" else Type(item.target.name)
    maps = table.declared.get(("Data", map_key(left, source)), ()) if isinstance(source, Type) else ()
    # Two at one position are a conflict, which is reported when the winner is chosen.
    mapped = max(maps, key=lambda one: one.position, default=None)
    if mapped is not None and (own is None or mapped.position > at.position):
        assert isinstance(mapped.producer, Constant)
        return dict(mapped.producer.value)
    if own is not None:
        return dict(own) if isinstance(own, Mapping) else {name: name for name in own}
    if not isinstance(source, Type):
        return {}
    right = objects.parameters(str(source)) or []
    wanted = right if left == source else objects.parameters(str(left)) or []
    return {name: name for name in wanted if name in right}


def _source_type(of: ProducerBase | None) -> Type | int:
    """The type whose instances give the parameters; for other producers a number that is unique."""
    if isinstance(of, InstanceOfType):
        return Type("Type", (of.of,))
    if isinstance(of, Ref):
        return Type(of.type.name) if of.type.is_instance else of.type
    return of.type if isinstance(of, Query) else id(of)
