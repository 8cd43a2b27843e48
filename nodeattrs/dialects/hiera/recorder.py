"""Make a lookup and note its search, so that the result can be explained.

Each source gets a number, the strongest source the highest; the origins of a folding are these numbers. A file that two
paths lead to is one source. The result is the same as of a plain `LookupCall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.trace import shown
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera.conversions import makes_secret
from nodeattrs.dialects.hiera.data import SKIPPED, DataSource
from nodeattrs.dialects.hiera.locations import DataLocation
from nodeattrs.dialects.hiera.search import BaseScope, DefaultHierarchy, Hierarchy, LookupCall, Merge, Option
from nodeattrs.dialects.hiera.strategies import FIRST, Strategy
from nodeattrs.errors import NodeattrsError

ONE_FILE = Policy("in one file", Line(ANY, PRESENT, TAKE, "of a key that is written twice the last one counts"))
_NOBODY: Any = None
"""No resolver: expressions in an overwritten value are not filled in."""


@dataclass(frozen=True, slots=True)
class SearchedLocation:
    """A place that was searched: outcome is "found", "no_key", "no_file", "no_folder", "unknown" or "skipped"."""

    place: DataLocation
    outcome: str


@dataclass(frozen=True, slots=True)
class FoundValue:
    """The value that one place has for the key of a Recorder.

    number: the number of the source; the number of a stronger source is higher
    place:  the place
    key:    the root key
    value:  the value; `Unknown` if the place cannot be read

    `title` names layer and level. `origin` gives the line of a path in the value, and `sentence` says it in words.
    """

    number: int
    place: DataLocation
    key: str
    value: Any

    @property
    def title(self) -> str:
        """The level: "environment / common"."""
        return f"{self.place.layer} / {self.place.entry}"

    @property
    def is_unknown(self) -> bool:
        """Whether the place cannot be read."""
        return type(self.value) is Unknown

    def origin(self, path: Path) -> Origin:
        """The line of *path* in the value of this place; for a place that cannot be read, its line in hiera.yaml."""
        if self.is_unknown or self.place.source is None:
            return self.place.origin
        return self.place.source.locator(self.key, self.place.entry).at(path)

    def sentence(self, path: Path, *, is_secret: bool = False) -> str:
        """ "VALUE is set by PLACE", with the part of the value at *path*. is_secret: the value is left out"""
        what = "a secret" if is_secret else shown(dig(self.value, path), 40)
        return f"{what} is set by {self.origin(path)}"


class Recorder(LookupCall):
    """A lookup call that notes its search, so that the result can be explained.

    Pass it to `BaseScope.answer` in place of a LookupCall, and read its fields afterwards. `found_values` has the
    values of all sources that have the key or cannot be read, the strongest first. `readable_values` has only readable
    ones. `strategy`, `converted` and `value_in` fill the fields below. If the default hierarchy is searched as well,
    its notes replace the notes of the search before.
    scope:       the node
    key:         the root key
    override, defaults: the arguments `override` and `default_values_hash` of the lookup
    needed:      a list to which the keys in expressions are added; None: they are not noted
    how:         the strategy
    chosen_by:   "argument" or "default". If `option` is set, lookup_options chose the strategy
    option:      the name or expression in lookup_options that chose it; None for none
    wanted:      the type of `convert_to`; None if nothing was converted
    is_secret:   whether `convert_to` makes a secret of each value of the key
    searched:    the places that were asked, in order, each with its outcome
    shadowed:    with the strategy `first`, the values of places below the first one found, each source once
    folding:     the folding that made the value; None if the search ended in an error
    in_defaults: whether the default hierarchy of a module was searched last
    """

    def __init__(
        self,
        scope: BaseScope,
        key: str,
        override: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        needed: list[str] | None = None,
    ) -> None:
        super().__init__(scope, override, defaults, (key,), needed)
        self.key = key
        self.how: Strategy = FIRST
        self.chosen_by = "default"
        self.option: str | None = None
        self.wanted: Any = None
        self.is_secret = False
        self.searched: list[SearchedLocation] = []
        self.shadowed: list[FoundValue] = []
        self.folding: Folding | None = None
        self.in_defaults = False
        self._found: dict[int, FoundValue] = {}
        self._numbers: dict[int, int] = {}
        self._above: list[FoundValue] = []
        self._is_found = False

    def strategy(self, merge: Merge, option: Option | None) -> Strategy:
        """The strategy of a lookup, as `LookupCall.strategy` returns it. Sets `chosen_by`, `option` and `is_secret`.

        merge:  the strategy that the call names; None for none
        option: (name, options) of the entry in lookup_options for the key; None for none
        """
        self.chosen_by = "default" if merge is None else "argument"
        if merge is None and option is not None and option[1].get("merge") is not None:
            self.option = option[0]
        self.is_secret = option is not None and makes_secret(option[1].get("convert_to"))
        return super().strategy(merge, option)

    def converted(self, value: Any, wanted: Any) -> Any:
        self.wanted = wanted
        return super().converted(value, wanted)

    def value_in(self, root: str, how: Strategy, hierarchy: Hierarchy, is_cached: bool = False) -> Any:
        """The value that a hierarchy has for the key, or ABSENT. Notes each place that is searched, and the folding.

        With the strategy `first`, places below the first one found are asked as well, for `shadowed`.
        root, is_cached: not used; the key is that of the constructor, and each search is made anew
        """
        self._begin(how, hierarchy)
        self.folding = hierarchy.folding(how, self._ask)
        value = self.folding.result.value
        if self._above:
            below, self.folding = self.folding, FIRST.folding(2)
            for found in self._above:
                self.folding.lay(Part(found.value, found.number), FIRST.policy)
            self.folding.lay(below, FIRST.policy)
        return value

    def _begin(self, how: Strategy, hierarchy: Hierarchy) -> None:
        """Number the sources of a hierarchy; levels of an earlier search that could not be read are numbered above."""
        self.how, self.in_defaults = how, isinstance(hierarchy, DefaultHierarchy)
        if isinstance(hierarchy, DefaultHierarchy):
            self.option = hierarchy.option
        places = [place for layer in hierarchy.layers for place in layer.places]
        sources = [source for place in places for source in (place.source, *self._overwritten(place))]
        self._numbers = {}
        for at, source in enumerate(sources):
            self._numbers.setdefault(id(source), len(sources) - at)
        unknown = [found for found in self.found_values() if found.is_unknown]
        self._above = [replace(found, number=len(sources) + at) for at, found in enumerate(unknown, 1)]
        self._found = {found.number: found for found in self._above}
        self.shadowed = []
        self.folding = None
        self._is_found = False

    def _ask(self, place: DataLocation) -> Part | Folding:
        """The value of a place as a part with its number, over the earlier values of the key in the same file."""
        if self.how is FIRST and self._is_found:
            return self._shadow(place)
        value = self.value_at(place, self.key)
        self.searched.append(SearchedLocation(place, _outcome(place, value)))
        return self._part(place, value)

    def _shadow(self, place: DataLocation) -> Part | Folding:
        """The part of a place below the first one found, which no lookup asks; an error of it is ignored."""
        value, missing = ABSENT, {name: dict(keys) for name, keys in self.scope.missing.items()}
        with suppress(NodeattrsError):
            if place.source is not None:
                value = place.source.value(self.key, LookupCall(self.scope, None, None, (self.key,)))
        self.scope.missing = missing
        number = self._numbers[id(place.source)]
        is_new = number not in self._found
        part = self._part(place, value)
        if is_new and part is not NOTHING and type(value) is not Unknown:
            self.shadowed.append(self._found[number])
        return part

    def _part(self, place: DataLocation, value: Any) -> Part | Folding:
        if value is ABSENT:
            return NOTHING
        part, overwritten = self._numbered(place, value), self._overwritten(place)
        if not overwritten:
            return part
        folding = Folding(from_top=True)
        folding.lay(part, ONE_FILE)
        for source in overwritten:
            folding.lay(self._numbered(place._replace(source=source), source.value(self.key, _NOBODY)), ONE_FILE)
        return folding

    def _numbered(self, place: DataLocation, value: Any) -> Part:
        number = self._numbers[id(place.source)]
        self._found.setdefault(number, FoundValue(number, place, self.key, value))
        self._is_found = self._is_found or type(value) is not Unknown
        return Part(value, number)

    def _overwritten(self, place: DataLocation) -> Sequence[DataSource]:
        return () if place.source is None else place.source.overwritten(self.key)

    def found_value(self, number: int) -> FoundValue:
        """The value of the source with a number. raises: KeyError, for a source without the key"""
        return self._found[number]

    def readable_values(self) -> list[FoundValue]:
        """The values of the sources that have the key and can be read, the strongest first."""
        return [found for found in self.found_values() if not found.is_unknown]

    def found_values(self) -> list[FoundValue]:
        """The values of the sources that have the key or cannot be read, the strongest first."""
        return [self._found[number] for number in sorted(self._found, reverse=True)]


def _outcome(place: DataLocation, value: Any) -> str:
    if place.source is None:
        return "no_file" if place.has_folder else "no_folder"
    if place.source is SKIPPED:
        return "skipped"
    return "no_key" if value is ABSENT else "unknown" if type(value) is Unknown else "found"
