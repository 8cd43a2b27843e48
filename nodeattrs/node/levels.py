"""A whole level of a node: its merged view, the merge at one path, and removing a path from its components.

A level is a branch of the plan, such as the four default components; PLAN itself is all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import TypeConflict
from nodeattrs.node.component_tree import Place, joined_place, part_to_merge, step_down, value_of
from nodeattrs.node.joined import entry_at, joined, joined_roots
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import Branch, Joined
from nodeattrs.node.values import Deferred, steps_of
from nodeattrs.node.view import MapView
from nodeattrs.node.writers import Writer


def merged_at(ledger: Ledger, branch: Branch, path: Path) -> Any:
    """A plain copy of the values that the components have at *path*, merged; None where no component has one.

    Each component is stepped through for itself, so null or text in a stronger one hides no value of a weaker one.
    Deferred values stay deferred.
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
    """Call *remove* with *path*, and return a plain copy of the merged value that stood there; None where it was
    absent.

    Where the parent is not a map in the merge of the branch, *remove* is not called, and the result is None.
    path:   at least one step
    remove: removes the path from the slots of the branch
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
    """The merged view of one level; a later write does not change it.

    `view["a"]["b"]` reads as any merged map does. `view("a", "b")` calls `merged_at` on the current values instead: it
    gives a plain copy, or None where no component has a value there.
    """

    __slots__ = ("_branch", "_ledger")

    def __init__(self, ledger: Ledger, branch: Branch) -> None:
        with ledger.lock:
            super().__init__(joined_roots(ledger.trees, ledger.plan(branch)), ledger.version())
        self._ledger, self._branch = ledger, branch

    def __call__(self, *path: Any) -> Any:
        return merged_at(self._ledger, self._branch, steps_of(path))


def _stepped(place: Place, path: Path) -> Place:
    """The place some steps below a place; (ABSENT, ABSENT) beyond null, text, and what is not set."""
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


class WholeComponentWriter(Writer):
    """The writer of a whole component that stays live when the component is replaced: a word of attribute files.

    Other writers keep the old content then.
    """

    __slots__ = ()

    def _place(self) -> Place:
        return self._tree.root()
