"""The differences between two trees, value by value. Types count, the order of keys does not.

It knows plain data and `Sensitive` values, and no origins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, Path, strict_key


class TreeDifference(NamedTuple):
    """A difference between two trees, at one path. `changes` makes it.

    path:          the steps from the root to the value that differs
    before, after: the value in each tree; ABSENT in the tree that has none
    kind:          "added" if `before` is ABSENT, "removed" if `after` is ABSENT, "changed" if neither is

    A value is a scalar, a whole list or an empty map. A map with entries has differences for its entries instead. So if
    a scalar becomes a map with entries, the scalar is removed and each entry is added.
    """

    path: Path
    before: Any
    after: Any

    @property
    def kind(self) -> str:
        """Returns "added" if `before` is ABSENT, "removed" if `after` is ABSENT, else "changed"."""
        if self.before is ABSENT:
            return "added"
        return "removed" if self.after is ABSENT else "changed"


def changes(before: Any, after: Any) -> list[TreeDifference]:
    """The differences between two trees of plain data; removed paths come last. [] for equal trees.

    Maps are compared key by key, without regard to the order. A list counts as one value. Types matter: 1 differs from
    "1". A scalar that becomes a map is removed, and each entry of the map is added.

    >>> from nodeattrs.core.tree import spell
    >>> [(spell(one.path), one.kind) for one in changes({"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": {"e": 4}}})]
    [('a.c', 'changed'), ('a.d.e', 'added'), ('a.b', 'removed')]
    """
    return sorted(_compared(before, after, ()), key=lambda change: change.kind == "removed")


def _compared(before: Any, after: Any, path: Path) -> Iterator[TreeDifference]:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    if old or new:
        if before is not ABSENT and not isinstance(before, dict):
            yield TreeDifference(path, before, ABSENT)
        if after is not ABSENT and not isinstance(after, dict):
            yield TreeDifference(path, ABSENT, after)
        for step in [*new, *(step for step in old if step not in new)]:
            yield from _compared(old.get(step, ABSENT), new.get(step, ABSENT), (*path, step))
    elif strict_key(before) != strict_key(after):
        yield TreeDifference(path, before, after)
