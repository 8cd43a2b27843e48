"""Texts grown from a grammar in lark's notation: the one that a reader has, or one written here."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

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
        known = set(re.findall(r"(?m)^\s*(\w+)(?:\.\d+)?:", rules))
        rules = "\n".join([rules, *(f"{name}: /x/" for name in words if name not in known)])
        read = lark.Lark(rules, start=start, parser="earley", keep_all_tokens=True, maybe_placeholders=False)
        self._start, self._glue = start, glue
        self._words = {
            one.name: words.get(one.name) or [_literal(one)]
            for one in read.terminals
            if one.name not in read.ignore_tokens
        }
        self._ways: dict[str, list[list[Symbol]]] = defaultdict(list)
        for rule in read.rules:
            self._ways[rule.origin.name].append(rule.expansion)
        self._heights = self._measured()
        self._shortest = {
            name: [way for way in ways if self._height(way) < self._heights[name]] for name, ways in self._ways.items()
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

    def _measured(self) -> dict[str, int]:
        """How many rules deep each rule is at least."""
        self._heights = dict.fromkeys(self._words, 0)
        before = None
        while before != self._heights:
            before = dict(self._heights)
            for name, ways in self._ways.items():
                self._heights[name] = 1 + min(map(self._height, ways))
        return self._heights

    def _height(self, way: Sequence[Symbol]) -> int:
        return max((self._heights.get(symbol.name, _NEVER) for symbol in way), default=0)


def _literal(terminal: lark.lexer.TerminalDef) -> str:
    """What a terminal without words is: a literal, or a keyword that ends where a word ends."""
    word, _, _ = terminal.pattern.value.partition("(?!")
    if not isinstance(terminal.pattern, PatternStr) and not word.isidentifier():
        raise ValueError(f"words are needed for {terminal.name}: /{terminal.pattern.value}/")
    return word
