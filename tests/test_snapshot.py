"""What a run left behind: snapshots come back whole, Chef's document as far as it can."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nodeattrs
from nodeattrs import Node, NodeattrsError, Sensitive, Symbol, lazy
from nodeattrs.chef import consume_external, consume_facts
from nodeattrs.errors import BadArgument, DocumentError, RunListError
from nodeattrs.formats.documents import parse
from nodeattrs.node.intake import Intake
from nodeattrs.node.running import setting_as
from nodeattrs.node.snapshots import snapshot_ledger
from nodeattrs.store.saved_nodes import RepositoryVersions
from nodeattrs.testing import KEYS, paths, programs, values
from tests.edits import changed, leaves
from tests.effort import examples
from tests.ledgers import ledger_of
from tests.sane import contradictions_in
from tests.vectors.chef_program import Program
from tests.vectors.values import spelled

VERSIONS = RepositoryVersions(os.curdir)


def through_json(node: Node, **options: Any) -> Node:
    """The node that another process restores."""
    return Node.restore(json.loads(json.dumps(node.snapshot())), versions=VERSIONS, **options)


def everywhere(node: Node) -> list[tuple[Any, ...]]:
    """Every path that is read, every inner one, those with a past, and one that is not there."""
    found = [path[:depth] for path, _ in leaves(node.to_dict()) for depth in range(len(path) + 1)]
    return list(dict.fromkeys([(), ("nope",), *found, *ledger_of(node).history]))


def told(node: Node, path: tuple[Any, ...]) -> list[Any]:
    """All that a trace says, the places of elements included."""
    trace = node.trace(path)
    elements = [[str(claim.origin) for claim in one.claims] for one in trace.elements]
    return [trace.to_dict(), elements, str(trace)]


class TestRoundTrip:
    @settings(max_examples=examples(120))
    @given(programs(interleaved=True), st.lists(paths(), max_size=3))
    def test_everything_comes_back(self, program, more):
        """
        After any program: values, order of keys, slots with their marks, and every trace, word for word.
        The snapshot of what came back is the same again.
        """
        judged = Program()
        for step in program:
            judged.answer({name: value for name, value in step.items() if name != "speaker"}, step["speaker"])
        node = judged.node
        again = through_json(node)

        assert str(again.to_dict()) == str(node.to_dict())
        assert [(str(one.to_dict()), one.assigned) for one in again.slots.values()] == [
            (str(one.to_dict()), one.assigned) for one in node.slots.values()
        ]
        for path in [*everywhere(node), *more]:
            assert told(again, path) == told(node, path), path
        assert json.dumps(again.snapshot()) == json.dumps(node.snapshot())
        assert contradictions_in(again) == []

    @settings(max_examples=examples(80))
    @given(programs(max_size=6), programs(max_size=6), st.sampled_from(KEYS))
    def test_a_restored_node_goes_on_as_the_node_would_have(self, first, second, key):
        """The second half of a program does the same to both, later answers included."""
        one, two = Program(), Program()
        for step in first:
            one.answer({name: value for name, value in step.items() if name != "speaker"}, step["speaker"])
        two.node = through_json(one.node)
        for step in second:
            operation = {name: value for name, value in step.items() if name != "speaker"}
            assert one.answer(operation, step["speaker"]) == two.answer(operation, step["speaker"])

        assert spelled(one.state()) == spelled(two.state())
        assert told(one.node, (key,)) == told(two.node, (key,))
        assert contradictions_in(two.node) == []

    def test_name_environment_and_run_list(self):
        """They are no attributes, and come back too."""
        node = Node("web1", "production")
        node.run_list = ["role[web]", "apache2"]
        again = through_json(node)

        assert (again.name, again.environment, again.run_list) == (
            "web1",
            "production",
            ["role[web]", "recipe[apache2]"],
        )

    def test_types_of_values_and_keys(self):
        """Nothing becomes text on the way, and no key meets another."""
        node = Node("web1")
        value = {
            "1": "text",
            1: "number",
            "t": True,
            "f": 1.0,
            "n": None,
            "big": 10**30,
            "e": [[], {}],
            "m": "x\n\u2028\u00e9",
        }
        node.default["a"] = {**value, "s": Symbol("s")}
        node.override["a"][2] = {"m": 1, "l": 2, "s": 3, "d": 4, "y": 5, "o": 6}
        again = through_json(node)

        assert repr(again.to_dict()) == repr(node.to_dict())
        assert type(again["a"]["s"]) is Symbol

    def test_lines_of_literals_are_known_without_the_cookbook(self, tmp_path):
        """Each part of a literal over many lines, in loops, in the past, and elements that moved."""
        file = tmp_path / "default.py"
        text = (
            "for name in ('one', 'two'):\n"
            "    node.default['sites'][name] = {\n"
            "        'root': '/srv',\n"
            "        'ports': [80,\n"
            "                  443],\n"
            "    }\n"
            "node.default['list'] = ['x']\n"
            "node.default['list'].concat([\n"
            "    'a',\n"
            "    {'k': 1,\n"
            "     'j': 2},\n"
            "])\n"
            "node.default['list'].shift()\n"
            "node.default['sites']['one']['root'] = '/new'\n"
            "node.default['sites']['two'] = {\n"
            "    'root': '/other'}\n"
            "node.default['gone'] = {\n"
            "    'deep': {\n"
            "        'er': 1}}\n"
            "node.rm('gone')\n"
        )
        file.write_text(text)
        node = Node("web1", root=tmp_path)
        exec(compile(text, str(file), "exec"), {"node": node})
        expected = {path: told(node, path) for path in everywhere(node)}
        expected[("gone", "deep", "er")] = told(node, ("gone", "deep", "er"))
        document = json.dumps(node.snapshot())
        file.unlink()
        again = Node.restore(json.loads(document))

        assert {path: told(again, path) for path in expected} == expected
        assert again.trace("sites.one.ports.1").winner.claim.origin.place == "default.py:5"
        assert again.trace("gone.deep.er").history[0].claim.origin.place == "default.py:19"
        assert again.trace("list.1.j").winner.claim.origin.place == "default.py:11"

    def test_lines_of_documents_are_known_without_the_documents(self):
        """Roles that united, what they replaced, and JSON attributes."""
        node = Node("web1")
        roles = [
            ('{"a": {\n "x": 1,\n "l": ["p",\n  "q"]}}', "roles/base.json"),
            ('{"a": {\n\n "x": 2,\n "l": ["q",\n  "r"]}}', "roles/web.json"),
        ]
        stated = [(one.tree, one.locator("role", file)) for one, file in ((parse(t, f, "json"), f) for t, f in roles)]
        given = parse('{"n": {\n "m": [1,\n 2]}}', "given.json", "json")
        Intake(node).set_roles(stated, [])
        consume_external(node, {"platform": "ubuntu"}, given.tree, json_locator=given.locator("JSON attributes", ""))
        again = through_json(node)

        assert again.trace("a.x").winner.claim.origin.place == "roles/web.json:3"
        for path in everywhere(node):
            if path and path[0] not in ("platform", "name", "chef_environment"):
                assert told(again, path) == told(node, path), path

    def test_of_facts_the_file_is_known_and_no_wrong_line(self):
        """Lines of thousands of facts are not worth their room; then there is none, rather than the file's first."""
        node = Node("web1")
        facts = parse('{"platform": "ubuntu",\n "kernel": {\n  "release": "5.4"}}', "facts.json", "json")
        consume_facts(node, facts.tree, locator=facts.locator("facts", ""))
        origin = through_json(node).trace("kernel.release").winner.claim.origin

        assert (origin.kind, origin.file) == ("facts", "facts.json")
        assert origin.line in (None, 3)

    def test_deferred_values_come_back_as_what_they_were(self):
        """As values: the callable is gone."""
        node = Node("web1")
        node.default["a"] = lazy(lambda: node["b"])
        node.default["b"] = {"c": [1]}
        again = through_json(node)
        again.default["b"] = 5

        assert again["a"] == {"c": [1]}

    def test_a_snapshot_is_a_copy_of_the_node(self):
        """Neither node nor snapshot sees what happens to the other."""
        node = Node("web1")
        node.default["a"] = {"l": [1]}
        snapshot = node.snapshot()
        before = json.dumps(snapshot)
        again = Node.restore(snapshot)
        again.default["a"]["l"].push(2)
        node.default["a"]["l"].push(3)

        assert json.dumps(snapshot) == before
        assert Node.restore(snapshot)["a"] == {"l": [1]}

    def test_another_process_restores_a_snapshot_from_text(self, tmp_path):
        """Text is all that goes between."""
        node = Node("web1")
        node.default["a"]["b"] = {"c": [1, Symbol("s")]}
        (tmp_path / "snapshot.json").write_text(json.dumps(node.snapshot()))
        code = "import json, nodeattrs; print(nodeattrs.Node.restore(json.load(open('snapshot.json'))).explain('a.b'))"
        found = {**os.environ, "PYTHONPATH": str(Path(nodeattrs.__file__).parents[1])}
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=found)

        assert done.stderr == ""
        assert "test_snapshot.py:" in done.stdout


@pytest.fixture
def snapshot():
    node = Node("web1")
    node.default["a"]["b"] = [1]
    node.default["a"]["b"].push(2)
    node.default["a"]["c"] = Sensitive("x")
    return json.loads(json.dumps(node.snapshot()))


MEANT = [(key, value) for key in ("environment", "run_list") for value in ("absent", None)]
MEANT += [("name", "text"), ("environment", "text")]


def test_of_slots_that_nobody_wants_nothing_is_packed():
    """
    Neither a tree, nor a mark, nor what was there before; the others are as in the whole.
    """
    node = Node("n")
    for name, level in (("first", node.default), ("second", node.normal), ("third", node.override)):
        with setting_as(node, "attribute file" if name == "first" else "recipe", name):
            level["a"] = name
            level["a"] = f"{name} again"
    packed, whole = snapshot_ledger(ledger_of(node), numbers=(8,)), snapshot_ledger(ledger_of(node))

    assert {number for number, tree in packed["slots"].items() if tree["m"]} == {"8"}
    assert packed["slots"]["8"] == whole["slots"]["8"]
    assert [slot for _, slot, _, _ in packed["history"]] == [8]
    assert "third" not in json.dumps(packed)


class TestDamaged:
    @pytest.mark.parametrize("thing", [None, [], "text", 5, {}, {"format": "something"}, {"name": "web1"}], ids=repr)
    def test_restoring_other_data_than_a_snapshot_is_refused(self, thing):
        """With the way to make one."""
        with pytest.raises(DocumentError, match="snapshot"):
            Node.restore(thing)

    def test_a_newer_one_is_refused(self, snapshot):
        """The error says to upgrade."""
        with pytest.raises(DocumentError, match="upgrade"):
            Node.restore({**snapshot, "version": 99})

    @pytest.mark.parametrize("key", ["name", "environment", "run_list", "slots", "marks", "history"])
    @pytest.mark.parametrize("value", ["absent", None, 5, "text", [5], {"1": 5}], ids=repr)
    def test_a_part_of_another_sort_is_refused(self, snapshot, key, value):
        """Never a raw traceback. A text is a name; a node without environment and run-list is one."""
        if value == "absent":
            del snapshot[key]
        else:
            snapshot[key] = value
        if (key, value) in MEANT:
            assert Node.restore(snapshot)["a"]["b"] == [1, 2]
            return

        with pytest.raises((DocumentError, RunListError)):
            Node.restore(snapshot)

    @pytest.mark.parametrize("mark", [99, [0], "0", -1], ids=repr)
    def test_marks_in_what_was_erased_are_judged_too(self, mark):
        """What is in the history is saved again with the rest."""
        node = Node("web1")
        node.default["a"]["b"]["c"] = 1
        node.rm_default("a")
        snapshot = node.snapshot()
        _, _, _, ((_, erased, _, _),) = snapshot["history"][0]
        erased["m"][0][1]["o"] = mark

        with pytest.raises(DocumentError, match="damaged"):
            Node.restore(snapshot)

    def test_no_single_change_gets_through_as_a_raw_error(self, snapshot):
        """
        Every value inside, replaced by others: it is refused, or it is a node that can be
        read, explained, checked and saved.
        """
        faults = []
        for path, _ in leaves(snapshot):
            for value in (None, -1, 99, "x", [], {}):
                try:
                    node = Node.restore(changed(snapshot, path, value))
                    assert contradictions_in(node) == []
                    for key in (*node, "a", "b"):
                        node.explain((key,))
                        node.explain((key, "b", 0))
                    node.to_dict(evaluate=False)
                    json.dumps(node.snapshot())
                except NodeattrsError:
                    pass
                except Exception as error:
                    faults.append(f"{path} = {value!r}: {type(error).__name__}: {error}")
        assert faults == []


class TestChefsDocument:
    def test_levels_come_back_combined(self):
        """default and override each as one; who spoke is lost, and the explanation says so."""
        node = Node("web1", "production")
        node.default["a"]["d"] = 1
        node.role_default["a"]["r"] = 2
        node.normal["n"] = [1]
        node.override["a"]["o"] = 3
        node.automatic["platform"] = "ubuntu"
        node.run_list = ["apache2"]
        again = Node.from_chef(json.loads(node.to_chef_json()))

        assert again.to_dict() == node.to_dict()
        assert (again.name, again.environment, again.run_list) == ("web1", "production", ["recipe[apache2]"])
        assert again.debug_value("a")[0] == ("default", {"d": 1, "r": 2})
        for path in ("a.d", "a.r", "a.o", "n.0", "platform"):
            assert "saved origin unknown" in again.explain(path)
        assert contradictions_in(again) == []

    @settings(max_examples=examples(80))
    @given(programs())
    def test_a_node_restored_from_chefs_document_reads_the_same(self, program):
        """After any program, with the types of JSON."""
        judged = Program()
        for step in program:
            judged.answer({name: value for name, value in step.items() if name != "speaker"}, step["speaker"])
        again = Node.from_chef(judged.node.to_chef())

        assert again.to_chef() == judged.node.to_chef()
        assert json.loads(again.to_chef_json()) == again.to_chef()
        assert contradictions_in(again) == []

    @pytest.mark.parametrize(
        "document",
        [
            None,
            [],
            "text",
            {},
            {"name": 5},
            {"name": "web1", "default": 5},
            {"name": "web1", "normal": []},
            {"name": "web1", "automatic": "text"},
            {"name": "web1", "chef_environment": 5},
            {"name": "web1", "run_list": 5},
            {"name": "web1", "run_list": ["recipe["]},
        ],
        ids=repr,
    )
    def test_what_is_no_node_document_is_refused(self, document):
        """With what is wrong."""
        with pytest.raises((DocumentError, RunListError)):
            Node.from_chef(document)

    def test_of_two_keys_that_json_cannot_tell_apart_the_last_is_kept(self):
        """As in Chef; a run warns of them."""
        node = Node("web1")
        node.default["a"] = {1: "number", "1": "text"}

        assert {"a": {"1": "text"}} == node.to_chef()["default"]


class TestWhatANodeTakesOver:
    """Normal attributes of the last run: what a recipe said stands where the attribute file's stands."""

    def node(self, file, recipe):
        node = Node("web1")
        for source, said in (("attribute file", file), ("recipe", recipe)):
            with setting_as(node, source, "x"):
                said(node.normal)
        return node

    def test_normal_attributes_of_recipes_are_kept_for_the_next_run(self):
        """The slot of recipes is empty then, and the node is the same."""
        saved = self.node(lambda normal: normal.update(a=1, b=2), lambda normal: normal.update(b=3, c=[4]))
        node = Node("web1")
        Intake(node).keep_saved(saved)

        assert node.slots[7].to_dict() == {"a": 1, "b": 3, "c": [4]}
        assert node.slots[8].to_dict() == {}
        assert saved.slots[8].to_dict() == {"b": 3, "c": [4]}

    @settings(max_examples=examples(40))
    @given(st.data())
    def test_the_node_reads_as_before(self, data):
        """
        Whatever the two had said: maps that were walked through meet, assigned ones hide, lists replace; and each
        leaf is set by the line that said it, as one that was saved.
        """
        steps = data.draw(st.lists(st.tuples(st.booleans(), paths(), values(max_leaves=4)), max_size=6))
        saved = Node("web1")
        for early, path, value in steps:
            with setting_as(saved, "attribute file" if early else "recipe", "x"), contextlib.suppress(TypeError):
                saved.normal.write(*path, value)
        node = Node("web1")
        Intake(node).keep_saved(saved)

        assert node.to_dict() == saved.to_dict()
        assert node.normal.to_dict() == node.slots[7].to_dict()
        assert contradictions_in(node) == []
        for path, _ in leaves(saved.to_dict()) if saved else ():
            before, now = (one.trace(path).winner.claim.origin for one in (saved, node))
            assert str(now) == str(before.saved()), path

    def test_json_attributes_are_laid_over_what_both_said(self):
        """The recipe's word sinks first, so that lists unite with it."""
        node = self.node(lambda normal: normal.update(l=[1]), lambda normal: normal["l"].push(2))
        consume_external(node, {"platform": "ubuntu"}, {"l": [2, 3]})

        assert node["l"] == [1, 2, 3]
        assert node.slots[8].to_dict() == {}

    def test_an_assigned_component_hides_all_of_the_attribute_files(self):
        """Then as now."""
        saved = self.node(lambda normal: normal.update(a=1), lambda normal: None)
        with setting_as(saved, "recipe", "x"):
            saved.normal = {"b": 2}
        node = Node("web1")
        Intake(node).keep_saved(saved)

        assert node.to_dict() == {"b": 2}

    def test_facts_without_a_platform_change_nothing(self):
        """The node keeps the facts that it has."""
        node = Node("web1")
        consume_external(node, {"platform": "ubuntu"})
        before = node.automatic.to_dict()

        with pytest.raises(BadArgument, match="platform"):
            consume_external(node, {"fqdn": "web1.example.org"})
        assert node.automatic.to_dict() == before

    def test_tags_stand_before_what_a_recipe_had_written(self):
        """They are the run's word, in the slot below the recipe's; Chef has one tree, and puts them behind."""
        node = Node("web1")
        node.normal["a"] = 1
        Intake(node).ensure_tags()

        assert list(node.normal.to_dict()) == ["tags", "a"]
