"""Parts: a value with its origins, and the words with which handlers make one part of others.

A handler takes parts apart and puts them together with these words and touches no
origin itself, so that none can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from nodeattrs.core.origins import At, Origins, gathered, origins_at, spread, united
from nodeattrs.core.tree import ABSENT, strict_key


@dataclass(slots=True, eq=False, repr=False)
class Part:
    """A value and who set it: see `core.origins`."""

    value: Any
    origins: Origins

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


def each(origins: Origins, length: int) -> list[Origins]:
    """The origins of a list element by element; not to be changed."""
    kind = type(origins)
    if kind is list:
        return origins  # type: ignore[no-any-return]
    if kind is int:
        return [origins] * length
    return [origins_at(origins, index) for index in range(length)]


def sliced(part: Part, start: int, stop: int | None) -> Part:
    """Some elements of a list that follow each other."""
    origins, value = part.origins, part.value[start:stop]
    if origins is None or type(origins) is int:
        return Part(value, origins)
    return Part(value, each(origins, len(part.value))[start:stop])


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
    origins = spread(joined.origins, joined.value) or {}
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
    who = spread(source, value) or {}
    parts = {
        key: remade(before.at(key), entry, who[key]) if key in old else Part(entry, who[key])
        for key, entry in value.items()
    }
    return Part(value, {key: part.origins for key, part in parts.items()})


def _remade_list(before: Part, value: list[Any], source: int | At) -> Part:
    who = each(source, len(value))
    if len(value) == len(before.value):
        pairs = zip(before.elements(), value, who, strict=True)
        return Part(value, [remade(part, entry, one).origins for part, entry, one in pairs])
    known: dict[Any, list[Origins]] = {}
    for part in before.elements():
        known.setdefault(strict_key(part.value), []).insert(0, part.origins)
    left = [known.get(strict_key(entry)) for entry in value]
    return Part(value, [origins.pop() if origins else one for origins, one in zip(left, who, strict=True)])
