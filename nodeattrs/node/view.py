"""The merged read: immutable, lazy by path, cached along the path, never stale.

A view is a window on maps that are joined but not merged. Reading a key folds that
one key and keeps the answer; what was never read costs nothing. It knows no
writers, no origins and no names of slots: it is handed maps and the policies they
meet under, which must be total and path-local (`Policy.is_lazy`).

Not dict and list subclasses: json, `dict()`, `**` and copy read those in C, past the
methods that fill them (docs/decisions/0004).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NoReturn, overload

from nodeattrs.core.borders import taking
from nodeattrs.core.part import Part
from nodeattrs.core.policy import KEEP, TAKE, Meet, Policy
from nodeattrs.core.tree import ABSENT, Path, near, spell
from nodeattrs.errors import AttributeIsReadOnly, NoSuchAttribute, NoSuchElement, TypeConflict
from nodeattrs.node.maps import Branch, Joined, OwnedMap
from nodeattrs.node.values import HELD, Deferred, Withheld, computed, refuse_spelled, steps_of

_READY = HELD - {Deferred, Withheld}


def entry(part: Any, key: Any) -> Any:
    """What stands at *key* in a map or in joined ones: a value, further joined maps, or ABSENT.

    cost: the number of maps joined
    """
    if type(part) is not Joined:
        return part.get(key, ABSENT)
    policy = part.policy if part.policy.by_key is None else part.policy.at(key)
    always = policy.always
    result = ABSENT
    for member in part.members:
        value = member.get(key, ABSENT) if type(member) is not Joined else entry(member, key)
        if value is ABSENT:
            continue
        result = value if result is ABSENT or type(value) in always else _met(policy, result, value)
    return result


def _met(policy: Policy, lower: Any, upper: Any) -> Any:
    kinds = type(lower), type(upper)
    verdict = policy.cells.get(kinds) or policy.verdict(*kinds)
    if verdict is TAKE:
        return upper
    if type(verdict) is Meet:
        below = verdict.policy
        waiting = lower.members if type(lower) is Joined and lower.policy is below else [lower]
        return Joined(below, [*waiting, upper])  # type: ignore[arg-type]
    if verdict is KEEP:
        return lower
    return verdict(Part(lower, None), Part(upper, None)).value  # type: ignore[operator]


def joined(policy: Policy, parts: Iterable[Any]) -> Any:
    """What several parts come to under a policy; those that are ABSENT say nothing."""
    result = ABSENT
    for part in parts:
        if part is not ABSENT:
            result = part if result is ABSENT else _met(policy, result, part)
    return result


def rooted(trees: Sequence[Any], branch: Branch) -> Any:
    """The roots of some trees, joined as a plan says and not merged yet."""
    parts = [trees[child] if isinstance(child, int) else rooted(trees, child) for child in branch.children]
    return joined(branch.policy, parts)


def keys_of(part: Any) -> dict[Any, None]:
    """The keys of a map or of joined ones, in the order of the fold: weaker maps first, new keys after."""
    if type(part) is not Joined:
        return dict.fromkeys(part)
    keys: dict[Any, None] = {}
    for member in part.members:
        keys.update(keys_of(member) if type(member) is Joined else dict.fromkeys(member))
    return keys


def share(part: Any) -> None:
    """Note that somebody looks at these maps: whoever writes copies them first."""
    if type(part) is Joined:
        for member in part.members:
            share(member)
    elif isinstance(part, OwnedMap):
        part.shared = True


def plain(part: Any, evaluate: bool = True, path: Path = ()) -> Any:
    """An independent copy of a value or of joined maps, as dicts, lists and scalars.

    evaluate: compute deferred values; otherwise they stay as they are
    path:     where it stands, for messages
    cost:     one eager pairwise fold, copying as it goes
    raises:   ValueWithheld, DeferredCycle
    """
    odd: dict[Any, None] = {}
    data = own(part, odd)
    return evaluated(data, odd, path) if evaluate else data


def evaluated(data: Any, odd: Iterable[Any], path: Path = ()) -> Any:
    """What `own` made, with its deferred values computed; it stands at *path*.

    cost:   one visit of the entries named in *odd*
    raises: ValueWithheld, DeferredCycle
    """
    if type(data) is not dict:
        return computed(data, path)
    for key in odd:
        if key in data:
            data[key] = computed(data[key], (*path, key))
    return data


# The eager fold of views: the core's meeting (core/folding.py) without origins, laying maps over a copy that is ours
# already instead of copying each step. Two passes of a node's size are what it may cost; tests hold the two equal.


def own(part: Any, odd: dict[Any, None]) -> Any:
    """As `plain`, deferred and withheld values left as they are; *odd* is given in which entries they stand."""
    if type(part) is not Joined:
        if not isinstance(part, dict):
            return _copy(part, odd, None)
        result = part.copy()
        for key, inner in part.items():
            if type(inner) not in _READY:
                result[key] = _copy(inner, odd, key)
        return result
    result = own(part.members[0], odd)
    for member in part.members[1:]:
        if type(member) is Joined:
            _lay(part.policy, result, own(member, odd), odd, ours=True)
        else:
            _lay(part.policy, result, member, odd, ours=False)
    return result


def _lay(policy: Policy, lower: dict[Any, Any], upper: Any, odd: dict[Any, None], ours: bool, at: Any = ABSENT) -> None:
    wins, table = _scalars_that_win(policy), policy
    for key, above in upper.items():
        kind = type(above)
        if kind in wins:
            lower[key] = above
            continue
        top = key if at is ABSENT else at
        below = lower.get(key, ABSENT)
        if policy.by_key is not None:
            table = policy.at(key)
        verdict = table.cells.get((type(below), kind)) or table.verdict(type(below), kind)
        if verdict is TAKE:
            lower[key] = above if ours else _copy(above, odd, top)
        elif type(verdict) is Meet:
            _lay(verdict.policy, below, above, odd, ours, top)  # type: ignore[arg-type]
        elif verdict is not KEEP:
            made = verdict(Part(below, None), Part(above, None)).value  # type: ignore[operator]
            lower[key] = made if ours else _copy(made, odd, top)


@cache
def _scalars_that_win(policy: Policy) -> frozenset[type]:
    return policy.always & _READY if policy.by_key is None else frozenset()


def _watched() -> Callable[[Any], bool]:
    asked: Callable[[Any], bool] | None = getattr(gc, "is_tracked", None)
    unready: tuple[Any, ...] = ({}, [], Deferred(dict), Withheld())
    return asked if asked is not None and all(asked({"k": one}) for one in unready) else lambda _: True


_may_hold = _watched()
"""Whether a map may hold a map, a list or a value that is not ready. Most maps of facts do not, and the garbage
collector knows: it does not watch those of mere scalars. That is a fifth of a copy; where it watches all maps, or
cannot be asked, a copy is right but slower."""


def _copy(value: Any, odd: dict[Any, None], at: Any) -> Any:
    kind = type(value)
    if kind in _READY:
        return value
    if kind is list:
        items = value.copy()
        for index, inner in enumerate(value):
            if type(inner) not in _READY:
                items[index] = _copy(inner, odd, at)
        return items
    if isinstance(value, dict):
        out = value.copy()
        if _may_hold(value):
            for key, inner in value.items():
                if type(inner) not in _READY:
                    out[key] = _copy(inner, odd, at)
        return out
    odd[at] = None
    return value


class _View:
    """What map and list views share: they refuse writes and say what to write instead."""

    __slots__ = ()

    _path: Path

    def _refuse(self, *steps: Any) -> NoReturn:
        path = (*self._path, *steps)
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


class MapView(_View, Mapping[Any, Any]):
    """A merged map. It never changes; deferred values in it are computed when they are read.

    A key that is absent raises NoSuchAttribute (a KeyError); `.get(key)` gives None instead.
    cost: the first read of a key folds that key, the next ones are one look-up
    """

    # No __weakref__: a view must not be held weakly, since writers count its references.
    # No pointer to the parent view: it would count as a holder.
    __slots__ = ("_cache", "_keys", "_part", "_path")

    def __init__(self, part: Any, path: Path = ()) -> None:
        self._part = part
        self._path = path
        self._cache: dict[Any, Any] = {}
        self._keys: tuple[Any, ...] | None = None

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._cache[key]
        except KeyError:
            return self._miss(key)

    def _miss(self, key: Any) -> Any:
        value = entry(self._part, key)
        kind = type(value)
        if kind in _READY:
            self._cache[key] = value
            return value
        if kind is Joined or isinstance(value, dict):
            return self._cache.setdefault(key, MapView(value, (*self._path, key)))
        if kind is list:
            return self._cache.setdefault(key, ListView(value, (*self._path, key)))
        if value is ABSENT:
            raise self._absent(key)
        return _read(value, (*self._path, key))

    def _absent(self, key: Any) -> NoSuchAttribute:
        path = (*self._path, key)
        close = near(key, keys_of(self._part))
        hint = f"did you mean {' or '.join(close)}?" if close else "use .get(...) or .read(...) for None instead"
        if isinstance(key, str) and "." in key:
            hint = f"a dot belongs to its key; a path is steps: {''.join(f'[{step!r}]' for step in key.split('.'))}"
        return NoSuchAttribute(f"no attribute {spell(path)}", path=path, hint=hint)

    def _ordered(self) -> tuple[Any, ...]:
        keys = self._keys
        if keys is None:
            keys = self._keys = tuple(keys_of(self._part))
        return keys

    def __iter__(self) -> Iterator[Any]:
        yield from self._ordered()  # a generator, so that the view is held while somebody iterates

    def __len__(self) -> int:
        return len(self._ordered())

    def __contains__(self, key: object) -> bool:
        return key in self._cache or _has(self._part, key)

    def __eq__(self, other: object) -> bool:
        # Compared in C: view by view would take several frames a level.
        if isinstance(other, MapView):
            return bool(self.to_dict() == other.to_dict())
        return bool(self.to_dict() == dict(other)) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of *key*, or *default* where it is absent."""
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
        return self.to_plain(evaluate)  # type: ignore[no-any-return]

    def to_plain(self, evaluate: bool = False) -> Any:
        """As `to_dict`; what the border asks of anything that is stored."""
        return plain(self._part, evaluate, self._path)

    def update(self, *entries: Any, **more: Any) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse()

    def setdefault(self, key: Any, value: Any = None) -> NoReturn:
        """raises: AttributeIsReadOnly"""
        self._refuse(key)

    popitem = _View.clear


class ListView(_View, Sequence[Any]):
    """A merged list. It never changes; deferred values in it are computed when they are read."""

    __slots__ = ("_items", "_path")

    def __init__(self, items: list[Any], path: Path = ()) -> None:
        self._items = items  # lists in slots are never changed in place
        self._path = path

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self._items)))]
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

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Sequence[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Sequence[Any]) -> list[Any]:
        return [*other, *self]

    def to_list(self, evaluate: bool = True) -> list[Any]:
        """A plain, independent copy; see `MapView.to_dict`."""
        return self.to_plain(evaluate)  # type: ignore[no-any-return]

    def to_plain(self, evaluate: bool = False) -> Any:
        """As `to_list`; what the border asks of anything that is stored."""
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
    if kind in _READY:
        return value
    if kind is list:
        return ListView(value, path)
    if kind is Joined or isinstance(value, dict):
        return MapView(value, path)
    if kind is Deferred:
        data = value.evaluate(path)
        return _read(data, path) if type(data) is dict or type(data) is list else data
    return value.read(path)


def _has(part: Any, key: Any) -> bool:
    if type(part) is Joined:
        return any(_has(member, key) for member in part.members)
    return key in part
