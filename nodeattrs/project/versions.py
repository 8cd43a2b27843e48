"""Cookbook versions, and constraints on them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from nodeattrs.errors import BadArgument

_DIGITS = 9

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    **{"=": operator.eq, "<": operator.lt, ">": operator.gt},
    **{"<=": operator.le, ">=": operator.ge, "~>": operator.ge},
}
SIGNS = tuple(_COMPARE)
"""The operators of constraints."""


def allows(sign: str, required: tuple[int, ...], version: tuple[int, ...]) -> bool:
    """Whether a version fits a constraint. Both may have any number of parts; missing parts are zero.

    sign:     one of `SIGNS`; with `~>` all parts before the last part of the constraint must be equal
    required: the version of the constraint
    version:  the version to test

    >>> allows("~>", (1, 2), (1, 9)), allows("=", (1,), (1, 0, 0))
    (True, True)
    """
    length = max(len(required), len(version))
    one, other = (numbers + (0,) * (length - len(numbers)) for numbers in (version, required))
    fixed = max(len(required) - 1, 1) if sign == "~>" else 0
    return _COMPARE[sign](one, other) and one[:fixed] == required[:fixed]


def numbers_in(text: str) -> tuple[int, ...]:
    """The parts of a version as integers: "1.2" gives (1, 2). raises: ValueError, for any other part"""
    return tuple(map(int, text.split(".")))


def _is_version(text: str) -> bool:
    numbers = text.split(".")
    return len(numbers) in (2, 3) and all(one.isascii() and one.isdigit() and len(one) <= _DIGITS for one in numbers)


class Version(NamedTuple):
    """A cookbook version with two or three parts; a missing third part is zero. Versions compare number by number.

    `parse` raises BadArgument for any other text.

    >>> Version.parse("1.2") == Version.parse("1.2.0"), Version.parse("1.10.0") > Version.parse("1.9.0")
    (True, True)
    """

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """The version in a text of two or three numbers of at most nine digits.

        raises: BadArgument, for any other text
        """
        if not _is_version(text):
            raise BadArgument(f"{text!r} is no cookbook version", hint="write two or three numbers: 1.2 or 1.2.3")
        return cls(*numbers_in(text))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class Constraint(NamedTuple):
    """A constraint on versions, such as "~> 1.2". `parse` makes it from a text, `allows` tests a version.

    A bare version allows that version alone; "" allows all. `parse` raises BadArgument for a wrong text.

    operator: one of = < > <= >= ~>
    version:  the version to compare with
    digits:   how many parts were written, 2 or 3. With `~>` the last of them may be higher; parts before it must be
              equal

    >>> [Constraint.parse(asked).allows(Version(1, 9)) for asked in ("~> 1.2", "~> 1.2.3", "= 1.9.0")]
    [True, False, True]
    """

    operator: str
    version: Version
    digits: int = 3

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """The constraint in a text. A bare version allows exactly that version; an empty text allows every version.

        raises: BadArgument, for another operator or a bad version
        """
        if not text.strip():
            return ANY
        asked = text.strip()
        sign = next((one for one in ("<=", ">=", "~>", "<", ">", "=") if asked.startswith(one)), "")
        version = asked.removeprefix(sign).lstrip()
        if not _is_version(version):
            raise BadArgument(
                f"{text!r} is no version constraint",
                hint="write an operator (= < > <= >= ~>) and two or three numbers: ~> 1.2",
            )
        return cls(sign or "=", Version.parse(version), version.count(".") + 1)

    def allows(self, version: Version) -> bool:
        """Whether *version* fits the constraint."""
        return allows(self.operator, self.version[: self.digits], version)

    def __str__(self) -> str:
        numbers = str(self.version).split(".")
        return f"{self.operator} {'.'.join(numbers[: self.digits])}"


ANY = Constraint(">=", Version(0, 0, 0))
