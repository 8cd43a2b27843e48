"""The maps that slots are made of.

A map in a slot's tree is either *frozen*: an exact dict that never changes after
it was copied in, with all below it; or *owned*: one of the two classes here, which a
write may change in place as long as nobody else looks at it. Loading makes frozen
maps only; a write owns the maps on its path, one level each.

Never handed out: C code reads past the methods of a dict subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.tree import Path

__all__ = [
    "AssignedMap",
    "ElementTold",
    "OwnedMap",
    "Patched",
    "SaidAt",
    "Several",
    "Told",
    "Worked",
    "begun",
    "each",
    "last_word",
    "renumbered",
    "replica",
    "speakers",
    "steps",
    "thawed",
    "worked_on",
]


class SaidAt(NamedTuple):
    """The mark *number*, whose speaker said it at *path* of the tree: elements move, speakers stay."""

    number: int
    path: Path


class Several(NamedTuple):
    """An element that several have said: equal ones united."""

    tolds: tuple[ElementTold, ...]


class Patched(NamedTuple):
    """An element said as *base* says, but for *path* inside it, which somebody else wrote later."""

    base: ElementTold
    path: Path
    told: ElementTold


ElementTold = int | SaidAt | Several | Patched


class Worked(list[ElementTold]):
    """Who said each element of a list that was worked on in place, and who worked on it.

    begun: the marks of whoever set the list that it began with
    steps: the marks of those who went on with it, each once, the last one last
    """

    __slots__ = ("begun", "steps")

    begun: tuple[int, ...]
    steps: tuple[int, ...]

    def __init__(self, elements: Iterable[ElementTold], begun: tuple[int, ...], steps: tuple[int, ...]) -> None:
        super().__init__(elements)
        self.begun = begun
        self.steps = steps


Told = int | list[ElementTold]
"""Who said an entry: the number of a mark; for a list that was united or worked on in place, one for each element."""


def each(told: Told, path: Path, length: int) -> list[ElementTold]:
    """Who said each element of a list at *path*; not to be changed."""
    return told if isinstance(told, list) else [SaidAt(told, (*path, index)) for index in range(length)]


def begun(told: Told) -> tuple[int, ...]:
    """The marks of whoever set a list, before anybody worked on it in place."""
    if isinstance(told, Worked):
        return told.begun
    if isinstance(told, list):
        return tuple(dict.fromkeys(said.number for one in told for said in speakers(one, ())))
    return (told,)


def steps(told: Told) -> tuple[int, ...]:
    """The marks of those who worked on a list in place, the last one last."""
    return told.steps if isinstance(told, Worked) else ()


def worked_on(told: Told, elements: list[ElementTold], mark: int) -> Worked:
    """The same list after one more step of work in place.

    elements: who said each element now
    """
    return Worked(elements, begun(told), (*(one for one in steps(told) if one != mark), mark))


def last_word(told: Told) -> int:
    """The mark of whoever said a list as a whole, or was the last to work on it."""
    if isinstance(told, Worked) and (told.steps or told.begun):
        return (told.steps or told.begun)[-1]
    return max(begun(told), default=0)


def speakers(told: ElementTold, at: Path, inside: Path = ()) -> Iterator[SaidAt]:
    """Who said what lies *inside* an element, the first one first, and at which path he said it.

    at: the element's own path now
    """
    if isinstance(told, SaidAt):
        yield SaidAt(told.number, (*told.path, *inside))
    elif isinstance(told, Several):
        for one in told.tolds:
            yield from speakers(one, at, inside)
    elif isinstance(told, Patched):
        if inside[: len(told.path)] == told.path:
            yield from speakers(told.told, (*at, *told.path), inside[len(told.path) :])
        else:
            yield from speakers(told.base, at, inside)
    else:
        yield SaidAt(told, (*at, *inside))


def renumbered(told: Any, number: Callable[[int], int]) -> Any:
    """The same with other numbers."""
    if isinstance(told, Worked):
        elements = [renumbered(one, number) for one in told]
        return Worked(elements, tuple(map(number, told.begun)), tuple(map(number, told.steps)))
    if isinstance(told, list):
        return [renumbered(one, number) for one in told]
    if isinstance(told, SaidAt):
        return SaidAt(number(told.number), told.path)
    if isinstance(told, Several):
        return Several(tuple(renumbered(one, number) for one in told.tolds))
    if isinstance(told, Patched):
        return Patched(renumbered(told.base, number), told.path, renumbered(told.told, number))
    return number(told)


class OwnedMap(dict[Any, Any]):
    """A map that a write may change.

    origin:  the mark of every entry without one of its own; 0 where nobody is noted
    origins: key -> the mark of that entry
    shared:  somebody else may look at this map: copy it before you change it. Never cleared.
    """

    __slots__ = ("origin", "origins", "shared")

    origin: int
    origins: dict[Any, Told]
    shared: bool

    def __init__(self, entries: dict[Any, Any] | tuple[()] = (), origin: int = 0) -> None:
        super().__init__(entries)
        self.origin = origin
        self.origins = {}
        self.shared = False


class AssignedMap(OwnedMap):
    """A map that a recipe assigned as a whole: it hides what the attribute files say there."""

    __slots__ = ()


def thawed(frozen: dict[Any, Any], origin: int) -> OwnedMap:
    """An owned map with the entries of a frozen one. cost: a shallow copy"""
    return OwnedMap(frozen, origin)


def replica(shared: OwnedMap) -> OwnedMap:
    """A copy to write to, of a map that others look at; its owned children are shared from now on.

    cost: one level
    """
    copy = type(shared)(shared, shared.origin)
    copy.origins = shared.origins.copy()
    for entry in shared.values():
        if isinstance(entry, OwnedMap):
            entry.shared = True
    return copy
