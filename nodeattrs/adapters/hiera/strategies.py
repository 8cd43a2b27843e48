"""The strategies of Hiera as policies of the core, and one level folded with them.

`first` looks at one value. `unique`, `hash` and `deep` are tables of what happens where
two values meet; a level (the locations of an entry, the entries of a layer, the layers)
is folded pairwise from the top, the result so far lying over each next value. It knows
no files and no scopes: values come in as parts.

    >>> merge([{"a": 1}, {"a": 2, "b": 3}], "hash")
    {'a': 1, 'b': 3}
    >>> merge([["--x", "a"], ["x", "b"]], {"strategy": "deep", "knockout_prefix": "--"})
    ['b', 'a']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cmp_to_key, lru_cache
from typing import Any, TypeVar

from nodeattrs.adapters.hiera.errors import BadLookup, CannotMerge, KeyNotFound
from nodeattrs.core.meeting import meet
from nodeattrs.core.part import Part, by_position, listed, made, unite
from nodeattrs.core.policy import (
    ANY,
    KEEP,
    LIST,
    MAP,
    NULL,
    SAID,
    SCALAR,
    TAKE,
    TEXT,
    Handler,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.tree import ABSENT, copied, near, strict_key
from nodeattrs.errors import TooDeep

__all__ = ["FIRST", "Knockout", "Strategy", "merge", "strategy_of"]

BOOL = "bool"
_KINDS: dict[type, str] = {bool: BOOL}

Knockout = Callable[[Part, Part], None]
"""Told of each knock-out while a level is folded: the marker, and what it removed."""

One = TypeVar("One")


class Strategy:
    """How the values of one key become one value.

    name:    first, unique, hash, deep or reverse_deep
    options: those that are set, by name

    Every instance is a value: it keeps no state and may be shared between threads.
    """

    def __init__(self, name: str, options: Mapping[str, Any] | None = None, policy: Policy | None = None) -> None:
        self.name = name
        self.options = dict(options or {})
        self.policy = policy

    def single(self, part: Part) -> Part:
        """What becomes of a level with one source."""
        return part

    def first(self, part: Part) -> Part:
        """What becomes of the first value found in a level with several sources."""
        return part

    def join(self, upper: Part, lower: Part) -> Part:
        """The value so far laid over the next one down.

        raises: CannotMerge
        """
        assert self.policy is not None
        return meet(self.policy, lower, upper)

    def last(self, part: Part) -> Part:
        """The last word, when all levels are done."""
        return part

    def level(self, sources: Sequence[One], ask: Callable[[One], Part]) -> Part:
        """Fold one level: *ask* gives the part of each source, ABSENT where it has none."""
        if len(sources) == 1:
            part = ask(sources[0])
            return part if part.value is ABSENT else self.single(part)
        result: Part | None = None
        for source in sources:
            part = ask(source)
            if part.value is not ABSENT:
                result = self.first(part) if result is None else self.join(result, part)
        return result or _NOTHING

    def telling(self, knockout: Knockout) -> Strategy:
        """The same strategy, telling of each knock-out."""
        return self

    def to_data(self) -> str | dict[str, Any]:
        """The strategy as it is written in lookup_options."""
        return {"strategy": self.name, **self.options} if self.options else self.name

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {value!r}" for name, value in self.options.items())
        return f"{self.name} ({given})" if given else self.name


_NOTHING = Part(ABSENT, None)


class _First(Strategy):
    def level(self, sources: Sequence[One], ask: Callable[[One], Part]) -> Part:
        for source in sources:
            part = ask(source)
            if part.value is not ABSENT:
                return part
        return _NOTHING


FIRST = _First("first", policy=Policy("first", Line(ANY, SAID, TAKE, "the first found value counts")))


# --- unique -------------------------------------------------------------------------


def _flat(part: Part) -> Part:
    """A list without lists in it; anything else alone in a list."""
    if type(part.value) is not list:
        return listed([part], part)
    if all(type(entry) is not list for entry in part.value):
        return part
    return listed(_leaves(part), part)


def _leaves(part: Part) -> Iterable[Part]:
    for element in part.elements():
        if type(element.value) is list:
            yield from _leaves(element)
        else:
            yield element


def _refuse(kind: str, message: str, hint: str) -> Handler:
    def refuse(lower: Part, upper: Part) -> Part:
        raise CannotMerge(message, kind=kind, hint=hint)

    return refuse


def _united(lower: Part, upper: Part) -> Part:
    below = _flat(lower)
    _check_texts(below.value, "unique", "hash_in_unique")
    return unite(_flat(upper), below)


def _check_texts(value: Any, strategy: str, kind: str) -> None:
    """Merged maps have text keys all the way down; where they do not, Puppet refuses too."""
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


_NO_MAPS = "a unique merge joins lists and single values; for maps there are hash and deep"

UNIQUE_TABLE = Policy(
    "unique",
    Line(MAP, SAID, _refuse("hash_in_unique", "unique cannot take in a map", _NO_MAPS), "maps are refused"),
    Line(NULL, SAID, _refuse("undef_in_unique", "unique cannot take in null", "remove the key"), "null is refused"),
    Line(SAID, SAID, _united, "lists unite, the stronger elements first"),
    Line(ANY, SAID, TAKE, "nothing lies below"),
)


class _Unique(Strategy):
    def single(self, part: Part) -> Part:
        return unite(part, part) if type(part.value) is list else part

    def first(self, part: Part) -> Part:
        return _flat(part)


class _UniqueByTheLetter(Strategy):
    """As the documentation says: maps always fail, duplicates always go."""

    def single(self, part: Part) -> Part:
        return self.first(part)

    def first(self, part: Part) -> Part:
        if type(part.value) is dict:
            raise CannotMerge("unique cannot take in a map", kind="hash_in_unique", hint=_NO_MAPS)
        flat = _flat(part)
        if any(type(entry) is dict for entry in flat.value):
            raise CannotMerge("unique cannot take in a map", kind="hash_in_unique", hint=_NO_MAPS)
        return unite(flat, flat)

    def join(self, upper: Part, lower: Part) -> Part:
        if lower.value is None:
            raise CannotMerge("unique cannot take in null", kind="undef_in_unique", hint="remove the key")
        return unite(upper, self.first(lower))


# --- hash ---------------------------------------------------------------------------

_SHALLOW = Policy("hash, below the top", Line(ANY, SAID, TAKE, "the stronger source has the key"))
_ONLY_MAPS = "a hash merge joins maps; for lists there are unique and deep"

HASH_TABLE = Policy(
    "hash",
    Line(MAP, MAP, Meet(_SHALLOW), "two maps meet key by key, one level deep"),
    Line(SAID, SAID, _refuse("not_a_hash", "hash can only merge maps", _ONLY_MAPS), "only maps are merged"),
    Line(ANY, SAID, TAKE, "nothing lies below"),
)


class _Hash(Strategy):
    def join(self, upper: Part, lower: Part) -> Part:
        for part in (upper, lower):
            if type(part.value) is dict:
                _check_texts(part.value, "hash", "not_a_hash")
        return super().join(upper, lower)


class _HashByTheLetter(_Hash):
    """As the documentation says: whatever is no map fails, also alone."""

    def single(self, part: Part) -> Part:
        return self.first(part)

    def first(self, part: Part) -> Part:
        if type(part.value) is not dict:
            raise CannotMerge("hash can only merge maps", kind="not_a_hash", hint=_ONLY_MAPS)
        return part


# --- deep ---------------------------------------------------------------------------


class _Deep(Strategy):
    """Two tables, at the root and below it, built from the options.

    Below the root, null and false count as absent, and what meets nothing meets itself:
    duplicates and markers vanish also in lists that only a stronger source has.
    """

    def __init__(self, name: str, options: Mapping[str, Any], knockout: Knockout | None = None) -> None:
        super().__init__(name, options)
        self._knockout = knockout
        self._prefix: str | None = self.options.get("knockout_prefix")
        self._sorts = bool(self.options.get("sort_merged_arrays"))
        self._by_position = bool(self.options.get("merge_hash_arrays"))
        self._field: str | None = self.options.get("merge_hash_arrays_by")
        self._through = bool(self.options.get("knockout_through")) and self._prefix is not None
        self._keys = bool(self.options.get("knockout_hash_keys")) and self._prefix is not None
        plain_lists = self._prefix is None and not (self._sorts or self._by_position or self._field)
        self._is_plain = plain_lists
        text: list[Line] = []
        if self._prefix is not None:
            text = [Line(ANY, TEXT, self._text, "a text replaces; a marker leaves an empty text")]
        scalars = [*text, Line(ANY, (TEXT, SCALAR, BOOL), TAKE, "the stronger source has a value")]
        lists = Line(LIST, LIST, unite if plain_lists else self._lists, "two lists unite, the weaker elements first")
        over = Line(SAID, LIST, self._list_over, "a list replaces what is none") if self._prefix else None
        maps = Line(MAP, MAP, self._maps if self._keys else Meet(self._below_table), "two maps meet key by key")
        map_over = Line(SAID, MAP, self._map_over, "a map replaces what is none, unless it is empty")
        rest = [maps, lists, *([over] if over else []), map_over, Line(ANY, SAID, TAKE, "nothing lies below")]
        below = [
            *scalars,
            Line(BOOL, (NULL, MAP, LIST), self._over_bool_below, "false counts as absent"),
            Line(("absent", NULL), (MAP, LIST), self._alone, "what meets nothing meets itself"),
            Line(("absent", NULL), NULL, TAKE, "null, where nothing lies below"),
            Line(SAID, NULL, KEEP, "null yields"),
            *rest,
        ]
        root = [
            Line(SAID, NULL, KEEP, "null yields"),
            Line(NULL, SAID, TAKE, "null yields"),
            Line(BOOL, SAID, self._over_bool_root, "false counts as absent"),
            *scalars,
            *rest,
        ]
        self._below = Policy("deep", *below, kinds=_KINDS)
        self._both_maps = Policy("deep", Line(MAP, MAP, Meet(self._below)), Line(ANY, SAID, TAKE), kinds=_KINDS)
        self.policy = Policy("deep, at the root", *root, kinds=_KINDS)

    def telling(self, knockout: Knockout) -> Strategy:
        return self if self._prefix is None else type(self)(self.name, self.options, knockout)

    def join(self, upper: Part, lower: Part) -> Part:
        if self._prefix == "":
            raise CannotMerge(
                "the knock-out prefix is empty", kind="empty_knockout_prefix", hint="leave it out, or write '--'"
            )
        return super().join(upper, lower)

    def last(self, part: Part) -> Part:
        """Markers that reached through every source are dropped at the end."""
        return self._unmarked(part) if self._through else part

    def _below_table(self) -> Policy:
        return self._below

    def _meet_below(self, lower: Part, upper: Part) -> Part:
        return meet(self._below, lower, upper)

    def _alone(self, lower: Part, upper: Part) -> Part:
        # Without options only repeated elements would vanish; mostly there are none, and nothing is built anew.
        return upper if self._is_plain and _is_settled(upper.value) else self._meet_below(upper, upper)

    def _over_bool_below(self, lower: Part, upper: Part) -> Part:
        if not lower.value:
            return self._alone(lower, upper) if upper.value is not None else upper
        if upper.value is None:
            return lower
        return self._over_scalar(lower, upper)

    def _over_bool_root(self, lower: Part, upper: Part) -> Part:
        if not lower.value:
            return upper
        return self._over_scalar(lower, upper)

    def _over_scalar(self, lower: Part, upper: Part) -> Part:
        kind = type(upper.value)
        if kind is dict:
            return self._map_over(lower, upper)
        if kind is list:
            return self._list_over(lower, upper)
        return self._text(lower, upper) if kind is str and self._prefix else upper

    # --- maps

    def _map_over(self, lower: Part, upper: Part) -> Part:
        """An empty map yields; otherwise the first pair is taken as it is, and every later one meets itself."""
        if self._keys and not self._through:
            upper = _without(upper, [key for key in upper.value if type(key) is str and self._is_marker(key)])
        keys = list(upper.value)
        if not keys:
            return lower
        rest = _without(upper, keys[:1])
        return meet(self._below, _without(upper, keys[1:]), rest) if len(keys) > 1 else upper

    def _maps(self, lower: Part, upper: Part) -> Part:
        """Two maps, where `--name` in the upper one removes `name` from the lower one."""
        markers = [key for key in upper.value if type(key) is str and self._is_marker(key)]
        gone = list(markers)
        if lower.value is not upper.value:
            for marker in markers:
                name = self._unprefixed(marker)
                if name in lower.value:
                    gone.append(name)
                    self._tell(upper.at(marker), lower.at(name))
        below = _without(lower, gone)
        return meet(self._both_maps, below, upper if self._through else _without(upper, markers))

    # --- texts and lists

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _prefix_pattern(self._prefix or "")

    def _is_marker(self, text: str) -> bool:
        return self._unprefixed(text) != text

    def _unprefixed(self, text: str) -> str:
        return self._pattern.sub("", text)

    def _tell(self, marker: Part, removed: Part) -> None:
        if self._knockout is not None:
            self._knockout(marker, removed)

    def _text(self, lower: Part, upper: Part) -> Part:
        if self._is_marker(upper.value):
            if lower.value is not ABSENT and lower.value is not upper.value:
                self._tell(upper, lower)
            return made("", upper)
        return upper

    def _list_over(self, lower: Part, upper: Part) -> Part:
        """A list over what is none: its markers go, and nothing is sorted."""
        if not self._prefix or self._through:
            return upper
        kept = [part for part in upper.elements() if not self._is_dropped(part.value)]
        if len(kept) < len(upper.value) and lower.value is not upper.value:
            for part in upper.elements():
                if part.value == self._prefix:
                    self._tell(part, lower)
        return listed(kept, upper)

    def _is_dropped(self, value: Any) -> bool:
        return type(value) is str and (value == self._prefix or bool(self._pattern.search(value)))

    def _lists(self, lower: Part, upper: Part) -> Part:
        """Bare markers empty the lower list, others remove their text from it; then both unite."""
        below, above = lower, upper
        markers: list[Part] = []
        if self._prefix:
            below, above, markers = self._knocked_out(lower, upper)
        if self._field is not None and _all_maps(below, above):
            result = self._by_field(below, above)
        elif self._by_position and _all_maps(below, above):
            result = by_position(below, above, self._element)
        else:
            result = unite(below, above)
        if self._sorts:
            result = _sorted(result, lower, upper)
        if markers and self._through:
            result = listed([*result.elements(), *markers], lower, upper)
        return result

    def _knocked_out(self, lower: Part, upper: Part) -> tuple[Part, Part, list[Part]]:
        prefix = self._prefix
        below, above = list(lower.elements()), list(upper.elements())
        itself = lower.value is upper.value
        markers = [part for part in above if type(part.value) is str and part.value == prefix]
        if markers:
            if not itself:
                for part in below:
                    self._tell(markers[0], part)
            below = []
            above = [part for part in above if not (type(part.value) is str and part.value == prefix)]
        kept = []
        for part in above:
            if type(part.value) is not str or not self._is_marker(part.value):
                kept.append(part)
                continue
            markers.append(part)
            gone = (part.value, self._unprefixed(part.value))
            if not itself:
                for element in below:
                    if type(element.value) is str and element.value == gone[1]:
                        self._tell(part, element)
            below = [one for one in below if not (type(one.value) is str and one.value in gone)]
        if not markers:
            return lower, upper, []
        return listed(below, lower), listed(kept, upper), markers

    def _element(self, below: Part, above: Part) -> Part:
        if above.value is ABSENT:
            return below
        return above if below.value is ABSENT else self._meet_below(below, above)

    def _by_field(self, lower: Part, upper: Part) -> Part:
        """Maps with an equal field meet; the others of the upper list follow."""
        result = list(lower.elements())
        places: dict[Any, int] = {}
        for at, element in enumerate(result):
            places.setdefault(strict_key(element.value.get(self._field, ABSENT)), at)
        for element in upper.elements():
            name = element.value.get(self._field, ABSENT)
            at = -1 if name is ABSENT else places.get(strict_key(name), -1)
            if at < 0:
                result.append(element)
            elif result[at].value is not element.value:
                result[at] = self._meet_below(result[at], element)
        return listed(result, lower, upper)

    def _unmarked(self, part: Part) -> Part:
        if type(part.value) is list:
            kept = [self._unmarked(entry) for entry in part.elements() if not self._is_dropped(entry.value)]
            return listed(kept, part)
        if type(part.value) is dict:
            kept_map = {
                key: self._unmarked(part.at(key))
                for key in part.value
                if not (self._keys and type(key) is str and self._is_marker(key))
            }
            told = None if part.origins is None else {key: entry.origins for key, entry in kept_map.items()}
            return Part({key: entry.value for key, entry in kept_map.items()}, told)
        return part


class _ReverseDeep(_Deep):
    """The same, the weaker source on top."""

    def join(self, upper: Part, lower: Part) -> Part:
        return super().join(lower, upper)


def _is_settled(value: Any) -> bool:
    """Whether no list, here or below keys, has an element twice."""
    if type(value) is dict:
        return all(_is_settled(entry) for entry in value.values() if type(entry) is dict or type(entry) is list)
    for entry in value:
        if type(entry) is not str:
            return len({strict_key(entry) for entry in value}) == len(value)
    return len(set(value)) == len(value)


def _without(part: Part, keys: Iterable[Any]) -> Part:
    """A map without some of its keys."""
    gone = set(keys)
    if not gone:
        return part
    value = {key: entry for key, entry in part.value.items() if key not in gone}
    told = part.origins
    if type(told) is dict:
        told = {key: entry for key, entry in told.items() if key not in gone}
    return Part(value, told)


def _all_maps(lower: Part, upper: Part) -> bool:
    return all(type(entry) is dict for part in (lower, upper) for entry in part.value)


@lru_cache(maxsize=64)
def _prefix_pattern(prefix: str) -> re.Pattern[str]:
    try:
        return re.compile("^" + prefix, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise CannotMerge(
            f"the knock-out prefix {prefix!r} is read as a regular expression, and is none: {error}",
            kind="bad_pattern",
            hint="put a backslash before its special characters",
        ) from None


def _sorted(part: Part, *of: Part) -> Part:
    return listed(sorted(part.elements(), key=cmp_to_key(_by_value)), *of)


def _by_value(one: Part, other: Part) -> int:
    return _compared(one.value, other.value)


def _compared(one: Any, other: Any) -> int:
    kinds = type(one), type(other)
    if all(kind in (int, float) for kind in kinds) or kinds == (str, str):
        return int(one > other) - int(one < other)
    if kinds == (list, list):
        for left, right in zip(one, other, strict=False):
            if order := _compared(left, right):
                return order
        return len(one) - len(other)
    if strict_key(one) == strict_key(other):
        return 0
    raise CannotMerge(
        "sort_merged_arrays met elements that have no order",
        kind="cannot_sort",
        hint="sort numbers with numbers and texts with texts, or leave the option out",
    )


# --- which strategy -----------------------------------------------------------------

_TEXT_OPTION = (str, type(None))
_SWITCH = (bool, type(None))
_DEEP_OPTIONS: dict[str, tuple[type, ...]] = {
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
    ("unique", False): _Unique("unique", policy=UNIQUE_TABLE),
    ("unique", True): _UniqueByTheLetter("unique", policy=UNIQUE_TABLE),
    ("hash", False): _Hash("hash", policy=HASH_TABLE),
    ("hash", True): _HashByTheLetter("hash", policy=HASH_TABLE),
}


def strategy_of(merge: str | Mapping[str, Any] | None, *, documented: bool = False) -> Strategy:
    """The strategy that a merge argument, or `merge` in lookup_options, names.

    merge:      a name, or a map with `strategy` and options; None means first
    documented: follow the documentation where Puppet itself does not
    raises:     BadLookup: "unknown_strategy", "missing_strategy", "bad_option"
    source:     docs/hiera.md, "Strategies"

    >>> print(strategy_of({"strategy": "deep", "knockout_prefix": "--"}))
    deep (knockout_prefix: '--')
    """
    if merge is None:
        return FIRST
    given: Mapping[Any, Any] = {}
    name: Any = merge
    if isinstance(merge, Mapping):
        given, name = merge, merge.get("strategy")
        if name is None:
            raise BadLookup("merge is a map without a strategy", kind="missing_strategy", hint="add strategy: deep")
    if not isinstance(name, str) or name not in _NAMES:
        close = near(name, _NAMES) if isinstance(name, str) else []
        hint = f"did you mean {close[0]}?" if close else f"the strategies are {', '.join(_NAMES[:1] + _NAMES[2:5])}"
        raise BadLookup(f"there is no merge strategy {name!r}", kind="unknown_strategy", hint=hint)
    options = _checked(name, {key: value for key, value in given.items() if key != "strategy"})
    if name in ("first", "default"):
        return FIRST
    if name in ("unique", "hash"):
        return _PLAIN[name, documented]
    return _deep(name, tuple(options.items()))


@lru_cache(maxsize=256)
def _deep(name: str, options: tuple[tuple[str, Any], ...]) -> Strategy:
    return (_Deep if name == "deep" else _ReverseDeep)(name, dict(options))


def _checked(name: str, options: dict[Any, Any]) -> dict[str, Any]:
    known = _DEEP_OPTIONS if name in ("deep", "reverse_deep") else {}
    for key, value in options.items():
        if key not in known:
            close = near(key, known)
            hint = f"did you mean {close[0]}?" if close else f"options that it knows: {', '.join(known) or 'none'}"
            raise BadLookup(f"the strategy {name} knows no option {key!r}", kind="bad_option", hint=hint)
        if type(value) not in known[key]:
            kind = "a text" if known[key] is _TEXT_OPTION else "true or false"
            raise BadLookup(f"the option {key} must be {kind}, not {value!r}", kind="bad_option")
    return {key: value for key, value in options.items() if value is not None and value is not False}


def merge(values: Iterable[Any], strategy: str | Mapping[str, Any] | None = None, *, documented: bool = False) -> Any:
    """Merge the values of one key, the strongest first.

    values:     plain data; `ABSENT` stands for a source that lacks the key
    strategy:   see `strategy_of`
    documented: follow the documentation where Puppet itself does not
    cost:       one visit for each key that two sides have, and one copy of the result
    raises:     BadLookup, CannotMerge, KeyNotFound where no value is given

    >>> merge(["time.pdx", ["a.ntp", "b.ntp"], "a.ntp"], "unique")
    ['time.pdx', 'a.ntp', 'b.ntp']
    """
    how = strategy_of(strategy, documented=documented)
    sources = list(values)
    try:
        part = how.level(sources, lambda value: Part(value, None))
        if part.value is ABSENT:
            raise KeyNotFound("there is no value to merge")
        return copied(how.last(part).value)
    except RecursionError:
        raise TooDeep("a value is nested too deep, or inside itself") from None
