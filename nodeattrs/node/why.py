"""The causes of a value in a slot, with the causes of attributes that were read for it.

An attribute that was read is looked up in the slots; where that is not enough, the caller's function traces it.
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
from nodeattrs.node.moment import quick_setter
from nodeattrs.node.values import Deferred

_DEEPEST = 6

Then = Callable[[Ledger, At, Any, frozenset[Path], Path], "Trace"]
"""The trace of what was read when a mark set a value: of the ledger, the mark, the value, the attributes on the way
there, and the path that was read."""


def causes_of(ledger: Ledger, by: At, value: Any, seen: frozenset[Path], then: Then) -> tuple[Cause, ...]:
    """The causes of a value in a slot; () where none are known. Saved causes are used where the snapshot has them.

    by:   the mark that set the value, and the path in its slot
    seen: the attributes whose causes led here; they are not followed again, and neither is a chain of more than six
    then: traces an attribute that was read, where one look at the slots is not enough
    """
    mark = ledger.marks[by.source]
    kept = getattr(mark.locator, "kept_causes", None)
    if kept is not None:
        return tuple(kept.get(by.path, ()))
    is_earlier = getattr(mark.locator, "is_earlier", False)
    is_late = mark.is_late or type(value) is Deferred
    known: dict[Path, tuple[Origin, tuple[Cause, ...]] | None] = {}

    def read(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        # What an earlier run read is not in the history of this one.
        if is_earlier or of in seen or len(seen) > _DEEPEST:
            return None
        if of not in known:  # one expression may read it several times
            known[of] = looked_up(of)
        return known[of]

    def looked_up(of: Path) -> tuple[Origin, tuple[Cause, ...]] | None:
        if (plain := quick_setter(ledger, None if is_late else by.source, of)) is not None:
            setter, set_to = plain
            return ledger.marks.place(setter)[0], causes_of(ledger, setter, set_to, seen | {of}, then)
        winner = then(ledger, by, value, seen | {of}, of).winner
        return None if winner is None else (winner.claim.origin, winner.claim.causes)

    with ledger.lock:
        return its.causes_at(ledger, by, value, read)
