"""What each part did: a difference part by part.

Actions: *set* (a new path), *extended* (a list or text that still holds the old one),
*replaced*, *deleted*; and *dropped*: the part said it, and the old value stayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from nodeattrs.adapters.cloudinit.loading import same
from nodeattrs.adapters.cloudinit.steps import Step
from nodeattrs.core.budget import Budget
from nodeattrs.core.tree import ABSENT, Path, dig, spell

__all__ = ["Action", "Change", "PartChanges", "changes_of"]

Action = Literal["set", "extended", "replaced", "deleted", "dropped"]


@dataclass(frozen=True, slots=True)
class Change:
    """One path that a part changed, or wanted to.

    old, new: what stood there before and what stands there now; ABSENT where nothing does.
              Of what was dropped, *new* is what the part said
    """

    path: Path
    action: Action
    old: Any
    new: Any

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        told: dict[str, Any] = {"path": spell(self.path), "steps": list(self.path), "action": self.action}
        return told | {name: value for name, value in (("old", self.old), ("new", self.new)) if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class PartChanges:
    """All that one part changed, in the order of the result; what it said in vain comes last."""

    number: int
    filename: str
    changes: tuple[Change, ...]


def changes_of(steps: Iterable[Step]) -> Iterator[PartChanges]:
    """The difference that each meeting made. raises: TooMuch, where they hold too many entries together"""
    budget = Budget("the changes of all parts")
    for step in steps:
        before, after = step.before.value, step.after.value
        found = list(_differences(before, after, ()))
        if step.said is not None:
            found += _dropped(step.said.value, before, after, ())
        for change in found:
            budget.values(sum(len(one) for one in (change.old, change.new) if isinstance(one, (dict, list))))
        yield PartChanges(step.number, step.filename, tuple(found))


def _differences(before: Any, after: Any, path: Path) -> Iterator[Change]:
    if before is after or same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if key not in after:
                yield Change((*path, key), "deleted", before[key], ABSENT)
        for key, entry in after.items():
            if key in before:
                yield from _differences(before[key], entry, (*path, key))
            else:
                yield Change((*path, key), "set", ABSENT, entry)
        return
    yield Change(path, "extended" if _holds(after, before) else "replaced", before, after)


def _holds(after: Any, before: Any) -> bool:
    """Whether a list or text begins or ends with what was there."""
    if isinstance(after, str) and isinstance(before, str):
        return after.startswith(before) or after.endswith(before)
    if isinstance(after, list) and isinstance(before, list):
        count = len(before)
        return len(after) > count and (same(after[:count], before) or same(after[len(after) - count :], before))
    return False


def _dropped(said: Any, before: Any, after: Any, path: Path) -> Iterator[Change]:
    """What a part said and the result does not have, while the old value stands."""
    if isinstance(said, dict) and isinstance(after, dict):
        for key, entry in said.items():
            if key not in after:
                if key in (before if isinstance(before, dict) else ()) and entry is None:
                    continue  # a null that deleted its key
                yield Change((*path, key), "dropped", ABSENT, entry)
            else:
                yield from _dropped(entry, dig(before, (key,)), after[key], (*path, key))
    elif not same(said, after) and same(before, after):
        yield Change(path, "dropped", before, said)
    elif isinstance(said, list) and isinstance(after, list) and len(said) > len(after):
        yield Change(path, "dropped", before, said[len(after) :])
