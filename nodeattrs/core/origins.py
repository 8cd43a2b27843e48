"""Origins: the sources of a value, entry by entry. All functions that compute with them are here.

A *source* is a small number: of a layer, a slot, a part, a mark. The owner of the numbers knows what each one means.
The origins of a value are one of

    int         one source set the whole value, at the same path in its own tree
    SourcePath  one source set the whole value, at another path of its own tree
    PatchedOrigins  one source set the value, and another source later set a part inside of it
    tuple       several sources set it: equal elements of merged lists, or texts that were joined; () means no source
    dict, list  entry by entry, parallel to the value
    None        origins are not kept

No function changes its arguments. Code that makes one value of others uses the functions of `core.part`, so that
only these two modules handle origins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.tree import Path

Origins = Any
"""int | SourcePath | PatchedOrigins | tuple[Origins, ...] | dict[key, Origins] | list[Origins] | None"""


class SourcePath(NamedTuple):
    """A source, and the path in its own tree where it has the value. An element of a merged list has moved from there.

    source: the number of the source
    """

    source: int
    path: Path


class PatchedOrigins(NamedTuple):
    """Origins in two parts: *by* for the value at *path* in the tree, *base* for all other values."""

    base: Origins
    path: Path
    by: Origins


def patched(base: Origins, path: Path, by: Origins) -> Origins:
    """Origins like *base*, in which *by* replaces the origins of the part at *path*; *by* itself for the empty path.

    A list of origins is copied, and the element at the first step is replaced; missing elements before it become *by*,
    too. Other origins become a `PatchedOrigins`.
    """
    if type(base) is list and path:
        elements = base + [by] * (path[0] + 1 - len(base))
        elements[path[0]] = patched(elements[path[0]], path[1:], by)
        return elements
    if type(base) is PatchedOrigins and path[: len(base.path)] == base.path:
        return PatchedOrigins(base.base, base.path, patched(base.by, path[len(base.path) :], by))
    return PatchedOrigins(base, path, by) if path else by


def origins_at(origins: Origins, step: Any) -> Origins:
    """The origins of the entry at *step*, given the origins of its map or list.

    If one source set the whole map or list, the result is that source, even for an entry that does not exist. () for a
    key or index that is not in a dict or list of origins. None where origins are not kept.
    """
    kind = type(origins)
    if kind is int:
        return origins
    if kind is dict:
        return origins.get(step, ())
    if kind is list:
        return origins[step] if type(step) is int and -len(origins) <= step < len(origins) else ()
    if kind is SourcePath:
        return SourcePath(origins.source, (*origins.path, step))
    if kind is tuple:
        return tuple(origins_at(one, step) for one in origins)
    return _inside(origins, step) if kind is PatchedOrigins else origins


def _inside(patched: PatchedOrigins, step: Any) -> Origins:
    first, *rest = patched.path
    if first != step:
        return origins_at(patched.base, step)
    return PatchedOrigins(origins_at(patched.base, step), tuple(rest), patched.by) if rest else patched.by


def renumbered(origins: Origins, number: Callable[[int], int]) -> Origins:
    """A copy of *origins* in which each source becomes number(source); None stays None, and paths are kept."""
    kind = type(origins)
    if kind is int:
        return number(origins)
    if kind is SourcePath:
        return SourcePath(number(origins.source), origins.path)
    if kind is PatchedOrigins:
        return PatchedOrigins(renumbered(origins.base, number), origins.path, renumbered(origins.by, number))
    if kind is dict:
        return {key: renumbered(one, number) for key, one in origins.items()}
    if kind is list or kind is tuple:
        return kind(renumbered(one, number) for one in origins)
    return origins


def origins_by_key(origins: Origins, entries: Iterable[Any]) -> dict[Any, Origins] | None:
    """The origins of a map as a new dict: key -> origins; None where origins are not kept.

    entries: the keys of the map; not used where *origins* is a dict already, which is copied
    cost:    one look at each key
    """
    if type(origins) is dict:
        return origins.copy()
    if type(origins) is int:
        return dict.fromkeys(entries, origins)
    if origins is None:
        return None
    return {key: origins_at(origins, key) for key in entries}


def united(first: Origins, second: Origins) -> Origins:
    """The origins of a value that both *first* and *second* set: a tuple with both, each of its entries once.

    If the two are equal, *first* itself is returned. Of a tuple the entries are taken one by one. Origins of any other
    type, dicts and lists too, become one entry; `gathered` looks into them.
    """
    if first == second:
        return first
    several = list(first) if type(first) is tuple else [first]
    several += [one for one in (second if type(second) is tuple else (second,)) if one not in several]
    return tuple(several)


def gathered(*several: Origins) -> tuple[int | SourcePath, ...]:
    """All sources of several values, each once: the origins of a new value that was computed from these values.

    () without sources. A `SourcePath` comes back with the path of the whole value in its source, not of each part.
    """
    found: dict[int | SourcePath, None] = {}
    for origins in several:
        for now, one in _leaves(origins, ()):
            found.setdefault(_place_of_whole_value(one, now) if type(one) is SourcePath else one)
    return tuple(found)


def sources(origins: Origins) -> tuple[int, ...]:
    """The numbers of the sources in *origins*, each once, in order of first appearance; () for none.

    Of `PatchedOrigins` only the sources of *base* count.
    """
    return tuple(dict.fromkeys(one.source if type(one) is SourcePath else one for _, one in _leaves(origins, ())))


def places(origins: Origins, path: Path) -> Iterator[tuple[Path, SourcePath]]:
    """Yield (path now, `SourcePath`) for each part of the value at *path*: its path in this tree and in its source.

    Of `PatchedOrigins` only *base* is followed.
    """
    for now, one in _leaves(origins, path):
        yield now, one if type(one) is SourcePath else SourcePath(one, now)


def wholes(origins: Origins, path: Path) -> Iterator[SourcePath]:
    """Yield a `SourcePath` for each source of the value at *path*: where the source has the whole value.

    Each `SourcePath` comes once; nothing if there is no source. An entry that has another path in its source than here
    has a `SourcePath` of its own.
    """
    yield from dict.fromkeys(at for _, at in pieces(origins, path))


def pieces(origins: Origins, path: Path) -> Iterator[tuple[Path, SourcePath]]:
    """Yield (path, `SourcePath`) for each source of the value at *path*. A map or list that one source set comes once.

    The path is *path* itself; for an entry that has another path in its source, it is the path of the entry.
    """
    found = ((now, at, _place_of_whole_value(at, now[len(path) :])) for now, at in places(origins, path))
    yield from dict.fromkeys((now if whole is at else path, whole) for now, at, whole in found)


def _place_of_whole_value(at: SourcePath, inside: Path) -> SourcePath:
    """The place of the whole value in its source, given the place of a part, and the steps from the value to it."""
    return SourcePath(at.source, at.path[: len(at.path) - len(inside)]) if _moved_along(inside, at.path) else at


def _moved_along(inside: Path, own: Path) -> bool:
    """Whether *own* ends in the steps *inside*; an element of a list may have another index there, or a key."""
    if not inside or len(inside) > len(own):
        return False
    pairs = zip(inside, own[-len(inside) :], strict=True)
    keys = len(inside) < len(own)
    return all(one == other or (type(one) is int and (keys or type(other) is int)) for one, other in pairs)


def _leaves(origins: Origins, path: Path) -> Iterator[tuple[Path, Any]]:
    kind = type(origins)
    if kind is int or kind is SourcePath:
        yield path, origins
    elif kind is tuple:
        for one in origins:
            yield from _leaves(one, path)
    elif kind is PatchedOrigins:
        yield from _leaves(origins.base, path)
    elif kind is dict:
        for key, one in origins.items():
            yield from _leaves(one, (*path, key))
    elif kind is list:
        for index, one in enumerate(origins):
            yield from _leaves(one, (*path, index))
