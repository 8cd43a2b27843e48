"""What applies for a state, and what became of it: declarations, their positions, and the resolution.

Plain records: who made them is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import Any, NamedTuple

from nodeattrs.adapters.bindings.model.faults import BindingError
from nodeattrs.adapters.bindings.model.items import (
    NOWHERE,
    Bind,
    BindingSet,
    Dependency,
    Flagged,
    Inclusion,
    Item,
    Multibind,
    When,
)
from nodeattrs.adapters.bindings.model.producers import Producing
from nodeattrs.adapters.bindings.model.state import State
from nodeattrs.adapters.bindings.model.types import Key, Type
from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.unknown import Unknown

CLASS_IDS = ("included_classes", "excluded_classes")
"""The ids whose fragments are includes and excludes of classes; they need no multibind."""
BOUND_PROVIDERS = "bindings_providers"
"""The id of the fragments that are providers of further sets; the name of each is its scheme."""
OWN_IDS = (*CLASS_IDS, BOUND_PROVIDERS)

Position = tuple[int, int]
"""The rank of a layer, and the rank of the categories; the greatest wins."""


@taking(name=str, sets=Listed)
@dataclass(frozen=True)
class Layer:
    """A named list of binding sets. The name is for people only, and so is where a site lists it."""

    name: str
    sets: tuple[BindingSet, ...] = ()
    origin: Origin | None = field(default=None, compare=False)

    @classmethod
    def unknown(cls, name: str, origin: Origin, reason: str) -> Layer:
        """A layer that is there and cannot be read, or must not be asked.

        It binds nothing; where it might decide a value, the explanation of that value says so.
        reason: why, in words: "needs a server"
        """
        return cls(name, (BindingSet.unknown(name, origin, reason),))


class Place:
    """Where declarations stand: a layer, a set in it, and because of which lines they are in effect there."""

    __slots__ = ("causes", "layer", "number", "set")

    def __init__(self, number: int, layer: str, of: str, causes: tuple[Cause, ...] = ()) -> None:
        self.causes = causes
        self.number = number  # the layer's rank, the greatest is the highest
        self.layer = layer
        self.set = of

    def when(self, item: When, listed_at: Mapping[str, Origin]) -> Place:
        """The same for what stands inside of a condition. listed_at: where its categories are listed"""
        words = " or ".join(" and ".join(" ".join(map(str, one)) for one in all_of) for all_of in item.alternatives)
        names = dict.fromkeys(str(name) for all_of in item.alternatives for name, *_ in all_of if name in listed_at)
        listed = (Cause(f"category {name} is listed", listed_at[name]) for name in names)
        return Place(self.number, self.layer, self.set, (Cause(f"when {words}", item.origin), *listed, *self.causes))


class UnknownSet(NamedTuple):
    """A set whose content is unknown, and where it stands.

    position: the best that anything in it could have
    """

    content: Unknown
    origin: Origin
    place: Place

    @property
    def position(self) -> tuple[int, float]:
        return self.place.number, inf


class Why(Enum):
    """Why a declaration does not decide its key. The value is the reason in words."""

    LAYER = "a higher layer hides what lies below"
    CATEGORY = "the higher category wins"
    CATEGORIES = "more categories win over fewer"
    FILLED = "a concrete binding fills an abstract one beside it"


class At(NamedTuple):
    """Where something applies: its place, and the categories that make it apply, as a rank and as a set."""

    place: Place
    rank: int
    mask: int


class Declaration:
    """One thing that applies: a key, or a fragment, at a position.

    source: for an alias: the declaration whose producer it has; its product is shared
    lower:  for an alias: what lay below its source, for an optional source that gives nothing
    """

    __slots__ = (
        "abstract", "at", "demands", "final", "item", "key", "lower", "optional", "override", "position", "producer",
        "source", "type",
    )  # fmt: skip

    def __init__(self, item: Item, at: At, key: Key | None, of: Type, producer: Producing | None = None) -> None:
        self.item = item
        self.at = at
        self.position: Position = (at.place.number, at.rank)
        self.key = key
        self.type = of
        self.producer = producer
        self.abstract = self.override = self.final = self.optional = False
        if isinstance(item, Flagged):
            self.abstract, self.override = item.abstract, item.override
            self.final, self.optional = item.final, item.optional
        self.source: Declaration | None = None
        self.lower: tuple[Declaration, ...] = ()
        self.demands: tuple[Type, ...] = ()

    @property
    def place(self) -> Place:
        """Its layer and its set."""
        return self.at.place

    @property
    def name(self) -> str:
        """The name that its item has; "" for none."""
        return (self.item.name or "") if isinstance(self.item, Bind) else ""

    @property
    def id(self) -> str | None:
        """The id that a multibind collects; None for all others."""
        return self.item.id if isinstance(self.item, Multibind) else None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of its item."""
        return self.item.options if isinstance(self.item, Bind) else {}

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

    @property
    def scope(self) -> str:
        """How long its product is kept: "" for ever, "none" not at all, else while the scope of that name is open."""
        named = self.options.get("scope")
        if named is not None:
            return "" if named == "singleton" else str(named)
        keeps = self.producer is None or self.options.get("singleton", self.producer.keeps)
        return "" if keeps else "none"

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


def standing(several: list[Declaration]) -> list[Declaration]:
    """Those of the best position: the concrete ones, or all where there is none. several: the best first"""
    best = several[0].position
    top = [one for one in several if one.position == best]
    return [one for one in top if not one.abstract] or top


@dataclass
class Resolution:
    """What a composition comes to for a state.

    winners:      key -> the declaration that decides it
    declared:     key -> all that apply, the best position first
    fragments:    id -> the fragments, highest layer first, then as declared
    inclusions:   included and excluded classes
    dependencies: those that apply, with their places
    unknown:      the sets that cannot be read, highest layer first
    """

    state: State
    winners: dict[Key, Declaration] = field(default_factory=dict)
    declared: dict[Key, list[Declaration]] = field(default_factory=dict)
    fragments: dict[str, list[Declaration]] = field(default_factory=dict)
    inclusions: list[tuple[Inclusion, Declaration]] = field(default_factory=list)
    dependencies: list[tuple[Dependency, Place]] = field(default_factory=list)
    faults: list[BindingError] = field(default_factory=list)
    warnings: list[BindingError] = field(default_factory=list)
    unknown: list[UnknownSet] = field(default_factory=list)

    def described(self, one: Declaration) -> str:
        """A declaration as a line of a message."""
        where = "" if one.origin is NOWHERE else f"{one.origin}; "
        what = one.flags().strip() if one.abstract else f"{one.flags()}{one.describe()}"
        return f"{what}: {where}set {one.place.set}, layer {one.place.layer}, {self.when(one)}"

    def pairs(self) -> dict[tuple[str, str, str], Origin]:
        """(left, arrow, right) of every dependency that applies, each once, and where the highest layer says so."""
        found: dict[tuple[str, str, str], Origin] = {}
        for item, _ in self.dependencies:
            for pair in item.pairs():
                found.setdefault(pair, item.origin)
        return found

    def when(self, one: Declaration) -> str:
        """The categories that made a declaration apply, in words."""
        return self.state.title(one.at.mask)
