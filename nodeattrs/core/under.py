"""Parts laid one by one under a result: each at the cost of what is laid, and not of all that lies there already.

A merged map has the keys of the lower side first, so each part goes in front of the result. Here a map that has met
another is kept the wrong way round, and lists that are joined as a row; who looks has them turned and joined once. What
comes of it is what `folding.meet` makes, part by part. It knows neither steps nor sources.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.origins import Origins, gathered, origins_at, spread
from nodeattrs.core.part import Handler, Part, regrouped
from nodeattrs.core.policy import DROP, KEEP, TAKE, Meet, Policy
from nodeattrs.core.tree import ABSENT, Absent

_Value = tuple[Any, Origins]
"""A value and its origins; the value may be one of the next two, which have their own."""
_GONE: _Value = ABSENT, ()


class _Turned(dict[Any, _Value]):
    """The entries of a map, the last one first. fresh: the keys of those that have not met nothing yet"""

    fresh: dict[Any, None]


class _Row(list[Part]):
    """Lists that are joined, the uppermost first. by: the handler, which regroups"""

    by: Handler


_KINDS: dict[type, type] = {_Turned: dict, _Row: list}


class Under:
    """Lays parts under a result, which nobody else changes."""

    def __init__(self, result: Part) -> None:
        self._value: _Value = result.value, result.origins

    def lay(self, policy: Policy, part: Part) -> None:
        """Lay one more. raises: MergeConflict, and some of it may be laid then"""
        given = part.value, part.origins
        self._value = given if self._value[0] is ABSENT else _met(policy, given, self._value)

    def meet(self, policy: Policy, part: Part) -> None:
        """Lay a map below the map that is there: their entries meet under the policy. raises: as `lay`"""
        self._value = _maps(policy, part.value, part.origins, self._value)

    def settled(self) -> Part:
        """The result. cost: that of all that was laid"""
        return Part(*_settled(self._value))


def _met(policy: Policy, lower: _Value, upper: _Value) -> _Value:
    below, above = lower[0], upper[0]
    verdict = policy.verdict(type(below), _KINDS.get(type(above), type(above)))
    if verdict is TAKE or verdict is KEEP:
        return upper if verdict is TAKE else lower
    if verdict is DROP:
        return _GONE
    if type(verdict) is Meet:
        return _maps(verdict.policy, below, lower[1], upper)
    if verdict.regroups and type(below) is list and type(above) in (list, _Row):
        return _longer(verdict, lower, upper), None
    made = verdict(Part(*lower), Part(*_settled(upper)))
    return made.value, made.origins


def _longer(by: Handler, lower: _Value, upper: _Value) -> _Row:
    row = upper[0]
    if type(row) is not _Row or row.by is not by:
        row = _Row([Part(*_settled(upper))])
        row.by = by
    row.append(Part(*lower))
    return row


def _maps(policy: Policy, lower: dict[Any, Any], lo: Origins, upper: _Value) -> _Value:
    if not upper[0]:
        return lower.copy(), lo
    turned = upper[0] if type(upper[0]) is _Turned else _turned(*upper)
    fresh, turned.fresh = turned.fresh, dict.fromkeys(reversed(lower))
    # Nothing may be left of so few.
    order = [*reversed(turned)] if len(turned) <= len(lower) + len(fresh) else []
    dropped: dict[Any, _Value] = {}
    for key in fresh:
        if key not in lower and key in turned:
            _meets_nothing(policy.at(key), key, turned, dropped)
    for key in reversed(lower):
        value: _Value = lower[key], origins_at(lo, key)
        if key in turned:
            above = turned.pop(key)
            value = _met(policy.at(key), value, above)
            if value[0] is ABSENT:
                dropped[key] = above
                continue
        turned[key] = value
    if turned:
        return turned, None
    return {}, gathered(lo, {key: _settled(dropped[key])[1] for key in order})


def _meets_nothing(policy: Policy, key: Any, turned: _Turned, dropped: dict[Any, _Value]) -> None:
    """An entry that nothing lies below of."""
    above = turned[key]
    kind = _KINDS.get(type(above[0]), type(above[0]))
    verdict = policy.verdict(Absent, kind)
    if verdict is TAKE:
        return
    value = _GONE if verdict is KEEP else _met(policy, _GONE, above)
    if value[0] is ABSENT:
        dropped[key] = turned.pop(key)
    else:
        turned[key] = value
        if not (isinstance(verdict, Handler) and verdict.settles):
            turned.fresh[key] = None


def _turned(value: dict[Any, Any], origins: Origins) -> _Turned:
    who = spread(origins, value) or {}
    turned = _Turned((key, (value[key], who.get(key))) for key in reversed(value))
    turned.fresh = dict.fromkeys(turned)
    return turned


def _settled(given: _Value) -> _Value:
    value = given[0]
    if type(value) is _Turned:
        entries = [(key, *_settled(value[key])) for key in reversed(value)]
        return {key: one for key, one, _ in entries}, {key: who for key, _, who in entries}
    if type(value) is _Row:
        joined = regrouped(value.by, value[::-1])
        return joined.value, joined.origins
    return given
