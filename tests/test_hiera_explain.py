"""Explanations: every leaf's line, every place searched, what was knocked out and shadowed, and the trace."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import folder_side
from nodeattrs.core.tree import ABSENT, dig, spell
from nodeattrs.dialects.hiera import ruby_yaml
from nodeattrs.dialects.hiera.explain import Explanation
from nodeattrs.dialects.hiera.opened import HieraKeys
from nodeattrs.dialects.hiera.reports import ExplainReport
from nodeattrs.formats.places import Text
from nodeattrs.hiera import CannotMerge, Hiera
from nodeattrs.reports import Screen
from tests import hiera_trees
from tests.effort import examples
from tests.hiera_trees import Site, written
from tests.vectors.values import spelled

site = hiera_trees.site
NODE, COMMON = "data/nodes/web1.yaml", "data/common.yaml"


ONE = "version: 5\nhierarchy:\n- {name: common, path: common.yaml}\n"


def text(explanation) -> list[str]:
    """The lines of its report, on a wide screen."""
    return list(ExplainReport({"": explanation}).lines(Screen(160)))


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
        assert [f"{COMMON}:4"] == [str(one.place) for one in knocked.set_by]
        assert [f"{NODE}:3"] == [str(one.place) for one in knocked.by]

    def test_an_explanation_names_places_that_the_first_found_shadows(self, site: Site):
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

    def test_the_lines_that_decided_who_is_asked_and_how(self, site: Site):
        """
        The levels, and the line of lookup_options; none where the call says how.
        """
        options = "lookup_options:\n  k: {merge: unique}\n  j: {merge: {strategy: first}}\n"
        scope = site({NODE: "k: [1]\nj: 1\n", COMMON: f"k: [2]\nj: 2\n{options}"})
        levels = [
            (f"level '{name}' of the environment layer", f"hiera.yaml:{at}")
            for name, at in (("node", 3), ("common", 5))
        ]

        def causes(key: str, **how: Any) -> list[tuple[str, str | None]]:
            return [(cause.what, cause.origin.place) for cause in scope.explain(key, **how).causes()]

        assert [*levels, ("lookup_options: k is merged by unique", f"{COMMON}:4")] == causes("k")
        assert [*levels, ("lookup_options: j is merged by first", f"{COMMON}:5")] == causes("j")
        assert levels == causes("k", merge="deep")

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


class TestTheFoldingItself:
    """A trace reads the very folding that made the value: layers of levels of locations."""

    def test_layers_stay_nested_as_they_were(self, tmp_path: Path):
        """
        A level of two sources made its map an element before the layers met.
        """
        levels = "version: 5\nhierarchy:\n- {name: node, path: node.yaml}\n- {name: common, path: common.yaml}\n"
        written(tmp_path / "global", {"hiera.yaml": ONE, "data/common.yaml": "k: {a: 1}\n"})
        written(tmp_path / "env", {"hiera.yaml": levels, "data/node.yaml": "k: {b: 1}\n"})
        scope = Hiera(tmp_path / "env", global_config=tmp_path / "global/hiera.yaml", root=tmp_path).scope()

        explanation = scope.explain("k", merge="unique")

        assert [{"a": 1}, {"b": 1}] == scope.lookup("k", merge="unique") == explanation.value
        assert ["joins", "joins"] == [stated.outcome.value for stated in explanation.trace().claims]
        assert {"0.a": ["global/data/common.yaml:1"], "1.b": ["env/data/node.yaml:1"]} == places(explanation)

    def test_null_alone_is_traced_under_unique(self, site: Site):
        """
        As it is looked up.
        """
        explanation = site({COMMON: "k: ~\n"}).explain("k", merge="unique")

        assert [None] == explanation.value
        assert [f"{COMMON}:1"] == [str(stated.claim.origin.place) for stated in explanation.trace().claims]

    def test_an_element_that_one_file_has_twice_has_both_lines(self, site: Site):
        """
        Neither of them alone decides it.
        """
        explanation = site({COMMON: "k:\n- x\n- y\n- x\n"}).explain("k", merge="unique")

        assert {"0": [f"{COMMON}:2", f"{COMMON}:4"], "1": [f"{COMMON}:3"]} == places(explanation)

    def test_elements_of_flattened_lists_keep_their_places(self, site: Site):
        """
        However deep they lay, and also below a map that became an element.
        """
        scope = site({COMMON: "k:\n- - 1\n  - 2\n- 3\nm:\n  e: 4\n", NODE: "m: []\n"})

        assert [f"{COMMON}:{line}" for line in (2, 3, 4)] == [
            str(scope.explain("k", merge="unique").origins(path)[0].place) for path in "012"
        ]
        with pytest.raises(CannotMerge):
            scope.lookup("m", merge="unique")
        assert {"0.e": [f"{COMMON}:6"]} == places(scope.tree.scope(node="w").explain("m", merge="unique"))

    def test_a_text_over_a_text_has_overridden_it(self, site: Site):
        """
        Also where the prefix of knock-outs lets a handler decide.
        """
        scope = site({NODE: "k: new\n", COMMON: "k: old\n"})

        trace = scope.explain("k", merge={"strategy": "deep", "knockout_prefix": "--"}).trace()

        assert [("wins", "new"), ("loses", "old")] == [(one.outcome.value, one.claim.value) for one in trace.claims]

    def test_a_null_that_yields_is_not_next(self, site: Site):
        """
        Without the winner the lowest source would be read.
        """
        levels = "- {name: a, paths: [a.yaml, b.yaml, c.yaml]}\n"
        scope = site({"hiera.yaml": f"version: 5\nhierarchy:\n{levels}",
                      "data/a.yaml": "k: 1\n", "data/b.yaml": "k: ~\n", "data/c.yaml": "k: 3\n"})  # fmt: skip

        assert [1, 3, None] == [one.claim.value for one in scope.explain("k", merge="deep").trace().claims]

    def test_a_failed_dig_shows_what_stands_in_the_way(self, site: Site):
        """
        The trace of an answer that there is none.
        """
        trace = site({COMMON: "k: text\n"}).explain("k.a").trace()

        assert (("k",), "text", False) == (trace.cover, trace.claims[0].claim.value, trace.found)

    def test_the_options_of_a_default_hierarchy_are_told_with_their_line(self, site: Site):
        """
        They are others than those of the layers.
        """
        scope = site(
            {
                "modules/m/hiera.yaml": "version: 5\ndefault_hierarchy:\n- {name: d, paths: [d.yaml, e.yaml]}\n",
                "modules/m/data/d.yaml": "m::k: [1]\nlookup_options:\n  m::k:\n    merge: unique\n",
                "modules/m/data/e.yaml": "m::k: [2]\n",
            }
        )

        explanation = scope.explain("m::k")

        assert ([1, 2], "unique") == (explanation.value, explanation.strategy)
        assert "modules/m/data/d.yaml:4" == str(explanation.strategy_from.place)


TWICE = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: a, paths: [x.yaml, '%{n}.yaml', y.yaml]}\n"
    "- {name: b, path: x.yaml}\n",
    "data/x.yaml": "k:\n- 1\n",
    "data/y.yaml": "k:\n- 2\n",
}


class TestOneFileByTwoPaths:
    """Two locations, or two entries, lead to the same file: it is one source."""

    def test_the_line_that_wins_is_not_shadowed(self, site: Site):
        """
        An edit of it changes the value.
        """
        explanation = site(TWICE, facts={"n": "x"}).explain("k")

        assert ["data/y.yaml:1"] == [str(one.place) for one in explanation.shadowed]
        assert [("wins", 1), ("loses", 2)] == [
            (one.outcome.value, one.claim.value[0]) for one in explanation.trace().claims
        ]

    def test_a_file_with_two_paths_joins_a_merge_once(self, site: Site):
        """
        With its line, for the list and for each element.
        """
        explanation = site(TWICE, facts={"n": "x"}).explain("k", merge="unique")

        assert {"0": ["data/x.yaml:2"], "1": ["data/y.yaml:2"]} == places(explanation)
        assert ["data/x.yaml:1", "data/y.yaml:1"] == [str(one.claim.origin.place) for one in explanation.trace().claims]
        assert [1, 1] == [len(one.claims) for one in explanation.trace("").elements]


class TestOneKeyTwice:
    def test_what_a_file_has_further_up_is_overridden_by_itself(self, site: Site):
        """
        With the line of each, also below it; the last one counts.
        """
        scope = site({COMMON: "k: 1\nm: 0\nk:\n  a: 2\n  b: 3\nk:\n  a: 4\n"})
        explanation = scope.explain("k.a")

        assert 4 == explanation.value == scope.lookup("k.a")
        assert [("wins", 4, f"{COMMON}:7"), ("loses", 2, f"{COMMON}:4"), ("loses", 1, f"{COMMON}:1")] == [
            (one.outcome.value, one.claim.value, str(one.claim.origin.place)) for one in explanation.trace().claims
        ]
        assert "of a key that is written twice the last one counts" in explanation.trace().claims[1].why

    def test_in_a_merge_it_takes_no_part(self, site: Site):
        """
        As a level it is one value.
        """
        explanation = site({NODE: "k: [a]\nk: [b]\n", COMMON: "k: [c]\n"}).explain("k", merge="unique")

        assert ["b", "c"] == explanation.value
        assert [("joins", f"{NODE}:2"), ("joins", f"{COMMON}:1"), ("loses", f"{NODE}:1")] == [
            (one.outcome.value, str(one.claim.origin.place)) for one in explanation.trace().claims
        ]


class TestText:
    """The report lays an explanation out; the table of rows is that of all traces."""

    def test_one_leaf_fits_on_a_screen(self, site: Site):
        """
        And the text says what the data say.
        """
        scope = site({NODE: "k: {a: 1}\n", COMMON: "k: {a: 2}\nlookup_options: {k: {merge: hash}}\n"})

        assert text(scope.explain("k.a")) == [
            "k.a = 1",
            "  strategy   hash, from lookup_options, data/common.yaml:2",
            "  searched",
            "    environment  node    data/nodes/web1.yaml  found  from nodes/%{trusted.certname}.yaml",
            "    environment  common  data/common.yaml      found",
            "  set by",
            "    k.a  1  data/nodes/web1.yaml:1",
            "  overridden",
            "    environment / common  2  data/common.yaml:1"
            "  overridden by data/nodes/web1.yaml:1: the stronger source has the key (hash, below the top)",
        ]

    def test_the_plain_one_is_that_of_the_trace(self, site: Site):
        """
        With the error, where there is no answer.
        """
        scope = site({COMMON: "k: 1\n"})

        assert str(scope.explain("k").trace()) == str(scope.explain("k"))
        assert "x is not set\nx is not set" in str(scope.explain("x"))

    def test_the_elements_of_a_secret_are_not_in_its_trace(self, site: Site):
        """
        Neither as data.
        """
        options = "lookup_options: {k: {merge: unique, convert_to: Sensitive}}\n"
        explanation = site({NODE: "k: [s3cret]\n", COMMON: f"k: [cl0ak]\n{options}"}).explain("k")

        shown = f"{explanation} {text(explanation)} {json.dumps(explanation.to_dict())} {explanation.trace().to_dict()}"
        assert "s3cret" not in shown
        assert "cl0ak" not in shown


texts = st.sampled_from(["a", "b", "--a", "x"])
trees = st.recursive(
    texts | st.integers(0, 2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2),
    max_leaves=5,
)
merges = st.sampled_from(["first", "unique", "hash", "deep", {"strategy": "deep", "knockout_prefix": "--"}])


@settings(max_examples=examples(60), deadline=None)
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
    assert trace.claims


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

    assert value == ruby_yaml.read(Text("f", "k:\n" + _lines(value, 1))).reading.tree["k"]
    assert dig(value, ("k", 9)) is ABSENT


def test_a_map_that_keeps_a_scalar_down_is_named_at_the_root_of_a_key(tmp_path: Path):
    """
    Without its only entry it would be empty, and the number would be read.
    """
    (tmp_path / "data").mkdir()
    levels = "".join(f"- {{name: {name}, path: {name}.yaml}}\n" for name in ("one", "two", "all"))
    (tmp_path / "hiera.yaml").write_text(f"version: 5\nhierarchy:\n{levels}")
    (tmp_path / "data" / "one.yaml").write_text("lookup_options: {k: {merge: deep}}\nk: {n: 1}\n")
    (tmp_path / "data" / "two.yaml").write_text("k: 2\n")
    (tmp_path / "data" / "all.yaml").write_text("k: {m: 3}\n")
    explanation = Hiera(tmp_path / "hiera.yaml").scope({}).explain("k")

    rows = {one.outcome.value: Path(str(one.origin.place)).name for one in explanation.trace(("m",)).claims}

    assert {"m": 3, "n": 1} == explanation.value
    assert {"wins": "all.yaml:1", "holds": "one.yaml:2", "loses": "two.yaml:1"} == rows


@pytest.mark.parametrize(
    ("arguments", "value"),
    [({}, [1]), ({"merge": "first"}, [1]), ({"override": {"none": 2}}, 2), ({"default_value": 3}, [1])],
)
def test_of_several_names_the_first_one_found_is_explained(tmp_path: Path, arguments: dict[str, Any], value: Any):
    """As they are looked up."""
    scope = Hiera(written(tmp_path, {"data/common.yaml": "h: [1]\n"})).scope()

    assert value == scope.lookup(["none", "h"], **arguments) == scope.explain(["none", "h"], **arguments).value


def test_names_that_nothing_has_are_explained_by_their_default(tmp_path: Path):
    """That of the first one that has one."""
    scope = Hiera(written(tmp_path, {"data/common.yaml": "h: [1]\n"})).scope()
    arguments: dict[str, Any] = {"default_values_hash": {"b": 2}}

    assert 2 == scope.lookup(["a", "b"], **arguments) == scope.explain(["a", "b"], **arguments).value
    assert "not_found" == scope.explain(["a", "b"]).error.kind


def test_a_key_that_was_looked_up_on_the_way_has_its_place(tmp_path: Path):
    """That is the line to edit; of a chain each link has one."""
    data = "release: '3'\nstable: \"%{alias('release')}\"\nweb: \"v%{lookup('stable')}\"\nring: \"%{lookup('gone')}\"\n"
    scope = Hiera(written(tmp_path, {"data/common.yaml": data}), root=tmp_path).scope()
    places = {key: [str(one.place) for one in found] for key, found in scope.explain("web").needed_at.items()}

    assert {"stable": ["data/common.yaml:2"], "release": ["data/common.yaml:1"]} == places
    assert {"gone": ()} == scope.explain("ring").needed_at


def test_the_variables_that_are_not_set_add_up_over_all_keys_that_were_asked(tmp_path: Path):
    tree = written(tmp_path, {"data/common.yaml": "a: '%{nope}'\nb: '%{missing}'\n"})
    scope = Hiera(tree, root=tmp_path).scope({}, node="web1")
    scope.lookup("a")

    assert scope.explain("b").unset == ("the value of b: missing is not set",)
    assert {name: [*keys] for name, keys in scope.missing.items()} == {"nope": ["a"], "missing": ["b"]}


def test_a_shadowed_value_needs_no_variable(tmp_path: Path):
    files = {"data/nodes/web1.yaml": "a: 1\n", "data/common.yaml": "a: '%{nope}'\nb: '%{nope}'\n"}
    scope = Hiera(written(tmp_path, files), root=tmp_path).scope({}, node="web1")
    scope.lookup("b")

    assert scope.explain("a").unset == ()
    assert [*scope.missing["nope"]] == ["b"]


def test_an_answer_reads_every_key_when_it_is_asked_to_and_not_when_its_keys_are_counted(tmp_path: Path):
    written(tmp_path, {"data/common.yaml": "a: '%{nope}'\n"})
    opened = HieraKeys(folder_side(tmp_path), Request())
    part = opened.answer("")["key"]
    assert (len(part.tree), [one.place for one in opened.unread]) == (1, [])

    part.read_all()

    assert [one.place for one in opened.unread] == ["nope"]


def test_unset_variables_of_lookup_options_are_named_for_the_keys_of_each_module(tmp_path: Path):
    files = {"hiera.yaml": "version: 5\n", "data/common.yaml": "k: 1\nlookup_options: {k: {merge: '%{how}first'}}\n"}
    for name in ("m", "n"):
        files |= {f"modules/{name}/hiera.yaml": "version: 5\n", f"modules/{name}/data/common.yaml": f"{name}::k: 1\n"}
    scope = Hiera(written(tmp_path, files), puppet_version=7).scope()

    assert {key: scope.explain(key).unset for key in ("k", "m::k", "n::k")} == dict.fromkeys(
        ("k", "m::k", "n::k"), ("the value of lookup_options: how is not set",)
    )


def test_an_answer_keeps_no_explanation_but_the_last_one(tmp_path: Path):
    """Answers of all nodes are kept while they are compared, and an explanation is large."""
    root = written(tmp_path, {"data/common.yaml": "a: 1\nb: 2\nc: 3\n"})
    answer = HieraKeys(folder_side(root), Request()).answer("web1")["key"]
    before = sum(isinstance(one, Explanation) for one in gc.get_objects())
    for key in "abc":
        assert [] == answer.unread((key,))
    gc.collect()

    assert before + 1 >= sum(isinstance(one, Explanation) for one in gc.get_objects())
