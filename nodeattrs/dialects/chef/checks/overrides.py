"""Find values that are always overridden, equal to the value below, or of another type than the value below.

The functions read stacks (`stacks.Stack`): the layers of each node. A finding is reported only if it is true on every
node with its layer, and no cookbook might change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.tree import ABSENT, Path, spell, strict_key
from nodeattrs.dialects.chef.checks.stacks import Stack, StackLayer
from nodeattrs.errors import DocumentError
from nodeattrs.kinds import ALWAYS_OVERRIDDEN, EQUAL_TO_OVERRIDDEN, TYPE_CHANGE


class _LayerLeaves(NamedTuple):
    """A layer, and its leaves that are overridden, or equal to the value below, on all nodes so far.

    hidden: path of a leaf -> id of a layer -> the layer, which overrides the leaf
    equal:  path of a leaf -> id of a layer -> the layer, which is weaker and has the same value
    """

    layer: StackLayer
    hidden: dict[Path, dict[int, StackLayer]]
    equal: dict[Path, dict[int, StackLayer]]


def overrides(stacks: Sequence[Stack]) -> Iterator[DocumentError]:
    """Yield a warning for each value of a layer that has no effect on any node with the layer.

    Either a stronger layer overrides the value on all these nodes, or it equals the value below it on all of them.
    No warning if the cookbooks of one of these nodes may set or remove the value.
    """
    alike = {(*map(id, stack.layers), stack.unknown): stack for stack in stacks}
    possible: dict[int, _LayerLeaves] = {}
    for stack in alike.values():
        for index, layer in enumerate(stack.layers):
            if id(layer) not in possible:
                possible[id(layer)] = _LayerLeaves(
                    layer, {path: {} for path in layer.leaves}, {path: {} for path in layer.leaves}
                )
            left = possible[id(layer)]
            for judged, found in ((_overrider, left.hidden), (_same_below, left.equal)):
                for path in [*found]:
                    other = judged(layer, path, stack, index)
                    if other is None:
                        del found[path]
                    else:
                        found[path][id(other)] = other
    for layer, hidden, equal in possible.values():
        for path in layer.leaves:
            if path in hidden:
                message = "is overridden on every node that has it"
                yield _finding(ALWAYS_OVERRIDDEN, layer, path, message, hidden[path].values())
            elif path in equal:
                yield _finding(EQUAL_TO_OVERRIDDEN, layer, path, "is equal to what it overrides", equal[path].values())


def _finding(kind: Kind, layer: StackLayer, path: Path, message: str, others: Iterable[StackLayer]) -> DocumentError:
    by = "by" if kind == ALWAYS_OVERRIDDEN else "the same value:"
    origins = [other.locator.at(path) for other in others]
    places = list(dict.fromkeys(f"{by} {one.place or one} ({one.who})" for one in origins))
    places = places[:3] + [f"and {len(places) - 3} more"] * (len(places) > 3)
    return layer_warning(kind, layer, path, f"{spell(path)} {message}", details=places)


def layer_warning(kind: Kind, layer: StackLayer, path: Path, message: str, **facts: Any) -> DocumentError:
    """A warning at the line where a layer sets a path; raises nothing. facts: further arguments of the DocumentError"""
    at = layer.locator.at(path)
    inside = layer.locator.under if hasattr(layer.locator, "under") else ()
    return DocumentError(
        message, file=at.file, line=at.line, column=at.column, path=(*inside, *path), kind=kind, **facts
    )


def _overrider(layer: StackLayer, path: Path, stack: Stack, index: int) -> StackLayer | None:
    """The layer that overrides a leaf with another value, or None. None too for joined lists, and for `rm` in code."""
    if "rm" in stack.unknown:
        return None
    value = layer.leaves[path]
    for upper in stack.layers[:index]:
        found = upper.value_at(path)
        if found is ABSENT or found is None or (found == {} and isinstance(found, Mapping)):
            continue
        if isinstance(found, list) and isinstance(value, list) and upper.level == layer.level:
            continue
        return None if strict_key(found) == strict_key(value) else upper
    return None


def _same_below(layer: StackLayer, path: Path, stack: Stack, index: int) -> StackLayer | None:
    """The next weaker layer with the path of a leaf, if its value is equal; else None.

    None too if a cookbook may set a value between the two.
    """
    for lower in stack.layers[index + 1 :]:
        found = lower.value_at(path)
        if found is ABSENT:
            continue
        if found is None or isinstance(found, Mapping) or not stack.is_certain(layer, lower):
            return None
        if strict_key(found) != strict_key(layer.leaves[path]):
            return None
        # Lists of one level are joined, so an equal list is only certain within a level, and without repeated elements.
        if isinstance(found, list) and (
            lower.level != layer.level or len({repr(strict_key(one)) for one in found}) < len(found)
        ):
            return None
        # `value_at` may also give a value above the path, which is not a map.
        return lower if path in lower.leaves else None
    return None


# --- shapes


def type_changes(stacks: Iterable[Stack]) -> Iterator[DocumentError]:
    """Yield a warning for each path that is a map in one layer of a node, and a scalar or list in another.

    Null and the empty map are ignored. A pair of layers that several nodes share is compared once in all.
    """
    seen: set[tuple[int, int]] = set()
    for stack in stacks:
        for index, upper in enumerate(stack.layers):
            for lower in stack.layers[index + 1 :]:
                pair = (id(upper.tree), id(lower.tree))
                if pair not in seen and upper.tree and lower.tree:
                    seen.add(pair)
                    yield from _changes(upper, lower)


def _changes(upper: StackLayer, lower: StackLayer) -> Iterator[DocumentError]:
    left: list[tuple[Path, Mapping[Any, Any], Mapping[Any, Any]]] = [((), upper.tree, lower.tree)]
    while left:
        path, one, other = left.pop()
        for key in one.keys() & other.keys():
            above, below, here = one[key], other[key], (*path, key)
            maps = isinstance(above, Mapping), isinstance(below, Mapping)
            if all(maps):
                left.append((here, above, below))
            elif any(maps) and None not in (above, below) and {} not in (above, below):
                place = lower.locator.at(here)
                message = (
                    f"{spell(here)} is {kind_in_words(above)} here, and {kind_in_words(below)} where it is overridden"
                )
                detail = f"{place.place or place} ({place.who})"
                yield layer_warning(TYPE_CHANGE, upper, here, message, details=[detail])


def kind_in_words(value: Any) -> str:
    """The kind of a value in words: "a map", "a list", "text", "true or false", or else "a number"."""
    kinds = {dict: "a map", list: "a list", str: "text", bool: "true or false"}
    return kinds.get(type(value), "a map" if isinstance(value, Mapping) else "a number")
