"""What a walk along one path finds, as data: settings that stand, that were overridden, that are unknown.

Made by `core.tracing`, read by `core.trace`; it knows sources as numbers. Below the data stands who would be read
without one or the other, which is asked by walking again without what that one sets. Where each source replaces the
one before it, a walk knows the next in line already. Where a policy depends on what it meets, or changes from step to
step, another walk has to find out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from nodeattrs.core.origins import At, Origins, origins_at, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig, flat, left_without
from nodeattrs.errors import NodeattrsError

Rule = tuple[Policy, Line]
"""A policy, and the line of it that decided."""


class Setting(NamedTuple):
    """What one source sets at a path.

    path: in the merged tree
    own:  in the source's own tree: elements of united lists stand at other places there
    """

    source: int
    path: Path
    value: Any
    own: Path = ()


class Overridden(NamedTuple):
    """A setting that something else replaced, hid or removed.

    by:           the sources that did; itself, where it would be overridden without all others, too
    policy, line: what decided
    further_up:   whether it fell as a part of a map that did
    in_sum:       whether only the sum is known: nothing is left of it, whatever became of each part
    """

    setting: Setting
    by: tuple[int, ...]
    policy: Policy
    line: Line
    further_up: bool = False
    in_sum: bool = False

    @property
    def place(self) -> At:
        """Where its source has it."""
        return At(self.setting.source, self.setting.own)

    def covers(self, path: Path) -> bool:
        """Whether it stood above a path, where that could not lie below it."""
        return len(self.setting.path) < len(path)

    def below(self, key: Any, path: Path, is_index: bool) -> Overridden | None:
        """What it says one step down, at *path*; what covers the whole path, or lies deeper, stays as it is.

        So does a map without the key that is an element: it would stand there whole.

        is_index: whether the key is that of an element: a map has none, and stands in the way of it
        """
        setting = self.setting
        if len(setting.path) >= len(path):
            return self if setting.path[: len(path)] == path else None
        if len(setting.path) < len(path) - 1:
            return self
        value = ABSENT if is_index and isinstance(setting.value, dict) else dig(setting.value, (key,))
        if value is ABSENT:
            is_element = any(type(step) is int for step in setting.own)
            return None if isinstance(setting.value, dict) and not (is_index or is_element) else self
        return self._replace(setting=Setting(setting.source, path, value, (*setting.own, key)), further_up=True)


class PendingLosses(NamedTuple):
    """Who was overridden some steps below what a walk came by: looked up when somebody asks for them.

    here:     a place of that walk
    keys:     the steps from there, and the path in the merged tree where they end
    by, rule: whoever stands there was overridden by these, too
    """

    here: Any
    keys: Path
    path: Path
    by: tuple[int, ...] = ()
    rule: Rule | None = None

    def covers(self, path: Path) -> bool:
        """Nobody knows yet."""
        return False

    def below(self, key: Any, path: Path, is_index: bool) -> PendingLosses:
        """The same one step down, at *path*."""
        return self._replace(keys=(*self.keys, key), path=path)


Loss = Overridden | PendingLosses


def losses_below(losses: Iterable[Any], key: Any, path: Path, of: type) -> list[Loss]:
    """What the overridden ones say one step down; *of* is the type of what is read there: numbers may be names."""
    is_index = type(key) is int and not issubclass(of, dict)
    return [found for lost in flat(losses) if (found := lost.below(key, path, is_index)) is not None]


def without_repeats(losses: Iterable[Overridden]) -> tuple[Overridden, ...]:
    """Each place once."""
    once: dict[Any, Overridden] = {}  # who overrode each part says more than the sum
    for lost in losses:
        if once.setdefault(key := (lost.setting.source, lost.setting.own), lost).in_sum and not lost.in_sum:
            once[key] = lost
    return tuple([lost for lost in once.values() if lost.setting.source])


class Walk(NamedTuple):
    """What a walk along one path found.

    standing:   the settings that are read, in the order of their numbers
    overridden: the others; the one that would be read without the winner comes first
    unknown:    the sources that might decide and cannot be read
    value:      what is read; ABSENT where nothing is, or something stands in the way
    origins:    where each source has it
    cover:      the path of the scalar or list that stands in the way, if one does
    holding:    who sets nothing at the path, and keeps a map above it, over what would stand in the way
    """

    standing: tuple[Setting, ...]
    overridden: tuple[Overridden, ...]
    unknown: tuple[int, ...]
    value: Any
    origins: Origins
    cover: Path | None
    holding: tuple[Setting, ...] = ()

    @property
    def part(self) -> Part:
        """What is read, with its origins."""
        return Part(self.value, self.origins)

    def elements(self, value: Any) -> Iterator[tuple[Any, tuple[At, ...]]]:
        """Each element of the list that is read, and where its sources have it."""
        for index, entry in enumerate(value):
            yield entry, tuple(wholes(origins_at(self.origins, index), ()))


# --- who would be read without the winner

Along = Callable[[At], Iterable[At]]
"""What may go with a place: itself, then what holds it, outwards."""

_IN_THE_WAY = Policy("what lies beside", Line(ANY, PRESENT, TAKE, "it would stand in the way"))
"""Named where a map that has nothing at the path would be a list or text without the winner's."""


def with_holding_maps(found: Walk, own: Callable[[At, Any], Any], again: Callable[[set[At]], Walk]) -> Walk:
    """The same, with those who have nothing at the path, but without whose maps something else would be read there.

    own:   what a source has at a place, or something else where it has nothing
    again: walks without some places
    cost:  one walk for each such map that has overridden something; of many, some for each that matters
    """
    holding = tuple(_that_matter(found, again, list(_maps_over_others(found, own))))
    return found._replace(holding=holding) if holding else found


_MANY = 8
"""Of so many maps it is asked first whether something else would be read without all of them."""


def _that_matter(found: Walk, again: Callable[[set[At]], Walk], maps: list[Setting]) -> Iterator[Setting]:
    """Those of some maps without which, alone, something else would be read."""
    if len(maps) > _MANY:
        half = len(maps) // 2
        if _matters(found, again, maps):
            yield from _that_matter(found, again, maps[:half])
            yield from _that_matter(found, again, maps[half:])
    else:
        yield from (one for one in maps if _matters(found, again, [one]))


def _maps_over_others(found: Walk, own: Callable[[At, Any], Any]) -> Iterator[Setting]:
    named = {one.source for one in (*found.standing, *(lost.setting for lost in found.overridden))}
    for lost in found.overridden:
        for source in lost.by:
            if source not in named:
                named.add(source)
                path = lost.setting.path
                above = (path[:depth] for depth in range(len(path), 0, -1)) if path else ((),)
                maps = ((at, value) for at in above if isinstance(value := own(At(source, at), ABSENT), dict))
                yield from (Setting(source, at, value, at) for at, value in islice(maps, 1))


def _matters(found: Walk, again: Callable[[set[At]], Walk], gone: list[Setting]) -> bool:
    try:
        others = again({At(one.source, one.own) for one in gone})
    except NodeattrsError:
        return len(gone) > 1  # without all of them the others cannot be merged; without one of them they may
    return others.cover != found.cover or others.standing != found.standing


def with_next_first(
    found: Walk, path: Path, own: Callable[[At, Any], Any], again: Callable[[set[At]], Walk], along: Along
) -> Walk:
    """The same, whoever is read without the winners first.

    Without the winners' own settings, else without what holds these. Where nobody is, all that the
    winners alone have overridden is overridden by others, too; or by maps of theirs that stay.

    own:   what a source has at a place, or something else where it has nothing
    again: walks without some places
    cost:  at most one walk for each step of the path
    """
    winners = {At(setting.source, setting.own) for setting in found.standing}
    overridden, others = found, None
    for gone in map(set, zip(*map(along, winners), strict=False) if found.overridden else ()):
        try:
            others = again(gone)
        except NodeattrsError:
            continue  # without them the others cannot be merged
        coming = {At(one.source, one.own) for one in others.standing} - winners
        if any(lost.place in coming for lost in found.overridden):
            return _with_first(found, coming)
        if coming and others.cover is not None and not any(type(step) is int for step in path):
            return _with_others(found, others, coming)
        overridden = _overridden_too(overridden, others)
        if others.standing:
            return overridden
    if others is None:
        return overridden

    def left(at: At, otherwise: Any) -> Any:
        is_gone = any(at.source == one.source and at.path[: len(one.path)] == one.path for one in gone)
        return otherwise if is_gone else own(at, otherwise)

    return _with_what_stays(overridden, others, left, lambda more: again(gone | more))


def outwards(at: At) -> Iterator[At]:
    """A place, and all that holds it."""
    return (At(at.source, at.path[:depth]) for depth in range(len(at.path), -1, -1))


def without_places(value: Any, origins: Origins, gone: Mapping[int, Iterable[At]]) -> Any:
    """What is left of what a source says, without some places; ABSENT without all of it.

    origins: where the source has it
    gone:    the places of each source
    """
    for place in sorted(gone.get(origins.source, ()), key=_from_the_end, reverse=True) if type(origins) is At else ():
        depth = len(origins.path)
        if place.path[:depth] == origins.path[: len(place.path)]:
            value = left_without(value, place.path[depth:])
    return value


def _from_the_end(place: At) -> tuple[int, ...]:
    """In this order an element can be taken away, and the others stay where they are."""
    return tuple(step if type(step) is int else -1 for step in place.path)


def _with_first(found: Walk, coming: set[At]) -> Walk:
    winners = tuple(dict.fromkeys(setting.source for setting in found.standing))
    first = [lost for lost in found.overridden if lost.place in coming]
    rest = [lost for lost in found.overridden if lost.place not in coming]
    first = [lost if set(lost.by) <= set(winners) else lost._replace(by=winners) for lost in first]
    return found._replace(overridden=(*first, *rest))


def _with_others(found: Walk, others: Walk, coming: set[At]) -> Walk:
    """The same, and those who are in no row since they have nothing at the path; elements move, so not for these."""
    winners = tuple(dict.fromkeys(setting.source for setting in found.standing))
    line = _IN_THE_WAY.line(int, int)
    covered = (one for one in others.standing if At(one.source, one.own) in coming)
    first = (Overridden(setting, winners, _IN_THE_WAY, line) for setting in covered)
    return found._replace(overridden=(*first, *found.overridden))


def _with_what_stays(
    found: Walk, others: Walk, own: Callable[[At, Any], Any], again: Callable[[set[At]], Walk]
) -> Walk:
    """The same, where maps of the winners stay without them, and override what they have."""
    sources = {setting.source for setting in found.standing}
    maps = [one for one in with_holding_maps(others, own, again).holding if one.source in sources]
    if not maps:  # none of them matters alone, and yet others may stand in the way beside them
        stay = {At(one.source, one.own) for one in _maps_over_others(others, own) if one.source in sources}
        with suppress(NodeattrsError):  # without them the others cannot be merged
            return found if others.standing or not stay else _overridden_too(found, again(stay))
        return found
    stays = {lost.place for lost in others.overridden if sources.issuperset(lost.by)}
    overridden = (
        lost._replace(by=(*lost.by, lost.setting.source)) if lost.place in stays else lost for lost in found.overridden
    )
    return found._replace(overridden=tuple(overridden), holding=(*found.holding, *maps))


def _overridden_too(found: Walk, others: Walk) -> Walk:
    by = {lost.place: lost.by for lost in others.overridden}
    overridden = (
        lost._replace(by=tuple(dict.fromkeys((*lost.by, *by.get(lost.place, ()))))) for lost in found.overridden
    )
    return found._replace(overridden=tuple(overridden))
