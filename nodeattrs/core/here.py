"""What stands at a prefix of a path while one is walked: a source's word, what was made, or maps that wait to meet.

Data for `core.tracing` alone, with the questions that can be answered by looking at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.made import LOWER, MadeOf
from nodeattrs.core.origins import At, Origins
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import Absent, Path
from nodeattrs.core.walk import Later, Overridden

__all__ = ["Here", "Loss", "Waiting", "is_from_the_start"]

Loss = Overridden | Later
"""Who was overridden: known, or looked up when somebody asks."""


class Here:
    """What stands at a prefix of the path.

    value, origins: a source's word, or what was made; ABSENT where nothing stands, None where maps wait
    kind:    the type of the value
    row:     maps that wait to meet, in the order in which they were laid
    source:  what the value, or what holds it, was made of
    rest:    the steps from what was made to here
    ways:    where this has stood before: its origins in what was made
    losses:  who was overridden here, the next in line first; earlier: who was so in what it was made of
    unknown: sources that might decide
    """

    __slots__ = ("earlier", "kind", "losses", "origins", "rest", "row", "source", "unknown", "value", "ways")

    def __init__(self, value: Any, origins: Origins) -> None:
        self.value = value
        self.origins = origins
        self.kind: type = type(value)
        self.row: tuple[Waiting, ...] = ()
        self.source: MadeOf | None = None
        self.rest: Path = ()
        self.ways: Origins = ()
        self.losses: list[Loss] = []
        self.earlier: list[Later] = []
        self.unknown: tuple[int, ...] = ()

    @property
    def stands(self) -> bool:
        return self.kind is not Absent

    @property
    def has_something(self) -> bool:
        return bool(self.kind is not Absent or self.losses or self.unknown)

    def covers(self, key: Any) -> bool:
        """Whether nothing can lie below at a key: a scalar has none, and a list has no names."""
        if not self.stands or self.row or isinstance(self.value, dict):
            return False
        return not isinstance(self.value, (list, tuple)) or type(key) is not int

    def has_elements(self, key: Any) -> bool:
        """Whether a key is that of an element here; a map may have numbers as names."""
        return type(key) is int and not (self.row or isinstance(self.value, dict))

    def with_losses(self, losses: Iterable[Loss], unknown: tuple[int, ...] = ()) -> Here:
        """The same, with further losses."""
        losses = list(losses)
        if not losses and not unknown:
            return self
        here = Here(self.value, self.origins)
        here.kind, here.row, here.source, here.rest, here.ways = self.kind, self.row, self.source, self.rest, self.ways
        here.losses, here.earlier = [*self.losses, *losses], self.earlier
        here.unknown = tuple(dict.fromkeys((*self.unknown, *unknown)))
        return here

    def all_losses(self) -> Iterator[Loss]:
        """Its own, and those of all that it was made of, the last one's first."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield from here.losses
            yield from here.earlier
            waiting += [one.here for one in here.row]
            if here.source is not None and not here.rest:
                waiting += here.source.members.values()


class Waiting(NamedTuple):
    """A map of a row, and how it meets those before it.

    from_top: whether it is the lower one
    meets:    False where one of them cannot be read, and would
    """

    here: Here
    policy: Policy
    from_top: bool
    meets: bool


def is_from_the_start(here: Here) -> bool:
    """Whether a value would stand there without any source: what lay there before the first part is in it."""
    while here.row or here.source is not None:
        here = here.row[0].here if here.row else here.source.members[LOWER]  # type: ignore[union-attr]
    return here.origins == 0 or (type(here.origins) is At and here.origins.source == 0)
