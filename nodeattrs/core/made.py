"""How a handler or a change has made a value: where each part of it has stood in what it was made of.

The handler is called once more with parts whose origins are nothing but their places in those
parts; its own words say then what came from where, and nothing is compared or guessed. It knows
neither foldings nor who the sources are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import count
from operator import eq
from typing import Any, NamedTuple

from nodeattrs.core.folding import Encounter, Step, again
from nodeattrs.core.origins import At, Origins, origins_at, places, sources, wholes
from nodeattrs.core.part import Handler, Part, regrouped
from nodeattrs.core.policy import ANY, KEEP, PRESENT, TAKE, Line, Policy, Verdict
from nodeattrs.core.tree import ABSENT, Path, dig

LOWER, UPPER = -1, -2
"""The two that something was made of, as sources of its ways: no real source has these numbers."""


CHANGED = Policy("a change", Line(ANY, PRESENT, TAKE, "somebody changed the result"))
"""Named where a change does not say what it does."""


class Made:
    """What came of two parts, and the way of everything in it.

    A *way* is a place in one of the two: `At(LOWER, path)`. What a change set itself is at a place of
    its source, whose number is positive.

    inputs: LOWER and UPPER -> the parts; of several lists, the lowest is LOWER, and the others have the numbers behind
    part:   what came of them
    ways:   the origins of that, ways being their sources
    notes:  where a handler let two parts meet
    """

    def __init__(self, *parts: Part) -> None:
        self.inputs = dict(zip(count(LOWER, UPPER - LOWER), parts, strict=False))
        self.part = self.ways = Part(ABSENT, ())
        self.notes: list[Encounter] = []
        self.is_change = False

    def by(self, verdict: Verdict) -> Made:
        """Made by a handler. raises: MergeConflict, where it does"""
        lower, upper = (
            Part(part.value, () if part.value is ABSENT else At(side, ())) for side, part in self.inputs.items()
        )
        self.part, _ = again(verdict, *self.inputs.values())
        self.ways, self.notes = again(verdict, lower, upper)
        return self

    def regrouped(self, handler: Handler) -> Made:
        """Made of several lists by a handler that regroups."""
        by = lambda *pair: again(handler, *pair)[0]  # noqa: E731
        self.part = regrouped(by, list(self.inputs.values()))
        self.ways = regrouped(by, [Part(part.value, At(side, ())) for side, part in self.inputs.items()])
        return self

    @classmethod
    def changed(cls, step: Step, before: Part, given: Part) -> tuple[Made, tuple[Policy, Line]]:
        """Made by a step that is a change, and by which rule. raises: whatever it raises"""
        assert step.change is not None
        made = cls(before, Part(ABSENT, given.origins))
        made.is_change = True
        made.part, made.ways = step.change(before, given), step.change(Part(before.value, At(LOWER, ())), given)
        policy: Policy = getattr(step.change, "policy", CHANGED)
        return made, (policy, policy.line(int, int))

    def input_at(self, way: At) -> Part:
        """What one of the two has at a place, with who set it; for what a change set, its source alone."""
        if way.source > 0:
            return Part(ABSENT, way)
        value, origins = self.inputs[way.source].value, self.inputs[way.source].origins
        for step in way.path:
            origins = origins_at(origins, step)
        return Part(dig(value, way.path), origins)

    def only_way(self, ways: Origins, value: object) -> At | None:
        """The place from which a value was taken as it is, if there is one."""
        if type(ways) is not At or ways.source > 0 or value is ABSENT:
            return None
        taken = self.input_at(ways).value
        return ways if taken is value or taken == value else None

    def overridden(self, ways: Iterable[At]) -> Iterator[tuple[At, At, Encounter]]:
        """What those at some ways have replaced where a handler let parts meet; what that had replaced; and so on.

        The way of the replaced one, of the other, and where they met.
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

    def taken_away(self, way: At) -> Encounter | None:
        """Where a handler let what stood there be replaced."""
        for note in self.notes:
            left = _taken_and_left(note)[1]
            if any(at.source == way.source and way.path[: len(at.path)] == at.path for at in wholes(left.origins, ())):
                return note
        return None

    def set_by(self, note: Encounter) -> Origins:
        """Who set what replaced something there."""
        return tuple(self.input_at(way).origins for way in wholes(_taken_and_left(note)[0].origins, ()))

    def beside(self, rest: Path) -> Iterator[tuple[int, Part, int]]:
        """What the two have below the same steps: which of them, what, and after how many of the steps.

        Nothing for an element: a handler moves elements as it likes. Where a change leaves them, it says so.
        """
        if not (self.is_change or self._is_below_maps(rest) or dig(self.part.value, rest) is ABSENT):
            return
        for side, part in self.inputs.items():
            depth = 0
            while depth < len(rest) and isinstance(part.value, (dict, list)):
                part, depth = _entry(part, rest[depth]), depth + 1
            yield side, part, depth

    def _is_below_maps(self, rest: Path) -> bool:
        return all(isinstance(dig(self.part.value, rest[:depth]), dict) for depth in range(len(rest)))

    def has(self, place: At, rest: Path) -> bool:
        """Whether something of a source's place is in what was made; what was emptied above *rest* has not.

        A change leaves what it does not move: there it counts only at *rest*, or in the list that *rest* leads into.
        """
        found = self._places.get(place.source, ())
        if self.is_change:
            kept = next((index for index, step in enumerate(rest) if type(step) is int), len(rest))
            found = [one for one in found if all(map(eq, one[0], rest[:kept]))]
        return any(self._holds(now, at, place.path, rest) for now, at in found)

    def _holds(self, now: Path, at: At, path: Path, rest: Path) -> bool:
        if at.path[: len(path)] == path:
            return len(now) >= len(rest) or now != rest[: len(now)]
        return path[: len(at.path)] == at.path and dig(self.part.value, (*now, *path[len(at.path) :])) is not ABSENT

    @cached_property
    def _places(self) -> dict[int, list[tuple[Path, At]]]:
        found: dict[int, list[tuple[Path, At]]] = {}
        for now, at in places(self.part.origins, ()):
            found.setdefault(at.source, []).append((now, at))
        return found


class MadeOf(NamedTuple):
    """What a value was made of: LOWER and UPPER -> what stood there in a walk; how; and by which rule."""

    members: dict[int, Any]
    made: Made
    rule: tuple[Policy, Line]

    def past(self, ways: Iterable[At], rest: Path) -> Iterator[tuple[Any, At]]:
        """What stood there at some ways, and what stands at the same steps below the two."""
        beside = (At(side, rest) for side, _, _ in self.made.beside(rest))
        return ((self.members[way.source], way) for way in dict.fromkeys((*ways, *beside)) if way.source < 0)

    def left_out(
        self, rest: Path, who: tuple[int, ...], stands: bool, settings: Callable[[Part, int], Iterable[Any]]
    ) -> Iterator[tuple[Any, tuple[int, ...], tuple[Policy, Line]]]:
        """The settings of which nothing is left, though one of the two has them below the same steps; by whom; and why.

        who:      who set what stands there now, if something does
        settings: those of a part that stands after so many of the steps
        """
        made = self.made
        of, rule = sources(made.inputs[min(made.inputs)].origins), self.rule
        by = of if made.is_change and of else who or of
        for side, part, depth in made.beside(rest):
            lost = [one for one in settings(part, depth) if not made.has(At(one.source, one.own), rest)]
            note = made.taken_away(At(side, rest[:depth])) if lost and not stands else None
            if note is not None:
                by, rule = sources(made.set_by(note)), note.rule
            yield from ((setting, by, rule) for setting in lost)

    def others(self, way: At | None) -> Iterator[Any]:
        """What stood there, but for that from which something was taken."""
        return (member for side, member in self.members.items() if way is None or way.source != side)


class Joining:
    """Lists that are joined one after the other, by a handler that regroups.

    members:      what stood there in a walk, the lowest first
    rule:         what decided
    part_of:      gives the part of a member
    nothing_left: makes the losses of a part of which nothing is left, given who is there instead
    is_open:      whether nobody has looked at what they come to: then others may follow
    """

    part_of: Callable[[Any], Part]
    nothing_left: Callable[[Part, tuple[int, ...]], Iterable[Any]]

    def __init__(self, members: tuple[Any, ...], handler: Any, rule: tuple[Policy, Line], from_top: bool) -> None:
        self.members = members
        self.handler: Handler = handler
        self.rule = rule
        self.from_top = from_top
        self.is_open = True

    @classmethod
    def of(cls, handler: Any, lower: Any, upper: Any, rule: tuple[Policy, Line], from_top: bool) -> Joining:
        """Of two that stand in a walk. What was joined so far goes on, unless somebody has looked already."""
        so_far = upper if from_top else lower
        row: Joining | None = so_far.joining
        if row is None or not row.is_open or so_far.unknown or (row.rule, row.from_top) != (rule, from_top):
            return cls((lower, upper), handler, rule, from_top)
        return cls((lower, *row.members) if from_top else (*row.members, upper), handler, rule, from_top)

    def join(self, here: Any) -> None:
        """Note in a place of the walk what they come to. cost: each element, times the logarithm of how many lists"""
        self.is_open = False
        parts = [self.part_of(one) for one in self.members]
        made = Made(*parts).regrouped(self.handler)
        here.value, here.origins, here.ways = made.part.value, made.part.origins, made.ways.origins
        here.source = MadeOf(dict(zip(made.inputs, self.members, strict=True)), made, self.rule)
        lost = [self.nothing_left(part, by) for part, by in self._lost(parts)]
        here.losses = [one for several in reversed(lost) for one in several]

    def _lost(self, parts: list[Part]) -> Iterator[tuple[Part, tuple[int, ...]]]:
        """Those of which nothing is left, as each met what was joined before it; and who is there instead."""
        order = reversed(parts) if self.from_top else iter(parts)
        so_far = next(order)
        by = dict.fromkeys(sources(so_far.origins))
        for part in order:
            who = sources(part.origins)
            if part.value and so_far.value:
                by |= dict.fromkeys(who)
            elif part.value or (self.from_top and not so_far.value):
                yield so_far, who
                so_far, by = part, dict.fromkeys(who)
            else:
                yield part, tuple(by)


class Joined:
    """An attribute of a place of the walk that is there once its lists are joined."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, here: Any, owner: type) -> Any:
        here.joining.join(here)
        return vars(here)[self.name]


def _taken_and_left(note: Encounter) -> tuple[Part, Part]:
    """The two sides of a meeting; a handler has taken both."""
    if note.verdict is TAKE:
        return note.upper, note.lower
    return (note.lower, note.upper) if note.verdict is KEEP else (_NEITHER, _NEITHER)


_NEITHER = Part(ABSENT, ())


def _left_for(note: Encounter, winner: At) -> Iterator[At]:
    """The ways of what was left where the winner, or what holds it, was taken."""
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
