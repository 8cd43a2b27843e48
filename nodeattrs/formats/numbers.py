"""Written numbers that a tree can hold: the numbers of JSON, so neither NaN nor infinity."""

from __future__ import annotations

import math


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
