"""Walk one path through a fold and hear who stands there and who falls on the way.

It asks the fold's own policies again, key by key, and so guesses nothing. It sees what
was said as numbered trees, weakest first, and knows neither origins nor dialects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodeattrs.core.meeting import meet
from nodeattrs.core.part import Part, Told, told_at, voices
from nodeattrs.core.policy import DROP, KEEP, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import ABSENT, Absent, Path, dig, strict_key

__all__ = ["Hearing", "Lost", "Plan", "Said", "hear"]


@dataclass(frozen=True, slots=True)
class Said:
    """What one layer says at a path: `number` counts the layers, weakest first.

    path: in the merged tree
    own:  in the layer's own tree: elements of united lists stand at other places there
    """

    number: int
    path: Path
    value: Any
    own: Path = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The shape of a fold: numbered layers and plans, with the policy each child joins under."""

    children: tuple[Said | Plan, ...]
    policies: tuple[Policy, ...]
    from_top: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """A claim that was beaten: by whom, and by which line of which policy."""

    said: Said
    by: tuple[int, ...]
    policy: Policy
    line: Line


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a walk along one path heard.

    standing: those whose word is read, weakest first
    told:     the origin of the value, where a policy made it (None: the standing ones joined as maps)
    lost:     those who were beaten on the way
    cover:    the path of the scalar or list that stands in the way, if one does
    """

    standing: tuple[Said, ...]
    told: Told
    lost: tuple[Lost, ...]
    cover: Path | None


class _Stand:
    """What stands at a prefix: one layer's word, two maps that wait to meet, or a value that a handler made.

    own: for an element of a made list: where its speakers have it themselves
    """

    __slots__ = ("from_top", "kind", "members", "own", "policy", "told", "value")

    def __init__(
        self,
        value: Any,
        told: Told,
        members: tuple[_Stand, ...] = (),
        policy: Policy | None = None,
        from_top: bool = False,
        own: dict[int, Path] | None = None,
    ) -> None:
        self.value = value
        self.told = told
        self.members = members
        self.policy = policy
        self.from_top = from_top
        self.own = own or {}
        self.kind: type = dict if policy is not None else type(value)

    def leaves(self) -> Iterator[_Stand]:
        if not self.members:
            yield self
        for member in self.members:
            yield from member.leaves()

    def said(self, path: Path) -> Iterator[Said]:
        for leaf in self.leaves():
            for number in voices(leaf.told):
                yield Said(number, path, leaf.value, leaf.own.get(number, path))


def hear(plan: Plan, path: Path) -> Hearing:
    """Walk *path* through a plan and note who stands and who falls.

    cost: the depth of the path times the number of layers
    """
    lost: list[Lost] = []
    stand = _stand(plan, lost)
    for depth in range(len(path)):
        if stand is None:
            break
        if stand.policy is None and not isinstance(stand.value, (dict, list)):
            return Hearing(_standing(stand, path[:depth]), None, tuple(_relevant(lost, path)), path[:depth])
        stand = _step(stand, path[: depth + 1], lost)
    if stand is None:
        return Hearing((), None, tuple(_relevant(lost, path)), None)
    told = stand.told if stand.policy is None else None
    return Hearing(_standing(stand, path), told, tuple(_relevant(lost, path)), None)


def _standing(stand: _Stand, path: Path) -> tuple[Said, ...]:
    found = {said.number: said for said in stand.said(path)}
    return tuple(found[number] for number in sorted(found))


def _relevant(lost: list[Lost], path: Path) -> Iterator[Lost]:
    """The lost claims that say something about the whole path, or cover it."""
    for loser in lost:
        said = loser.said
        rest = path[len(said.path) :]
        value = dig(said.value, rest)
        if value is not ABSENT:
            yield Lost(Said(said.number, path, value, (*said.own, *rest)), loser.by, loser.policy, loser.line)
        elif not isinstance(said.value, dict):
            yield loser


def _stand(plan: Said | Plan, lost: list[Lost]) -> _Stand | None:
    if isinstance(plan, Said):
        return None if plan.value is ABSENT else _Stand(plan.value, plan.number)
    first, *rest = plan.children
    stand = _stand(first, lost)
    for child, policy in zip(rest, plan.policies[1:], strict=True):
        stand = _joined(policy, stand, _stand(child, lost), (), lost, plan.from_top)
    return stand


def _joined(
    policy: Policy, so_far: _Stand | None, new: _Stand | None, path: Path, lost: list[Lost], from_top: bool
) -> _Stand | None:
    lower, upper = (new, so_far) if from_top else (so_far, new)
    if upper is None:
        return lower
    below = Absent if lower is None else lower.kind
    verdict, line = policy.verdict(below, upper.kind), policy.line(below, upper.kind)
    if verdict is TAKE:
        _lose(lower, upper, policy, line, path, lost)
        return upper
    if verdict is KEEP:
        _lose(upper, lower, policy, line, path, lost)
        return lower
    if verdict is DROP:
        _lose(lower, upper, policy, line, path, lost)
        _lose(upper, None, policy, line, path, lost)
        return None
    if type(verdict) is Meet:
        assert lower is not None
        assert isinstance(verdict.policy, Policy)
        return _Stand(None, None, _members(so_far, new), verdict.policy, from_top)
    part = verdict(_part(lower), _part(upper))  # type: ignore[operator]
    if part.value is ABSENT:
        _lose(lower, upper, policy, line, path, lost)
        _lose(upper, None, policy, line, path, lost)
        return None
    return _Stand(part.value, part.told, _members(so_far, new))


def _members(*stands: _Stand | None) -> tuple[_Stand, ...]:
    return tuple(stand for stand in stands if stand is not None)


def _part(stand: _Stand | None) -> Part:
    """A stand for a handler: maps that wait are merged now, since it may look at all of them."""
    if stand is None:
        return Part(ABSENT, ())
    if stand.policy is None:
        return Part(stand.value, stand.told)
    so_far, new = (_part(member) for member in stand.members)
    lower, upper = (new, so_far) if stand.from_top else (so_far, new)
    return meet(stand.policy, lower, upper)


def _lose(
    loser: _Stand | None, winner: _Stand | None, policy: Policy, line: Line, path: Path, lost: list[Lost]
) -> None:
    if loser is None:
        return
    by = tuple(said.number for said in winner.said(path)) if winner is not None else ()
    for said in loser.said(path):
        lost.append(Lost(said, by, policy, line))


def _step(stand: _Stand, path: Path, lost: list[Lost]) -> _Stand | None:
    step = path[-1]
    if stand.policy is not None:
        so_far, new = (_step(member, path, lost) for member in stand.members)
        return _joined(stand.policy, so_far, new, path, lost, stand.from_top)
    value = dig(stand.value, (step,))
    if value is ABSENT:
        return None
    told = told_at(stand.told, step)
    own = {number: (*at, step) for number, at in stand.own.items()}
    if stand.members and isinstance(stand.value, list):
        own = {number: (*path[:-1], _index_of(value, number, stand, step)) for number in voices(told)}
    return _Stand(value, told, own=own)


def _index_of(element: Any, number: int, made: _Stand, otherwise: int) -> int:
    """Where the list that a speaker said has an element of the list that was made of it."""
    key = strict_key(element)
    for leaf in made.leaves():
        if number in voices(leaf.told) and isinstance(leaf.value, list):
            for index, entry in enumerate(leaf.value):
                if strict_key(entry) == key:
                    return index
    return otherwise
