"""Parts: a value with its origins, and the functions with which handlers make one part of others.

A handler takes parts apart and builds parts with these functions. It touches no origin itself, so none is forgotten.

Joining two lists or merging two maps makes a new one. With thousands of parts most of the time would go into copies.
A folding with `growing` extends what it made itself in place, and merges its parts again where a step is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from types import NoneType
from typing import Any

from nodeattrs.core.origins import At, Origins, gathered, origins_at, origins_by_key, united
from nodeattrs.core.tree import ABSENT, strict_key


class Part:
    """A value with its origins (`core.origins`): the sources that set it. Functions never change a part that they are
    given.
    """

    __slots__ = ("origins", "value")

    def __init__(self, value: Any, origins: Origins) -> None:
        self.value = value
        self.origins = origins

    def at(self, step: Any) -> Part:
        """The entry at a key or index, with its origins; its value is ABSENT where the map or list has none.

        Negative indexes have none. Only for a map or a list.
        """
        value = self.value
        by_key = isinstance(value, dict)
        entry = value.get(step, ABSENT) if by_key else value[step] if 0 <= step < len(value) else ABSENT
        return Part(entry, origins_at(self.origins, step))

    def elements(self) -> Iterator[Part]:
        """Yield each element of a list or tuple as a part with its own origins."""
        origins = self.origins
        if origins is None or type(origins) is int:
            for entry in self.value:
                yield Part(entry, origins)
        else:
            for index, entry in enumerate(self.value):
                yield Part(entry, origins_at(origins, index))

    def __repr__(self) -> str:
        return f"Part({self.value!r}, {self.origins!r})"


def made(value: Any, *of: Part) -> Part:
    """A part for a new value that was computed from the parts *of*: all their sources have set it.

    Its origins are None where one of them keeps none.
    """
    several = [part.origins for part in of]
    return Part(value, None if None in several else gathered(*several))


def recast(part: Part, container: Callable[[Any], Any]) -> Part:
    """The part with its value put into another container, origins unchanged: `recast(part, tuple)`."""
    return Part(container(part.value), part.origins)


# --- handlers

Join = Callable[[Part, Part], Part]
"""Makes one part of two, the lower one first. A line of a policy takes one as it is, without promises."""


@dataclass(frozen=True, eq=False)
class Handler:
    """A function that makes one part of two, and promises about it that a reader of the table relies on.

    join:     (lower, upper) -> part; may raise MergeConflict
    name:     its name in tables and explanations
    total:    it never raises, and looks at nothing but its two values: lazy reading needs that
    hides:    the result has nothing of the lower value, so an unread lower value cannot matter
    regroups: for several lists in a row it does not matter which two are joined first
    settles:  applied again to its own result over nothing, it changes nothing

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


def handler(
    *, total: bool = False, hides: bool = False, regroups: bool = False, settles: bool = False
) -> Callable[[Join], Handler]:
    """A decorator: makes a `Handler` of a function, named after the function, with these promises."""

    def of(join: Join) -> Handler:
        return Handler(join, join.__name__.strip("_"), total, hides, regroups, settles)

    return of


# --- maps


def entries(of: Mapping[Any, Part], *otherwise: Part) -> Part:
    """A map part made of *of*: key -> part. Its origins are None where one of these keeps none.

    otherwise: the parts that count as the sources of {} where *of* is empty
    """
    if not of:
        return made({}, *otherwise)
    value = {key: part.value for key, part in of.items()}
    if any(part.origins is None for part in of.values()):
        return Part(value, None)
    return Part(value, {key: part.origins for key, part in of.items()})


def kept(part: Part, keys: Container[Any], *of: Part) -> Part:
    """A map part with only the entries whose key is in *keys*.

    of: the parts that count as the sources of {} where nothing is left; none: the part's own origins stay
    """
    value = {key: entry for key, entry in part.value.items() if key in keys}
    if not value and of:
        return made({}, *of)
    origins = part.origins
    return Part(value, {key: origins[key] for key in value} if type(origins) is dict else origins)


def without(part: Part, keys: Iterable[Any]) -> Part:
    """A map part without the entries under *keys*; keys that it lacks do not matter. An empty rest keeps its
    sources.
    """
    gone = set(keys)
    return kept(part, part.value.keys() - gone, part) if gone else part


# --- lists


def listed(elements: Iterable[Part], *of: Part) -> Part:
    """A list part made of *elements*.

    of: the parts that the elements come from. They count as the sources of [] where there are no elements; where one
        of them keeps no origins, the list keeps none
    """
    parts = list(elements)
    if not parts:
        return made([], *of)
    if any(part.origins is None for part in of):
        return Part([part.value for part in parts], None)
    return Part([part.value for part in parts], [part.origins for part in parts])


def origins_by_index(origins: Origins, length: int) -> list[Origins]:
    """The origins of a list as a list, one for each element; the caller must not change it.

    length: the number of elements; where origins are not kept, each is None
    """
    if type(origins) is list:
        return origins
    if type(origins) is int:
        return [origins] * length
    return [origins_at(origins, index) for index in range(length)]


def sliced(part: Part, start: int, stop: int | None) -> Part:
    """The elements of a list part from *start* up to *stop*, with their origins; stop: None: to the end."""
    origins, value = part.origins, part.value[start:stop]
    if origins is None or type(origins) is int:
        return Part(value, origins)
    return Part(value, origins_by_index(origins, len(part.value))[start:stop])


def by_position(lower: Part, upper: Part, join: Callable[[Part, Part], Part]) -> Part:
    """Two lists joined index by index with *join*; as long as the longer one.

    The missing element of a shorter list is an ABSENT part. An element for which *join* returns ABSENT is left out.
    """
    nothing = Part(ABSENT, ())
    pairs = zip_longest(lower.elements(), upper.elements(), fillvalue=nothing)
    joined = (join(below, above) for below, above in pairs)
    return listed((part for part in joined if part.value is not ABSENT), lower, upper)


def by_field(lower: Part, upper: Part, field: Any, join: Callable[[Part, Part], Part]) -> Part:
    """Two lists joined with *join* where two maps have an equal *field*; other elements of the upper list are appended.

    The lower list gives the order. A map that is the same object in both lists stays as it is. Of lower maps with an
    equal field the first one counts. Both sources count as setters of the field.
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
            result[place] = _named_by_both(join(result[place], element), result[place], element, field)
    return listed(result, lower, upper)


def _named_by_both(joined: Part, lower: Part, upper: Part, field: Any) -> Part:
    if joined.origins is None or _field(joined.value, field) != lower.value[field]:
        return joined
    origins = origins_by_key(joined.origins, joined.value) or {}
    origins[field] = united(lower.at(field).origins, upper.at(field).origins)
    return Part(joined.value, origins)


def _field(value: Any, field: Any) -> Any:
    return value.get(field, ABSENT) if isinstance(value, dict) else ABSENT


# --- values that other code made


def remade(before: Part, value: Any, source: int | At) -> Part:
    """A part with a new *value* that was made of *before* by code that keeps no origins, such as a JSON patch.

    Entries equal to the old ones keep their origins; all others get *source*.
    cost: one look at each entry; in a list of another length, elements are found by their value
    """
    old, origins = before.value, before.origins
    if type(old) is type(value):
        if type(value) is dict:
            return _remade_map(before, value, source)
        if type(value) is list and value != old:
            return _remade_list(before, value, source)
        if old == value:
            return Part(value, origins)
    return Part(value, source)


def _remade_map(before: Part, value: dict[Any, Any], source: int | At) -> Part:
    old = before.value
    if not value:
        return Part(value, source if old else before.origins)
    who = origins_by_key(source, value) or {}
    parts = {
        key: remade(before.at(key), entry, who[key]) if key in old else Part(entry, who[key])
        for key, entry in value.items()
    }
    return Part(value, {key: part.origins for key, part in parts.items()})


def _remade_list(before: Part, value: list[Any], source: int | At) -> Part:
    who = origins_by_index(source, len(value))
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
"""So few entries are copied as fast as they are looked up."""
_MOST = 64
"""Of so many lists and maps it is known whose they are, since it is not known when one is lost."""


@handler(total=True, regroups=True)
def concat(first: Part, second: Part) -> Part:
    """The elements of the first list, then the second one's, duplicates included.

    cost: linear; in a folding with `growing` only the second list counts
    """
    created = IN_PLACE.get()
    return created.concat(first, second) if created is not None and created.lists else _concat(first, second)


def _concat(first: Part, second: Part) -> Part:
    value = first.value + second.value
    if first.origins is None or not value:
        return Part(value, first.origins)
    return Part(value, _each(first) + _each(second))


def _each(part: Part) -> list[Origins]:
    return origins_by_index(part.origins, len(part.value))


@handler(total=True, regroups=True)
def unite(lower: Part, upper: Part) -> Part:
    """The union of two lists: each element once, in the order of its first appearance; 1 and "1" differ.

    All sources of equal elements count as setters of the one that stays.
    cost: linear; one hash for each element. In a folding with `growing` only the elements of the upper list
    source: Ruby's `Array#|`, semantics of Chef's merge inside a level
    """
    created = IN_PLACE.get()
    return created.unite(lower, upper) if created is not None and created.lists else _union(lower, upper)[0]


_Union = tuple[Part, dict[Any, int]]
"""A list without duplicates, and where each element stands: by its type-strict key."""


def _goes_on(known: _Union, lower: Part, upper: Part) -> bool:
    return known[0].origins is lower.origins and (upper.origins is None) == (lower.origins is None)


def _union(lower: Part, upper: Part) -> _Union:
    places: dict[Any, int] = {}
    if lower.origins is None or upper.origins is None:
        whole = Part([], None)
        _take_in(whole, places, lower.value + upper.value, None)
    else:
        whole = Part([], [])
        _take_in(whole, places, lower.value + upper.value, _each(lower) + _each(upper))
    if not places:
        whole.origins = lower.origins
    return whole, places


def _take_in(whole: Part, places: dict[Any, int], entries: list[Any], origins: list[Origins] | None) -> None:
    values, who, last = whole.value, whole.origins, len(whole.value)
    if origins is None or type(who) is not list:
        for entry in entries:
            if places.setdefault(entry if type(entry) is str else strict_key(entry), last) == last:
                values.append(entry)
                last += 1
        return
    for entry, setter in zip(entries, origins, strict=False):
        key = entry if type(entry) is str else strict_key(entry)
        place = places.setdefault(key, last)
        if place == last:
            values.append(entry)
            who.append(setter)
            last += 1
        elif who[place] != setter:
            who[place] = united(who[place], setter)


def regrouped(handler: Callable[[Part, Part], Part], parts: list[Part]) -> Part:
    """The result of joining *parts*, the lowest first, with a handler that regroups; at least one part is needed.

    cost: each element, times the logarithm of the number of lists
    """
    while len(parts) > 1:
        last = parts[len(parts) & ~1 :]
        parts = [handler(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)] + last
    return parts[0]


class InPlace:
    """The lists and maps that one folding made itself: no other code holds them, so the next step may extend them in
    place.

    `concat` and `unite` extend lists. For a map, a merge asks `owns`, and writes into the map. An error within a
    merge may leave them half changed.
    lists: False: lists are copied, since other code may hold them; only maps are extended
    """

    __slots__ = ("_lists", "_maps", "_unions", "lists")

    def __init__(self, lists: bool = True) -> None:
        self.lists = lists
        self._lists: dict[int, Part] = {}
        self._unions: dict[int, _Union] = {}
        self._maps: dict[int, tuple[dict[Any, Any], Origins]] = {}

    def concat(self, first: Part, second: Part) -> Part:
        """`second` appended to `first`, in place where this folding made `first`, else in a new list; returns
        the part.
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
        """The union of two lists, in place where this folding made the lower one, else in a new list; returns
        the part.
        """
        known = self._unions.pop(id(lower.value), None)
        self._unions.pop(id(upper.value), None)
        if known is None or not _goes_on(known, lower, upper):
            known = _union(lower, upper)
        else:
            _take_in(*known, upper.value, None if upper.origins is None else _each(upper))
        own = known[0]
        if len(own.value) > FEW:
            _put(self._unions, own.value, known)
        return own

    def owns(self, value: dict[Any, Any], origins: Origins, more: Origins) -> bool:
        """Whether this folding made a map, with these origins, and can keep the further origins *more* in the same
        form.
        """
        known = self._maps.get(id(value))
        if known is None or known[1] is not origins:
            return False
        return more is None if origins is None else type(origins) is dict and more is not None

    def register(self, value: dict[Any, Any], origins: Origins) -> tuple[dict[Any, Any], Origins]:
        """Remember a map as made by this folding; returns the map and its origins. Small maps are not remembered."""
        if len(value) > FEW:
            _put(self._maps, value, (value, origins))
        return value, origins

    def release(self) -> None:
        """Forget all lists and maps, since other code holds the result, too: they are copied from now on."""
        for known in (self._lists, self._unions, self._maps):
            known.clear()


def _put(known: dict[int, Any], value: Any, entry: Any) -> None:
    known[id(value)] = entry
    if len(known) > _MOST:
        del known[next(iter(known))]


IN_PLACE: ContextVar[InPlace | None] = ContextVar("in_place", default=None)
"""The lists and maps of the folding that merges now; None outside of a growing one."""
