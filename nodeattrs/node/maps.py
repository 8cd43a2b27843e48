"""The maps that slots are made of, and the origins of their entries.

A map in a slot is *frozen* or *owned*. A frozen map is a plain dict. It never changes after it was copied in, and nor
do the maps and lists inside. A write may change an `OwnedMap` in place, as long as it is not shared. Loaded data is
frozen; a write replaces each map on its path by an owned copy of this one level. The origin of an entry is a mark: the
number of the line that set it. A *version* is the number of a state that a view shows; what a later write replaces is
kept under it. Neither kind of map is handed to users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.looks import TREE, Looks
from nodeattrs.core.origins import Origins, SourcePath, origins_at, renumbered, wholes
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT, Path, dig


class ChangedListOrigins(list[Origins]):
    """The origins of a list that was changed in place: the origins of each element, and the marks that made the list.

    first: the marks that set the list before its first change in place; several if it was merged from lists
    later: the marks of the changes in place, each once, the last change last
    """

    __slots__ = ("first", "later")

    def __init__(self, elements: Iterable[Origins], first: tuple[int, ...], later: tuple[int, ...]) -> None:
        super().__init__(elements)
        self.first = first
        self.later = later


SetBy = int | list[Origins]
"""The origin of an entry: a mark. A list that was merged from lists or changed in place has an origin per element."""


def element_origins(set_by: SetBy, path: Path, length: int) -> list[Origins]:
    """A list of the origins of a list's elements, one for each. It may be *set_by* itself: the caller must not change
    it.

    set_by: the origin of the list
    path:   of the list in its slot
    length: the number of elements
    """
    return set_by if isinstance(set_by, list) else [SourcePath(set_by, (*path, index)) for index in range(length)]


def first_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks of the lines that set an entry before any change in place, each once.

    A mark gives itself alone. A list whose elements have their own origins gives the marks of the elements; a list that
    was changed in place gives the `first` marks of `ChangedListOrigins`.
    """
    if isinstance(set_by, ChangedListOrigins):
        return set_by.first
    if isinstance(set_by, list):
        return tuple(dict.fromkeys(setter.source for one in set_by for setter in setters_in_element(one, ())))
    return (set_by,)


def later_marks(set_by: SetBy) -> tuple[int, ...]:
    """The marks that changed a list in place, the last one last; () for an entry that was not changed in place."""
    return set_by.later if isinstance(set_by, ChangedListOrigins) else ()


def with_later_mark(set_by: SetBy, elements: list[Origins], mark: int) -> ChangedListOrigins:
    """The origins of a list after one more change in place, by *mark*. Earlier changes by *mark* are left out.

    set_by:   the origin of the list before the change
    elements: the origins of its elements now
    """
    earlier = [one for one in later_marks(set_by) if one != mark]
    return ChangedListOrigins(elements, first_marks(set_by), (*earlier, mark))


def last_mark(set_by: SetBy) -> int:
    """The newest mark of an entry: of the last change in place, else of the line that set it; 0 for an empty list."""
    if type(set_by) is int:
        return set_by
    if isinstance(set_by, ChangedListOrigins) and (set_by.later or set_by.first):
        return (set_by.later or set_by.first)[-1]
    return max(first_marks(set_by), default=0)


def setters_in_element(set_by: Origins, at: Path, inside: Path = ()) -> Iterator[SourcePath]:
    """Yield a mark and a path in the slot for each line that set the value at *inside* in a list's element.

    The first setter comes first. There are several if equal elements of merged lists became one.
    set_by: the origins of the element
    at:     the element's path now, ending in its index
    """
    for step in inside:
        set_by = origins_at(set_by, step)
    return wholes(set_by, (*at, *inside))


def renumbered_marks(set_by: Any, number: Callable[[int], int]) -> Any:
    """A copy of the origins of an entry in which *number* replaces each mark."""
    if isinstance(set_by, ChangedListOrigins):
        elements = [renumbered(one, number) for one in set_by]
        return ChangedListOrigins(elements, tuple(map(number, set_by.first)), tuple(map(number, set_by.later)))
    return renumbered(set_by, number)


class OwnedMap(dict[Any, Any]):
    """A map of a slot with the origins of its entries. The ledger changes it in place, or a copy of it if it is shared.

    As a dict it has the current entries. A view of an earlier version finds the replaced ones in `past` (`at_version`
    does this). The constructor copies *entries*. Writing to the dict directly records nothing; only the ledger may do
    so.

    origin:  the mark of every entry without an origin of its own; 0: not known
    origins: key -> the origin of that entry
    past:    (version, key, old value) for each change in place, the last one last. The version is the last one that
             shows the old value, which is ABSENT if the key was new
    shared:  True: another tree has this map, too, so a write copies it first. Never set back to False
    since:   the number of the last version that did not have this map. Views of that version and of earlier ones do not
             read it
    """

    __slots__ = ("origin", "origins", "past", "shared", "since")

    def __init__(self, entries: dict[Any, Any] | tuple[()] = (), origin: int = 0) -> None:
        super().__init__(entries)
        self.origin = origin
        self.origins: dict[Any, SetBy] = {}
        self.past: list[tuple[int, Any, Any]] = []
        self.shared = False
        self.since = 0


class AssignedMap(OwnedMap):
    """A map that a recipe assigned as a whole, so that it hides the attribute file's values below its path."""

    __slots__ = ()


class WatchedMap(OwnedMap):
    """The root map of a node's facts while reads are noted. Reading a key notes a look at all facts below that key.

    Iterating, comparing or copying the map notes a look at all facts. Views of the node note the exact path that was
    read; they read this map in a way that notes nothing.

    entries: are copied; nothing is noted for that
    looks:   where reads are noted. None: the `Looks` of *entries* if that is a WatchedMap, otherwise new `Looks`
    """

    __slots__ = ("looks",)

    def __init__(self, entries: dict[Any, Any], origin: int = 0, looks: Looks | None = None) -> None:
        super().__init__((), origin)
        dict.update(self, dict.items(entries))
        self.looks: Looks = entries.looks if looks is None and isinstance(entries, WatchedMap) else looks or Looks()

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

    def __ne__(self, other: object) -> bool:
        self.looks.note(TREE, ())
        return super().__ne__(other)

    __hash__ = None  # type: ignore[assignment]  # as any dict


def writable_copy(original: OwnedMap) -> OwnedMap:
    """A copy of one map for a write, of the same class: entries and origins, without `past`, not shared.

    The maps inside are the same objects. If *original* is shared, they are marked as shared, too.
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
    """The map before the writes that it recorded under *version* or later.

    If there are none, the map itself is returned, else a copy without origins. Only this level is taken back: the maps
    inside are the current ones. cost: one level, and the writes that are taken back
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


def setters_at(tree: Any, set_by: SetBy, inside: Path, at: Path = ()) -> list[SourcePath]:
    """The marks of the lines that set the value at *inside* of a tree, each with the path of the value in the slot.

    There is one, except for an element that several merged lists had. For a value that is absent, it is the mark of the
    nearest map above, with the path of the absent value.
    set_by: the origin of the tree itself
    at:     the path of the tree in its slot
    cost:   the depth of the path
    """
    for depth, step in enumerate(inside):
        if isinstance(set_by, list):
            element = set_by[step] if type(step) is int and 0 <= step < len(set_by) else 0
            return list(setters_in_element(element, (*at, *inside[: depth + 1]), inside[depth + 1 :]))
        if isinstance(tree, OwnedMap):
            set_by = tree.origins.get(step, tree.origin)
        tree = dig(tree, (step,))
    return [SourcePath(last_mark(set_by), (*at, *inside))]


def set_by_at(tree: OwnedMap, path: Path) -> tuple[SetBy, Any]:
    """Returns (origin, value) at *path* in a slot's tree.

    Where *path* is not set, the value is ABSENT, with the origin of the nearest map above. Inside a list or a frozen
    map, the whole list or map has the origin.
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


# --- maps that are merged later


class Joined:
    """Several maps that will be merged key by key under one policy, when a key is read. Making one merges nothing.

    `joined.entry_at` reads a key, `joined.plain` merges all.
    members: two or more maps, the weakest first: frozen, owned, or `Joined` again
    """

    __slots__ = ("members", "policy")

    def __init__(self, policy: Policy, members: list[Any]) -> None:
        self.policy, self.members = policy, members


class Branch(NamedTuple):
    """A part of the order of precedence: what is merged under one policy. It holds no values.

    children: slots by number and further branches, the weakest first; a branch is merged before it meets the others
    """

    policy: Policy
    children: tuple[int | Branch, ...]
