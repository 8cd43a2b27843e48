"""Two parts meet: the one loop in which values are merged.

It works on bare values and bare origins; parts exist only where a handler is
called. Nothing is changed in place: a met map is a shallow copy of the lower one
plus what changed, the rest is shared with both sides. It knows no layers: a fold
decides who meets whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from nodeattrs.core.origins import Origins, gathered, spread
from nodeattrs.core.part import Part
from nodeattrs.core.policy import DROP, KEEP, TAKE, Line, Meet, Policy, Verdict
from nodeattrs.core.tree import ABSENT, Absent, Path
from nodeattrs.errors import MergeConflict

__all__ = ["Encounter", "decided", "encounters", "meet", "note", "noting"]


class Encounter(NamedTuple):
    """Two values that met, and were not two maps that go on key by key.

    path:    from where the meeting began
    policy:  the table that decided
    verdict: what it says: KEEP, TAKE, DROP or a handler
    lower, upper: the two; lower may be ABSENT
    """

    path: Path
    policy: Policy
    verdict: Verdict
    lower: Part
    upper: Part

    @property
    def rule(self) -> tuple[Policy, Line]:
        """The table, and the line of it that decided."""
        return self.policy, self.policy.line(type(self.lower.value), type(self.upper.value))


def meet(policy: Policy, lower: Part, upper: Part) -> Part:
    """Lay one part over another under a policy. Neither is changed; the result shares parts with both.

    cost:   one visit for each key that both sides have
    raises: MergeConflict with the path from here, where a handler refuses
    """
    if upper.value is ABSENT:
        return lower
    below, above = type(lower.value), type(upper.value)
    notes = _notes.get()
    if notes is not None:
        notes += encounters(policy, lower, upper)
    if below is Absent and above in policy.always:
        return upper
    return decided(policy.cells.get((below, above)) or policy.verdict(below, above), lower, upper)


def decided(verdict: Verdict, lower: Part, upper: Part) -> Part:
    """What a verdict makes of two parts. raises: MergeConflict"""
    if verdict is TAKE:
        return upper
    if verdict is KEEP:
        return lower
    if verdict is DROP:
        return Part(ABSENT, ())
    if type(verdict) is Meet:
        return Part(*_met(verdict.policy, lower.value, lower.origins, upper.value, upper.origins))  # type: ignore[arg-type]
    return verdict(lower, upper)  # type: ignore[operator]


_NONE: frozenset[type] = frozenset()
_NO_CELLS: dict[tuple[type, type], Verdict] = {}


def _met(policy: Policy, lower: dict[Any, Any], lo: Origins, upper: dict[Any, Any], up: Origins) -> tuple[Any, Origins]:
    if not upper:
        return lower.copy(), lo  # a met map is never one that was put in: who asks by identity can rely on it
    by_key = policy.by_key
    always, cells = (policy.always, policy.cells) if by_key is None else (_NONE, _NO_CELLS)
    out = lower.copy()
    # Written out for the two that are common: this is done for every map.
    known = lo.copy() if type(lo) is dict else dict.fromkeys(lower, lo) if type(lo) is int else lo
    origins = None if up is None else spread(known, lower) if type(known) is not dict and lo is not None else known
    up = up if origins is None or type(up) is int or type(up) is dict else spread(up, upper)
    apart = type(up) is dict
    try:
        for key, above in upper.items():
            who = up[key] if apart else up
            if type(above) not in always:
                below = lower.get(key, ABSENT)
                kinds = type(below), type(above)
                verdict = cells.get(kinds) or (policy if by_key is None else policy.at(key)).verdict(*kinds)
                if verdict is KEEP:
                    continue
                if verdict is not TAKE:
                    below_who = None if origins is None else origins.get(key, ())
                    if type(verdict) is Meet:  # called from here, since a level may take one frame only
                        above, who = _met(verdict.policy, below, below_who, above, who)  # type: ignore[arg-type]
                    else:
                        above, who = _handled(verdict, below, below_who, above, who)
                    if above is ABSENT:
                        _drop(key, out, origins)
                        continue
            out[key] = above
            if origins is not None:
                origins[key] = who
    except MergeConflict as conflict:
        conflict.path = (key, *(conflict.path or ()))
        raise
    if origins is not None and not out:
        return out, gathered(lo, up)  # nothing is left to carry what was set
    return out, origins


def _handled(verdict: Verdict, below: Any, below_who: Origins, above: Any, above_who: Origins) -> tuple[Any, Origins]:
    if verdict is DROP:
        return ABSENT, ()
    part = verdict(Part(below, below_who), Part(above, above_who))  # type: ignore[operator]
    return part.value, part.origins


def _drop(key: Any, out: dict[Any, Any], origins: Origins) -> None:
    out.pop(key, None)
    if origins is not None:
        origins.pop(key, None)


def encounters(policy: Policy, lower: Part, upper: Part, path: Path = ()) -> Iterator[Encounter]:
    """Where two parts really meet under a policy, in the order of the upper one's keys; no handler is called.

    Who has to know the places at which something changes asks here: a node that remembers what was
    replaced, warnings, a trace.
    cost: one visit for each key of the upper part's maps that meet maps
    """
    verdict = policy.verdict(type(lower.value), type(upper.value))
    if type(verdict) is not Meet:
        yield Encounter(path, policy, verdict, lower, upper)
        return
    for key in upper.value:
        yield from encounters(verdict.policy.at(key), lower.at(key), upper.at(key), (*path, key))  # type: ignore[union-attr]


def note(policy: Policy, lower: Part, upper: Part) -> None:
    """What a handler says that has laid one part over another, entry by entry, without a meeting."""
    notes = _notes.get()
    if notes is not None:
        notes.append(Encounter((), policy, TAKE, lower, upper))


_notes: ContextVar[list[Encounter] | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[list[Encounter]]:
    """Within the block every meeting notes its encounters, those that handlers begin too: for a trace."""
    notes: list[Encounter] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)
