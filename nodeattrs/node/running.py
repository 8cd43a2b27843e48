"""What a run does with a node: it sets the current setter, finds the line of a call, and notes what code reads.

At the end of a run `double_keys` warns of keys that its document cannot keep apart.

Functions and no methods, so that `Node` has only what its users need. They know no repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.frames import frame_above
from nodeattrs.core.tree import ABSENT, Path, spell
from nodeattrs.errors import BadKey
from nodeattrs.kinds import SAME_KEY_AS_TEXT
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.component_tree import ComponentTree, Place, step_down, value_of
from nodeattrs.node.joined import entry_at, evaluated, unevaluated_copy
from nodeattrs.node.levels import unsettled_keys
from nodeattrs.node.setters import Setter
from nodeattrs.node.values import steps_of
from nodeattrs.node.view import ListView, no_step


class SetterBlock:
    """A context manager: within the block a setter sets the values of a node; it gives the node. See `setting_as`.

    The setter before it is restored at the end, also after an error. A class, since a generator would cost more.
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


@taking(node=Attributes, source=str, name=str, locator="at?")
def setting_as(node: Attributes, source: str, name: str = "", locator: Locator | None = None) -> SetterBlock:
    """A block in which values are set by a source: `with setting_as(node, "recipe", "apache2"):`. The setter before it
    returns.

    source:  "attribute file" writes the attribute file's slots; all others the recipe's
    name:    the cookbook, role, environment, ... that sets values
    locator: knows the places, where the source is a document; None: the line of code that writes is found
    """
    return SetterBlock(node, Setter(source, name, locator))


def origin_here(node: Attributes, column: bool = True) -> Origin:
    """The origin of a call from here: the current setter, and the nearest line outside of this library.

    column: False leaves the column out, so that most lines need no look at the source
    """
    if not column:
        marks = node._ledger.marks
        return marks[marks.number_here(0)].line
    return noted_here(node)()


def noted_here(node: Attributes) -> Callable[[], Origin]:
    """A function without arguments that gives the origin as `origin_here`; the line is looked up at its first call."""
    marks = node._ledger.marks
    number = marks.number_here(0, above=3)  # its frame, this one, and one that calls it
    return lambda: marks[number].locator.at(())


def note_read(node: Attributes, document: Any, locator: Locator) -> None:
    """Note that the nearest line outside of this library has read a document: for causes. Without provenance: nothing.

    document: its data, which is kept and must not change
    locator:  knows the places in it, counted from its root
    """
    if node._ledger.provenance:
        node._ledger.marks.note_read(document, locator)


def merged_shared(node: Attributes, evaluate: bool = False) -> dict[Any, Any]:
    """The merged tree, to be read or written out only: settled facts that no other slot touches are not copied.

    The keys of facts come first, then others, weakest slot first.
    evaluate: True computes deferred values
    cost:     one fold and one copy of all but settled facts
    """
    ledger, odd = node._ledger, dict[Any, None]()
    with ledger.lock:
        data = dict(ledger.trees[15])
        for key in dict.fromkeys(chain(chain.from_iterable(ledger.trees[:15]), unsettled_keys(ledger))):
            inside: dict[Any, None] = {}
            value = entry_at(ledger.roots(), key)
            if value is not ABSENT:
                data[key] = unevaluated_copy(value, inside)
                odd |= {key: None} if inside else {}
    return evaluated(data, odd) if evaluate else data


def walk(node: Attributes, *path: Any) -> Any:
    """The value that Ruby's `node['a']['b']` gives: None where the last key is absent.

    A key of an absent value, of null, or of a number is an error; a key of a text gives None.
    raises: NullInTheWay, TypeConflict, naming the step that failed
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
    """Set a whole tree at a level, leaf by leaf, as a program would with one line for each.

    Maps are merged, empty ones too; any other value is replaced.
    level:  a component: "default", "force_default", "normal", "override" or "force_override"
    tree:   made by `stored`; it is shared and must not change any more
    unless: True sets only where the level has no value or null; a value that is not a map stays
    cost:   one store for each value or map that the level lacks
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
    """A warning for each integer key beside the same key as text in the merged tree, with the origins of both; [] for
    none.

    cost: a look at every map; settled facts are JSON and are skipped
    """
    ledger = node._ledger
    with ledger.lock:
        facts = {key: ledger.trees[-1][key] for key in unsettled_keys(ledger)}
        trees = [tree for tree in (*ledger.trees[1:-1], facts) if tree]
        numbers = dict.fromkeys(path for tree in trees for path in _numbers(tree))
    twins = ((path, (*path[:-1], str(path[-1]))) for path in numbers)
    return [_warning(node, *pair) for pair in twins if node.exist(*pair[0]) and node.exist(*pair[1])]


def _numbers(tree: Any) -> Iterator[Path]:
    waiting: list[tuple[Path, Any]] = [((), tree)]
    for path, here in waiting:  # which grows
        by_key = isinstance(here, dict)
        for step, inner in here.items() if by_key else enumerate(here):
            if by_key and type(step) is int:
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
