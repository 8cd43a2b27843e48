"""Texts grown from a grammar in lark's notation: the one that a reader has, or one written here.

A grammar is read when its first text is grown.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import lark
from lark.grammar import Symbol
from lark.lexer import PatternStr

__all__ = ["Grammar"]

_LENGTHS = (2, 6, 15, 60)
"""After so many signs a text only ends: short ones reach more of a reader, as one sign that is wrong ends it."""
_DEEPEST = 150
_NEVER = 1_000_000


class Grammar:
    """What a text of a language looks like.

    rules: in lark's notation
    words: terminal -> texts it may stand for, for those that the rules do not have, and for every
           regular expression but a keyword's
    start: the rules that a text may begin with
    glue:  what stands between two signs; "" where rules write spaces themselves

    >>> Grammar('start: "a" [start]', {}).grown(random.Random(1))
    'a a a'
    """

    def __init__(
        self, rules: str, words: Mapping[str, Sequence[str]], *, start: str = "start", glue: str = " "
    ) -> None:
        self._rules, self._given, self._start, self._glue = rules, words, start, glue

    @cached_property
    def _read(self) -> lark.Lark:
        known = set(re.findall(r"(?m)^\s*(\w+)(?:\.\d+)?:", self._rules))
        rules = "\n".join([self._rules, *(f"{name}: /x/" for name in self._given if name not in known)])
        return lark.Lark(rules, start=self._start, parser="earley", keep_all_tokens=True, maybe_placeholders=False)

    @cached_property
    def _words(self) -> dict[str, Sequence[str]]:
        read = self._read
        return {
            one.name: self._given.get(one.name) or [_literal(one)]
            for one in read.terminals
            if one.name not in read.ignore_tokens
        }

    @cached_property
    def _ways(self) -> dict[str, list[list[Symbol]]]:
        ways: dict[str, list[list[Symbol]]] = defaultdict(list)
        for rule in self._read.rules:
            ways[rule.origin.name].append(rule.expansion)
        return ways

    @cached_property
    def _shortest(self) -> dict[str, list[list[Symbol]]]:
        return {
            name: [way for way in ways if _height(way, self._heights) < self._heights[name]]
            for name, ways in self._ways.items()
        }

    @property
    def words(self) -> list[str]:
        """Every text that a sign may be."""
        return [word for words in self._words.values() for word in words]

    def grown(self, chance: random.Random) -> str:
        """A text. It grows at will for a while, and then the shortest way."""
        longest = chance.choice(_LENGTHS)
        signs: list[str] = []
        ahead: list[tuple[str, int]] = [(self._start, 0)]
        while ahead:
            name, depth = ahead.pop()
            if name in self._words:
                signs.append(chance.choice(self._words[name]))
                continue
            ends = len(signs) + len(ahead) > longest or depth > _DEEPEST
            way = chance.choice((self._shortest if ends else self._ways)[name])
            ahead += [(symbol.name, depth + 1) for symbol in reversed(way)]
        return self._glue.join(signs)

    @cached_property
    def _heights(self) -> dict[str, int]:
        """How many rules deep each rule is at least."""
        heights = dict.fromkeys(self._words, 0)
        before = None
        while before != heights:
            before = dict(heights)
            for name, ways in self._ways.items():
                heights[name] = 1 + min(_height(way, heights) for way in ways)
        return heights


def _height(way: Sequence[Symbol], heights: Mapping[str, int]) -> int:
    return max((heights.get(symbol.name, _NEVER) for symbol in way), default=0)


def _literal(terminal: lark.lexer.TerminalDef) -> str:
    """What a terminal without words is: a literal, or a keyword that ends where a word ends."""
    word, _, _ = terminal.pattern.value.partition("(?!")
    if not isinstance(terminal.pattern, PatternStr) and not word.isidentifier():
        raise ValueError(f"words are needed for {terminal.name}: /{terminal.pattern.value}/")
    return word
