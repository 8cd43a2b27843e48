"""What the strongest layer said is read back, and nothing is read that nobody said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from nodeattrs import ACROSS, INSIDE
from tests.laws import FOLDS, NOTHING, exact, fold, laid, places, said, same, some_layers

FROM_BELOW = {"inside": (INSIDE, True), "across": (ACROSS, False)}


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path of maps, or NOTHING."""
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return NOTHING
        tree = tree[key]
    return tree


def through_maps(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """The places of a tree that are reached by keys alone."""
    found = [(path, tree)]
    if isinstance(tree, dict):
        for key, value in tree.items():
            found += through_maps(value, (*path, key))
    return found


@pytest.mark.parametrize(("policy", "lists_unite"), FROM_BELOW.values(), ids=FROM_BELOW)
@given(some_layers)
def test_the_fold_is_what_the_page_says(policy, lists_unite, trees: Any):
    """Rules 1 and 3 of docs/merging.md, written out once more and obeyed."""
    expected = trees[0]
    for tree in trees[1:]:
        expected = laid(expected, tree, lists_unite)

    assert exact(expected) == exact(fold(trees, policy).value)


@pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
@given(said, said)
def test_every_scalar_of_the_upper_layer_is_read_back(policy, lower: Any, upper: Any):
    """Null is a value like any other."""
    result = fold([lower, upper], policy).value

    for path, value in through_maps(upper):
        if not isinstance(value, (dict, list)):
            assert exact(value) == exact(at(result, path)), path


@given(said, said)
def test_across_groups_every_list_of_the_upper_layer_is_read_back(lower: Any, upper: Any):
    """As it was said, duplicates included; the empty one hides what lay below."""
    result = fold([lower, upper], ACROSS).value

    for path, value in through_maps(upper):
        if isinstance(value, list):
            assert exact(value) == exact(at(result, path)), path


@given(said, said)
def test_inside_a_group_every_element_of_the_upper_layer_is_read_back(lower: Any, upper: Any):
    """Somewhere in the list, or an equal one."""
    result = fold([lower, upper], INSIDE).value

    for path, value in through_maps(upper):
        if isinstance(value, list):
            assert all(any(same(entry, other) for other in at(result, path)) for entry in value), path


@pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
@given(said, said)
def test_what_the_upper_layer_is_silent_about_stays(policy, lower: Any, upper: Any):
    """A path that the upper layer neither says nor covers reads as the lower layer has it."""
    result = fold([lower, upper], policy).value

    for path, value in through_maps(lower):
        above = [at(upper, path[:depth]) for depth in range(len(path) + 1)]
        if above[-1] is NOTHING and all(isinstance(one, dict) for one in above if one is not NOTHING):
            assert exact(value) == exact(at(result, path)), path


@pytest.mark.parametrize("folded", FOLDS.values(), ids=FOLDS)
@given(some_layers)
def test_nothing_is_read_that_nobody_said(folded, trees: Any):
    """Every key of the result is a key that some layer has at that path."""
    for path, _ in through_maps(folded(*trees).value):
        assert any(at(tree, path) is not NOTHING for tree in trees), path


@pytest.mark.parametrize("folded", FOLDS.values(), ids=FOLDS)
@given(some_layers)
def test_every_place_of_the_result_can_be_asked_for(folded, trees: Any):
    """`trace` and `explain` answer wherever something is read, and agree with what is read."""
    result = folded(*trees)

    for path, value in places(result.value):
        trace = result.trace(path)
        assert trace.found
        assert exact(value) == exact(trace.value)
        assert result.explain(path) == str(trace)
