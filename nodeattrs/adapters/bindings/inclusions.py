"""Who includes and excludes classes: the account of the key `/classes`, which no declaration binds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nodeattrs.adapters.bindings.model.keys import CLASSES
from nodeattrs.adapters.bindings.production.maker import ValueMaker, decided
from nodeattrs.adapters.bindings.resolution.choosing import why_above
from nodeattrs.adapters.bindings.resolution.declarations import Declaration, Position, UnknownSet
from nodeattrs.adapters.bindings.tracing import Spoken, title_of
from nodeattrs.core.claim import Cause, Claim, Words
from nodeattrs.core.trace import Element, Outcome, Trace, TraceClaim
from nodeattrs.core.tree import Path


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An include or exclude of one class.

    counts: whether it is what decides about the class
    """

    rank: int
    excluded: bool
    name: str
    at: Declaration
    counts: bool
    title: str

    @property
    def words(self) -> str:
        """What it says."""
        return f"{'exclude' if self.excluded else 'include'} {self.name}"

    def claim(self, path: Path) -> Claim:
        """It as a claim about a path."""
        return Claim((CLASSES, *path), Words(self.words), self.rank, self.at.origin)


@dataclass(frozen=True, slots=True)
class Inclusions:
    """Every include and exclude that applies, in the order in which they are said; the strongest has the best rank.

    unknown: the sets that cannot be read: they may hold further ones
    """

    said: tuple[Inclusion, ...]
    unknown: tuple[UnknownSet, ...] = ()
    ties: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def innermost(self) -> Inclusions:
        """Itself: it hands nothing on."""
        return self

    def trace(self, path: Path, value: object) -> Trace:
        """Who includes the classes, or the one at a path; and who is overridden."""
        titles = {one.rank: one.title for one in self.said}
        titles |= {self.rank_of(one): one.place.layer for one in self.unknown}
        about = [one for one in self.said if not path or one.name == value]
        order = sorted(about, key=lambda one: (one.counts, one.rank), reverse=True)
        outcome = Outcome.WINS if sum(one.counts for one in about) == 1 else Outcome.JOINS
        claims = tuple(
            TraceClaim(one.claim(path), outcome)
            if one.counts
            else TraceClaim(one.claim(path), Outcome.LOSES, *self._beaten(one))
            for one in order
        )
        elements = tuple(self._elements(value)) if isinstance(value, list) else ()
        return Trace((CLASSES, *path), value, claims, elements, titles=titles)

    def rank_of(self, unknown: UnknownSet) -> int:
        """The number of a set that cannot be read: behind all others."""
        return len(self.said) + 1 + self.unknown.index(unknown)

    def causes_of(self, rank: int) -> tuple[Cause, ...]:
        """The lines because of which an include or exclude is in effect."""
        places = {one.rank: one.at.place for one in self.said} | {self.rank_of(one): one.place for one in self.unknown}
        return places[rank].causes

    def _elements(self, names: list[object]) -> Iterator[Element]:
        for index, name in enumerate(names):
            by = [one for one in self.said if one.counts and one.name == name]
            yield Element(name, tuple(one.rank for one in by), tuple(one.claim((index,)) for one in by))

    def _beaten(self, one: Inclusion) -> tuple[str, tuple[int, ...]]:
        """Why it does not count, and who decides instead."""
        by = [other for other in self.said if other.name == one.name and other.counts]
        if not by:
            return "nothing includes the class (bindings)", ()
        same = by[0].at.position == one.at.position
        why = "an exclude at the same position wins" if same else why_above(by[0].at, one.at).value
        return f"{why} (bindings)", tuple(sorted((other.rank for other in by), reverse=True))

    def spoken(self) -> Iterator[Spoken]:
        """What each says, and whether it counts."""
        for one in self.said:
            yield Spoken(one.words, f"{one.at.origin}; layer {one.title}", one.counts)


def inclusions_of(maker: ValueMaker) -> Inclusions:
    """The account of the key `/classes`. raises: as a fragment's producer"""
    said = list(maker.inclusions())
    deciding: Mapping[str, tuple[bool, Position]] = decided(said)
    order = sorted(range(len(said)), key=lambda index: (said[index][2].position, said[index][0], -index))
    ranks = {index: rank for rank, index in enumerate(order, 1)}
    return Inclusions(
        tuple(
            Inclusion(
                ranks[index], excluded, name, at, deciding.get(name) == (excluded, at.position), title_of(maker, at)
            )
            for index, (excluded, name, at) in enumerate(said)
        ),
        tuple(maker.resolution.unknown),
    )
