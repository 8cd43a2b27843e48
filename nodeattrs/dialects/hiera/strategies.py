"""The merge strategies of Hiera: `first`, `unique`, `hash`, `deep` and `reverse_deep`, as policies of the core.

A policy is a table of the result for two values at one path. Values are merged in three levels: the locations of an
entry, then the entries of a layer, then the layers. In each level the strongest value comes first, and the result so
far is merged over the next value. `reverse_deep` merges the next value over the result. The caller gives values as
parts; the module knows no file and no scope.

`_Deep` has the policies of `deep`: the table `root` for two values of the key itself, and `below` for their entries.
Below the root, null and false count as absent. A value without a counterpart is merged with itself, so that its
duplicates and markers vanish. A *marker* is a text with the knock-out prefix, which removes a value of a weaker source.

    >>> merge([{"a": 1}, {"a": 2, "b": 3}], "hash")
    {'a': 1, 'b': 3}
    >>> merge([["--x", "a"], ["x", "b"]], {"strategy": "deep", "knockout_prefix": "--"})
    ['b', 'a']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key, lru_cache
from typing import Any, TypeVar

from nodeattrs.codes import Kind
from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.folding import NOTHING, Folding, meet, record_decision
from nodeattrs.core.part import Handler, Join, Part, by_field, by_position, entries, listed, made, unite, without
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    KEEP,
    LIST,
    MAP,
    NULL,
    PRESENT,
    SCALAR,
    TAKE,
    TEXT,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.sensitive import MarkedSecret
from nodeattrs.core.tree import ABSENT, copied, hint_for, near, strict_key
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.hiera.codes import (
    BAD_OPTION,
    BAD_PATTERN,
    CANNOT_SORT,
    EMPTY_KNOCKOUT_PREFIX,
    HASH_IN_UNIQUE,
    MISSING_STRATEGY,
    NOT_A_HASH,
    UNDEF_IN_UNIQUE,
    UNKNOWN_STRATEGY,
)
from nodeattrs.dialects.hiera.errors import BadLookup, CannotMerge, KeyNotFound
from nodeattrs.errors import TooDeep
from nodeattrs.formats.patterns import BadPattern, Expression
from nodeattrs.puppet.regex import translated

BOOL = "bool"
_KINDS: dict[type, str] = {bool: BOOL, MarkedSecret: TEXT}

KNOCKED_OUT = Policy("knock-out", Line(ANY, PRESENT, TAKE, "a marker removes what it names"))
"""The policy in the recorded decision of a knock-out: the marker is merged over the value that it removes."""


class _Deep:
    """The policies of `deep` for one set of options, such as {"knockout_prefix": "--"}; the constructor builds them.

    root:  the policy for two values of the key
    below: the policy for their entries, at any depth
    last:  the policy for the result after all levels, which drops leftover markers; None where none can be left

    raises: CannotMerge while values are merged, for an empty or malformed prefix, or elements that cannot be sorted
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._markers = _Markers(options)
        self._sorts = bool(options.get("sort_merged_arrays"))
        self._by_position = bool(options.get("merge_hash_arrays"))
        self._field: str | None = options.get("merge_hash_arrays_by")
        self._is_plain = not (self._markers.prefix or self._sorts or self._by_position or self._field)
        self.below = Policy("deep", *self._lines_below(), kinds=_KINDS)
        self._both_maps = Policy("deep", Line(MAP, MAP, Meet(self.below)), Line(ANY, PRESENT, TAKE), kinds=_KINDS)
        self.root = _NO_PREFIX if self._markers.prefix == "" else self._root()
        self.last = self._last() if self._markers.through else None

    # --- the lines

    def _lines_below(self) -> Iterator[Line]:
        yield from self._scalars()
        yield Line(BOOL, (NULL, MAP, LIST), self._over_bool_below, "false counts as absent")
        alone = Handler(self._alone, "alone", settles=self._is_plain)
        yield Line((ABSENT_KIND, NULL), (MAP, LIST), alone, "what meets nothing meets itself")
        yield Line((ABSENT_KIND, NULL), NULL, TAKE, "null, where nothing lies below")
        yield Line(PRESENT, NULL, KEEP, "null yields")
        yield from self._containers()

    def _root(self) -> Policy:
        lines = [
            Line(PRESENT, NULL, KEEP, "null yields"),
            Line(NULL, PRESENT, TAKE, "null yields"),
            Line(BOOL, PRESENT, self._over_bool_root, "false counts as absent"),
            *self._scalars(),
            *self._containers(),
        ]
        return Policy("deep, at the root", *lines, kinds=_KINDS)

    def _last(self) -> Policy:
        drop = Line(ANY, (LIST, MAP), self._unmarked, "markers that reached through every source are dropped")
        return Policy("deep, at the end", drop, Line(ANY, PRESENT, TAKE), kinds=_KINDS)

    def _scalars(self) -> Iterator[Line]:
        if self._markers:
            yield Line(
                ANY, TEXT, Handler(self._text, "text", hides=True), "a text replaces; a marker leaves an empty text"
            )
        yield Line(ANY, (TEXT, SCALAR, BOOL), TAKE, "the stronger source has a value")

    def _containers(self) -> Iterator[Line]:
        keys = self._markers.of_keys
        yield Line(MAP, MAP, self._maps if keys else Meet(lambda: self.below), "two maps meet key by key")
        yield Line(LIST, LIST, unite if self._is_plain else self._lists, "two lists unite, the weaker elements first")
        if self._markers:
            yield Line(PRESENT, LIST, self._list_over, "a list replaces what is none")
        yield Line(PRESENT, MAP, self._map_over, "a map replaces what is none, unless it is empty")
        yield Line(ANY, PRESENT, TAKE, "nothing lies below")

    # --- values without a counterpart, or over false

    def _meet_below(self, lower: Part, upper: Part) -> Part:
        return meet(self.below, lower, upper)

    def _alone(self, lower: Part, upper: Part) -> Part:
        # Without options, a merge with itself only removes duplicates, and mostly there are none.
        return upper if self._is_plain and _is_settled(upper.value) else self._meet_below(upper, upper)

    def _over_bool_below(self, lower: Part, upper: Part) -> Part:
        if not lower.value:
            return self._alone(lower, upper) if upper.value is not None else upper
        return lower if upper.value is None else self._over_scalar(lower, upper)

    def _over_bool_root(self, lower: Part, upper: Part) -> Part:
        return self._over_scalar(lower, upper) if lower.value else upper

    def _over_scalar(self, lower: Part, upper: Part) -> Part:
        kind = type(upper.value)
        if kind is dict:
            return self._map_over(lower, upper)
        if kind is list:
            return self._list_over(lower, upper)
        return self._text(lower, upper) if kind is str and self._markers else upper

    # --- maps

    def _map_over(self, lower: Part, upper: Part) -> Part:
        """A map over a value of another kind. An empty map yields. Each pair but the first is merged with itself."""
        if self._markers.of_keys and not self._markers.through:
            upper = without(upper, self._markers.among(upper.value))
        first, *others = list(upper.value) or [None]
        if not upper.value:
            return lower
        return meet(self.below, without(upper, others), without(upper, [first])) if others else upper

    def _maps(self, lower: Part, upper: Part) -> Part:
        """Two maps, where `--name` in the upper one removes `name` from the lower one."""
        markers = self._markers.among(upper.value)
        gone = list(markers)
        for marker in markers if lower.value is not upper.value else ():
            name = self._markers.named_by(marker)
            if name in lower.value:
                gone.append(name)
                record_decision(KNOCKED_OUT, lower.at(name), upper.at(marker))
        return meet(self._both_maps, without(lower, gone), upper if self._markers.through else without(upper, markers))

    # --- texts and lists

    def _text(self, lower: Part, upper: Part) -> Part:
        if not self._markers.has(upper.value):
            return upper
        if lower.value is not ABSENT and lower.value is not upper.value:
            record_decision(KNOCKED_OUT, lower, upper)
        return made("", upper)

    def _list_over(self, lower: Part, upper: Part) -> Part:
        """A list over a value of another kind: its markers are removed, and nothing is sorted."""
        if not self._markers or self._markers.through:
            return upper
        for part in upper.elements() if lower.value is not upper.value else ():
            if self._markers.is_bare(part.value):
                record_decision(KNOCKED_OUT, lower, part)
        return listed((part for part in upper.elements() if not self._markers.drop(part.value)), upper)

    def _lists(self, lower: Part, upper: Part) -> Part:
        """Markers of the upper list remove elements of the lower one; then both unite."""
        spent: list[Part] = []
        below, above = lower, upper
        if self._markers:
            spent, below, above = self._markers.knocked_out(lower, upper)
        result = self._joined(below, above)
        if self._sorts:
            result = listed(sorted(result.elements(), key=_BY_VALUE), lower, upper)
        if spent and self._markers.through:
            return listed([*result.elements(), *spent], lower, upper)
        return result if result.value else made([], lower, upper)

    def _joined(self, lower: Part, upper: Part) -> Part:
        if self._field is not None and _all_maps(lower, upper):
            return by_field(lower, upper, self._field, self._meet_below)
        if self._by_position and _all_maps(lower, upper):
            return by_position(lower, upper, self._element)
        return unite(lower, upper)

    def _element(self, below: Part, above: Part) -> Part:
        if above.value is ABSENT:
            return below
        return above if below.value is ABSENT else self._meet_below(below, above)

    # --- the result after all levels

    def _unmarked(self, lower: Part, upper: Part) -> Part:
        return self._rid(upper)

    def _rid(self, part: Part) -> Part:
        if type(part.value) is list:
            left = (entry for entry in part.elements() if not self._markers.drop(entry.value))
            return listed(map(self._rid, left), part)
        if type(part.value) is dict:
            gone = self._markers.among(part.value) if self._markers.of_keys else ()
            return entries({key: self._rid(part.at(key)) for key in part.value if key not in gone}, part)
        return part


class _Markers:
    """The knock-out options: which texts are markers, and what a marker removes; false where no prefix is set."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.prefix: str | None = options.get("knockout_prefix")
        self.through = bool(options.get("knockout_through")) and self.prefix is not None
        self.of_keys = bool(options.get("knockout_hash_keys")) and self.prefix is not None

    def __bool__(self) -> bool:
        return self.prefix is not None

    @property
    def _pattern(self) -> Expression:
        return _prefix_pattern(self.prefix or "")

    def named_by(self, text: str) -> str:
        return self._pattern.replaced(text)

    def has(self, value: Any) -> bool:
        value = _clear(value)
        return type(value) is str and self.named_by(value) != value

    def is_bare(self, value: Any) -> bool:
        value = _clear(value)
        return type(value) is str and value == self.prefix

    def drop(self, value: Any) -> bool:
        """Whether an element is a marker, which is removed at the end of the merge."""
        value = _clear(value)
        return type(value) is str and (value == self.prefix or self._pattern.search(value))

    def among(self, keys: Iterable[Any]) -> list[str]:
        return [key for key in keys if self.has(key)]

    def knocked_out(self, lower: Part, upper: Part) -> tuple[list[Part], Part, Part]:
        """The markers of the upper list, then the lower and the upper list without the elements that they remove.

        A bare marker empties the lower list; another marker removes its text from the lower list. A list that is merged
        with itself loses only its markers.
        """
        above = list(upper.elements())
        bare = [part for part in above if self.is_bare(part.value)]
        marked = [part for part in above if not self.is_bare(part.value) and self.has(part.value)]
        if not bare and not marked:
            return [], lower, upper
        spent = {id(part) for part in (*bare, *marked)}
        below = listed(self._elements_left(lower, bare, marked, lower.value is not upper.value), lower)
        return [*bare, *marked], below, listed((part for part in above if id(part) not in spent), upper)

    def _elements_left(self, lower: Part, bare: list[Part], marked: list[Part], noted: bool) -> Iterator[Part]:
        """Yield the elements that markers leave of a list. A marker removes the text it names, and its own text."""
        by: dict[str, Part] = {}
        for marker in marked:
            by.setdefault(self.named_by(_clear(marker.value)), marker)
            by.setdefault(_clear(marker.value), marker)
        for part in lower.elements():
            value = _clear(part.value)
            if not bare and not (type(value) is str and value in by):
                yield part
                continue
            if noted:
                record_decision(KNOCKED_OUT, part, bare[0] if bare else by[value])


def _refuse_empty_prefix(lower: Part, upper: Part) -> Part:
    raise CannotMerge("the knock-out prefix is empty", kind=EMPTY_KNOCKOUT_PREFIX, hint="leave it out, or write '--'")


_NO_PREFIX = Policy("deep", Line(ANY, PRESENT, _refuse_empty_prefix, "an empty prefix is refused"))


def _is_settled(value: Any) -> bool:
    """Whether no list, here or below keys, has an element twice."""
    if type(value) is dict:
        return all(_is_settled(entry) for entry in value.values() if type(entry) is dict or type(entry) is list)
    return len({strict_key(entry) for entry in value}) == len(value)


def _all_maps(lower: Part, upper: Part) -> bool:
    return all(type(entry) is dict for part in (lower, upper) for entry in part.value)


@lru_cache(maxsize=64)
def _prefix_pattern(prefix: str) -> Expression:
    try:
        return translated("^" + prefix)
    except BadPattern as error:
        raise CannotMerge(
            f"the knock-out prefix {prefix!r} is read as a regular expression, and cannot be used: {error.message}",
            kind=BAD_PATTERN,
            hint=error.hint or "put a backslash before its special characters",
        ) from None


def _clear(value: Any) -> Any:
    """The value itself; for a secret, its clear value."""
    return value.unwrap() if type(value) is MarkedSecret else value


def _compared(one: Any, other: Any) -> int:
    one, other = _clear(one), _clear(other)
    kinds = type(one), type(other)
    if all(kind in (int, float) for kind in kinds) or kinds == (str, str):
        return int(one > other) - int(one < other)
    if kinds == (list, list):
        return next(filter(None, map(_compared, one, other)), len(one) - len(other))
    if strict_key(one) == strict_key(other):
        return 0
    raise CannotMerge(
        "sort_merged_arrays met elements that have no order",
        kind=CANNOT_SORT,
        hint="sort numbers with numbers and texts with texts, or leave the option out",
    )


def _compared_parts(one: Part, other: Part) -> int:
    return _compared(one.value, other.value)


_BY_VALUE = cmp_to_key(_compared_parts)


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

    `fold_level` merges the values of the sources of one level; NOTHING if no source has a value. A source of the outer
    level is a whole inner level: its value is the result of `fold_level` for that level. `finished` takes the result of
    the outermost level and returns the folding of the whole lookup. `folding` and `lay` make and fill a folding by
    hand. `to_data` is the strategy as lookup_options write it.
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

    def fold_level(self, sources: Sequence[One], ask: Callable[[One], Part | Folding]) -> Part | Folding:
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
        """The folding of the whole lookup, from the result of the outermost level. The policy `last` is applied to it.

        level: what `fold_level` returned. A folding is changed and returned; a part becomes a new folding. NOTHING
               gives an empty folding
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


def _flat(part: Part) -> Part:
    """A list with the elements of its inner lists in their place; another value as a list of one."""
    if type(part.value) is not list:
        return listed([part], part)
    return listed(_leaves(part), part) if list in map(type, part.value) else part


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
        # A policy sees only the kinds of values, so the keys of two maps are checked before they are merged.
        lower = part.result if isinstance(part, Folding) else part
        if folding.laid and lower.value is not ABSENT and type(lower.value) is not Unknown:
            # The result of several values was checked when the last of them was merged.
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
    tables = _Deep(given)
    return Strategy(name, tables.root, given, last=tables.last, from_top=name == "deep")


def _checked(name: str, options: Mapping[Any, Any]) -> dict[str, Any]:
    """The options that are set, without null and false. raises: BadLookup "bad_option" """
    known = DEEP_OPTIONS if name in ("deep", "reverse_deep") else {}
    for key, value in options.items():
        if key not in known:
            hint = hint_for(key, known) or f"options that it knows: {', '.join(known) or 'none'}"
            raise BadLookup(f"the strategy {name} knows no option {key!r}", kind=BAD_OPTION, hint=hint)
        if type(value) not in known[key]:
            kind = "a text" if known[key] is _TEXT_OPTION else "true or false"
            raise BadLookup(f"the option {key} must be {kind}, not {value!r}", kind=BAD_OPTION)
    return {key: value for key, value in options.items() if value is not None and value is not False}


def _anonymous(value: Any) -> Part:
    return NOTHING if value is ABSENT else Part(value, None)


@checked_args(values=ListLike)
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
        result = how.finished(how.fold_level(sources, _anonymous)).result
        if result.value is ABSENT:
            raise KeyNotFound("there is no value to merge")
        return copied(result.value)
    except RecursionError:
        raise TooDeep("a value is nested too deep, or inside itself") from None
