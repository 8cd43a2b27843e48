"""The slots of a node as they were when a line last set a value, for the causes of that value.

A mark is the number of a line that set values. Marks are numbered in the order of their first use, so a line that ran
later has a greater number. Changes by such lines are taken back with the values that the history keeps. A change whose
old value is no longer kept cannot be taken back. No policy is applied here.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.node.ledger import Chronicle, Ledger
from nodeattrs.node.maps import OwnedMap, SetBy, last_mark, writable_copy


def ledger_at_mark(ledger: Ledger, mark: int, path: Path) -> Ledger:
    """A new ledger with the slots as they were when *mark* was last used; *ledger* itself where no new line has set
    a value since.

    Only *path*, the paths below it and the maps above it are taken back; other paths may have later values or none.
    The caller must not write to the result.
    cost: the values at the path, and the history
    """
    last = ledger.marks.last_uses.get(mark, mark + 1)
    if last >= len(ledger.marks):
        return ledger
    moment = _Moment(ledger, last, path)
    then = Ledger(ledger.provenance, ledger.marks.root, ledger.secrets, ledger.rules)
    then.trees = [moment.tree(slot) for slot in range(len(ledger.trees))]
    then.marks, then.lock, then.unknown = ledger.marks, ledger.lock, ledger.unknown
    then.history = moment.history()
    return then


class _Moment:
    """last: the first mark that is too late."""

    def __init__(self, ledger: Ledger, last: int, path: Path) -> None:
        self.ledger = ledger
        self.last = last
        self.path = path
        self.known = {at: one for at, one in ledger.history.items() if path[: len(at)] == at[: len(path)]}

    def tree(self, slot: int) -> OwnedMap:
        """What a slot had."""
        tree = self.ledger.trees[slot]
        before, _ = self.before(slot, (), tree, tree.origin)
        return OwnedMap() if before is ABSENT else before

    def before(self, slot: int, at: Path, value: Any, set_by: SetBy) -> tuple[Any, SetBy]:
        """What stood somewhere, and who had set it. value, set_by: what stands there, or stood later"""
        if value is ABSENT or last_mark(set_by) >= self.last:
            value, set_by = self.overwritten(slot, at)
        if not isinstance(value, OwnedMap):
            return value, set_by
        same = value
        for key in self.keys(at, same):
            here, who = same.get(key, ABSENT), same.origins.get(key, same.origin)
            was, by = self.before(slot, (*at, key), here, who)
            if was is not here or by != who:
                value = _with(value if value is not same else writable_copy(same), key, was, by)
        return value, set_by

    def overwritten(self, slot: int, at: Path) -> tuple[Any, SetBy]:
        """The value that was overwritten or erased since; ABSENT for none."""
        chronicle = self.known.get(at, {}).get((slot, False))
        events = chronicle.events if chronicle is not None else ()
        found = ((one.value, one.set_by) for one in events if last_mark(one.set_by) < self.last <= one.by)
        return next(found, (ABSENT, 0))

    def keys(self, at: Path, value: OwnedMap) -> tuple[Any, ...]:
        """Where to look for changes: on the way to the path, and everywhere below it."""
        if len(at) < len(self.path):
            return (self.path[len(at)],)
        below = (one[len(at)] for one in self.known if len(one) > len(at) and one[: len(at)] == at)
        return tuple(dict.fromkeys((*value, *below)))

    def history(self) -> dict[Path, dict[tuple[int, bool], Chronicle]]:
        """What had happened by then."""
        kept = {at: {key: self.chronicle(one) for key, one in many.items()} for at, many in self.known.items()}
        return {at: {key: one for key, one in many.items() if one is not None} for at, many in kept.items()}

    def chronicle(self, of: Chronicle) -> Chronicle | None:
        """The events that were; None where there was none."""
        events = [one for one in of.events if max(one.by, last_mark(one.set_by)) < self.last]
        return Chronicle(events, of.dropped) if events else None


def _with(value: OwnedMap, key: Any, entry: Any, set_by: SetBy) -> OwnedMap:
    if entry is ABSENT:
        value.pop(key, None)
    else:
        value[key], value.origins[key] = entry, set_by
    return value
