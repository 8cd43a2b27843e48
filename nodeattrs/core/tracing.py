"""Walk one path through a folding: who set what stands there, and who was overridden on the way.

It reads the steps of a folding again and asks the policies that decided about each key of the
path. Below a value that a handler or a change has made it goes on where each part of it has
stood before (`core.made`). So it guesses nothing. It knows sources as numbers, and no dialects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from nodeattrs.core.folding import NOTHING, Folding, Step, again_in_turn
from nodeattrs.core.made import LOWER, UPPER, Joined, Joining, Made, MadeOf
from nodeattrs.core.next_in_line import Along, left_of, next_first, outwards, with_holders
from nodeattrs.core.origins import At, Origins, origins_at, pieces, sources, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.policy import DROP, KEEP, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import ABSENT, Absent, Path, dig, flat
from nodeattrs.core.unknown import Unknown, may_decide, may_meet
from nodeattrs.core.walk import Later, Loss, Overridden, Rule, Setting, Waiting, Walk, each_once, relevant


def walk(folding: Folding, path: Path, trees: Mapping[int, Any] | None = None, along: Along | None = outwards) -> Walk:
    """Walk *path* through a folding.

    trees: source -> its tree, for a folding that remembers numbers only; a source without one sets nothing
    along: what may go with a place once the line goes that set it: the place, then what holds it; None: no one is next
    cost:  the depth of the path times the number of parts that set something
    """
    again = lambda gone: _Walker(trees, path, gone).walk(folding, path)  # noqa: E731
    found = (walker := _Walker(trees, path)).walk(folding, path)
    if along is None:
        return found
    winners = {one.source for one in found.standing}
    waiting = [lost for lost in found.overridden if winners.issuperset(lost.by)]
    if len(waiting) < len(found.overridden):
        found = with_holders(found, walker.own, again)
    # If the winner has replaced one setting, at the path itself, that is the next one. Else another walk finds it.
    replaced = all(lost.line.rule is TAKE and lost.setting.path == path and not lost.further_up for lost in waiting)
    if replaced and len(waiting) < 2 and not walker.has_made:
        return found
    return next_first(found, path, walker.own, again, along)


_NONE: list[Any] = []
_new: Any = tuple.__new__  # of a named tuple, without a frame of its own


class _Here:
    """What stands at a prefix of the path.

    value, origins: a source's word, or what was made; ABSENT where nothing stands, None where maps wait
    kind, tail: the type of the value; of maps that wait to meet, in the order in which they were laid, the last one
    base, before, merged: the first; the place with all but the last; what they come to, once somebody has asked
    source, rest, ways: what the value, or its holder, was made of; the steps from there; where this has stood before
    losses:  who was overridden here, the next in line first; earlier: who was so in what it was made of
    unknown, joining: sources that might decide; lists that are joined when somebody looks at what they come to
    """

    value: Any = None  # as of maps that wait
    origins: Origins = None
    kind: type
    tail: Waiting | None = None
    base: _Here
    before: _Here | None = None
    merged: Part | None = None
    joining: Joining | None = None
    source: MadeOf | None = None
    rest: Path = ()
    ways: Origins = ()
    losses: list[Any] = _NONE  # with lists in it that nobody copies, see `flat`; never changed in place
    earlier: list[Later] = _NONE
    unknown: tuple[int, ...] = ()

    def __init__(self, value: Any, origins: Origins) -> None:
        self.value, self.origins, self.kind = value, origins, type(value)

    @property
    def row(self) -> tuple[Waiting, ...]:
        """Maps that wait. Each place keeps the last one alone: there may be as many places as maps."""
        found: list[Waiting] = []
        here: _Here | None = self
        while here is not None and here.tail is not None:
            found.append(here.tail)
            here = here.before
        return (Waiting(self.base, found[-1].policy, False, True), *reversed(found)) if found else ()

    @property
    def stands(self) -> bool:
        return self.kind is not Absent

    @property
    def has_something(self) -> bool:
        return self.kind is not Absent or bool(self.losses or self.earlier or self.unknown)

    def covers(self, key: Any, is_lost: bool) -> bool:
        """Whether nothing can lie below at a key: a scalar has none, a list no names; what is lost stays whole."""
        if not self.stands or issubclass(self.kind, dict):
            is_element = is_lost and self.stands and type(key) is int
            return is_element and not any(type(one) is int for one in self.value or ())
        has_elements = isinstance(self.value, (list, tuple)) and type(key) is int
        return not has_elements or (is_lost and dig(self.value, (key,)) is ABSENT)

    def with_losses(self, losses: Iterable[Loss], unknown: tuple[int, ...] = ()) -> _Here:
        """The same, with further losses."""
        more = list(losses)
        if not more and not unknown:
            return self
        here = _Here(self.value, self.origins)
        vars(here).update(vars(self))
        here.losses = [self.losses, *more] if self.losses else more
        here.unknown = tuple(dict.fromkeys((*self.unknown, *unknown)))
        return here

    def all_losses(self) -> Iterator[Loss]:
        """Its own, and those of all that it was made of, the last one's first."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield from flat(here.losses) if here.losses else ()
            yield from here.earlier
            waiting += [one.here for one in here.row]
            if here.source is not None and not here.rest:
                waiting += here.source.members.values()


class _Lists(_Here):
    """Lists that are joined when somebody looks at one of these."""

    value, origins, source, ways, losses = (Joined() for _ in range(5))

    def __init__(self, joining: Joining) -> None:
        self.kind, self.joining = list, joining


class _Walker:
    """Holds the trees of the sources while one path is walked. gone: places that are taken to be empty"""

    def __init__(self, trees: Mapping[int, Any] | None, path: Path, gone: Iterable[At] = ()) -> None:
        self.given, self.path = trees, path
        self.trees: dict[int, Any] = {}
        self.gone: dict[int, list[At]] = {}
        for place in gone:
            self.gone.setdefault(place.source, []).append(place)
        self.has_made = False

    def walk(self, folding: Folding, path: Path) -> Walk:
        here, at, losses = self.found(self.laid(folding), path, path, False)
        cover = at if at != path and here.stands else None
        value, origins = (here.value, here.origins) if cover is None else (ABSENT, ())
        return Walk(self.standing(here, at), each_once(self.looked_up(losses)), here.unknown, value, origins, cover)

    def found(self, here: _Here, keys: Path, path: Path, is_lost: bool) -> tuple[_Here, Path, list[Loss]]:
        """What stands some steps down, or in the way of that; at which path; and who was overridden there."""
        here, depth = self.reached(here, keys, path, is_lost)
        here = self.settled(here, at := _label(keys, depth, path))
        losses = list(here.all_losses())
        for deeper in range(depth, len(keys)):
            losses = relevant(losses, keys[deeper], _label(keys, deeper + 1, path), object)
        return here, at, losses

    def reached(self, here: _Here, keys: Path, path: Path, is_lost: bool = False) -> tuple[_Here, int]:
        """Some steps down, and how many: no further than to what stands in the way."""
        for depth, key in enumerate(keys):
            if here.covers(key, is_lost):
                return here, depth
            if here.has_something:
                here = self.below(here, key, _label(keys, depth + 1, path))
        return here, len(keys)

    def looked_up(self, losses: Iterable[Loss]) -> Iterator[Overridden]:
        """The losses; not by recursion, since there may be as many as parts, and each place once."""
        waiting = [*losses][::-1]
        seen: dict[Any, Later] = {}
        while waiting:
            one = waiting.pop()
            if isinstance(one, Overridden):
                yield one
            elif seen.setdefault((id(one.here), one.keys, one.rule is None), one) is one:
                here, at, found = self.found(one.here, one.keys, one.path, one.rule is not None)
                if one.rule is not None:
                    yield from (_lost(setting, one.by, one.rule) for setting in reversed(self.standing(here, at)))
                waiting += found[::-1]

    def laid(self, folding: Folding) -> _Here:
        here = _Here(ABSENT, ()) if folding.start is None else self.leaf(folding.start)
        begun = here.stands
        for step in folding.steps:
            here = self.step(folding, step, here, begun)
            begun = begun or here.kind is not Absent
        return here

    def step(self, folding: Folding, step: Step, here: _Here, begun: bool) -> _Here:
        part = step.part
        if step.policy is None:
            return self.changed(here, step)
        if part is NOTHING:
            return self.joined(step.policy, _Here(ABSENT, ()), here, ())
        if self.given is not None and type(part) is Part and part.origins not in self.given:
            return here
        new = self.laid(part) if isinstance(part, Folding) else self.leaf(part)
        if new.kind is Absent and not new.has_something:
            return here
        if new.kind is not Absent and begun:
            return self.joined(step.policy, here, new, (), folding.from_top)
        if new.stands and folding.opening is not None:
            new = self.joined(folding.opening, _Here(ABSENT, ()), new, ())
        return self.beside(step.policy, here, new, (), folding.from_top)

    def leaf(self, part: Part) -> _Here:
        value, origins = part.value, part.origins
        if type(value) is Unknown:
            return _Here(ABSENT, ()).with_losses((), sources(origins) if value.may_set(self.path) else ())
        if type(origins) is int:
            value = self.trees[origins] = value if self.given is None else self.given[origins]
            origins = _new(At, (origins, ()))
        return _Here(left_of(value, origins, self.gone) if self.gone else value, origins)

    def changed(self, before: _Here, step: Step) -> _Here:
        """What a change makes of the result; nothing, where all that it sets is gone."""
        laid = step.part
        assert isinstance(laid, Part)
        if type(laid.origins) is At:
            self.trees[laid.origins.source] = laid.value
        left = left_of(laid.value, laid.origins, self.gone)
        if left is ABSENT and laid.value is not ABSENT:
            return before
        made, rule = Made.changed(step, self.part(before), Part(left, laid.origins))
        members = {LOWER: before, UPPER: _Here(ABSENT, ())}
        return self.made(MadeOf(members, made, rule), ()).with_losses((), before.unknown)

    # --- two that meet

    def joined(self, policy: Policy, so_far: _Here, new: _Here, path: Path, from_top: bool = False) -> _Here:
        lower, upper = (new, so_far) if from_top else (so_far, new)
        stands = upper.kind is not Absent
        if stands and lower.kind is not Absent and not lower.unknown and not upper.unknown:
            verdict = policy.cells.get((lower.kind, upper.kind))
            is_row = type(verdict) is Meet  # as nearly everywhere: `met` would do the same
            return (
                self.waiting(verdict, so_far, new, from_top)
                if is_row
                else self.met(policy, lower, upper, path, from_top)
            )
        if not stands and not upper.has_something:
            return lower
        is_taken = not stands or policy.verdict(Absent, upper.kind) is TAKE
        if is_taken and not lower.has_something:
            return upper
        if (lower.unknown or upper.unknown) and may_meet(policy, lower, upper):
            here = self.waiting(policy.verdict(dict, dict), so_far, new, from_top)
        elif not stands:
            here = lower.with_losses(upper.all_losses())
        elif is_taken and not lower.stands:
            here = upper.with_losses(lower.all_losses())
        else:
            here = self.met(policy, lower, upper, path, from_top)
        return self.unread(policy, lower, upper, here, path) if lower.unknown or upper.unknown else here

    def unread(self, policy: Policy, lower: _Here, upper: _Here, here: _Here, path: Path) -> _Here:
        """What cannot be read beside a scalar that has lost to a map may be a map, too, and meet that key by key."""
        here.unknown = unknown = may_decide(policy, lower, upper)
        is_over = issubclass(upper.kind, dict)
        lost = lower if is_over else upper
        if lost.unknown and lost.stands and issubclass(here.kind, dict) and not issubclass(lost.kind, dict):
            here = self.beside(policy, here, _Here(ABSENT, ()).with_losses((), lost.unknown), path, is_over)
            here.unknown = unknown
        return here

    def beside(self, policy: Policy, so_far: _Here, new: _Here, path: Path, from_top: bool) -> _Here:
        """One of the two was never laid, or cannot be read: nothing meets, and no absent row is asked."""
        lower, upper = (new, so_far) if from_top else (so_far, new)
        doubtful = bool(lower.unknown or upper.unknown)
        if doubtful and may_meet(policy, lower, upper):
            here = self.waiting(policy.verdict(dict, dict), so_far, new, from_top, meets=False)
        else:
            here = so_far.with_losses(new.all_losses()) if so_far.stands else new.with_losses(so_far.all_losses())
        if doubtful:
            here.unknown = may_decide(policy, lower, upper)
        return here

    def met(self, policy: Policy, lower: _Here, upper: _Here, path: Path, from_top: bool) -> _Here:
        """What stands where two meet, or where the upper one meets nothing: that is a line of the table, too."""
        verdict = policy.verdict(lower.kind, upper.kind)
        if type(verdict) is Meet:
            return self.waiting(verdict, *((upper, lower) if from_top else (lower, upper)), from_top)
        rule = policy, policy.line(lower.kind, upper.kind)
        if verdict is TAKE or verdict is KEEP:
            return self.over(*((upper, lower) if verdict is TAKE else (lower, upper)), rule, path)
        if verdict is DROP:
            return self.gone_both(lower, upper, rule, path)
        if verdict.regroups and lower.kind is upper.kind is list:
            return self.joining(Joining.of(verdict, lower, upper, rule, from_top), path)
        made = Made(self.part(lower), self.part(upper)).by(verdict)
        if made.part.value is ABSENT:
            return self.gone_both(lower, upper, rule, path)
        return self.made(MadeOf({LOWER: lower, UPPER: upper}, made, rule), path)

    def waiting(self, verdict: Any, so_far: _Here, new: _Here, from_top: bool, meets: bool = True) -> _Here:
        here = _Here.__new__(_Here)
        here.tail, here.before = _new(Waiting, (new, verdict.policy, from_top, meets)), so_far
        here.base, here.losses = (so_far, _NONE) if so_far.tail is None else (so_far.base, so_far.losses)
        here.kind = dict
        return here

    def settled(self, here: _Here, path: Path) -> _Here:
        """Maps that wait merged, where nobody goes further down: whoever has nothing left in them is overridden."""
        if here.tail is None:
            return here
        part = self.part(here)
        losses = [*self.left_nothing(here, path), *here.all_losses()]
        return _Here(part.value, part.origins).with_losses(losses, here.unknown)

    def left_nothing(self, here: _Here, path: Path) -> Iterator[Overridden]:
        """Those of whom nothing is left in maps that wait."""
        if here.tail is not None:
            by, rule = sources(self.part(here).origins), (here.tail.policy, here.tail.policy.line(dict, dict))
            known = frozenset(by)
            for one in here.row:
                yield from self.nothing_left(self.part(one.here), by, rule, path, known)
                yield from self.left_nothing(one.here, path)

    def over(self, winner: _Here, loser: _Here, rule: Rule, path: Path) -> _Here:
        """One side is read whole. The next in line: whom it has overridden itself, then the other side."""
        by = () if _is_from_the_start(winner) else self.numbers(winner)
        return winner.with_losses(self.lost(loser, by, rule, path))

    def gone_both(self, lower: _Here, upper: _Here, rule: Rule, path: Path) -> _Here:
        """Nothing is left of either side: each is not read because of the other."""
        below, above = self.numbers(lower), self.numbers(upper)
        return _Here(ABSENT, ()).with_losses(
            [*self.lost(upper, below, rule, path), *self.lost(lower, above, rule, path)]
        )

    def lost(self, here: _Here, by: tuple[int, ...], rule: Rule, path: Path) -> Iterator[Any]:
        """Whoever stands here was overridden, and whom those had overridden before."""
        if here.tail is not None or here.source is not None:
            yield Later(here, (), path, by, rule)
            return
        yield from (_lost(setting, by, rule) for setting in reversed(self.standing(here, path)))
        if here.losses:
            yield here.losses

    def made(self, source: MadeOf, path: Path) -> _Here:
        """What a handler or a change has made; whoever has nothing left in it is overridden."""
        made = source.made
        here = _Here(made.part.value, made.part.origins)
        here.source, here.ways = source, made.ways.origins
        self.has_made = True
        for side, part in made.inputs.items():
            nothing = self.nothing_left(part, sources(made.part.origins), source.rule, path)
            here.losses = [*here.losses, *nothing, *self.left_nothing(source.members[side], path)]
        return here

    def joining(self, joining: Joining, path: Path) -> _Here:
        """Lists that are joined when somebody looks: what they come to is not there until then."""
        self.has_made = True
        joining.part_of, joining.nothing_left = self.part, partial(self.nothing_left, rule=joining.rule, path=path)
        return _Lists(joining)

    def nothing_left(self, part: Part, by: Any, rule: Rule, path: Path, known: Any = ()) -> Iterator[Overridden]:
        """Those who have set a part of which nothing is in what those have set that override it."""
        policy, line = rule
        why = f"{line.why}, and nothing of it is left" if line.why else "nothing of it is left"
        for setting in self.settings(part, path):
            if setting.source not in (known or by):
                yield _lost(setting, by, (policy, Line(line.lower, line.upper, line.rule, why)))._replace(in_sum=True)

    # --- one step down

    def below(self, here: _Here, key: Any, path: Path) -> _Here:
        """One step down; through what was made, on to where it stood before."""
        if here.source is None and not here.losses:  # as nearly everywhere
            return self.entry(here, key) if here.tail is None else self.row_entry(here, key, path)
        passed: list[Any] = []
        unknown: tuple[int, ...] = ()
        while here.source is not None:
            child, way = self.made_entry(here, here.source, key, path)
            if way is None:
                return child.with_losses(passed, unknown)
            passed = [*child.losses, *passed]
            unknown = (*unknown, *child.unknown)
            here = here.source.members[way.source]
            if not way.path:
                return here.with_losses(passed, unknown)
            here, _ = self.reached(here, way.path[:-1], path[:-1])
            key = way.path[-1]
        child = self.entry(here, key) if here.tail is None else self.row_entry(here, key, path)
        passed = [*relevant(here.losses, key, path, here.kind), *passed] if here.losses else passed
        return child.with_losses(passed, unknown) if passed or unknown else child

    def entry(self, here: _Here, key: Any) -> _Here:
        holder, origins = here.value, here.origins
        value = holder.get(key, ABSENT) if isinstance(holder, dict) else dig(holder, (key,))
        if value is ABSENT:
            return _Here(ABSENT, ()).with_losses((), here.unknown) if here.unknown else _Here(ABSENT, ())
        at = _new(At, (origins[0], (*origins[1], key))) if type(origins) is At else origins_at(origins, key)
        return _Here(value, at).with_losses((), here.unknown) if here.unknown else _Here(value, at)

    def row_entry(self, here: _Here, key: Any, path: Path) -> _Here:
        first, *others = here.row
        so_far = self.below(first.here, key, path)
        for one in others:
            policy = one.policy if one.policy.by_key is None else one.policy.at(key)
            meeting, there = self.joined if one.meets else self.beside, one.here
            is_plain = not (there.tail or there.losses or there.source)
            child = self.entry(there, key) if is_plain else self.below(there, key, path)
            so_far = meeting(policy, so_far, child, path, one.from_top)
        return so_far

    def made_entry(self, here: _Here, source: MadeOf, key: Any, path: Path) -> tuple[_Here, At | None]:
        """An entry of what was made, and where it was taken from if it was taken as it is."""
        child = self.entry(here, key)
        child.source, child.rest = source, (*here.rest, key)
        child.ways = origins_at(here.ways, key) if child.stands else ()
        ways = list(wholes(child.ways, ()))
        only = source.made.only_way(child.ways, child.value)
        earlier = [Later(member, way.path, path) for member, way in source.past(ways, child.rest) if way != only]
        child.losses = [*self.noted(source, ways, path), *self.left_out(source, child, path)]
        # Of what goes on in the same value, the earlier ones are found again one step down.
        child.earlier, passed = (earlier, []) if only is None else ([], earlier)
        child.losses += [*passed, *relevant(here.losses, key, path, here.kind)]
        for other in source.others(only) if not here.rest else ():
            child.losses += [lost for lost in relevant(other.all_losses(), key, path, here.kind) if lost.covers(path)]
        return child, only

    def noted(self, source: MadeOf, ways: list[At], path: Path) -> Iterator[Loss]:
        """Those that were overridden where a handler let parts meet."""
        for way, winner, note in source.made.overridden(ways):
            by = sources(source.made.input_at(winner).origins)
            yield from (_lost(setting, by, note.rule) for setting in self.settings(source.made.input_at(way), path))
            yield Later(source.members[way.source], way.path, path)

    def left_out(self, source: MadeOf, child: _Here, path: Path) -> Iterator[Loss]:
        """Those of whom nothing is left in what was made, though one of the two has them below the same steps."""
        settings = lambda part, depth: self.settings(part, _label(child.rest, depth, path))  # noqa: E731
        return (_lost(*one) for one in source.left_out(child.rest, sources(child.origins), child.stands, settings))

    # --- who sets what

    def standing(self, here: _Here, path: Path) -> tuple[Setting, ...]:
        """The settings of what stands here, in the order of their sources."""
        return tuple(
            sorted(self.settings(here if here.tail is None else self.part(here), path), key=lambda one: one.source)
        )

    def settings(self, part: Part | _Here, path: Path) -> Iterator[Setting]:
        """What each source sets of a part, as the source has it itself."""
        if part.value is ABSENT:
            return
        found = ((path, part.origins),) if type(part.origins) is At else pieces(part.origins, path)
        own = ((now, at, self.own(at, dig(part.value, now[len(path) :]))) for now, at in found if at.source)
        yield from (Setting(at.source, now, value, at.path) for now, at, value in own)

    def own(self, at: At, otherwise: Any) -> Any:
        value: Any = self.trees.get(at.source, ABSENT)
        for step in at.path:
            value = value.get(step, ABSENT) if isinstance(value, dict) else dig(value, (step,))
        return otherwise if value is ABSENT else value

    def numbers(self, here: _Here) -> tuple[int, ...]:
        """The sources of what stands here."""
        return (here.origins.source,) if type(here.origins) is At else sources(self.part(here).origins)

    def part(self, here: _Here) -> Part:
        """What stands here; maps that wait are merged."""
        ahead: list[_Here] = []
        while here.before is not None and here.merged is None:
            ahead.append(here)
            here = here.before
        known = here.merged or Part(here.value, here.origins)
        if ahead:
            row: list[Any] = [one.tail for one in reversed(ahead)]
            known = ahead[0].merged = again_in_turn(
                known, [(self.part(one.here), one.policy, one.from_top) for one in row]
            )
        return known


def _is_from_the_start(here: _Here) -> bool:
    """Whether a value would stand there without any source: what lay there before the first part is in it."""
    while not here.rest:
        if here.tail is not None:
            here = here.base
        elif here.source is not None:
            here = here.source.members[LOWER]
        else:
            break
    return here.origins == 0 or (type(here.origins) is At and here.origins.source == 0)


def _lost(setting: Setting, by: tuple[int, ...], rule: Rule) -> Overridden:
    """What lost to nobody, or to what was there before all sources, was overridden by itself."""
    return Overridden(setting, by or (setting.source,), *rule)


def _label(keys: Path, depth: int, path: Path) -> Path:
    """The path in the merged tree after so many of some steps that end at *path*; elements may come from elsewhere."""
    return path[: max(0, len(path) - len(keys) + depth)]
