"""What a fold leaves as it is: an empty layer, a layer alone, a layer over itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from nodeattrs import ACROSS, INSIDE, fold
from tests.laws import JOINING, exact, said

CHEFS = pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
ALL = pytest.mark.parametrize("policy", [INSIDE, ACROSS, JOINING], ids=repr)


@ALL
@given(said)
def test_a_layer_alone_is_what_it_says(policy, tree: Any):
    """Nobody to meet: types, key order and duplicates in lists stay."""
    assert exact(tree) == exact(fold([tree], policy).value)


@ALL
@given(said)
def test_an_empty_layer_changes_nothing(policy, tree: Any):
    """Whether it lies under, over, or under and over."""
    assert exact(tree) == exact(fold([{}, tree], policy).value)
    assert exact(tree) == exact(fold([tree, {}], policy).value)
    assert exact(tree) == exact(fold([{}, tree, {}], policy).value)


@given(said)
def test_across_groups_a_layer_over_itself_is_itself(tree: Any):
    """Saying the same once more changes nothing where lists are replaced."""
    assert exact(tree) == exact(fold([tree, tree], ACROSS).value)


@given(said)
def test_inside_a_group_a_third_time_changes_nothing(tree: Any):
    """The second time may: see the next test."""
    twice = fold([tree, tree], INSIDE).value

    assert exact(twice) == exact(fold([tree, tree, tree], INSIDE).value)


def test_inside_a_group_a_layer_over_itself_can_lose_duplicates():
    """A law we do not have: a list keeps its duplicates until it meets another one, itself included."""
    tree = {"l": ["x", "x"]}

    assert {"l": ["x", "x"]} == fold([tree], INSIDE).value
    assert {"l": ["x"]} == fold([tree, tree], INSIDE).value


@CHEFS
@given(said, said)
def test_the_upper_layer_once_more_changes_nothing(policy, lower: Any, upper: Any):
    """What it had to say it has said."""
    once = fold([lower, upper], policy).value

    assert exact(fold([once, upper], policy).value) == exact(fold([lower, upper, upper], policy).value)
    if policy is ACROSS:
        assert exact(once) == exact(fold([once, upper], policy).value)
