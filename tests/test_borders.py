"""What somebody hands in by mistake: an error of ours that says what was given, what is wanted and the way out."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from nodeattrs import (
    ACROSS,
    ANY,
    INSIDE,
    LIST,
    MAP,
    MEET,
    SAID,
    TAKE,
    Fold,
    Layer,
    Line,
    Meet,
    Node,
    Origin,
    Policy,
    fold,
)
from nodeattrs.errors import BadArgument, NodeattrsError, NoSuchAttribute, TypeConflict

Call = Callable[[], Any]


def table(**cases: tuple[Call, type[NodeattrsError], str]) -> Any:
    """The calls of a test, each with the error that it ends in and a piece of its text."""
    return pytest.mark.parametrize(("call", "error", "words"), list(cases.values()), ids=list(cases))


def answered(call: Call, error: type[NodeattrsError], words: str) -> None:
    """Whether a call ends as it should, with a way out."""
    with pytest.raises(error) as caught:
        call()

    assert error is type(caught.value)
    assert words in str(caught.value)
    assert caught.value.hint


FOLDED = fold([{"apple": {"b": 1}}])


class TestFold:
    @table(
        names_of_files=(lambda: fold(["site.yaml", "team.yaml"]), BadArgument, "read_layer('site.yaml')"),
        paths=(lambda: fold([pathlib.Path("site.yaml")]), BadArgument, "read_layer('site.yaml')"),
        numbers=(lambda: fold([1, 2]), BadArgument, "layer 1 is a map, a Layer or a Fold, and not the number 1"),
        nothing_among_layers=(lambda: fold([{"a": 1}, None]), BadArgument, "an empty one is {}"),
        text_among_layers=(lambda: fold([{"a": 1}, "oops"]), BadArgument, "layer 2"),
        a_list_among_layers=(lambda: fold([{"a": 1}, [1]]), BadArgument, "not a list"),
        one_map=(lambda: fold({"a": 1}), BadArgument, "a list of layers, and not a dict"),
        two_maps=(lambda: fold({"a": 1}, {"b": 2}), BadArgument, "fold([{...}, {...}])"),
        a_map_as_the_policy=(lambda: fold([{"a": 1}], {"b": 2}), BadArgument, "a Policy, and not a dict"),
        one_layer=(lambda: fold(Layer({})), BadArgument, "a list of layers"),
        text=(lambda: fold("site.yaml"), BadArgument, "a list of layers"),
        nothing=(lambda: fold(None), BadArgument, "not None"),
        no_layers=(lambda: fold([]), BadArgument, "at least one layer"),
        a_policy_by_name=(lambda: fold([{"a": 1}], policy="across"), BadArgument, "write ACROSS"),
        rules_as_text=(lambda: fold([{"a": 1}], rules="append"), BadArgument, "a map, and not the text 'append'"),
        a_rule_for_a_number=(lambda: fold([{"a": 1}], rules={3: "append"}), BadArgument, "a path is text"),
        an_origin_as_text=(lambda: Layer({}, "common"), BadArgument, "Layer({...}, Origin(\"file\", 'common'))"),
        a_policy_of_a_layer=(lambda: Layer({}, policy="across"), BadArgument, "the policy of a layer"),
        a_fold_of_maps=(lambda: Fold(({},), INSIDE), BadArgument, "Layer({...})"),
        a_fold_without_layers=(lambda: Fold(3, INSIDE), BadArgument, "the number 3"),
        a_fold_of_no_policy=(lambda: Fold((), "inside"), BadArgument, "the policy of a fold"),
        an_absent_key=(lambda: FOLDED["aple"], NoSuchAttribute, "did you mean apple?"),
        a_dotted_key=(lambda: FOLDED["apple.b"], NoSuchAttribute, "folded['a']['b']"),
        a_path_that_is_a_number=(lambda: FOLDED.explain(3), BadArgument, "a path is text, or a list of steps"),
    )
    def test_what_is_no_layer_and_no_policy_is_refused(self, call: Call, error: type[NodeattrsError], words: str):
        """
        Before anything is folded, and whatever the number of layers.
        """
        answered(call, error, words)

    def test_a_scalar_has_no_keys(self):
        """
        Python's own sentence follows.
        """
        with pytest.raises(TypeConflict, match="cannot step to 'b'"):
            fold([Layer(1)])["b"]

    def test_a_node_is_a_layer(self):
        """
        And so is a view of one; both are maps.
        """
        node = Node("web1")
        node.default["a"]["b"] = 1

        assert {"a": {"b": 1, "c": 2}} == fold([node, {"a": {"c": 2}}]).value
        assert {"b": 1, "c": 2} == fold([node["a"], {"c": 2}]).value

    def test_it_shows_itself(self):
        """
        How many layers, and what they came to.
        """
        assert "<Folded 2 layers: {'a': 1}>" == repr(fold([{}, {"a": 1}]))


class TestPolicies:
    @table(
        a_rule_as_text=(lambda: Line("list", "list", "TAKE"), BadArgument, "from nodeattrs import KEEP, TAKE"),
        a_rule_that_is_nothing=(lambda: Line("list", "list", None), BadArgument, "and not None"),
        a_rule_that_is_a_class=(lambda: Line("list", "list", dict), BadArgument, "the class dict"),
        a_kind_that_is_a_type=(lambda: Line(list, "list", TAKE), BadArgument, "the kinds are absent, null, map"),
        kinds_as_a_list=(lambda: Line(["list"], "list", TAKE), BadArgument, "a tuple of kinds"),
        a_misspelt_kind=(lambda: Policy("mine", Line("lst", LIST, TAKE)), BadArgument, "did you mean list?"),
        a_kind_of_nobody=(lambda: Policy("mine", Line(MAP, ("bool",), TAKE)), BadArgument, "ANY and SAID"),
        a_tuple_for_a_line=(lambda: Policy("mine", (MAP, MAP, MEET)), BadArgument, "each line of policy 'mine'"),
        a_line_for_the_name=(lambda: Policy(Line(ANY, SAID, TAKE)), BadArgument, "the name of a policy is text"),
        a_policy_by_name=(lambda: Meet("across"), BadArgument, "what maps Meet under"),
    )
    def test_what_a_table_cannot_be_made_of_is_refused(self, call: Call, error: type[NodeattrsError], words: str):
        """
        When the line or the policy is made, not when two values meet.
        """
        with pytest.raises(error, match=r".*") as caught:
            call()
        assert words in str(caught.value)

    def test_a_gap_names_the_line_that_closes_it(self):
        """
        The last line is for all that is left.
        """
        with pytest.raises(NodeattrsError, match=r"no line for null over absent\n.*Line\(ANY, SAID, TAKE\)"):
            Policy("mine")

    def test_a_policy_prints_its_table(self):
        """
        Tables that another one asks, functions and deeper policies by name.
        """
        mine = Policy("mine", Line(MAP, MAP, Meet(ACROSS)), Line((LIST, "text"), LIST, INSIDE), Line(ANY, SAID, TAKE))

        assert [
            "mine (lower, upper, rule)",
            "  map      map      MEET under another policy",
            "  list, text list     as inside a group",
            "  any      said     TAKE",
        ] == str(mine).splitlines()
        assert "<Policy mine>" == repr(mine)

    def test_an_origin_may_be_any_locator(self):
        """
        What a file says knows its lines.
        """
        assert "file common" == str(fold([Layer({"a": 1}, Origin("file", "common"))]).origins("a")[0])
