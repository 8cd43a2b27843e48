"""The maps that slots are made of.

A map in a slot's tree is either *frozen*: an exact dict that never changes after
it was copied in, with all below it; or *owned*: one of the two classes here, which a
write may change in place as long as it is not shared. Loading makes frozen
maps only; a write owns the maps on its path, one level each.

A write in place notes what it replaces, so that views of earlier versions still find it
(docs/decisions/0004).

Never handed out: C code reads past the methods of a dict subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from nodeattrs.core.origins import At, Origins, origins_at, renumbered, wholes
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT, Path, dig


class WorkedList(list[Origins]):
    """Who set each element of a list that was worked on in place, and who worked on it.

    begun: the marks of whoever set the list that it began with
    steps: the marks of those who went on with it, each once, the last one last
    """

    __slots__ = ("begun", "steps")

    begun: tuple[int, ...]
    steps: tuple[int, ...]

    def __init__(self, elements: Iterable[Origins], begun: tuple[int, ...], steps: tuple[int, ...]) -> None:
        super().__init__(elements)
        self.begun = begun
        self.steps = steps


SetBy = int | list[Origins]
"""Who set an entry: the number of a mark; for a list that was united or worked on in place, one for each element."""


def element_setters(set_by: SetBy, path: Path, length: int) -> list[Origins]:
    """Who set each element of a list at *path*; not to be changed."""
    return set_by if isinstance(set_by, list) else [_new(At, (set_by, (*path, index))) for index in range(length)]


_new: Any = tuple.__new__  # of an `At`, without a frame of its own


def first_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks of whoever set a list, before anybody worked on it in place."""
    if isinstance(set_by, WorkedList):
        return set_by.begun
    if isinstance(set_by, list):
        return tuple(dict.fromkeys(setter.source for one in set_by for setter in setters(one, ())))
    return (set_by,)


def later_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks of those who worked on a list in place, the last one last."""
    return set_by.steps if isinstance(set_by, WorkedList) else ()


def with_later_mark(set_by: SetBy, elements: list[Origins], mark: int) -> WorkedList:
    """The same list after one more step of work in place.

    elements: who set each element now
    """
    if type(set_by) is int:  # nobody has so far
        return WorkedList(elements, (set_by,), (mark,))
    return WorkedList(elements, first_marks(set_by), (*(one for one in later_marks(set_by) if one != mark), mark))


def last_mark(set_by: SetBy) -> int:
    """The mark of whoever set a list as a whole, or was the last to work on it."""
    if type(set_by) is int:
        return set_by
    if isinstance(set_by, WorkedList) and (set_by.steps or set_by.begun):
        return (set_by.steps or set_by.begun)[-1]
    return max(first_marks(set_by), default=0)


def setters(set_by: Origins, at: Path, inside: Path = ()) -> Iterator[At]:
    """Who set what lies *inside* an element, the first one first, and at which path.

    at: the element's own path now
    """
    for step in inside:
        set_by = origins_at(set_by, step)
    return wholes(set_by, (*at, *inside))


def renumbered_marks(set_by: Any, number: Callable[[int], int]) -> Any:
    """The same with other marks."""
    if isinstance(set_by, WorkedList):
        elements = [renumbered(one, number) for one in set_by]
        return WorkedList(elements, tuple(map(number, set_by.begun)), tuple(map(number, set_by.steps)))
    return renumbered(set_by, number)


class OwnedMap(dict[Any, Any]):
    """A map that a write may change.

    origin:  the mark of every entry without one of its own; 0 where nobody is noted
    origins: key -> the mark of that entry
    past:    what writes in place have replaced: version, key and value; ABSENT where the key was new
    shared:  another tree has this map, too: copy it before you change it. Never cleared.
    since:   the last version that does not have this map: views of it and of earlier ones never look here
    """

    __slots__ = ("origin", "origins", "past", "shared", "since")

    origin: int
    origins: dict[Any, SetBy]
    past: list[tuple[int, Any, Any]]
    shared: bool
    since: int

    def __init__(self, entries: dict[Any, Any] | tuple[()] = (), origin: int = 0) -> None:
        if entries:  # every node begins with sixteen that have none
            super().__init__(entries)
        self.origin = origin
        self.origins = {}
        self.past = []
        self.shared = False
        self.since = 0


class AssignedMap(OwnedMap):
    """A map that a recipe assigned as a whole: it hides what the attribute files say there."""

    __slots__ = ()


def owned_copy(frozen: dict[Any, Any], origin: int) -> OwnedMap:
    """An owned map with the entries of a frozen one. cost: a shallow copy"""
    return OwnedMap(frozen, origin)


def writable_copy(original: OwnedMap) -> OwnedMap:
    """A copy to write to, without a past. The owned children of a shared map are shared from now on.

    cost: one level
    """
    copy = type(original)(original, original.origin)
    copy.origins = original.origins.copy()
    if original.shared:
        for entry in original.values():
            if isinstance(entry, OwnedMap):
                entry.shared = True
    return copy


def at_version(tree: OwnedMap, version: int) -> OwnedMap:
    """What a map had at a version: the map itself, where nothing was written to it since, or a copy.

    cost: one level, and what was written since
    """
    if not tree.past or tree.past[-1][0] < version:
        return tree
    copy = type(tree)(tree, tree.origin)
    for replaced_at, key, value in reversed(tree.past):
        if replaced_at < version:
            break
        if value is ABSENT:
            del copy[key]  # it was the last one
        else:
            copy[key] = value
    return copy


def setters_at(tree: Any, set_by: SetBy, inside: Path, at: Path = ()) -> list[At]:
    """Everyone who set what a tree has at *inside*: the nearest marks on the way there.

    set_by: who set the tree itself
    at:   where the tree stands, or stood, in its slot
    cost: the depth of the path
    """
    for depth, step in enumerate(inside):
        if isinstance(set_by, list):
            element = set_by[step] if type(step) is int and 0 <= step < len(set_by) else 0
            return list(setters(element, (*at, *inside[: depth + 1]), inside[depth + 1 :]))
        if isinstance(tree, OwnedMap):
            set_by = tree.origins.get(step, tree.origin)
        tree = dig(tree, (step,))
    return [At(last_mark(set_by), (*at, *inside))]


def set_by_at(tree: OwnedMap, path: Path) -> tuple[SetBy, Any]:
    """Who set what a tree has at *path*, by the nearest mark on the way there, and what that is."""
    here: Any = tree
    set_by: SetBy = tree.origin
    for step in path:
        if isinstance(here, OwnedMap):
            set_by = here.origins.get(step, here.origin)
            here = here.get(step, ABSENT)
        else:
            here = dig(here, (step,))
    return set_by, here


def has_integer_key(tree: Any) -> bool:
    """Whether a number is a key somewhere in a tree, or in a list of them. cost: level by level, in C but for maps"""
    level = [tree]
    while level:
        maps = [part for part in level if type(part) is not list]
        if int in {*map(type, chain.from_iterable(maps))}:
            return True
        inside = [part if type(part) is list else part.values() for part in level]
        level = [inner for inner in chain.from_iterable(inside) if type(inner) in _CONTAINERS]
    return False


_CONTAINERS = {dict, list, OwnedMap, AssignedMap}
"""What a tree is made of."""


# --- several of them


class Joined:
    """Several maps that meet under one policy, weakest first, not merged yet.

    members: frozen maps, owned maps, and further joined ones; only those that really contribute
    """

    __slots__ = ("members", "policy")

    def __init__(self, policy: Policy, members: list[Any]) -> None:
        self.policy, self.members = policy, members


class Branch(NamedTuple):
    """Part of a plan: trees (by number) and branches that meet under one policy, weakest first."""

    policy: Policy
    children: tuple[int | Branch, ...]
