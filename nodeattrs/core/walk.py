"""The result of a walk along one path, as data: settings that are read, that were overridden, and that are unknown.

A *setting* is the value that one source sets at a path; sources are numbers here. `core.tracing` makes a `Walk`, and
`core.trace` makes a trace from that. The second half of the module finds the setting that would be read without the
winner: it walks again without the values of the winner. If each source replaces the source before, the first walk is
enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from nodeattrs.core.origins import Origins, SourcePath, origins_at, wholes
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig, flat, left_without
from nodeattrs.errors import NodeattrsError

Rule = tuple[Policy, Line]
"""A policy, and the line of it that decided."""


class SetValue(NamedTuple):
    """A setting: the value that one source sets at a path.

    source: the number of the source
    path:   the path in the merged tree
    value:  the value in the source's own tree
    own:    the path in the source's own tree; it differs from *path* for an element of a list that was merged from
            lists, whose index changes
    """

    source: int
    path: Path
    value: Any
    own: Path = ()


class Overridden(NamedTuple):
    """A loss: a setting that another setting replaced, hid or removed. A walk collects losses on its way down the path.

    `blocks` says whether its value is a scalar or list above a path. `place` gives the source and the path in it.
    setting:      the setting that lost
    by:           the numbers of the overriding sources. Its own number is among them if it also loses without the
                  other sources
    policy, line: the policy that decided, and the line of that policy
    in_larger_map: True: it lost as a part of a map that was replaced above
    by_merge:     True: the value was merged from several sources, and has nothing of this setting. Which source
                  replaced the setting is not known
    """

    setting: SetValue
    by: tuple[int, ...]
    policy: Policy
    line: Line
    in_larger_map: bool = False
    by_merge: bool = False

    @property
    def place(self) -> SourcePath:
        """The source, and the path in the source's own tree."""
        return SourcePath(self.setting.source, self.setting.own)

    def blocks(self, path: Path) -> bool:
        """Whether it is a scalar or list above *path*, which would block that path."""
        return len(self.setting.path) < len(path)

    def _one_step_down(self, key: Any, path: Path, is_index: bool) -> Overridden | None:
        """The same loss for the entry *key* of its value; None if its value has no such entry, so that nothing is lost
        there.

        In these cases the loss is returned unchanged. It was recorded at *path* or below it. Its value is a scalar or
        list that blocks the path. Or its value is a map without the key, and the key is an index or the map is an
        element of a list; then the source sets the whole map.
        path:     the path of the entry; it ends in *key*
        is_index: True: the key is an index of a list
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
        return self._replace(setting=SetValue(setting.source, path, value, (*setting.own, key)), in_larger_map=True)


class PendingLosses(NamedTuple):
    """Losses that were not computed yet, for a path below a place that the walk has passed. The walk computes them at
    its end.

    here:     the place in the walk, an object that only `core.tracing` uses
    keys:     the steps from that place down to *path*
    path:     the path in the merged tree
    by, rule: what overrides the setting at *here*: sources and rule; () and None if nothing does

    `blocks` is always False, because the losses are not known yet.
    """

    here: Any
    keys: Path
    path: Path
    by: tuple[int, ...] = ()
    rule: Rule | None = None

    def blocks(self, path: Path) -> bool:
        """Always False: it is not known yet."""
        return False

    def _one_step_down(self, key: Any, path: Path, is_index: bool) -> PendingLosses:
        """The pending losses one step further down, at *path*, which ends in *key*."""
        return self._replace(keys=(*self.keys, key), path=path)


Loss = Overridden | PendingLosses


def losses_below(losses: Iterable[Any], key: Any, path: Path, of: type) -> list[Loss]:
    """A list of the losses, each seen one step further down; losses without a value there are left out.

    losses:    perhaps with lists of losses among them
    key, path: the step, and the path that it leads to
    of:        the type of the value that is read; in a map a number is a key, not an index
    """
    is_index = type(key) is int and not issubclass(of, dict)
    below = [lost._one_step_down(key, path, is_index) for lost in flat(losses)]
    return [lost for lost in below if lost is not None]


def without_repeats(losses: Iterable[Overridden]) -> tuple[Overridden, ...]:
    """One loss for each place, in the order in which the places first appear; () without losses.

    A place is a source and a path in its tree (`Overridden.place`). Of several losses for one place, the first one
    without *by_merge* is taken; if all have it, the first one. Losses of source 0, which is not a real source, are left
    out.
    """
    once: dict[SourcePath, Overridden] = {}
    for lost in losses:
        known = once.setdefault(lost.place, lost)
        if known.by_merge and not lost.by_merge:
            once[lost.place] = lost
    return tuple([lost for lost in once.values() if lost.setting.source])


class Walk(NamedTuple):
    """The result of a walk along one path: `core.tracing.walk` makes it, `core.trace.traced` turns it into a trace.

    standing:   the settings that are read, in the order of their numbers; if there is a cover, the settings of the
                cover
    overridden: the losses; the setting that would be read without the winner comes first
    unknown:    the numbers of the sources that might decide and cannot be read
    value:      the value that is read; ABSENT if the path is not set, or if a scalar or list above blocks it
    origins:    the origins of the value: where each source has it
    cover:      the path of a scalar or list above the path, which blocks it; None if nothing blocks it
    holding:    settings of maps above the path that have nothing at the path; without them, another value would be read

    `elements` yields each element of a list with its places in the sources.
    """

    standing: tuple[SetValue, ...]
    overridden: tuple[Overridden, ...]
    unknown: tuple[int, ...]
    value: Any
    origins: Origins
    cover: Path | None
    holding: tuple[SetValue, ...] = ()

    def elements(self, value: Any) -> Iterator[tuple[Any, tuple[SourcePath, ...]]]:
        """Yield (element, places) for each element of *value*: where each of its sources has it.

        value: the list that is read at the path
        """
        for index, entry in enumerate(value):
            yield entry, tuple(wholes(origins_at(self.origins, index), ()))


# --- the setting that would be read without the winner

Removals = Callable[[SourcePath], Iterable[SourcePath]]
"""place -> the places that are removed in turn: the place itself, then each map or list that contains it, outwards."""

_IN_THE_WAY = Policy("what lies beside", Line(ANY, PRESENT, TAKE, "it would stand in the way"))
"""Named where a map that has nothing at the path would be a list or text without the winner's."""


def with_holding_maps(
    found: Walk, own: Callable[[SourcePath, Any], Any], again: Callable[[set[SourcePath]], Walk]
) -> Walk:
    """The walk with `holding` filled: maps that have no value at the path, but whose removal would change the value.

    *found* itself if there are no such maps.
    own:   (place, default) -> the value that a source has at a place, or the default
    again: set of places -> the walk without these places
    cost:  about one walk for each map that has overridden something; fewer if there are many and few matter
    """
    holding = tuple(_that_matter(found, again, list(_maps_over_others(found, own))))
    return found._replace(holding=holding) if holding else found


_MANY = 8
"""Of more maps than this, a walk without all of them comes first: mostly none of them matters."""


def _that_matter(found: Walk, again: Callable[[set[SourcePath]], Walk], maps: list[SetValue]) -> Iterator[SetValue]:
    """Yield each of the maps without which, alone, something else would be read."""
    if len(maps) > _MANY:
        half = len(maps) // 2
        if _matters(found, again, maps):
            yield from _that_matter(found, again, maps[:half])
            yield from _that_matter(found, again, maps[half:])
    else:
        yield from (one for one in maps if _matters(found, again, [one]))


def _maps_over_others(found: Walk, own: Callable[[SourcePath, Any], Any]) -> Iterator[SetValue]:
    named = {one.source for one in (*found.standing, *(lost.setting for lost in found.overridden))}
    for lost in found.overridden:
        for source in lost.by:
            if source not in named:
                named.add(source)
                path = lost.setting.path
                above = (path[:depth] for depth in range(len(path), 0, -1)) if path else ((),)
                maps = ((at, value) for at in above if isinstance(value := own(SourcePath(source, at), ABSENT), dict))
                yield from (SetValue(source, at, value, at) for at, value in islice(maps, 1))


def _matters(found: Walk, again: Callable[[set[SourcePath]], Walk], gone: list[SetValue]) -> bool:
    try:
        others = again({SourcePath(one.source, one.own) for one in gone})
    except NodeattrsError:
        return len(gone) > 1  # without all of them the others cannot be merged; without one of them they may
    return others.cover != found.cover or others.standing != found.standing


def with_next_first(
    found: Walk,
    path: Path,
    own: Callable[[SourcePath, Any], Any],
    again: Callable[[set[SourcePath]], Walk],
    removals: Removals,
) -> Walk:
    """The walk, changed so that `overridden` begins with the setting that would be read without the winners.

    First the settings of the winners are removed, then the maps that contain them, from the inside out, until another
    setting is read. If no other setting is ever read, other settings override the losses, too. The sources of these
    settings are then added to `by` of the losses. If nothing is overridden, the walk is returned unchanged.
    own:   a function (place, default) -> the value that a source has at a place, or the default
    again: a function (set of places) -> the walk without these places; if it raises a NodeattrsError, that step is
           skipped
    removals: a function (place) -> the place, then the maps that contain it, from the inside out
    cost:  at most one walk for each step of the path, and some for maps that stay
    """
    winners = {SourcePath(setting.source, setting.own) for setting in found.standing}
    overridden, others = found, None
    for gone in map(set, zip(*map(removals, winners), strict=False) if found.overridden else ()):
        try:
            others = again(gone)
        except NodeattrsError:
            continue  # without them the others cannot be merged
        coming = {SourcePath(one.source, one.own) for one in others.standing} - winners
        if any(lost.place in coming for lost in found.overridden):
            return _with_first(found, coming)
        if coming and others.cover is not None and not any(type(step) is int for step in path):
            return _with_others(found, others, coming)
        overridden = _overridden_too(overridden, others)
        if others.standing:
            return overridden
    if others is None:
        return overridden

    def left(at: SourcePath, otherwise: Any) -> Any:
        is_gone = any(at.source == one.source and at.path[: len(one.path)] == one.path for one in gone)
        return otherwise if is_gone else own(at, otherwise)

    return _with_what_stays(overridden, others, left, lambda more: again(gone | more))


def outwards(at: SourcePath) -> Iterator[SourcePath]:
    """Yield a place, then each map or list that contains it, up to the root of the source."""
    return (SourcePath(at.source, at.path[:depth]) for depth in range(len(at.path), -1, -1))


def without_places(value: Any, origins: Origins, gone: Mapping[int, Iterable[SourcePath]]) -> Any:
    """The value of a source without some places; the same object if no place is in it.

    ABSENT if the whole value is one of the places, or inside of one. Maps and lists that become empty stay.
    origins: the place of *value* in its source, as a `SourcePath`. If these are origins of another type, *value* is
             returned
    gone:    source -> the places to leave out
    """
    if type(origins) is not SourcePath:
        return value
    depth = len(origins.path)
    for place in sorted(gone.get(origins.source, ()), key=_from_the_end, reverse=True):
        if place.path[:depth] == origins.path[: len(place.path)]:
            value = left_without(value, place.path[depth:])
    return value


def _from_the_end(place: SourcePath) -> tuple[int, ...]:
    """A key for sorting: elements are removed from the end of a list, so that the others keep their index."""
    return tuple(step if type(step) is int else -1 for step in place.path)


def _with_first(found: Walk, coming: set[SourcePath]) -> Walk:
    winners = tuple(dict.fromkeys(setting.source for setting in found.standing))
    first = [lost for lost in found.overridden if lost.place in coming]
    rest = [lost for lost in found.overridden if lost.place not in coming]
    first = [lost if set(lost.by) <= set(winners) else lost._replace(by=winners) for lost in first]
    return found._replace(overridden=(*first, *rest))


def _with_others(found: Walk, others: Walk, coming: set[SourcePath]) -> Walk:
    """The walk with further losses first: settings above the path that would block it without the winners."""
    winners = tuple(dict.fromkeys(setting.source for setting in found.standing))
    line = _IN_THE_WAY.line(int, int)
    covered = (one for one in others.standing if SourcePath(one.source, one.own) in coming)
    first = (Overridden(setting, winners, _IN_THE_WAY, line) for setting in covered)
    return found._replace(overridden=(*first, *found.overridden))


def _with_what_stays(
    found: Walk, others: Walk, own: Callable[[SourcePath, Any], Any], again: Callable[[set[SourcePath]], Walk]
) -> Walk:
    """The walk, where maps of the winners' sources stay without the winners, and override the same losses."""
    sources = {setting.source for setting in found.standing}
    maps = [one for one in with_holding_maps(others, own, again).holding if one.source in sources]
    if not maps:  # none of them matters alone, and yet others may stand in the way beside them
        stay = {SourcePath(one.source, one.own) for one in _maps_over_others(others, own) if one.source in sources}
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
