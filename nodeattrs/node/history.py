"""What happened to words that are in no tree any more: overwritten, erased, silent from the start.

Bounded, so that a leaf that is written in a loop costs no more than one that is written a
few times. It knows no trees; who did something is the number of a mark.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from nodeattrs.node.maps import SetBy

HISTORY_BOUND = 5
"""How many events are kept for one path of one slot: the first, and the last four."""


EVENTS = frozenset({"overwritten", "erased", "silent"})
"""What can happen to what was set; "silent" is an `unless` that found a value."""


class Event(NamedTuple):
    """One entry of the history.

    what:  one of EVENTS
    value: what stood there (for "silent": what would have been set); its maps keep their marks
    set_by: who had set it; for maps, those entries without a mark of their own
    by:    the mark of who did it; 0 for "silent"
    """

    what: str
    value: Any
    set_by: SetBy
    by: int


Past = tuple[str, Any, SetBy, int]
"""An event as it is kept, since each write over something has one: no more than its four until somebody asks."""


class Chronicle:
    """The events of one path of one slot: the first, the last few, and how many between were dropped."""

    __slots__ = ("dropped", "first", "last")

    def __init__(self, first: Past) -> None:
        self.first = first
        self.last: deque[Past] = deque(maxlen=HISTORY_BOUND - 1)
        self.dropped = 0

    def add(self, event: Past) -> None:
        """Note one more. cost: constant"""
        if len(self.last) == HISTORY_BOUND - 1:
            self.dropped += 1
        self.last.append(event)

    def copy(self) -> Chronicle:
        """One that goes on by itself."""
        return self.from_events(self.events(), self.dropped)

    @classmethod
    def from_events(cls, events: Sequence[Past], dropped: int) -> Chronicle:
        """One with these events; there is one at least."""
        made = cls(events[0])
        made.last.extend(events[1:])
        made.dropped = dropped
        return made

    def events(self) -> list[Event]:
        """Those that are kept, oldest first: the same ones whenever somebody asks."""
        kept = [one if type(one) is Event else Event(*one) for one in (self.first, *self.last)]
        self.first = kept[0]
        for at, event in enumerate(kept[1:]):
            self.last[at] = event
        return kept
