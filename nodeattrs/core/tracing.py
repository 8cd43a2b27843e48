"""Walk one path through a folding: who set what stands there, and who was overridden on the way.

It reads the steps of a folding again, asks the policies that decided about each key of the
path and calls the handlers that made a value, with origins that say where in its own tree
each source has it. So it guesses nothing. It knows sources as numbers, and no dialects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nodeattrs.core.folding import NOTHING, Folding, again
from nodeattrs.core.meeting import Encounter
from nodeattrs.core.origins import At, Origins, origins_at, places, sources
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ANY, KEEP, SAID, TAKE, Line, Meet, Policy
from nodeattrs.core.tree import ABSENT, Absent, Path, dig, left_without
from nodeattrs.core.unknown import Unknown
from nodeattrs.core.walk import Overridden, Setting, Walk, whole_places
from nodeattrs.errors import MergeConflict

__all__ = ["CHANGED", "walk"]

CHANGED = Policy("a change", Line(ANY, SAID, TAKE, "somebody changed the result"))
"""Named where a step has no policy, such as a JSON patch."""


def walk(folding: Folding, path: Path, trees: Mapping[int, Any] | None = None) -> Walk:
    """Walk *path* through a folding; once more without the winner, where who is next might yield to others.

    trees: source -> its tree, for a folding that remembers numbers only; a source without one sets nothing
    cost:  the depth of the path times the number of parts that set something
    """
    found = _Walker(trees).walk(folding, path)
    if len(found.standing) != 1 or len(found.overridden) < 2 or found.overridden[0].is_surely_next:
        return found
    try:
        return found.in_line(_Walker(trees, found.standing[0]).walk(folding, path))
    except MergeConflict:
        return found


class _Here:
    """What stands at a prefix of the path.

    value, origins: a source's word, or what a handler made; ABSENT where nothing stands
    members:        what a handler made the value of; with a policy, two maps that wait to meet, or, where one
                    of them cannot be read (meets is False), would
    losses:         who was overridden here, the next in line first; whole: those of whom nothing is left
    unknown:        sources that might decide
    """

    __slots__ = (
        "from_top",
        "kind",
        "losses",
        "meets",
        "members",
        "notes",
        "origins",
        "policy",
        "rule",
        "unknown",
        "value",
        "whole",
    )

    def __init__(self, value: Any, origins: Origins, members: tuple[_Here, ...] = ()) -> None:
        self.value = value
        self.origins = origins
        self.members = members
        self.kind: type = type(value)
        self.losses: list[Overridden] = []
        self.whole: list[Overridden] = []
        self.unknown: tuple[int, ...] = ()
        self.policy: Policy | None = None
        self.from_top = False
        self.meets = True
        self.rule: tuple[Policy, Line] | None = None
        self.notes: list[Encounter] = []

    @property
    def stands(self) -> bool:
        return self.kind is not Absent

    @property
    def has_something(self) -> bool:
        return bool(self.kind is not Absent or self.losses or self.unknown)

    def all_losses(self) -> Iterator[Overridden]:
        yield from self.losses
        for member in reversed(self.members):
            yield from member.all_losses()


_Rule = tuple[Policy, Line]


class _Walker:
    """Holds the trees of the sources while one path is walked.

    Written so that a source that sets nothing costs nothing, and that one place is looked at without a call.

    taken: a setting that is taken away
    """

    def __init__(self, trees: Mapping[int, Any] | None, taken: Setting | None = None) -> None:
        self.given = trees
        self.taken = taken
        self.trees: dict[int, Any] = {}

    def walk(self, folding: Folding, path: Path) -> Walk:
        here, cover = self.laid(folding), None
        for depth, key in enumerate(path):
            if not here.has_something:
                break
            if here.stands and here.policy is None and not _may_hold(here.value, key):
                cover = path[:depth]
                break
            here = self.below(here, key, path[: depth + 1])
        at = path if cover is None else cover
        losses = list(here.all_losses())
        if here.policy is not None:
            here = self.merged(here, path)
            losses = [*here.losses, *losses]
        losses.sort(key=lambda lost: -lost.depth)  # who fell further up is hidden by the map, too
        for depth in range(len(at), len(path)):
            losses = list(_relevant(losses, path[depth], path[: depth + 1]))
        value, origins = (here.value, here.origins) if cover is None else (ABSENT, ())
        return Walk(self.standing(here, at), tuple(_once(losses)), here.unknown, value, origins, cover)

    def merged(self, waiting: _Here, path: Path) -> _Here:
        """Maps that wait, merged at the end of the path: whoever has nothing left in it is overridden."""
        part = _part(waiting)
        here = _Here(part.value, part.origins, waiting.members)
        here.unknown, here.rule = waiting.unknown, (waiting.policy, waiting.policy.line(dict, dict))  # type: ignore[union-attr, assignment]
        return self.made(here, here.members, path)

    def standing(self, here: _Here, path: Path) -> tuple[Setting, ...]:
        found: dict[tuple[int, Path], Setting] = {}
        for setting in self.settings(here, path):
            found.setdefault((setting.source, setting.own), setting)
        return tuple(sorted(found.values(), key=lambda setting: setting.source))

    # --- what stands at the root

    def laid(self, folding: Folding) -> _Here:
        here = _Here(ABSENT, ())
        if folding.start is not None:
            here = self.leaf(folding.start)
        for part, policy in folding.steps:
            if part is NOTHING:
                here = self.joined(policy, _Here(ABSENT, ()), here, (), False) if policy is not None else here
                continue
            if self.given is not None and type(part) is Part and part.origins not in self.given:
                continue
            new = self.laid(part) if isinstance(part, Folding) else self.leaf(part)
            if not new.has_something:
                continue
            here = self.laid_over(folding, here, new, policy)
        return here

    def laid_over(self, folding: Folding, here: _Here, new: _Here, policy: Policy | None) -> _Here:
        if here.stands and policy is None:
            return self.changed(here, new)
        begun = here.stands or bool(here.losses)
        if begun and new.stands:
            return self.joined(policy or CHANGED, here, new, (), folding.from_top)
        if not begun and new.stands and folding.opening is not None:
            new = self.joined(folding.opening, _Here(ABSENT, ()), new, (), False)
        return self.beside(policy or CHANGED, here, new, (), folding.from_top)

    def leaf(self, part: Part) -> _Here:
        value, origins = part.value, part.origins
        if type(value) is Unknown:
            here = _Here(ABSENT, ())
            here.unknown = sources(origins)
            return here
        if type(origins) is int:
            value = value if self.given is None else self.given[origins]
            if self.taken is not None and self.taken.source == origins:
                value = left_without(value, self.taken.own)
            self.trees[origins] = value
            origins = At(origins, ())
        return _Here(value, origins)

    def changed(self, before: _Here, after: _Here) -> _Here:
        here = _Here(after.value, after.origins, (before,))
        here.rule = (CHANGED, CHANGED.line(int, int))
        here.unknown = before.unknown
        return self.made(here, (before,), ())

    # --- two that meet

    def joined(self, policy: Policy, so_far: _Here, new: _Here, path: Path, from_top: bool) -> _Here:
        lower, upper = (new, so_far) if from_top else (so_far, new)
        if not upper.has_something:
            return lower
        if _may_meet(policy, lower, upper):
            here = self.waiting(policy.verdict(dict, dict), lower, upper, path, from_top)
        elif not upper.stands or not lower.stands:
            here = self.alone(policy, lower, upper, path)
        else:
            here = self.met(policy, lower, upper, path, from_top)
        if lower.unknown or upper.unknown:
            here = self.unread(policy, lower, upper, here, path)
        return here

    def unread(self, policy: Policy, lower: _Here, upper: _Here, here: _Here, path: Path) -> _Here:
        """What cannot be read beside a scalar that has lost to a map may be a map, too, and meet that key by key."""
        here.unknown = unknown = _unknown(policy, lower, upper)
        is_over = issubclass(upper.kind, dict)
        lost = lower if is_over else upper
        if lost.unknown and lost.stands and issubclass(here.kind, dict) and not issubclass(lost.kind, dict):
            might = _Here(ABSENT, ())
            might.unknown = lost.unknown
            here = self.beside(policy, here, might, path, is_over)
            here.unknown = unknown
        return here

    def beside(self, policy: Policy, so_far: _Here, new: _Here, path: Path, from_top: bool) -> _Here:
        """One of the two was never laid, or cannot be read: nothing meets, and no absent row is asked."""
        lower, upper = (new, so_far) if from_top else (so_far, new)
        if _may_meet(policy, lower, upper):
            here = self.waiting(policy.verdict(dict, dict), lower, upper, path, from_top)
            here.meets = False
        else:
            here = _with_losses(so_far, new) if so_far.stands else _with_losses(new, so_far)
        if lower.unknown or upper.unknown:
            here.unknown = _unknown(policy, lower, upper)
        return here

    def alone(self, policy: Policy, lower: _Here, upper: _Here, path: Path) -> _Here:
        """One of the two, or neither, stands: what meets nothing is a line of the table, too."""
        if not upper.stands:
            return _with_losses(lower, upper)
        if policy.verdict(Absent, upper.kind) is TAKE:
            return _with_losses(upper, lower)
        return self.met(policy, lower, upper, path, False)

    def met(self, policy: Policy, lower: _Here, upper: _Here, path: Path, from_top: bool) -> _Here:
        verdict = policy.verdict(lower.kind, upper.kind)
        if type(verdict) is Meet:
            return self.waiting(verdict, lower, upper, path, from_top)
        rule = policy, policy.line(lower.kind, upper.kind)
        if verdict is TAKE:
            return self.over(upper, lower, rule, path)
        if verdict is KEEP:
            return self.over(lower, upper, rule, path)
        members = tuple(member for member in (lower, upper) if member.stands)
        part, notes = again(verdict, _part(lower), _part(upper))
        if part.value is ABSENT:
            return self.gone(lower, upper, rule, path)
        here = _Here(part.value, part.origins, members)
        here.rule, here.notes = rule, notes
        here.losses = [] if lower.stands else list(lower.losses)
        return self.made(here, members, path)

    def waiting(self, verdict: Any, lower: _Here, upper: _Here, path: Path, from_top: bool) -> _Here:
        """Two maps that meet; what the lower one has overridden as a whole is hidden by the upper one, too."""
        if lower.losses:
            more = tuple(setting.source for setting in self.standing(upper, path))
            lower = _with_losses(lower, _Here(ABSENT, ()), ())
            lower.losses = [lost.also_by(more) if lost.depth == len(path) else lost for lost in lower.losses]
        here = _Here(None, None, (upper, lower) if from_top else (lower, upper))
        here.kind, here.policy, here.from_top = dict, verdict.policy, from_top
        return here

    def over(self, winner: _Here, loser: _Here, rule: _Rule, path: Path) -> _Here:
        """One side is read whole. The next in line: whom it has overridden itself, then the other side."""
        by = tuple(dict.fromkeys(setting.source for setting in self.standing(winner, path)))
        lost = [Overridden(setting, by, *rule, len(path)) for setting in reversed(self.standing(loser, path))]
        return _with_losses(winner, loser, lost)

    def gone(self, lower: _Here, upper: _Here, rule: _Rule, path: Path) -> _Here:
        here = _Here(ABSENT, ())
        by = tuple(setting.source for setting in self.standing(upper, path))
        for side, beaten_by in ((upper, ()), (lower, by)):
            here.losses += [Overridden(setting, beaten_by, *rule, len(path)) for setting in self.standing(side, path)]
            here.losses += side.all_losses()
        return here

    def made(self, here: _Here, members: Iterable[_Here], path: Path) -> _Here:
        """Whoever has nothing left in what was made is overridden."""
        assert here.rule is not None
        policy, line = here.rule
        left = sources(here.origins)
        nothing_left = replace(
            line, why=f"{line.why}, and nothing of it is left" if line.why else "nothing of it is left"
        )
        for member in members:
            for setting in self.standing(member, path):
                if setting.source not in left:
                    here.whole.append(Overridden(setting, left, policy, nothing_left, len(path)))
        here.losses += here.whole
        return here

    # --- one step down

    def below(self, here: _Here, key: Any, path: Path) -> _Here:
        if here.policy is not None:
            so_far, new = (self.below(member, key, path) for member in here.members)
            policy = here.policy if here.policy.by_key is None else here.policy.at(key)
            child = (self.joined if here.meets else self.beside)(policy, so_far, new, path, here.from_top)
            child.losses = [*child.losses, *_relevant(here.losses, key, path)]
            return child
        child = _entry_of(here, key)
        child.unknown = here.unknown
        losses = here.all_losses()
        if isinstance(here.value, dict):  # who lost a whole map has lost each entry by a rule of its own, below
            losses = (lost for lost in losses if lost not in here.whole or not isinstance(lost.setting.value, dict))
        child.losses = list(_relevant(losses, key, path))
        if here.rule is not None:
            child.rule, child.notes = here.rule, here.notes
            self.overridden_inside(here, child, key, path)
        return child

    def overridden_inside(self, made: _Here, child: _Here, key: Any, path: Path) -> None:
        """Who lost an entry of a value that a handler made: by what it noted, or as nothing of it is left there."""
        standing = {at: None for _, at in whole_places(child.origins, path)}
        known = {(lost.setting.source, lost.setting.own) for lost in child.losses}
        found = list(self.noted(made.notes, standing, path))
        if isinstance(made.value, dict):
            entries = (self.below(member, key, path) for member in made.members)
            child.members = tuple(entry for entry in entries if entry.stands)
            heirs = [one for one in child.members if any(at in standing for _, at in places(one.origins, path))]
            child.losses = [*(lost for one in heirs for lost in one.all_losses()), *child.losses]
            found += self.left_out(child, made.rule, standing, path)  # type: ignore[arg-type]
        for lost in found:
            if (lost.setting.source, lost.setting.own) not in known:
                known.add((lost.setting.source, lost.setting.own))
                child.losses.append(lost)

    def left_out(self, child: _Here, rule: _Rule, standing: Iterable[At], path: Path) -> Iterator[Overridden]:
        by = tuple(dict.fromkeys(at.source for at in standing))
        for member in child.members:
            for setting in self.settings(member, path):
                if setting.source not in by:
                    yield self.taken_away(setting, child.notes, path) or Overridden(setting, by, *rule, len(path))

    def taken_away(self, setting: Setting, notes: list[Encounter], path: Path) -> Overridden | None:
        """Who has taken it away, where a handler has noted that."""
        for note in notes:
            if note.verdict is TAKE and _rest(At(setting.source, setting.own), note.lower) is not None:
                line = note.policy.line(type(note.lower.value), type(note.upper.value))
                return Overridden(setting, sources(note.upper.origins), note.policy, line, len(path))
        return None

    def noted(self, notes: list[Encounter], standing: Iterable[At], path: Path) -> Iterator[Overridden]:
        """Whom those that stand have overridden where a handler let parts meet, and whom those had, and so on."""
        waiting, seen = list(standing), set(standing)
        while waiting:
            winner = waiting.pop(0)
            for note in notes:
                line = note.policy.line(type(note.lower.value), type(note.upper.value))
                for taken, left in _sides(note):
                    rest = _rest(winner, taken)
                    if rest is None or left.value is ABSENT:
                        continue
                    for setting in self.parts_of(left, rest, path):
                        at = At(setting.source, setting.own)
                        if at not in seen:
                            seen.add(at)
                            waiting.append(at)
                            yield Overridden(setting, (winner.source,), note.policy, line, len(path))

    def parts_of(self, part: Part, rest: Path, path: Path) -> Iterator[Setting]:
        value, origins = part.value, part.origins
        for depth, step in enumerate(rest, len(path) - len(rest)):
            if not isinstance(value, (dict, list)):
                path = path[:depth]
                break
            value, origins = dig(value, (step,)), origins_at(origins, step)
        if value is not ABSENT:
            for _, at in whole_places(origins, path):
                yield Setting(at.source, path, self.own(at, value), at.path)

    # --- who sets what

    def settings(self, here: _Here, path: Path) -> Iterator[Setting]:
        """What each source sets of what stands here, as the source has it itself."""
        if not here.stands:
            return
        left = None if here.rule is None else sources(here.origins)
        if here.members:
            for member in here.members:
                for setting in self.settings(member, path):
                    if left is None or setting.source in left:
                        yield setting
            return
        found = [here.origins] if type(here.origins) is At else [at for _, at in whole_places(here.origins, path)]
        for at in found:
            if at.source:
                yield Setting(at.source, path, self.own(at, here.value), at.path)

    def own(self, at: At, otherwise: Any) -> Any:
        value: Any = self.trees.get(at.source, ABSENT)
        for step in at.path:
            value = value.get(step, ABSENT) if isinstance(value, dict) else dig(value, (step,))
        return otherwise if value is ABSENT else value


def _may_hold(value: Any, key: Any) -> bool:
    return isinstance(value, dict) or (type(key) is int and isinstance(value, (list, tuple)))


def _part(here: _Here) -> Part:
    """What stands here for a handler: maps that wait are merged now, since it may look at all of them."""
    if here.policy is None:
        return Part(here.value, here.origins)
    so_far, new = (_part(member) for member in here.members)
    if so_far.value is ABSENT or new.value is ABSENT:
        return new if so_far.value is ABSENT else so_far
    lower, upper = (new, so_far) if here.from_top else (so_far, new)
    return again(Meet(here.policy), lower, upper)[0]


def _with_losses(winner: _Here, other: _Here, lost: Sequence[Overridden] = ()) -> _Here:
    if not lost and not other.has_something and not winner.losses:
        return winner
    here = _Here(winner.value, winner.origins, winner.members)
    here.kind, here.policy, here.from_top, here.meets = winner.kind, winner.policy, winner.from_top, winner.meets
    here.rule, here.notes, here.unknown, here.whole = winner.rule, winner.notes, winner.unknown, winner.whole
    here.losses = [*winner.losses, *lost, *other.all_losses()]
    return here


def _unknown(policy: Policy, lower: _Here, upper: _Here) -> tuple[int, ...]:
    """The unknown sources of both sides that might still decide what stands here."""
    below = lower.unknown if not upper.stands or policy.shines_through(upper.kind) else ()
    above = upper.unknown if not lower.stands or policy.may_change(lower.kind) else ()
    return tuple(dict.fromkeys((*below, *above)))


def _may_meet(policy: Policy, lower: _Here, upper: _Here) -> bool:
    """Whether one side is a map and the other one unknown: it may be a map, too, and meet it key by key."""
    if not lower.unknown and not upper.unknown:
        return False
    known, other = (lower, upper) if lower.stands else (upper, lower)
    if not other.unknown or other.stands or not issubclass(known.kind, dict):
        return False
    return type(policy.verdict(dict, dict)) is Meet


def _entry_of(member: _Here, key: Any) -> _Here:
    holder, origins = member.value, member.origins
    if isinstance(holder, dict) and member.policy is None:
        value = holder.get(key, ABSENT)
    else:
        value = ABSENT if member.policy is not None else dig(holder, (key,))
    if value is ABSENT:
        return _Here(ABSENT, ())
    return _Here(value, At(origins.source, (*origins.path, key)) if type(origins) is At else origins_at(origins, key))


def _sides(note: Encounter) -> Iterator[tuple[Part, Part]]:
    """Who was taken and who was left; a handler has taken both."""
    if note.verdict is TAKE:
        yield note.upper, note.lower
    elif note.verdict is KEEP:
        yield note.lower, note.upper


def _rest(at: At, part: Part) -> Path | None:
    """The way from a part to a place inside of it; None where it is not inside."""
    for _, whole in whole_places(part.origins, ()):
        if whole.source == at.source and at.path[: len(whole.path)] == whole.path:
            return at.path[len(whole.path) :]
    return None


def _relevant(losses: Iterable[Overridden], key: Any, path: Path) -> Iterator[Overridden]:
    """What the overridden ones say one step down; what covers the whole path is kept as it is."""
    for lost in losses:
        setting = lost.setting
        if len(setting.path) < len(path) - 1:
            yield lost
            continue
        held = setting.value
        value = held.get(key, ABSENT) if isinstance(held, dict) else dig(held, (key,))
        if value is not ABSENT:
            yield replace(lost, setting=Setting(setting.source, path, value, (*setting.own, key)))
        elif not isinstance(setting.value, dict):
            yield lost


def _once(losses: Iterable[Overridden]) -> Iterator[Overridden]:
    seen: set[tuple[int, Path]] = set()
    for lost in losses:
        key = lost.setting.source, lost.setting.own
        if lost.setting.source and key not in seen:
            seen.add(key)
            yield lost
