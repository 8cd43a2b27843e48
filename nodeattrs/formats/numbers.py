"""Written numbers that a tree can hold: the numbers of JSON, so neither NaN nor infinity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nodeattrs.core.budget import WIDE
from nodeattrs.core.tree import MAX_DEPTH


class NoNumber(Exception):
    """A written number that a tree cannot hold: NaN, infinity, or beyond a double.

    It is no NodeattrsError: parsers catch it and raise a DocumentError with its `message`.
    word: the number as it is written
    """

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word

    @property
    def message(self) -> str:
        """One sentence for an error, with the first 20 characters of the number."""
        return f"{self.word[:20]} is not a number that can be kept"


def finite(word: str) -> float:
    """The finite double that *word* spells. raises: NoNumber, for NaN and infinity; ValueError, for no number"""
    number = float(word)
    if not math.isfinite(number):
        raise NoNumber(word)
    return number


def levels_of(tree: Any, wide: Callable[[int], None]) -> int:
    """The depth of a tree: its maps and lists inside each other, counted up to MAX_DEPTH + 1; 0 for a scalar.

    wide: called with each integer in the maps and lists that has `WIDE` bits or more; it may raise
    """
    levels = 0
    level: list[Any] = [tree] if isinstance(tree, (dict, list)) else []
    while level and levels <= MAX_DEPTH:
        levels += 1
        below: list[Any] = []
        for part in level:
            for inner in part.values() if isinstance(part, dict) else part:
                if isinstance(inner, (dict, list)):
                    below.append(inner)
                elif type(inner) is int and inner.bit_length() >= WIDE:
                    wide(inner)
        level = below
    return levels
