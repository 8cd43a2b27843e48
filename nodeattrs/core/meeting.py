"""Two parts meet: the one loop in which values are merged.

It works on bare values and bare origins; parts exist only where a handler is
called. Nothing is changed in place: a met map is a shallow copy of the lower one
plus what changed, the rest is shared with both sides. It knows no layers: a fold
decides who meets whom.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.part import Part, Told, voices
from nodeattrs.core.policy import DROP, KEEP, TAKE, Meet, Policy, Verdict
from nodeattrs.core.tree import ABSENT, Absent
from nodeattrs.errors import MergeConflict

__all__ = ["meet"]


def meet(policy: Policy, lower: Part, upper: Part) -> Part:
    """Lay one part over another under a policy. Neither is changed; the result shares parts with both.

    cost:   one visit for each key that both sides have
    raises: MergeConflict with the path from here, where a handler refuses
    """
    if upper.value is ABSENT:
        return lower
    below, above = type(lower.value), type(upper.value)
    if below is Absent and above in policy.always:
        return upper
    return _decided(policy.verdict(below, above), lower, upper)


def _decided(verdict: Verdict, lower: Part, upper: Part) -> Part:
    if verdict is TAKE:
        return upper
    if verdict is KEEP:
        return lower
    if verdict is DROP:
        return Part(ABSENT, ())
    if type(verdict) is Meet:
        return Part(*_met(verdict.policy, lower.value, lower.told, upper.value, upper.told))  # type: ignore[arg-type]
    return verdict(lower, upper)  # type: ignore[operator]


def _met(policy: Policy, lower: dict[Any, Any], lo: Told, upper: dict[Any, Any], up: Told) -> tuple[Any, Told]:
    if not upper:
        return lower.copy(), lo  # a met map is never one that was put in: who asks by identity can rely on it
    always = policy.always
    out = lower.copy()
    told = None if lo is None or up is None else lo.copy() if type(lo) is dict else dict.fromkeys(lower, lo)
    apart = type(up) is dict
    for key, above in upper.items():
        if type(above) in always:
            out[key] = above
            if told is not None:
                told[key] = up[key] if apart else up
            continue
        below = lower.get(key, ABSENT)
        verdict = policy.verdict(type(below), type(above))
        if verdict is TAKE:
            out[key] = above
            if told is not None:
                told[key] = up[key] if apart else up
        elif verdict is KEEP:
            pass
        elif verdict is DROP:
            out.pop(key, None)
            if told is not None:
                told.pop(key, None)
        else:
            below_told = above_told = None
            if told is not None:
                below_told, above_told = told.get(key, ()), up[key] if apart else up
            try:
                if type(verdict) is Meet:
                    entry, joined = _met(verdict.policy, below, below_told, above, above_told)  # type: ignore[arg-type]
                else:
                    part = verdict(Part(below, below_told), Part(above, above_told))  # type: ignore[operator]
                    entry, joined = part.value, part.told
            except MergeConflict as conflict:
                conflict.path = (key, *(conflict.path or ()))
                raise
            if entry is ABSENT:
                out.pop(key, None)
                if told is not None:
                    told.pop(key, None)
                continue
            out[key] = entry
            if told is not None:
                told[key] = joined
    if told is not None and not out:
        return out, tuple(dict.fromkeys(voices(lo) + voices(up)))  # nothing is left to carry what was said
    return out, told
