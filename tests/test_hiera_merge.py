"""The strategies on plain values: the worked examples, the laws, what goes beyond Puppet, and what is refused."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.core.tree import ABSENT
from nodeattrs.errors import MergeConflict, TooDeep
from nodeattrs.hiera import BadLookup, CannotMerge, KeyNotFound, merge
from tests.vectors.values import spelled

DASHES = {"strategy": "deep", "knockout_prefix": "--"}

scalars = st.sampled_from(["a", "b", "--a", "--", 1, 1.0, True, False, None])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2),
    max_leaves=5,
)
maps = st.dictionaries(st.sampled_from("kl"), values, max_size=2)
deeps = st.sampled_from(["deep", DASHES, {"strategy": "deep", "merge_hash_arrays": True}])


class TestTheWorkedExamples:
    """The examples that the documentation of Hiera works through, with names of our own."""

    def test_first_found_ignores_the_rest(self):
        """
        The strongest value is the answer, whatever lies below it.
        """
        assert "node" == merge(["node", "common"]) == merge(["node", "common"], {"strategy": "first"})

    def test_unique_puts_a_single_value_and_a_list_into_one_list(self):
        """
        A site with one time server of its own, over two common ones.
        """
        assert ["ntp.site", "ntp0", "ntp1"] == merge(["ntp.site", ["ntp0", "ntp1"]], "unique")

    def test_unique_flattens_and_drops_repetitions(self):
        """
        Nested lists become one, and the strongest occurrence stands.
        """
        assert ["a", "b", "c"] == merge([["a", ["b"]], ["b", ["a", ["c"]]]], "unique")

    def test_hash_keeps_the_order_of_the_weakest_source(self):
        """
        Known keys are updated in place, new ones follow.
        """
        got = merge([{"owner": "node", "mode": "node"}, {"group": "all", "mode": "all", "path": "all"}], "hash")

        assert ["group", "mode", "path", "owner"] == list(got)
        assert {"group": "all", "mode": "node", "path": "all", "owner": "node"} == got

    def test_hash_is_shallow_and_deep_is_not(self):
        """
        Under the same user, one keeps the stronger source's map whole, the other joins both.
        """
        strong, weak = {"eva": {"uid": 7}}, {"eva": {"shell": "zsh"}, "ina": {"uid": 8}}

        assert {"eva": {"uid": 7}, "ina": {"uid": 8}} == merge([strong, weak], "hash")
        assert {"eva": {"shell": "zsh", "uid": 7}, "ina": {"uid": 8}} == merge([strong, weak], "deep")

    def test_deep_takes_lists_at_the_root(self):
        """
        Unlike hash; the weaker elements come first, unlike unique.
        """
        assert ["low", "both", "high"] == merge([["high", "both"], ["low", "both"]], "deep")

    def test_maps_in_lists_merge_by_position(self):
        """
        With the option; without it they are elements like others.
        """
        strong, weak = [{"a": "high"}, {"b": "high"}], [{"c": "low"}, {"d": "low"}]

        by_position = merge([strong, weak], {"strategy": "deep", "merge_hash_arrays": True})

        assert [{"c": "low", "a": "high"}, {"d": "low", "b": "high"}] == by_position
        assert [*weak, *strong] == merge([strong, weak], "deep")

    def test_merged_lists_are_sorted_where_asked(self):
        """
        All elements, whichever source they came from.
        """
        assert ["a", "b", "c"] == merge([["c", "a"], ["b"]], {"strategy": "deep", "sort_merged_arrays": True})

    def test_a_knock_out_removes_from_the_weaker_list(self):
        """
        The marker goes too; a bare prefix empties all that lies below.
        """
        assert ["keep", "new"] == merge([["--drop", "new"], ["drop", "keep"]], DASHES)
        assert ["new"] == merge([["--", "new"], ["drop", "keep"]], DASHES)


class TestLaws:
    @given(st.lists(maps, min_size=1, max_size=4), deeps)
    def test_no_input_is_changed_and_none_is_shared(self, sources, how):
        """
        The values are as they were, and changing the result changes none of them.
        """
        before = copy.deepcopy(sources)

        result = merge(sources, how)
        result.clear()

        assert spelled(before) == spelled(sources)

    @given(values)
    def test_one_value_stays_as_it_is_under_deep(self, value):
        """
        Nothing meets it: markers and repetitions stay.
        """
        assert spelled(value) == spelled(merge([value], DASHES))

    @given(values, st.lists(values, max_size=3), st.sampled_from(["first", "unique", "hash", DASHES]))
    def test_a_source_without_the_key_changes_nothing_but_for_unique(self, value, more, how):
        """
        Wherever it stands among at least two others.
        """
        sources = [value, value, *more]

        def answer(some):
            try:
                return spelled(merge(some, how))
            except CannotMerge as error:
                return error.kind

        assert answer(sources) == answer([ABSENT, *sources]) == answer([sources[0], ABSENT, *sources[1:]])

    @given(maps, maps)
    def test_hash_reads_the_stronger_map_back(self, strong, weak):
        """
        Each of its keys has its value.
        """
        got = merge([strong, weak], "hash")

        assert all(spelled(got[key]) == spelled(strong[key]) for key in strong)
        assert got.keys() == strong.keys() | weak.keys()

    @given(st.lists(values, min_size=1, max_size=3), st.lists(values, max_size=3))
    def test_unique_has_no_element_twice(self, strong, weak):
        """
        Of two lists; 1, 1.0 and true are three elements.
        """
        try:
            got = merge([strong, [entry for entry in weak if type(entry) is not dict]], "unique")
        except CannotMerge:
            return

        assert len({spelled(entry) for entry in got if not isinstance(entry, dict)}) == len(
            [entry for entry in got if not isinstance(entry, dict)]
        )

    @given(maps, maps)
    def test_by_the_letter_and_as_puppet_agree_on_two_maps(self, strong, weak):
        """
        The mode of the documentation differs in corners only.
        """
        assert spelled(merge([strong, weak], "hash")) == spelled(merge([strong, weak], "hash", documented=True))

    def test_grouping_matters_for_knock_outs(self):
        """
        The law that we do not have: a knock-out is spent on the next source that has the list.
        """
        top, middle, bottom = ["--x", "a"], ["b"], ["x", "c"]

        assert ["x", "c", "b", "a"] == merge([top, middle, bottom], DASHES)
        assert ["c", "b", "a"] == merge([top, merge([middle, bottom], DASHES)], DASHES)


class TestByTheLetter:
    @pytest.mark.parametrize(
        ("sources", "how", "kind"),
        [
            ([{"a": 1}], "unique", "hash_in_unique"),
            ([["x", {"a": 1}]], "unique", "hash_in_unique"),
            ([{"a": 1}, "x"], "unique", "hash_in_unique"),
            (["x"], "hash", "not_a_hash"),
            (["x", ABSENT], "hash", "not_a_hash"),
        ],
    )
    def test_documented_merges_refuse_what_the_documentation_refuses(self, sources, how, kind):
        """
        Puppet takes each of these.
        """
        merge(sources, how)

        with pytest.raises(CannotMerge) as caught:
            merge(sources, how, documented=True)

        assert kind == caught.value.kind

    def test_repetitions_always_go(self):
        """
        Also those that appear when a lone value is flattened.
        """
        sources = [["a", ["a"]], ABSENT]

        assert ["a", "a"] == merge(sources, "unique")
        assert ["a"] == merge(sources, "unique", documented=True)


class TestBeyondPuppet:
    def test_a_knock_out_reaches_through_every_source(self):
        """
        With knockout_through; the markers themselves are gone at the end.
        """
        sources = [["--x", "a"], ["b"], ["x", "c"]]

        assert ["c", "b", "a"] == merge(sources, {**DASHES, "knockout_through": True})

    def test_knockout_through_reaches_past_sources_without_the_key(self):
        """
        And below maps, and when the marker stands in the lowest source.
        """
        through = {**DASHES, "knockout_through": True}

        assert {"l": ["y"]} == merge([{"l": ["--x"]}, {}, {"l": ["x", "y"]}], through)
        assert {"l": ["y"]} == merge([{}, {"l": ["--x", "y"]}], through)
        assert ["a"] == merge([["--", "a"], ["b"], ["c"]], through)

    def test_a_key_is_knocked_out(self):
        """
        With knockout_hash_keys; in the next source that has the map, or with both options in all.
        """
        sources = [{"--a": None, "b": 1}, {"a": 1, "c": 2}, {"a": 5}]
        keys = {**DASHES, "knockout_hash_keys": True}

        assert {"a": 1, "c": 2, "--a": None, "b": 1} == merge(sources, DASHES)
        assert {"a": 5, "c": 2, "b": 1} == merge(sources, keys)
        assert {"c": 2, "b": 1} == merge(sources, {**keys, "knockout_through": True})

    def test_a_source_may_drop_a_key_and_say_it_anew(self):
        """
        The marker speaks of what lies below, not of its own map.
        """
        assert {"a": {"new": 1}} == merge(
            [{"--a": None, "a": {"new": 1}}, {"a": {"old": 1}}], {**DASHES, "knockout_hash_keys": True}
        )

    def test_maps_in_lists_merge_by_a_field(self):
        """
        Where the field is equal, type and all; others follow, those without it as well.
        """
        strong = [{"name": "web", "port": 8080}, {"name": 1}, {"port": 1}]
        weak = [{"name": "db"}, {"name": "web", "port": 80, "tls": True}, {"name": True}]

        got = merge([strong, weak], {"strategy": "deep", "merge_hash_arrays_by": "name"})

        assert [
            {"name": "db"},
            {"name": "web", "port": 8080, "tls": True},
            {"name": True},
            {"name": 1},
            {"port": 1},
        ] == got

    @given(st.lists(maps, min_size=1, max_size=3))
    def test_switched_off_they_change_nothing(self, sources):
        """
        False and null are the same as leaving them out.
        """
        off = {"knockout_through": False, "knockout_hash_keys": None, "merge_hash_arrays_by": None}

        assert spelled(merge(sources, DASHES)) == spelled(merge(sources, {**DASHES, **off}))


class TestFaults:
    @pytest.mark.parametrize(
        ("how", "kind", "words"),
        [
            ("deap", "unknown_strategy", "did you mean deep"),
            (7, "unknown_strategy", "the strategies are first, unique, hash, deep"),
            ({"knockout_prefix": "--"}, "missing_strategy", "add strategy"),
            ({"strategy": "deep", "knockout_prefx": "--"}, "bad_option", "did you mean knockout_prefix"),
            ({"strategy": "deep", "sort_merged_arrays": "yes"}, "bad_option", "true or false"),
            ({"strategy": "unique", "knockout_prefix": "--"}, "bad_option", "knows no option"),
        ],
    )
    def test_a_strategy_that_cannot_be_is_refused_with_the_way_out(self, how, kind, words):
        """
        Before any value is looked at.
        """
        with pytest.raises(BadLookup, match=words) as caught:
            merge([1], how)

        assert kind == caught.value.kind

    def test_a_refused_merge_is_a_merge_conflict(self):
        """
        So those who know the core only catch it too.
        """
        with pytest.raises(MergeConflict, match="hash can only merge maps"):
            merge([{"a": 1}, [1]], "hash")

    def test_nothing_to_merge_is_not_found(self):
        """
        No source, or only sources without the key.
        """
        with pytest.raises(KeyNotFound):
            merge([], "deep")
        with pytest.raises(KeyNotFound):
            merge([ABSENT, ABSENT], "unique")

    @pytest.mark.parametrize("prefix", ["(", "[", "(?z)"])
    def test_a_prefix_that_is_no_expression_fails_when_it_is_needed(self, prefix):
        """
        As in Puppet: not before a text is compared with it.
        """
        how = {"strategy": "deep", "knockout_prefix": prefix}

        assert 1 == merge([1], how)
        with pytest.raises(CannotMerge, match="regular expression"):
            merge([["a"], ["b"]], how)

    def test_a_value_inside_itself_is_a_clear_error(self):
        """
        Not the end of the interpreter's stack.
        """
        circle: list = []
        circle.append(circle)

        for how in ("first", "unique", "deep"):
            with pytest.raises(TooDeep):
                merge([circle, circle], how)


@pytest.mark.parametrize(
    "place", [lambda odd: odd, lambda odd: {"a": odd}, lambda odd: {"a": [odd]}, lambda odd: {"a": [[{"k": odd}]]}]
)
@pytest.mark.parametrize("above", [True, False])
def test_keys_are_text_wherever_maps_are_merged_by_hash(place, above):
    """Above and below, inside of lists too; a deep merge takes them."""
    values = [place({1: 2}), {"b": 1}][:: 1 if above else -1]

    with pytest.raises(CannotMerge, match="cannot merge a map with the key 1"):
        merge(values, "hash")
    assert 1 == merge(values, "deep")["b"]


@pytest.mark.parametrize(
    ("strong", "answer"),
    [
        ({"k": [1, 1]}, {"k": [1, 1]}),
        ({"k": [1, 1], "l": [1, 1]}, {"k": [1, 1], "l": [1]}),
        ({"k": [1, 1], "l": [1, 1], "m": {"n": [1, 1]}}, {"k": [1, 1], "l": [1], "m": {"n": [1]}}),
        ({}, True),
    ],
)
def test_over_a_truth_the_first_pair_is_taken_and_each_later_one_meets_itself(strong, answer):
    """So their lists say each element once. An empty map yields. As the real one does: see the vectors."""
    assert answer == merge([strong, True], "deep")


UPPERS = [None, True, False, 1, "a", "", [1, 1], [], {"k": 1}, {}]


@pytest.mark.parametrize(
    ("lower", "is_below", "answers"),
    [
        (True, False, [True, True, False, 1, "a", "", [1, 1], [], {"k": 1}, True]),
        (True, True, [True, True, False, 1, "a", "", [1, 1], [], {"k": 1}, True]),
        (False, False, [False, True, False, 1, "a", "", [1, 1], [], {"k": 1}, {}]),
        (False, True, [None, True, False, 1, "a", "", [1], [], {"k": 1}, {}]),
    ],
)
def test_each_kind_over_a_truth(lower, is_below, answers):
    """Below a key false is as if it were not there: null stays, and a list meets itself. See `deep-false` and
    `deep-null` among the vectors."""
    pairs = [({"q": upper}, {"q": lower}) if is_below else (upper, lower) for upper in UPPERS]
    found = [merge([*pair], "deep") for pair in pairs]

    assert spelled(answers) == spelled([one["q"] for one in found] if is_below else found)
