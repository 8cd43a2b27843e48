"""What a walk along one path finds, as data: settings that stand, that were overridden, that are unknown.

Made by `core.tracing`, read by `core.trace`; it knows sources as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nodeattrs.core.origins import At, Origins, origins_at, places
from nodeattrs.core.part import Part
from nodeattrs.core.policy import TAKE, Line, Meet, Policy
from nodeattrs.core.tree import Path

__all__ = ["Overridden", "Setting", "Walk", "whole_places"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What one source sets at a path.

    path: in the merged tree
    own:  in the source's own tree: elements of united lists stand at other places there
    """

    source: int
    path: Path
    value: Any
    own: Path = ()


@dataclass(frozen=True, slots=True)
class Overridden:
    """A setting that something else replaced, hid or removed.

    by:           the sources that did
    policy, line: what decided
    depth:        of the path at which it fell
    """

    setting: Setting
    by: tuple[int, ...]
    policy: Policy
    line: Line
    depth: int = 0

    @property
    def is_surely_next(self) -> bool:
        """Whether such a value replaces whatever it meets, and no map that lost an entry yields to something else."""
        policy = self.policy
        over = (policy.verdict(lower, dict) for lower in (type(None), str, int, bool, list, dict))
        return type(self.setting.value) in policy.always and all(one is TAKE or type(one) is Meet for one in over)

    def also_by(self, more: tuple[int, ...]) -> Overridden:
        """The same, overridden by others, too."""
        return replace(self, by=tuple(dict.fromkeys((*self.by, *more))))


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk along one path found.

    standing:   the settings that are read, in the order of their numbers
    overridden: the others; the one that would be read without the winner comes first
    unknown:    the sources that might decide and cannot be read
    value:      what is read; ABSENT where nothing is, or something stands in the way
    origins:    where each source has it
    cover:      the path of the scalar or list that stands in the way, if one does
    """

    standing: tuple[Setting, ...]
    overridden: tuple[Overridden, ...]
    unknown: tuple[int, ...]
    value: Any
    origins: Origins
    cover: Path | None

    def in_line(self, without: Walk) -> Walk:
        """The same, in the order that a walk *without* the winner shows: who would be read then comes first,
        and who would not is overridden by others, too."""
        following = {(setting.source, setting.own) for setting in without.standing}
        more = {(lost.setting.source, lost.setting.own): lost.by for lost in without.overridden}
        first, later = [], []
        for lost in self.overridden:
            place = lost.setting.source, lost.setting.own
            if place in following:
                first.append(lost)
            else:
                later.append(lost.also_by(more.get(place, ())))
        return replace(self, overridden=(*first, *later))

    @property
    def part(self) -> Part:
        """What is read, with its origins."""
        return Part(self.value, self.origins)

    def elements(self, value: Any) -> Iterator[tuple[Any, tuple[At, ...]]]:
        """Each element of the list that is read, and where its sources have it."""
        for index, entry in enumerate(value):
            yield entry, tuple(at for _, at in whole_places(origins_at(self.origins, index), ()))


def whole_places(origins: Origins, path: Path) -> Iterator[tuple[Path, At]]:
    """Who set a value, each once, as a whole: the place of the map or list, where entries of it were moved along."""
    if type(origins) is At:
        yield path, origins
        return
    found: dict[tuple[int, Path], None] = {}
    for now, at in places(origins, path):
        inside = now[len(path) :]
        own = at.path[: len(at.path) - len(inside)] if inside and at.path[-len(inside) :] == inside else at.path
        found.setdefault((at.source, own))
    for source, own in found:
        yield path, At(source, own)
