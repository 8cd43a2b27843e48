"""Parts: a value with its origins (`core.origins`), and functions that make one part of others.

Handlers of policies take parts apart and build parts with these functions only, so that no origin is forgotten. No
function changes a part that it is given, and results may share data with it.

There is one exception. Within a folding with `growing`, `concat` and `unite` extend lists in place that this folding
made (`OwnContainers`). Otherwise, such a folding would spend most of its time on copies.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from types import NoneType
from typing import Any

from nodeattrs.core.origins import Origins, SourcePath, gathered, origins_at, origins_by_key, united
from nodeattrs.core.tree import ABSENT, strict_key


class Part:
    """A value with its origins: the sources that set it. The constructor copies and checks nothing.

    `at` gives an entry of a map or list as a part, whose value is ABSENT if there is no such entry. `elements` yields
    the elements of a list as parts. Neither may be called for another value.
    value:   plain data, or ABSENT
    origins: one of the forms that `core.origins` lists; () if there is no source, None if origins are not recorded
    """

    __slots__ = ("origins", "value")

    def __init__(self, value: Any, origins: Origins) -> None:
        self.value = value
        self.origins = origins

    def at(self, step: Any) -> Part:
        """The entry at a key or index, as a part; its value is ABSENT where the map or list has no such entry.

        A negative index gives ABSENT. Only for a part whose value is a map or a list.
        """
        value = self.value
        if isinstance(value, dict):
            entry = value.get(step, ABSENT)
        else:
            entry = value[step] if 0 <= step < len(value) else ABSENT
        return Part(entry, origins_at(self.origins, step))

    def elements(self) -> Iterator[Part]:
        """Yield each element as a part with its own origins. Only for a part whose value is a list or tuple."""
        for index, entry in enumerate(self.value):
            yield Part(entry, origins_at(self.origins, index))

    def __repr__(self) -> str:
        return f"Part({self.value!r}, {self.origins!r})"


def made(value: Any, *of: Part) -> Part:
    """A part for a new value that was computed from the parts *of*: all sources of these have set it.

    Its origins are None if one of the parts keeps no origins, and () without parts.
    """
    several = [part.origins for part in of]
    return Part(value, None if None in several else gathered(*several))


def recast(part: Part, container: Callable[[Any], Any]) -> Part:
    """A part with the value container(value) and the same origins: `recast(part, tuple)`."""
    return Part(container(part.value), part.origins)


# --- handlers

Join = Callable[[Part, Part], Part]
"""(lower, upper) -> part. A policy's line also takes such a function; it then has none of the promises of a Handler."""


@dataclass(frozen=True, eq=False)
class Handler:
    """A rule of a policy: a function that makes one part of two, with promises about it. Nothing checks the promises.

    A handler is called like its function. Two handlers are equal only if they are the same object.
    join:     a function (lower, upper) -> part; it may raise MergeConflict
    name:     its name in tables and explanations
    total:    the function never raises, and uses nothing but its two values; lazy reading requires this
    hides:    the result contains nothing of the lower value, so that an unread lower value does not matter
    regroups: if several lists are joined in a row, the result does not depend on which two are joined first
    settles:  the result does not change if the function is called again with nothing below it

    >>> last = Handler(lambda lower, upper: upper, "last", total=True)
    >>> last(Part(1, 1), Part(2, 2)), last.total
    (Part(2, 2), True)
    """

    join: Join
    name: str
    total: bool = False
    hides: bool = False
    regroups: bool = False
    settles: bool = False

    def __call__(self, lower: Part, upper: Part) -> Part:
        return self.join(lower, upper)


def handler(*, total: bool = False, hides: bool = False, regroups: bool = False) -> Callable[[Join], Handler]:
    """A decorator: makes a `Handler` of a function, named after the function.

    total, hides, regroups: the promises; see `Handler`
    """

    def of(join: Join) -> Handler:
        return Handler(join, join.__name__.strip("_"), total, hides, regroups)

    return of


# --- maps


def entries(of: Mapping[Any, Part], *otherwise: Part) -> Part:
    """The part of a map, made of *of*: key -> part of the entry. Its origins are None if an entry keeps no origins.

    otherwise: parts for an empty *of*: the value is then {}, and its origins are the sources of these parts
    """
    if not of:
        return made({}, *otherwise)
    value = {key: part.value for key, part in of.items()}
    if any(part.origins is None for part in of.values()):
        return Part(value, None)
    return Part(value, {key: part.origins for key, part in of.items()})


def kept(part: Part, keys: Container[Any], *of: Part) -> Part:
    """The part of a map, with only the entries whose key is in *keys*, in a new map.

    keys: the keys to keep; other keys in it do not matter
    of:   used if no entry is left: the origins of the result {} are the sources of these parts. Without *of*, {} has
          the origins of *part*
    """
    value = {key: entry for key, entry in part.value.items() if key in keys}
    if not value and of:
        return made({}, *of)
    origins = part.origins
    return Part(value, {key: origins[key] for key in value} if type(origins) is dict else origins)


def without(part: Part, keys: Iterable[Any]) -> Part:
    """The part of a map without the entries under *keys*; keys that it lacks do not matter.

    If *keys* is empty, the result is *part* itself. If no entry is left, {} has the sources of the map.
    """
    gone = set(keys)
    return kept(part, part.value.keys() - gone, part) if gone else part


# --- lists


def listed(elements: Iterable[Part], *of: Part) -> Part:
    """The part of a list, made of the parts of its elements.

    of: the parts that the elements come from. If one of these parts keeps no origins, the list keeps no origins.
        Without elements, the sources of the parts have set []
    """
    parts = list(elements)
    if not parts:
        return made([], *of)
    if any(part.origins is None for part in of):
        return Part([part.value for part in parts], None)
    return Part([part.value for part in parts], [part.origins for part in parts])


def _each(part: Part) -> list[Origins]:
    """The origins of the elements of a list, each None where origins are not kept. The caller must not change it."""
    origins, length = part.origins, len(part.value)
    if type(origins) is list:
        return origins
    if type(origins) is int:
        return [origins] * length
    return [origins_at(origins, index) for index in range(length)]


def sliced(part: Part, start: int, stop: int | None) -> Part:
    """The part of a list with the elements part.value[start:stop]; *stop* None: to the end."""
    origins, value = part.origins, part.value[start:stop]
    if origins is None or type(origins) is int:
        return Part(value, origins)
    return Part(value, _each(part)[start:stop])


def by_position(lower: Part, upper: Part, join: Callable[[Part, Part], Part]) -> Part:
    """A part with a new list: each element is the result of *join* for the two elements with the same index.

    For the missing elements of the shorter list, *join* gets an ABSENT part. If it returns an ABSENT part, the element
    is left out.
    join: a function (lower element, upper element) -> new element
    """
    nothing = Part(ABSENT, ())
    pairs = zip_longest(lower.elements(), upper.elements(), fillvalue=nothing)
    joined = (join(below, above) for below, above in pairs)
    return listed((part for part in joined if part.value is not ABSENT), lower, upper)


def by_field(lower: Part, upper: Part, field: Any, join: Callable[[Part, Part], Part]) -> Part:
    """The part of a new list: the lower elements, each map joined with the upper map that has an equal *field*.

    All other elements of the upper list are appended, also those that are no map. A map that is the same object in both
    lists stays as it is. If several lower maps have an equal field, only the first is joined. If several upper maps do,
    all are joined with it in turn. Both sources count as setters of the field.
    join: a function (lower map, upper map) -> new map
    cost: linear; one hash for each element
    """
    result = list(lower.elements())
    places: dict[Any, int] = {}
    for place, element in enumerate(result):
        name = _field(element.value, field)
        if name is not ABSENT:
            places.setdefault(strict_key(name), place)
    for element in upper.elements():
        name = _field(element.value, field)
        place = -1 if name is ABSENT else places.get(strict_key(name), -1)
        if place < 0:
            result.append(element)
        elif result[place].value is not element.value:
            result[place] = _with_field_of_both(join(result[place], element), result[place], element, field)
    return listed(result, lower, upper)


def _with_field_of_both(joined: Part, lower: Part, upper: Part, field: Any) -> Part:
    """*joined*, in which both sides are origins of the field, if its value is still the lower one."""
    if joined.origins is None or _field(joined.value, field) != lower.value[field]:
        return joined
    origins = origins_by_key(joined.origins, joined.value) or {}
    origins[field] = united(lower.at(field).origins, upper.at(field).origins)
    return Part(joined.value, origins)


def _field(value: Any, field: Any) -> Any:
    return value.get(field, ABSENT) if isinstance(value, dict) else ABSENT


# --- values that other code made


def remade(before: Part, value: Any, source: int | SourcePath) -> Part:
    """A part for *value*. Code that knows no origins, such as a JSON patch, has made the value from *before*.

    Maps, and lists of the same length, are compared entry by entry. An entry that did not change keeps its origins, and
    any other gets *source*. In a list that became longer or shorter, an element has the origins of an equal old element
    at any index. A map that became empty gets *source*.
    Scalars of different types differ, so that 1 is not True.
    source: of what changed; a `SourcePath` is the place of *value*, and its entries get their own paths below it
    cost:   one look at each entry
    """
    old, origins = before.value, before.origins
    if type(old) is type(value):
        if type(value) is dict:
            return _remade_map(before, value, source)
        if type(value) is list and strict_key(value) != strict_key(old):
            return _remade_list(before, value, source)
        if old == value:
            return Part(value, origins)
    return Part(value, source)


def _remade_map(before: Part, value: dict[Any, Any], source: int | SourcePath) -> Part:
    old = before.value
    if not value:
        return Part(value, source if old else before.origins)
    who = origins_by_key(source, value) or {}
    parts = {
        key: remade(before.at(key), entry, who[key]) if key in old else Part(entry, who[key])
        for key, entry in value.items()
    }
    return Part(value, {key: part.origins for key, part in parts.items()})


def _remade_list(before: Part, value: list[Any], source: int | SourcePath) -> Part:
    who = _each(Part(value, source))
    if len(value) == len(before.value):
        pairs = zip(before.elements(), value, who, strict=True)
        return Part(value, [remade(part, entry, one).origins for part, entry, one in pairs])
    known: dict[Any, list[Origins]] = {}
    for part in before.elements():
        known.setdefault(strict_key(part.value), []).insert(0, part.origins)
    left = [known.get(strict_key(entry)) for entry in value]
    return Part(value, [origins.pop() if origins else one for origins, one in zip(left, who, strict=True)])


# --- lists and maps that grow in place: results in between are not kept

FEW = 8
"""Maps and unions of at most so many entries are copied: that is as fast as finding out who made them."""
_MOST = 64
"""The number of lists or maps that `OwnContainers` remembers; older ones are forgotten, and copied then."""


@handler(total=True, regroups=True)
def concat(first: Part, second: Part) -> Part:
    """A handler: the elements of the first list, then of the second one, duplicates included.

    cost: linear; in a folding with `growing` only the second list counts
    """
    created = IN_PLACE.get()
    return created.concat(first, second) if created is not None and created.lists else _concat(first, second)


def _concat(first: Part, second: Part) -> Part:
    value = first.value + second.value
    if first.origins is None or not value:
        return Part(value, first.origins)
    return Part(value, _each(first) + _each(second))


@handler(total=True, regroups=True)
def unite(lower: Part, upper: Part) -> Part:
    """A handler: the union of two lists. Each element once, in the order of first appearance; 1 and "1" differ.

    All sources of equal elements count as setters of the one that stays.
    cost: linear; one hash for each element. In a folding with `growing` only the elements of the upper list
    source: Ruby's `Array#|`, semantics of Chef's merge inside a level
    """
    created = IN_PLACE.get()
    return created.unite(lower, upper) if created is not None and created.lists else _union(lower, upper)[0]


_Union = tuple[Part, dict[Any, int]]
"""The part of a list without duplicates, and strict key of each element -> its index."""


def _union(lower: Part, upper: Part) -> _Union:
    places: dict[Any, int] = {}
    keeps = lower.origins is not None and upper.origins is not None
    whole = Part([], [] if keeps else None)
    _extend_union(whole, places, lower.value + upper.value, _each(lower) + _each(upper) if keeps else None)
    if not places:
        whole.origins = lower.origins
    return whole, places


def _extend_union(whole: Part, places: dict[Any, int], entries: list[Any], origins: list[Origins] | None) -> None:
    """Append the entries that *whole* lacks, and unite the origins of those that it has. Changes *whole* and *places*.

    whole, places: a `_Union`
    origins:       of each entry; None where they are not kept, in *whole* too
    """
    values, who = whole.value, whole.origins
    for index, entry in enumerate(entries):
        place = places.setdefault(strict_key(entry), len(values))
        if place == len(values):
            values.append(entry)
            if origins is not None:
                who.append(origins[index])
        elif origins is not None and who[place] != origins[index]:
            who[place] = united(who[place], origins[index])


def regrouped(handler: Callable[[Part, Part], Part], parts: list[Part]) -> Part:
    """The result of joining *parts*, the lowest first, with a handler that regroups: neighbours are joined in pairs.

    parts: at least one; a single part is returned as it is, without a call of the handler
    cost:  each element, times the logarithm of the number of lists
    """
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        unpaired = parts[-1:] if len(parts) % 2 else []
        parts = [handler(lower, upper) for lower, upper in pairs] + unpaired
    return parts[0]


class OwnContainers:
    """The lists and maps that one folding made itself. No other code holds them, so its next step may extend them.

    `core.folding` makes it and sets it as the value of `IN_PLACE` during a merge. The handlers `concat` and `unite`
    then call its methods of the same names. A merge of two maps calls `owns`, and writes into the map if that is true.
    `register` remembers a map of more than 8 entries, and returns the map and its origins. `release` forgets
    everything. At most 64 lists and 64 maps are remembered; the oldest are forgotten, and are copied from then on. An
    error during a merge may leave a list or map half changed. The folding then repeats all its steps.
    lists: False: lists are always copied, because other code may hold them; only maps are extended
    """

    __slots__ = ("_lists", "_maps", "_unions", "lists")

    def __init__(self, lists: bool = True) -> None:
        self.lists = lists
        self._lists: dict[int, Part] = {}
        self._unions: dict[int, _Union] = {}
        self._maps: dict[int, tuple[dict[Any, Any], Origins]] = {}

    def concat(self, first: Part, second: Part) -> Part:
        """The part of a list: `first`, then `second`. If this folding made `first`, that list is extended; else the
        result is a new list.
        """
        own = self._lists.pop(id(first.value), None)
        self._lists.pop(id(second.value), None)
        if own is None or own.origins is not first.origins or type(own.origins) not in (list, NoneType):
            own = _concat(first, second)
        else:
            if own.origins is not None:
                own.origins.extend(_each(second))
            own.value.extend(second.value)
        _put(self._lists, own.value, own)
        return own

    def unite(self, lower: Part, upper: Part) -> Part:
        """The part of a list: the union of two. If this folding made the lower list, that list is extended; else the
        result is a new list.
        """
        known = self._unions.pop(id(lower.value), None)
        self._unions.pop(id(upper.value), None)
        keeps_form = (upper.origins is None) == (lower.origins is None)
        if known is None or known[0].origins is not lower.origins or not keeps_form:
            known = _union(lower, upper)
        else:
            _extend_union(*known, upper.value, None if upper.origins is None else _each(upper))
        own = known[0]
        if len(own.value) > FEW:
            _put(self._unions, own.value, known)
        return own

    def owns(self, value: dict[Any, Any], origins: Origins, more: Origins) -> bool:
        """Whether a merge may add entries with the origins *more* to the map *value* itself.

        The folding must remember the map with this *origins* object; it remembers no map of at most 8 entries. And
        *origins* must be a dict and *more* not None, or both must be None.
        """
        known = self._maps.get(id(value))
        if known is None or known[1] is not origins:
            return False
        return more is None if origins is None else type(origins) is dict and more is not None

    def register(self, value: dict[Any, Any], origins: Origins) -> tuple[dict[Any, Any], Origins]:
        """Remember a map as made by this folding, if it has more than 8 entries; returns the map and its origins."""
        if len(value) > FEW:
            _put(self._maps, value, (value, origins))
        return value, origins

    def release(self) -> None:
        """Forget all lists and maps: they are copied from now on. For a result that other code holds, too."""
        for known in (self._lists, self._unions, self._maps):
            known.clear()


def _put(known: dict[int, Any], value: Any, entry: Any) -> None:
    known[id(value)] = entry
    if len(known) > _MOST:
        del known[next(iter(known))]


IN_PLACE: ContextVar[OwnContainers | None] = ContextVar("in_place", default=None)
"""The lists and maps of the folding that merges now; None outside of a growing one."""
