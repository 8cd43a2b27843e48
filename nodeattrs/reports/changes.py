"""What differs between two trees of plain data, path by path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, strict_key


@dataclass(frozen=True, slots=True)
class Change:
    """A path whose value is another than before. ABSENT stands for no value."""

    path: Path
    before: Any
    after: Any

    @property
    def kind(self) -> str:
        """One of "added", "changed", "removed"."""
        return "added" if self.before is ABSENT else "removed" if self.after is ABSENT else "changed"


def changes(before: Any, after: Any) -> list[Change]:
    """The leaves in which two trees of plain data differ, those that are gone last.

    A list counts as one leaf, since positions are not identities.

    >>> [(".".join(one.path), one.kind) for one in changes({"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": {"e": 4}}})]
    [('a.c', 'changed'), ('a.d.e', 'added'), ('a.b', 'removed')]
    """
    found: list[Change] = []
    _compare(before, after, (), found)
    return sorted(found, key=lambda change: change.kind == "removed")


def _compare(before: Any, after: Any, path: Path, found: list[Change]) -> None:
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    if old or new:
        if before is not ABSENT and not isinstance(before, dict):
            found.append(Change(path, before, ABSENT))
        if after is not ABSENT and not isinstance(after, dict):
            found.append(Change(path, ABSENT, after))
        for step in [*new, *(step for step in old if step not in new)]:
            _compare(old.get(step, ABSENT), new.get(step, ABSENT), (*path, step), found)
    elif strict_key(before) != strict_key(after):
        found.append(Change(path, before, after))
