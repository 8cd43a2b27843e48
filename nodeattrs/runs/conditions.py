"""Conditions as data: what `when` in an attribute file may say of a node's facts.

It reads what stands in a document and says whether facts meet it. It knows no node, no level
and no cookbook. The rules: docs/attribute-data.md, "Blocks and conditions".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, dig, meant, parse, spell, strict_key
from nodeattrs.errors import BadArgument
from nodeattrs.kinds import NUMBER_FOR_TEXT
from nodeattrs.runs.fields import Fields

Facts = Mapping[Any, Any]
Test = Callable[[Any], bool]

_VERSION = r"\d{1,9}(?:\.\d{1,9})*"
_NUMBERS = re.compile(_VERSION)
_CONSTRAINT = re.compile(rf"(<=|>=|~>|<|>|=)?\s*({_VERSION})")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    **{"=": operator.eq, "<": operator.lt, ">": operator.gt},
    **{"<=": operator.le, ">=": operator.ge, "~>": operator.ge},
}


@dataclass(frozen=True)
class When:
    """A condition.

    met:  whether facts meet it
    asks: the facts that it asks, and where in the document each stands
    """

    met: Callable[[Facts], bool]
    asks: tuple[tuple[Path, Path], ...] = ()


ALWAYS = When(lambda facts: True)


def read_when(fields: Fields, at: Path) -> When:
    """The condition that stands at a path of a document; what is wrong in it is noted there."""
    reader = _Reader(fields)
    met = reader.map(dig(fields.tree, at), at)
    return When(met, tuple(reader.asks))


class _Reader:
    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.asks: list[tuple[Path, Path]] = []

    def map(self, written: Any, at: Path) -> Callable[[Facts], bool]:
        """Facts and what each has to be, or a list of such maps."""
        if isinstance(written, list) and written:
            some = [self.map(one, (*at, index)) for index, one in enumerate(written)]
            return lambda facts: any(met(facts) for met in some)
        if not isinstance(written, dict) or not written:
            self.fields.wrong(at, "a condition is a map of facts, or a list of such maps", "platform_family: debian")
            return ALWAYS.met
        every = [self._entry(key, value, (*at, key)) for key, value in written.items()]
        return every[0] if len(every) == 1 else lambda facts: all(met(facts) for met in every)

    def _entry(self, key: Any, value: Any, at: Path) -> Callable[[Facts], bool]:
        if key == "not":
            below = self.map(value, at)
            return lambda facts: not below(facts)
        fact = self._fact(key, at)
        self.asks.append((fact, at))
        if fact[-1:] == ("platform_version",) and type(value) in (int, float):
            message = f"{spell(fact)} is a text: the number {value} is never equal to it"
            self.fields.warn(at, message, f'write "{value}"', NUMBER_FOR_TEXT)
        test = self.test(value, at, fact)
        return lambda facts: test(dig(facts, fact))

    def _fact(self, key: Any, at: Path) -> Path:
        try:
            if isinstance(key, str) and (fact := parse(key)):
                return fact
            self.fields.wrong(at, f"{key!r} is no path of a fact", "write its name, or names joined by dots")
        except BadArgument as error:
            self.fields.wrong(at, error.message, error.hint)
        return (str(key),)

    def test(self, value: Any, at: Path, fact: Path) -> Test:
        """What one fact has to be."""
        if isinstance(value, dict):
            return self._words(value, at, fact)
        if isinstance(value, list):
            if any(isinstance(one, (dict, list)) for one in value):
                self.fields.wrong(at, "a list in a condition has texts and numbers, of which the fact is one")
                return _never
            keys = {_key(one) for one in value}
            return lambda found: _key(found) in keys
        key = _key(value)
        return lambda found: bool(_key(found) == key)

    def _words(self, written: dict[Any, Any], at: Path, fact: Path) -> Test:
        tests = [self._word(word, value, (*at, word), fact) for word, value in written.items()]
        if not tests:
            self.fields.wrong(at, "a condition of a fact is never empty", f"the words are {', '.join(WORDS)}")
        return lambda found: all(test(found) for test in tests)

    def _word(self, word: Any, value: Any, at: Path, fact: Path) -> Test:
        if word in WORDS:
            return WORDS[word](self, value, at, fact)
        inside = f"the words are {', '.join(WORDS)}; of a fact inside it write {spell((*fact, word))}: ..."
        self.fields.wrong(at, f"no condition is called {word}", meant(word, WORDS) or inside)
        return _never


def _not(reader: _Reader, value: Any, at: Path, fact: Path) -> Test:
    test = reader.test(value, at, fact)
    return lambda found: not test(found)


def _has(reader: _Reader, value: Any, at: Path, fact: Path) -> Test:
    if isinstance(value, (dict, list)):
        reader.fields.wrong(at, "has names one element of a list", "for several write a list of maps, or several facts")
    key = _key(value)
    return lambda found: isinstance(found, list) and any(_key(one) == key for one in found)


def _version(reader: _Reader, value: Any, at: Path, fact: Path) -> Test:
    texts = str(value).split(",") if type(value) in (str, int) else [""]
    read = [_CONSTRAINT.fullmatch(text.strip()) for text in texts]
    if not all(read):
        hint = 'write an operator (= < > <= >= ~>) and numbers: ">= 22.04, < 24"'
        reader.fields.wrong(at, f"{value!r} is no version constraint", hint)
    return lambda found: _allowed([(one[1] or "=", _numbers(one[2])) for one in read if one], found)


def _allowed(constraints: list[tuple[str, tuple[int, ...]]], found: Any) -> bool:
    numbers = _NUMBERS.match(str(found)) if type(found) in (str, int) else None
    return numbers is not None and all(_allows(sign, asked, _numbers(numbers[0])) for sign, asked in constraints)


def _allows(sign: str, asked: tuple[int, ...], version: tuple[int, ...]) -> bool:
    length = max(len(asked), len(version))
    one, other = (numbers + (0,) * (length - len(numbers)) for numbers in (version, asked))
    fixed = max(len(asked) - 1, 1) if sign == "~>" else 0
    return _COMPARE[sign](one, other) and one[:fixed] == asked[:fixed]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _never(found: Any) -> bool:
    return False


def _key(value: Any) -> Any:
    """What is equal for equal scalars; a map or a list is equal to none, and null is what is absent, too."""
    if isinstance(value, (dict, list)):
        return ABSENT
    return strict_key(None if value is ABSENT else value)


WORDS: dict[str, Callable[[_Reader, Any, Path, Path], Test]] = {"not": _not, "has": _has, "version": _version}
"""What may stand below a fact, besides what it has to be; docs/attribute-data.md has the table."""
