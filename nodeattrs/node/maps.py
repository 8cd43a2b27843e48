"""The maps that slots are made of.

A map in a slot's tree is either *frozen*: an exact dict that never changes after
it was copied in, with all below it; or *owned*: one of the two classes here, which a
write may change in place as long as nobody else looks at it. Loading makes frozen
maps only; a write owns the maps on its path, one level each.

Never handed out: C code reads past the methods of a dict subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.origins import At, Origins, origins_at, places, renumbered
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import Path, dig

__all__ = [
    "AssignedMap",
    "Branch",
    "ElementTold",
    "Joined",
    "OwnedMap",
    "Told",
    "Worked",
    "begun",
    "each",
    "last_word",
    "remarked",
    "replica",
    "said_in",
    "setters",
    "steps",
    "thawed",
    "told_at",
    "worked_on",
]


ElementTold = Origins
"""Who said an element of a list: the core's origins, with marks for sources."""


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
    return told if isinstance(told, list) else [At(told, (*path, index)) for index in range(length)]


def begun(told: Told) -> tuple[int, ...]:
    """The marks of whoever set a list, before anybody worked on it in place."""
    if isinstance(told, Worked):
        return told.begun
    if isinstance(told, list):
        return tuple(dict.fromkeys(said.source for one in told for said in setters(one, ())))
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


def setters(told: ElementTold, at: Path, inside: Path = ()) -> Iterator[At]:
    """Who said what lies *inside* an element, the first one first, and at which path he said it.

    at: the element's own path now
    """
    for step in inside:
        told = origins_at(told, step)
    return (one for _, one in places(told, (*at, *inside)))


def remarked(told: Any, number: Callable[[int], int]) -> Any:
    """The same with other marks."""
    if isinstance(told, Worked):
        elements = [renumbered(one, number) for one in told]
        return Worked(elements, tuple(map(number, told.begun)), tuple(map(number, told.steps)))
    return renumbered(told, number)


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
        if entries:  # every node begins with sixteen that have none
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


def said_in(tree: Any, told: Told, inside: Path, at: Path = ()) -> list[At]:
    """Everyone who said what a tree has at *inside*: the nearest marks on the way there.

    told: who said the tree itself
    at:   where the tree stands, or stood, in its slot
    cost: the depth of the path
    """
    for depth, step in enumerate(inside):
        if isinstance(told, list):
            element = told[step] if type(step) is int and 0 <= step < len(told) else 0
            return list(setters(element, (*at, *inside[: depth + 1]), inside[depth + 1 :]))
        if isinstance(tree, OwnedMap):
            told = tree.origins.get(step, tree.origin)
        tree = dig(tree, (step,))
    return [At(last_word(told), (*at, *inside))]


def told_at(tree: OwnedMap, path: Path) -> tuple[Told, Any]:
    """Who said what a tree has at *path*, by the nearest mark on the way there, and what that is."""
    here: Any = tree
    told: Told = tree.origin
    for step in path:
        if isinstance(here, OwnedMap):
            told = here.origins.get(step, here.origin)
        here = dig(here, (step,))
    return told, here


# --- several of them


@dataclass(slots=True, eq=False, repr=False)
class Joined:
    """Several maps that meet under one policy, weakest first, not merged yet.

    members: frozen maps, owned maps, and further joined ones; only those that really contribute
    """

    policy: Policy
    members: list[Any]


@dataclass(frozen=True, slots=True)
class Branch:
    """Part of a plan: trees (by number) and branches that meet under one policy, weakest first."""

    policy: Policy
    children: tuple[int | Branch, ...]
