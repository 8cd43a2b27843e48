"""Walks through what handlers and changes have made: where each part stood before, and who was overridden there."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.core.folding import Folding, meet
from nodeattrs.core.origins import SourcePath
from nodeattrs.core.part import Part, by_position, entries, handler, listed, remade, unite
from nodeattrs.core.policy import ABSENT_KIND, ANY, KEEP, LIST, MAP, MEET, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.core.tracing import walk
from nodeattrs.errors import BadValue

OVER = Policy("over", Line(MAP, MAP, MEET), Line(ANY, PRESENT, TAKE, "the upper one replaces the lower one"))
FIRST = Policy(
    "first", Line(MAP, MAP, MEET), Line(ABSENT_KIND, PRESENT, TAKE), Line(ANY, PRESENT, KEEP, "the lower one stays")
)


def _over(lower: Part, upper: Part) -> Part:
    return upper if lower.value is None else meet(OVER, lower, upper)


INSIDE_LISTS = Policy(
    "position by position",
    Line(MAP, MAP, MEET),
    Line(LIST, LIST, partial(by_position, join=lambda lower, upper: meet(OVER, lower, upper)), "lists by position"),
    Line(ANY, PRESENT, TAKE),
)


def laid(policy: Policy, *values: Any, start: Any = None) -> Folding:
    folding = Folding(start=None if start is None else Part(start, 0))
    for number, value in enumerate(values, 1):
        folding.lay(Part(value, number), policy)
    return folding


def who(folding: Folding, *path: Any) -> tuple[list[tuple[int, tuple[Any, ...]]], list[tuple[int, tuple[int, ...]]]]:
    """Who stands, and at which place of its own; who was overridden, and by whom."""
    found = walk(folding, path)
    return (
        [(one.source, one.own) for one in found.standing],
        [(lost.setting.source, lost.by) for lost in found.overridden],
    )


class TestHandlers:
    def test_whom_each_of_many_parts_has_overridden_inside_a_list_is_known(self):
        """
        The handler made the list four times; nobody is forgotten on the way.
        """
        folding = laid(INSIDE_LISTS, *({"l": [{"a": number}]} for number in (1, 2, 3, 4)))

        assert who(folding, "l", 0, "a") == ([(4, ("l", 0, "a"))], [(3, (4,)), (2, (3,)), (1, (2,))])

    def test_who_was_overridden_before_a_handler_came_is_known_too(self):
        """
        Two maps met key by key, then a handler made another map of them.
        """
        folding = laid(OVER, {"a": 1}, {"a": 2})
        renamed = Line(MAP, MAP, lambda lower, upper: entries({"b": lower.at("a")}, lower, upper))
        folding.lay(Part({}, 3), Policy("renaming", renamed, Line(ANY, PRESENT, TAKE)))

        assert who(folding, "b") == ([(2, ("a",))], [(1, (2,))])

    def test_five_hundred_parts_are_walked_as_well(self):
        """
        However the values were made, one inside the other.
        """
        folding = laid(INSIDE_LISTS, *({"l": [{"a": number}]} for number in range(500)))
        standing, overridden = who(folding, "l", 0, "a")

        assert ([(500, ("l", 0, "a"))], 499) == (standing, len(overridden))


def test_an_element_that_becomes_a_value_of_another_type_is_a_change():
    part = remade(Part([1, 0], [1, 2]), [True, 0], 3)

    assert repr([True, 0]) == repr(part.value)
    assert [3, 2] == part.origins


def _with_y(part: Part) -> Part:
    return remade(part, ["y", *part.value], 3)


class TestChanges:
    @pytest.fixture
    def changed(self) -> Folding:
        folding = laid(OVER, {"a": 1, "l": ["x"]}, {"a": 2, "b": 2})
        folding.change(lambda before, _: entries({"a": before.at("a"), "b": Part(3, 3), "l": _with_y(before.at("l"))}))
        return folding

    def test_what_was_left_as_it_was_keeps_its_past(self, changed: Folding):
        """
        Who was overridden before the change is so by whom it was.
        """
        assert who(changed, "a") == ([(2, ("a",))], [(1, (2,))])

    def test_a_value_that_a_change_moves_keeps_its_place_in_its_source(self, changed: Folding):
        """
        In the source's own tree.
        """
        assert who(changed, "l", 1) == ([(1, ("l", 0))], [])

    def test_what_was_replaced_was_overridden_by_the_change(self, changed: Folding):
        """
        And is next in line.
        """
        assert who(changed, "b") == ([(3, ("b",))], [(2, (3,))])

    def test_a_change_is_repeated_with_located_origins(self, changed: Folding):
        """
        Its places are those of the sources.
        """
        assert changed.located().origins["l"][1].path == ("l", 0)

    def test_what_was_put_elsewhere_is_told_where_it_stands(self):
        """
        And is nobody's who asks for what lies beside it.
        """
        folding = laid(OVER, {"a": {"b": 1}})
        folding.change(_put, of=Part({"x": 2}, SourcePath(2, ())))

        assert [(one.source, one.path) for one in walk(folding, ("a",)).standing] == [(1, ("a",)), (2, ("a", "c"))]
        assert who(folding, "a", "b") == ([(1, ("a", "b"))], [])
        assert who(folding, "a", "c") == ([(2, ("x",))], [])

    def test_what_is_copied_and_then_replaced_is_overridden_where_it_was(self):
        """
        Though it is still read elsewhere.
        """
        folding = laid(OVER, {"a": 1})
        folding.change(
            lambda before, _: entries({"a": before.at("a"), "b": before.at("a")}), of=Part({}, SourcePath(2, ()))
        )
        folding.change(
            lambda before, said: entries({"a": said.at("x"), "b": before.at("b")}) if said.value else before,
            of=Part({"x": 3}, SourcePath(3, ())),
        )

        assert who(folding, "a") == ([(3, ("x",))], [(1, (3,))])
        assert who(folding, "b") == ([(1, ("a",))], [])

    def test_several_are_made_or_none(self):
        """
        The folding stays as it was.
        """
        folding = laid(OVER, {"a": 1})
        with pytest.raises(ZeroDivisionError):
            folding.change(lambda before, _: Part({}, 0), lambda before, _: Part(1 / 0, 0))

        assert ({"a": 1}, 1) == (folding.result.value, len(folding.steps))


def _put(before: Part, said: Part) -> Part:
    if "x" not in said.value:
        return before
    return entries({"a": entries({"b": before.at("a").at("b"), "c": said.at("x")})})


class TestNextInLine:
    def test_a_change_is_made_again_without_what_it_sets(self):
        """
        Then nothing was changed.
        """
        folding = laid(OVER, {"a": {"c": 1, "b": 1}}, {"a": {"c": 2}})
        folding.change(_put, of=Part({"x": 3}, SourcePath(3, ())))

        assert who(folding, "a", "c") == ([(3, ("x",))], [(2, (3,)), (1, (2,))])

    def test_a_change_that_cannot_be_made_without_the_winner_is_no_obstacle(self):
        """
        The walk without it ends there.
        """

        def needs(before: Part, _: Part) -> Part:
            if "a" not in before.value:
                raise BadValue("there is no a")
            return before

        folding = laid(OVER, {"b": 1, "a": 1}, {"a": 2})
        folding.change(needs)
        folding.lay(
            Part({"a": 3}, 3),
            Policy("below", Line(MAP, MAP, MEET), Line(PRESENT, PRESENT, KEEP), Line(ANY, PRESENT, TAKE)),
        )

        assert who(folding, "a")[1][0] == (1, (2,))

    def test_who_is_next_depends_on_what_the_others_are(self):
        """
        A text gives way, a number does not: without the first one the third is read.
        """
        by_kind = Policy(
            "by kind",
            Line(MAP, MAP, MEET),
            Line(ABSENT_KIND, PRESENT, TAKE),
            Line("text", PRESENT, TAKE),
            Line(ANY, PRESENT, KEEP, "a number stays"),
        )

        assert who(laid(by_kind, {"a": 1}, {"a": "x"}, {"a": 3}), "a")[1] == [(3, (1,)), (2, (1,))]

    def test_who_would_never_be_read_is_not_next(self):
        """
        The map that replaced the text stays a map without its entry.
        """
        folding = laid(OVER, {"a": "x"}, {"a": {"b": 1}}, {"a": {"c": 1}})

        assert who(folding, "a", "b") == ([(2, ("a", "b"))], [(1, (2, 3))])

    def test_what_does_not_fit_has_itself_to_blame(self):
        """
        What lay there before the first part would stay without the others, too.
        """
        closed = Policy("closed", Line(ANY, PRESENT, KEEP, "nothing fits"))
        folding = laid(OVER, {"a": 1}, start={})
        folding.lay(Part({"a": 2}, 2), closed)

        assert who(folding, "a") == ([(1, ("a",))], [(2, (2,))])

    def test_a_list_stands_in_the_way_of_names(self):
        """
        And is named as overridden where a map has replaced it, or it a map.
        """
        assert who(laid(OVER, {"a": ["x"]}, {"a": {"b": 1}}), "a", "b") == ([(2, ("a", "b"))], [(1, (2,))])
        assert walk(laid(OVER, {"a": {"b": 1}}, {"a": ["x"]}), ("a", "b")).cover == ("a",)


def _one_by_one(lower: Part, upper: Part) -> Part:
    """As `unite`, of which nobody knows that it regroups."""
    return unite(lower, upper)


class TestListsInARow:
    @given(st.lists(st.lists(st.sampled_from([1, True, "a", "b"]), max_size=3) | st.none(), min_size=2), st.booleans())
    def test_joining_lists_in_any_grouping_gives_the_same_trace(self, values, from_top):
        """Who stands, at which place, and who was overridden by whom."""
        policies = (
            Policy("lists", Line(LIST, LIST, handler, "joined"), Line(ANY, PRESENT, TAKE))
            for handler in (unite, _one_by_one)
        )
        found = []
        for policy in policies:
            folding = Folding(from_top=from_top)
            for number, value in enumerate(values, 1):
                folding.lay(Part(value, number), policy)
            walks = (who(folding, *path) for path in ((), (0,), (1,), (2,), (3,)))
            found.append([(one, sorted((source, sorted(by)) for source, by in lost)) for one, lost in walks])

        assert found[0] == found[1]

    def test_many_cost_little_more_than_each_by_itself(self):
        """Twice as many lists, little more than twice the elements that are looked at."""
        counted: list[int] = []

        @handler(regroups=True)
        def counting(lower: Part, upper: Part) -> Part:
            counted.append(len(lower.value) + len(upper.value))
            return unite(lower, upper)

        policy = Policy("lists", Line(LIST, LIST, counting, "joined"), Line(ANY, PRESENT, TAKE))
        cost = []
        for many in (128, 256):
            folding = laid(policy, *([number] for number in range(many)))
            counted.clear()
            assert many == len(walk(folding, ()).standing)
            cost.append(sum(counted))

        assert cost[1] < 2.5 * cost[0]


def test_inner_meetings_follow_the_elements():
    """A handler that joins what it has moved: each element keeps whom it has overridden."""

    def reversed_over(lower: Part, upper: Part) -> Part:
        backwards = listed(list(lower.elements())[::-1], lower)
        return by_position(backwards, upper, lambda below, above: meet(OVER, below, above))

    policy = Policy(
        "reversed", Line(MAP, MAP, Meet(lambda: policy)), Line(LIST, LIST, reversed_over), Line(ANY, PRESENT, TAKE)
    )
    folding = laid(policy, {"l": [{"a": 1}, {"b": 2}]}, {"l": [{"b": 3}]})

    assert folding.result.value == {"l": [{"b": 3}, {"a": 1}]}
    assert who(folding, "l", 0, "b") == ([(2, ("l", 0, "b"))], [(1, (2,))])
    assert who(folding, "l", 1, "a") == ([(1, ("l", 0, "a"))], [])
