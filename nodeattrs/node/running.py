"""What a run does with a node: it says who sets values, asks where a call comes from, and notes what code reads.

Functions and no methods, so that `Node` has only what its users need. They know no repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import Fold
from nodeattrs.core.frames import frame_above
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.component_tree import ComponentTree, Place, step_down, value_of
from nodeattrs.node.levels import merged_sharing_facts
from nodeattrs.node.setters import Setter
from nodeattrs.node.slot_tree import fold_of
from nodeattrs.node.values import steps_of
from nodeattrs.node.view import ListView, no_step


class SetterBlock:
    """A block in which a setter sets values; see `setting_as`. Not a generator, since each file of a run is one."""

    __slots__ = ("_before", "_entered", "_ledger", "_node", "_setter")

    def __init__(self, node: Attributes, setter: Setter) -> None:
        ledger = self._ledger = node._ledger
        self._node, self._setter = node, setter
        self._before, self._entered = setter, ledger.marks.entered

    def __enter__(self) -> Any:
        marks = self._ledger.marks
        self._entered, marks.entered = marks.entered, frame_above(1).f_code
        self._before = self._ledger.switch_setter(self._setter)
        return self._node

    def __exit__(self, *_: object) -> None:
        self._ledger.switch_back(self._before)
        self._ledger.marks.entered = self._entered


@taking(node=Attributes, source=str, name=str, locator="at?")
def setting_as(node: Attributes, source: str, name: str = "", locator: Locator | None = None) -> SetterBlock:
    """A block in which values are set by a source: `with setting_as(node, "recipe", "apache2"):`.

    source:  "attribute file" writes the attribute file's slots; all others the recipe's
    name:    the cookbook, role, environment, ... that sets values
    locator: knows the places, where it is a document; code finds its own line
    """
    return SetterBlock(node, Setter(source, name, locator))


def origin_here(node: Attributes, column: bool = True) -> Origin:
    """The current setter, and the line outside of this library that calls.

    column: False leaves it out; so of most lines no source is looked at
    """
    if not column:
        marks = node._ledger.marks
        return marks[marks.number_here(0)].line
    return noted_here(node)()


def noted_here(node: Attributes) -> Callable[[], Origin]:
    """A function that gives the origin of `origin_here`; the line is looked up at its first call."""
    marks = node._ledger.marks
    number = marks.number_here(0, above=3)  # its frame, this one, and one that calls it
    return lambda: marks[number].locator.at(())


def note_read(node: Attributes, document: Any, locator: Locator) -> None:
    """Note that the line outside of this library that calls has read a document.

    document: what it says; it is kept, and must not change
    locator:  knows its places, counted from its root
    """
    if node._ledger.provenance:
        node._ledger.marks.note_read(document, locator)


def plan_of(node: Attributes) -> Fold:
    """The whole node as a fold of the core: fifteen layers under the policies of docs/merging.md."""
    return fold_of(node._ledger)


def merged_shared(node: Attributes, evaluate: bool = False) -> dict[Any, Any]:
    """The merged tree in any order, to be read or written out only: facts that came in settled are not copied.

    cost: one fold and one copy of what is not such facts
    """
    return merged_sharing_facts(node._ledger, evaluate)


def walk(node: Attributes, *path: Any) -> Any:
    """What Ruby's `node['a']['b']` gives: None for an absent last key, an error beyond.

    raises: NullInTheWay, TypeConflict, naming the step at which it ended
    """
    here: Any = node._ledger.view()
    steps = steps_of(path)
    for depth, step in enumerate(steps):
        if isinstance(here, Mapping):
            here = here.get(step)
        elif isinstance(here, ListView) and type(step) is int:
            here = here[step] if -len(here) <= step < len(here) else None
        elif isinstance(here, str):
            here = None
        else:
            raise no_step(here, steps[:depth], step)
    return here


# --- a whole tree at one level


def set_leaves(node: Attributes, level: str, tree: dict[Any, Any], unless: bool = False) -> None:
    """Set a whole tree at a level, leaf by leaf, as so many lines of a program would.

    Maps meet, empty ones too; anything else is replaced. The tree is shared and not copied.

    tree:   as `stored` gives it; it must not change any more
    unless: only what has no value there, null counting as none; a value that is no map stays, whatever lies below it
    cost:   of what the level has no map for one store each, whatever lies below
    """
    component = node._trees[level]
    with node._ledger.lock:
        _set(component, component.root(), (), tree, unless)


def _set(component: ComponentTree, place: Place, above: Path, tree: dict[Any, Any], unless: bool) -> None:
    for key, value in tree.items():
        path, found = (*above, key), step_down(place, key)
        standing = value_of(found)
        if type(value) is dict and isinstance(standing, dict):
            ledger = component.ledger
            if not value and ledger.provenance:
                ledger.note_empty_map(component.slot, path, ledger.marks.number_here(0))
            _set(component, found, path, value, unless)
        elif unless and standing is not ABSENT and standing is not None:
            component.note_silent(path, value, depth=0)
        else:
            component.store(path, value, parent=place, depth=0)
