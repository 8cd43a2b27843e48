"""Explanations: every leaf's line, every place searched, what was knocked out and shadowed, and the trace."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.adapters.hiera import Hiera, psych
from nodeattrs.core.tree import ABSENT, dig, spell
from nodeattrs.texts.places import Text
from tests import hiera_trees
from tests.hiera_trees import Site, written
from tests.vectors.values import spelled

site = hiera_trees.site
NODE, COMMON = "data/nodes/web1.yaml", "data/common.yaml"


def places(explanation) -> dict[str, list[str]]:
    """Each leaf's path, and the lines that said it."""
    return {spell(path): [str(one.place) for one in origins] for path, _, origins in explanation.leaves()}


class TestWhoSaidIt:
    def test_each_leaf_of_a_deep_merge_has_its_line(self, site: Site):
        """
        And each element of a merged list; an element that both said has both.
        """
        scope = site(
            {NODE: "k:\n  a: 1\n  l:\n    - x\n    - both\n", COMMON: "k:\n  b: 2\n  l:\n    - both\n    - y\n"}
        )

        assert {
            "b": [f"{COMMON}:2"],
            "l.0": [f"{NODE}:5", f"{COMMON}:4"],
            "l.1": [f"{COMMON}:5"],
            "l.2": [f"{NODE}:4"],
            "a": [f"{NODE}:2"],
        } == places(scope.explain("k", merge="deep"))

    def test_elements_of_flattened_lists_too(self, site: Site):
        """
        And a single value that became an element.
        """
        scope = site({NODE: "k: one\n", COMMON: "k:\n  - two\n  - - three\n    - - one\n"})

        assert {
            "0": [f"{NODE}:1", f"{COMMON}:4"],
            "1": [f"{COMMON}:2"],
            "2": [f"{COMMON}:3"],
        } == places(scope.explain("k", merge="unique"))

    def test_below_a_dotted_key_paths_begin_there(self, site: Site):
        """
        The answer's own paths.
        """
        explanation = site({COMMON: "k:\n  a:\n    - 1\n    - 2\n"}).explain("k.a")

        assert {"0": [f"{COMMON}:3"], "1": [f"{COMMON}:4"]} == places(explanation)
        assert f"{COMMON}:4" == str(explanation.origins("1")[0].place)
        assert () == explanation.origins("7")

    def test_what_a_knock_out_removed_is_told_with_both_lines(self, site: Site):
        """
        The value's, and the marker's.
        """
        scope = site({NODE: "k:\n  l:\n    - --x\n", COMMON: "k:\n  l:\n    - y\n    - x\n"})

        (knocked,) = scope.explain("k", merge={"strategy": "deep", "knockout_prefix": "--"}).knocked

        assert ("x", "--x") == (knocked.value, knocked.marker)
        assert [f"{COMMON}:4"] == [str(one.place) for one in knocked.said]
        assert [f"{NODE}:3"] == [str(one.place) for one in knocked.by]

    def test_what_is_shadowed_is_told(self, site: Site):
        """
        For first found: where the key stands too.
        """
        explanation = site({NODE: "k: 1\n", COMMON: "x: 0\nk: 2\n"}).explain("k")

        assert [f"{COMMON}:2"] == [str(one.place) for one in explanation.shadowed]
        assert f"{COMMON}:2" == str(explanation.trace().losers[0].claim.origin.place)


class TestHow:
    def test_the_strategy_comes_with_the_line_that_chose_it(self, site: Site):
        """
        Argument, lookup_options, or the default.
        """
        scope = site({COMMON: "k: [1]\nlookup_options:\n  '^k':\n    merge: unique\n"})

        configured, given, plain = scope.explain("k"), scope.explain("k", merge="deep"), scope.explain("nope")

        assert ("unique", f"{COMMON}:4", "^k") == (
            configured.strategy,
            str(configured.strategy_from.place),
            configured.option,
        )
        assert ("deep", "argument") == (given.strategy, given.strategy_from)
        assert ("first", "default") == (plain.strategy, plain.strategy_from)

    def test_the_places_are_told_in_order(self, site: Site):
        """
        Until the first one found.
        """
        scope = site(
            {
                "hiera.yaml": "version: 5\nhierarchy:\n- name: a\n  paths: [x.yaml, y.yaml, z.yaml]\n",
                "data/y.yaml": "k: 1\n",
                "data/z.yaml": "k: 2\n",
            }
        )

        assert [("data/x.yaml", "no_file"), ("data/y.yaml", "found")] == [
            (one.place.file, one.outcome) for one in scope.explain("k").searched
        ]

    def test_where_the_call_answered_it_says_so(self, site: Site):
        """
        Override, hash of defaults, default, or callable.
        """
        scope = site({})

        assert ["override", "default_values_hash", "default_value", "otherwise"] == [
            scope.explain("k", **arguments).found_in
            for arguments in (
                {"override": {"k": 1}},
                {"default_values_hash": {"k": 1}},
                {"default_value": 1},
                {"otherwise": lambda name: name},
            )
        ]

    def test_a_failed_lookup_is_explained_too(self, site: Site):
        """
        The error is part of it, and so is the way up to it.
        """
        explanation = site({COMMON: "k: text\n"}).explain("k.a")

        assert not explanation.found
        assert "dig_type_mismatch" == explanation.error.kind
        assert [COMMON] == [one.place.file for one in explanation.searched if one.outcome == "found"]
        assert {"kind": "dig_type_mismatch", "message": explanation.error.message} == explanation.to_dict()["error"]

    def test_keys_that_were_looked_up_on_the_way_are_named(self, site: Site):
        """
        Once each.
        """
        scope = site({COMMON: "k: \"%{lookup('a')} %{lookup('a')}\"\na: \"%{alias('b')}\"\nb: 1\n"})

        assert ("a", "b") == scope.explain("k").needed

    def test_lookup_options_themselves_are_explained(self, site: Site):
        """
        Each entry with its line, after the layers were merged.
        """
        scope = site(
            {
                NODE: "lookup_options:\n  k: {merge: deep}\n",
                COMMON: "lookup_options:\n  k: {merge: hash}\n  l: {merge: hash}\n",
            }
        )

        explanation = scope.explain_options("k")

        assert {"k": {"merge": "deep"}, "l": {"merge": "hash"}} == explanation.value
        assert {"k.merge": [f"{NODE}:2"], "l.merge": [f"{COMMON}:3"]} == places(explanation)


def test_one_leaf_fits_on_a_screen(site: Site):
    """Twenty-four lines, and the text says what the data say."""
    scope = site({NODE: "k: {a: 1}\n", COMMON: "k: {b: 2}\nlookup_options: {k: {merge: hash}}\n"})

    assert str(scope.explain("k.a")).splitlines() == [
        "k.a = 1",
        "  strategy   hash, from lookup_options, data/common.yaml:2",
        "  searched",
        "    environment  node    data/nodes/web1.yaml  found",
        "    environment  common  data/common.yaml      found",
        "  said by",
        "    k.a  1  data/nodes/web1.yaml:1",
    ]
    assert len(scope.explain("k.a").trace().__str__().splitlines()) <= 24


texts = st.sampled_from(["a", "b", "--a", "x"])
trees = st.recursive(
    texts | st.integers(0, 2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2),
    max_leaves=5,
)
merges = st.sampled_from(["first", "unique", "hash", "deep", {"strategy": "deep", "knockout_prefix": "--"}])


@settings(max_examples=60, deadline=None)
@given(st.lists(trees, min_size=1, max_size=3), merges)
def test_every_leaf_stands_where_its_origin_says(tmp_path_factory, values, merge):
    """The file that is named has that value in that line; and the explanation has the lookup's answer."""
    root = tmp_path_factory.mktemp("tree")
    names = [f"f{at}.yaml" for at in range(len(values))]
    config = f"version: 5\nhierarchy:\n- name: all\n  paths: {json.dumps(names)}\n"
    texts = {f"data/{name}": "k:\n" + _lines(value, 1) for name, value in zip(names, values, strict=True)}
    written(root, {"hiera.yaml": config, **texts})
    scope = Hiera(root, root=root).scope()

    explanation = scope.explain("k", merge=merge)

    if explanation.error is not None:
        with pytest.raises(type(explanation.error)):
            scope.lookup("k", merge=merge)
        return
    assert spelled(scope.lookup("k", merge=merge)) == spelled(explanation.value)
    for path, value, origins in explanation.leaves():
        assert origins, path
        for origin in origins:
            line = texts[origin.file].splitlines()[origin.line - 1]
            if value not in ([], {}, ""):
                assert json.dumps(value) in line, (path, value, line)
    trace = explanation.trace()
    assert trace.found
    assert trace.heard


def _lines(value, indent: int) -> str:
    """Block YAML, one leaf a line."""
    blank = "  " * indent
    if isinstance(value, dict) and value:
        return "".join(f"{blank}{key}:\n{_lines(entry, indent + 1)}" for key, entry in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{blank}-\n{_lines(entry, indent + 1)}" for entry in value)
    return f"{blank}{json.dumps(value)}\n"


def test_the_lines_of_the_generator_are_read_back():
    """Or the law above would mean nothing."""
    value = {"k": [1, {"l": ["a", []]}], "l": {}}

    assert value == psych.read(Text("f", "k:\n" + _lines(value, 1))).reading.tree["k"]
    assert dig(value, ("k", 9)) is ABSENT
