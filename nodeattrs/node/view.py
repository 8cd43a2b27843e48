"""The merged view of a node: read-only maps and lists that merge a key when it is first read.

A view looks at maps that are joined but not merged (`maps.Joined`). Reading a key merges that key and keeps the result.
A view shows one *version*: the state of the trees between two writes. It never changes, also after later writes.
Writers, origins and slots are not known here; policies must be lazy (`Policy.is_lazy`).

Views are no subclasses of dict and list: json, `dict()`, `**` and copy read those in C, past the methods that merge
(docs/decisions/0004).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any, NoReturn

from nodeattrs.core.borders import checked_args
from nodeattrs.core.looks import ENTRY, KEYS, SORT, TREE, Looks
from nodeattrs.core.tree import ABSENT, Path, hint_for, spell
from nodeattrs.errors import AttributeIsReadOnly, NoSuchAttribute, NoSuchElement, NullInTheWay, TypeConflict
from nodeattrs.node.joined import (
    entry_at,
    keys_of,
    maps_at_version,
    plain,
    tree_at_version,
    unevaluated_copy,
)
from nodeattrs.node.maps import Joined
from nodeattrs.node.values import READY, Deferred, Withheld, computed, refuse_spelled, steps_in, steps_of


def step_error(here: Any, path: Path, step: Any) -> TypeConflict:
    """The error for a step from the value *here* at *path*, which is neither map nor list; it is returned, not raised.

    NullInTheWay where *here* is None, else TypeConflict.
    """
    if here is None:
        return NullInTheWay(
            f"cannot step to {spell((step,))}: there is null or nothing at {spell(path)}", path=(*path, step)
        )
    return TypeConflict(f"cannot step to {spell((step,))}: {spell(path)} has no such place", path=(*path, step))


class _View:
    """The base of map and list views: reading by path, and an error with a hint for each method that would write."""

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
        """The value at *path*, counted from this view; None where it is not set. Maps go by key, lists by index.

        raises: BadArgument, where *path* is one text with dots that is no key, but spells a path that is set
        """
        value = self._at(steps_of(path, self._path))
        if value is not ABSENT:
            return value
        refuse_spelled(path, self._there)
        return None

    dig = read

    def read_strict(self, *path: Any) -> Any:
        """The value at *path*, counted from this view. raises: NoSuchAttribute, where it is not set"""
        value = self._at(steps_of(path, self._path))
        if value is ABSENT:
            refuse_spelled(path, self._there)
            raise NoSuchAttribute(f"no attribute {spell((*self._path, *path))}", path=(*self._path, *path))
        return value

    def exist(self, *path: Any) -> bool:
        """Whether a value is set at *path*, null included; deferred values at its end are not computed.

        raises: BadArgument, where *path* is one text with dots that is no key, but spells a path that is set
        """
        found = self._there(steps_of(path, self._path))
        if not found:
            refuse_spelled(path, self._there)
        return found

    def _there(self, path: Path) -> bool:
        """Whether a value is set at some steps; True for no steps. A deferred value at their end is not computed."""
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

    def clear(self, *values: Any, **more: Any) -> NoReturn:
        """Never returns, like each method that would write. raises: AttributeIsReadOnly"""
        self._refuse()

    def pop(self, *steps: Any) -> NoReturn:
        """Never returns, like each method that would write. raises: AttributeIsReadOnly, with the path in its hint"""
        self._refuse(*steps[:1])

    delete = pop

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
    """The state of a ledger's trees between two writes. It has a number, and holds no values.

    Read the maps inside `with version.reading(kind, path):`, which holds the lock and notes the read as a look.

    number: greater than the numbers of all earlier versions, also of other ledgers, since ledgers may share maps
    lock:   the ledger's lock; held while its maps are read or changed
    looks:  where reads of facts are noted; None: nowhere
    is_old: whether the ledger was written since; the write sets it to True
    """

    __slots__ = ("is_old", "lock", "looks", "number")

    def __init__(self, lock: RLock, looks: Looks | None = None) -> None:
        self.number = next(_numbers)
        self.lock = lock
        self.looks = looks
        self.is_old = False

    def reading(self, kind: str, path: Path) -> AbstractContextManager[object]:
        """A context manager for one read of the maps, which holds the lock.

        If looks are noted, this call notes one, before the block is entered. Reads of a `WatchedMap` inside the block
        are not noted again.
        kind: of the look (`core.looks`)
        path: what is read
        """
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
"""The version of maps that never change."""


class ReadCache(dict[Any, Any]):
    """The values of one map view that were read so far, by key; reading another key merges that key and adds it.

    A view uses this dict's `__getitem__` as its own, so a repeated read runs no Python code (docs/decisions/0004).
    Scalars, and views of maps and lists, are kept; a deferred value is computed at each read. An absent key raises
    NoSuchAttribute.

    part:    the maps of the view, joined and not merged
    version: the version that the view shows
    path:    the path of the view in the node
    order:   all keys in order, once a caller has listed them; None before that
    """

    __slots__ = ("order", "part", "path", "version")

    def __init__(self, part: Any, version: Version, path: Path) -> None:
        self.part, self.version, self.path = part, version, path
        self.order: tuple[Any, ...] | None = None

    def _maps(self) -> Any:
        """The maps to merge, as they were in this version. The caller holds the lock."""
        if self.version.is_old:
            self.part = maps_at_version(self.part, self.version.number)
        return self.part

    def __missing__(self, key: Any) -> Any:
        if type(key) is tuple and key:
            return read_steps(self, self.path, key)
        path = (*self.path, key)
        with self.version.reading(ENTRY, path):
            value = entry_at(self._maps(), key)
        if value is ABSENT:
            raise self._absent(key, path)
        if type(value) not in (Deferred, Withheld):
            return self.setdefault(key, _read(value, path, self.version))
        if self.version.looks is None:
            return _read(value, path)
        with self.version.looks.brief(is_brief=False):  # a function may decide something
            return _read(value, path)

    def _ordered_keys(self) -> tuple[Any, ...]:
        """All keys of the map, the keys of weaker maps first. They are computed at the first call, and kept."""
        if self.order is None:
            with self.version.reading(KEYS, self.path):
                self.order = tuple(keys_of(self._maps()))
        return self.order

    def _absent(self, key: Any, path: Path) -> NoSuchAttribute:
        hint = hint_for(key, self._ordered_keys()) or "use .get(...) or .read(...) for None instead"
        if isinstance(key, str) and "." in key:
            hint = f"a dot belongs to its key; a path is steps: {''.join(f'[{step!r}]' for step in key.split('.'))}"
        return NoSuchAttribute(f"no attribute {spell(path)}", path=path, hint=hint)


def read_steps(here: Any, path: Path, steps: tuple[Any, ...]) -> Any:
    """The value some steps below a view; no steps give *here* itself.

    here:   a view or its ReadCache
    path:   of *here*, for messages
    raises: NoSuchAttribute or NoSuchElement, for an absent step; NullInTheWay, TypeConflict, for a step below null or a
            scalar
    """
    for depth, step in enumerate(steps):
        if not isinstance(here, (MapView, ListView, ReadCache)):
            raise step_error(here, (*path, *steps[:depth]), step)
        here = here[step]
    return here


class MapView(_View, Mapping[Any, Any]):
    """A merged map, read-only. It never changes, also after later writes; deferred values are computed at each read.

    An absent key raises NoSuchAttribute (a KeyError); `.get(key)` gives None instead. Several steps may be taken in one
    subscript: `node["a", "b"]` is `node["a"]["b"]`. A write raises AttributeIsReadOnly. Maps and lists in it are views.
    `view | other` and `merge` give a plain dict in which entries of *other* replace entries of the view. `to_dict` and
    `to_plain` are independent copies, all levels deep; `to_plain` leaves deferred values as they are.

    part:    the maps to merge: one map, or several as `Joined`
    version: the version of the ledger that the view shows; by default the maps never change
    path:    the path of the view in the node, for messages
    cost:    making one merges nothing; the first read of a key merges that key, the next ones are one look-up
    """

    __slots__ = ("__getitem__", "__weakref__", "_cache", "_path")

    __getitem__: Any

    def __init__(self, part: Any, version: Version = UNCHANGING, path: Path = ()) -> None:
        self._cache = ReadCache(part, version, path)
        self._path = path
        self.__getitem__ = self._cache.__getitem__

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cache._ordered_keys())

    def __len__(self) -> int:
        return len(self._cache._ordered_keys())

    def __contains__(self, key: object) -> bool:
        cache = self._cache
        if key in cache:
            return True
        if type(key) is tuple and key:
            return self._there(key)
        with cache.version.reading(SORT, (*self._path, key)):
            return entry_at(cache._maps(), key) is not ABSENT

    def __eq__(self, other: object) -> bool:
        # Compared in C: view by view would take several frames a level.
        if isinstance(other, MapView):
            return bool(self.to_dict() == other.to_dict())
        return bool(self.to_dict() == dict(other)) if isinstance(other, Mapping) else NotImplemented

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of *key*, or *default* where it is not set."""
        # Not by catching KeyError: a deferred value may raise one of its own.
        return self[key] if key in self else default  # noqa: SIM401

    @checked_args(other=Mapping)
    def merge(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        """A plain copy of this map as a dict, with the entries of *other* over it, one level deep.

        raises: BadArgument, where *other* is not a map
        """
        return {**self.to_dict(), **other}

    __or__ = merge

    def to_dict(self, evaluate: bool = True) -> dict[Any, Any]:
        """An independent copy as dicts, lists and scalars. evaluate: False leaves deferred values in it as they are"""
        plain: dict[Any, Any] = self.to_plain(evaluate)
        return plain

    def to_plain(self, evaluate: bool = False) -> Any:
        """An independent copy as dicts, lists and scalars. A Sensitive in it stays wrapped.

        evaluate: False: deferred and withheld values are in the copy as they are. True: deferred values are computed
        raises:   with *evaluate*, ValueWithheld for a withheld value, and the errors of a deferred one
        Code that stores views of any kind calls this method.
        """
        cache = self._cache
        deferred: list[Any] = []
        with cache.version.reading(TREE, self._path):
            part = tree_at_version(cache.part, cache.version.number) if cache.version.is_old else cache.part
            data = unevaluated_copy(part, deferred)
        return computed(data, self._path) if evaluate and deferred else data

    update = popitem = _View.clear
    setdefault = _View.pop


class ListView(_View, Sequence[Any]):
    """A merged list, read-only. It never changes, also after later writes; deferred values are computed at each read.

    Maps and lists in it are views. A negative index counts from the end. An index out of range raises NoSuchElement (an
    IndexError), and any other key TypeConflict. A tuple reads several steps: `view[0, "name"]` is `view[0]["name"]`. A
    slice and `+` give a plain list of the elements. A write raises AttributeIsReadOnly. A view equals lists and tuples
    with the same elements. `to_list` and `to_plain` return independent copies, all levels deep: `to_list` computes
    deferred values, `to_plain` leaves them as they are.
    """

    __slots__ = ("_items", "_path")

    def __init__(self, items: list[Any], path: Path = ()) -> None:
        self._items = items  # lists in slots are never changed in place
        self._path = path

    def __getitem__(self, index: Any) -> Any:
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
        if isinstance(other, ListView):
            return self.to_list() == other.to_list()
        return self.to_list() == list(other) if isinstance(other, (list, tuple)) else NotImplemented

    def __add__(self, other: Sequence[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Any]) -> list[Any]:
        return [*other, *self]

    def to_list(self, evaluate: bool = True) -> list[Any]:
        """An independent copy as lists, dicts and scalars. evaluate: False leaves deferred values in it as they are"""
        plain: list[Any] = self.to_plain(evaluate)
        return plain

    def to_plain(self, evaluate: bool = False) -> Any:
        """An independent plain copy of the list. Code that stores views of any kind calls this method.

        evaluate: True: deferred values are computed; False: they are in the copy as they are
        """
        return plain(self._items, evaluate, self._path)

    append = extend = insert = push = concat = unshift = sort = reverse = replace = _View.clear
    shift = delete_at = uniq = remove = __iadd__ = _View.clear


def _read(value: Any, path: Path, version: Version = UNCHANGING) -> Any:
    """The value of a slot as a reader gets it: a view of a map or list, the result of a deferred value, else itself."""
    kind = type(value)
    if kind in READY:
        return value
    if kind is list:
        return ListView(value, path)
    if kind is Joined or isinstance(value, dict):
        return MapView(value, version, path)
    if kind is Deferred:
        data = value.evaluate(path)
        return _read(data, path) if type(data) is dict or type(data) is list else data
    return value.read(path)
