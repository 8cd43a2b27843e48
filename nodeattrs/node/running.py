"""Functions for runs of a node: the current setter, the line of a call, documents that code reads, whole trees.

A *setter* is the recipe, attribute file, role, ... that sets values now (`setters`). These are functions and not
methods, so that `Node` has only the methods that its users need. The module knows no repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from nodeattrs.core.borders import checked_args
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.frames import frame_above
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import BadKey
from nodeattrs.kinds import SAME_KEY_AS_TEXT
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.component_tree import ComponentTree, Place, step_down, value_of
from nodeattrs.node.joined import entry_at, plain
from nodeattrs.node.setters import Setter
from nodeattrs.node.values import steps_of
from nodeattrs.node.view import ListView, step_error


class SetterBlock:
    """A context manager: within the `with` block, *setter* is the current setter of *node*. It gives the node.

    The setter before is current again at the end, also after an error. Blocks may be nested; one object serves one
    block.
    """

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


@checked_args(node=Attributes, source=str, name=str, locator="at?")
def setting_as(node: Attributes, source: str, name: str = "", locator: Locator | None = None) -> SetterBlock:
    """A `with` block in which a source sets the values: `with setting_as(node, "recipe", "apache2"):`.

    At the end, the setter before is current again.
    source:  "attribute file" and "run" write the attribute file's slots; all others the recipe's
    name:    of the cookbook, role, environment, ...; "" for none
    locator: knows the places in a document that sets the values; None: the line of code that writes is found
    """
    return SetterBlock(node, Setter(source, name, locator))


def origin_here(node: Attributes, column: bool = True) -> Origin:
    """The origin of the current call: the current setter, and the nearest line of code outside of this library.

    column: False leaves the column out; for most lines the source is then not read
    """
    if not column:
        marks = node._ledger.marks
        return marks[marks.number_here(0)].line
    return noted_here(node)()


def noted_here(node: Attributes) -> Callable[[], Origin]:
    """A function without arguments that returns `origin_here` of now. File and line are looked up when it is called."""
    marks = node._ledger.marks
    number = marks.number_here(0, above=3)  # its frame, this one, and one that calls it
    return lambda: marks[number].locator.at(())


def note_read(node: Attributes, document: Any, locator: Locator) -> None:
    """Note that the nearest line outside of this library has read a document, so that causes can name its lines.

    Without provenance nothing is noted.
    document: its data, which is kept and must not change
    locator:  knows the places in it, counted from its root
    """
    if node._ledger.provenance:
        node._ledger.marks.note_read(document, locator)


def merged_shared(node: Attributes) -> dict[Any, Any]:
    """The merged tree as plain data that the caller must not change: settled facts in it are the node's own objects.

    The keys of facts come first, then the keys of other slots, the weakest slot first. Deferred values stay deferred.
    cost: one merge and one copy of everything except settled facts
    """
    ledger = node._ledger
    with ledger.lock:
        data = dict(ledger.trees[15])
        for key in dict.fromkeys(chain(chain.from_iterable(ledger.trees[:15]), ledger.unsettled_keys())):
            value = entry_at(ledger.roots(), key)
            if value is not ABSENT:
                data[key] = plain(value, False)
    return data


def walk(node: Attributes, *path: Any) -> Any:
    """The merged value at *path* as Ruby's `node['a']['b']` gives it: None if the last key is absent.

    No steps give the view of the whole node.
    raises: NullInTheWay, for a step below null or below an absent value; TypeConflict, for a step below a number. A
            step below a text gives None
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
            raise step_error(here, steps[:depth], step)
    return here


# --- a whole tree at one level


def set_leaves(node: Attributes, level: str, tree: dict[Any, Any], unless: bool = False) -> None:
    """Set a whole tree in one component, leaf by leaf, as a program with one line for each leaf would.

    Maps are merged, empty ones too; any other value is replaced.
    level:  a component: "default", "force_default", "normal", "override" or "force_override"
    tree:   made by `stored`; it is not copied, so the caller must not change it
    unless: True sets only where the component has no value or null; the history notes the others as not set
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


# --- keys that JSON cannot keep apart -----------------------------------------------


def double_keys(node: Attributes) -> list[BadKey]:
    """A list with a BadKey for each integer key in the merged tree whose map has the same key as text; [] for none.

    A saved document can keep only one of the two. Each warning names the origins of both.
    cost: a look at every map; settled facts are JSON and are skipped
    """
    ledger = node._ledger
    with ledger.lock:
        facts = {key: ledger.trees[-1][key] for key in ledger.unsettled_keys()}
        trees = [tree for tree in (*ledger.trees[1:-1], facts) if tree]
        numbers = dict.fromkeys(path for tree in trees for path in _number_keys(tree))
    twins = ((path, (*path[:-1], str(path[-1]))) for path in numbers)
    return [_warning(node, *pair) for pair in twins if node.exist(*pair[0]) and node.exist(*pair[1])]


def _number_keys(tree: Any) -> Iterator[Path]:
    """The paths of all integer keys of maps in a tree."""
    waiting: list[tuple[Path, Any]] = [((), tree)]
    for path, here in waiting:  # grows in the loop
        is_map = isinstance(here, dict)
        for step, inner in here.items() if is_map else enumerate(here):
            if is_map and type(step) is int:
                yield (*path, step)
            if isinstance(inner, (dict, list)):
                waiting.append(((*path, step), inner))


def _warning(node: Attributes, *twins: Path) -> BadKey:
    names = " and ".join(map(spell, twins))
    warning = BadKey(
        f"{names} are one key in what is saved, whose keys are text: the last one is kept",
        path=twins[0],
        details=[f"{spell(path)} was set by {origin}" for path in twins for origin in node.origins(path)],
        hint="write both as text",
    )
    warning.kind = SAME_KEY_AS_TEXT
    return warning
