"""What a walk along one path finds, as data: settings that stand, that were overridden, that are unknown.

Made by `core.tracing`, read by `core.trace`; it knows sources as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.origins import At, Origins, origins_at, wholes
from nodeattrs.core.part import Part
from nodeattrs.core.policy import Line, Policy
from nodeattrs.core.tree import ABSENT, Path, dig, flat

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


class Later(NamedTuple):
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

    def below(self, key: Any, path: Path, is_index: bool) -> Later:
        """The same one step down, at *path*."""
        return self._replace(keys=(*self.keys, key), path=path)


Loss = Overridden | Later


def relevant(losses: Iterable[Any], key: Any, path: Path, of: type) -> list[Loss]:
    """What the overridden ones say one step down; *of* is the type of what is read there: numbers may be names."""
    is_index = type(key) is int and not issubclass(of, dict)
    return [found for lost in flat(losses) if (found := lost.below(key, path, is_index)) is not None]


def each_once(losses: Iterable[Overridden]) -> tuple[Overridden, ...]:
    """Each place once."""
    once: dict[Any, Overridden] = {}  # who overrode each part says more than the sum
    for lost in losses:
        if once.setdefault(key := (lost.setting.source, lost.setting.own), lost).in_sum and not lost.in_sum:
            once[key] = lost
    return tuple([lost for lost in once.values() if lost.setting.source])


class Waiting(NamedTuple):
    """A map of a row that waits to meet the maps before it, and how.

    here:     a place of a walk
    from_top: whether it is the lower one
    meets:    False where one of them cannot be read, and would
    """

    here: Any
    policy: Policy
    from_top: bool
    meets: bool


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
