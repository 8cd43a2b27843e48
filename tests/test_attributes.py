"""What a node answers as a whole: Chef's readers, its tags, its fields, and keys that JSON cannot tell apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nodeattrs import Node, lazy
from nodeattrs.errors import AttributeIsReadOnly, BadArgument, NoSuchAttribute, NullInTheWay, TypeConflict, UnknownName
from nodeattrs.node.running import double_keys, setting_as, walk


@pytest.fixture
def node() -> Node:
    """Two levels that meet in a map, a list, and a null."""
    node = Node("web1")
    node.default["a"] = {"b": 1, "l": ["x", "y"], "n": None, "t": "text"}
    node.override["a"]["b"] = 2
    return node


class TestReaders:
    def test_a_walk_ends_as_rubys_does(self, node: Node):
        """
        At null for what is absent at the end, at an error beyond it; a list has places from both ends.
        """
        assert [2, "x", "y", "x", None, None] == [
            walk(node, *path)
            for path in (("a", "b"), ("a", "l", 0), ("a", "l", -1), ("a", "l", -2), ("a", "l", 2), ("a", "l", -3))
        ]
        assert [None, None, None] == [walk(node, *path) for path in (("a", "z"), ("a", "n"), ("a", "t", "z"))]
        assert node["a"] == walk(node, "a")
        with pytest.raises(NullInTheWay, match=r"cannot step to y: .* at a\.z"):
            walk(node, "a", "z", "y")
        with pytest.raises(TypeConflict, match=r"cannot step to y: a\.l has no such place"):
            walk(node, "a", "l", "y")
        with pytest.raises(TypeConflict, match=r"a\.b has no such place"):
            walk(node, "a", "b", 0)

    def test_reading_stops_at_nothing(self, node: Node):
        """
        None for what is not there; the strict one says so.
        """
        assert [2, None, None, None] == [
            node.read("a", "b"),
            node.read("a", "z", "y"),
            node.dig("a", "n"),
            node.read("a", "b", "c"),
        ]
        assert 2 == node.read_strict("a", "b")
        with pytest.raises(NoSuchAttribute, match=r"a\.z"):
            node.read_strict("a", "z")

    def test_what_is_there_is_there_with_null_too(self, node: Node):
        assert [True, True, False, False] == [
            node.exist("a", "n"),
            node.exist("a", "l", 1),
            node.exist("a", "l", 2),
            node.exist("z"),
        ]
        assert [True, True, False] == [node.default.exist("a", "n"), node.default.exist("a"), node.default.exist("z")]

    @pytest.mark.parametrize("reader", ["exist", "read"])
    def test_a_path_in_one_text_is_refused_where_it_hides_an_answer(self, node: Node, reader: str):
        """
        The dot belongs to a key; where such a key is, it is read.
        """
        for one in (node, node.default):
            with pytest.raises(BadArgument, match=r"'a\.b' is one key here"):
                getattr(one, reader)("a.b")
            assert not getattr(one, reader)("a.z")
        node.default["a.b"] = 3
        assert node.exist("a.b")
        assert node.default.exist("a.b")

    def test_a_key_counts_whichever_slot_has_it(self, node: Node):
        """
        Only at the top.
        """
        node.force_override["f"] = None

        assert [True, True, False, False] == [node.has_attribute(key) for key in ("a", "f", "b", "z")]

    def test_the_merge_at_a_path_alone(self, node: Node):
        """
        A plain copy; None where no component has it, an error where one has a list in the way.
        """
        merged = node.merged("a", "l")

        assert ["x", "y"] == merged
        assert type(merged) is list
        assert [2, None, None] == [node.merged("a", "b"), node.merged("z"), node.merged("a", "z")]
        with pytest.raises(TypeConflict):
            node.merged("a", "l", "x")

    def test_two_nodes_are_two_and_a_node_is_its_tree(self, node: Node):
        """
        A node equals itself only; a map with the same content equals it.
        """
        other = Node("web1")
        other.default["a"] = {"b": 2, "l": ["x", "y"], "n": None, "t": "text"}

        assert node == node
        assert node != other
        assert node == other.to_dict()
        assert node != {}


class TestWhatANodeShows:
    def test_what_belongs_to_a_run_is_no_member(self, node: Node):
        shown = {name for name in dir(node) if not name.startswith("_")}

        assert not shown & {"merged_shared", "note_read", "origin_here", "outline", "plan", "setting_as", "walk"}
        assert len(shown) <= 60

    def test_names_that_became_functions_are_named_in_the_error(self, node: Node):
        with pytest.raises(UnknownName, match=r"setting_as\(node"):
            node.setting_as("recipe", "x")

    def test_chefs_word_for_the_document_works(self, node: Node):
        assert node.to_json() == node.to_chef_json()


class TestFields:
    def test_a_name_that_is_none_is_answered_with_near_ones(self, node: Node):
        """
        Or with the way to write an attribute.
        """
        with pytest.raises(UnknownName, match="nothing called 'enviroment'") as caught:
            node.enviroment = "x"  # type: ignore[attr-defined]
        assert caught.value.hint is not None
        assert "did you mean node.environment" in caught.value.hint
        with pytest.raises(UnknownName) as caught:
            node.workers_of_mine = 3  # type: ignore[attr-defined]
        assert caught.value.hint == "write an attribute at a level: node.default['workers_of_mine'] = ..."
        with pytest.raises(AttributeIsReadOnly):
            node["a"] = 1
        node._mine = 3  # type: ignore[attr-defined]  # a program's own


class TestTags:
    def test_a_tag_is_there_once(self, node: Node):
        """
        Given in order, and what was there before stays.
        """
        assert [] == node.tags
        assert ["b", "a"] == node.tag("b", "a", "b")
        assert ["b", "a", "c"] == node.tag("a", "c")
        assert ["b", "a", "c"] == node["tags"] == node.normal["tags"].to_list()

    def test_untagging_leaves_the_others(self, node: Node):
        node.tag("a", "b", "c")

        assert ["a", "c"] == node.untag("b", "nobody")
        assert ["a", "c"] == node.tags

    @pytest.mark.parametrize(("before", "after"), [("one", ["one"]), (None, []), (["x"], ["x"])])
    def test_tags_that_are_no_list_become_a_list(self, node: Node, before: object, after: list[str]):
        node.normal["tags"] = before

        assert after == node.tags
        assert after == node["tags"]


class TestDoubleKeys:
    def test_a_number_beside_its_own_text_is_named_with_who_set_both(self, node: Node):
        """
        Of two slots, or of one; a number alone is fine.
        """
        node.default["p"] = {80: "a", 81: "b"}
        with setting_as(node, "recipe", "x"):
            node.override["p"]["80"] = "c"
        (warning,) = double_keys(node)

        assert warning.path == ("p", 80)
        assert warning.kind == "same-key-as-text"
        assert 'p.80 and p."80" are one key in what is saved' in str(warning)
        assert [line.split(" was set by ")[0] for line in warning.details] == ["p.80", 'p."80"']
        assert "recipe x" in warning.details[1]


class TestWhoSetIt:
    def test_a_list_that_is_computed_names_the_line_of_its_elements(self, node: Node):
        """
        The line that gave the function.
        """
        with setting_as(node, "recipe", "x"):
            node.default["l"] = lazy(lambda: [1, 2])
        elements = node.trace("l").elements

        assert [1, 2] == [one.value for one in elements]
        assert [["x"], ["x"]] == [[claim.origin.name for claim in one.claims] for one in elements]
        assert all(claim.origin.line for one in elements for claim in one.claims)


NOWHERE = """
import _thread, time
from nodeattrs import Node
node = Node("n")
_thread.start_new_thread(node.default.write, ("a", 1))
while not node.exist("a"):
    time.sleep(0.001)
print(node["a"])
"""


def test_who_calls_from_nowhere_is_not_sought_for_ever():
    """A thread that begins in this package has no caller."""
    done = subprocess.run([sys.executable, "-c", NOWHERE], capture_output=True, text=True, check=False, timeout=60)

    assert ("1\n", "") == (done.stdout, done.stderr)


YAML = """
import yaml
from nodeattrs import Node
node = Node("n")
node.default["a"] = {"b": [1]}
print(yaml.safe_dump(node["a"]), yaml.dump({"x": node["a"]["b"]}))
"""


def test_pyyaml_writes_what_is_read():
    """Whoever has imported it; the first read is where it is told."""
    done = subprocess.run([sys.executable, "-c", YAML], capture_output=True, text=True, check=False)

    assert ("b:\n- 1\n x:\n- 1\n\n", "") == (done.stdout, done.stderr)
