"""A trace lists everyone who spoke about a path, the winner first, and the rule that beat each loser."""

from __future__ import annotations

import datetime
import json
from collections import deque
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import ACROSS, INSIDE, Fold, Folded, Layer, Line, Origin, Policy, fold
from nodeattrs.core.claim import Claim, ValueText
from nodeattrs.core.part import Part
from nodeattrs.core.policy import ABSENT_KIND, ANY, KEEP, LIST, MAP, MEET, PRESENT, TAKE, TEXT
from nodeattrs.core.trace import EarlierValue, Outcome, Trace, TraceClaim, shown
from nodeattrs.core.tree import ABSENT
from nodeattrs.testing import trees
from tests.edits import leaves
from tests.effort import examples
from tests.laws import FOLDS, JOINING, NOTHING, layers, numbers, some_layers
from tests.laws.test_read_back import at
from tests.test_fold import DROPPING, HIERA, dispatching

GROUPS = (("default", 1, 4), ("normal", 5, 5), ("override", 6, 9), ("automatic", 10, 10))
TEN = (
    "default", "env_default", "role_default", "force_default", "normal",
    "override", "role_override", "env_override", "force_override", "automatic",
)  # fmt: skip


def chef(said: dict[str, Any]) -> Folded:
    """Chef's plan over ten components: groups first, then across."""
    ten = [Layer(said.get(name, {}), Origin("file", name), name) for name in TEN]
    return fold([Fold(tuple(ten[:4]), INSIDE), ten[4], Fold(tuple(ten[5:9]), INSIDE), ten[9]], ACROSS)


def fates(folded: Folded, path: str) -> list[tuple[str, int]]:
    """What became of whom, in the order of the trace."""
    return [(stated.outcome.value, stated.claim.rank) for stated in folded.trace(path).claims]


def group_of(rank: int) -> str:
    return next(name for name, first, last in GROUPS if first <= rank <= last)


def overridden_by(rank: int, ranks: list[int]) -> int:
    """Who replaced a scalar: the next one of its group, else what the next group that speaks has made of it."""
    stronger = [other for other in ranks if other > rank]
    inside = [other for other in stronger if group_of(other) == group_of(rank)]
    if inside:
        return inside[0]
    return max(other for other in stronger if group_of(other) == group_of(stronger[0]))


class TestWhoWins:
    @pytest.mark.parametrize("chunk", range(8))
    def test_every_set_of_ten_components_is_listed_in_order(self, chunk):
        """
        1,023 sets: the winner first, then the losers by strength, each overridden by the one that replaced it.
        """
        for bits in range(1, 2**10):
            if bits % 8 != chunk:
                continue
            ranks = [rank for rank in range(1, 11) if bits >> (rank - 1) & 1]
            trace = chef({TEN[rank - 1]: {"a": f"set by {rank}"} for rank in ranks}).trace("a")
            winner, *losers = trace.claims

            assert trace.value == winner.claim.value == f"set by {ranks[-1]}"
            assert trace.winner == winner
            assert (Outcome.WINS, ()) == (winner.outcome, winner.by)
            assert ranks[-2::-1] == [loser.claim.rank for loser in losers]
            for loser in losers:
                rank = loser.claim.rank
                by = overridden_by(rank, ranks)
                assert (Outcome.LOSES, f"set by {rank}", (by,)) == (loser.outcome, loser.claim.value, loser.by)
                assert ("(inside)" if group_of(by) == group_of(rank) else "(across)") in loser.why

    def test_a_layer_that_says_nothing_is_not_listed(self):
        """
        Neither the empty one nor the one that speaks about something else.
        """
        assert [("wins", 1)] == fates(fold([{"a": {"b": 1}}, {}, {"a": {"c": 2}}, {"x": 3}]), "a.b")

    def test_null_is_said(self):
        """
        And wins.
        """
        assert [("wins", 2), ("loses", 1)] == fates(fold([{"a": 1}, {"a": None}]), "a")

    def test_the_trace_of_a_path_that_is_not_set_is_empty(self):
        """
        About a path that is nowhere.
        """
        trace = fold([{"a": 1}]).trace("b.c")

        assert not trace.found
        assert (None, ()) == (trace.winner, trace.claims)

    def test_maps_join_and_cut_off_ones_do_not(self):
        """
        Below a scalar that replaced it a map has lost, above it is a new one.
        """
        folded = fold([{"k": {"x": 1}}, {"k": "cut"}, {"k": {"x": 3}}, {"k": {"y": 4}}])

        assert [("joins", 4), ("joins", 3), ("loses", 2), ("loses", 1)] == fates(folded, "k")
        assert [("wins", 3), ("loses", 2), ("loses", 1)] == fates(folded, "k.x")
        assert [("wins", 4), ("loses", 2)] == fates(folded, "k.y")

    def test_what_a_cut_hides_is_still_told(self):
        """
        Who said the value, who cut it off, and at which path.
        """
        folded = fold([{"k": {"x": 1}}, {"k": "cut"}])
        cut, hidden = folded.trace("k.x").claims

        assert [("wins", ("k",), "cut"), ("loses", ("k", "x"), 1)] == [
            (stated.outcome.value, stated.claim.path, stated.claim.value) for stated in (cut, hidden)
        ]
        assert ("k",) == folded.trace("k.x").cover
        assert not folded.trace("k.x").found


class TestShapes:
    def test_a_conflict_inside_a_group_stays_in_it(self):
        """
        The weaker group goes on speaking below what the conflict has cut off.
        """
        folded = chef({"default": {"k": {"x": 1}}, "role_override": {"k": 3}, "force_override": {"k": {"z": 1}}})

        assert [("joins", 9), ("joins", 1), ("loses", 7)] == fates(folded, "k")
        assert [("wins", 1), ("holds", 9), ("loses", 7)] == fates(folded, "k.x")

    def test_whoever_keeps_a_map_over_a_scalar_is_named(self):
        """
        It has nothing there; without it the scalar would stand in the way.
        """
        folded = chef({"default": {"k": {"x": 1}}, "role_override": {"k": 3}, "force_override": {"k": {"z": 1}}})
        (held,) = [stated for stated in folded.trace("k.x").claims if stated.outcome is Outcome.HOLDS]

        assert (("k",), {"z": 1}) == (held.claim.path, held.claim.value)
        assert "its map at k overrides 7" in str(folded.trace("k.x"))
        assert chef({"default": {"k": {"x": 1}}, "role_override": {"k": 3}}).trace("k.x").cover == ("k",)

    def test_a_map_that_changes_nothing_is_not_named(self):
        """
        Where another one has overridden the scalar, too, neither of them matters.
        """
        folded = fold([{"k": "cut"}, {"k": {"x": 3}}, {"k": {"y": 4}}])

        assert [("wins", 3), ("loses", 1)] == fates(folded, "k.y")

    def test_from_the_top_the_first_layer_wins(self):
        """
        Then the one that would be read without it, and so on.
        """
        folded = fold(layers({"a": 1}, {"a": 2}, {"a": 3, "b": 3}), from_top=True)
        trace = folded.trace("a")

        assert [("wins", 1), ("loses", 2), ("loses", 3)] == fates(folded, "a")
        assert {(1,)} == {loser.by for loser in trace.losers}
        assert [("wins", 3)] == fates(folded, "b")

    def test_traces_through_an_inner_fold_from_the_top(self):
        """
        An inner fold from the top, laid over a layer below.
        """
        inner = Fold(tuple(layers({"a": 2}, {"a": 3})), INSIDE, from_top=True)
        trace = fold([Layer({"a": 1}), inner], ACROSS).trace("a")

        assert [(2, ()), (3, (2,)), (1, (2,))] == [(stated.claim.rank, stated.by) for stated in trace.claims]

    def test_a_layer_with_its_own_policy_is_judged_by_it(self):
        """
        Its name stands in the reason.
        """
        replacing = Policy("replacing", Line(ANY, PRESENT, TAKE, "this part replaces everything"))
        trace = fold([{"a": {"x": 1}}, Layer({"b": 2}, policy=replacing)]).trace("a.x")
        (loser,) = trace.claims

        assert not trace.found
        assert ("this part replaces everything (replacing)", (2,)) == (loser.why, loser.by)


class TestElements:
    def test_each_element_of_a_united_list_names_everyone_who_said_it(self):
        """
        Strength first in the list of claims; each element with its own setters.
        """
        folded = fold(layers({"l": [80, 443]}, {"l": [8080, 80]}, {"l": []}), INSIDE)
        trace = folded.trace("l")

        assert [("joins", 2), ("joins", 1), ("loses", 3)] == fates(folded, "l")
        assert [(80, (1, 2)), (443, (1,)), (8080, (2,))] == [(one.value, one.ranks) for one in trace.elements]

    def test_one_element_can_be_asked_for(self):
        """
        Its claims are those of the layers that said it.
        """
        folded = fold(layers({"l": [80]}, {"l": [8080, 80]}), INSIDE)

        assert [("joins", 2), ("joins", 1)] == fates(folded, "l.0")
        assert [("wins", 2)] == fates(folded, "l.1")

    def test_a_replaced_list_has_lost_whole(self):
        """
        Across groups lists do not unite.
        """
        folded = fold(layers({"l": [1, 2]}, {"l": [2]}), ACROSS)

        assert [("wins", 2), ("loses", 1)] == fates(folded, "l")
        assert [(2, (2,))] == [(one.value, one.ranks) for one in folded.trace("l").elements]

    def test_a_joined_text_is_said_by_all_its_pieces(self):
        """
        Here a handler decides: both sides have spoken.
        """
        folded = fold(layers({"motd": "welcome "}, {"motd": "to web1"}), JOINING)

        assert "welcome to web1" == folded.trace("motd").value
        assert [("joins", 2), ("joins", 1)] == fates(folded, "motd")


class TestOtherPolicies:
    def test_a_removed_key_was_beaten_by_whoever_removed_it(self):
        """
        Nothing is left, and the trace says why.
        """
        folded = fold([{"a": 1, "b": 1}, {"a": None}], DROPPING)

        assert not folded.trace("a").found
        assert [("loses", 2), ("loses", 1)] == fates(folded, "a")
        assert (2,) == folded.trace("a").losers[1].by

    def test_what_comes_after_a_removal_wins_alone(self):
        """
        A third layer brings the key back.
        """
        assert [("wins", 3), ("loses", 2), ("loses", 1)] == fates(
            fold([{"a": 1}, {"a": None}, {"a": 3}], DROPPING), "a"
        )

    def test_a_handler_that_gives_nothing_removes_too(self):
        """
        Nobody wins.
        """
        cancelling = Policy("cancelling", Line(MAP, MAP, MEET),
                            Line(LIST, TEXT, lambda lower, upper: Part(ABSENT, ()), "a text cancels a list"),
                            Line(ANY, PRESENT, TAKE))  # fmt: skip
        folded = fold([{"a": [1]}, {"a": "x"}], cancelling)

        assert {} == folded.value
        assert [("loses", 2), ("loses", 1)] == fates(folded, "a")

    def test_where_the_first_word_stands_the_later_one_loses(self):
        """
        KEEP: the lower one wins, and the reason is the line's.
        """
        folded = fold(layers({"a": 1}, {"a": 2}), dispatching())

        assert [("wins", 1), ("loses", 2)] == fates(folded, "a")
        assert "the lower one stays (in a map)" == folded.trace("a").losers[0].why

    def test_a_value_that_may_not_enter_has_lost_to_the_rule(self):
        """
        The absent row is asked as well: nobody lies below, and still it does not win. It has itself to blame.
        """
        closed = Policy("closed", Line(MAP, MAP, MEET), Line(ABSENT_KIND, PRESENT, KEEP, "no new keys"),
                        Line(PRESENT, PRESENT, TAKE))  # fmt: skip
        folded = fold([{"a": 1}, {"b": 2}], closed)
        (loser,) = folded.trace("b").claims

        assert {"a": 1} == folded.value
        assert (Outcome.LOSES, "no new keys (closed)", (2,)) == (loser.outcome, loser.why, loser.by)

    def test_a_list_that_met_itself_shows_what_is_left_of_it(self):
        """
        The elements are those that are read, and the claim is what was said.
        """
        trace = fold(layers({"l": ["a", "--x", "a"]}, {"b": 1}), HIERA, from_top=True).trace("l")

        assert [("a", (1,))] == [(one.value, one.ranks) for one in trace.elements]
        assert ["a", "--x", "a"] == trace.winner.claim.value

    def test_maps_that_a_handler_turns_into_a_list_are_followed(self):
        """
        Three layers, two of them maps that would have met: their keys become elements.
        """

        def keys_first(lower: Part, upper: Part) -> Part:
            return Part(
                [*lower.value, *upper.value],
                [*(lower.at(key).origins for key in lower.value), *(one.origins for one in upper.elements())],
            )

        listing = Policy("listing", Line(MAP, MAP, MEET), Line(MAP, LIST, keys_first), Line(ANY, PRESENT, TAKE))
        folded = fold(layers({"a": {"x": 1}}, {"a": {"y": 1}}, {"a": ["z"]}), listing)

        assert [[("wins", rank)] for rank in (1, 2, 3)] == [fates(folded, f"a.{index}") for index in (0, 1, 2)]


POLICIES = {**FOLDS, "null removes": lambda *said: fold(layers(*said), DROPPING),
            "dispatching": lambda *said: fold(layers(*said), dispatching(replace=True, allow_delete=True, append=True)),
            "first word": lambda *said: fold(layers(*said), dispatching()),
            "hiera": lambda *said: fold(layers(*said), HIERA, from_top=True)}  # fmt: skip


class TestLaws:
    @pytest.mark.parametrize("name", POLICIES)
    @settings(max_examples=examples(60))
    @given(st.lists(trees(keys=("a", "b"), scalars=(None, True, "x", "--x")), min_size=2, max_size=4))
    def test_winning_claims_of_a_trace_are_the_origins_of_the_value(self, name, said):
        """
        At every scalar of every fold: two walks, one answer. (Two empty maps have joined, and the lower one
        alone is named: the upper one has said nothing new.)
        """
        folded = POLICIES[name](*said)

        for path, value in leaves(folded.value):
            if not isinstance(value, (dict, list)):
                stated = folded.trace(path).claims
                standing = [one.claim.rank for one in stated if one.outcome in (Outcome.WINS, Outcome.JOINS)]
                assert sorted(numbers(folded, path)) == sorted(standing), path

    @pytest.mark.parametrize("name", FOLDS)
    @settings(max_examples=examples(60))
    @given(some_layers)
    def test_nobody_who_spoke_is_left_out(self, name, said):
        """
        Whoever says something at a path is in its trace once, and tells what it said.
        """
        folded = FOLDS[name](*said)

        for path in {path for tree in said for path, _ in leaves(tree) if int not in map(type, path)}:
            spoke = {number: at(tree, path) for number, tree in enumerate(said, 1) if at(tree, path) is not NOTHING}
            stated = [one.claim for one in folded.trace(path).claims if one.claim.path == path]
            assert sorted(spoke) == sorted(claim.rank for claim in stated), path
            assert all(claim.value == spoke[claim.rank] for claim in stated), path

    @given(some_layers)
    def test_a_trace_is_data_for_json(self, said):
        """
        Also where nothing is found.
        """
        folded = FOLDS["grouped"](*said)

        for path in [(), ("a",), ("a", "b"), ("a", 0), ("nothing", "x")]:
            told = folded.trace(path).to_dict()
            assert told == json.loads(json.dumps(told))
            assert told["found"] == folded.trace(path).found


def said_at(name: str, line: int) -> Origin:
    return Origin("file", name, f"{name}.yaml", line)


REPLACED = "the stronger one replaces the weaker one (across)"


class TestText:
    """What people read, letter for letter."""

    def test_words_in_place_of_a_value_have_no_quotes(self):
        assert shown(ValueText("look up 'port'")) == "look up 'port'"
        assert shown(ValueText("look up 'port'"), 7) == "look u…"

    def test_text_of_the_trace_of_a_scalar(self):
        folded = fold(
            [
                Layer({"web": {"port": 80}}, said_at("common", 2), "common"),
                Layer({"web": {"port": 8080}}, said_at("staging", 12), "environment"),
                Layer({"web": {"port": None}}, said_at("web1", 7), "host"),
            ]
        )

        assert folded.explain("web.port").splitlines() == [
            "web.port = null",
            "  wins   3 host         null  web1.yaml:7 (file web1)",
            f"  loses  2 environment  8080  staging.yaml:12 (file staging)  overridden by 3: {REPLACED}",
            f"  loses  1 common       80    common.yaml:2 (file common)     overridden by 2: {REPLACED}",
        ]

    def test_the_text_of_a_trace_names_the_setter_of_each_later_value(self):
        """By the place, else by the name; what was there before is cut to its column."""
        said = Claim(("a",), [1], 2, Origin("recipe", "x", "r.py", 3))
        then = [
            Claim(("a",), [1, 2], 2, Origin("recipe", "y", "s.py", 4)),
            Claim(("a",), [1, 2], 2, Origin("role", "z")),
        ]
        past = EarlierValue(Claim(("a",), "x" * 60, 2, Origin("recipe", "w", "q.py", 1)), "overwritten", said)
        trace = Trace(("a",), [1, 2], (TraceClaim(said, Outcome.WINS, "", (), tuple(then)),), (), (past,))

        assert str(trace).splitlines() == [
            "a = [1, 2]",
            "  wins  2  [1]  r.py:3 (recipe x)  continued by s.py:4, role z",
            "  earlier",
            f'    overwritten  2  "{"x" * 38}…  q.py:1 (recipe w); by r.py:3 (recipe x)',
        ]

    def test_a_united_list(self):
        folded = fold(
            [Layer({"ports": [80, 443]}, said_at("common", 2)), Layer({"ports": [443, 8080]}, said_at("web1", 7))],
            INSIDE,
        )

        assert folded.explain("ports").splitlines() == [
            "ports = [80, 443, 8080]",
            "  joins  2  [443, 8080]  web1.yaml:7 (file web1)",
            "  joins  1  [80, 443]    common.yaml:2 (file common)",
            "  elements",
            "    80    set by 1 common.yaml:2 (file common)",
            "    443   set by 1 common.yaml:2 (file common), 2 web1.yaml:7 (file web1)",
            "    8080  set by 2 web1.yaml:7 (file web1)",
        ]

    def test_a_scalar_in_the_way(self):
        folded = fold([Layer({"web": {"port": 80}}, said_at("common", 2)), Layer({"web": "off"}, said_at("web1", 7))])

        assert folded.explain("web.port").splitlines() == [
            "web.port is not set",
            "  web is not a map: nothing can lie below it",
            '  wins   2  "off"  web1.yaml:7 (file web1)',
            f"  loses  1  80     common.yaml:2 (file common)  overridden by 2: {REPLACED}",
        ]

    def test_text_of_the_trace_of_a_map(self):
        folded = fold([Layer({"web": {"port": 80}}, said_at("common", 2)), Layer({"web": {}}, said_at("web1", 7))])

        assert folded.explain("web").splitlines() == [
            'web = {"port": 80}',
            '  wins   1  {"port": 80}  common.yaml:2 (file common)',
            "  loses  2  {}            web1.yaml:7 (file web1)      "
            "overridden by 1: two maps meet key by key, and nothing of it is left (across)",
        ]

    def test_nothing_at_all(self):
        assert "web.port is not set" == fold([{"a": 1}]).explain("web.port")

    def test_text_of_the_trace_of_a_removed_value(self):
        folded = fold([Layer({"a": 1}, said_at("common", 2)), Layer({"a": None}, said_at("web1", 7))], DROPPING)

        assert folded.explain("a").splitlines() == [
            "a is not set",
            "  loses  2  null  web1.yaml:7 (file web1)      overridden by 1: the key is dropped (null removes)",
            "  loses  1  1     common.yaml:2 (file common)  overridden by 2: the key is dropped (null removes)",
        ]

    def test_long_values_are_cut(self):
        """
        A line stays a line.
        """
        text = fold([{"a": "x" * 500}, {"a": ["y" * 500]}]).explain("a")

        assert 3 == len(text.splitlines())
        assert "…" in text
        assert all(len(line) < 160 for line in text.splitlines())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ABSENT, "(nothing)"),
        (None, "null"),
        ("é", '"é"'),
        ({"a": [1, True]}, '{"a": [1, true]}'),
        ({datetime.date(2030, 1, 2): {datetime.date(2030, 1, 3): [1]}}, '{"2030-01-02": {"2030-01-03": [1]}}'),
        ({1: [{(1, 2): "x"}], None: 1, 1.5: 2}, '{"1": [{"(1, 2)": "x"}], "null": 1, "1.5": 2}'),
        ({(1,): ("a", b"b")}, '{"(1,)": ["a", "b\'b\'"]}'),
        ([MappingProxyType({"a": deque([1])}), datetime.date(2030, 1, 2)], '[{"a": [1]}, "2030-01-02"]'),
        ("x" * 58, f'"{"x" * 58}"'),
        ("x" * 59, f'"{"x" * 58}…'),
    ],
)
def test_a_value_on_one_line(value, text):
    """Whatever is no JSON shows its own text, keys too; a long one is cut."""
    assert text == shown(value)


@pytest.mark.parametrize(
    ("path", "rows"),
    [
        ("a.k", [(1, "wins", "")]),
        ("a", [({"l": 2}, "joins", "joined"), ({"k": 1}, "joins", "joined")]),
        ("s.x", [(6, "wins", "stands in the way"), (5, "loses", None)]),
        ("nope", []),
    ],
)
def test_why_somebody_stands_in_a_trace(path, rows):
    """A winner needs no reason, unless it stands above what was asked for."""
    low, high = Layer({"a": {"k": 1}, "s": 5}, Origin("low")), Layer({"a": {"l": 2}, "s": 6}, Origin("high"))
    found = [(one.claim.value, one.outcome.value, one.why) for one in fold([low, high]).trace(path).claims]

    assert [row[:2] for row in rows] == [row[:2] for row in found]
    assert all(row[2] in (None, one[2]) for row, one in zip(rows, found, strict=True))


class TestClaims:
    def test_the_same_thing_set_elsewhere_is_the_same_thing(self):
        claim = Claim(("a",), [1], 2, Origin("recipe", "x", "r.py", 3))

        assert claim == replace(claim, origin=Origin("role"), why=tuple)
        assert all(claim != replace(claim, **other) for other in ({"value": [2]}, {"rank": 1}, {"path": ("b",)}))
