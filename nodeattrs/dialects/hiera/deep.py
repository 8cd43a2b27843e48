"""The policies of the strategy `deep`: tables of the result for two values of a key, built from the options.

The table `root` has the rules for two values of the key itself, and `below` the rules for their entries. Below the
root, null and false count as absent. A value without a counterpart is merged with itself, so that its duplicates and
markers vanish. A *marker* is a text with the knock-out prefix, which removes a value of a weaker source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cmp_to_key, lru_cache
from typing import Any

from nodeattrs.core.folding import meet, record_decision
from nodeattrs.core.part import Handler, Part, by_field, by_position, entries, listed, made, unite, without
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
from nodeattrs.core.tree import ABSENT, strict_key
from nodeattrs.dialects.hiera.codes import BAD_PATTERN, CANNOT_SORT, EMPTY_KNOCKOUT_PREFIX
from nodeattrs.dialects.hiera.errors import CannotMerge
from nodeattrs.formats.patterns import BadPattern, Expression
from nodeattrs.puppet.regex import translated

BOOL = "bool"
_KINDS: dict[type, str] = {bool: BOOL, MarkedSecret: TEXT}

KNOCKED_OUT = Policy("knock-out", Line(ANY, PRESENT, TAKE, "a marker removes what it names"))
"""Noted of each knock-out: the marker lies over what it has removed."""


class Deep:
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

    # --- what meets nothing, or false

    def _meet_below(self, lower: Part, upper: Part) -> Part:
        return meet(self.below, lower, upper)

    def _alone(self, lower: Part, upper: Part) -> Part:
        # Without options only repeated elements would vanish; mostly there are none, and nothing is built anew.
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
        """An empty map yields; otherwise the first pair is taken as it is, and every later one meets itself."""
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
        """A list over what is none: its markers go, and nothing is sorted."""
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

    # --- the last look

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
        below = listed(self._left(lower, bare, marked, lower.value is not upper.value), lower)
        return [*bare, *marked], below, listed((part for part in above if id(part) not in spent), upper)

    def _left(self, lower: Part, bare: list[Part], marked: list[Part], noted: bool) -> Iterator[Part]:
        """What markers leave of a list: what one names goes, and so does the marker's own text."""
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
    for entry in value:
        if type(entry) is not str:
            return len({strict_key(entry) for entry in value}) == len(value)
    return len(set(value)) == len(value)


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
    """A value, or that of a secret: markers and order are about what it is."""
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
