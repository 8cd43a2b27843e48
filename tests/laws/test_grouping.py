"""Brackets: where they may be moved, and where they must not be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import ACROSS, INSIDE, Fold, Layer, Policy
from nodeattrs.core.policy import ANY, PRESENT, TAKE, Line
from tests.laws import JOINING, exact, fold, said

POLICIES = pytest.mark.parametrize("policy", [INSIDE, ACROSS, JOINING], ids=repr)

scalars = st.sampled_from(["x", "y", 1, 1.0, True])
kept_kinds = st.deferred(
    lambda: st.fixed_dictionaries({}, optional={"map": kept_kinds, "list": st.lists(scalars, max_size=2), "s": scalars})
)
"""Trees in which a key always holds a value of the same kind."""


def over(policy: Policy, lower: Any, upper: Any) -> Any:
    return fold([lower, upper], policy).value


@POLICIES
@given(said, said, said)
def test_a_fold_is_bracketed_to_the_left(policy, one: Any, two: Any, three: Any):
    """Layers are laid one after the other, and a finished result can be folded on."""
    assert exact(over(policy, over(policy, one, two), three)) == exact(fold([one, two, three], policy).value)


@POLICIES
@given(said, said, said)
def test_from_the_top_it_is_bracketed_to_the_right(policy, one: Any, two: Any, three: Any):
    """The result so far lies over each child."""
    upside_down = fold([three, two, one], policy, from_top=True).value

    assert exact(over(policy, one, over(policy, two, three))) == exact(upside_down)


@POLICIES
@given(said, said, said)
def test_an_inner_fold_is_a_bracket(policy, one: Any, two: Any, three: Any):
    """What it gives is what its layers give when they are folded on their own."""
    inner = Fold((Layer(two), Layer(three)), policy)

    assert exact(over(policy, one, over(policy, two, three))) == exact(fold([one, inner], policy).value)


@pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
@given(kept_kinds, kept_kinds, kept_kinds)
def test_brackets_may_move_where_each_key_keeps_its_kind(policy, one: Any, two: Any, three: Any):
    """No scalar ever stands where another layer has a map or a list."""
    left = over(policy, over(policy, one, two), three)
    right = over(policy, one, over(policy, two, three))

    assert exact(left) == exact(right)


class TestTheLawWeDoNotHave:
    """Brackets may not be moved in general; each policy has its reason."""

    @pytest.mark.parametrize("policy", [INSIDE, ACROSS, JOINING], ids=repr)
    @pytest.mark.parametrize("scalar", [None, "s", 5, False])
    def test_a_scalar_cuts_the_maps_above_and_below_it_apart(self, policy, scalar):
        """Bracketed to the right, the scalar is gone before the lowest map is seen."""
        bottom, middle, top = {"k": {"low": 1}}, {"k": scalar}, {"k": {"high": 3}}

        assert {"k": {"high": 3}} == over(policy, over(policy, bottom, middle), top)
        assert {"k": {"low": 1, "high": 3}} == over(policy, bottom, over(policy, middle, top))

    def test_inside_a_group_a_scalar_cuts_lists_apart_as_well(self):
        """The smallest case: a list, null, an empty list."""
        bottom, middle, top = {"l": ["x"]}, {"l": None}, {"l": []}

        assert {"l": []} == over(INSIDE, over(INSIDE, bottom, middle), top)
        assert {"l": ["x"]} == over(INSIDE, bottom, over(INSIDE, middle, top))

    def test_across_groups_lists_do_not_mind(self):
        """The same three, where a list replaces whatever lies below."""
        bottom, middle, top = {"l": ["x"]}, {"l": None}, {"l": []}

        assert (
            {"l": []}
            == over(ACROSS, over(ACROSS, bottom, middle), top)
            == over(ACROSS, bottom, over(ACROSS, middle, top))
        )

    def test_groups_cannot_be_flattened(self):
        """A conflict inside a group does not cut off the groups below it: why groups are finished first."""
        default, weaker, stronger = Layer({"k": {"x": 1}}), Layer({"k": 3}), Layer({"k": {"z": 1}})

        assert {"k": {"x": 1, "z": 1}} == fold([default, Fold((weaker, stronger), INSIDE)], ACROSS).value
        assert {"k": {"z": 1}} == fold([default, weaker, stronger], ACROSS).value


@given(said, said, said)
def test_where_nothing_meets_brackets_may_move(one: Any, two: Any, three: Any):
    """What breaks the law is meeting, not replacing."""
    newest = Policy("newest", Line(ANY, PRESENT, TAKE))

    assert exact(over(newest, over(newest, one, two), three)) == exact(over(newest, one, over(newest, two, three)))
