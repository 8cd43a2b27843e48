"""Walks along one path through a folding: which settings are read there, and which were overridden on the way.

`walk` reads the steps of a folding again, and looks up each key of the path in their policies. A handler or a change
may have moved parts of a value. Then `walk` calls it once more, with parts whose origins are their own places. So the
walk knows the earlier place of each part, and goes on there. Sources are numbers here; the module knows no dialects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from operator import eq
from typing import Any, NamedTuple, Self

from nodeattrs.core.folding import NOTHING, Decision, Folding, Step, replay_step, replay_steps
from nodeattrs.core.origins import Origins, SourcePath, origins_at, pieces, places, sources, wholes
from nodeattrs.core.part import Handler, Part, regrouped
from nodeattrs.core.policy import ANY, DROP, KEEP, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import ABSENT, Absent, Path, dig, flat
from nodeattrs.core.unknown import Unknown, may_decide, may_meet
from nodeattrs.core.walk import (
    Loss,
    Overridden,
    PendingLosses,
    Removals,
    Rule,
    SetValue,
    Walk,
    losses_below,
    outwards,
    with_holding_maps,
    with_next_first,
    without_places,
    without_repeats,
)


def walk(
    folding: Folding, path: Path, trees: Mapping[int, Any] | None = None, removals: Removals | None = outwards
) -> Walk:
    """Follow *path* through the steps of a folding: which settings are read, and which were overridden on the way.

    A path that is not set gives a Walk whose value is ABSENT. Neither the folding nor its parts change.
    trees: source -> its tree, for a folding that only has the numbers of its sources; a source without a tree sets
           nothing
    removals: a function (place) -> the place and the places to remove with it, to find the setting that would be read
           without the winner. None: that setting is not searched, and the order of `overridden` is not changed
    cost:  the depth of the path times the number of parts that set something; for the next setting further walks
    raises: the error of a handler or a change that refuses
    """
    walker = _Walker(trees, path)
    found = walker.walk(folding, path)
    if removals is None:
        return found

    def again(gone: set[SourcePath]) -> Walk:
        return _Walker(trees, path, gone).walk(folding, path)

    winners = {one.source for one in found.standing}
    waiting = [lost for lost in found.overridden if winners.issuperset(lost.by)]
    if len(waiting) < len(found.overridden):
        found = with_holding_maps(found, walker.value_in_source, again)
    # If the winner has replaced one setting, at the path itself, that is the next one. Else another walk finds it.
    replaced = all(lost.line.rule is TAKE and lost.setting.path == path and not lost.in_larger_map for lost in waiting)
    if replaced and len(waiting) < 2 and not walker.has_products:
        return found
    return with_next_first(found, path, walker.value_in_source, again, removals)


# --- how a handler or a change has made a value

LOWER, UPPER = -1, -2
"""The numbers of the two inputs of a handler, where they stand as sources: no real source has these numbers."""

CHANGED = Policy("a change", Line(ANY, PRESENT, TAKE, "the result was changed"))
"""The policy of a change that has no policy of its own."""


def _as_sources(parts: Sequence[Part]) -> dict[int, Part]:
    """Parts by number: the lowest is LOWER, the next one UPPER, and so on."""
    return dict(zip(count(LOWER, UPPER - LOWER), parts, strict=False))


@dataclass(frozen=True, eq=False)
class _HandlerResult:
    """The result that a handler or a change made of some parts, and where each part of the result was before.

    A *way* is a place in one of the inputs: `SourcePath(LOWER, path)`. A value that a change set itself has a place in
    the change's source, whose number is positive.

    inputs:    number -> part: LOWER, UPPER, and so on
    part:      the result
    ways:      the origins of the result, with ways in place of sources
    rule:      the rule that called the handler
    notes:     the decisions that were made while the handler ran
    is_change: whether a change made the result, and no handler
    """

    inputs: dict[int, Part]
    part: Part
    ways: Origins
    rule: Rule
    notes: Sequence[Decision] = ()
    is_change: bool = False

    @classmethod
    def by_handler(cls, handler: Handler, lower: Part, upper: Part, rule: Rule) -> Self:
        """The result of a handler for two parts. raises: MergeConflict, where the handler does"""
        inputs = _as_sources((lower, upper))
        part, _ = replay_step(handler, lower, upper)
        placed = [Part(one.value, () if one.value is ABSENT else SourcePath(side, ())) for side, one in inputs.items()]
        ways, notes = replay_step(handler, *placed)
        return cls(inputs, part, ways.origins, rule, notes)

    @classmethod
    def of_lists(cls, handler: Handler, parts: Sequence[Part], rule: Rule) -> Self:
        """The result of a handler that regroups, for several lists, the lowest first."""
        inputs = _as_sources(parts)
        join = lambda lower, upper: replay_step(handler, lower, upper)[0]  # noqa: E731
        ways = regrouped(join, [Part(part.value, SourcePath(side, ())) for side, part in inputs.items()]).origins
        return cls(inputs, regrouped(join, list(parts)), ways, rule)

    @classmethod
    def by_change(cls, step: Step, before: Part, given: Part) -> Self:
        """The result of a step that is a change. raises: the error of the change"""
        assert step.change is not None
        policy: Policy = getattr(step.change, "policy", CHANGED)
        part, ways = step.change(before, given), step.change(Part(before.value, SourcePath(LOWER, ())), given).origins
        inputs = _as_sources((before, Part(ABSENT, given.origins)))
        return cls(inputs, part, ways, (policy, policy.line(int, int)), is_change=True)

    def input_at(self, way: SourcePath) -> Part:
        """The value and origins that an input has at a way; for a value that a change set, only its source."""
        if way.source > 0:
            return Part(ABSENT, way)
        value, origins = self.inputs[way.source].value, self.inputs[way.source].origins
        for step in way.path:
            origins = origins_at(origins, step)
        return Part(dig(value, way.path), origins)

    def only_way(self, ways: Origins, value: object) -> SourcePath | None:
        """The way of a value that was taken unchanged; None where it was computed."""
        if type(ways) is not SourcePath or ways.source > 0 or value is ABSENT:
            return None
        taken = self.input_at(ways).value
        return ways if taken is value or taken == value else None

    def overridden(self, ways: Iterable[SourcePath]) -> Iterator[tuple[SourcePath, SourcePath, Decision]]:
        """Yield (way of the replaced value, way of the other, decision) for the values at some ways.

        Only decisions that were made while the handler ran count. The values that a replaced one had replaced follow.
        """
        waiting = list(ways)
        seen = set(waiting)
        while waiting:
            winner = waiting.pop(0)
            for note in self.notes:
                for way in _left_for(note, winner):
                    if way not in seen:
                        seen.add(way)
                        waiting.append(way)
                        yield way, winner, note

    def taken_away(self, way: SourcePath) -> Decision | None:
        """The decision that replaced the value at a way while the handler ran; None for none."""
        for note in self.notes:
            left = _taken_and_left(note)[1]
            if any(at.source == way.source and way.path[: len(at.path)] == at.path for at in wholes(left.origins, ())):
                return note
        return None

    def set_by(self, note: Decision) -> Origins:
        """The origins of the value that a decision took."""
        return tuple(self.input_at(way).origins for way in wholes(_taken_and_left(note)[0].origins, ()))

    def inputs_at_path(self, rest: Path) -> Iterator[tuple[int, Part, int]]:
        """Yield (number, part, depth) for each input: what it has at *rest*, or what blocks that path, and how deep.

        Nothing for an element of a list, since a handler may move elements. A change says where it leaves them.
        """
        is_below_maps = all(isinstance(dig(self.part.value, rest[:depth]), dict) for depth in range(len(rest)))
        if not (self.is_change or is_below_maps or dig(self.part.value, rest) is ABSENT):
            return
        for side, part in self.inputs.items():
            depth = 0
            while depth < len(rest) and isinstance(part.value, (dict, list)):
                part, depth = _entry(part, rest[depth]), depth + 1
            yield side, part, depth

    def has(self, place: SourcePath, rest: Path) -> bool:
        """Whether the result has a part of the value at a source's place. A map that was emptied above *rest* has none.

        A change does not move all values. So for a change, only the value at *rest* counts, or the list that *rest*
        leads into.
        """
        found = self._places.get(place.source, ())
        if self.is_change:
            kept = next((index for index, step in enumerate(rest) if type(step) is int), len(rest))
            found = [one for one in found if all(map(eq, one[0], rest[:kept]))]
        return any(self._holds(now, at, place.path, rest) for now, at in found)

    def _holds(self, now: Path, at: SourcePath, path: Path, rest: Path) -> bool:
        if at.path[: len(path)] == path:
            return len(now) >= len(rest) or now != rest[: len(now)]
        return path[: len(at.path)] == at.path and dig(self.part.value, (*now, *path[len(at.path) :])) is not ABSENT

    @cached_property
    def _places(self) -> dict[int, list[tuple[Path, SourcePath]]]:
        found: dict[int, list[tuple[Path, SourcePath]]] = {}
        for now, at in places(self.part.origins, ()):
            found.setdefault(at.source, []).append((now, at))
        return found


def _taken_and_left(note: Decision) -> tuple[Part, Part]:
    """The side that a decision took, and the side that it left; a handler takes both."""
    if note.verdict is TAKE:
        return note.upper, note.lower
    return (note.lower, note.upper) if note.verdict is KEEP else (NOTHING, NOTHING)


def _left_for(note: Decision, winner: SourcePath) -> Iterator[SourcePath]:
    """The ways of the values that a decision left where it took the winner, or a map that contains the winner."""
    taken, left = _taken_and_left(note)
    for now, at in places(taken.origins, ()):
        if at.source == winner.source and winner.path[: len(at.path)] == at.path:
            for step in (*now, *winner.path[len(at.path) :]):
                if not isinstance(left.value, (dict, list)):
                    break
                left = _entry(left, step)
            if left.value is not ABSENT:
                yield from wholes(left.origins, ())
            return


def _entry(part: Part, step: Any) -> Part:
    return Part(dig(part.value, (step,)), origins_at(part.origins, step))


# --- what stands at a prefix of the path: one of three


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Place:
    """A place on the path: what the three kinds of places have in common.

    losses:  the overridden settings, the next in line first; lists in it are shared, see `flat`
    unknown: the unknown sources that might decide
    """

    losses: Sequence[Any] = ()
    unknown: tuple[int, ...] = ()

    @property
    def kind(self) -> type:
        """The exact type of the value."""
        raise NotImplementedError

    @property
    def stands(self) -> bool:
        """Whether there is a value, null included."""
        return self.kind is not Absent

    @property
    def has_something(self) -> bool:
        """Whether there is a value, or a source that lost or may decide."""
        return self.kind is not Absent or bool(self.losses or self.unknown)

    def with_losses(self, losses: Iterable[Loss]) -> Self:
        """The same place, with further losses."""
        more = list(losses)
        return replace(self, losses=[self.losses, *more] if self.losses else more) if more else self

    def with_unknown(self, unknown: tuple[int, ...]) -> Self:
        """The same place, with further unknown sources."""
        return replace(self, unknown=tuple(dict.fromkeys((*self.unknown, *unknown)))) if unknown else self


@dataclass(frozen=True, slots=True, eq=False)
class _Value(_Place):
    """A value that sources set, or merged maps; perhaps ABSENT."""

    value: Any
    origins: Origins

    @property
    def kind(self) -> type:
        return type(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class _Product(_Place):
    """The result of a handler or a change, or a part of that result.

    making:  the whole result, and how it was made
    members: LOWER, UPPER, ... -> the place of that input
    rest:    the steps from the whole result to this part
    ways:    where this part was in the inputs
    earlier: losses inside of the inputs, not looked up yet
    """

    value: Any
    origins: Origins
    making: _HandlerResult
    members: Mapping[int, _PathState]
    rest: Path
    ways: Origins
    earlier: Sequence[PendingLosses] = ()

    @property
    def kind(self) -> type:
        return type(self.value)

    @property
    def has_something(self) -> bool:
        return self.kind is not Absent or bool(self.losses or self.unknown or self.earlier)


@dataclass(frozen=True, slots=True, eq=False)
class _Row(_Place):
    """Maps that meet key by key, or lists that are joined; they are merged when the value is needed.

    A row is a chain: each link has its last member only, since there may be as many rows as maps.

    base:    the first member
    before:  the base, or the row without the last member
    last:    the last member, and how it joins those before it
    handler: joins the lists; None for maps
    path:    of the lists
    """

    base: _PathState
    before: _PathState
    last: _RowMember
    handler: Handler | None = None
    path: Path = ()

    @property
    def kind(self) -> type:
        return dict if self.handler is None else list

    @property
    def key(self) -> tuple[_PathState, _RowMember]:
        """The members without the losses: equal for rows that differ only in losses."""
        return self.before, self.last

    def others(self) -> list[_RowMember]:
        """The members without the base, the second one first."""
        found: list[_RowMember] = []
        here: _PathState = self
        while isinstance(here, _Row) and here is not self.base:
            found.append(here.last)
            here = here.before
        return found[::-1]

    def members(self) -> list[_PathState]:
        """All members, the base first."""
        return [self.base, *(one.here for one in self.others())]


class _RowMember(NamedTuple):
    """A member of a row, and how it joins those before it.

    policy:   of the entries of a map, or of a list
    from_top: whether it lies below those before it
    meets:    False where one of them cannot be read, and would
    """

    here: _PathState
    policy: Policy
    from_top: bool
    meets: bool = True


_PathState = _Value | _Product | _Row
_EMPTY = _Value(ABSENT, ())


class _Walker:
    """Walks one path. trees: source -> its tree, see `walk`; gone: places of sources that are treated as empty"""

    def __init__(self, trees: Mapping[int, Any] | None, path: Path, gone: Iterable[SourcePath] = ()) -> None:
        self.given, self.path = trees, path
        self.trees: dict[int, Any] = {}
        self.gone: dict[int, list[SourcePath]] = {}
        for place in gone:
            self.gone.setdefault(place.source, []).append(place)
        self.has_products = False
        # By what they are made of, since a row with further losses gives the same.
        self.merged: dict[tuple[_PathState, _RowMember], Part] = {}
        self.lists: dict[tuple[_PathState, _RowMember], _Product] = {}

    def walk(self, folding: Folding, path: Path) -> Walk:
        here, at, losses = self.descend(self.after_folding(folding), path, path, False)
        cover = at if at != path and here.stands else None
        value, origins = (here.value, here.origins) if cover is None else (ABSENT, ())
        return Walk(
            self.standing(here, at), without_repeats(self.resolved_losses(losses)), here.unknown, value, origins, cover
        )

    def descend(
        self, here: _PathState, keys: Path, path: Path, is_lost: bool
    ) -> tuple[_Value | _Product, Path, list[Loss]]:
        """Returns (place, path, losses) some steps down, or those of the scalar or list that blocks the way."""
        here, depth = self.advance(here, keys, path, is_lost)
        there = self.as_value(here, at := _label(keys, depth, path))
        losses = list(self.all_losses(there))
        for deeper in range(depth, len(keys)):
            losses = losses_below(losses, keys[deeper], _label(keys, deeper + 1, path), object)
        return there, at, losses

    def advance(self, here: _PathState, keys: Path, path: Path, is_lost: bool = False) -> tuple[_PathState, int]:
        """Returns (place, number of steps taken): all of them, or as many as lead to a value that blocks the way."""
        for depth, key in enumerate(keys):
            here = self.joined_lists(here)
            if _covers(here, key, is_lost):
                return here, depth
            if here.has_something:
                here = self.place_below(here, key, _label(keys, depth + 1, path))
        return here, len(keys)

    def resolved_losses(self, losses: Iterable[Loss]) -> Iterator[Overridden]:
        """Yield the losses, pending ones looked up, each place once. No recursion: there may be as many as parts."""
        waiting = [*losses][::-1]
        seen: dict[Any, PendingLosses] = {}
        while waiting:
            one = waiting.pop()
            if isinstance(one, Overridden):
                yield one
            elif seen.setdefault((id(one.here), one.keys, one.rule is None), one) is one:
                here, at, found = self.descend(one.here, one.keys, one.path, one.rule is not None)
                if one.rule is not None:
                    yield from (_lost(setting, one.by, one.rule) for setting in reversed(self.standing(here, at)))
                waiting += found[::-1]

    def all_losses(self, here: _PathState) -> Iterator[Loss]:
        """Yield the losses of a place, then those of its members or inputs, the last one's first."""
        waiting = [here]
        while waiting:
            here = self.joined_lists(waiting.pop())
            yield from flat(here.losses) if here.losses else ()
            if isinstance(here, _Row):
                waiting += here.members()
            elif isinstance(here, _Product):
                yield from here.earlier
                waiting += () if here.rest else here.members.values()

    def after_folding(self, folding: Folding) -> _PathState:
        """The root place after all steps of a folding."""
        here: _PathState = _EMPTY if folding.start is None else self.leaf(folding.start)
        begun = here.stands
        for step in folding.steps:
            here = self.after_step(folding, step, here, begun)
            begun = begun or here.stands
        return here

    def after_step(self, folding: Folding, step: Step, here: _PathState, begun: bool) -> _PathState:
        part = step.part
        if step.policy is None:
            return self.after_change(here, step)
        if part is NOTHING:
            return self.merge_pair(step.policy, _EMPTY, here, ())
        if self.given is not None and type(part) is Part and part.origins not in self.given:
            return here
        new = self.after_folding(part) if isinstance(part, Folding) else self.leaf(part)
        if not new.has_something:
            return here
        if begun and new.stands:
            return self.merge_pair(step.policy, here, new, (), folding.from_top)
        if new.stands and folding.opening is not None:
            new = self.merge_pair(folding.opening, _EMPTY, new, ())
        return self.without_rule(step.policy, here, new, (), folding.from_top)

    def leaf(self, part: Part) -> _Value:
        value, origins = part.value, part.origins
        if type(value) is Unknown:
            return _Value(ABSENT, (), unknown=sources(origins) if value.may_set(self.path) else ())
        if type(origins) is int:
            value = self.trees[origins] = value if self.given is None else self.given[origins]
            origins = SourcePath(origins, ())
        return _Value(without_places(value, origins, self.gone) if self.gone else value, origins)

    def after_change(self, before: _PathState, step: Step) -> _PathState:
        """The place after a change; the same place where all that the change sets is gone."""
        laid = step.part
        assert isinstance(laid, Part)
        if type(laid.origins) is SourcePath:
            self.trees[laid.origins.source] = laid.value
        left = without_places(laid.value, laid.origins, self.gone)
        if left is ABSENT and laid.value is not ABSENT:
            return before
        making = _HandlerResult.by_change(step, self.part(before), Part(left, laid.origins))
        return self.product(making, {LOWER: before, UPPER: _EMPTY}, ()).with_unknown(before.unknown)

    # --- two that meet

    def merge_pair(
        self, policy: Policy, so_far: _PathState, new: _PathState, path: Path, from_top: bool = False
    ) -> _PathState:
        lower, upper = _sides(so_far, new, from_top)
        is_doubtful = bool(lower.unknown or upper.unknown)
        stands = upper.kind is not Absent
        if stands and lower.kind is not Absent and not is_doubtful:
            return self.merge_by_rule(policy, so_far, new, path, from_top)
        if not stands and not upper.has_something:
            return lower
        is_taken = not stands or policy.verdict(Absent, upper.kind) is TAKE
        if is_taken and not lower.has_something:
            return upper
        if is_doubtful and may_meet(policy, lower, upper):
            here: _PathState = self.row(policy, so_far, new, from_top)
        elif not stands:
            here = lower.with_losses(self.all_losses(upper))
        elif is_taken and not lower.stands:
            here = upper.with_losses(self.all_losses(lower))
        else:
            here = self.merge_by_rule(policy, so_far, new, path, from_top)
        return self.with_possible_map(policy, lower, upper, here, path) if is_doubtful else here

    def with_possible_map(
        self, policy: Policy, lower: _PathState, upper: _PathState, here: _PathState, path: Path
    ) -> _PathState:
        """The place where an unknown source lies beside a scalar that lost to a map: it may have a map, too."""
        unknown = may_decide(policy, lower, upper)
        is_over = issubclass(upper.kind, dict)
        lost = lower if is_over else upper
        if lost.unknown and lost.stands and issubclass(here.kind, dict) and not issubclass(lost.kind, dict):
            here = replace(here, unknown=unknown)
            here = self.without_rule(policy, here, _Value(ABSENT, (), unknown=lost.unknown), path, is_over)
        return replace(here, unknown=unknown)

    def without_rule(
        self, policy: Policy, so_far: _PathState, new: _PathState, path: Path, from_top: bool
    ) -> _PathState:
        """The place where one of the two was never merged, or cannot be read: no rule of the policy applies."""
        lower, upper = _sides(so_far, new, from_top)
        is_doubtful = bool(lower.unknown or upper.unknown)
        if is_doubtful and may_meet(policy, lower, upper):
            here: _PathState = self.row(policy, so_far, new, from_top, meets=False)
        elif so_far.stands:
            here = so_far.with_losses(self.all_losses(new))
        else:
            here = new.with_losses(self.all_losses(so_far))
        return replace(here, unknown=may_decide(policy, lower, upper)) if is_doubtful else here

    def merge_by_rule(
        self, policy: Policy, so_far: _PathState, new: _PathState, path: Path, from_top: bool
    ) -> _PathState:
        """The place where two values meet, or the upper one meets ABSENT, by the rule of the policy."""
        lower, upper = _sides(so_far, new, from_top)
        kinds = lower.kind, upper.kind
        verdict = policy.cells.get(kinds) or policy.verdict(*kinds)
        if type(verdict) is Meet:
            return _map_row(verdict.policy, so_far, new, from_top)
        rule = policy, policy.line(*kinds)
        if verdict is TAKE or verdict is KEEP:
            loser, winner = (lower, upper) if verdict is TAKE else (upper, lower)
            return self.with_loser(loser, winner, rule, path)
        if verdict is DROP:
            return self.both_lost(lower, upper, rule, path)
        assert isinstance(verdict, Handler)
        if verdict.regroups and lower.kind is upper.kind is list:
            self.has_products = True
            return _list_row(policy, verdict, so_far, new, from_top, path)
        making = _HandlerResult.by_handler(verdict, self.part(lower), self.part(upper), rule)
        if making.part.value is ABSENT:
            return self.both_lost(lower, upper, rule, path)
        return self.product(making, {LOWER: lower, UPPER: upper}, path)

    def row(self, policy: Policy, so_far: _PathState, new: _PathState, from_top: bool, meets: bool = True) -> _Row:
        """The row of a map and a place that may be a map, as two maps meet."""
        verdict = policy.verdict(dict, dict)
        assert isinstance(verdict, Meet)
        return _map_row(verdict.policy, so_far, new, from_top, meets)

    def as_value(self, here: _PathState, path: Path) -> _Value | _Product:
        """The place as a value: a row is merged; members without a value in the merge are losses."""
        here = self.joined_lists(here)
        if not isinstance(here, _Row):
            return here
        part = self.part(here)
        losses = [*self.losses_of_members(here, path), *self.all_losses(here)]
        return _Value(part.value, part.origins, losses=losses, unknown=here.unknown)

    def losses_of_members(self, here: _PathState, path: Path) -> Iterator[Overridden]:
        """Yield a loss for each member of a row of maps that has nothing in the merge."""
        if isinstance(here, _Row) and here.handler is None:
            policy = here.last.policy
            by, rule = sources(self.part(here).origins), (policy, policy.line(dict, dict))
            known = frozenset(by)
            for one in here.members():
                yield from self.losses_of_part(self.part(one), by, rule, path, known)
                yield from self.losses_of_members(one, path)

    def with_loser(self, loser: _PathState, winner: _PathState, rule: Rule, path: Path) -> _PathState:
        """The winner's place. Its losses come first, then the loser and the loser's losses."""
        by = () if self.is_from_the_start(winner) else self.sources_of(winner)
        return winner.with_losses(self.losses_of_place(loser, by, rule, path))

    def both_lost(self, lower: _PathState, upper: _PathState, rule: Rule, path: Path) -> _PathState:
        """An empty place: each side is lost because of the other."""
        below, above = self.sources_of(lower), self.sources_of(upper)
        return _EMPTY.with_losses(
            [*self.losses_of_place(upper, below, rule, path), *self.losses_of_place(lower, above, rule, path)]
        )

    def losses_of_place(self, here: _PathState, by: tuple[int, ...], rule: Rule, path: Path) -> Iterator[Any]:
        """Yield the settings of a place as losses, then the losses of that place."""
        if not isinstance(here, _Value):
            yield PendingLosses(here, (), path, by, rule)
            return
        yield from (_lost(setting, by, rule) for setting in reversed(self.standing(here, path)))
        if here.losses:
            yield here.losses

    def product(self, making: _HandlerResult, members: dict[int, _PathState], path: Path) -> _Product:
        """The place of a result of a handler or a change; inputs without anything in the result are losses."""
        self.has_products = True
        losses: list[Loss] = []
        for side, part in making.inputs.items():
            losses += self.losses_of_part(part, sources(making.part.origins), making.rule, path)
            losses += self.losses_of_members(members[side], path)
        part = making.part
        return _Product(part.value, part.origins, making, members, (), making.ways, losses=losses)

    def joined_lists(self, here: _PathState) -> _PathState:
        """The place, the lists of a row joined. cost: each element, times the logarithm of the number of lists"""
        if not isinstance(here, _Row) or here.handler is None:
            return here
        known = self.lists.get(here.key)
        if known is None:
            known = self.lists[here.key] = self.product_of(here, here.handler)
        return known.with_losses(here.losses).with_unknown(here.unknown)

    def product_of(self, row: _Row, handler: Handler) -> _Product:
        """The result of joining the lists of a row."""
        is_below = row.last.from_top
        members = row.members()[::-1] if is_below else row.members()
        policy, parts = row.last.policy, [self.part(one) for one in members]
        making = _HandlerResult.of_lists(handler, parts, (policy, policy.line(list, list)))
        emptied = [self.losses_of_part(one, by, making.rule, row.path) for one, by in _emptied(parts, is_below)]
        losses = [one for several in reversed(emptied) for one in several]
        numbered, part = dict(zip(making.inputs, members, strict=True)), making.part
        return _Product(part.value, part.origins, making, numbered, (), making.ways, losses=losses)

    def losses_of_part(self, part: Part, by: Any, rule: Rule, path: Path, known: Any = ()) -> Iterator[Overridden]:
        """Yield a loss for each source of a part that is not among *by*, the sources of what overrides the part."""
        policy, line = rule
        why = f"{line.why}, and nothing of it is left" if line.why else "nothing of it is left"
        for setting in self.settings(part, path):
            if setting.source not in (known or by):
                yield _lost(setting, by, (policy, Line(line.lower, line.upper, line.rule, why)))._replace(by_merge=True)

    # --- one step down

    def place_below(self, here: _PathState, key: Any, path: Path) -> _PathState:
        """The place one step down; through a result of a handler, on to the input that the entry was taken from."""
        here = self.joined_lists(here)
        passed: list[Any] = []
        unknown: tuple[int, ...] = ()
        while isinstance(here, _Product):
            child, way = self.product_entry(here, key, path)
            if way is None:
                return child.with_losses(passed).with_unknown(unknown)
            passed = [*child.losses, *passed]
            unknown = (*unknown, *child.unknown)
            here = self.joined_lists(here.members[way.source])
            if not way.path:
                return here.with_losses(passed).with_unknown(unknown)
            here = self.joined_lists(self.advance(here, way.path[:-1], path[:-1])[0])
            key = way.path[-1]
        entry = self.row_entry(here, key, path) if isinstance(here, _Row) else self.entry(here, key)
        if not (here.losses or passed or unknown):
            return entry
        return entry.with_losses([*losses_below(here.losses, key, path, here.kind), *passed]).with_unknown(unknown)

    def entry(self, here: _Value | _Product, key: Any) -> _Value:
        holder, origins = here.value, here.origins
        value = holder.get(key, ABSENT) if isinstance(holder, dict) else dig(holder, (key,))
        if value is ABSENT:
            return _EMPTY.with_unknown(here.unknown) if here.unknown else _EMPTY
        at = (
            SourcePath(origins.source, (*origins.path, key))
            if type(origins) is SourcePath
            else origins_at(origins, key)
        )
        return _Value(value, at, unknown=here.unknown)

    def row_entry(self, here: _Row, key: Any, path: Path) -> _PathState:
        so_far = self.place_below(here.base, key, path)
        for one in here.others():
            policy = one.policy if one.policy.by_key is None else one.policy.at(key)
            meeting = self.merge_pair if one.meets else self.without_rule
            so_far = meeting(policy, so_far, self.place_below(one.here, key, path), path, one.from_top)
        return so_far

    def product_entry(self, here: _Product, key: Any, path: Path) -> tuple[_Product, SourcePath | None]:
        """(an entry of a result, its way). The way is None unless the entry was taken unchanged from one place."""
        making, entry, rest = here.making, self.entry(here, key), (*here.rest, key)
        origins = origins_at(here.ways, key) if entry.stands else ()
        ways = list(wholes(origins, ()))
        only = making.only_way(origins, entry.value)
        passed = dict.fromkeys((*ways, *(SourcePath(side, rest) for side, _, _ in making.inputs_at_path(rest))))
        earlier = [
            PendingLosses(here.members[way.source], way.path, path) for way in passed if way.source < 0 and way != only
        ]
        losses = [*self.losses_of_decisions(here, ways, path), *self.losses_of_inputs(making, entry, rest, path)]
        if only is not None:  # of what goes on in the same value, the earlier ones are found again one step down
            losses += earlier
            earlier = []
        losses += losses_below(here.losses, key, path, here.kind)
        for side, member in here.members.items() if not here.rest else ():
            if only is None or only.source != side:
                lost = losses_below(self.all_losses(member), key, path, here.kind)
                losses += [one for one in lost if one.blocks(path)]
        found = _Product(entry.value, entry.origins, making, here.members, rest, origins, earlier)
        return replace(found, losses=losses, unknown=entry.unknown), only

    def losses_of_decisions(self, here: _Product, ways: list[SourcePath], path: Path) -> Iterator[Loss]:
        """Yield the losses of decisions that were made while the handler ran."""
        making = here.making
        for way, winner, note in making.overridden(ways):
            by = sources(making.input_at(winner).origins)
            yield from (_lost(setting, by, note.rule) for setting in self.settings(making.input_at(way), path))
            yield PendingLosses(here.members[way.source], way.path, path)

    def losses_of_inputs(self, making: _HandlerResult, entry: _Value, rest: Path, path: Path) -> Iterator[Loss]:
        """Yield a loss for each setting that an input has at the same steps, and that has nothing in the result."""
        by, rule = sources(making.inputs[min(making.inputs)].origins), making.rule
        if not (making.is_change and by):
            by = sources(entry.origins) or by
        for side, part, depth in making.inputs_at_path(rest):
            settings = self.settings(part, _label(rest, depth, path))
            lost = [one for one in settings if not making.has(SourcePath(one.source, one.own), rest)]
            note = making.taken_away(SourcePath(side, rest[:depth])) if lost and not entry.stands else None
            if note is not None:
                by, rule = sources(making.set_by(note)), note.rule
            yield from (_lost(setting, by, rule) for setting in lost)

    # --- who sets what

    def standing(self, here: _PathState, path: Path) -> tuple[SetValue, ...]:
        """The settings of the value at a place, in the order of their sources."""
        return tuple(sorted(self.settings(self.part(here), path), key=lambda one: one.source))

    def settings(self, part: Part, path: Path) -> Iterator[SetValue]:
        """Yield a Setting for each source of a part, with the value that the source has in its own tree."""
        if part.value is ABSENT:
            return
        found = ((path, part.origins),) if type(part.origins) is SourcePath else pieces(part.origins, path)
        own = ((now, at, self.value_in_source(at, dig(part.value, now[len(path) :]))) for now, at in found if at.source)
        yield from (SetValue(at.source, now, value, at.path) for now, at, value in own)

    def value_in_source(self, at: SourcePath, otherwise: Any) -> Any:
        """The value that a source has at a place; *otherwise* where it has none."""
        value: Any = self.trees.get(at.source, ABSENT)
        for step in at.path:
            value = value.get(step, ABSENT) if isinstance(value, dict) else dig(value, (step,))
        return otherwise if value is ABSENT else value

    def sources_of(self, here: _PathState) -> tuple[int, ...]:
        """The sources of the value at a place."""
        origins = self.part(here).origins
        return (origins.source,) if type(origins) is SourcePath else sources(origins)

    def part(self, here: _PathState) -> Part:
        """The value at a place, with its origins; maps of a row are merged, and lists joined."""
        here = self.joined_lists(here)
        if not isinstance(here, _Row):
            return Part(here.value, here.origins)
        row, ahead = here, []
        while isinstance(here, _Row) and here.key not in self.merged:
            ahead.append(here.last)
            here = here.before
        known = self.merged[here.key] if isinstance(here, _Row) else Part(here.value, here.origins)
        laid = [(self.part(one.here), one.policy, one.from_top) for one in reversed(ahead)]
        known = self.merged[row.key] = replay_steps(known, laid)
        return known

    def is_from_the_start(self, here: _PathState) -> bool:
        """Whether the value contains the part that the folding began with, which has no source."""
        here = self.joined_lists(here)
        while isinstance(here, _Row) or (isinstance(here, _Product) and not here.rest):
            here = self.joined_lists(here.base if isinstance(here, _Row) else here.members[LOWER])
        origins = here.origins
        return bool(origins == 0) or (type(origins) is SourcePath and origins.source == 0)


def _sides(so_far: _PathState, new: _PathState, from_top: bool) -> tuple[_PathState, _PathState]:
    """The lower and the upper of two places. from_top: the new one lies below"""
    return (new, so_far) if from_top else (so_far, new)


def _map_row(policy: Policy, so_far: _PathState, new: _PathState, from_top: bool, meets: bool = True) -> _Row:
    """The row of two maps that meet under a policy; a row goes on."""
    last = _RowMember(new, policy, from_top, meets)
    if isinstance(so_far, _Row):
        return _Row(so_far.base, so_far, last, losses=so_far.losses)
    return _Row(so_far, so_far, last)


def _list_row(
    policy: Policy, handler: Handler, so_far: _PathState, new: _PathState, from_top: bool, path: Path
) -> _Row:
    """The row of two lists that a handler joins; a row under the same rule goes on."""
    base = so_far
    if isinstance(so_far, _Row) and (so_far.last.policy, so_far.last.from_top) == (policy, from_top):
        base = so_far if so_far.losses or so_far.unknown else so_far.base
    return _Row(base, so_far, _RowMember(new, policy, from_top), handler, path)


def _emptied(parts: list[Part], from_top: bool) -> Iterator[tuple[Part, tuple[int, ...]]]:
    """Yield (list, sources) for each list that has nothing in the result: the sources of the lists that stay."""
    order = reversed(parts) if from_top else iter(parts)
    so_far = next(order)
    by = dict.fromkeys(sources(so_far.origins))
    for part in order:
        who = sources(part.origins)
        if part.value and so_far.value:
            by |= dict.fromkeys(who)
        elif part.value or (from_top and not so_far.value):
            yield so_far, who
            so_far, by = part, dict.fromkeys(who)
        else:
            yield part, tuple(by)


def _covers(here: _PathState, key: Any, is_lost: bool) -> bool:
    """Whether a place blocks the step *key*: a scalar does, and a list where the key is no index.

    is_lost: whether the value was overridden: then it stays whole
    """
    value = () if isinstance(here, _Row) else here.value
    if not here.stands or issubclass(here.kind, dict):
        is_element = is_lost and here.stands and type(key) is int
        return is_element and not any(type(one) is int for one in value or ())
    has_elements = isinstance(value, (list, tuple)) and type(key) is int
    return not has_elements or (is_lost and dig(value, (key,)) is ABSENT)


def _lost(setting: SetValue, by: tuple[int, ...], rule: Rule) -> Overridden:
    """An Overridden; a setting that no other source overrides is overridden by itself."""
    return Overridden(setting, by or (setting.source,), *rule)


def _label(keys: Path, depth: int, path: Path) -> Path:
    """The path in the merged tree after *depth* of the steps *keys*, which end at *path*."""
    return path[: max(0, len(path) - len(keys) + depth)]
