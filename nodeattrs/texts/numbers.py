"""Which written numbers a tree can hold: those that JSON can hold, and that can be written in decimals."""

from __future__ import annotations

import math

MAX_DIGITS = 4300
"""The decimal digits of the longest number, in whatever base it is written; Python's own limit against slow
conversions."""
_BEYOND = 10**MAX_DIGITS

_TOO_LONG = 10**MAX_DIGITS


def too_long(number: int) -> bool:
    """Whether a number, however it was written, has more digits than can be shown.

    >>> too_long(0xFF), too_long(16**3600)
    (False, True)
    """
    return not -_TOO_LONG < number < _TOO_LONG


class NoNumber(Exception):
    """A written number that is none here: NaN, infinity, beyond a double, or too long."""

    def __init__(self, word: str, message: str = "") -> None:
        super().__init__(word)
        self.word = word
        self.message = message or f"{word[:20]} is not a number that can be kept"


def finite(word: str) -> float:
    """The double that *word* spells.

    raises: NoNumber, where it spells none
    """
    number = float(word)
    if not math.isfinite(number):
        raise NoNumber(word)
    return number


def whole(number: int) -> int:
    """The same number, where it can be written again.

    raises: NoNumber, for one of more than MAX_DIGITS decimal digits
    """
    if not -_BEYOND < number < _BEYOND:
        raise NoNumber("", f"a number of more than {MAX_DIGITS} digits")
    return number
