"""Limits on one piece of work: steps, values, bytes, depth and seconds.

Code that reads or evaluates foreign input makes a `Budget`, or is given one. It draws on the budget before each part
of the work. Past a limit there is one error, `TooMuch`: it names the limit, the place and the way to raise it.
The figures are in `Limits`; `limited` sets others for a block. The callers define what a step or a value is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from nodeattrs.core.borders import taking
from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import BadArgument, TooMuch

MAX_DIGITS = 4300
"""The digits of the longest number; Python's own limit against slow conversions."""
_TOO_LONG = 10**MAX_DIGITS
WIDE = 61
"""Bits of an integer whose hash another integer may have; see `Budget.integer`."""
_STEPS_ALIKE = 100


def too_long(number: int) -> bool:
    """Whether a number, however it was written, has more digits than can be shown.

    >>> too_long(0xFF), too_long(16**3600)
    (False, True)
    """
    return not -_TOO_LONG < number < _TOO_LONG


class Limits(NamedTuple):
    """The most that one document, one lookup, one merge or one query may take.

    steps:   things that are looked at: keys, names of files, places where an expression is tried
    values:  maps, lists and scalars; one that is used twice counts twice
    bytes:   text that is read, unpacked or made
    depth:   maps, lists, brackets or keys inside one another; 500 is the most
    seconds: for one search of a regular expression, for parsing one Ruby file, or for one template
    """

    steps: int = 10_000_000
    values: int = 1_000_000
    bytes: int = 10_000_000
    depth: int = MAX_DEPTH
    seconds: float = 1.0

    def replaced(self, **others: Any) -> Limits:
        """A copy of these limits with *others* instead: limit -> positive number.

        raises: BadArgument, for an unknown limit, or for a number that is not positive or is too large for depth

        >>> Limits().replaced(values=5).values
        5
        """
        for name, most in others.items():
            fits = type(most) is int or (type(most) is float and name == "seconds")
            if name not in NAMES or not fits or most <= 0 or (name == "depth" and most > MAX_DEPTH):
                wanted = f"a positive number, for depth at most {MAX_DEPTH}"
                raise BadArgument(f"there is no limit {name} = {most!r}", hint=f"{', '.join(NAMES)}: each {wanted}")
        return self._replace(**others)


NAMES = Limits._fields
"""The limits by name."""

_in_force: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039  # it is frozen


def in_force() -> Limits:
    """The limits of a `Budget` that is made without limits of its own: the ones of `limited`, else the defaults."""
    return _in_force.get()


@contextmanager
@taking(limits=Limits | None)
def limited(limits: Limits | None = None, **others: Any) -> Iterator[Limits]:
    """A context manager: other limits are in force within the block, and it gives them.

    limits: the base; None: the limits in force now
    others: limit -> the number that replaces it
    raises: BadArgument, for an unknown limit or a wrong number

    >>> with limited(values=5):
    ...     Budget("roles/web.json").values(6)
    Traceback (most recent call last):
    nodeattrs.errors.TooMuch: roles/web.json: holds more than 5 values
      if this is meant, raise the limit to 10: [limits] values in nodeattrs.toml, --budget, or core.budget.limited
    """
    token = _in_force.set((limits or in_force()).replaced(**others))
    try:
        yield _in_force.get()
    finally:
        _in_force.reset(token)


_SENTENCES = {
    "steps": "takes more than {:,} steps",
    "values": "holds more than {:,} values",
    "bytes": "is larger than {}",
    "depth": "nested deeper than {} levels",
    "seconds": "takes longer than {} s",
}


class Budget:
    """The amounts that are left of some limits, for one piece of work. Each way to draw may raise TooMuch.

    file:   names the work in messages: a file, or text such as `lookup("ports")`
    limits: None: those in force now
    where:  a function that gives line and column for the message; called only when a limit is exceeded
    """

    __slots__ = ("_bytes", "_steps", "_values", "_wide", "file", "limits", "where")

    def __init__(
        self,
        file: str | None,
        limits: Limits | None = None,
        where: Callable[[], tuple[int | None, int | None]] | None = None,
    ) -> None:
        self.file = file
        self.where = where
        self.limits = limits = limits or _in_force.get()
        self._steps, self._values, self._bytes = limits.steps, limits.values, limits.bytes
        self._wide: dict[int, set[int]] = {}

    def renewed(self) -> Budget:
        """A new budget with the same file and limits, nothing drawn yet: for one document of several."""
        return Budget(self.file, self.limits)

    def steps(self, count: int = 1) -> None:
        """Draw steps. raises: TooMuch"""
        self._steps -= count
        if self._steps < 0:
            raise self.exceeded("steps")

    def values(self, count: int = 1) -> None:
        """Draw values. raises: TooMuch"""
        self._values -= count
        if self._values < 0:
            raise self.exceeded("values")

    def bytes(self, count: int) -> None:
        """Draw bytes of text. raises: TooMuch"""
        self._bytes -= count
        if self._bytes < 0:
            raise self.exceeded("bytes")

    def integer(self, number: int) -> None:
        """Draw steps for an integer of 61 bits or more, 100 for each other one that has the same hash.

        Smaller integers have hashes of their own. A dictionary compares an integer with all that share its hash,
        so a document that holds thousands of those would take minutes. raises: TooMuch
        """
        alike = self._wide.setdefault(hash(number), set())
        self.steps(_STEPS_ALIKE * len(alike))
        alike.add(number)

    def depth(self, level: int) -> None:
        """Check that *level* is not deeper than the limit; nothing is drawn. raises: TooMuch"""
        if level > self.limits.depth:
            raise self.exceeded("depth")

    def remaining(self, limit: str) -> int:
        """The amount that is left of "steps", "values" or "bytes"; negative once the limit is exceeded."""
        return int(getattr(self, f"_{limit}"))

    def tree(self, value: Any) -> None:
        """Draw for a whole tree: one value for the root and for each entry, and the length of each text that is a
        value.

        Keys cost nothing. cost: one look at each value. raises: TooMuch
        """
        level: list[Any] = [[value]]
        while level:
            below: list[Any] = []
            for part in level:
                self.values(len(part))
                for inner in part:
                    if type(inner) is str:
                        self.bytes(len(inner))
                    elif isinstance(inner, dict):
                        below.append(inner.values())
                    elif isinstance(inner, (list, tuple)):
                        below.append(inner)
            level = below

    def exceeded(self, limit: str) -> TooMuch:
        """The error that says that a limit is exceeded; it is returned, not raised. For code that counts by itself.

        limit: "steps", "values", "bytes", "depth" or "seconds"
        """
        most = getattr(self.limits, limit)
        way = f"[limits] {limit} in nodeattrs.toml, --budget, or core.budget.limited"
        hint = f"if this is meant, raise the limit to {2 * most}: {way}"
        line, column = self.where() if self.where is not None else (None, None)
        shown = f"{most // 1_000_000} MB" if limit == "bytes" and not most % 1_000_000 else most
        return TooMuch(
            _SENTENCES[limit].format(shown),
            limit=limit,
            file=self.file,
            line=line,
            column=column,
            hint=hint if limit != "depth" or most < MAX_DEPTH else "make it flatter",
        )
