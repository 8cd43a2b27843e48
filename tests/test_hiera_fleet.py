"""Facts as people have them: one file for all nodes, as PuppetDB answers, and files of one node."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import DocumentError
from nodeattrs.puppet.facts import NodeFacts, node_at, nodes_at
from tests.hiera_trees import written

LEVELS = """\
version: 5
hierarchy:
- {name: node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: role, path: 'role/%{trusted.extensions.pp_role}.yaml'}
- {name: os, path: 'os/%{facts.os.family}.yaml'}
- {name: common, path: common.yaml}
"""
INVENTORY = [
    {"certname": "a", "timestamp": "t", "environment": "dev", "facts": {"os": {"family": "D"}},
     "trusted": {"certname": "a", "extensions": {"pp_role": "web"}}},
    {"certname": "b", "environment": None, "facts": {"os": {"family": "D"}},
     "trusted": {"certname": "b", "extensions": {"pp_role": "db"}}},
    {"certname": "c", "facts": {"os": {"family": "R"}, "trusted": {"certname": "c", "extensions": {"pp_role": "no"}}}},
]  # fmt: skip
FACTS = [
    {"certname": "a", "environment": "dev", "name": "os", "value": {"family": "D"}},
    {"certname": "b", "environment": "dev", "name": "os", "value": {"family": "R"}},
    {"certname": "a", "environment": "dev", "name": "trusted", "value": {"certname": "a"}},
]
FACTSETS = [
    {"certname": name, "environment": "dev", "timestamp": "t", "hash": "h",
     "facts": {"href": f"/pdb/query/v4/factsets/{name}/facts", "data": [{"name": "os", "value": {"family": family}}]}}
    for name, family in (("a", "D"), ("b", "R"))
]  # fmt: skip
ANSWER = "classes: {ntp: {}}\nparameters: {role: web}\nenvironment: dev\n"
NODES = [{"certname": "a", "facts_environment": "dev", "deactivated": None}, {"certname": "b", "expired": None}]
FILES = {
    "hiera.yaml": LEVELS,
    "data/nodes/b.yaml": "k: node b\n",
    "data/role/web.yaml": "k: role web\n",
    "data/os/D.yaml": "k: os D\n",
    "data/common.yaml": "k: common\nv: '%{os}'\n",
    "inventory.json": json.dumps(INVENTORY),
    "facts.json": json.dumps(FACTS),
    "nodes.json": json.dumps(NODES),
}


def test_an_answer_to_inventory_has_facts_trusted_facts_and_environments(tmp_path: Path):
    written(tmp_path, FILES)
    found = nodes_at(tmp_path / "inventory.json")

    assert found["a"] == NodeFacts({"os": {"family": "D"}, "trusted": INVENTORY[0]["trusted"]}, "dev")
    assert {name: one.environment for name, one in found.items()} == {"a": "dev", "b": None, "c": None}


def test_an_answer_to_factsets_has_facts_and_environments(tmp_path: Path):
    written(tmp_path, {"sets.json": json.dumps(FACTSETS), "set.json": json.dumps(FACTSETS[1])})
    found = nodes_at(tmp_path / "sets.json")

    assert found == {
        "a": NodeFacts({"os": {"family": "D"}}, "dev"),
        "b": NodeFacts({"os": {"family": "R"}}, "dev"),
    }
    assert nodes_at(tmp_path / "set.json") == {"b": found["b"]}


def test_an_answer_of_a_classifier_has_variables_and_no_facts(tmp_path: Path):
    written(tmp_path, {"a.yaml": ANSWER, "b.yaml": "parameters:\n", "c.yaml": "environment: x\n"})

    assert nodes_at(tmp_path / "a.yaml") == {"": NodeFacts({}, "dev", {"role": "web"})}
    assert nodes_at(tmp_path / "b.yaml") == {"": NodeFacts({})}
    assert node_at(tmp_path / "c.yaml").facts == {"environment": "x"}


def test_an_answer_to_facts_is_put_together_by_node(tmp_path: Path):
    written(tmp_path, FILES)

    assert nodes_at(tmp_path / "facts.json") == {
        "a": NodeFacts({"os": {"family": "D"}, "trusted": {"certname": "a"}}, "dev"),
        "b": NodeFacts({"os": {"family": "R"}}, "dev"),
    }


def test_an_answer_to_nodes_has_names_and_no_facts(tmp_path: Path):
    written(tmp_path, FILES)

    assert nodes_at(tmp_path / "nodes.json") == {"a": NodeFacts({}, "dev"), "b": NodeFacts({}, None)}


@pytest.mark.parametrize(
    ("name", "text", "facts"),
    [
        ("a.json", '{"os": {"family": "D"}}', {"os": {"family": "D"}}),
        ("a.json", json.dumps({"name": "n", "values": {"x": 1}, "timestamp": "t"}), {"x": 1}),
        (
            "a.yaml",
            "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  x: 1\nexpiration: 2024-01-01\n",
            {"x": 1},
        ),
        ("a.json", json.dumps(INVENTORY[2]), INVENTORY[2]["facts"]),
        ("a.json", json.dumps(INVENTORY[2:]), INVENTORY[2]["facts"]),
        ("a.yaml", "", {}),
        ("a.json", "[]", {}),
    ],
)
def test_a_file_of_one_node_may_have_each_of_these_forms(tmp_path: Path, name: str, text: str, facts: dict):
    written(tmp_path, {name: text})

    assert node_at(tmp_path / name).facts == facts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "a list of maps, each with a certname"),
        ('[{"facts": {}}]', "a list of maps, each with a certname"),
        ('[{"certname": "", "facts": {}}, {"certname": "a"}]', "a list of maps, each with a certname"),
        ("1", "facts are a map, or an answer of PuppetDB"),
        (json.dumps(INVENTORY), "has the facts of 3 nodes"),
        ('[{"certname": "a", "facts": {"href": "/pdb"}}]', "has no facts of a, only where PuppetDB has them"),
        ('[{"certname": "a", "facts": {"href": "/pdb", "data": [1]}}]', "has no facts of a"),
        ('[{"certname": "a", "name": "family", "path": ["os", "family"], "value": "D"}]', "has parts of facts"),
    ],
)
def test_what_is_none_of_these_is_an_error(tmp_path: Path, text: str, message: str):
    written(tmp_path, {"a.json": text})
    with pytest.raises(DocumentError, match=message) as error:
        node_at(tmp_path / "a.json", "a.json")

    assert (error.value.file, bool(error.value.hint)) == ("a.json", True)


class TestTheCommands:
    @pytest.fixture
    def say(self, tmp_path: Path, monkeypatch, capsys):
        """Runs a command in the tree: its exit code, and both outputs."""
        written(tmp_path, FILES)
        monkeypatch.chdir(tmp_path)

        def run(words: str) -> tuple[int, str]:
            code = main(words.split())
            return code, "".join(capsys.readouterr())

        return run

    def test_one_file_is_all_nodes(self, say):
        code, said = say("hiera lookup k --facts inventory.json --format json")

        assert code == 0
        assert {name: one["value"] for name, one in json.loads(said)["nodes"].items()} == {
            "a": "role web",
            "b": "node b",
            "c": "common",
        }

    @pytest.mark.parametrize("words", ["ready-for-8", "lookup k", "matrix k"])
    def test_an_answer_without_a_node_answers_nothing(self, say, tmp_path, words):
        (tmp_path / "none.json").write_text("[]")
        code, said = say(f"hiera {words} --facts none.json")
        assert (code, "none.json has no facts: there is no node in it" in said) == (1, True)

    def test_one_node_of_a_file_can_be_named(self, say):
        assert say("hiera lookup k --facts inventory.json --node b") == (0, "node b\n")
        code, said = say("hiera lookup k --facts inventory.json --node d")
        assert (code, "inventory.json has no facts of d" in said, "there are: a, b, c" in said) == (1, True, True)

    def test_standard_input_may_have_all_nodes(self, say, monkeypatch):
        stream = io.TextIOWrapper(io.BytesIO(FILES["inventory.json"].encode()))
        monkeypatch.setattr(sys, "stdin", stream)

        assert "# c\ncommon\n" in say("hiera lookup k --facts -")[1]

    def test_the_other_commands_take_it(self, say):
        assert say("hiera matrix k --facts inventory.json")[1].startswith("k: 3 values on 3 nodes\n")
        assert say("hiera unused --facts inventory.json")[1] == "data/os/D.yaml:1: k is always shadowed\n"
        assert "b" in say("hiera diff a b --facts inventory.json")[1]

    def test_what_changes_is_asked_of_all_nodes_of_a_file(self, say, tmp_path: Path):
        written(tmp_path / "other", {**FILES, "data/common.yaml": "k: changed\nv: '%{os}'\n"})

        said = say(f"impact {tmp_path} {tmp_path / 'other'} --facts {tmp_path / 'inventory.json'}")[1]

        assert ("1 of 3 nodes" in said, "no facts are known" in said) == (True, False)

    def test_an_answer_of_a_classifier_sets_variables_and_the_environment(self, say, tmp_path: Path):
        written(
            tmp_path, {"enc/n.yaml": ANSWER, "data/common.yaml": "k: '%{role} %{environment}'\nf: '%{facts.role}'\n"}
        )

        assert say("hiera lookup k --facts enc/n.yaml") == (0, "web dev\n")
        assert say("hiera lookup k --facts enc/n.yaml --set role=db") == (0, "db dev\n")
        assert say("hiera lookup k --facts enc") == (0, "web dev\n")
        assert 'k = "web dev"' in say("why k --on n --facts enc")[1]
        code, said = say("hiera lookup f --facts enc/n.yaml")
        assert (code, "facts.role (variable) is not set, and no facts are given" in said) == (5, True)

    def test_nodes_without_facts_have_names_alone(self, say):
        code, said = say("hiera lookup v --facts nodes.json --node a")

        assert (code, "os (variable) is not set, and no facts are given" in said) == (5, True)
