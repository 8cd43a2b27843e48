"""Limits on one piece of work: steps, values, bytes, depth and seconds.

Code that reads or evaluates foreign input makes a `Budget`, or is given one, and draws on it before each part of the
work. Past a limit it raises `TooMuch`, which names the limit, the place and the way to raise it. `Limits` has the
figures; `limited` sets others for a block. The callers define what a step is, and measure seconds themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from nodeattrs.core.borders import checked_args
from nodeattrs.core.tree import MAX_DEPTH
from nodeattrs.errors import BadArgument, TooMuch

MAX_DIGITS = 4300
"""The digits of the longest number; Python's own limit against slow conversions."""
_TOO_LONG = 10**MAX_DIGITS
WIDE = 61
"""Bits of an integer whose hash another integer may have; see `Budget.integer`."""
_STEPS_ALIKE = 100


def too_long(number: int) -> bool:
    """Whether a number has more than 4,300 decimal digits, which Python refuses to print. The sign does not count.

    >>> too_long(0xFF), too_long(16**3600)
    (False, True)
    """
    return not -_TOO_LONG < number < _TOO_LONG


class Limits(NamedTuple):
    """The limits of one document, one lookup, one merge or one query. The constructor checks nothing; `replaced` does.

    steps:   things that are looked at: keys, names of files, places where an expression is tried
    values:  maps, lists and scalars; a value that is used twice counts twice
    bytes:   text that is read, unpacked or made
    depth:   maps, lists, brackets or keys inside one another; it can be lowered, but not raised above 500
    seconds: for one search of a regular expression, for parsing one Ruby file, or for one template
    """

    steps: int = 10_000_000
    values: int = 1_000_000
    bytes: int = 10_000_000
    depth: int = MAX_DEPTH
    seconds: float = 1.0

    def replaced(self, **others: Any) -> Limits:
        """A copy of these limits with other numbers for some of them; an equal copy without arguments.

        others: limit -> positive number; a whole number, except for seconds
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
@checked_args(limits=Limits | None)
def limited(limits: Limits | None = None, **others: Any) -> Iterator[Limits]:
    """A context manager: within the block, other limits are in force in this thread or task. `as` gives them.

    A `Budget` that was made before the block keeps its own.
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
    """What may still be used of each limit, for one piece of work, such as reading one file.

    Make one budget for each piece of work, and call its methods before each part of the work. `steps`, `values`,
    `bytes`, `integer` and `tree` subtract from the remaining amounts; `depth` only compares. All of them raise TooMuch
    if the limit is exceeded. Nothing is ever added back. `integer` draws steps, and `tree` draws values and bytes.
    `remaining` gives what is left of steps, values or bytes. `renewed` gives a new, unused budget with equal limits.
    `exceeded` returns a TooMuch and does not raise it. A budget measures no time: the caller measures the seconds, and
    raises `exceeded("seconds")`.
    file:   the name of the work in messages: a file, or text such as `lookup("ports")`; None: no name
    limits: the limits at the start; None: the limits of the surrounding `limited` block, or the defaults
    where:  a function () -> (line, column) for the message; called only if a limit is exceeded. None: no place
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
        """Draw 100 steps for each different integer that was drawn before and has the same hash; none for the first.

        The number itself counts, too, if it was drawn before.
        Only integers of `WIDE` bits or more can share a hash. A dictionary compares all keys of one hash, so a document
        with thousands of these integers would take minutes. raises: TooMuch
        """
        same_hash = self._wide.setdefault(hash(number), set())
        self.steps(_STEPS_ALIKE * len(same_hash))
        same_hash.add(number)

    def depth(self, level: int) -> None:
        """Check that *level* is not deeper than the limit; nothing is drawn. raises: TooMuch"""
        if level > self.limits.depth:
            raise self.exceeded("depth")

    def remaining(self, limit: str) -> int:
        """The amount that is left of "steps", "values" or "bytes"; negative once the limit is exceeded.

        raises: AttributeError, for any other limit
        """
        return int(getattr(self, f"_{limit}"))

    def tree(self, value: Any) -> None:
        """Draw one value for the root and for each entry below it, and the length of each text among them as bytes.

        Keys cost nothing. Level by level, without recursion. cost: one look at each value. raises: TooMuch
        """
        level: list[Any] = [[value]]
        while level:
            next_level: list[Any] = []
            for entries in level:
                self.values(len(entries))
                for entry in entries:
                    if type(entry) is str:
                        self.bytes(len(entry))
                    elif isinstance(entry, dict):
                        next_level.append(entry.values())
                    elif isinstance(entry, (list, tuple)):
                        next_level.append(entry)
            level = next_level

    def exceeded(self, limit: str) -> TooMuch:
        """Returns, and does not raise, the error that says that a limit is exceeded. For code that counts by itself.

        Its hint proposes twice the limit; for a depth that is at its maximum it proposes flatter data.
        limit:  "steps", "values", "bytes", "depth" or "seconds"
        raises: AttributeError, for any other limit
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
