"""Inputs are never changed, and a result shares no mutable part with them."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given

from nodeattrs.errors import MergeConflict
from tests.laws import FOLDS, exact, fold, layers, places, some_layers
from tests.test_fold import STRICT

EACH_FOLD = pytest.mark.parametrize("folded", FOLDS.values(), ids=FOLDS)


def spoil(tree: Any) -> None:
    """Change every map and list that can be reached."""
    for _, value in list(places(tree)):
        if isinstance(value, dict):
            value["spoilt"] = "spoilt"
        elif isinstance(value, list):
            value.append("spoilt")


@EACH_FOLD
@given(some_layers)
def test_folding_changes_no_layer(folded, trees: Any):
    """Not even the order of its keys."""
    before = exact(trees)

    folded(*trees)

    assert before == exact(trees)


@EACH_FOLD
@given(some_layers)
def test_spoiling_the_result_spoils_no_layer(folded, trees: Any):
    """Every map and list of the result is its own."""
    before = exact(trees)

    spoil(folded(*trees).value)

    assert before == exact(trees)


@EACH_FOLD
@given(some_layers)
def test_spoiling_the_layers_does_not_spoil_the_result(folded, trees: Any):
    """What was folded is finished."""
    result = folded(*trees)
    before = exact(result.value)

    spoil(trees)

    assert before == exact(result.value)


@EACH_FOLD
@given(some_layers)
def test_no_map_or_list_stands_in_a_result_twice(folded, trees: Any):
    """One layer, handed in twice, and lists that two layers share: the result is a tree and no web."""
    shared = [trees[0], *trees, trees[0]]

    found = [id(value) for _, value in places(folded(*shared).value) if isinstance(value, (dict, list))]

    assert len(found) == len(set(found))


@given(some_layers)
def test_a_fold_that_fails_changes_no_layer(trees: Any):
    """Whatever had met before it failed was a copy."""
    before = copy.deepcopy(trees)

    with suppress(MergeConflict):
        fold(layers(*trees), STRICT)

    assert exact(before) == exact(trees)
