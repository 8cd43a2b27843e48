"""The maps that slots are made of.

A map in a slot's tree is either *frozen* or *owned*. A frozen map is an exact dict that never changes after
it was copied in, with all below it. An owned map is one of the two classes here: a write may change it in place
as long as it is not shared. Loading makes frozen maps only; a write makes the maps on its path owned, one level each.

A write in place notes the values it replaces, so that views of earlier versions still find them
(docs/decisions/0004).

Never handed out: C code reads past the methods of a dict subclass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.looks import TREE, Looks
from nodeattrs.core.origins import At, Origins, origins_at, renumbered, wholes
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT, Path, dig


class WorkedList(list[Origins]):
    """The origins of a list's elements, one for each, of a list that was changed in place, and the marks of these
    changes.

    begun: the marks that set the list before the first change
    steps: the marks that changed it, each once, the last one last
    """

    __slots__ = ("begun", "steps")

    begun: tuple[int, ...]
    steps: tuple[int, ...]

    def __init__(self, elements: Iterable[Origins], begun: tuple[int, ...], steps: tuple[int, ...]) -> None:
        super().__init__(elements)
        self.begun = begun
        self.steps = steps


SetBy = int | list[Origins]
"""The origin of an entry: a mark number; for a list that was united or changed in place, one for each element."""


def element_setters(set_by: SetBy, path: Path, length: int) -> list[Origins]:
    """The origins of a list's elements, one for each; the caller must not change the list.

    path:   of the list in its slot
    length: the number of elements
    """
    return set_by if isinstance(set_by, list) else [At(set_by, (*path, index)) for index in range(length)]


def first_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks that set a list before any change in place; for an entry with one mark that mark."""
    if isinstance(set_by, WorkedList):
        return set_by.begun
    if isinstance(set_by, list):
        return tuple(dict.fromkeys(setter.source for one in set_by for setter in setters(one, ())))
    return (set_by,)


def later_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks that changed a list in place, the last one last; () for none."""
    return set_by.steps if isinstance(set_by, WorkedList) else ()


def with_later_mark(set_by: SetBy, elements: list[Origins], mark: int) -> WorkedList:
    """The origins of a list after one more change in place, by *mark*.

    elements: the origins of its elements now
    """
    if type(set_by) is int:  # no change so far
        return WorkedList(elements, (set_by,), (mark,))
    return WorkedList(elements, first_marks(set_by), (*(one for one in later_marks(set_by) if one != mark), mark))


def last_mark(set_by: SetBy) -> int:
    """The mark of the last change of a list in place; without a change, the mark that set it; 0 for none."""
    if type(set_by) is int:
        return set_by
    if isinstance(set_by, WorkedList) and (set_by.steps or set_by.begun):
        return (set_by.steps or set_by.begun)[-1]
    return max(first_marks(set_by), default=0)


def setters(set_by: Origins, at: Path, inside: Path = ()) -> Iterator[At]:
    """Yield the origins of the value *inside* an element, the first setter first, each with the path in the slot.

    set_by: the origins of the element
    at:     the element's own path now
    """
    for step in inside:
        set_by = origins_at(set_by, step)
    return wholes(set_by, (*at, *inside))


def renumbered_marks(set_by: Any, number: Callable[[int], int]) -> Any:
    """A copy of the origins of an entry in which *number* replaces each mark."""
    if isinstance(set_by, WorkedList):
        elements = [renumbered(one, number) for one in set_by]
        return WorkedList(elements, tuple(map(number, set_by.begun)), tuple(map(number, set_by.steps)))
    return renumbered(set_by, number)


class OwnedMap(dict[Any, Any]):
    """A map that a write may change in place, unless it is shared.

    origin:  the mark of every entry without a mark of its own; 0: not known
    origins: key -> the mark of that entry; for a list that was united or changed in place one for each element
    past:    (version, key, value) for each value that was replaced in place; ABSENT where the key was new
    shared:  another tree has this map, too: a write copies it first. Never cleared.
    since:   the last version that does not have this map: its views and earlier ones never look here
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
    """A map that a recipe assigned as a whole: it hides the attribute files' values below its path."""

    __slots__ = ()


class WatchedMap(OwnedMap):
    """The facts of a node whose run notes where it looks: each read of a key notes all below that key.

    `view` notes its own reads, path by path, within `Looks.quiet`.
    looks: where reads are noted
    """

    __slots__ = ("looks",)

    looks: Looks

    def __init__(self, entries: dict[Any, Any], origin: int = 0, looks: Looks | None = None) -> None:
        super().__init__((), origin)
        dict.update(self, dict.items(entries))
        self.looks = entries.looks if looks is None and isinstance(entries, WatchedMap) else looks or Looks()

    def __getitem__(self, key: Any) -> Any:
        self.looks.note(TREE, (key,))
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.looks.note(TREE, (key,))
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.looks.note(TREE, (key,))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[Any]:
        self.looks.note(TREE, ())
        return super().__iter__()

    def __bool__(self) -> bool:
        return super().__len__() > 0  # not noted: a run sets facts of its own, so that no node is without any

    def __len__(self) -> int:
        self.looks.note(TREE, ())
        return super().__len__()

    def __reversed__(self) -> Iterator[Any]:
        self.looks.note(TREE, ())
        return super().__reversed__()

    def __repr__(self) -> str:
        self.looks.note(TREE, ())
        return super().__repr__()

    def keys(self) -> Any:
        self.looks.note(TREE, ())
        return super().keys()

    def values(self) -> Any:
        self.looks.note(TREE, ())
        return super().values()

    def items(self) -> Any:
        self.looks.note(TREE, ())
        return super().items()

    def copy(self) -> dict[Any, Any]:
        self.looks.note(TREE, ())
        return super().copy()

    def __eq__(self, other: object) -> bool:
        self.looks.note(TREE, ())
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as any dict


def writable_copy(original: OwnedMap) -> OwnedMap:
    """A copy of one map for a write: entries and marks, without `past`, not shared.

    Owned maps inside a shared map are marked as shared.
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
    """The map as it was at a version: the map itself where no write has changed it since, else a copy.

    Only this map: maps inside are the current ones. cost: one level, and the writes since then
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
    """The origins of the value that a tree has at *inside*: the nearest marks on the way there, each with its path.

    One, or several for an element of a united list. For an absent value: the mark of the map above.
    set_by: the origins of the tree itself
    at:     the path of the tree in its slot
    cost:   the depth of the path
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
    """Returns (mark, value) of *path*: the mark that set the value, and the value.

    For a list that was united or changed in place, the origins of its elements stand for the mark. Where nothing is
    set at *path*, the nearest map above gives the mark, and the value is ABSENT.
    """
    here: Any = tree
    set_by: SetBy = tree.origin
    for step in path:
        if isinstance(here, OwnedMap):
            set_by = here.origins.get(step, here.origin)
            here = here.get(step, ABSENT)
        else:
            here = dig(here, (step,))
    return set_by, here


# --- several of them


class Joined:
    """Several maps that are merged key by key under one policy when they are read, the weakest first.

    members: frozen maps, owned maps, and further `Joined` ones; only those that really contribute
    """

    __slots__ = ("members", "policy")

    def __init__(self, policy: Policy, members: list[Any]) -> None:
        self.policy, self.members = policy, members


class Branch(NamedTuple):
    """Part of a plan of precedence: slots (by number) and further branches, merged under one policy, weakest first."""

    policy: Policy
    children: tuple[int | Branch, ...]
