"""Parts: a value with its origins, and the words with which handlers make one part of others.

A handler takes parts apart and puts them together with these words and touches no
origin itself, so that none can be forgotten.

Two lists that follow each other, or that are united, and two maps that meet give a new one, and with thousands of
parts most of the work would be to copy it again. A folding that says so (`growing`) has what it made go on instead,
and takes it back where a step is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from types import NoneType
from typing import Any

from nodeattrs.core.origins import At, Origins, gathered, origins_at, origins_by_key, united
from nodeattrs.core.tree import ABSENT, strict_key


class Part:
    """A value and who set it: see `core.origins`."""

    __slots__ = ("origins", "value")

    def __init__(self, value: Any, origins: Origins) -> None:
        self.value = value
        self.origins = origins

    def at(self, step: Any) -> Part:
        """The part at a key or index; a part with the value ABSENT where there is none."""
        value = self.value
        by_key = isinstance(value, dict)
        entry = value.get(step, ABSENT) if by_key else value[step] if 0 <= step < len(value) else ABSENT
        return Part(entry, origins_at(self.origins, step))

    def elements(self) -> Iterator[Part]:
        """The elements of a list or tuple, each with who set it."""
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
    """A value that stands in no input as it is; those that it was made of have set it."""
    several = [part.origins for part in of]
    return Part(value, None if None in several else gathered(*several))


def recast(part: Part, container: Callable[[Any], Any]) -> Part:
    """The same elements in another container: `recast(part, tuple)`."""
    return Part(container(part.value), part.origins)


# --- handlers

Join = Callable[[Part, Part], Part]
"""Makes one part of two, the lower one first. A line of a policy takes one as it is, without promises."""


@dataclass(frozen=True, eq=False)
class Handler:
    """Makes one part of two, and promises what a reader of the table relies on.

    join:     makes the part; may raise MergeConflict
    name:     what tables and explanations call it
    total:    it never raises, and looks at nothing but its two values: lazy reading needs that
    hides:    the result has nothing of the lower value: what cannot be read there cannot matter
    regroups: of several lists in a row it makes no difference which two are joined first
    settles:  it changes nothing of what it has made of a value that meets nothing

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
    """Make a handler of the function below, with its name and these promises: see `Handler`."""

    def of(join: Join) -> Handler:
        return Handler(join, join.__name__.strip("_"), total, hides, regroups, settles)

    return of


# --- maps


def entries(of: Mapping[Any, Part], *otherwise: Part) -> Part:
    """A map of parts; if it came out empty, those that it was made of have set it."""
    if not of:
        return made({}, *otherwise)
    value = {key: part.value for key, part in of.items()}
    if any(part.origins is None for part in of.values()):
        return Part(value, None)
    return Part(value, {key: part.origins for key, part in of.items()})


def kept(part: Part, keys: Container[Any], *of: Part) -> Part:
    """A map with some of its keys only; if none is left, *of* have set it."""
    value = {key: entry for key, entry in part.value.items() if key in keys}
    if not value and of:
        return made({}, *of)
    origins = part.origins
    return Part(value, {key: origins[key] for key in value} if type(origins) is dict else origins)


def without(part: Part, keys: Iterable[Any]) -> Part:
    """A map without some of its keys; if none is left, those that set it have set the empty one."""
    gone = set(keys)
    return kept(part, part.value.keys() - gone, part) if gone else part


# --- lists


def listed(elements: Iterable[Part], *of: Part) -> Part:
    """A list of parts; if it came out empty, those that it was made of have set it."""
    parts = list(elements)
    if not parts:
        return made([], *of)
    if any(part.origins is None for part in of):
        return Part([part.value for part in parts], None)
    return Part([part.value for part in parts], [part.origins for part in parts])


def origins_by_index(origins: Origins, length: int) -> list[Origins]:
    """The origins of a list element by element; not to be changed."""
    if type(origins) is list:
        return origins
    if type(origins) is int:
        return [origins] * length
    return [origins_at(origins, index) for index in range(length)]


def sliced(part: Part, start: int, stop: int | None) -> Part:
    """Some elements of a list that follow each other."""
    origins, value = part.origins, part.value[start:stop]
    if origins is None or type(origins) is int:
        return Part(value, origins)
    return Part(value, origins_by_index(origins, len(part.value))[start:stop])


def by_position(lower: Part, upper: Part, join: Callable[[Part, Part], Part]) -> Part:
    """The lists laid over each other index by index; what one side lacks is ABSENT to *join*.

    An element that *join* answers with ABSENT is left out.
    """
    nothing = Part(ABSENT, ())
    pairs = zip_longest(lower.elements(), upper.elements(), fillvalue=nothing)
    joined = (join(below, above) for below, above in pairs)
    return listed((part for part in joined if part.value is not ABSENT), lower, upper)


def by_field(lower: Part, upper: Part, field: Any, join: Callable[[Part, Part], Part]) -> Part:
    """The lists joined so that maps with an equal *field* meet; the other elements of the upper one follow.

    Both have set the field by which they met.
    cost: linear; one hash an element
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


# --- whatever somebody else made


def remade(before: Part, value: Any, source: int | At) -> Part:
    """A value that somebody made of another one out of our sight, such as a JSON patch.

    What is equal to what stood there keeps its origins; everything else was set by *source*.
    cost: one look at each entry; a list of another length is compared with itself
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


# --- lists and maps that grow in place: nobody keeps what lies between

FEW = 8
"""So few entries are copied as fast as they are looked up."""
_MOST = 64
"""Of so many lists and maps it is known whose they are, since it is not known when one is lost."""


@handler(total=True, regroups=True)
def concat(first: Part, second: Part) -> Part:
    """The elements of both lists, duplicates included. cost: linear; within `growing` only the second one's"""
    created = IN_PLACE.get()
    return created.concat(first, second) if created is not None and created.lists else _concat(first, second)


def _concat(first: Part, second: Part) -> Part:
    value = first.value + second.value
    if first.origins is None or not value:
        return Part(value, first.origins)
    return Part(value, _each(first) + _each(second))


def _each(part: Part) -> list[Origins]:
    # Written out for the two that are common.
    origins = part.origins
    kind = type(origins)
    if kind is list or kind is int:
        return origins if kind is list else [origins] * len(part.value)
    return origins_by_index(origins, len(part.value))


@handler(total=True, regroups=True)
def unite(lower: Part, upper: Part) -> Part:
    """The set union of two lists: first seen first, duplicates of both dropped, type-strict.

    The first of several equal elements stands, and everyone who set an equal one has set it.
    cost: linear; one hash an element. Within `growing` only the second one's
    source: Ruby's `Array#|`, semantics of Chef's merge inside a level
    """
    created = IN_PLACE.get()
    return created.unite(lower, upper) if created is not None and created.lists else _united(lower, upper)


def _united(lower: Part, upper: Part) -> Part:
    return _union(lower, upper)[0]


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
    """What several lists, the lowest first, come to by a handler that says that it regroups.

    cost: each element, times the logarithm of how many lists
    """
    while len(parts) > 1:
        last = parts[len(parts) & ~1 :]
        parts = [handler(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)] + last
    return parts[0]


class InPlace:
    """Lists and maps made for one result that nobody else has yet: the next step goes on with them in place.

    lists: False leaves lists as they are, for somebody who has been shown them
    """

    __slots__ = ("_lists", "_maps", "_undo", "_unions", "lists")

    def __init__(self, lists: bool = True) -> None:
        self.lists = lists
        self._lists: dict[int, Part] = {}
        self._unions: dict[int, _Union] = {}
        self._maps: dict[int, tuple[dict[Any, Any], Origins]] = {}
        self._undo: list[Callable[[], object]] = []

    def concat(self, first: Part, second: Part) -> Part:
        """See `concat`."""
        own = self._lists.pop(id(first.value), None)
        self._lists.pop(id(second.value), None)
        if own is None or own.origins is not first.origins or type(own.origins) not in (list, NoneType):
            own = _concat(first, second)
        else:
            self._undo.append(_shortening(own))
            if own.origins is not None:
                own.origins.extend(_each(second))
            own.value.extend(second.value)
        _put(self._lists, own.value, own)
        return own

    def unite(self, lower: Part, upper: Part) -> Part:
        """See `unite`."""
        known = self._unions.pop(id(lower.value), None)
        self._unions.pop(id(upper.value), None)
        if known is None or not _goes_on(known, lower, upper):
            known = _union(lower, upper)
        else:
            self._undo.append(_separation(*known, upper))
            _take_in(*known, upper.value, None if upper.origins is None else _each(upper))
        own = known[0]
        if len(own.value) > FEW:
            _put(self._unions, own.value, known)
        return own

    def owns(self, value: dict[Any, Any], origins: Origins, more: Origins) -> bool:
        """Whether a map is one of these, and takes the origins that come."""
        known = self._maps.get(id(value))
        if known is None or known[1] is not origins:
            return False
        return more is None if origins is None else type(origins) is dict and more is not None

    def register(self, value: dict[Any, Any], origins: Origins) -> tuple[dict[Any, Any], Origins]:
        """A map that was made is one of these from now on; it and its origins."""
        if len(value) > FEW:
            _put(self._maps, value, (value, origins))
        return value, origins

    def record_entry(self, key: Any, *holders: Any) -> None:
        """An entry of maps is about to change."""
        known = [(holder, holder.get(key, ABSENT)) for holder in holders if holder is not None]

        def undo() -> None:
            for holder, before in known:
                if before is ABSENT:
                    holder.pop(key, None)
                else:
                    holder[key] = before

        self._undo.append(undo)

    def record_map(self, *holders: Any) -> None:
        """An entry of maps is about to go; it would come back at another place."""
        known = [(holder, holder.copy()) for holder in holders if holder is not None]

        def undo() -> None:
            for holder, before in known:
                holder.clear()
                holder.update(before)

        self._undo.append(undo)

    def release(self) -> None:
        """Somebody else has the result, too."""
        for known in (self._lists, self._unions, self._maps):
            known.clear()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within the block they grow; where it fails, they are as they were before."""
        token = IN_PLACE.set(self)
        try:
            yield
        except BaseException:
            for undo in reversed(self._undo):
                undo()
            raise
        finally:
            self._undo.clear()
            IN_PLACE.reset(token)


def _put(known: dict[int, Any], value: Any, entry: Any) -> None:
    known[id(value)] = entry
    if len(known) > _MOST:
        del known[next(iter(known))]


def _shortening(part: Part) -> Callable[[], None]:
    length = len(part.value)

    def undo() -> None:
        del part.value[length:]
        if type(part.origins) is list:
            del part.origins[length:]

    return undo


def _separation(part: Part, places: dict[Any, int], more: Part) -> Callable[[], None]:
    shorten, who = _shortening(part), part.origins
    keys = [strict_key(entry) for entry in more.value]
    known = {places[key]: who[places[key]] for key in keys if key in places} if type(who) is list else {}
    new = [key for key in keys if key not in places]

    def undo() -> None:
        shorten()
        for place, before in known.items():
            who[place] = before
        for key in new:
            places.pop(key, None)

    return undo


IN_PLACE: ContextVar[InPlace | None] = ContextVar("in_place", default=None)
"""What grows in the folding that is laying now."""
