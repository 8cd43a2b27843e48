"""Where a value in a slot comes from, with what was read for it.

What was read is looked up in the slots; where that is not enough whoever asks knows how it is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nodeattrs.node.causes as its
from nodeattrs.core.claim import Cause, Origin
from nodeattrs.core.origins import At
from nodeattrs.core.trace import Trace
from nodeattrs.core.tree import Path
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.moment import plainly_set
from nodeattrs.node.setters import CodeLocator
from nodeattrs.node.values import Deferred

_DEEPEST = 6

Then = Callable[[Ledger, At, Any, frozenset[Path], Path], "Trace"]
"""The trace of what was read when a mark set a value: of the ledger, the mark, the value, the attributes on the way
there, and the path that was read."""


def causes_of(
    ledger: Ledger, by: At, value: Any, seen: frozenset[Path], then: Then, kept: bool = False
) -> tuple[Cause, ...]:
    """Where a value comes from.

    by:   who set it at which path of the slot
    seen: the attributes on the way here
    then: asked about what was read, where one look is not enough
    kept: as a snapshot keeps it: of a document of facts the file and no line
    """
    locator = ledger.marks[by.source].locator
    if type(locator) is not CodeLocator:
        noted = getattr(locator, "causes_then", None)
        if noted is not None or not hasattr(locator, "causes"):
            return tuple(noted.get(by.path, ())) if noted else ()
    known: dict[Path, tuple[Origin, tuple[Cause, ...]] | None] = {}

    def read(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        if of in seen or len(seen) > _DEEPEST:
            ledger.marks.looked.at(of)
            return None
        if of not in known:  # one expression may read it several times
            known[of] = looked_up(of)
        return known[of]

    def looked_up(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        if (plain := plainly_set(ledger, None if type(value) is Deferred else by.source, of)) is not None:
            setter, set_to = plain
            ledger.marks.looked.found(of, setter.source, set_to)
            return _origin(ledger, setter, kept), causes_of(ledger, setter, set_to, seen | {of}, then, kept)
        ledger.marks.looked.at(of)
        winner = then(ledger, by, value, seen | {of}, of).winner
        return None if winner is None else (winner.claim.origin, winner.claim.causes)

    with ledger.lock:
        return its.causes_at(ledger, by, value, read)


def _origin(ledger: Ledger, by: At, kept: bool) -> Origin:
    mark = ledger.marks[by.source]
    return mark.unplaced if kept and mark.bulk else ledger.marks.place(by)[0]
