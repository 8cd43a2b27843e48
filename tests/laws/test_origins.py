"""Origins are sound, complete and causal. A test of values alone notices no wrong origin.

sound:    a layer that is named has that value at that path
complete: every layer that said it is named: each element of a united list, each piece of a text
causal:   change what a named layer says, within its kind, and the result changes; change
          what anybody else says, and this value stays

Within its kind: a null turned into a map, or a number into a text, may be judged by
another line, and the result rightly changes (docs/merging.md).

Mutants of the core that no test of values noticed, and that these laws did:

    unite   only the first locator of equal elements is kept, or only the last
    unite   the elements of the upper list are said to be the lower layer's
    concat  the same
    made    a joined text is the lower layer's alone
    _met    a replaced scalar keeps its old origin
    _met    what a handler made is said to be the upper layer's alone
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.testing import trees
from tests.edits import changed, leaves
from tests.effort import examples
from tests.laws import FOLDS, exact, numbers, places, same

EACH_FOLD = pytest.mark.parametrize("name", FOLDS)

speaking = trees(keys=("a", "b"), scalars=("x", "y", 1, 2), max_leaves=6)
"""Texts and numbers under two keys: each can be changed within its kind."""

several = st.lists(speaking, min_size=2, max_size=4)
with_null = st.lists(trees(keys=("a", "b")), min_size=2, max_size=4)


def sayings(tree: Any, path: tuple[Any, ...]) -> list[Any]:
    """What a layer says at a path: through a list, in any of its elements."""
    here = [tree]
    for step in path:
        below = []
        for one in here:
            if isinstance(one, dict) and step in one:
                below.append(one[step])
            elif isinstance(one, list):
                below += one
        here = below
    return here


def says(tree: Any, path: tuple[Any, ...], value: Any, pieces: bool) -> bool:
    """Whether a layer says a value at a path; as a piece of it, where texts are joined."""
    return any(
        same(one, value) or (pieces and isinstance(one, str) and isinstance(value, str) and one in value)
        for one in sayings(tree, path)
    )


@EACH_FOLD
@settings(max_examples=examples(200))
@given(with_null)
def test_origins_are_sound(name: str, said: list[Any]):
    """Whoever is named said it, there."""
    folded = FOLDS[name](*said)

    for path, value in leaves(folded.value):
        if path:
            named = numbers(folded, path)
            assert named, f"nobody said {path}"
            for number in named:
                assert says(said[number - 1], path, value, name == "joining"), (path, number)


class Stamped:
    """A value that carries the layers that said it: the obvious way, and ten times too slow."""

    def __init__(self, value: Any, who: frozenset[int]) -> None:
        self.value = value
        self.who = who


def stamped(tree: Any, number: int) -> Any:
    """A layer's tree: maps stay maps, whatever else is stamped; a list is stamped element by element too."""
    who = frozenset([number])
    if isinstance(tree, dict):
        return {key: stamped(value, number) for key, value in tree.items()}
    if isinstance(tree, list):
        return Stamped([Stamped(element, who) for element in tree], who)
    return Stamped(tree, who)


def is_list(one: Any) -> bool:
    return isinstance(one, Stamped) and isinstance(one.value, list)


def is_text(one: Any) -> bool:
    return isinstance(one, Stamped) and isinstance(one.value, str)


def laid(lower: Any, upper: Any, lists: str, texts: str) -> Any:
    """Two stamped trees, one over the other."""
    if isinstance(lower, dict) and isinstance(upper, dict):
        keys = dict.fromkeys([*lower, *upper])
        return {
            key: laid(lower[key], upper[key], lists, texts)
            if key in lower and key in upper
            else lower[key] if key in lower else upper[key]
            for key in keys
        }  # fmt: skip
    if is_list(lower) and is_list(upper) and lists != "replace":
        elements = lower.value + upper.value
        if lists == "unite":
            elements = once_each(elements)
        return Stamped(elements, lower.who)
    if is_text(lower) and is_text(upper) and texts == "join":
        return Stamped(lower.value + upper.value, lower.who | upper.who)
    return upper


def once_each(elements: list[Stamped]) -> list[Stamped]:
    found: list[Stamped] = []
    for element in elements:
        equal = next((one for one in found if same(one.value, element.value)), None)
        if equal is None:
            found.append(Stamped(element.value, element.who))
        else:
            equal.who |= element.who
    return found


def expected(name: str, said: list[Any]) -> Any:
    """The stamped tree that a fold should give."""

    def over(trees_said: list[Any], lists: str, texts: str = "replace") -> Any:
        result, *rest = trees_said
        for tree in rest:
            result = laid(result, tree, lists, texts)
        return result

    marked = [stamped(tree, number) for number, tree in enumerate(said, 1)]
    if name == "inside":
        return over(marked, "unite")
    if name == "across":
        return over(marked, "replace")
    if name == "joining":
        return over(marked, "concat", "join")
    if name == "from the top":
        result, *rest = marked
        for tree in rest:
            result = laid(tree, result, "unite", "replace")
        return result
    groups = [over(marked[:2], "unite"), *([over(marked[2:4], "unite")] if marked[2:] else [])]
    return over([*groups, *marked[4:]], "replace")


def setters(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], frozenset[int]]]:
    """Every leaf, every element of a list and every empty list, and who said it."""
    if isinstance(tree, dict):
        return [found for key, value in tree.items() for found in setters(value, (*path, key))]
    if is_list(tree) and tree.value:
        return [((*path, index), element.who) for index, element in enumerate(tree.value)]
    return [(path, tree.who)]


@EACH_FOLD
@settings(max_examples=examples(200))
@given(with_null)
def test_origins_are_complete(name: str, said: list[Any]):
    """Everyone who said an equal element, everyone who said a piece of a text, and nobody else."""
    folded = FOLDS[name](*said)

    for path, who in setters(expected(name, said)):
        assert sorted(who) == sorted(numbers(folded, path)), path


def other(value: Any) -> Any:
    """Another value of the same kind, which no layer has said."""
    return value + "!" if isinstance(value, str) else value + 100


def edited(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A layer in which every saying of a scalar at a path is another one of its kind."""
    for place, said in list(places(tree)):
        fits = len(place) == len(path) and all(
            mine == step or (isinstance(mine, int) and isinstance(step, int))
            for mine, step in zip(place, path, strict=True)
        )
        if fits and same(said, value):
            tree = changed(tree, place, other(value))
    return tree


def pieces_changed(tree: Any, path: tuple[Any, ...]) -> Any:
    """A layer whose text at a path, one piece of a joined one, is another."""
    (piece,) = sayings(tree, path)
    return changed(tree, path, other(piece))


def scalars_of(tree: Any) -> list[tuple[tuple[Any, ...], Any]]:
    return [(path, value) for path, value in leaves(tree) if path and not isinstance(value, (dict, list))]


@EACH_FOLD
@settings(max_examples=examples(150))
@given(several, st.data())
def test_origins_are_causal(name: str, said: list[Any], data: st.DataObject):
    """Whoever is named decides: if all of them say something else, the old value is gone."""
    folded = FOLDS[name](*said)
    found = scalars_of(folded.value)
    if not found:
        return
    path, value = data.draw(st.sampled_from(found))
    named = numbers(folded, path)
    in_list = any(isinstance(step, int) for step in path)
    again = list(said)
    for number in named:
        joined = name == "joining" and isinstance(value, str) and not in_list
        again[number - 1] = pieces_changed(said[number - 1], path) if joined else edited(said[number - 1], path, value)

    now = FOLDS[name](*again)

    if not in_list:
        assert not any(same(value, one) for one in sayings(now.value, path)), path
    elif name == "joining":
        assert exact(folded.value) != exact(now.value), path
    else:
        top, before = until_list(path), exact(folded.value)
        assert before != exact(now.value), path
        if len(path) == len(top) + 1:
            assert not any(same(value, one) for one in sayings(now.value, top)[0]), path


def until_list(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The path of the first list on the way: the keys of these trees are texts, an index is a number."""
    return path[: next(depth for depth, step in enumerate(path) if isinstance(step, int))]


@EACH_FOLD
@settings(max_examples=examples(150))
@given(several, st.data())
def test_each_of_them_alone_changes_the_result(name: str, said: list[Any], data: st.DataObject):
    """Nobody is named for nothing; an equal element said twice stays, and the new one joins it."""
    folded = FOLDS[name](*said)
    found = scalars_of(folded.value)
    if not found:
        return
    path, value = data.draw(st.sampled_from(found))
    number = data.draw(st.sampled_from(numbers(folded, path)))
    tree = said[number - 1]
    joined = name == "joining" and isinstance(value, str) and not any(isinstance(step, int) for step in path)
    again = list(said)
    again[number - 1] = pieces_changed(tree, path) if joined else edited(tree, path, value)

    assert exact(folded.value) != exact(FOLDS[name](*again).value), path


@EACH_FOLD
@settings(max_examples=examples(150))
@given(several, st.data())
def test_a_loser_changes_nothing(name: str, said: list[Any], data: st.DataObject):
    """A layer that is not named may say what it likes of the same kind: here, everywhere it speaks."""
    folded = FOLDS[name](*said)
    found = [(path, value) for path, value in scalars_of(folded.value) if int not in map(type, path)]
    if not found:
        return
    path, value = data.draw(st.sampled_from(found))
    again = list(said)
    for number in range(1, len(said) + 1):
        if number not in numbers(folded, path):
            for place, old in scalars_of(said[number - 1]):
                again[number - 1] = changed(again[number - 1], place, other(old))

    now = FOLDS[name](*again)

    assert same(value, sayings(now.value, path)[0]), path
    assert numbers(folded, path) == numbers(now, path)
