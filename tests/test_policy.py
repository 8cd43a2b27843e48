"""Policies: tables that are whole before they are used, and Chef's two, line by line."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given

from nodeattrs import ACROSS, INSIDE, Line, Policy, fold
from nodeattrs.core.part import Part, handler, unite
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    DROP,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    SCALAR,
    TAKE,
    TEXT,
    Meet,
)
from nodeattrs.core.tree import Absent
from nodeattrs.errors import MergeConflict, PolicyError
from tests.laws import NOTHING, exact, laid, layers, numbers, said

KINDS = ("absent", "null", "scalar", "[]", "list", "{}", "map")
EVERY = list(itertools.product(KINDS, repeat=3))


def value_of(kind: str, layer: int) -> Any:
    """What a layer says; it spells its layer, so that a wrong answer names its culprit."""
    return {
        "absent": NOTHING,
        "null": None,
        "scalar": f"scalar @{layer}",
        "[]": [],
        "list": ["set by all", f"element @{layer}", f"element @{layer}"],
        "{}": {},
        "map": {f"key{layer}": f"alone @{layer}", "key": f"met @{layer}"},
    }[kind]


def read(policy: Policy, *kinds: str) -> Any:
    """The fold of one key, of which each layer says a value of that kind, or nothing."""
    said_there = [value_of(kind, layer) for layer, kind in enumerate(kinds, 1)]
    folded = fold(layers(*({} if value is NOTHING else {"a": value} for value in said_there)), policy)
    return folded.value.get("a", NOTHING)


def expected(lists_unite: bool, *kinds: str) -> Any:
    """The same by the oracle."""
    result: Any = NOTHING
    for layer, kind in enumerate(kinds, 1):
        result = laid(result, value_of(kind, layer), lists_unite)
    return result


class TestTruthTable:
    """Every arrangement of {absent, null, scalar, [], list, {}, map} in three layers, for Chef's two policies."""

    def test_no_line_is_missing(self):
        """
        Seven kinds in three layers: 343 lines.
        """
        assert 343 == len(set(EVERY))

    @pytest.mark.parametrize("kinds", EVERY, ids=" | ".join)
    def test_inside_a_group(self, kinds):
        """
        Maps meet, lists unite, anything else is replaced.
        """
        assert exact(expected(True, *kinds)) == exact(read(INSIDE, *kinds))

    @pytest.mark.parametrize("kinds", EVERY, ids=" | ".join)
    def test_truth_table_of_three_layers_across_groups(self, kinds):
        """
        Maps meet, anything else is replaced.
        """
        assert exact(expected(False, *kinds)) == exact(read(ACROSS, *kinds))

    @pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
    def test_every_scalar_of_the_table_is_said_by_the_layer_it_spells(self, policy):
        """
        All 343 lines: `met @2` comes from layer 2.
        """
        for kinds in EVERY:
            said_there = [value_of(kind, layer) for layer, kind in enumerate(kinds, 1)]
            folded = fold(layers(*({} if value is NOTHING else {"a": value} for value in said_there)), policy)
            here = folded.value.get("a")
            for step in here if isinstance(here, dict) else ():
                assert [int(here[step][-1])] == [*numbers(folded, ("a", step))], kinds
            for index, element in enumerate(here if isinstance(here, list) else ()):
                if element != "set by all":
                    assert [int(element[-1])] == [*numbers(folded, ("a", index))], kinds
            if isinstance(here, str):
                assert [int(here[-1])] == [*numbers(folded, ("a",))], kinds

    @pytest.mark.parametrize(
        ("lowest", "middle", "highest", "reading"),
        [
            # nothing said is no opinion
            (NOTHING,          NOTHING,      NOTHING,        NOTHING),
            ("a",              NOTHING,      NOTHING,        "a"),
            (NOTHING,          "b",          NOTHING,        "b"),
            ("a",              "b",          NOTHING,        "b"),
            ("a",              "b",          "c",            "c"),
            # null is one
            ("a",              None,         NOTHING,        None),
            ({"k": 1},         NOTHING,      None,           None),
            ([1],              None,         [2],            [2]),
            ({"k": 1},         None,         {"l": 2},       {"l": 2}),
            # lists unite, first seen first, types apart
            ([1],              [2],          [3],            [1, 2, 3]),
            ([1, 2],           [2, 3],       [3, 1],         [1, 2, 3]),
            ([1],              [True],       [1.0, "1"],     [1, True, 1.0, "1"]),
            ([3, 1],           NOTHING,      [2, 1],         [3, 1, 2]),
            ([1, 1],           NOTHING,      NOTHING,        [1, 1]),
            ([1, 1],           [],           NOTHING,        [1]),
            ([],               [1],          [],             [1]),
            ([[1], [2]],       [[2], [1]],   NOTHING,        [[1], [2]]),
            ([{"k": 1}],       [{"k": 2}],   NOTHING,        [{"k": 1}, {"k": 2}]),
            ([{"k": 1, "l": 2}], [{"l": 2, "k": 1}], NOTHING, [{"k": 1, "l": 2}]),
            # maps meet key by key
            ({"k": 1},         {"l": 2},     {"m": 3},       {"k": 1, "l": 2, "m": 3}),
            ({"k": 1, "l": 1}, {"k": 2},     NOTHING,        {"k": 2, "l": 1}),
            ({"k": [1]},       {"k": [2]},   NOTHING,        {"k": [1, 2]}),
            ({"k": {"l": 1}},  {"k": {"m": 2}}, NOTHING,     {"k": {"l": 1, "m": 2}}),
            ({"k": 1},         {},           NOTHING,        {"k": 1}),
            ({"k": None},      {"k": 2},     NOTHING,        {"k": 2}),
            # whatever is of another kind is replaced, and cuts off what lies below
            ("a",              {},           NOTHING,        {}),
            ("a",              {"k": 2},     {"l": 3},       {"k": 2, "l": 3}),
            ({"k": 1},         "b",          {"l": 3},       {"l": 3}),
            ({"k": 1},         [2],          {"l": 3},       {"l": 3}),
            ([1],              "b",          [3],            [3]),
            ([1],              {"k": 2},     [3],            [3]),
            ({1: "a"},         {"1": "b"},   NOTHING,        {1: "a", "1": "b"}),
        ],
    )  # fmt: skip
    def test_inside_a_group_by_hand(self, lowest, middle, highest, reading):
        """
        The lines that people ask about.
        """
        said_there = [{} if value is NOTHING else {"a": value} for value in (lowest, middle, highest)]

        assert exact({} if reading is NOTHING else {"a": reading}) == exact(fold(said_there, INSIDE).value)

    @pytest.mark.parametrize(
        ("default", "normal", "override", "reading"),
        [
            # lists are replaced
            ([1],              [2],          NOTHING,        [2]),
            ([1, 1],           NOTHING,      NOTHING,        [1, 1]),
            ([1],              [],           NOTHING,        []),
            ([1],              [2, 2],       [3, 3],         [3, 3]),
            # maps are not
            ({"k": 1},         {"l": 2},     {"m": 3},       {"k": 1, "l": 2, "m": 3}),
            ({"k": [1]},       {"k": [2]},   NOTHING,        {"k": [2]}),
            ({"k": 1},         {},           NOTHING,        {"k": 1}),
            ({"k": {"l": 1}},  {"k": {}},    {"k": {"m": 3}}, {"k": {"l": 1, "m": 3}}),
            # anything else is, null included
            ("a",              "b",          NOTHING,        "b"),
            ("a",              None,         NOTHING,        None),
            (False,            NOTHING,      0,              0),
            ({"k": 1},         None,         {"l": 2},       {"l": 2}),
            ({"k": 1},         "b",          {"l": 3},       {"l": 3}),
            ([1],              {"k": 2},     [3],            [3]),
            ("a",              {},           NOTHING,        {}),
        ],
    )  # fmt: skip
    def test_across_groups_by_hand(self, default, normal, override, reading):
        """
        The same across levels.
        """
        said_there = [{} if value is NOTHING else {"a": value} for value in (default, normal, override)]

        assert exact({} if reading is NOTHING else {"a": reading}) == exact(fold(said_there, ACROSS).value)


def raising(lower: Part, upper: Part) -> Part:
    raise MergeConflict("these two do not join")


@handler(total=True)
def harmless(lower: Part, upper: Part) -> Part:
    return upper


REST = Line(ANY, PRESENT, TAKE)


class TestTables:
    def test_the_first_line_that_fits_is_the_rule(self):
        """
        Lines are asked in order, so exceptions stand before the rule.
        """
        kept = Policy("kept", Line(TEXT, TEXT, KEEP), Line((TEXT, NULL), PRESENT, DROP), Line(ANY, PRESENT, TAKE))

        assert KEEP is kept.verdict(str, str)
        assert DROP is kept.verdict(str, int)
        assert DROP is kept.verdict(type(None), dict)
        assert TAKE is kept.verdict(int, str)

    def test_every_has_absent_and_said_has_not(self):
        """
        Nothing said is a kind below, never above: a layer that says nothing is not asked.
        """
        policy = Policy("p", Line(PRESENT, PRESENT, KEEP), REST)

        assert TAKE is policy.verdict(Absent, str)
        assert KEEP is policy.verdict(type(None), str)

    @pytest.mark.parametrize(
        ("lines", "hole"),
        [
            ((),                                           "null over absent"),
            ((Line(MAP, MAP, MEET),),                      "null over absent"),
            ((Line(PRESENT, PRESENT, TAKE),),                    "null over absent"),
            ((Line(ABSENT_KIND, PRESENT, TAKE), Line(PRESENT, (NULL, MAP, LIST, SCALAR), TAKE)), "text over null"),
            ((Line(ANY, (NULL, MAP, LIST, TEXT), TAKE), Line((ABSENT_KIND, MAP, LIST, TEXT, SCALAR), SCALAR, TAKE)),
             "scalar over null"),
        ],
    )  # fmt: skip
    def test_a_table_with_a_hole_is_refused(self, lines, hole):
        """
        When it is built, not when two values happen to meet; the message names the hole.
        """
        with pytest.raises(PolicyError, match=f"'holed' has no line for {hole}"):
            Policy("holed", *lines)

    def test_an_own_kind_has_to_be_thought_of_too(self):
        """
        PRESENT and ANY stand for own kinds as well; a list of kinds does not.
        """
        kinds = {bool: "bool"}
        everything = (NULL, MAP, LIST, TEXT, SCALAR)

        assert TAKE is Policy("p", REST, kinds=kinds).verdict(bool, bool)
        with pytest.raises(PolicyError, match="bool over absent"):
            Policy("p", Line(ANY, everything, TAKE), kinds=kinds)

    def test_where_nothing_lies_below_nothing_can_go(self):
        """
        Such a line is a mistake of whoever wrote the table.
        """
        with pytest.raises(PolicyError, match="nothing lies below"):
            Policy("p", Line(ABSENT_KIND, NULL, DROP), REST)

    @pytest.mark.parametrize("rule", [MEET, Meet(INSIDE)], ids=["MEET", "Meet"])
    @pytest.mark.parametrize(("lower", "upper"), [(ABSENT_KIND, MAP), (TEXT, MAP), (MAP, LIST), (NULL, NULL)])
    def test_only_maps_can_meet(self, rule, lower, upper):
        """
        Found when the table is built, not as an accident inside a fold; the message names the pair.
        """
        with pytest.raises(PolicyError, match=f"{upper} over {lower} cannot meet"):
            Policy("p", Line(lower, upper, rule), REST)

    def test_kinds_are_asked_by_exact_type(self):
        """
        A bool is not a number here, once it has a kind of its own.
        """
        yielding = Policy("yes stays", Line(MAP, MAP, MEET), Line("bool", PRESENT, KEEP), REST, kinds={bool: "bool"})

        assert {"a": True, "b": 2} == fold([{"a": True, "b": 1}, {"a": "x", "b": 2}], yielding).value
        assert "bool" == yielding.kind(bool)
        assert SCALAR == yielding.kind(int) == INSIDE.kind(bool)
        assert MAP == INSIDE.kind(OrderedDict)

    def test_another_table_can_be_asked(self):
        """
        A policy as a rule: that table decides about the same two values.
        """
        asking = Policy("asking", Line((MAP, LIST), (MAP, LIST), INSIDE), Line(ANY, PRESENT, TAKE))

        assert INSIDE.verdict(list, list) is asking.verdict(list, list) is unite
        assert INSIDE.verdict(dict, dict) == asking.verdict(dict, dict)

    def test_maps_meet_under_the_policy_that_the_line_names(self):
        """
        The root's entries are judged by it already.
        """
        first = Policy("first", Line(ABSENT_KIND, PRESENT, TAKE), Line(PRESENT, PRESENT, KEEP))
        roots = Policy("roots", Line(MAP, MAP, Meet(first)), REST)

        assert {"a": {"x": 1}, "b": 2} == fold([{"a": {"x": 1}}, {"a": {"y": 2}, "b": 2}], roots).value

    def test_tables_may_point_to_each_other(self):
        """
        One keeps, the other takes, in turn on the way down; a callable gives the table that is not built yet.
        """
        taking = Policy("taking", Line(MAP, MAP, Meet(lambda: keeping)), REST)
        keeping = Policy(
            "keeping", Line(MAP, MAP, Meet(taking)), Line(ABSENT_KIND, PRESENT, TAKE), Line(PRESENT, PRESENT, KEEP)
        )
        lower = {"a": "low", "m": {"a": "low", "m": {"a": "low"}}}
        upper = {"a": "high", "m": {"a": "high", "m": {"a": "high"}}}

        assert {"a": "low", "m": {"a": "high", "m": {"a": "low"}}} == fold([lower, upper], taking).value
        assert {"a": "high", "m": {"a": "low", "m": {"a": "high"}}} == fold([lower, upper], keeping).value

    def test_a_policy_prints_its_name(self):
        """
        Messages and traces show it.
        """
        assert "<Policy inside>" == repr(INSIDE)


class TestWhatATableSaysOfItself:
    @pytest.mark.parametrize(
        ("policy", "lazy"),
        [
            (INSIDE, True),
            (ACROSS, True),
            (Policy("harmless", Line(LIST, LIST, harmless), REST), True),
            (Policy("asking", Line(MAP, MAP, INSIDE), REST), True),
            (Policy("under another", Line(MAP, MAP, Meet(ACROSS)), REST), True),
            (Policy("undeclared", Line(LIST, LIST, lambda lower, upper: upper), REST), False),
            (Policy("raising", Line(TEXT, TEXT, raising), REST), False),
            (Policy("under a raising one", Line(MAP, MAP, Meet(Policy("r", Line(TEXT, TEXT, raising), REST))), REST),
             False),
            (Policy("picky", Line(ABSENT_KIND, TEXT, KEEP), REST), False),
            (Policy("self", Line(ABSENT_KIND, LIST, harmless), REST), False),
        ],
        ids=repr,
    )  # fmt: skip
    def test_lazy_reading_is_derived_and_not_declared(self, policy, lazy):
        """
        Total, path-local, and what meets nothing is taken as it is.
        """
        assert lazy == policy.is_lazy

    def test_kinds_that_always_win_are_computed_from_a_policy(self):
        """
        Maps and lists of Chef's have to ask; across groups a list need not.
        """
        scalars = {str, int, float, bool, type(None)}

        assert scalars == INSIDE.always
        assert scalars | {list} == ACROSS.always

    def test_kinds_that_always_win_include_kinds_of_the_policy(self):
        """
        Where a bool below keeps its place, nothing wins always, and an own kind may.
        """
        stubborn = Policy("stubborn", Line("bool", PRESENT, KEEP), REST, kinds={bool: "bool"})
        winning = Policy("bytes win", Line(ANY, "bytes", TAKE), Line(MAP, MAP, MEET), Line(ABSENT_KIND, PRESENT, TAKE),
                         Line(PRESENT, PRESENT, KEEP), kinds={bytes: "bytes"})  # fmt: skip

        assert frozenset() == stubborn.always
        assert {bytes} == winning.always
        assert {"a": b"2", "b": 1} == fold([{"a": 1, "b": 1}, {"a": b"2", "b": 2}], winning).value

    @given(said, said)
    def test_the_shortcut_changes_nothing(self, lower, upper):
        """
        A table without it gives the same: here each line is spelled as a handler, which always has to be asked.
        """
        slow = Policy("slow", Line(MAP, MAP, MEET), Line(LIST, LIST, unite), Line(ANY, PRESENT, harmless))

        assert frozenset() == slow.always
        assert exact(fold([lower, upper], INSIDE).value) == exact(fold([lower, upper], slow).value)
