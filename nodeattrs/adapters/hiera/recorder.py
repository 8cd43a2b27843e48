"""What is noted while a key is searched for, so that it can be explained afterwards.

Each value that is found gets a number, the strongest the highest; origins in the core
are such numbers. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.adapters.hiera.locations import Level, Place
from nodeattrs.adapters.hiera.strategies import FIRST, Strategy
from nodeattrs.core.claim import Origin
from nodeattrs.core.origins import sources
from nodeattrs.core.part import Part
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT, Path, dig, strict_key

__all__ = ["Found", "Recorder", "Searched"]


@dataclass(frozen=True, slots=True)
class Searched:
    """A place that was searched: outcome is "found", "no_key" or "no_file"."""

    place: Place
    outcome: str


@dataclass(frozen=True, slots=True)
class Found:
    """A value that a place has for the key."""

    number: int
    place: Place
    key: str
    value: Any

    def origin(self, path: Path) -> Origin:
        """Where this place says what it has itself at *path*."""
        assert self.place.source is not None
        return self.place.source.speaker(self.key, self.place.entry).at(path)

    def sentence(self, path: Path) -> str:
        """Who says what, in words."""
        return f"{shown(dig(self.value, path), 40)} is said by {self.origin(path)}"


class Recorder:
    """Notes of one search.

    key:       the root key
    how:       the strategy
    chosen_by: who chose it, where lookup_options did not
    option:    the name in lookup_options that chose it
    converted: what `convert_to` says, where it was applied
    found_in:  "data", or which argument of the call answered
    searched:  the places asked, in order
    part:      the result with its origins
    knocked:   the knock-outs: the marker's part and the removed one
    needed:    the keys that expressions asked for
    """

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.how: Strategy = FIRST
        self.chosen_by = "default"
        self.option: str | None = None
        self.converted: Any = None
        self.found_in = "data"
        self.searched: list[Searched] = []
        self.part: Part = Part(ABSENT, None)
        self.knocked: list[tuple[Part, Part]] = []
        self.needed: list[str] = []
        self.layers: list[list[list[Place]]] = []
        self._found: dict[int, Found] = {}
        self._numbers: dict[int, int] = {}
        self._places: dict[tuple[int, Path], dict[Any, Path]] = {}

    def begin(self, how: Strategy, layers: Sequence[Sequence[Level]]) -> None:
        """A search begins: every place gets its number."""
        self.how = how
        self.layers = [[list(level.places) for level in levels] for levels in layers]
        places = [place for levels in self.layers for level in levels for place in level]
        self._numbers = {id(place): len(places) - at for at, place in enumerate(places)}
        self._found = {}
        self._places = {}
        self.knocked = []

    def heard(self, place: Place, value: Any) -> Part:
        """A place was asked; its value as a part that knows its number."""
        number = self._numbers[id(place)]
        outcome = "no_file" if place.source is None else "no_key" if value is ABSENT else "found"
        self.searched.append(Searched(place, outcome))
        if value is ABSENT:
            return Part(ABSENT, None)
        self._found[number] = Found(number, place, self.key, value)
        return Part(value, number)

    def own_path(self, found: Found, path: Path) -> Path:
        """Where a place itself says what the result has at *path*: united lists moved their elements.

        cost: one visit of each list on the way, once
        """
        own: Path = ()
        result, tree = self.part.value, found.value
        for step in path:
            result = dig(result, (step,))
            steps: Path = (step,)
            if type(step) is int and type(tree) is list:
                steps = self._index(found.number, own, tree).get(strict_key(result), steps)
            elif type(step) is int and not (type(tree) is dict and step in tree):
                steps = ()  # a single value that became an element
            own = (*own, *steps)
            tree = dig(tree, steps)
        return own

    def _index(self, number: int, path: Path, elements: list[Any]) -> dict[Any, Path]:
        places = self._places.get((number, path))
        if places is None:
            places = self._places[number, path] = {}
            for at, element in _flattened(elements, ()):
                places.setdefault(strict_key(element), at)
        return places

    def add(self, place: Place, value: Any) -> None:
        """A value that was shadowed: the search had ended before."""
        number = self._numbers[id(place)]
        self._found[number] = Found(number, place, self.key, value)

    def knocked_out(self, marker: Part, removed: Part) -> None:
        self.knocked.append((marker, removed))

    def found(self, told: Any = None) -> list[Found]:
        """Those who spoke, the strongest first; with *told* only those named there."""
        numbers: Iterable[int] = self._found if told is None else sources(told)
        return [self._found[number] for number in sorted(numbers, reverse=True) if number in self._found]


def _flattened(elements: list[Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for at, element in enumerate(elements):
        yield (*path, at), element
        if type(element) is list:
            yield from _flattened(element, (*path, at))
