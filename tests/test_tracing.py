"""Walks along one path of a folding: openings, what is unknown, what handlers take away, and who is next in line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from nodeattrs import ACROSS, Folded, Layer, fold
from nodeattrs.core.claim import Claim, Origin
from nodeattrs.core.folding import NOTHING, Folding, meet, record_decision
from nodeattrs.core.part import Part, handler, listed, without
from nodeattrs.core.policy import (
    ABSENT_KIND,
    ANY,
    KEEP,
    LIST,
    MAP,
    MEET,
    NULL,
    PRESENT,
    SCALAR,
    TAKE,
    TEXT,
    Line,
    Meet,
    Policy,
)
from nodeattrs.core.trace import traced
from nodeattrs.core.tracing import walk
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.unknown import Unknown

FIRST = Policy("first", Line(ANY, PRESENT, TAKE, "the first one counts"))
YIELDING = Policy(
    "null yields", Line(MAP, MAP, MEET), Line(PRESENT, NULL, KEEP, "null yields"), Line(ANY, PRESENT, TAKE)
)
VAULT = Unknown("vault", "needs a server")


def _in_a_list(lower: Part, upper: Part) -> Part:
    return listed([upper], upper)


ALONE = Policy("in a list", Line(ANY, PRESENT, _in_a_list, "what comes first is put into a list"))


def laid(policy: Policy, *values: Any, opening: Policy | None = None) -> Folding:
    """A folding from the top, its sources numbered downwards."""
    folding = Folding(from_top=True, opening=opening)
    for number, value in zip(range(len(values), 0, -1), values, strict=True):
        folding.lay(value if isinstance(value, Folding) else Part(value, number), policy)
    return folding


def upwards(*parts: Part | Folding) -> Folding:
    """Each part over those before it."""
    folding = Folding()
    for part in parts:
        folding.lay(part, YIELDING)
    return folding


def in_line(folding: Folding, *path: Any) -> list[int]:
    """Who stands, then who was overridden, in order."""
    found = walk(folding, path)
    return [setting.source for setting in found.standing] + [lost.setting.source for lost in found.overridden]


class TestOpening:
    def test_it_is_asked_also_where_something_unknown_came_before(self):
        """
        What is unknown is no value; it may decide all the same.
        """
        folding = laid(FIRST, VAULT, "x", opening=ALONE)
        found = walk(folding, ())

        assert (["x"], ["x"], (2,)) == (folding.result.value, found.value, found.unknown)

    def test_a_finished_folding_in_which_nothing_lies_meets_nothing(self):
        """
        Above a value or below it: neither a table nor the opening is asked about it.
        """
        closed = Policy("closed", Line(ABSENT_KIND, PRESENT, _in_a_list), Line(PRESENT, PRESENT, TAKE))
        folding = laid(closed, Folding(), "x", Folding())

        assert "x" == folding.result.value == folding.located().value == walk(folding, ()).value

    def test_to_lay_nothing_is_no_step(self):
        """
        And no last look either.
        """
        folding = Folding()
        folding.lay(NOTHING, FIRST)

        assert ([], ABSENT) == (folding.steps, folding.result.value)


class TestUnknown:
    def test_a_handler_that_hides_what_lies_below_lets_nothing_shine_through(self):
        """
        It says so itself.
        """

        def shout(lower: Part, upper: Part) -> Part:
            return upper

        found = []
        for rule in (shout, handler(hides=True)(shout)):
            loud = Policy("loud", Line(ANY, TEXT, rule), Line(ANY, PRESENT, TAKE))
            found.append(walk(laid(loud, "x", VAULT), ()).unknown)

        assert [(1,), ()] == found


class TestInLine:
    def test_a_map_stands_in_the_way_of_an_element(self):
        """
        It has none. Where numbers are names, a map without that one is not in the way.
        """
        replaced = Policy(
            "at the top", Line(MAP, MAP, Meet(Policy("taken", Line(ANY, PRESENT, TAKE)))), Line(ANY, PRESENT, TAKE)
        )

        assert [2, 1] == in_line(laid(replaced, {"a": ["x"]}, {"a": {}}), "a", 0)
        assert [3, 2, 1] == in_line(laid(YIELDING, {"a": ["x"]}, 2, {"a": {}}), "a", 0)
        assert [2] == in_line(laid(replaced, {"a": {0: "x"}}, {"a": {1: "x"}}), "a", 0)

    def test_a_list_without_the_element_stands_in_the_way_too(self):
        """
        Also where it lies in a map that two have set, and that was overridden as a whole.
        """
        pair = upwards(Part({"a": ["x"]}, 2), Part({"b": 1}, 3))
        group = upwards(pair, Part("w", 4), Part({"c": 1}, 5))

        assert [1, 4, 2] == in_line(upwards(Part({"a": ["y", "z"]}, 1), group), "a", 1)

    def test_a_null_that_would_yield_is_not_next_in_line(self):
        """
        A null above, a number below: without the winner the number is read.
        """
        assert [3, 1, 2] == in_line(laid(YIELDING, "x", None, 1))
        assert [3, 1, 2] == in_line(laid(YIELDING, {"k": "x"}, {"k": None}, {"k": 1}), "k")

    def test_who_lost_inside_of_what_stands_comes_before_who_lost_to_it(self):
        """
        Handlers made the value in two rounds.
        """
        joining = Policy(
            "joining",
            Line(MAP, MAP, lambda lower, upper: meet(YIELDING, lower, upper)),
            Line(SCALAR, MAP, lambda lower, upper: without(upper, ["x"]), "a map replaces a number"),
            Line(ANY, PRESENT, TAKE),
        )

        assert [4, 3, 1] == in_line(laid(joining, {"k": 4}, {"k": 3}, {"l": 2}, 1), "k")

    def test_what_a_handler_took_away_was_taken_by_whom_it_noted(self):
        """
        And not by the rule that would have joined the two.
        """
        cutting = Policy("cutting", Line(ANY, PRESENT, TAKE, "cut away"))

        def cut(lower: Part, upper: Part) -> Part:
            record_decision(cutting, lower.at("a"), upper.at("no a"))
            return meet(YIELDING, without(lower, ["a"]), without(upper, ["no a"]))

        folding = laid(Policy("cut", Line(MAP, MAP, cut), Line(ANY, PRESENT, TAKE)), {"no a": True}, {"a": 1, "b": 2})
        (lost,) = walk(folding, ("a",)).overridden

        assert {"b": 2} == folding.result.value
        assert ((1, "cut away", (2,))) == (lost.setting.source, lost.line.why, lost.by)


MANY: dict[str, Callable[[int], Any]] = {
    "the same key": lambda number: {"a": {"k": number}},
    "a key of its own": lambda number: {"a": {"k": 0, str(number): number}},
    "lists": lambda number: {"a": {"k": [number], str(number): number}},
    "maps and numbers": lambda number: {"a": {"k": 1, str(number): 1} if number % 2 else number},
    "maps that hold": lambda number: {"a": {"l": number} if number % 2 else number} if number else {"a": {"k": 1}},
}


@pytest.mark.parametrize("from_top", [False, True])
@pytest.mark.parametrize("path", ["a", "a.k"])
@pytest.mark.parametrize("shape", MANY)
def test_many_layers_are_explained_in_steps_that_grow_with_them(shape, path, from_top):
    """Four times as many: not sixteen times the calls. Whether a map holds is asked by halves."""
    few, many = (calls(fold(map(MANY[shape], range(count)), ACROSS, from_top=from_top), path) for count in (50, 200))

    assert many < 8 * few


def calls(folded: Folded, path: str) -> int:
    """How many calls an explanation takes, Python's own and those of generators that go on among them."""
    folded.trace(path)  # what is imported or remembered once does not count
    events: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: events.append(event))
    try:
        folded.trace(path)
    finally:
        sys.setprofile(before)
    return events.count("call") + events.count("c_call")


def test_a_map_from_which_all_was_taken_was_still_set():
    """By those who set what was in it."""
    assert (1, 2) == without(Part({"a": 1, "b": 2}, {"a": 1, "b": 2}), ["a", "b"]).origins
    assert Part({"l": []}, 1).at("l").origins == without(Part({"l": []}, 1), []).at("l").origins


def test_one_line_under_two_names_is_one_row():
    """A file that two levels read."""
    level = {2: Origin("level", "near", "common.yaml", 3), 1: Origin("level", "far", "common.yaml", 3)}
    folding = laid(Policy("unite", Line(LIST, LIST, TAKE), Line(ANY, PRESENT, TAKE)), ["x"], ["x"])

    trace = traced(
        walk(folding, ()), (), ["x"], lambda one: Claim(one.path, one.value, one.source, level[one.source]), {}
    )

    assert [2] == [stated.claim.rank for stated in trace.claims]


def test_who_was_overridden_by_a_file_that_is_laid_twice_was_so_by_the_row_that_it_has():
    """
    Without its line both are gone, so the one below is next.
    """
    lower, twice = ({"k": 1}, Origin("file", "1", "1.yaml", 1)), ({"k": 2}, Origin("file", "2", "2.yaml", 1))
    trace = fold([Layer(*lower), Layer(*twice), Layer(*twice)]).trace("k")

    assert [(one.claim.rank, one.by) for one in trace.claims] == [(3, ()), (1, (3,))]


def test_a_map_beside_something_unknown_has_met_nothing():
    """Its entries are not met by an absent row that was never asked, though each of them might be overridden."""
    closed = Policy("closed", Line(MAP, MAP, MEET), Line(ABSENT_KIND, LIST, _in_a_list), Line(ANY, PRESENT, TAKE))

    for folding, unknown in ((laid(closed, VAULT, {"k": ["x"]}), (2,)), (laid(closed, {"k": ["x"]}, VAULT), ())):
        found = walk(folding, ("k",))
        assert (["x"], ["x"], unknown) == (folding.result.value["k"], found.value, found.unknown)


def test_what_cannot_be_read_may_be_a_map_where_only_a_null_is_seen():
    """It would meet the map that the null has lost to, key by key."""
    assert (2,) == walk(laid(YIELDING, None, VAULT, {"k": 1}), ("k",)).unknown
    assert () == walk(laid(YIELDING, {"k": 1}, None, VAULT), ("k",)).unknown
