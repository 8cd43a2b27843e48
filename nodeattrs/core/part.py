"""Parts: a value with its origin, and the three ways in which lists join.

Handlers make parts from parts and never touch an origin themselves, so that an
origin cannot be forgotten. An origin here is a small number: which layer said
it. `int`: all of this comes from that layer. `dict` and `list`: one by one,
parallel to the value. `tuple`: several have spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

from nodeattrs.core.tree import ABSENT, strict_key

Told = Any
"""The origin of a part: int | tuple[int, ...] | dict[key, Told] | list[Told] | () (nobody) | None (nobody asked)."""


class Part:
    """A value and who said it. Handlers read parts, and make new ones with the functions of this module."""

    __slots__ = ("told", "value")

    def __init__(self, value: Any, told: Told) -> None:
        self.value = value
        self.told = told

    def at(self, step: Any) -> Part:
        """The part at a key or index; a part with the value ABSENT where there is none."""
        value = self.value
        by_key = type(value) is dict
        entry = value.get(step, ABSENT) if by_key else value[step] if 0 <= step < len(value) else ABSENT
        return Part(entry, told_at(self.told, step))

    def elements(self) -> Iterator[Part]:
        """The elements of a list, each with who said it."""
        told = self.told
        for index, entry in enumerate(self.value):
            yield Part(entry, told[index] if type(told) is list else told)

    def __repr__(self) -> str:
        return f"Part({self.value!r}, {self.told!r})"


def told_at(told: Told, step: Any) -> Told:
    """The origin of an entry, given the origin of what holds it."""
    kind = type(told)
    if kind is dict:
        return told.get(step, ())
    if kind is list:
        return told[step] if type(step) is int and -len(told) <= step < len(told) else None
    return told


def voices(told: Told) -> tuple[int, ...]:
    """Everyone who spoke about a part, in order of first appearance."""
    if type(told) is int:
        return (told,)
    if type(told) is tuple:
        return told
    found: dict[int, None] = {}
    for entry in told.values() if type(told) is dict else told or ():
        found.update(dict.fromkeys(voices(entry)))
    return tuple(found)


def _both(first: Told, second: Told) -> Told:
    if first == second:
        return first
    return tuple(dict.fromkeys(voices(first) + voices(second)))


def made(value: Any, *of: Part) -> Part:
    """A value that stands in no input as it is; those it was made of have spoken."""
    if any(part.told is None for part in of):
        return Part(value, None)
    return Part(value, tuple(dict.fromkeys(number for part in of for number in voices(part.told))))


def listed(elements: Iterable[Part], *of: Part) -> Part:
    """A list of parts; if it came out empty, those it was made of have spoken."""
    parts = list(elements)
    if not parts:
        return made([], *of)
    if any(part.told is None for part in of):
        return Part([part.value for part in parts], None)
    return Part([part.value for part in parts], [part.told for part in parts])


def concat(first: Part, second: Part) -> Part:
    """The elements of both lists, duplicates included."""
    value = first.value + second.value
    if first.told is None or not value:
        return Part(value, first.told)
    return Part(value, _each(first) + _each(second))


def unite(lower: Part, upper: Part) -> Part:
    """The set union of two lists: first seen first, duplicates of both dropped, type-strict.

    The first of several equal elements stands, and everyone who said an equal one has spoken.
    cost: linear; one hash an element
    source: Ruby's `Array#|`, semantics of Chef's merge inside a level
    """
    value = lower.value + upper.value
    texts = True
    for entry in value:
        if type(entry) is not str:
            texts = False
            break
    if lower.told is None or upper.told is None:
        if texts:
            return Part(list(dict.fromkeys(value)), None)
        first: dict[Any, Any] = {}
        for entry in value:
            first.setdefault(strict_key(entry), entry)
        return Part(list(first.values()), None)
    places: dict[Any, int] = {}
    united: list[Any] = []
    told: list[Told] = []
    for entry, who in zip(value, _each(lower) + _each(upper), strict=True):
        key = entry if texts else strict_key(entry)
        place = places.setdefault(key, len(united))
        if place == len(united):
            united.append(entry)
            told.append(who)
        else:
            told[place] = _both(told[place], who)
    return Part(united, told if united else lower.told)


unite.total = True  # type: ignore[attr-defined]


def by_position(lower: Part, upper: Part, join: Callable[[Part, Part], Part]) -> Part:
    """The lists laid over each other index by index; what one side lacks is ABSENT to *join*.

    An element that *join* answers with ABSENT is left out.
    """
    nothing = Part(ABSENT, ())
    pairs = zip_longest(lower.elements(), upper.elements(), fillvalue=nothing)
    joined = (join(below, above) for below, above in pairs)
    return listed((part for part in joined if part.value is not ABSENT), lower, upper)


def _each(part: Part) -> list[Told]:
    return part.told if type(part.told) is list else [part.told] * len(part.value)
