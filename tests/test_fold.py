"""Folds: layers with origins, nested, from both ends, failing as a whole; and other tools' rules on the same core."""

from __future__ import annotations

import copy
import datetime
from collections import OrderedDict
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import ACROSS, INSIDE, Fold, Layer, Line, Origin, Policy, fold
from nodeattrs.core.folding import Folding, meet
from nodeattrs.core.part import Part, by_position, concat, entries, listed, made, unite
from nodeattrs.core.policy import ABSENT_KIND, ANY, DROP, KEEP, LIST, MAP, MEET, NULL, PRESENT, TAKE, TEXT, Meet
from nodeattrs.core.tree import ABSENT, MAX_DEPTH, spell
from nodeattrs.errors import BadArgument, BadKey, MergeConflict, TooDeep
from nodeattrs.testing import trees
from tests.effort import examples
from tests.laws import exact, layers, numbers


class Written:
    """A locator with a line for each path, as a file has."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[Any] = []

    def at(self, path: Any) -> Origin:
        self.asked.append(path)
        return Origin("file", self.name, f"{self.name}.yaml:{spell(path)}")


def refused(lower: Part, upper: Part) -> Part:
    raise MergeConflict("these two do not join", hint="say it once")


STRICT = Policy(
    "strict",
    Line(MAP, MAP, MEET),
    Line(ABSENT_KIND, PRESENT, TAKE),
    Line(PRESENT, PRESENT, refused),
)
"""A combinator that raises: what is said twice has to be a map."""


class TestLayers:
    def test_a_later_layer_lies_over_an_earlier_one(self):
        """
        Plain trees are layers whose origin is their number.
        """
        folded = fold([{"port": 80, "user": "www"}, {"port": 8080}])

        assert {"port": 8080, "user": "www"} == folded.value
        assert 8080 == folded["port"]
        assert ["layer 2", "layer 1"] == [str(folded.origins(key)[0]) for key in ("port", "user")]

    def test_a_fold_of_nothing_is_a_mistake(self):
        """
        The hint says what an empty layer is.
        """
        with pytest.raises(BadArgument, match="nothing to fold"):
            fold([])

    def test_a_layer_may_bring_its_own_policy(self):
        """
        It says how that layer joins what lies below it, and nothing about the next one.
        """
        replacing = Layer({"l": [2], "m": {"y": 2}}, policy=Policy("replacing", Line(ANY, PRESENT, TAKE)))

        assert {"l": [2, 3], "m": {"y": 2, "z": 3}} == fold([{"l": [1], "m": {"x": 1}}, replacing,
                                                            {"l": [3], "m": {"z": 3}}], INSIDE).value  # fmt: skip

    def test_scalars_and_lists_can_be_folded_too(self):
        """
        What a `Layer` holds need not be a map: one key of many sources is a fold of values.
        """
        assert [1, 2, 3] == fold([Layer([1, 2]), Layer([2, 3])], INSIDE).value
        assert "b" == fold([Layer("a"), Layer("b")]).value
        assert (Origin("caller"),) == fold([Layer("a"), Layer("b")]).origins(())

    def test_kinds_of_values_are_open(self):
        """
        Dates and bytes stay what they are.
        """
        day = datetime.date(2020, 2, 29)

        assert {"d": day, "b": b"x"} == fold([{"d": day, "b": b"x"}, {"d": day}]).value

    def test_sets_are_values_too(self):
        """
        Typed, elements of united lists like any other, and not shared with the layer.
        """
        mine = {1, 2}
        result = fold([{"s": mine, "l": [{1}]}, {"l": [{2}, {1}]}], INSIDE).value

        assert {"s": {1, 2}, "l": [{1}, {2}]} == result
        assert result["s"] is not mine

    def test_a_map_by_another_name_is_no_scalar(self):
        """
        It meets other maps, and the result is made of exact ones.
        """
        result = fold([{"a": OrderedDict(x=1)}, {"a": OrderedDict(y=2)}]).value

        assert exact({"a": {"x": 1, "y": 2}}) == exact(result)

    def test_odd_keys_are_refused_by_their_path(self):
        """
        Before anybody reads them.
        """
        with pytest.raises(BadKey) as caught:
            fold([{"a": {1.5: "x"}}])

        assert ("a",) == caught.value.path


class TestOrigins:
    def test_a_speaker_is_asked_only_when_somebody_wants_to_know(self):
        """
        Looking up a line costs more than folding a key.
        """
        common, web = Written("common"), Written("web")
        folded = fold([Layer({"a": {"b": 1}}, common), Layer({"a": {"b": 2}}, web)])

        assert [] == common.asked + web.asked
        assert "web.yaml:a.b" == folded.origins("a.b")[0].file
        assert [] == common.asked

    def test_an_element_is_asked_for_where_its_layer_says_it(self):
        """
        The second element of the result is the first of the layer that said it.
        """
        folded = fold([Layer({"l": ["a"]}, Written("common")), Layer({"l": ["b", "a"]}, Written("web"))], INSIDE)

        assert ["a", "b"] == folded["l"]
        assert ["common.yaml:l.0", "web.yaml:l.1"] == [origin.file for origin in folded.origins("l.0")]
        assert ["web.yaml:l.0"] == [origin.file for origin in folded.origins("l.1")]

    def test_a_leaf_of_an_element_is_too(self):
        """
        `users.1.name` of the result is `users.0.name` of the file that says it.
        """
        folded = fold(
            [
                Layer({"users": [{"name": "ann"}]}, Written("common")),
                Layer({"users": [{"name": "bob"}, {"name": "cy"}]}, Written("web")),
            ],
            INSIDE,
        )

        assert "bob" == folded["users"][1]["name"]
        assert ["web.yaml:users.0.name"] == [origin.file for origin in folded.origins("users.1.name")]
        assert ["web.yaml:users.0.name"] == [stated.claim.origin.file for stated in folded.trace("users.1.name").claims]

    def test_nobody_said_what_is_not_there(self):
        """
        Not even the layers that said something near.
        """
        folded = fold([{"a": {"b": [1]}}, {"a": {"c": 2}}])

        assert () == folded.origins("a.x") == folded.origins("a.b.1") == folded.origins("a.b.0.x")

    def test_a_map_is_said_by_everyone_who_said_an_entry(self):
        """
        In order of first appearance.
        """
        folded = fold(layers({"a": {"x": 1, "y": 1}}, {"a": {"x": 2}}, {"a": {"z": 3}}))

        assert (2, 1, 3) == numbers(folded, ("a",))

    def test_an_empty_map_over_a_map_has_said_nothing_new(self):
        """
        The lower one has spoken.
        """
        folded = fold(layers({"a": {}, "b": {"x": 1}}, {"a": {}, "b": {}}))

        assert (1,) == numbers(folded, ("a",)) == numbers(folded, ("b",))

    def test_a_map_that_a_removal_emptied_is_said_by_both_sides(self):
        """
        There is nothing left to carry an origin, and yet somebody has made it empty.
        """
        folded = fold(layers({"a": {"x": 1}}, {"a": {"x": None}}), DROPPING)

        assert {"a": {}} == folded.value
        assert (1, 2) == tuple(sorted(numbers(folded, ("a",))))

    def test_whoever_said_only_what_was_removed_is_no_longer_named(self):
        """
        Of a map that others still have entries in.
        """
        folded = fold(layers({"m": {"x": 1}}, {"m": {"y": 2}}, {"m": {"x": None}}), DROPPING)

        assert {"m": {"y": 2}} == folded.value
        assert (2,) == numbers(folded, ("m",))


class TestNestedFolds:
    def test_a_group_is_finished_before_it_is_laid_over_others(self):
        """
        A conflict inside a group does not cut off the groups below it.
        """
        group = Fold((Layer({"k": 3}), Layer({"k": {"z": 1}})), INSIDE)

        assert {"k": {"x": 1, "z": 1}} == fold([{"k": {"x": 1}}, group], ACROSS).value

    def test_layers_are_numbered_in_the_order_in_which_they_are_laid(self):
        """
        Through all inner folds.
        """
        plan = [Fold(tuple(layers({"a": 1}, {"b": 1})), INSIDE), Layer({"c": 1}), Fold((Layer({"d": 1}),), INSIDE)]
        folded = fold(plan, ACROSS)

        assert [1, 2, 3, 4] == [folded.trace(key).winner.claim.rank for key in "abcd"]

    def test_the_same_finished_group_can_be_folded_twice(self):
        """
        It is a value: folding it changes nothing about it.
        """
        group = Fold((Layer({"l": [1]}), Layer({"l": [2]})), INSIDE)

        assert {"l": [1, 2]} == fold([group, group], INSIDE).value == fold([group], INSIDE).value

    def test_from_the_top_the_result_so_far_wins(self):
        """
        The first layer is the strongest; keys still stand in the order of the lower one.
        """
        folded = fold(layers({"b": 1}, {"a": 2, "b": 2}, {"c": 3, "a": 3}), from_top=True)

        assert exact({"c": 3, "a": 2, "b": 1}) == exact(folded.value)
        assert (1,) == numbers(folded, ("b",))

    def test_nested_folds_keep_their_own_directions(self):
        """
        Each inner fold has its own.
        """
        inner = Fold((Layer({"a": "first"}), Layer({"a": "second"})), INSIDE, from_top=True)

        assert {"a": "first"} == fold([{"a": "below"}, inner]).value


class TestFailure:
    def test_a_conflict_names_the_place_and_both_sides(self):
        """
        The handler knows neither; the fold adds them while the error passes.
        """
        with pytest.raises(MergeConflict) as caught:
            fold([Layer({"a": {"b": 1}}, Written("common")), Layer({"a": {"b": "x"}}, Written("web"))], STRICT)

        assert ("a", "b") == caught.value.path
        assert ["web.yaml:a.b", "common.yaml:a.b"] == [origin.file for origin in caught.value.origins]
        assert str(caught.value).splitlines() == [
            "these two do not join at a.b",
            "  'x' was set by web.yaml:a.b (file web)",
            "  1 was set by common.yaml:a.b (file common)",
            "  say it once",
        ]

    def test_a_conflict_between_many_names_those_who_said_it(self):
        """
        Of the result so far, the layer whose value stands there; not the last one laid.
        """
        with pytest.raises(MergeConflict) as caught:
            fold(layers({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 3}}), STRICT)

        assert ["3", "1"] == [origin.name for origin in caught.value.origins]

    def test_a_conflict_in_an_inner_fold_is_told_once(self):
        """
        With the inner fold's layers.
        """
        inner = Fold(tuple(layers({"a": {"x": 1}}, {"a": {"x": 2}})), STRICT)

        with pytest.raises(MergeConflict) as caught:
            fold([{"a": {"x": 0}}, inner], INSIDE)

        assert ["2", "1"] == [origin.name for origin in caught.value.origins]
        assert 1 == str(caught.value).count("at a.x")

    def test_a_conflict_at_the_root_has_the_empty_path(self):
        """
        Where whole layers do not join.
        """
        with pytest.raises(MergeConflict, match=r"at \(root\)") as caught:
            fold([Layer("a"), Layer("b")], STRICT)

        assert () == caught.value.path

    def test_a_part_that_fails_leaves_the_result_so_far(self):
        """
        Nothing is changed in place, so whoever catches goes on with what was folded before.
        """
        good = fold([{"a": 1, "m": {"x": [1]}}, {"m": {"y": 2}}], STRICT)
        before = exact(good.value)

        with pytest.raises(MergeConflict):
            fold([good.value, {"b": 3, "m": {"x": [2]}}], STRICT)

        assert before == exact(good.value)


def nested(depth: int, container: type, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"k": value} if container is dict else [value]
    return value


class TestDepth:
    """One limit for depth; the tests run on the stack that pytest has left."""

    @pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
    def test_five_hundred_levels_meet(self, policy):
        """
        And every one of them can be explained.
        """
        path = ("k",) * MAX_DEPTH
        folded = fold(layers(nested(MAX_DEPTH, dict, 1), nested(MAX_DEPTH, dict, 2)), policy)

        assert (2,) == numbers(folded, path)
        assert [2, 1] == [stated.claim.rank for stated in folded.trace(path).claims]
        assert folded.explain(path)
        assert folded.trace(()).to_dict()

    @pytest.mark.parametrize("container", [dict, list])
    @pytest.mark.parametrize("leaf", ["same", "other"])
    def test_deep_elements_of_united_lists_are_told_apart(self, container, leaf):
        """
        A list at the second level, and in it as deep as a tree may be.
        """
        room = MAX_DEPTH - 2
        lower, upper = {"l": [nested(room, container, "same")]}, {"l": [nested(room, container, leaf)]}

        folded = fold(layers(lower, upper), INSIDE)

        assert (1 if leaf == "same" else 2) == len(folded["l"])
        assert ((1, 2) if leaf == "same" else (1,)) == numbers(folded, ("l", 0))

    @pytest.mark.parametrize("container", [dict, list])
    @pytest.mark.parametrize("policy", [INSIDE, ACROSS], ids=repr)
    def test_one_level_more_is_too_deep(self, policy, container):
        """
        In one layer alone, or where two meet.
        """
        deep = {"k": nested(MAX_DEPTH, container, 1)}

        with pytest.raises(TooDeep):
            fold([deep], policy)
        with pytest.raises(TooDeep):
            fold([deep, deep], policy)

    @pytest.mark.parametrize("depth", [5_000, 200_000])
    def test_far_too_deep_is_no_worse(self, depth):
        """
        An error of ours, and no crash.
        """
        with pytest.raises(TooDeep):
            fold([nested(depth, dict, 1), nested(depth, dict, 2)])

    @pytest.mark.parametrize("policy", [INSIDE, ACROSS, STRICT], ids=repr)
    def test_a_layer_inside_itself_is_too_deep(self, policy):
        """
        Alone, twice, and in a list.
        """
        ring: dict[str, Any] = {}
        ring["k"] = ring
        wheel: list[Any] = []
        wheel.append(wheel)

        for cyclic in ([ring], [ring, ring], [{"l": wheel}]):
            with pytest.raises(TooDeep):
                fold(cyclic, policy)

    def test_a_cycle_in_united_lists_is_too_deep(self):
        """
        Comparing the elements would never end.
        """
        wheel: list[Any] = []
        wheel.append(wheel)

        with pytest.raises(TooDeep):
            fold([{"l": wheel}, {"l": [1]}], INSIDE)


# Other tools' rules, as small as they can be: evidence for docs/merging.md. The dialects build theirs from options.

DROPPING = Policy("null removes", Line(PRESENT, NULL, DROP), Line(MAP, MAP, MEET), Line(ANY, PRESENT, TAKE))


def _characters_or_keys(part: Part) -> Part:
    """What cloud-init's list merger makes of a text or map that stands in a list's place."""
    entries = part.value if isinstance(part.value, dict) else list(part.value)
    return made(list(entries), part)


def dispatching(*, replace: bool = False, allow_delete: bool = False, append: bool = False) -> Policy:
    """cloud-init's way: the type of the old value picks the merger; what no merger takes stays as it was.

    replace: dict(replace); otherwise a key keeps its old value, unless both are maps or lists
    allow_delete: a null removes the key; it stands before everything else
    append: list(append); otherwise the old list stays
    """

    def lists(lower: Part, upper: Part) -> Part:
        return concat(lower, upper if isinstance(upper.value, list) else _characters_or_keys(upper))

    in_map = [Line(PRESENT, NULL, DROP)] if allow_delete else []
    in_map += [Line(ABSENT_KIND, PRESENT, TAKE), Line(MAP, MAP, MEET)]
    in_map += [Line(LIST, (LIST, MAP, TEXT), lists)] if append else []
    in_map += [Line(PRESENT, PRESENT, TAKE if replace else KEEP)]
    below = Policy("in a map", *in_map)
    return Policy("root", Line(MAP, MAP, Meet(below)), Line(ABSENT_KIND, PRESENT, TAKE), Line(PRESENT, PRESENT, KEEP))


class TestCloudInit:
    """Dispatch by the old value's type."""

    def test_without_options_the_first_word_stands(self):
        """
        Maps meet; whatever else is said twice stays as it was first.
        """
        seen = fold([{"a": 1, "l": [1], "m": {"x": 1}}, {"a": 2, "l": [2], "m": {"x": 2, "y": 2}}], dispatching()).value

        assert exact({"a": 1, "l": [1], "m": {"x": 1, "y": 2}}) == exact(seen)

    def test_what_fits_no_merger_is_dropped_with_its_part(self):
        """
        A part that is not a map leaves the result as it was.
        """
        assert {"a": 1} == fold([{"a": 1}, Layer(["not", "a", "map"]), Layer("text")], dispatching()).value

    def test_the_old_value_says_what_becomes_of_the_new_one(self):
        """
        A text in the place of a list comes in by characters, a map by its keys; a number stays out.
        """
        old = {"t": ["x"], "m": ["x"], "n": ["x"]}
        folded = fold(layers(old, {"t": "ab", "m": {"k": 1}, "n": 5}), dispatching(append=True))

        assert {"t": ["x", "a", "b"], "m": ["x", "k"], "n": ["x"]} == folded.value
        assert [(1,), (2,)] == [numbers(folded, ("t", index)) for index in (0, 2)]

    def test_a_null_removes_and_its_key_comes_back_at_the_end(self):
        """
        DROP stands before replace; what is added later is new.
        """
        parts = [{"a": 1, "b": 1}, {"a": None, "nothing": None}, {"a": 3}]
        options = {"replace": True, "allow_delete": True}

        assert exact({"b": 1, "nothing": None}) == exact(fold(parts[:2], dispatching(**options)).value)
        assert exact({"b": 1, "nothing": None, "a": 3}) == exact(fold(parts, dispatching(**options)).value)

    def test_each_part_may_ask_for_its_own_merger(self):
        """
        The header of a part is the policy of its layer.
        """
        parts = [
            Layer({"l": [1], "a": 1}),
            Layer({"l": [2], "a": 2}, policy=dispatching(append=True)),
            Layer({"l": [3], "a": 3}, policy=dispatching(replace=True)),
        ]

        assert {"l": [1, 2], "a": 1} == fold(parts[:2], dispatching()).value
        assert {"l": [3], "a": 3} == fold(parts, dispatching()).value


MARK = "--"


def _spent(upper: Part) -> Part:
    """A list without the markers it holds: they are spent once."""
    return listed((one for one in upper.elements() if not str(one.value).startswith(MARK)), upper)


def _knocked(lower: Part, upper: Part) -> Part:
    """Markers of the upper list remove from the lower one, then the two unite: `--` alone removes everything."""
    marks = [one for one in upper.value if isinstance(one, str) and one.startswith(MARK)]
    if MARK in marks:
        return listed(_spent(upper).elements(), lower, upper)
    gone = [*marks, *(mark.removeprefix(MARK) for mark in marks)]
    stays = listed((one for one in lower.elements() if one.value not in gone), lower)
    return listed(unite(_spent(upper), stays).elements(), lower, upper)


def _meets_itself(lower: Part, upper: Part) -> Part:
    """What meets nothing meets itself: duplicates and markers go."""
    return meet(HIERA_BELOW, upper, upper)


HIERA_BELOW = Policy(
    "hiera deep, below",
    Line(MAP, MAP, MEET),
    Line(LIST, LIST, _knocked, "the lists unite, markers remove"),
    Line(ABSENT_KIND, LIST, _meets_itself, "a list that meets nothing meets itself"),
    Line(ANY, PRESENT, TAKE, "the stronger one wins"),
)
HIERA = Policy("hiera deep", Line(MAP, MAP, Meet(HIERA_BELOW)), Line(ANY, PRESENT, TAKE))


def hiera(*sources: Any) -> Any:
    """Hiera folds from the top: the strongest source stands first."""
    return fold(layers(*sources), HIERA, from_top=True)


class TestHiera:
    """From the top, with a marker that removes."""

    def test_a_marker_removes_from_the_next_source(self):
        """
        And is gone itself.
        """
        assert {"l": ["a", "y"]} == hiera({"l": ["--x", "a"]}, {"l": ["x", "y"]}).value

    def test_a_bare_marker_removes_everything(self):
        """
        Nothing of the lower list is left.
        """
        assert {"l": ["a"]} == hiera({"l": ["--", "a"]}, {"l": ["x", "y"]}).value

    def test_a_marker_is_spent_once(self):
        """
        The source after the next is no longer touched: grouping is visible.
        """
        assert ["a", "b", "x", "c"] == hiera({"l": ["--x", "a"]}, {"l": ["b"]}, {"l": ["x", "c"]})["l"]
        lower = hiera({"l": ["b"]}, {"l": ["x", "c"]}).value
        assert ["a", "b", "c"] == hiera({"l": ["--x", "a"]}, lower)["l"]

    def test_a_list_that_meets_nothing_meets_itself(self):
        """
        Only a higher source has it: duplicates and markers go; the lowest source alone stays raw.
        """
        assert {"b": 1, "l": ["a"]} == hiera({"l": ["a", "--x", "a"]}, {"b": 1}).value
        assert {"l": ["a", "--x", "a"]} == hiera({"l": ["a", "--x", "a"]}).value

    def test_origins_follow_the_elements(self):
        """
        Also those of a list that met itself; an emptied list is set by those who made it so.
        """
        folded = hiera({"l": ["--x", "a"], "own": ["o", "o"]}, {"l": ["x", "a", "y"]})

        assert ["a", "y"] == folded["l"]
        assert [(1, 2), (2,)] == [numbers(folded, ("l", index)) for index in (0, 1)]
        assert (1,) == numbers(folded, ("own", 0)) == numbers(folded, ("own",))
        assert (1, 2) == tuple(sorted(numbers(hiera({"l": ["--x"]}, {"l": ["x"]}), ("l",))))

    @settings(max_examples=examples(100))
    @given(st.lists(trees(keys=("a", "b"), scalars=("x", "--x", "y", "--")), min_size=2, max_size=3))
    def test_whoever_is_named_said_it(self, sources):
        """
        And everything that is read has somebody.
        """
        folded = hiera(*sources)

        for key in folded.value:
            named = numbers(folded, (key,))
            assert named
            assert all(key in sources[number - 1] for number in named)


def _no_text(lower: Part, upper: Part) -> Part:
    raise MergeConflict("no text")


def _prepended(lower: Part, upper: Part) -> Part:
    return concat(upper, lower)


def _shared(now: Part, _: Part) -> Part:
    parts = {key: now.at(key) for key in now.value}
    return entries(parts | dict.fromkeys("bc", parts["a"]) if "a" in parts else parts)


_GROWING = [
    Policy(
        "lists are joined",
        Line(MAP, MAP, MEET),
        Line(LIST, LIST, joined),
        Line(PRESENT, TEXT, _no_text),
        Line(ANY, PRESENT, TAKE),
    )
    for joined in (concat, _prepended)
]
_grown_parts = st.sampled_from([{"a": [0]}, {"a": [0], "b": [1]}, {"a": [0], "b": "no"}, {"c": {"k": [0]}}])


class TestGrowing:
    """Lists that grow in place: what is read is as if each had been made anew."""

    @given(st.lists(st.tuples(_grown_parts, st.sampled_from([_GROWING[0], *_GROWING, None])), max_size=9))
    def test_nothing_is_read_of_it(self, laid: list[tuple[dict[str, Any], Policy | None]]):
        """
        A part that is refused in its middle leaves the result as it was; a change shares what it copies; no part that
        was laid is another one then.
        """
        slow, quick = Folding(start=Part({}, 0)), Folding(start=Part({}, 0), growing=True)
        before = copy.deepcopy([tree for tree, _ in laid])
        for number, (tree, policy) in enumerate(laid, 1):
            for folding in (slow, quick):
                if policy is None:
                    folding.change(_shared)
                else:
                    with suppress(MergeConflict):
                        folding.lay(Part(tree, number), policy)

            assert (slow.result.value, slow.result.origins) == (quick.result.value, quick.result.origins)
        assert before == [tree for tree, _ in laid]
        assert all(one.value == other.value for one, other in zip(slow.results(), quick.results(), strict=True))

    def test_any_error_of_a_handler_leaves_the_result_as_it_was(self):
        """
        Not only a refusal: what was merged in place before the error is merged again.
        """
        lines = (Line(ABSENT_KIND, PRESENT, TAKE), Line(MAP, MAP, MEET), Line(LIST, LIST, concat))
        failing = Line(PRESENT, TEXT, lambda lower, upper: Part(1 // 0, 1))
        broken = Policy("broken", *lines, failing, Line(ANY, PRESENT, TAKE))
        folding = Folding(start=Part({}, 0), growing=True)
        for number in (1, 2):
            folding.lay(Part({"a": [number], "b": {"c": [number]}, "d": 1}, number), broken)
        before = copy.deepcopy((folding.result.value, folding.result.origins))
        for tree in ({"a": [3], "b": {"c": [3]}, "d": "no"}, {"b": {"c": [3], "e": 1}, "d": "no"}):
            with pytest.raises(ZeroDivisionError):
                folding.lay(Part(tree, 3), broken)
            assert (folding.result.value, folding.result.origins) == before
        folding.lay(Part({"a": [4]}, 4), broken)
        assert folding.result.value == {"a": [1, 2, 4], "b": {"c": [1, 2]}, "d": 1}

    def test_lists_still_grow_in_place_after_a_part_was_refused(self):
        """
        A copy for each further part would be quadratic.
        """
        refusing = _GROWING[0]
        folding = Folding(start=Part({}, 0), growing=True)
        folding.lay(Part({"a": [1]}, 1), refusing)
        folding.lay(Part({"a": [2]}, 2), refusing)
        with pytest.raises(MergeConflict):
            folding.lay(Part({"a": "no"}, 3), refusing)
        folding.lay(Part({"a": [4]}, 4), refusing)
        grown = folding.result.value["a"]
        folding.lay(Part({"a": [5]}, 5), refusing)

        assert folding.result.value == {"a": [1, 2, 4, 5]}
        assert folding.result.value["a"] is grown


class TestCombinators:
    """Bindings' way: every fragment of a multibinding is one layer under one combinator."""

    def test_a_made_value_is_said_by_those_it_was_made_of(self):
        """
        The sum stands in no source; all have spoken.
        """
        adding = Line(PRESENT, PRESENT, lambda lower, upper: made(lower.value + upper.value, lower, upper))
        summed = Policy("sum", Line(ABSENT_KIND, PRESENT, TAKE), adding)
        folded = fold(layers(1, 2, 4), summed)

        assert 7 == folded.value
        assert (1, 2, 3) == numbers(folded, ())

    def test_a_made_value_where_nothing_lies_below_has_an_origin_too(self):
        """
        The absent side has nobody to name; the other one has.
        """
        wrapped = Policy("wrapped", Line(MAP, MAP, MEET),
                         Line(ABSENT_KIND, TEXT, lambda lower, upper: made([upper.value], lower, upper)),
                         Line(ANY, PRESENT, TAKE))  # fmt: skip
        folded = fold(layers({"b": 1}, {"a": "x"}), wrapped)

        assert {"b": 1, "a": ["x"]} == folded.value
        assert (2,) == numbers(folded, ("a",))

    def test_lists_can_be_laid_by_position(self):
        """
        Leftovers of both sides stay; each entry keeps its own locator.
        """

        def either(lower: Part, upper: Part) -> Part:
            return meet(INSIDE, lower, upper)

        positions = Policy("by position", Line(MAP, MAP, MEET),
                           Line(LIST, LIST, lambda lower, upper: by_position(lower, upper, either)),
                           Line(ANY, PRESENT, TAKE))  # fmt: skip
        folded = fold(layers({"l": [{"x": 1}, "low", "left"]}, {"l": [{"y": 2}, "high"]}), positions)

        assert {"l": [{"x": 1, "y": 2}, "high", "left"]} == folded.value
        found = [numbers(folded, ("l", *path)) for path in ((0, "x"), (0, "y"), (1,), (2,))]
        assert [(1,), (2,), (2,), (1,)] == found

    def test_an_entry_can_be_taken_away_by_a_handler(self):
        """
        A handler that gives nothing removes the key, as DROP does.
        """
        cancelling = Policy("cancelling", Line(MAP, MAP, MEET),
                            Line(TEXT, TEXT, lambda lower, upper: upper if lower.value != upper.value
                                 else Part(ABSENT, None)),
                            Line(ANY, PRESENT, TAKE))  # fmt: skip

        assert {"b": "y"} == fold([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}], cancelling).value
