"""A text with a few things changed: what a grammar would never say."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

__all__ = ["mutated"]

_LONGEST = 8_000
_TOKEN = re.compile(r'"[^"\n]*"|\w+|\S')
_ODD = (
    "", "\0", "\x1b]0;x\x07", "é", "\U0001f40d", "\u202e", "\u2028", "\x85", "\ufeff", " ", "\n", "\r\n", "\t", "0",
    "-1",
    "٣", "1e400", "9" * 400, "a" * 300, "null", "'", '"', "\\", "[", "]", "{", "}", "(", ")", ":", ",", ".", "*", "%",
    "#",
    "\\u0000", "\\ud800", "\\u{110000}", "0x", "9" * 5_000, f"0x{'f' * 4_000}", "1:30", "NaN", ".inf", "~",
)  # fmt: skip

Edit = Callable[[str, random.Random, Sequence[str]], str]


def mutated(text: str, chance: random.Random, words: Sequence[str]) -> str:
    """The text after one to four edits.

    words: what the language is made of, for what is put in
    """
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        text = chance.choice(_EDITS)(text, chance, words)
    return text[:_LONGEST]


def _span(text: str, chance: random.Random) -> tuple[int, int]:
    begin = chance.randrange(len(text) + 1)
    return begin, min(len(text), begin + chance.choice((0, 1, 1, 2, 4, 8, 20)))


def _cut(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _span(text, chance)
    return text[:begin] + text[end:]


def _put(text: str, chance: random.Random, words: Sequence[str]) -> str:
    at, _ = _span(text, chance)
    return text[:at] + chance.choice(words or _ODD) + text[at:]


def _odd(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _span(text, chance)
    return text[:begin] + chance.choice(_ODD) + text[end:]


def _again(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _span(text, chance)
    return text[:begin] + text[begin:end] * chance.choice((2, 3, 10, 60)) + text[end:]


def _nested(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _token(text, chance)
    left, right = chance.choice((("[", "]"), ("(", ")"), ("[", "]"), ('{"a":', "}"), ("[", "")))
    depth = chance.choice((1, 2, 30, 120, 498, 3_000))
    return text[:begin] + left * depth + text[begin:end] + right * depth + text[end:]


def _sign(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _span(text, chance)
    return text[:begin] + chr(chance.choice((chance.randrange(128), chance.randrange(0x3000)))) + text[end:]


def _other_token(text: str, chance: random.Random, words: Sequence[str]) -> str:
    begin, end = _token(text, chance)
    return text[:begin] + chance.choice((*words, *_ODD)) + text[end:]


def _swapped(text: str, chance: random.Random, words: Sequence[str]) -> str:
    (a, b), (c, d) = sorted((_token(text, chance), _token(text, chance)))
    return text if b > c else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _token(text: str, chance: random.Random) -> tuple[int, int]:
    found = [one.span() for one in _TOKEN.finditer(text)]
    return chance.choice(found) if found else (0, 0)


_EDITS: tuple[Edit, ...] = (_cut, _put, _put, _odd, _again, _nested, _sign, _other_token, _other_token, _swapped)
