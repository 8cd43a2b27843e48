"""Whole levels: the writer and the merged view of one, and removing a path from several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import TypeConflict
from nodeattrs.node.component_tree import Place, joined_place, part_to_merge, step_down, value_of
from nodeattrs.node.joined import entry_at, joined, joined_roots
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import Branch, Joined
from nodeattrs.node.values import Deferred, steps_of
from nodeattrs.node.view import MapView, Version
from nodeattrs.node.writers import Writer


def level_view(ledger: Ledger, branch: Branch) -> LevelView:
    """The merged view of some slots. A later write does not change it."""
    with ledger.lock:
        part = joined_roots(ledger.trees, ledger.plan(branch))
        return LevelView(part, ledger.version(), lambda path: merged_at(ledger, branch, path))


def merged_at(ledger: Ledger, branch: Branch, path: Path) -> Any:
    """A plain copy of the merge at *path* alone; None where no component has a value there.

    raises: TypeConflict, where a component has a number or a list in the way
    source: Chef's `merged_attributes`
    """
    with ledger.lock:
        part = _part_at(ledger, branch, path)
        return None if part is ABSENT else ledger.plain_copy(part, False)


def _part_at(ledger: Ledger, branch: Branch, path: Path) -> Any:
    slots = [child for child in branch.children if isinstance(child, int)]
    if len(slots) == len(branch.children):
        file, recipe = (ledger.trees[slot] for slot in slots)
        return part_to_merge(_stepped(joined_place(file, recipe), path))
    parts = [
        _part_at(ledger, child, path)
        if isinstance(child, Branch)
        else part_to_merge(_stepped((ABSENT, ledger.trees[child]), path))
        for child in branch.children
    ]
    policy = ledger.plan(branch).policy
    for step in path:
        policy = policy.at(step)
    return joined(policy, parts)


def remove_path(ledger: Ledger, branch: Branch, path: Path, remove: Callable[[Path], object]) -> Any:
    """Call *remove* with a path, and return the merged value of some slots there as it was; None where it was absent.

    Returns None without calling *remove* where the parent is not a map in the merge of these slots.
    remove: removes the path from the slots
    raises: the error of a deferred value at the path, or in its way; nothing is removed then
    """
    with ledger.lock:
        holder = ledger.part_at(branch, path[:-1], compute=True)
        if not isinstance(holder, (dict, Joined)):
            return None
        value = entry_at(holder, path[-1])
        if type(value) is Deferred:
            value = value.evaluate(path)
        as_it_was = None if value is ABSENT else ledger.plain_copy(value, False, path)
        remove(path)
        return as_it_was


class LevelView(MapView):
    """The merged view of one level. `view("a", "b")` gives a plain copy of the merge at that path alone; None where not
    set.

    raises: TypeConflict, at such a call, where a component has a number or a list in the way
    """

    __slots__ = ("_at_path",)

    def __init__(self, part: Any, version: Version, at_path: Callable[[Path], Any]) -> None:
        super().__init__(part, version)
        self._at_path = at_path

    def __call__(self, *path: Any) -> Any:
        return self._at_path(steps_of(path))


def _stepped(place: Place, path: Path) -> Place:
    """One component stepped through for itself: nothing beyond null and text."""
    for depth, step in enumerate(path):
        thing = value_of(place)
        if thing is ABSENT or thing is None or isinstance(thing, str):
            return ABSENT, ABSENT
        if not isinstance(thing, dict) and not (isinstance(thing, list) and type(step) is int):
            raise TypeConflict(
                f"cannot step to {spell((step,))}: {spell(path[:depth])} has no such place in one of the components",
                path=path,
            )
        place = step_down(place, step)
    return place


class Level(Writer):
    """The writer of a whole component that stays live when the component is replaced: the words of attribute files."""

    __slots__ = ()

    def _place(self) -> Place:
        return self._tree.root()


def unsettled_keys(ledger: Ledger) -> Iterator[Any]:
    """Yield the top-level keys of facts that are not settled: they were not shared, or something was written there.

    cost: a look at each key
    """
    return (key for key, value in ledger.trees[15].items() if value is not ledger.settled.get(key, ABSENT))
