"""The order of keys: those of the lower map, then what the upper one adds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from nodeattrs import ACROSS, INSIDE
from tests.laws import FOLDS, fold, said, some_layers
from tests.laws.test_read_back import at, through_maps


@pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
@given(said, said)
def test_keys_of_the_lower_map_come_first(policy, lower: Any, upper: Any):
    """In both maps' own order, at every path where two maps met; a replaced value keeps its place."""
    result = fold([lower, upper], policy).value

    for path, below in through_maps(lower):
        above = at(upper, path)
        if isinstance(below, dict) and isinstance(above, dict):
            assert [*dict.fromkeys([*below, *above])] == [*at(result, path)], path


@pytest.mark.parametrize("folded", [FOLDS["inside"], FOLDS["across"]], ids=["inside", "across"])
@given(some_layers)
def test_top_level_keys_stand_in_order_of_first_appearance(folded, trees: Any):
    """However many layers there are."""
    assert [*dict.fromkeys(key for tree in trees for key in tree)] == [*folded(*trees).value]


@given(some_layers)
def test_from_the_top_the_lowest_still_comes_first(trees: Any):
    """The order of the keys follows who lies lower, not who was laid first."""
    assert [*dict.fromkeys(key for tree in reversed(trees) for key in tree)] == [*FOLDS["from the top"](*trees).value]


def test_a_map_that_was_cut_off_starts_a_new_order():
    """A scalar in between forgets the keys below it, and their order."""
    seen = fold([{"k": {"z": 1, "y": 1}}, {"k": None}, {"k": {"y": 3, "z": 3}}]).value

    assert ["y", "z"] == [*seen["k"]]


def test_a_replaced_key_keeps_its_place():
    """Replacing is not removing and adding."""
    assert ["first", "second"] == [*fold([{"first": {"x": 1}, "second": 2}, {"first": "new"}]).value]
