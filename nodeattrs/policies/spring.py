"""The policy "spring", for the application files of Spring Boot.

source: Spring Boot, "Externalized Configuration"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.fold import Layer
from nodeattrs.core.policy import ACROSS
from nodeattrs.core.tree import Path
from nodeattrs.policies.named import INDEX, MovedKeys, NamedPolicy

_STEP = re.compile(r"\[([^\[\]]*)\]|[^.\[\]]+")


class _Property(NamedTuple):
    """A leaf of a file of Spring.

    path:    its steps, the indexes of lists as numbers
    uniform: the path as Spring compares it
    written: its path in the file
    """

    path: Path
    uniform: Path
    value: Any
    written: Path


def _properties(value: Any, above: _Property, budget: Budget) -> Iterator[_Property]:
    """The leaves of a tree, also empty maps and lists; none for an empty tree. raises: TooMuch"""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            steps = tuple(_step(one) for one in _STEP.finditer(str(key))) or (str(key),)
            uniform = tuple(_uniform(one) if isinstance(one, str) else one for one in steps)
            below = _Property((*above.path, *steps), (*above.uniform, *uniform), entry, (*above.written, key))
            yield from _properties(entry, below, budget)
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            below = _Property((*above.path, index), (*above.uniform, index), entry, (*above.written, index))
            yield from _properties(entry, below, budget)
    elif above.path:
        budget.depth(len(above.path))
        budget.steps(len(above.path) ** 2)
        yield above


def _uniform(step: str) -> str:
    """A name as Spring compares it: capitals, dashes and underscores make no difference."""
    return re.sub("[-_]", "", step.lower())


def _step(found: re.Match[str]) -> str | int:
    inner = found[1]
    if inner is None:
        return found[0]
    return int(inner) if INDEX.fullmatch(inner) else inner


def _as_trees(layers: Sequence[Layer]) -> list[Layer]:
    """The layers with maps and lists in place of keys with dots, and with one spelling of each name.

    Equal names may differ in capitals, dashes and underscores; the first layer says how a name is written. Where a path
    has a value and values below it, its own value has the key "" in the map. An empty map changes no value.
    """
    budget = Budget("the files of a fold")
    trees = [one.value if isinstance(one.value, dict) else {} for one in layers]
    known = [[*_properties(tree, _Property((), (), {}, ()), budget)] for tree in trees]
    found = {one.uniform for properties in known for one in properties if one.value != {}}
    maps = {path[:end] for path in found for end in range(1, len(path)) if isinstance(path[end], str)}
    names: dict[Path, Any] = {}
    set_below = {path[:end] for path in found for end in range(len(path) + 1)}
    known = [[one for one in own if one.value != {} or one.uniform not in set_below] for own in known]
    return [_as_tree(one, own, maps, names) for one, own in zip(layers, known, strict=True)]


def _as_tree(one: Layer, properties: Iterable[_Property], maps: set[Path], names: dict[Path, Any]) -> Layer:
    """A layer with maps and lists in place of keys with dots. maps: uniform paths with values below them

    names: uniform path -> its last step as the first layer writes it; new ones are added
    """
    if not isinstance(one.value, dict):
        return one
    tree: dict[Any, Any] = {}
    places: dict[Path, Path] = {}
    for own in properties:
        path = tuple(names.setdefault(own.uniform[: end + 1], step) for end, step in enumerate(own.path))
        path = (*path, "") if own.uniform in maps else path
        holder = tree
        for end, step in enumerate(path[:-1]):
            places.setdefault(path[: end + 1], own.written)
            if not isinstance(holder.get(step), dict):
                holder[step] = {}
            holder = holder[step]
        holder[path[-1]], places[path] = own.value, own.written
    return Layer(_with_lists(tree), MovedKeys(one.origin, places), one.title, one.policy)


def _with_lists(value: Any) -> Any:
    """A tree in which maps with the keys 0, 1, ... are lists."""
    if not isinstance(value, dict):
        return value
    entries = {key: _with_lists(entry) for key, entry in value.items()}
    if entries and all(isinstance(key, int) for key in entries) and sorted(entries) == [*range(len(entries))]:
        return [entries[index] for index in range(len(entries))]
    return {str(key): entry for key, entry in entries.items()}


POLICIES = (
    NamedPolicy(
        "spring",
        "maps merge, keys without case and dashes, a.b is b in a; lists and other values are replaced",
        "Spring Boot, Externalized Configuration, Profile Specific Files and Relaxed Binding",
        ACROSS,
        prepare=_as_trees,
        uniform=_uniform,
    ),
)
