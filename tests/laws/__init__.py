"""The laws of the fold, one file for each family: the true ones, and the false ones with what breaks them.

The oracles here import nothing of the merge. A value is compared by `exact`, which sees
types and key order: `==` takes 1, 1.0 and True for the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Fold, Folded, Layer
from nodeattrs.core.part import Part, concat, made
from nodeattrs.core.policy import ACROSS, ANY, INSIDE, LIST, MAP, MEET, PRESENT, TAKE, TEXT, Line, Policy
from nodeattrs.policies import fold
from nodeattrs.testing import trees

NOTHING: Any = type("Nothing", (), {"__repr__": lambda self: "NOTHING"})()
"""What the oracles call an absent value."""

exact = repr
"""A text that is the same for values of the same types, content and key order only."""

said = trees(keys=("a", "b"))
"""What one layer says: two keys, so that layers meet at nearly every path."""


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, types included, whatever the order of keys."""
    if isinstance(one, dict) and isinstance(other, dict):
        ones, others = {exact(key): one[key] for key in one}, {exact(key): other[key] for key in other}
        return ones.keys() == others.keys() and all(same(ones[key], others[key]) for key in ones)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def united(lower: list[Any], upper: list[Any]) -> list[Any]:
    """The set union, by comparing each with each."""
    found: list[Any] = []
    for entry in lower + upper:
        if not any(same(entry, seen) for seen in found):
            found.append(entry)
    return found


def laid(lower: Any, upper: Any, lists_unite: bool) -> Any:
    """What docs/merging.md says of two values, written down as plainly as it can be."""
    if upper is NOTHING:
        return lower
    if isinstance(lower, dict) and isinstance(upper, dict):
        keys = [*lower, *(key for key in upper if key not in lower)]
        return {key: laid(lower.get(key, NOTHING), upper.get(key, NOTHING), lists_unite) for key in keys}
    if lists_unite and isinstance(lower, list) and isinstance(upper, list):
        return united(lower, upper)
    return upper


def _joined(lower: Part, upper: Part) -> Part:
    return made(lower.value + upper.value, lower, upper)


JOINING = Policy(
    "joining",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, concat, "the lists follow each other"),
    Line(TEXT, TEXT, _joined, "the texts follow each other"),
    Line(ANY, PRESENT, TAKE, "the later one replaces the earlier one"),
)
"""Texts and lists are put together: both have spoken. Not one of Chef's."""


def layers(*layers_said: Any) -> list[Layer]:
    """Layers with an origin that says their number: `file 1`, `file 2`, ..."""
    return [Layer(tree, Origin("file", str(number))) for number, tree in enumerate(layers_said, 1)]


def numbers(folded: Folded, path: tuple[Any, ...]) -> tuple[int, ...]:
    """The layers that are said to have said what stands at a path."""
    return tuple(int(origin.name) for origin in folded.origins(path))


def grouped(*layers_said: Any) -> Folded:
    """Two groups of up to two layers, and what is left over them: Chef's shape, small."""
    first, second, *rest = layers(*layers_said)
    return fold([Fold((first, second), INSIDE), *([Fold(tuple(rest[:2]), INSIDE)] if rest else []), *rest[2:]], ACROSS)


FOLDS = {
    "inside": lambda *trees_said: fold(layers(*trees_said), INSIDE),
    "across": lambda *trees_said: fold(layers(*trees_said), ACROSS),
    "joining": lambda *trees_said: fold(layers(*trees_said), JOINING),
    "from the top": lambda *trees_said: fold(layers(*trees_said), INSIDE, from_top=True),
    "grouped": grouped,
}
"""The folds that the laws are asked of."""

some_layers = st.lists(said, min_size=2, max_size=4)
"""What several layers say, weakest first."""


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every path of a tree, the root first, and what stands there."""
    yield path, tree
    if isinstance(tree, (dict, list)):
        for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(value, (*path, step))
