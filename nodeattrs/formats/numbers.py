"""Which written numbers a tree can hold: those that JSON can hold; how long one may be is a limit (`core.budget`)."""

from __future__ import annotations

import math


class NoNumber(Exception):
    """A written number that is none here: NaN, infinity, or beyond a double."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word

    @property
    def message(self) -> str:
        return f"{self.word[:20]} is not a number that can be kept"


def finite(word: str) -> float:
    """The double that *word* spells.

    raises: NoNumber, where it spells none
    """
    number = float(word)
    if not math.isfinite(number):
        raise NoNumber(word)
    return number
