"""The merged read: immutable, lazy by path, cached along the path, never stale.

A view is a window on maps that are joined but not merged. Reading a key folds that
one key and keeps the answer; a key that was never read costs nothing. The module knows no
writers, no origins and no names of slots. It is given maps and their policies, which must
be lazy (`Policy.is_lazy`).

Not dict and list subclasses: json, `dict()`, `**` and copy read those in C, past the
methods that fill them (docs/decisions/0004).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any, NoReturn, overload

from nodeattrs.core.borders import taking
from nodeattrs.core.looks import ENTRY, KEYS, SORT, TREE, Looks
from nodeattrs.core.tree import ABSENT, Path, meant, spell
from nodeattrs.errors import AttributeIsReadOnly, NoSuchAttribute, NoSuchElement, NullInTheWay, TypeConflict
from nodeattrs.node.joined import (
    entry_at,
    evaluated,
    has_key,
    keys_of,
    maps_at_version,
    plain,
    tree_at_version,
    unevaluated_copy,
)
from nodeattrs.node.maps import Joined
from nodeattrs.node.values import READY, Deferred, refuse_spelled, steps_in, steps_of


def no_step(here: Any, path: Path, step: Any) -> TypeConflict:
    """The error for a step from the value at *path*, which is not a map and no list; it is returned, not raised.

    NullInTheWay for null, else TypeConflict.
    """
    if here is None:
        return NullInTheWay(
            f"cannot step to {spell((step,))}: there is null or nothing at {spell(path)}", path=(*path, step)
        )
    return TypeConflict(f"cannot step to {spell((step,))}: {spell(path)} has no such place", path=(*path, step))


class _View:
    """What map and list views share: they refuse writes and say what to write instead."""

    __slots__ = ()

    _path: Path

    def _refuse(self, *steps: Any) -> NoReturn:
        path = (*self._path, *(one for step in steps for one in steps_in(step)))
        chain = "".join(f"[{step!r}]" for step in path)
        raise AttributeIsReadOnly(
            f"merged attributes are read-only: {spell(path)} belongs to no level here",
            path=path,
            hint=f"name the level: node.default{chain} = ... (or normal, override, force_default, force_override)",
        )

    def read(self, *path: Any) -> Any:
        """What stands at *path*, counted from here, or None; maps by key, lists by index, nothing through scalars.

        raises: BadArgument, where a lone text with dots is no key, and spells a path that is there
        """
        value = self._at(steps_of(path, self._path))
        if value is not ABSENT:
            return value
        refuse_spelled(path, self._there)
        return None

    dig = read

    def read_strict(self, *path: Any) -> Any:
        """As `read`. raises: NoSuchAttribute"""
        value = self._at(steps_of(path, self._path))
        if value is ABSENT:
            refuse_spelled(path, self._there)
            raise NoSuchAttribute(f"no attribute {spell((*self._path, *path))}", path=(*self._path, *path))
        return value

    def exist(self, *path: Any) -> bool:
        """Whether there is something at *path*, null included. raises: BadArgument, as `read`"""
        found = self._there(steps_of(path, self._path))
        if not found:
            refuse_spelled(path, self._there)
        return found

    def _there(self, path: Path) -> bool:
        """Whether there is something at some steps; a deferred value at their end is not computed."""
        if not path:
            return True
        parent, last = self._at(path[:-1]), path[-1]
        if isinstance(parent, ListView):
            return type(last) is int and -len(parent) <= last < len(parent)
        return isinstance(parent, Mapping) and last in parent

    def _at(self, path: Path) -> Any:
        here: Any = self
        for step in path:
            if isinstance(here, Mapping):
                here = here.get(step, ABSENT)
            elif isinstance(here, ListView) and type(step) is int and -len(here) <= step < len(here):
                here = here[step]
            else:
                return ABSENT
        return here

    def __setitem__(self, step: Any, value: Any) -> NoReturn:
        self._refuse(step)

    def __delitem__(self, step: Any) -> NoReturn:
        self._refuse(step)

    def clear(self) -> NoReturn:
        """raises: AttributeIsReadOnly, as every method that would write"""
        self._refuse()

    def pop(self, *steps: Any) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse(*steps[:1])

    def delete(self, *steps: Any) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse(*steps[:1])

    def __copy__(self) -> _View:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self.to_plain(evaluate=True)

    def __reduce__(self) -> tuple[Any, ...]:
        data = self.to_plain(evaluate=True)
        return type(data), (data,)

    def to_plain(self, evaluate: bool = False) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(self.to_plain(evaluate=False))


class Version:
    """The state of a ledger's trees between two writes; a view shows one version for good.

    number: greater than those of all versions before it, also of other ledgers, with which trees are shared
    lock:   the ledger's; held while the maps are read or changed
    looks:  where reads of facts are noted; None: nowhere
    is_old: whether something was written since
    """

    __slots__ = ("is_old", "lock", "looks", "number")

    def __init__(self, lock: RLock, looks: Looks | None = None) -> None:
        self.number = next(_numbers)
        self.lock = lock
        self.looks = looks
        self.is_old = False

    def reading(self, kind: str, path: Path) -> AbstractContextManager[object]:
        """The block of one read: the lock is held; where looks are noted, this one is, and no other."""
        if self.looks is None:
            return self.lock
        self.looks.note(kind, path)
        return _quietly(self.lock, self.looks)


@contextmanager
def _quietly(lock: RLock, looks: Looks) -> Iterator[None]:
    with lock, looks.quiet():
        yield


_numbers = itertools.count(1)
UNCHANGING = Version(RLock())
"""The version of maps to which nothing is written."""


class ReadCache(dict[Any, Any]):
    """The values of a map that were read so far, by key; reading a key that is not in it merges that key.

    A view's subscript is this dict's own, so that a repeated read runs no Python at all (docs/decisions/0004). Scalars
    and views are kept; a deferred value is computed at each read. An absent key raises NoSuchAttribute.

    part:    the maps of the view, joined and not merged
    version: the version that it shows
    path:    of the view
    order:   the keys of the map, once they are known; else None
    """

    __slots__ = ("order", "part", "path", "version")

    def __init__(self, part: Any, version: Version, path: Path) -> None:
        self.part, self.version, self.path = part, version, path
        self.order: tuple[Any, ...] | None = None

    def maps(self) -> Any:
        """The maps to merge, as they are in this version. The caller holds the lock."""
        if self.version.is_old:
            self.part = maps_at_version(self.part, self.version.number)
        return self.part

    def __missing__(self, key: Any) -> Any:
        if type(key) is tuple and key:
            return read_steps(self, self.path, key)
        path = (*self.path, key)
        with self.version.reading(ENTRY, path):
            value = entry_at(self.maps(), key)
        kind = type(value)
        if kind in READY:
            self[key] = value
            return value
        if kind is Joined or isinstance(value, dict):
            return self.setdefault(key, MapView(value, self.version, path))
        if kind is list:
            return self.setdefault(key, ListView(value, path))
        if value is ABSENT:
            raise self._absent(key, path)
        if self.version.looks is None:
            return _read(value, path)
        with self.version.looks.brief(is_brief=False):  # a function may decide something
            return _read(value, path)

    def ordered_keys(self) -> tuple[Any, ...]:
        """All keys of the map, weaker maps first; found at the first call."""
        if self.order is None:
            with self.version.reading(KEYS, self.path):
                self.order = tuple(keys_of(self.maps()))
        return self.order

    def _absent(self, key: Any, path: Path) -> NoSuchAttribute:
        hint = meant(key, self.ordered_keys()) or "use .get(...) or .read(...) for None instead"
        if isinstance(key, str) and "." in key:
            hint = f"a dot belongs to its key; a path is steps: {''.join(f'[{step!r}]' for step in key.split('.'))}"
        return NoSuchAttribute(f"no attribute {spell(path)}", path=path, hint=hint)


def read_steps(here: Any, path: Path, steps: tuple[Any, ...]) -> Any:
    """The value some steps below a view; () gives the view itself.

    here:   a view or its ReadCache, at *path*
    raises: NoSuchAttribute or NoSuchElement, for an absent step; NullInTheWay, TypeConflict, where one leads through a
            scalar
    """
    for depth, step in enumerate(steps):
        if not isinstance(here, (MapView, ListView, ReadCache)):
            raise no_step(here, (*path, *steps[:depth]), step)
        here = here[step]
    return here


class MapView(_View, Mapping[Any, Any]):
    """A merged map, read-only. It never changes; deferred values in it are computed when they are read.

    An absent key raises NoSuchAttribute (a KeyError); `.get(key)` gives None instead. Several steps may be taken in one
    subscript: `node["a", "b"]` is `node["a"]["b"]`. A write raises AttributeIsReadOnly.
    cost: the first read of a key merges that key, the next ones are one look-up
    """

    __slots__ = ("__getitem__", "__weakref__", "_cache", "_path")

    __getitem__: Any

    def __init__(self, part: Any, version: Version = UNCHANGING, path: Path = ()) -> None:
        self._cache = ReadCache(part, version, path)
        self._path = path
        self.__getitem__ = self._cache.__getitem__

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cache.ordered_keys())

    def __len__(self) -> int:
        return len(self._cache.ordered_keys())

    def __contains__(self, key: object) -> bool:
        cache = self._cache
        if key in cache:
            return True
        if type(key) is tuple and key:
            return self._there(key)
        with cache.version.reading(SORT, (*self._path, key)):
            return has_key(cache.maps(), key)

    def __eq__(self, other: object) -> bool:
        # Compared in C: view by view would take several frames a level.
        if isinstance(other, MapView):
            return bool(self.to_dict() == other.to_dict())
        return bool(self.to_dict() == dict(other)) if isinstance(other, Mapping) else NotImplemented

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of *key*, or *default* where it is not set."""
        # Not by catching KeyError: a deferred value may raise one of its own.
        return self[key] if key in self else default  # noqa: SIM401

    @taking(other=Mapping)
    def merge(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        """A plain copy with the entries of *other* laid over it, one level deep."""
        return {**self.to_dict(), **other}

    __or__ = merge

    def to_dict(self, evaluate: bool = True) -> dict[Any, Any]:
        """A plain, independent copy: dicts, lists and scalars.

        evaluate: compute deferred values; otherwise they stay in it as they are
        """
        plain: dict[Any, Any] = self.to_plain(evaluate)
        return plain

    def to_plain(self, evaluate: bool = False) -> Any:
        """An independent plain copy, for code that stores a view. evaluate: True computes deferred values"""
        cache = self._cache
        odd: dict[Any, None] = {}
        with cache.version.reading(TREE, self._path):
            part = tree_at_version(cache.part, cache.version.number) if cache.version.is_old else cache.part
            data = unevaluated_copy(part, odd)
        return evaluated(data, odd, self._path) if evaluate else data

    def update(self, *entries: Any, **more: Any) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse()

    def setdefault(self, key: Any, value: Any = None) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse(key)

    popitem = _View.clear


class ListView(_View, Sequence[Any]):
    """A merged list, read-only. It never changes; deferred values in it are computed when they are read.

    An index out of range raises NoSuchElement, a slice gives a plain list. A write raises AttributeIsReadOnly.
    """

    __slots__ = ("_items", "_path")

    def __init__(self, items: list[Any], path: Path = ()) -> None:
        self._items = items  # lists in slots are never changed in place
        self._path = path

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    @overload
    def __getitem__(self, index: tuple[Any, ...]) -> Any: ...
    def __getitem__(self, index: int | slice | tuple[Any, ...]) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self._items)))]
        if type(index) is tuple and index:
            return read_steps(self, self._path, index)
        path = (*self._path, index)
        if type(index) is not int:
            raise TypeConflict(f"a list has no key {spell((index,))}: {spell(self._path)} is a list", path=path)
        if not -len(self._items) <= index < len(self._items):
            raise NoSuchElement(f"no element {spell(path)}: the list has {len(self._items)}", path=path)
        return _read(self._items[index], path)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (list, tuple, ListView)):
            return self.to_list() == _as_list(other)
        return NotImplemented

    def __add__(self, other: Sequence[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Any]) -> list[Any]:
        return [*other, *self]

    def to_list(self, evaluate: bool = True) -> list[Any]:
        """An independent plain copy. evaluate: False leaves deferred values in it as they are"""
        plain: list[Any] = self.to_plain(evaluate)
        return plain

    def to_plain(self, evaluate: bool = False) -> Any:
        """An independent plain copy, for code that stores a view. evaluate: True computes deferred values"""
        return plain(self._items, evaluate, self._path)

    def append(self, *values: Any) -> NoReturn:
        """raises: AttributeIsReadOnly, as every method that would write"""
        self._refuse()

    extend = insert = push = concat = unshift = sort = reverse = replace = append
    shift = delete_at = uniq = remove = __iadd__ = append


def _as_list(value: Any) -> list[Any]:
    return value.to_list() if isinstance(value, ListView) else list(value)


def _read(value: Any, path: Path) -> Any:
    kind = type(value)
    if kind in READY:
        return value
    if kind is list:
        return ListView(value, path)
    if kind is Joined or isinstance(value, dict):
        return MapView(value, path=path)
    if kind is Deferred:
        data = value.evaluate(path)
        return _read(data, path) if type(data) is dict or type(data) is list else data
    return value.read(path)
