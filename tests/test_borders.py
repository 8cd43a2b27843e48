"""What somebody hands in by mistake: an error of ours that says what was given, what is wanted and the way out."""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from nodeattrs import (
    ACROSS,
    ANY,
    INSIDE,
    LIST,
    MAP,
    MEET,
    PRESENT,
    TAKE,
    Fold,
    Layer,
    Line,
    Meet,
    Node,
    Origin,
    Policy,
    Symbol,
    fold,
    json_default,
    lazy,
    read_layer,
)
from nodeattrs.errors import (
    BadArgument,
    BadName,
    InvalidRunListItem,
    NodeattrsError,
    NoSuchAttribute,
    TypeConflict,
    UnknownName,
)

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
        a_name_of_no_policy=(lambda: fold([{"a": 1}], policy="acros"), BadArgument, "did you mean across?"),
        a_policy_with_a_direction=(lambda: fold([{"a": 1}], "helm", from_top=True), BadArgument, "weakest layer first"),
        no_layers_by_name=(lambda: fold([], "helm"), BadArgument, "at least one layer"),
        rules_as_text=(lambda: fold([{"a": 1}], rules="append"), BadArgument, "a map, and not the text 'append'"),
        a_rule_for_a_number=(lambda: fold([{"a": 1}], rules={3: "append"}), BadArgument, "a path is text"),
        an_origin_as_text=(lambda: Layer({}, "common"), BadArgument, "Layer({...}, Origin(\"file\", 'common'))"),
        a_policy_of_a_layer=(lambda: Layer({}, policy="across"), BadArgument, "the policy of a layer"),
        a_fold_of_maps=(lambda: Fold(({},), INSIDE), BadArgument, "Layer({...})"),
        a_fold_without_layers=(lambda: Fold(3, INSIDE), BadArgument, "the number 3"),
        a_fold_of_no_policy=(lambda: Fold((), "inside"), BadArgument, "the policy of a fold"),
        an_opening_of_no_policy=(lambda: Fold((), INSIDE, opening="inside"), BadArgument, "of the first child of"),
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

    def test_repr_of_a_fold_has_the_number_of_layers_and_the_value(self):
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
        a_kind_of_nobody=(lambda: Policy("mine", Line(MAP, ("bool",), TAKE)), BadArgument, "ANY and PRESENT"),
        a_tuple_for_a_line=(lambda: Policy("mine", (MAP, MAP, MEET)), BadArgument, "each line of policy 'mine'"),
        a_line_for_the_name=(
            lambda: Policy(Line(ANY, PRESENT, TAKE)),
            BadArgument,
            "a name, lines, and kinds as a map, and not a Line",
        ),
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
        with pytest.raises(NodeattrsError, match=r"no line for null over absent\n.*Line\(ANY, PRESENT, TAKE\)"):
            Policy("mine")

    def test_a_policy_prints_its_table(self):
        """
        Tables that another one asks, functions and deeper policies by name.
        """
        mine = Policy(
            "mine", Line(MAP, MAP, Meet(ACROSS)), Line((LIST, "text"), LIST, INSIDE), Line(ANY, PRESENT, TAKE)
        )

        assert [
            "mine (lower, upper, rule)",
            "  map      map      MEET under another policy",
            "  list, text list     as inside",
            "  any      present  TAKE",
        ] == str(mine).splitlines()
        assert "<Policy mine>" == repr(mine)

    def test_an_origin_may_be_any_locator(self):
        """
        What a file says knows its lines.
        """
        assert "file common" == str(fold([Layer({"a": 1}, Origin("file", "common"))]).origins("a")[0])


def web1() -> Node:
    """A node with something to read and remove."""
    node = Node("web1")
    node.default["a"] = {"b": [1, {"c": Symbol("x")}]}
    node.default["net.core"] = 1
    return node


class TestNode:
    @table(
        a_misspelt_field=(lambda: setattr(web1(), "enviroment", "prod"), UnknownName, "did you mean node.environment?"),
        a_field_of_nobody=(lambda: setattr(web1(), "foo", 1), UnknownName, "node.default['foo'] = ..."),
        a_misspelt_level=(lambda: web1().defualt, UnknownName, "did you mean node.default"),
        an_attribute_as_a_field=(lambda: web1().a, UnknownName, "node['a']"),
        no_name=(lambda: Node(""), BadName, "no node can be called ''"),
        a_path_as_the_name=(lambda: Node("../x"), BadName, "letters, digits"),
        a_number_as_the_name=(lambda: Node(1), BadName, "called 1"),
        a_later_name=(lambda: setattr(web1(), "name", "a/b"), BadName, "a/b"),
        no_environment=(lambda: Node("web1", ""), BadArgument, "the name of one"),
        nothing_as_environment=(lambda: setattr(web1(), "environment", None), BadArgument, "not None"),
        one_text_as_sensitive=(lambda: Node("web1", sensitive="db.password"), BadArgument, 'write ["db.password"]'),
        a_number_as_sensitive=(lambda: Node("web1", sensitive=[3]), BadArgument, "a path is text"),
        a_number_as_root=(lambda: Node("web1", root=3), BadArgument, "a folder, and not the number 3"),
        a_number_as_rules=(lambda: Node("web1", rules=3), BadArgument, "a map, and not the number 3"),
        a_number_as_run_list=(lambda: setattr(web1(), "run_list", 3), InvalidRunListItem, 'write ["role[web]"]'),
        a_map_as_run_list=(lambda: setattr(web1(), "run_list", {"a": 1}), InvalidRunListItem, "not a list of items"),
        pickled=(lambda: pickle.dumps(web1()), BadArgument, "node.to_dict()"),
        copied=(lambda: copy.deepcopy(web1()), BadArgument, "node.to_dict()"),
        a_path_that_is_a_number=(lambda: web1().explain(3), BadArgument, "a path is text, or a list of steps"),
        a_dotted_step=(lambda: web1()["a.b"], NoSuchAttribute, "a path is steps: ['a']['b']"),
    )
    def test_unknown_attributes_of_a_node_object_are_refused(self, call: Call, error: type[NodeattrsError], words: str):
        """
        Nothing is kept that nobody will ever look at.
        """
        answered(call, error, words)

    @table(
        read=(lambda: web1().read("a.b"), BadArgument, "write its steps: 'a', 'b'"),
        dig=(lambda: web1().dig("a.b.0"), BadArgument, "'a', 'b', 0"),
        read_strict=(lambda: web1().read_strict("a.b"), BadArgument, "'a', 'b'"),
        exist=(lambda: web1().exist("a.b"), BadArgument, "'a', 'b'"),
        rm=(lambda: web1().rm("a.b"), BadArgument, "'a', 'b'"),
        rm_default=(lambda: web1().rm_default("a.b"), BadArgument, "'a', 'b'"),
        unlink=(lambda: web1().unlink("default", "a.b"), BadArgument, "'a', 'b'"),
        of_a_level=(lambda: web1().default.read("a.b"), BadArgument, "'a', 'b'"),
        in_a_level=(lambda: web1().default.exist("a.b"), BadArgument, "'a', 'b'"),
        of_a_view=(lambda: web1()["a"].read("b.0"), BadArgument, "'b', 0"),
    )
    def test_a_path_as_text_is_no_steps(self, call: Call, error: type[NodeattrsError], words: str):
        """
        Where the answer would be wrong: something is there.
        """
        answered(call, error, words)

    def test_a_dot_belongs_to_its_key(self):
        """
        And what is there by neither reading is absent.
        """
        node = web1()

        assert (1, True, None, False) == (
            node.read("net.core"),
            node.exist("net.core"),
            node.read("a.x"),
            node.exist("x.y"),
        )
        assert (None, None) == (node.read("a..b"), node.default.read("x.y"))
        assert 1 == node.rm("net.core")
        assert node.rm("net.core") is None

    def test_views_are_read_as_the_node_is(self):
        """
        Counted from where they are; maps and lists.
        """
        view = web1()["a"]

        assert (
            "x"
            == view.read("b", 1, "c")
            == view.dig("b", 1, "c")
            == view["b"].read(1, "c")
            == view.read_strict("b", 1, "c")
        )
        assert view.exist("b", 0)
        assert not view.exist("b", 2)
        assert view["b"].dig(2) is None
        with pytest.raises(NoSuchAttribute, match=r"no attribute a\.x"):
            view.read_strict("x")

    @pytest.mark.parametrize("part", [lambda node: node["a"], lambda node: node.default["a"]], ids=["view", "writer"])
    def test_others_write_and_keep_it_as_plain_data(self, part: Callable[[Node], Any]):
        """
        JSON by a default, YAML since PyYAML is told, copies and pickles by themselves.
        """
        data, there = {"b": [1, {"c": "x"}]}, part(web1())

        assert data == json.loads(json.dumps(there, default=json_default))
        assert data == yaml.safe_load(yaml.safe_dump(there)) == yaml.safe_load(yaml.dump(there))
        assert [dict, dict] == [type(copy.deepcopy(there)), type(pickle.loads(pickle.dumps(there)))]
        assert data == copy.deepcopy(there) == pickle.loads(pickle.dumps(there))

    def test_what_a_deferred_value_raises_is_said_to_come_from_there(self):
        """
        The error is whoever's it is.
        """
        node = web1()
        node.default["z"]["y"] = lazy(lambda: 1 / 0)
        for read in (lambda: node["z"]["y"], node.to_dict):
            with pytest.raises(ZeroDivisionError) as caught:
                read()

            (note,) = caught.value.__notes__
            assert re.fullmatch(r"in lazy\(test_borders\.py:\d+\), read at z\.y", note)

    def test_a_node_of_ones_own_says_what_it_has(self):
        """
        A subclass names its fields; what begins with an underscore is its own affair.
        """

        class Own(Node):
            rack: str | None = None

        node = Own("web1")
        node.rack = node._shelf = "r1"

        assert ("r1", "r1") == (node.rack, node._shelf)
        with pytest.raises(UnknownName, match=r"did you mean node\.rack"):
            node.rac = 1


class TestReadLayer:
    def test_a_key_that_a_file_has_twice_is_a_warning(self, tmp_path):
        """
        At the line of whoever reads; the last one is used.
        """
        file = tmp_path / "dup.json"
        file.write_text('{"default_attributes": {"a": 1,\n  "a": 2}}')

        with pytest.warns(UserWarning, match=r":2:3: duplicate key default_attributes\.a \(first at 1:25\)") as caught:
            layer = read_layer(file)

        assert __file__ == caught[0].filename
        assert {"a": 2} == layer.value["default_attributes"]

    def test_a_file_is_named_by_a_path(self):
        """
        Not by a number, as Python's own `open` takes it.
        """
        answered(lambda: read_layer(3), BadArgument, "read_layer(path, name, kind, budget, syntax, tags, document)")
