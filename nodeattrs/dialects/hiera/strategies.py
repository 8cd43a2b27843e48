"""The merge strategies of Hiera: `first`, `unique`, `hash`, `deep` and `reverse_deep`, as policies of the core.

A policy is a table of the result for two values at one path. The locations of an entry, the entries of a layer, and the
layers are each merged by a folding from the top: the result so far lies over each next value. The caller gives values
as parts; the module knows no file and no scope.

    >>> merge([{"a": 1}, {"a": 2, "b": 3}], "hash")
    {'a': 1, 'b': 3}
    >>> merge([["--x", "a"], ["x", "b"]], {"strategy": "deep", "knockout_prefix": "--"})
    ['b', 'a']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from nodeattrs.codes import Kind
from nodeattrs.core.borders import ListLike, taking
from nodeattrs.core.folding import NOTHING, Folding
from nodeattrs.core.part import Join, Part, listed, unite
from nodeattrs.core.policy import ANY, LIST, MAP, NULL, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import ABSENT, copied, meant, near
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera.codes import (
    BAD_OPTION,
    HASH_IN_UNIQUE,
    MISSING_STRATEGY,
    NOT_A_HASH,
    UNDEF_IN_UNIQUE,
    UNKNOWN_STRATEGY,
)
from nodeattrs.dialects.hiera.deep import Deep
from nodeattrs.dialects.hiera.errors import BadLookup, CannotMerge, KeyNotFound
from nodeattrs.errors import TooDeep

One = TypeVar("One")


@dataclass(frozen=True, eq=False)
class Strategy:
    """How the values of one key become one value. `strategy_of` makes it; threads may share it.

    name:     first, unique, hash, deep or reverse_deep
    policy:   the table that says what two values become
    options:  the options that are set: name -> value
    alone:    the policy for the value of a level with one source; None: the value is taken as it is
    opening:  the policy for the first value found in a level with several sources; None: the value is taken as it is
    last:     the policy for the result after all levels; None: the result is taken as it is
    from_top: whether the stronger of two values is merged over the weaker one; False for reverse_deep

    Call `level` for the sources of each level, and then for the levels; then `finished` makes the folding of the whole.
    `level` returns NOTHING if no source has a value. `folding` and `lay` make and fill a folding by hand. `to_data` is
    the strategy as lookup_options write it.
    """

    name: str
    policy: Policy
    options: Mapping[str, Any] = field(default_factory=dict)
    alone: Policy | None = None
    opening: Policy | None = None
    last: Policy | None = None
    from_top: bool = True

    def folding(self, sources: int) -> Folding:
        """An empty folding for a level. sources: their number, with those that lack the key"""
        return Folding(from_top=self.from_top, opening=self.alone if sources == 1 else self.opening)

    def lay(self, folding: Folding, part: Part | Folding) -> None:
        """Merge the value of the next source into a level. raises: CannotMerge"""
        folding.lay(part, self.policy)

    def level(self, sources: Sequence[One], ask: Callable[[One], Part | Folding]) -> Part | Folding:
        """Fold the values of the sources of one level, the strongest first; NOTHING if no source has one.

        The part of a single source may be returned as it is.
        ask:    called with a source, it returns its part or folding; NOTHING if the source does not have the key
        raises: CannotMerge, and the errors of *ask*
        """
        if len(sources) == 1 and self.alone is None:
            return ask(sources[0])
        folding: Folding | None = None
        for source in sources:
            part = ask(source)
            if part is not NOTHING:
                if folding is None:
                    folding = self.folding(len(sources))
                self.lay(folding, part)
        return folding or NOTHING

    def finished(self, level: Part | Folding) -> Folding:
        """The folding of the whole lookup, after `level` was called for all sources. `last` is applied to it.

        level: the result of `level`; a part becomes a folding of its own
        """
        if isinstance(level, Folding):
            folding = level
        else:
            folding = self.folding(1)
            folding.lay(level, self.policy)
        if self.last is not None:
            folding.finish(self.last)
        return folding

    def to_data(self) -> str | dict[str, Any]:
        """The strategy as it is written in lookup_options."""
        return {"strategy": self.name, **self.options} if self.options else self.name

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {value!r}" for name, value in self.options.items())
        return f"{self.name} ({given})" if given else self.name


FIRST = Strategy("first", Policy("first", Line(ANY, PRESENT, TAKE, "the first found value counts")))


def _refuse(kind: Kind, message: str, hint: str) -> Join:
    def refuse(lower: Part, upper: Part) -> Part:
        raise CannotMerge(message, kind=kind, hint=hint)

    return refuse


def _check_texts(value: Any, strategy: str, kind: Kind) -> None:
    """Check that all keys of maps in a value are texts, at any depth, as Puppet does. raises: CannotMerge"""
    stack = [value]
    while stack:
        inner = stack.pop()
        if type(inner) is dict:
            for key in inner:
                if type(key) is not str:
                    raise CannotMerge(
                        f"{strategy} cannot merge a map with the key {key!r}", kind=kind, hint="quote the key"
                    )
            stack.extend([entry for entry in inner.values() if type(entry) is dict or type(entry) is list])
        elif type(inner) is list:
            stack.extend([entry for entry in inner if type(entry) is dict or type(entry) is list])


# --- unique -------------------------------------------------------------------------

_NO_MAPS = "a unique merge joins lists and single values; for maps there are hash and deep"
_refuse_map = _refuse(HASH_IN_UNIQUE, "unique cannot take in a map", _NO_MAPS)
_refuse_null = _refuse(UNDEF_IN_UNIQUE, "unique cannot take in null", "remove the key")


_LIST, _CONTAINERS = {list}, {list, dict}


def _flat(part: Part) -> Part:
    """A list with the elements of its inner lists in their place; another value as a list of one."""
    if type(part.value) is not list:
        return listed([part], part)
    if _LIST.isdisjoint(map(type, part.value)):
        return part
    return listed(_leaves(part), part)


def _leaves(part: Part) -> Iterable[Part]:
    for element in part.elements():
        if type(element.value) is list:
            yield from _leaves(element)
        else:
            yield element


def _flattened(lower: Part, upper: Part) -> Part:
    return _flat(upper)


def _settled(lower: Part, upper: Part) -> Part:
    return unite(upper, upper)


def _united(lower: Part, upper: Part) -> Part:
    return unite(_flat_with_texts(upper), _flat_with_texts(lower))


def _flat_with_texts(part: Part) -> Part:
    if type(part.value) is list and _CONTAINERS.isdisjoint(map(type, part.value)):
        return part  # nearly all lists, with one look
    flat = _flat(part)
    _check_texts(flat.value, "unique", HASH_IN_UNIQUE)
    return flat


def _flat_without_maps(part: Part) -> Part:
    flat = _flat(part)
    if any(type(entry) is dict for entry in flat.value):
        _refuse_map(part, part)
    return flat


def _flattened_as_documented(lower: Part, upper: Part) -> Part:
    flat = _flat_without_maps(upper)
    return unite(flat, flat)


def _united_as_documented(lower: Part, upper: Part) -> Part:
    return unite(_flat(upper), _flat_without_maps(lower))


def _unique(joined: Join) -> Policy:
    return Policy(
        "unique",
        Line(MAP, PRESENT, _refuse_map, "maps are refused"),
        Line(NULL, PRESENT, _refuse_null, "null is refused"),
        Line(PRESENT, PRESENT, joined, "lists unite, the stronger elements first"),
        Line(ANY, PRESENT, TAKE, "nothing lies below"),
    )


UNIQUE = Strategy(
    "unique",
    _unique(_united),
    alone=Policy("unique, one source", Line(ANY, LIST, _settled, "a list has nothing twice"), Line(ANY, PRESENT, TAKE)),
    opening=Policy("unique, first found", Line(ANY, PRESENT, _flattened, "the first value becomes a flat list")),
)
_ONE_AS_DOCUMENTED = Policy(
    "unique, first found",
    Line(ANY, MAP, _refuse_map, "maps are refused"),
    Line(ANY, PRESENT, _flattened_as_documented, "the first value becomes a flat list, and has nothing twice"),
)
UNIQUE_AS_DOCUMENTED = Strategy(
    "unique", _unique(_united_as_documented), alone=_ONE_AS_DOCUMENTED, opening=_ONE_AS_DOCUMENTED
)
"""`unique` as the documentation has it: maps always fail, duplicates always go."""


# --- hash ---------------------------------------------------------------------------

_SHALLOW = Policy("hash, below the top", Line(ANY, PRESENT, TAKE, "the stronger source has the key"))
_ONLY_MAPS = "a hash merge joins maps; for lists there are unique and deep"
_refuse_other = _refuse(NOT_A_HASH, "hash can only merge maps", _ONLY_MAPS)

HASH_TABLE = Policy(
    "hash",
    Line(MAP, MAP, Meet(_SHALLOW), "two maps meet key by key, one level deep"),
    Line(PRESENT, PRESENT, _refuse_other, "only maps are merged"),
    Line(ANY, PRESENT, TAKE, "nothing lies below"),
)
_MAPS_ONLY = Policy(
    "hash, first found", Line(ANY, MAP, TAKE), Line(ANY, PRESENT, _refuse_other, "only maps are merged")
)


class _Hash(Strategy):
    def lay(self, folding: Folding, part: Part | Folding) -> None:
        # The keys are no business of a table, which sees kinds only; they are looked at before two maps meet.
        lower = part.result if isinstance(part, Folding) else part
        if folding.laid and lower.value is not ABSENT and type(lower.value) is not Unknown:
            # Of more than one the result was looked at when the last of them was laid.
            for value in (folding.result.value, lower.value) if folding.laid == 1 else (lower.value,):
                if type(value) is dict:
                    _check_texts(value, "hash", NOT_A_HASH)
        super().lay(folding, part)


HASH = _Hash("hash", HASH_TABLE)
HASH_AS_DOCUMENTED = _Hash("hash", HASH_TABLE, alone=_MAPS_ONLY, opening=_MAPS_ONLY)
"""`hash` as the documentation has it: a value that is not a map fails, also alone."""


# --- which strategy -----------------------------------------------------------------

_TEXT_OPTION = (str, type(None))
_SWITCH = (bool, type(None))
DEEP_OPTIONS: dict[str, tuple[type, ...]] = {
    "knockout_prefix": _TEXT_OPTION,
    "sort_merged_arrays": _SWITCH,
    "merge_hash_arrays": _SWITCH,
    "merge_debug": _SWITCH,
    "knockout_through": _SWITCH,
    "knockout_hash_keys": _SWITCH,
    "merge_hash_arrays_by": _TEXT_OPTION,
}
_NAMES = ("first", "default", "unique", "hash", "deep", "reverse_deep")

_PLAIN: dict[tuple[str, bool], Strategy] = {
    ("unique", False): UNIQUE,
    ("unique", True): UNIQUE_AS_DOCUMENTED,
    ("hash", False): HASH,
    ("hash", True): HASH_AS_DOCUMENTED,
}


def strategy_of(merge: str | Mapping[str, Any] | None, *, documented: bool = False) -> Strategy:
    """The strategy that a merge argument, or `merge` in lookup_options, names; the same object for equal options.

    merge:      a name, or a map with `strategy` and options; None means first
    documented: follow the documentation where Puppet itself does not
    raises:     BadLookup: "unknown_strategy", "missing_strategy", "bad_option"
    source:     docs/hiera.md, "Strategies"

    >>> print(strategy_of({"strategy": "deep", "knockout_prefix": "--"}))
    deep (knockout_prefix: '--')
    """
    if merge is None:
        return FIRST
    name: Any = merge
    given: dict[Any, Any] = {}
    if isinstance(merge, Mapping):
        name = merge.get("strategy")
        given = {key: value for key, value in merge.items() if key != "strategy"}
        if name is None:
            raise BadLookup("merge is a map without a strategy", kind=MISSING_STRATEGY, hint="add strategy: deep")
    if not isinstance(name, str) or name not in _NAMES:
        close = near(name, _NAMES) if isinstance(name, str) else []
        hint = f"did you mean {close[0]}?" if close else f"the strategies are {', '.join(_NAMES[:1] + _NAMES[2:5])}"
        raise BadLookup(f"there is no merge strategy {name!r}", kind=UNKNOWN_STRATEGY, hint=hint)
    options = _checked(name, given)
    if name in ("first", "default"):
        return FIRST
    if name in ("unique", "hash"):
        return _PLAIN[name, documented]
    return _deep(name, tuple(options.items()))


@lru_cache(maxsize=256)
def _deep(name: str, options: tuple[tuple[str, Any], ...]) -> Strategy:
    given = dict(options)
    tables = Deep(given)
    return Strategy(name, tables.root, given, last=tables.last, from_top=name == "deep")


def _checked(name: str, options: Mapping[Any, Any]) -> dict[str, Any]:
    """The options that are set, without null and false. raises: BadLookup "bad_option" """
    known = DEEP_OPTIONS if name in ("deep", "reverse_deep") else {}
    for key, value in options.items():
        if key not in known:
            hint = meant(key, known) or f"options that it knows: {', '.join(known) or 'none'}"
            raise BadLookup(f"the strategy {name} knows no option {key!r}", kind=BAD_OPTION, hint=hint)
        if type(value) not in known[key]:
            kind = "a text" if known[key] is _TEXT_OPTION else "true or false"
            raise BadLookup(f"the option {key} must be {kind}, not {value!r}", kind=BAD_OPTION)
    return {key: value for key, value in options.items() if value is not None and value is not False}


def _anonymous(value: Any) -> Part:
    return NOTHING if value is ABSENT else Part(value, None)


@taking(values=ListLike)
def merge(values: Iterable[Any], strategy: str | Mapping[str, Any] | None = None, *, documented: bool = False) -> Any:
    """Merge the values of one key, the strongest first; returns a copy.

    values:     plain data. `ABSENT` means a source without the key, and `Unknown` a source that cannot be read
    strategy:   a name, or a map with `strategy` and options; None means first
    documented: follow the documentation if Puppet does something else
    cost:       one visit for each key that two sides have, and one copy of the result
    raises:     BadLookup, CannotMerge, TooDeep; KeyNotFound, if no value is given

    >>> merge(["time.pdx", ["a.ntp", "b.ntp"], "a.ntp"], "unique")
    ['time.pdx', 'a.ntp', 'b.ntp']
    """
    how = strategy_of(strategy, documented=documented)
    sources = list(values)
    try:
        result = how.finished(how.level(sources, _anonymous)).result
        if result.value is ABSENT:
            raise KeyNotFound("there is no value to merge")
        return copied(result.value)
    except RecursionError:
        raise TooDeep("a value is nested too deep, or inside itself") from None
