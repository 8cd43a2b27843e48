"""Regular expressions that people wrote, searched for in texts of others: none may run for ever.

Python's `re` tries again and again where an expression can take a text in several ways. How often at most, the
expression's own shape says: it is judged once. A harmless one runs in `re`. One that might take too long
goes to the package `regex`, which stops at a time; without that package it is refused, with the reason.

It knows Python's spelling only; Ruby's is translated before (`puppet.regex`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial, reduce
from math import prod
from operator import or_
from typing import Any, NamedTuple, Protocol

from nodeattrs.core.budget import Budget, in_force
from nodeattrs.errors import BadArgument

_HINT = "pip install 'nodeattrs[regex]' searches with a limit of time, and knows more of Ruby's expressions"


class BadPattern(BadArgument):
    """An expression that is none, or that might take too long."""


def fits(parts: Sequence[str], text: str) -> bool:
    """Whether a text is these parts in their order, with anything between them. cost: linear

    >>> fits(["a::", "::c"], "a::b::c"), fits(["a::", "::c"], "a::c"), fits(["a"], "ab")
    (True, False, False)
    """
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return text == first
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in parts[1:-1]:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class _Engine(Protocol):
    def search(self, text: str, **limit: Any) -> Any: ...
    def sub(self, by: str, text: str, **limit: Any) -> str: ...


class Expression:
    """An expression that is safe to search with.

    source: as `expression` was given it
    tries:  the most that `re` may have to do: the length of the text to a power, times a number; None: nobody knows
    """

    def __init__(
        self, source: str, plain: re.Pattern[str] | None, tries: Tries | None, timed: Callable[[], _Engine | None]
    ) -> None:
        self.source = source
        self.tries = tries
        self._plain = plain if tries is not None else None
        self._timed = timed
        self._is_quick = tries is not None and tries.is_quick

    def search(self, text: str) -> bool:
        """Whether it is found in a text. raises: TooMuch"""
        return self._run("search", text) is not None

    def without(self, text: str) -> str:
        """The text without all that it finds. raises: TooMuch"""
        return str(self._run("sub", "", text))

    def _run(self, method: str, *words: str) -> Any:
        if self._plain is not None and (self._is_quick or self.tries.on(words[-1]) <= _QUICK * in_force().steps):  # type: ignore[union-attr]
            return getattr(self._plain, method)(*words)
        budget = Budget(f"/{self.source[:40]}/")
        timed = self._timed()
        if timed is None:
            error = budget.passed("steps")
            error.hint = _HINT
            raise error
        try:
            return getattr(timed, method)(*words, timeout=budget.limits.seconds)
        except TimeoutError:
            raise budget.passed("seconds") from None


class Tries(NamedTuple):
    """How often an expression may be tried on a text."""

    power: int
    times: int

    @property
    def is_quick(self) -> bool:
        """Whether it takes linear time."""
        return self.power < 2 and self.times <= _QUICK

    def on(self, text: str) -> int:
        """On a text of that length."""
        return int(len(text) ** self.power) * self.times


_QUICK = 20
"""How many signs `re` looks at while others take a step."""


def has_regex() -> bool:
    """Whether the package `regex` is there."""
    try:
        import regex  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(maxsize=1024)
def expression(source: str, flags: int = 0, spelled: str | None = None, *, beyond: str = "") -> Expression:
    """The expression that a text spells.

    flags:   of `re`
    spelled: the same for Python, where *source* is of another language
    beyond:  what of it `re` cannot say, and `regex` can
    raises:  BadPattern, also for one that might take too long where nothing can stop it

    >>> expression("^www").search("www-data")
    True
    """
    wanted = source if spelled is None else spelled
    plain = tries = None
    why = f"{beyond} cannot be translated"
    if not beyond:
        try:
            with _unwarned():
                plain = re.compile(wanted, flags)
                tries = _judged(wanted, plain.flags)
        except _Ambiguous as error:
            why = str(error)
        except (re.error, RecursionError, OverflowError) as error:
            raise BadPattern(str(error)) from None
    timed = cache(partial(_timed, wanted, flags, bool(beyond)))
    if tries is None and timed() is None:
        raise BadPattern(why, hint=None if has_regex() else _HINT)
    return Expression(source, plain, tries, timed)


@lru_cache(maxsize=512)
def compiled(source: str, flags: int = 0) -> re.Pattern[str]:
    """An expression as `re` has it, which may run for ever. raises: re.error, RecursionError, OverflowError"""
    with _unwarned():
        return re.compile(source, flags)


@contextmanager
def _unwarned() -> Iterator[None]:
    """Where nobody is warned of what Python may read as a set of sets some day."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _timed(wanted: str, flags: int, beyond: bool) -> _Engine | None:
    try:
        import regex
    except ImportError:
        return None
    try:
        letters = regex.ASCII if flags & re.ASCII else 0  # has another number than in `re`
        version = regex.V1 if beyond else regex.V0
        return regex.compile(wanted, flags & _SHARED | letters | version)  # type: ignore[no-any-return]
    except (regex.error, RecursionError, OverflowError, ValueError, MemoryError):
        return None


_SHARED = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE


# --- the shape of an expression


class _Ambiguous(Exception):
    """A loop that can take one text in several ways, and each of its rounds again."""


_Set = int
"""The characters that one place takes: a bit for each of ASCII, one more for all others."""

_OTHERS: _Set = 1 << 128
_ALL: _Set = (_OTHERS << 1) - 1
_CAPITALS: _Set = 0x7FFFFFE << 64
_MOST_PLACES = 2_000
_FEW = 3
_TWO_WAYS = "one of its repeats holds another, so that a text can be divided in too many ways"
_IGNORES_CASE = re.compile(r"\(\?[a-zA-Z]*i")


_MOST_POWER, _MOST_TIMES = 40, 10**12


def _bounded(power: int, times: int) -> Tries:
    """Repeats in repeats come to numbers that take longer than the search; so many are too many for any text."""
    return Tries(min(power, _MOST_POWER), min(times, _MOST_TIMES))


def _judged(source: str, flags: int) -> Tries:
    """How much a search may take. raises: _Ambiguous, where no power is enough"""
    tree = re._parser.parse(source, flags)  # the one place where Python shows a shape
    shape = _Shape(bool(flags & re.IGNORECASE or _IGNORES_CASE.search(source)))
    tries = shape.tries(tree)
    if tries.power + tries.times > 2 and shape.has_one_way(tree):
        tries = Tries(1, 1)
    start = str(tree[0][1]) if len(tree) and str(tree[0][0]) == "AT" else ""
    once = start == "AT_BEGINNING_STRING" or (start == "AT_BEGINNING" and not flags & re.MULTILINE)
    return tries if once else Tries(tries.power + 1, tries.times)


class _Places:
    """The places of a part (Glushkov's automaton). Where no two that may come next take one character, there is one
    way to take a text."""

    __slots__ = ("first", "last", "nullable")

    def __init__(self, first: list[int], last: list[int], nullable: bool) -> None:
        self.first, self.last, self.nullable = first, last, nullable


class _Shape:
    """Judges the parts of a parsed expression."""

    def __init__(self, folds: bool) -> None:
        self.folds = folds
        self.sets: list[_Set] = []
        self.after: list[set[int]] = []
        self.looked = 0
        self.is_double = False

    def tries(self, items: Any) -> Tries:
        """How many loops may divide a text between them, and how many choices there are. raises: _Ambiguous"""
        several = [self._tries(str(op), value) for op, value in items]
        return _bounded(sum(one.power for one in several), prod(one.times for one in several))

    def _tries(self, op: str, value: Any) -> Tries:
        if op.endswith("_REPEAT"):
            return self._loop(*value)
        several = [self.tries(one) for one in self._inner(op, value)]
        alike = self._alike(value[1]) if op == "BRANCH" else 1
        return Tries(
            max((one.power for one in several), default=int(op == "GROUPREF")),
            alike * max((one.times for one in several), default=1),
        )

    def _loop(self, least: int, most: Any, body: Any) -> Tries:
        most = int(most)
        within = self.tries(body)
        if most <= _FEW:
            return _bounded(within.power * most, within.times**most * (most - least + 1))
        if not (len(body) == 1 and self._set(*body[0]) is not None) and not self.has_one_way(body, most):
            raise _Ambiguous(_TWO_WAYS)
        return Tries(1, 1)

    def _alike(self, branches: Any) -> int:
        """How many branches may begin with one character."""
        self.sets, self.after = [], []
        firsts = [self._sequence(one) for one in branches]
        taken = [_ALL if one.nullable else reduce(or_, (self.sets[p] for p in one.first), 0) for one in firsts]
        return max(sum(one >> bit & 1 for one in taken) for bit in range(129))

    def has_one_way(self, items: Any, rounds: int = 1) -> bool:
        """Whether it can take each text in one way only, in so many rounds. raises: _Ambiguous, where nobody knows"""
        self.sets, self.after, self.is_double = [], [], False
        try:
            places = self._sequence(items)
        except _Ambiguous:
            if rounds > 1:
                raise
            return False
        if rounds > 1:
            if places.nullable and (places.first or rounds < _MOST_PLACES):
                return False
            self._joined(places.last, places.first)
        return not self.is_double and not any(map(self._clash, (places.first, *self.after)))

    def _clash(self, several: Iterable[int]) -> bool:
        seen = 0
        for place in several:
            if seen & self.sets[place]:
                return True
            seen |= self.sets[place]
        return False

    @staticmethod
    def _inner(op: str, value: Any) -> list[Any]:
        match op:
            case "SUBPATTERN":
                return [value[3]]
            case "BRANCH":
                return list(value[1])
            case "ATOMIC_GROUP":
                return [value]
            case "ASSERT" | "ASSERT_NOT":
                return [value[1]]
            case "GROUPREF_EXISTS":
                return [one for one in value[1:] if one is not None]
        return []

    def _joined(self, before: list[int], behind: list[int]) -> None:
        for place in before:
            # What could come next anyhow, and may come now once more, can come in two ways.
            self.is_double = self.is_double or not self.after[place].isdisjoint(behind)
            self.after[place].update(behind)

    def _sequence(self, items: Any) -> _Places:
        whole = _Places([], [], True)
        self.looked += 1 + len(items)
        if self.looked > 20 * _MOST_PLACES:
            raise _Ambiguous("it is too long to be judged")
        for op, value in items:
            whole = self._then(whole, self._places(str(op), value))
        return whole

    def _then(self, one: _Places, other: _Places) -> _Places:
        self._joined(one.last, other.first)
        first = one.first + other.first if one.nullable else one.first
        last = one.last + other.last if other.nullable else other.last
        return _Places(first, last, one.nullable and other.nullable)

    def _places(self, op: str, value: Any) -> _Places:
        taken = self._set(op, value)
        if taken is not None:
            if len(self.sets) >= _MOST_PLACES:
                raise _Ambiguous("it is too long to be judged")
            self.sets.append(taken)
            self.after.append(set())
            return _Places([len(self.sets) - 1], [len(self.sets) - 1], False)
        if op.endswith("_REPEAT"):
            return self._repeated(*value)
        if op in ("ASSERT", "ASSERT_NOT") and _Shape(self.folds).tries(value[1]).power:
            raise _Ambiguous("a repeat looks ahead or back without an end")
        if op in ("AT", "ASSERT", "ASSERT_NOT"):
            return _Places([], [], True)
        if op not in ("SUBPATTERN", "BRANCH", "ATOMIC_GROUP"):
            raise _Ambiguous("a repeat holds a reference to what was found before")
        return self._branched(self._inner(op, value))

    def _branched(self, branches: Iterable[Any]) -> _Places:
        """Branches that begin alike are one that goes on in several ways."""
        groups: dict[str, list[Any]] = {}
        for one in map(list, branches):
            groups.setdefault(repr(one[:1]), []).append(one)
        several: list[_Places] = []
        for same in groups.values():
            if len(same) == 1 or not same[0]:
                several += map(self._sequence, same)
            else:
                begin = self._sequence(same[0][:1])
                several.append(self._then(begin, self._branched(one[1:] for one in same)))
        if sum(one.nullable for one in several) > 1:
            raise _Ambiguous(_TWO_WAYS)
        first, last = [p for one in several for p in one.first], [p for one in several for p in one.last]
        return _Places(first, last, any(one.nullable for one in several))

    def _repeated(self, least: int, most: Any, body: Any) -> _Places:
        whole = rest = _Places([], [], True)
        for _ in range(least):
            whole = self._then(whole, self._round(body))
        if int(most) > _MOST_PLACES:
            rest = self._round(body)
            self._joined(rest.last, rest.first)
        else:
            for _ in range(int(most) - least):
                rest = self._then(self._round(body), _Places(rest.first, rest.last, True))
        return self._then(whole, _Places(rest.first, rest.last, True))

    def _round(self, body: Any) -> _Places:
        one = self._sequence(body)
        if one.nullable:
            raise _Ambiguous(_TWO_WAYS)
        return one

    def _set(self, op: str, value: Any) -> _Set | None:
        """The characters of what takes one; None for all else."""
        match str(op):
            case "LITERAL":
                return self._between(value, value)
            case "NOT_LITERAL":
                return _ALL & ~self._between(value, value) | _OTHERS
            case "ANY":
                return _ALL
            case "RANGE":
                return self._between(*value)
            case "CATEGORY":
                return _category(str(value))
            case "IN":
                several = [self._set(*one) for one in value if str(one[0]) != "NEGATE"]
                taken = reduce(or_, (one or 0 for one in several), 0)
                return taken if len(several) == len(value) else _ALL & ~taken | _OTHERS
        return None

    def _between(self, low: int, high: int) -> _Set:
        taken = (1 << min(high, 127) + 1) - (1 << min(low, 128)) if low < 128 else 0
        if self.folds and (letters := taken & (_CAPITALS | _CAPITALS << 32)):
            taken |= (letters & _CAPITALS) << 32 | (letters >> 32) & _CAPITALS | _OTHERS
        return taken | (_OTHERS if high > 127 else 0)


@lru_cache(maxsize=64)
def _category(name: str) -> _Set:
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.rpartition("_")[2]]
    finds: Callable[[str], Any] = re.compile(rf"\{letter.upper() if '_NOT_' in name else letter}").match
    return sum(1 << code for code in range(128) if finds(chr(code))) | _OTHERS
