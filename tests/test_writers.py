"""The writers: what a line of a cookbook does to its own component, and what its error says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nodeattrs import Node, Symbol, lazy
from nodeattrs.chef import Environment, apply_expansion, consume_external, reset_defaults_and_overrides
from nodeattrs.errors import (
    BadArgument,
    BadValue,
    NoSuchAttribute,
    NullInTheWay,
    TypeConflict,
    UnknownName,
)
from nodeattrs.node.running import setting_as, walk
from nodeattrs.testing import COMPONENTS
from tests.sane import contradictions_in

SINGLE = tuple(name for name in COMPONENTS if name.startswith(("env_", "role_")) or name == "automatic")


@pytest.fixture
def node():
    return Node("web1")


class TestMaps:
    @pytest.mark.parametrize("component", COMPONENTS)
    def test_each_component_has_its_writer(self, node, component):
        """What one says, no other has."""
        getattr(node, component)["a"]["b"] = 1

        assert node["a"] == {"b": 1}
        assert [name for name, value in node.debug_value("a", "b") if value == 1] == [component]

    @pytest.mark.parametrize("component", COMPONENTS)
    def test_assigning_a_component_replaces_it(self, node, component):
        """The whole of it, and only it."""
        node.write("normal" if component != "normal" else "override", "other", 1)
        getattr(node, component)["a"] = 1
        setattr(node, component, {"b": 2})

        assert getattr(node, component) == {"b": 2}
        assert node["other"] == 1

    @pytest.mark.parametrize("value", [5, None, "text", [1], [["a", 1]]])
    def test_a_component_is_a_map(self, node, value):
        """Anything else is refused, and nothing changes."""
        node.default["a"] = 1

        with pytest.raises(BadValue, match="map"):
            node.default = value
        assert node.default == {"a": 1}

    def test_a_step_to_an_absent_key_makes_a_map(self, node):
        """As Chef does; a question does not."""
        assert node.default["a"]["b"] == {}
        assert (node.default.get("c"), node.default.read("c", "d"), node.default.exist("c"), "c" in node.default) == (
            None,
            None,
            False,
            False,
        )

        assert node.to_dict() == {"a": {"b": {}}}

    def test_a_writer_of_a_map_answers_like_a_map(self, node):
        """Length, keys, items, values, membership, equality; writers for what can be written to."""
        node.default["a"] = {"x": 1, "m": {"y": 2}, "l": [3]}
        writer = node.default["a"]

        assert (len(writer), list(writer), writer.keys()) == (3, ["x", "m", "l"], ["x", "m", "l"])
        assert dict(writer.items()) == {"x": 1, "m": {"y": 2}, "l": [3]}
        assert writer.values()[0] == 1
        assert "x" in writer
        assert writer == {"x": 1, "m": {"y": 2}, "l": [3]} == writer
        assert writer != {"x": 1}
        writer.values()[1]["y"] = 5
        assert node["a"]["m"]["y"] == 5

    def test_update_clear_pop_and_setdefault(self, node):
        """The methods of a dict that change it."""
        writer = node.default["a"]

        assert writer.update({"x": 1}, y=2) is writer
        assert writer.pop("x") == 1
        assert writer.pop("x", "gone") == "gone"
        assert writer.setdefault("y", 9) == 2
        assert writer.setdefault("z", 9) == 9
        with pytest.raises(NoSuchAttribute):
            writer.pop("x")
        assert writer.pop("x", None) is None
        with pytest.raises(TypeError):
            writer.pop("x", 1, 2)
        assert writer.clear() == {}
        assert node["a"] == {}

    @pytest.mark.parametrize("given", [(3,), ([1, 2],), ("ab",), ({"x": 1}, {"y": 2})])
    def test_update_refuses_what_is_neither_a_map_nor_pairs(self, node, given):
        writer = node.default["a"]

        with pytest.raises(BadArgument, match=r"one map, or with \(key, value\) pairs"):
            writer.update(*given)
        assert {} == writer
        assert {"x": 1, "y": 2} == writer.update([("x", 1)], y=2)

    def test_delete_of_a_map_writer_returns_the_removed_value(self, node):
        """`delete` gives None where there was nothing; `del` is an error there."""
        node.default["a"] = {"x": {"y": 1}, "n": None}

        assert node.default["a"].delete("x") == {"y": 1}
        assert node.default["a"].delete("x") is None
        del node.default["a"]["n"]
        with pytest.raises(KeyError, match=r"a\.n"):
            del node.default["a"]["n"]
        assert node["a"] == {}

    def test_a_writer_of_a_map_writes_to_its_own_level_only(self, node):
        """What the merged read shows from elsewhere is not there to be removed."""
        node.role_default["a"] = 1

        assert node.default.delete("a") is None
        assert node["a"] == 1

    def test_key_errors_name_the_component_and_near_misses(self, node):
        """Among the keys of that map."""
        node.default["apache"] = {"port": 80}

        with pytest.raises(NoSuchAttribute, match=r"apache\.prot in default") as caught:
            node.default["apache"].read_strict("prot")
        assert "did you mean port?" in str(caught.value)
        assert caught.value.path == ("apache", "prot")


class TestPaths:
    def test_write_makes_maps_of_what_is_in_the_way(self, node):
        """`write_strict` does not, and says who is in the way."""
        with setting_as(node, "recipe", "apache2"):
            node.default["a"] = 5

        with pytest.raises(TypeConflict, match=r"value 5 at default\.a") as caught:
            node.write_strict("default", "a", "b", 1)
        assert "test_writers.py" in str(caught.value)
        assert "recipe apache2" in str(caught.value)
        assert node.write("default", "a", "b", 1) == 1
        assert node["a"] == {"b": 1}

    def test_write_gives_the_value_it_was_given(self, node):
        """Also through a writer, whose paths count from where it stands."""
        assert node.default["a"].write("b", "c", (1,)) == (1,)
        assert node["a"]["b"]["c"] == [1]

    def test_unlink_gives_what_it_removed(self, node):
        """None for an absent path; `unlink_strict` is an error then."""
        node.default["a"]["b"] = 1

        assert node.unlink("default", "a", "b") == 1
        assert node.unlink("default", "a", "b") is None
        with pytest.raises(NoSuchAttribute):
            node.unlink_strict("default", "a", "b")

    @pytest.mark.parametrize(
        "call",
        [
            lambda node: node.write("default", 1),
            lambda node: node.write("default"),
            lambda node: node.default_unless("a"),
            lambda node: node.default_full("a"),
            lambda node: node.unlink("default"),
            lambda node: node.rm(),
            lambda node: node.rm_default(),
            lambda node: node.rm_normal(),
            lambda node: node.rm_override(),
        ],
    )
    def test_a_call_without_a_path_is_an_error(self, node, call):
        """It cannot mean anything."""
        with pytest.raises(BadArgument):
            call(node)

    def test_an_unknown_level_is_an_error_with_near_misses(self, node):
        """A ValueError would be no better than silence."""
        with pytest.raises(UnknownName, match="did you mean override"):
            node.write("overide", "a", 1)

    @pytest.mark.parametrize("name", ["set", "set_unless"])
    def test_names_of_older_chefs_show_the_line_to_write(self, node, name):
        """They are gone since Chef 14; the error names normal."""
        with pytest.raises(AttributeError, match=r"node\.normal"):
            getattr(node, name)


class TestConflicts:
    @pytest.mark.parametrize("standing", [5, "text", True, None])
    def test_a_write_below_something_else_says_who_said_it(self, node, standing):
        """And how to get through; nothing is written."""
        with setting_as(node, "recipe", "apache2"):
            node.default["a"]["b"] = standing

        with pytest.raises(TypeConflict) as caught:
            node.default.write_strict("a", "b", "c", 1)
        assert "default.a.b" in str(caught.value)
        assert "recipe apache2" in str(caught.value)
        assert "write(...) replaces" in str(caught.value)
        assert node["a"] == {"b": standing}

    @pytest.mark.parametrize(
        "attempt",
        [
            lambda writer: writer["name"],
            lambda writer: writer["name"]["b"],
            lambda writer: writer.__setitem__("name", 1),
            lambda writer: writer[0]["k"],
        ],
    )
    def test_a_list_takes_whole_numbers_only(self, node, attempt):
        """The error names the list and who said it; a scalar in it takes no step at all."""
        with setting_as(node, "recipe", "apache2"):
            node.default["a"]["l"] = ["x"]

        with pytest.raises(TypeError) as caught:
            attempt(node.default["a"]["l"])
        if isinstance(caught.value, TypeConflict):
            assert "default.a.l" in str(caught.value)
            assert "recipe apache2" in str(caught.value)
        assert node["a"] == {"l": ["x"]}

    def test_null_on_the_way_is_an_error_of_its_own(self, node):
        """Reading as Ruby does: the last step may be absent, those before may not."""
        node.default["a"]["b"] = None

        assert walk(node, "a", "b") is walk(node, "a", "nope") is None
        for path in (("a", "b", "c"), ("a", "nope", "c")):
            with pytest.raises(NullInTheWay, match="null or nothing"):
                walk(node, *path)
        node.default["n"] = 5
        with pytest.raises(TypeConflict):
            walk(node, "n", "x")

    def test_a_held_map_that_became_a_scalar_keeps_its_content(self, node):
        """The writer was live until then."""
        node.default["a"] = {"x": 1}
        held = node.default["a"]
        node.default["a"] = 5
        held["y"] = 2

        assert held == {"x": 1, "y": 2}
        assert node["a"] == 5


class TestHeldWriters:
    def test_a_held_writer_sees_and_changes_the_current_value(self, node):
        """As long as their container, and those above it, are not replaced."""
        held, inner = node.default["a"], node.default["a"]["b"]
        node.default["a"]["b"]["x"] = 1
        held["y"] = 2
        inner["z"] = 3

        assert held == {"b": {"x": 1, "z": 3}, "y": 2}
        assert node["a"] == {"b": {"x": 1, "z": 3}, "y": 2}

    @pytest.mark.parametrize(
        "work",
        [
            lambda held: held.delete("x"),
            lambda held: held.pop("x"),
            lambda held: held.clear(),
            lambda held: held.update(x=9),
            lambda held: held.setdefault("y", 9),
            lambda held: held["l"].append(9),
            lambda held: held["m"].delete("k"),
            lambda held: held.__delitem__("x"),
            lambda held: held.write("x", 9),
            lambda held: held.unlink("x"),
        ],
    )
    def test_what_they_do_there_the_new_content_does_not_see(self, node, work):
        """Whatever it is."""
        node.default["a"] = {"x": 1, "l": [1], "m": {"k": 1}}
        held = node.default["a"]
        node.default["a"] = {"x": 1, "l": [1], "m": {"k": 1}}
        work(held)

        assert node["a"] == {"x": 1, "l": [1], "m": {"k": 1}}
        assert held != node["a"]

    @pytest.mark.parametrize("times", [17, 18, 30])
    def test_after_very_many_they_say_that_it_is_forgotten(self, node, times):
        node.default["a"] = {"b": {"x": 0}}
        inner = node.default["a"]["b"]
        for number in range(times):
            node.default["a"] = {"b": {"x": number}}

        with pytest.raises(TypeConflict, match=r"default\.a\.b was replaced many times since this writer was taken"):
            inner["mine"] = True

    @pytest.mark.parametrize("times", [1, 2, 4, 5, 8, 16])
    def test_after_a_replacement_they_keep_the_old_content(self, node, times):
        """However often it was replaced since; those that hold parts of it still see one another, as in Ruby."""
        node.default["a"] = {"b": {"x": 0}}
        held, inner = node.default["a"], node.default["a"]["b"]
        for number in range(1, times + 1):
            node.default["a"] = {"b": {"x": number}}
        inner["mine"] = True

        assert held == {"b": {"x": 0, "mine": True}}
        assert inner == {"x": 0, "mine": True}
        assert node["a"] == {"b": {"x": times}}

    @pytest.mark.parametrize(
        "cut",
        [
            lambda node: node.default.delete("a"),
            lambda node: node.rm("a"),
            lambda node: setattr(node, "default", {"z": 1}),
            lambda node: reset_defaults_and_overrides(node),
            lambda node: node.write("default", "a", 5),
            lambda node: node.default.clear(),
        ],
    )
    def test_a_removal_cuts_them_off_too(self, node, cut):
        """What they write from then on is theirs alone."""
        node.default["a"]["b"] = [1]
        held, elements = node.default["a"], node.default["a"]["b"]
        cut(node)
        after = node.to_dict()
        held["x"] = 1
        elements.push(2)

        assert held["x"] == 1
        assert elements == [1, 2]
        assert node.to_dict() == after
        assert contradictions_in(node) == []

    @pytest.mark.parametrize(
        ("component", "intake"),
        [
            ("role_default", lambda node: apply_expansion(node, {"a": {"new": 2}}, {})),
            ("role_override", lambda node: apply_expansion(node, {}, {"a": {"new": 2}})),
            ("env_default", lambda node: apply_expansion(node, {}, {}, Environment("prod", {"a": {"new": 2}}))),
            ("env_override", lambda node: apply_expansion(node, {}, {}, Environment("prod", {}, {"a": {"new": 2}}))),
            ("automatic", lambda node: consume_external(node, {"platform": "ubuntu", "a": {"new": 2}})),
        ],
    )
    def test_what_a_run_says_anew_leaves_the_old_content_to_them(self, node, component, intake):
        """As in Chef: the component is another one from then on, and what is written through them is lost to it."""
        held = getattr(node, component)["a"]
        held["old"] = 1
        whole = getattr(node, component)
        intake(node)
        held["w"] = 3
        whole["w"] = 3

        assert node["a"] == {"new": 2}
        assert "w" not in node
        assert held == {"old": 1, "w": 3}
        assert whole == {"a": {"old": 1, "w": 3}, "w": 3}
        assert contradictions_in(node) == []

    def test_a_scalar_where_they_stood_is_not_in_their_way(self, node):
        """They have nothing to do with it any more."""
        held = node.role_default["a"]
        apply_expansion(node, {"a": 5}, {})
        held["w"] = 3

        assert (node["a"], held.to_dict()) == (5, {"w": 3})

    def test_what_is_deep_merged_over_a_map_does_not_replace_it(self, node):
        """JSON attributes join the maps of normal; they replace its lists, and maps by what is none."""
        node.normal["a"] = {"m": {"x": 1}, "l": [1], "gone": {"x": 1}}
        inner, elements, gone = node.normal["a"]["m"], node.normal["a"]["l"], node.normal["a"]["gone"]
        consume_external(node, {"platform": "ubuntu"}, {"a": {"m": {"y": 2}, "l": [2], "gone": 5}})
        inner["z"] = 3
        elements.push(4)
        gone["z"] = 6

        assert node["a"] == {"m": {"x": 1, "y": 2, "z": 3}, "l": [1, 2], "gone": 5}
        assert (elements.to_list(), gone.to_dict()) == ([1, 4], {"x": 1, "z": 6})

    def test_a_component_that_is_emptied_stays_itself(self, node):
        """The start of a run takes away what is in it: who holds it goes on in it, who holds a part keeps that."""
        node.default["a"]["b"] = 1
        held, part = node.default, node.default["a"]
        reset_defaults_and_overrides(node)
        held["x"] = part["y"] = 2

        assert node.to_dict() == {"x": 2}
        assert part == {"b": 1, "y": 2}

    def test_a_list_writer_lives_on_while_its_list_is_worked_on(self, node):
        """In-place work is no replacement."""
        node.default["l"] = [1]
        one, two = node.default["l"], node.default["l"]
        one.push(2)
        two.push(3)

        assert one == two == node["l"] == [1, 2, 3]


class TestLists:
    @pytest.mark.parametrize(
        ("work", "content", "gives"),
        [
            (lambda w: w.append("c"), ["a", "b", "c"], "self"),
            (lambda w: w.push("c", "d"), ["a", "b", "c", "d"], "self"),
            (lambda w: w.concat(["c"]), ["a", "b", "c"], "self"),
            (lambda w: w.extend(("c",)), ["a", "b", "c"], "self"),
            (lambda w: w.unshift("c", "d"), ["c", "d", "a", "b"], "self"),
            (lambda w: w.insert(1, "c"), ["a", "c", "b"], "self"),
            (lambda w: w.insert(-1, "c"), ["a", "b", "c"], "self"),
            (lambda w: w.insert(3, "c"), ["a", "b", None, "c"], "self"),
            (lambda w: w.reverse(), ["b", "a"], "self"),
            (lambda w: w.replace(["z"]), ["z"], "self"),
            (lambda w: w.clear(), [], "self"),
            (lambda w: w.pop(), ["a"], "b"),
            (lambda w: w.pop(0), ["b"], "a"),
            (lambda w: w.shift(), ["b"], "a"),
            (lambda w: w.delete("a"), ["b"], "a"),
            (lambda w: w.delete("z"), ["a", "b"], None),
            (lambda w: w.delete_at(-1), ["a"], "b"),
            (lambda w: w.delete_at(7), ["a", "b"], None),
            (lambda w: w.uniq(), ["a", "b"], None),
            (lambda w: w.push("a").uniq(), ["a", "b"], "self"),
            (lambda w: w.push("0").sort(), ["0", "a", "b"], "self"),
        ],
    )
    def test_each_method_of_a_list_writer_changes_the_list_alone(self, node, work, content, gives):
        """What the list is afterwards, and what the call gives; the rest of the node stays."""
        node.default["l"] = ["a", "b"]
        node.override["other"] = 1
        view = node["l"]
        given = work(node.default["l"])

        assert node["l"] == content
        assert given == (content if gives == "self" else gives)
        assert view == ["a", "b"]
        assert node["other"] == 1
        assert contradictions_in(node) == []

    def test_items_are_assigned_and_deleted_by_index(self, node):
        """Beyond the end the gap is null, as in Ruby; `+=` works."""
        node.default["l"] = ["a"]
        node.default["l"][0] = "b"
        node.default["l"][2] = "c"
        node.default["l"] += ["d"]
        del node.default["l"][0]

        assert node["l"] == [None, "c", "d"]

    def test_maps_inside_lists_are_written_through(self, node):
        """The whole list is the writer's then, so a view from before does not change."""
        node.default["l"] = [{"k": 1, "m": {}}]
        view = node["l"]
        node.default["l"][0]["k"] = 2
        node.default["l"][0]["m"]["deep"] = [1]
        node.default["l"][0]["m"]["deep"].push(2)
        node.default["l"][0]["new"]["inner"]["leaf"] = 3
        node.default["l"][0].delete("k")

        assert node["l"] == [{"m": {"deep": [1, 2]}, "new": {"inner": {"leaf": 3}}}]
        assert view == [{"k": 1, "m": {}}]
        assert contradictions_in(node) == []

    def test_a_writer_of_a_list_is_a_sequence(self, node):
        """Length, membership, iteration, slices, equality."""
        node.default["l"] = [1, {"k": 2}]
        writer = node.default["l"]

        assert isinstance(writer, Sequence)
        assert (len(writer), 1 in writer, writer[:1], writer.to_list()) == (2, True, [1], [1, {"k": 2}])
        assert writer == [1, {"k": 2}]
        for element in list(writer)[1:]:
            element["k"] = 3
        assert node["l"] == [1, {"k": 3}]

    def test_equality_of_elements_is_strict(self, node):
        """`1`, `1.0`, `True` and `"1"` are four values."""
        node.default["l"] = [1, 1.0, True, "1", 1]

        assert node.default["l"].delete(True) is True
        assert node["l"].to_list() == [1, 1.0, "1", 1]
        node.default["l"].uniq()
        assert [type(one) for one in node["l"]] == [int, float, str]

    def test_an_element_that_no_node_can_hold_is_refused_with_its_path(self, node):
        """And the list stays."""
        node.default["a"]["l"] = ["x"]

        for work in ("append", "push", "unshift"):
            with pytest.raises(BadValue, match=r"a\.l"):
                getattr(node.default["a"]["l"], work)({1})
        assert node["a"]["l"] == ["x"]

    @pytest.mark.parametrize(
        ("content", "sorted_content"),
        [
            ([[1, None], [0]], [[0], [1, None]]),
            ([[1, None], [1]], [[1], [1, None]]),
            ([[1, None, 3], [1, None, 2]], [[1, None, 2], [1, None, 3]]),
            ([[1, "a"], [0, 2]], [[0, 2], [1, "a"]]),
            ([[{"a": 1}, 2], [{"a": 1}, 1]], [[{"a": 1}, 1], [{"a": 1}, 2]]),
            ([[2], [1, None], [3, None], [1]], [[1], [1, None], [2], [3, None]]),
            ([None, None], [None, None]),
            ([True, True], [True, True]),
            ([None], [None]),
            ([2, 1.5, -1], [-1, 1.5, 2]),
            ([Symbol("b"), Symbol("a")], [Symbol("a"), Symbol("b")]),
        ],
        ids=repr,
    )
    def test_lists_are_compared_as_far_as_it_takes(self, node, content, sorted_content):
        """As Ruby's sort, which never looks at the null behind what differs already; what is equal needs no order."""
        node.default["l"] = content

        assert node.default["l"].sort() == sorted_content

    @pytest.mark.parametrize(
        "content",
        [
            [1, "a"],
            [1, None],
            [[1, None], [1, 2]],
            [[1, "a"], [1, 2]],
            [[{"a": 1}], [{"a": 2}]],
            [True, False],
            [True, 1],
            [{}, []],
            [Symbol("a"), "b"],
        ],
        ids=repr,
    )
    def test_what_has_no_common_order_is_not_sorted(self, node, content):
        """An error, and the list stays."""
        node.default["l"] = content

        with pytest.raises(BadArgument, match="sort"):
            node.default["l"].sort()
        assert node["l"] == content

    def test_an_index_before_the_start_is_an_error(self, node):
        """Nothing is written."""
        node.default["l"] = ["a"]

        for write in (lambda: node.default["l"].insert(-3, "x"), lambda: node.default["l"].__setitem__(-2, "x")):
            with pytest.raises(BadArgument, match="before the start"):
                write()
        assert node["l"] == ["a"]

    @pytest.mark.parametrize("component", SINGLE)
    def test_list_methods_work_in_levels_with_one_slot(self, node, component):
        """Environment, roles and facts have no attribute file below."""
        getattr(node, component)["l"] = ["a"]
        getattr(node, component)["l"].push("b")

        assert node["l"] == ["a", "b"]


class TestUnless:
    @pytest.mark.parametrize(
        ("standing", "stored"), [(None, True), (False, False), ("", False), ([], False), ({}, False)]
    )
    def test_null_counts_as_no_value(self, node, standing, stored):
        """False and what is empty are values."""
        node.default["a"] = standing

        assert node.default_unless("a", 1) == (1 if stored else None)
        assert node["a"] == (1 if stored else standing)

    def test_unless_writers_look_at_their_own_level_only(self, node):
        """A value elsewhere does not keep it from speaking."""
        node.role_default["a"] = 1
        node.default_unless["a"] = 2

        assert node["a"] == 1
        assert node.debug_value("a")[0] == ("default", 2)

    def test_all_three_in_both_spellings(self, node):
        """By steps and by call."""
        for name in ("default", "normal", "override"):
            getattr(node, f"{name}_unless")[name]["a"] = 1
            assert getattr(node, f"{name}_unless")(name, "a", 2) is None
            assert getattr(node, f"{name}_unless")(name, "b", 2) == 2

        assert node.to_dict() == {name: {"a": 1, "b": 2} for name in ("default", "normal", "override")}


class TestFullAssignment:
    def test_the_force_forms_first_clear_their_level(self, node):
        """All four components of it; other levels stay."""
        for component in COMPONENTS[:4]:
            getattr(node, component)["a"][component] = 1
        node.normal["a"]["normal"] = 1
        node.force_default_full["a"] = {"new": 1}

        assert node["a"] == {"new": 1, "normal": 1}

    def test_the_plain_forms_replace_in_their_own_component(self, node):
        """What stands in the way on the path becomes a map."""
        node.default["a"] = 5
        node.override["a"]["o"] = 1
        node.default_full["a"]["b"]["c"] = 1

        assert node.combined_default["a"] == {"b": {"c": 1}}
        assert node["a"]["o"] == 1


class TestWhatIsComputedLater:
    """Who looks at what he set sees it as he set it; it is computed for who reads the node."""

    @pytest.mark.parametrize("ask", ["to_plain", "to_dict", "get", "repr", "copy"])
    def test_a_writer_does_not_compute_it(self, node, ask):
        later = lazy(lambda: pytest.fail("it was computed"))
        node.default["map"]["k"] = later
        writer = node.default["map"]
        asked = {"get": lambda: {"k": writer["k"]}, "repr": lambda: repr(writer), "copy": lambda: dict(writer)}

        seen = asked.get(ask, getattr(writer, ask, None))()
        assert ask == "repr" or seen["k"] is later

    @pytest.mark.parametrize("ask", ["to_plain", "to_list"])
    def test_nor_in_a_list(self, node, ask):
        later = lazy(lambda: pytest.fail("it was computed"))
        node.default["list"] = [later]

        assert getattr(node.default["list"], ask)()[0] is later

    def test_unless_it_is_asked_to(self, node):
        node.default["map"] = {"k": lazy(lambda: 7), "list": [lazy(lambda: 8)]}
        writer = node.default["map"]

        assert {"k": 7, "list": [8]} == writer.to_dict(evaluate=True) == writer.to_plain(evaluate=True)
        assert [8] == writer["list"].to_list(evaluate=True)
