"""Which written numbers a tree can hold: those that JSON can hold."""

from __future__ import annotations

import math

MAX_DIGITS = 4300
"""The digits of the longest number; Python's own limit against slow conversions."""

_TOO_LONG = 10**MAX_DIGITS


def too_long(number: int) -> bool:
    """Whether a number, however it was written, has more digits than can be shown.

    >>> too_long(0xFF), too_long(16**3600)
    (False, True)
    """
    return not -_TOO_LONG < number < _TOO_LONG


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
