"""The history of a slot: values that are in no tree any more, since they were overwritten, erased or never set.

Bounded, so that a leaf that is written in a loop costs no more than one that is written a
few times. It knows no trees; a setter is the number of a mark.
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
    """One entry of the history of a path in a slot.

    what:   one of EVENTS
    value:  the value before; for "silent" the value that was not set. Maps keep their marks
    set_by: the marks that set the value; for a map the mark of its entries without a mark of their own
    by:     the mark that overwrote or erased it; 0 for "silent"
    """

    what: str
    value: Any
    set_by: SetBy
    by: int


class Chronicle:
    """The events of one path of one slot: the first one, the last four, and the number of dropped ones in between.

    first:   the oldest event
    last:    the newest ones, at most HISTORY_BOUND - 1
    dropped: the number of events in between that are not kept
    """

    __slots__ = ("dropped", "first", "last")

    def __init__(self, first: Event) -> None:
        self.first = first
        self.last: deque[Event] = deque(maxlen=HISTORY_BOUND - 1)
        self.dropped = 0

    def add(self, event: Event) -> None:
        """Add the newest event; the oldest of `last` is dropped where there are four. cost: constant"""
        if len(self.last) == HISTORY_BOUND - 1:
            self.dropped += 1
        self.last.append(event)

    @classmethod
    def from_events(cls, events: Sequence[Event], dropped: int) -> Chronicle:
        """A chronicle with these events, the oldest first; at least one is needed, more than five lose those in
        between.

        dropped: the number of events that were dropped before
        """
        made = cls(events[0])
        made.last.extend(events[1:])
        made.dropped = dropped
        return made

    def events(self) -> list[Event]:
        """The kept events as a list, the oldest first."""
        return [self.first, *self.last]
