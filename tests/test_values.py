"""What a node can hold: keys, values, dates, symbols and deferred values."""

from __future__ import annotations

import collections
import copy
import datetime
import enum
import functools
import json
import operator
import pickle

import pytest

from nodeattrs import Node, NodeattrsError, Symbol, lazy
from nodeattrs.chef import apply_expansion, consume_facts
from nodeattrs.errors import BadKey, BadValue, DeferredCycle, NoSuchAttribute, TooDeep
from tests.sane import contradictions_in


@pytest.fixture
def node():
    return Node("web1")


WAYS_IN = {
    "item": lambda node, key: node.default["a"].__setitem__(key, 1),
    "step": lambda node, key: node.default["a"][key],
    "inside a value": lambda node, key: node.default.__setitem__("a", {key: 1}),
    "inside a list": lambda node, key: node.default.__setitem__("a", [{key: 1}]),
    "update": lambda node, key: node.default["a"].update({key: 1}),
    "write": lambda node, key: node.write("default", "a", key, 1),
    "write_strict": lambda node, key: node.write_strict("default", "a", key, 1),
    "unless": lambda node, key: node.default_unless("a", key, 1),
    "full assignment": lambda node, key: node.default_full("a", key, 1),
    "component": lambda node, key: setattr(node, "default", {"a": {key: 1}}),
    "role": lambda node, key: apply_expansion(node, {"a": {key: 1}}, {}),
    "facts": lambda node, key: consume_facts(node, {"platform": "ubuntu", "a": {key: 1}}),
}


class TestKeys:
    def test_text_and_whole_numbers_are_keys_and_stay_apart(self, node):
        """`1` and `"1"` are two keys, also after a snapshot."""
        node.default["ports"][1] = "number"
        node.default["ports"]["1"] = "text"
        again = Node.restore(json.loads(json.dumps(node.snapshot())))

        assert node["ports"].to_dict() == {1: "number", "1": "text"}
        assert again["ports"].to_dict() == {1: "number", "1": "text"}
        assert node.trace('ports."1"').value == "text"
        assert node.trace("ports.1").value == "number"

    def test_a_symbol_as_a_key_is_its_text(self, node):
        """At every step, and inside values."""
        node.default[Symbol("a")] = {Symbol("b"): 1}

        assert node.to_dict() == {"a": {"b": 1}}
        assert [type(key) for key in (*node, *node["a"])] == [str, str]

    @pytest.mark.parametrize("key", [True, 1.0, None, (1, 2), b"x", frozenset()], ids=repr)
    @pytest.mark.parametrize("way", WAYS_IN)
    def test_any_other_key_is_an_error_with_the_path(self, node, way, key):
        """Whichever way it comes in; and what stood there before still does."""
        if way in ("item", "step") and key == (1, 2):
            pytest.skip("several steps in one subscript")
        node.default["before"] = 1

        with pytest.raises(BadKey) as caught:
            WAYS_IN[way](node, key)

        assert caught.value.path[0] == "a"
        assert "text or an integer" in str(caught.value)
        assert node["before"] == 1
        assert contradictions_in(node) == []

    @pytest.mark.parametrize("key", [True, 1.0])
    @pytest.mark.parametrize("way", ["delete", "unlink", "rm"])
    def test_a_key_that_only_equals_a_number_removes_nothing(self, node, way, key):
        """Python finds `1` under `True` and `1.0`; a removal must not."""
        node.default[1] = "number"

        with pytest.raises(BadKey):
            {"delete": node.default.delete, "unlink": node.default.unlink, "rm": node.rm}[way](key)

        assert node[1] == "number"


class Plain(str, enum.Enum):  # noqa: UP042 (a StrEnum prints its value, and would hide the fault)
    RED = "red"


class Number(enum.IntEnum):
    TWO = 2


class TestValues:
    @pytest.mark.parametrize(
        ("given", "held"),
        [
            ((1, (2,)), [1, [2]]),
            (range(2), [0, 1]),
            (collections.deque("ab"), ["a", "b"]),
            (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
            (collections.ChainMap({"a": (1,)}), {"a": [1]}),
            (datetime.datetime(2024, 2, 3, 4, 5, 6), "2024-02-03T04:05:06"),
            (datetime.datetime(2024, 2, 3, tzinfo=datetime.UTC), "2024-02-03T00:00:00+00:00"),
            (datetime.date(2024, 2, 3), "2024-02-03"),
            (datetime.time(4, 5), "04:05:00"),
            (Plain.RED, "red"),
            (Number.TWO, 2),
            (10**30, 10**30),
            (None, None),
            (False, False),
            ("", ""),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_can_be_said_as_json_is_held_so(self, node, given, held):
        """Exact types of JSON, at the top and inside containers."""
        node.default["a"] = given
        node.default["in"] = {"list": [given]}
        data = node.to_dict()

        assert (data["a"], type(data["a"])) == (held, type(held))
        assert data["in"]["list"] == [held]
        assert json.loads(json.dumps(data["a"])) == held

    @pytest.mark.parametrize(
        "value",
        [{1}, frozenset(), b"x", bytearray(b"x"), object(), 1j, datetime.timedelta(1), {}.keys(), (i for i in ()), len],
        ids=lambda value: type(value).__name__,
    )
    def test_anything_else_is_an_error_that_names_the_whole_path(self, node, value):
        """From the root of the node to the place inside the value."""
        for say in (
            lambda: node.default["a"]["b"].__setitem__("c", [1, value]),
            lambda: node.write("override", "a", "b", "c", [1, value]),
            lambda: node.normal_unless("a", "b", {"c": [1, value]}),
            lambda: node.default_full("a", "b", "c", [1, value]),
            lambda: setattr(node, "role_default", {"a": {"b": {"c": [1, value]}}}),
        ):
            with pytest.raises(BadValue, match=r"a\.b\.c\.1") as caught:
                say()
            assert caught.value.path == ("a", "b", "c", 1)
        assert node.to_dict() == {"a": {"b": {}}}

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
    def test_numbers_that_json_does_not_know_are_errors(self, node, value):
        """A document could not keep them."""
        with pytest.raises(BadValue) as caught:
            node.default["load"] = {"average": value}

        assert caught.value.path == ("load", "average")

    def test_a_set_is_refused_with_the_way_out(self, node):
        """It has no order, so the error says to give it one."""
        with pytest.raises(BadValue, match="sorted list"):
            node.default["groups"] = {"admin"}

    def test_a_symbol_stays_a_symbol_until_it_is_saved(self, node):
        """It is text with a type; the snapshot brings it back, Chef's document does not."""
        node.default["provider"] = Symbol("web")
        again = Node.restore(json.loads(json.dumps(node.snapshot())))

        assert type(node["provider"]) is Symbol
        assert node["provider"] == "web"
        assert type(again["provider"]) is Symbol
        assert type(node.to_chef()["default"]["provider"]) is str

    def test_input_is_copied_where_it_enters(self, node):
        """Later changes of the caller's data do not show, nor do shared parts stay shared."""
        shared = ["x"]
        given = {"one": shared, "two": shared}
        node.default["a"] = given
        shared.append("y")
        given["three"] = 3
        node.default["a"]["one"].push("z")

        assert node["a"] == {"one": ["x", "z"], "two": ["x"]}

    def test_output_shares_nothing_with_the_node(self, node):
        """`to_dict` gives data that the caller may change."""
        node.default["a"] = {"list": [{"k": 1}]}
        node.role_default["b"] = {"m": {"k": 1}}
        for data in (node.to_dict(), node["a"].to_dict(), node.slots[2].to_dict(), node.default.to_dict()):
            data.clear()
        data = node.to_dict()
        data["a"]["list"][0]["k"] = 2
        data["a"]["list"].append(3)
        data["b"]["m"]["k"] = 2

        assert node.to_dict() == {"a": {"list": [{"k": 1}]}, "b": {"m": {"k": 1}}}

    def test_views_and_writers_are_copied_when_stored(self, node):
        """Parts of our own enter as data: a later change of the source does not show."""
        node.default["a"] = {"list": [1], "m": {"k": 1}}
        node.override["view"] = node["a"]
        node.override["writer"] = node.default["a"]
        node.override["inside"] = [node["a"]["m"], node.default["a"]["list"]]
        node.default["a"]["m"]["k"] = 2
        node.default["a"]["list"].push(2)

        assert node["view"] == node["writer"] == {"list": [1], "m": {"k": 1}}
        assert node["inside"] == [{"k": 1}, [1]]


def nested(levels, leaf=1):
    """A value with so many maps around a leaf."""
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


class TestDepth:
    def test_deeper_than_500_levels_is_an_error(self, node):
        """In one value, and by steps."""
        with pytest.raises(TooDeep):
            node.default["a"] = nested(501)
        with pytest.raises(TooDeep):
            node.write("default", *["a"] * 501, 1)
        with pytest.raises(TooDeep):
            functools.reduce(operator.getitem, ["a"] * 501, node.default)

    def test_a_value_counts_from_the_root_of_the_node(self, node):
        """300 levels below 300 levels are too many."""
        node.write("default", *["a"] * 300, {})

        with pytest.raises(TooDeep):
            node.write("default", *["a"] * 300, nested(300))

    def test_a_container_inside_itself_is_an_error_of_readable_length(self, node):
        """Nobody reads 500 steps."""
        circle = {"k": []}
        circle["k"].append(circle)

        with pytest.raises(TooDeep, match="inside itself") as caught:
            node.default["a"] = circle
        assert len(str(caught.value)) < 400

    def test_what_is_deep_but_allowed_goes_everywhere(self, node):
        """Read, saved, restored, explained; never a raw RecursionError."""
        node.default["a"] = nested(498)
        node.role_default["a"]["a"]["b"] = 1
        path = ["a"] * 499

        assert node.read(*path) == 1
        assert node.to_dict()["a"]["a"]["b"] == 1
        assert Node.restore(node.snapshot()).read(*path) == 1
        assert Node.from_chef(node.to_chef()).read(*path) == 1
        assert node.trace(path).value == 1
        assert str(node.trace("a"))
        assert copy.deepcopy(node["a"])["a"]["b"] == 1
        assert repr(node["a"])


WHOLE = {
    "to_dict": lambda node: node.to_dict(),
    "to_hash": lambda node: node.to_hash(),
    "snapshot": lambda node: node.snapshot(),
    "to_chef": lambda node: node.to_chef(),
    "to_chef_json": lambda node: node.to_chef_json(),
    "read": lambda node: node["a"],
}
"""Everything that computes a deferred value at the key "a"."""

READS = ("to_dict", "to_hash", "read")
"""Those that read what wins, and nothing else."""


class TestDeferred:
    def test_a_deferred_value_is_computed_at_each_read(self, node):
        """Not when it is stored, and not once."""
        calls = []
        node.default["a"] = lazy(lambda: calls.append("read") or len(calls))

        assert calls == []
        assert [node["a"], node["a"], node.read("a"), node.get("a")] == [1, 2, 3, 4]

    def test_a_held_view_shows_the_value_of_now(self, node):
        """The one exception to "what was handed out never changes"."""
        node.default["url"] = {"full": lazy(lambda: f"http://{node['host']}/")}
        node.default["host"] = "one"
        held = node["url"]
        before = held["full"], dict(held), held.to_dict()
        node.override["host"] = "two"

        assert before == ("http://one/", {"full": "http://one/"}, {"full": "http://one/"})
        assert (held["full"], dict(held)) == ("http://two/", {"full": "http://two/"})
        assert contradictions_in(node) == []

    def test_a_deferred_value_inside_a_list_is_computed(self, node):
        """In every read of the list, and in copies of it."""
        node.default["list"] = [lazy(lambda: node["n"]), "x"]
        node.default["n"] = 1
        view = node["list"]

        assert list(view) == [1, "x"]
        assert view == [1, "x"]
        assert view[0] == 1
        assert view[:1] == [1]
        assert 1 in view
        assert view.to_list() == copy.deepcopy(view) == pickle.loads(pickle.dumps(view)) == [1, "x"]
        assert node.to_dict() == {"list": [1, "x"], "n": 1}

    def test_a_deferred_value_is_computed_in_copies_snapshots_and_pickles(self, node):
        """Plain copy, Chef's JSON, snapshot, copy and pickle."""
        node.default["a"] = {"n": lazy(lambda: 7), "list": [lazy(lambda: 8)]}
        there = {"n": 7, "list": [8]}

        assert node.to_dict()["a"] == node.to_hash()["a"] == there
        assert node.to_chef()["default"]["a"] == json.loads(node.to_chef_json())["default"]["a"] == there
        assert Node.restore(json.loads(json.dumps(node.snapshot()))).to_dict()["a"] == there
        assert copy.deepcopy(node["a"]) == pickle.loads(pickle.dumps(node["a"])) == there
        assert node.debug_value("a", "n")[0] == ("default", 7)
        assert node.trace("a.n").to_dict()["value"] == 7
        assert node.explain("a.n").startswith("a.n = 7\n")

    def test_evaluate_false_leaves_a_deferred_value_in_place(self, node):
        """`evaluate=False` leaves it in place; so does a copy into another level."""
        later = lazy(lambda: node["n"])
        node.default["a"]["k"] = later
        node.override["copy"] = node["a"]
        node.default["n"] = 1

        assert node.to_dict(evaluate=False)["a"]["k"] is later
        assert node["copy"]["k"] == 1
        node.default["n"] = 2
        assert node["copy"]["k"] == 2

    @pytest.mark.parametrize(
        ("computed", "read"),
        [
            ((1, 2), [1, 2]),
            (datetime.date(2024, 2, 3), "2024-02-03"),
            ({"a": (datetime.time(1), Symbol("b"))}, {"a": ["01:00:00", "b"]}),
            (collections.OrderedDict(a=1), {"a": 1}),
            (None, None),
            ([], []),
        ],
        ids=repr,
    )
    def test_the_result_of_a_deferred_value_is_stored_like_any_value(self, node, computed, read):
        """Plain data in the documents, immutable in the read."""
        node.default["a"] = lazy(lambda: computed)

        assert node["a"] == read
        assert node.to_dict() == {"a": read}
        assert json.loads(json.dumps(node.to_dict())) == {"a": read}
        assert json.loads(node.to_chef_json())["default"] == {"a": read}
        assert Node.restore(json.loads(json.dumps(node.snapshot()))).to_dict() == {"a": read}

    @pytest.mark.parametrize(
        "computed",
        [{1}, b"x", object(), {"k": [{1}]}, {"k": float("nan")}],
        ids=["set", "bytes", "object", "set inside", "nan inside"],
    )
    @pytest.mark.parametrize("way", READS)
    def test_what_no_node_can_hold_cannot_be_computed_either(self, node, way, computed):
        """An error that names the attribute, whoever asks for it; a document says what went wrong."""
        node.default["a"] = lazy(lambda: computed)

        with pytest.raises(BadValue) as caught:
            WHOLE[way](node)
        assert caught.value.path[0] == "a"
        assert "BadValue" in node.to_chef_json()
        assert "BadValue" in json.dumps(node.snapshot())

    def test_views_of_the_node_may_be_part_of_what_is_computed(self, node):
        """A map or list of views comes out as plain data."""
        node.default["b"] = {"c": 1, "list": [{"d": 2}]}
        node.default["a"] = lazy(lambda: {"map": node["b"], "elements": [node["b"]["list"]]})
        whole = {"map": {"c": 1, "list": [{"d": 2}]}, "elements": [[{"d": 2}]]}

        assert node["a"] == whole
        assert json.loads(json.dumps(node.to_dict()))["a"] == whole

    def test_what_was_computed_is_read_like_what_was_set(self, node):
        """A map and a list as views, also one inside the other; a scalar as it is."""
        for path, value in (("map", {"k": [1]}), ("list", [{"k": 1}, [2]]), ("text", "x"), ("none", None)):
            node.default["set"][path] = value
            node.default["computed"][path] = lazy(lambda value=value: value)

        assert {path: type(value) for path, value in node["set"].items()} == {
            path: type(value) for path, value in node["computed"].items()
        }
        assert type(node["set"]["list"][0]) is type(node["computed"]["list"][0])

    def test_the_result_of_a_deferred_value_is_copied(self, node):
        """Nobody can change data that the callable keeps."""
        kept = {"list": [1]}
        node.default["a"] = lazy(lambda: kept)

        node.to_dict()["a"]["list"].append(2)
        with pytest.raises(NodeattrsError):
            node["a"]["list"].append(2)
        assert kept == {"list": [1]}

    @pytest.mark.parametrize("way", WHOLE)
    def test_a_circle_is_a_clear_error(self, node, way):
        """It names the callables in it, by file and line."""
        node.default["a"] = lazy(lambda: node["b"])
        node.default["b"] = lazy(lambda: [node["a"]])

        with pytest.raises(DeferredCycle, match="needs itself") as caught:
            WHOLE[way](node)
        assert str(caught.value).count("test_values.py:") >= 2

    @pytest.mark.parametrize("way", WHOLE)
    def test_callables_that_give_each_other_are_a_circle(self, node, way):
        """A deferred value that computes a deferred value is computed on; also when that is itself."""
        calls = iter(range(1000))  # so that a fault ends the test, and not the patience
        one = lazy(lambda: (next(calls), two)[1])
        two = lazy(lambda: (next(calls), one)[1])
        node.default["a"] = one

        with pytest.raises(DeferredCycle):
            WHOLE[way](node)

    def test_after_a_circle_all_is_as_before(self, node):
        """Once it is broken, the same value is read."""
        node.default["a"] = lazy(lambda: node["b"])
        node.default["b"] = lazy(lambda: node["a"])
        with pytest.raises(DeferredCycle):
            node["a"]
        node.default["b"] = 1

        assert node["a"] == 1
        assert contradictions_in(node) == []

    def test_one_that_computes_another_gives_its_value(self, node):
        """To any depth, inside containers too."""
        node.default["a"] = lazy(lambda: lazy(lambda: {"k": lazy(lambda: 1)}))

        assert node["a"] == {"k": 1}
        assert node.to_dict() == {"a": {"k": 1}}

    @pytest.mark.parametrize("way", READS)
    def test_the_error_of_a_deferred_value_reaches_the_reader(self, node, way):
        """Nobody takes it for an absent attribute."""
        node.default["a"] = lazy(lambda: 1 // 0)

        with pytest.raises(ZeroDivisionError):
            WHOLE[way](node)
        assert contradictions_in(node) == []

    def test_a_document_is_written_though_one_of_them_fails(self, node):
        """It says so in the place of the value: the one that fails may lose anyway, and nobody reads it."""
        node.default["a"] = lazy(lambda: 1 // 0)
        node.override["a"] = 1
        again = Node.restore(json.loads(json.dumps(node.snapshot())))

        assert again["a"] == 1
        assert "ZeroDivisionError" in node.to_chef_json()
        assert "ZeroDivisionError" in again.explain("a")

    @pytest.mark.parametrize("ask", ["get", "read", "dig"])
    def test_an_absent_attribute_inside_it_is_not_an_absent_attribute(self, node, ask):
        """`get` with a default does not hide that the computation failed."""
        node.default["a"] = lazy(lambda: node["nope"])

        with pytest.raises(NoSuchAttribute, match="nope"):
            getattr(node, ask)("a")

    def test_whether_it_exists_needs_no_computation(self, node):
        """A deferred value that cannot be computed now is there all the same."""
        node.default["a"]["k"] = lazy(lambda: node["nope"])

        assert node.exist("a", "k")
        assert "k" in node["a"]
        assert list(node["a"]) == ["k"]

    def test_one_that_was_overwritten_is_never_computed(self, node):
        """What is read no longer cannot break a document."""
        node.default["a"] = lazy(lambda: node["nope"])
        node.default["a"] = 1

        assert Node.restore(json.loads(json.dumps(node.snapshot())))["a"] == 1
        assert json.loads(node.to_chef_json())["default"] == {"a": 1}

    @pytest.mark.parametrize("component", ["default", "normal", "automatic"])
    def test_a_document_says_of_each_by_itself_what_it_came_to(self, node, component):
        """Of an error the first line; one without words by its name."""
        for name, error in (("a", ZeroDivisionError()), ("b", ValueError("one\ntwo"))):
            getattr(node, component)[name] = lazy(lambda error=error: (_ for _ in ()).throw(error))
        getattr(node, component)["c"] = lazy(lambda: [7])

        assert node.to_chef()[component] == {
            "a": {"$deferred": "ZeroDivisionError"},
            "b": {"$deferred": "ValueError: one"},
            "c": [7],
        }

    def test_an_explanation_stands_though_it_fails(self, node):
        """Who asks why needs an answer most of all then."""
        node.default["a"] = lazy(lambda: node["nope"])

        assert "test_values.py" in node.explain("a")

    @pytest.mark.parametrize(
        "remove",
        [
            lambda node: node.rm("a", "b"),
            lambda node: node.rm_default("a", "b"),
        ],
    )
    def test_a_removal_gives_what_it_comes_to(self, node, remove):
        """Of a group, or of all; what a map held that goes as a whole stays deferred."""
        inner = lazy(lambda: 6)
        node.default["a"] = {"b": lazy(lambda: 5), "m": {"c": inner}}

        assert remove(node) == 5
        assert node.to_dict() == {"a": {"m": {"c": 6}}}
        assert node.rm("a", "m") == {"c": inner}
        assert node.to_dict() == {"a": {}}

    @pytest.mark.parametrize(
        "remove",
        [
            lambda node: node.rm_normal("b"),
            lambda node: node.unlink("normal", "b"),
            lambda node: node.normal.delete("b"),
            lambda node: node.normal.pop("b"),
        ],
    )
    def test_a_level_gives_the_deferred_value_itself(self, node, remove):
        """One component gives what was stored in it."""
        later = node.normal["b"] = lazy(lambda: 1 // 0)

        assert remove(node) is later
        assert node.to_dict() == {}

    @pytest.mark.parametrize("remove", [lambda node: node.rm("b"), lambda node: node.rm_default("b")])
    def test_one_that_fails_is_not_removed(self, node, remove):
        """The error arrives, and nothing is gone."""
        node.default["b"] = lazy(lambda: 1 // 0)

        with pytest.raises(ZeroDivisionError):
            remove(node)
        assert node.default.exist("b")

    @pytest.mark.parametrize("come_to", [None, 5, {}])
    def test_an_unless_keeps_it_whatever_it_comes_to(self, node, come_to):
        """It is a value; nobody computes it for the question."""
        calls = []
        node.default["a"]["b"] = lazy(lambda: calls.append("read") or come_to)

        assert node.default_unless("a", "b", 1) is None
        assert calls == []
        assert node["a"]["b"] == come_to

    def test_a_level_hands_it_out_as_it_is(self, node):
        """By a step, by a path and by `get`, alone or in a map."""
        later = node.default["a"]["b"] = lazy(lambda: node["nope"])
        level = node.default

        assert level["a"]["b"] is later
        assert level.read("a", "b") is level.read_strict("a", "b") is level["a"].get("b") is later
        assert level.read("a") == {"b": later}
        assert level.exist("a", "b")

    def test_a_level_does_not_step_into_it(self, node):
        """Only the merged read knows what it comes to."""
        node.default["a"] = lazy(lambda: {"b": 3})

        assert node.default.read("a", "b") is None
        assert not node.default.exist("a", "b")
        assert (node.read("a", "b"), node.exist("a", "b")) == (3, True)

    @pytest.mark.parametrize("locator", ["default", "role_default", "force_default"])
    def test_a_force_form_below_one_that_is_a_map_clears_the_group(self, node, locator):
        """Its parent is a map in the group, so what lies at the path goes; the deferred value itself stays."""
        node.default["b"]["d"] = node.role_default["b"]["d"] = 4
        getattr(node, locator)["b"] = lazy(lambda: {"d": 3})
        node.force_default_full("b", "d", 9)
        others = [name for name in ("default", "role_default") if name != locator]

        assert [getattr(node, name).to_dict() for name in others] == [{"b": {}}] * len(others)
        assert node.force_default == {"b": {"d": 9}}
        assert node["b"]["d"] == 9

    def test_a_removal_below_one_that_is_a_map_gives_what_was_read(self, node):
        """And takes away what the others have there."""
        node.override["b"] = lazy(lambda: {"d": 3})
        node.default["b"]["d"] = 4

        assert node.rm("b", "d") == 3
        assert node.default == {"b": {}}
        assert node["b"] == {"d": 3}

    def test_one_that_is_no_map_bars_the_way_of_a_removal(self, node):
        """As any scalar does."""
        node.role_override["b"] = lazy(lambda: 3)
        node.override["b"]["d"] = 4

        assert node.rm("b", "d") is node.rm_override("b", "d") is None
        assert node.override == {"b": {"d": 4}}

    def test_a_deferred_value_needs_a_callable(self):
        """The error shows how to write one."""
        with pytest.raises(BadValue, match="lambda"):
            lazy(5)

    def test_equal_lists_of_them_unite_by_identity(self, node):
        """Two that happen to give the same value are two elements."""
        one = lazy(lambda: "x")
        node.default["list"] = [one]
        node.role_default["list"] = [one, lazy(lambda: "x")]

        assert node["list"] == ["x", "x"]
