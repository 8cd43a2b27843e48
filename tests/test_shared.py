"""What nodes share: files, roles and environments, settled facts. Nobody can tell but by the clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Node, lazy
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import BadArgument
from nodeattrs.node.intake import Intake, facts_of
from nodeattrs.node.running import merged_shared
from nodeattrs.store import filtered_snapshot, saved_document
from tests.edits import leaves
from tests.ledgers import ledger_of
from tests.on_disk import repository
from tests.sane import contradictions_in

ATTRIBUTES, RECIPE = "cookbooks/kiln/attributes/default.py", "cookbooks/kiln/recipes/default.py"
TREE = {"platform": "pottery", "os": {"name": "clay", "tags": ["a", {"b": None}]}, "uptime": 1.5}

FILES = {
    "roles/base.json": {"name": "base", "default_attributes": {"app": {"port": 1, "hosts": ["a"], "mode": "x"}}},
    "roles/web.json": {
        "name": "web",
        "run_list": ["role[base]", "kiln"],
        "default_attributes": {"app": {"port": 2, "hosts": ["b"]}},
        "override_attributes": {"app": {"size": 3}},
    },
    "environments/prod.json": {
        "name": "prod",
        "default_attributes": {"app": {"hosts": ["e"], "env": True}},
        "override_attributes": {"app": {"size": 4}},
    },
}


def run(known: Repository, name: str, *, settled: bool = False, **options: Any) -> Run:
    facts = Facts(json.loads(json.dumps(TREE)), Origin("facts", f"{name}.json"), settled=settled)
    return run_node(known, name, facts=facts, run_list=["role[web]"], environment="prod", **options)


def told(node: Node) -> list[Any]:
    """All that anybody can ask of a node."""
    paths = [path[:depth] for path, _ in leaves(node.to_dict()) for depth in range(len(path) + 1)]
    known = dict.fromkeys([(), ("nope",), *paths, *ledger_of(node).history])
    return [str(node.to_dict()), *(node.explain(path) for path in known)]


class TestLayers:
    def test_the_second_node_hears_what_the_first_one_heard(self, tmp_path):
        """
        Word for word, the role that lost to another role included.
        """
        known = repository(tmp_path, {**FILES, RECIPE: ""})
        first, second = run(known, "n1").node, run(known, "n1").node
        alone = run(repository(tmp_path / "other", {**FILES, RECIPE: ""}), "n1").node

        assert told(first) == told(second) == told(alone)
        assert "role base" in second.explain("app.port")

    @pytest.mark.parametrize(
        "text",
        [
            "node.rm_default('app')",
            "node.rm_default('app', 'port')",
            "node.rm('app', 'size')",
            "node.role_default['app']['port'] = 9",
            "node.role_default['app']['hosts'].append('c')",
            "node.env_override = {}",
            "del node.env_default['app']['env']",
            "node.role_default['app']['port'] = 9; node.role_default['app']['port'] = 10",
        ],
    )
    def test_what_a_recipe_does_to_them_stays_with_its_node(self, tmp_path, text):
        """
        The next node of the same run-list hears its roles as if nobody had been there before.
        """
        changing = f"if node.name == 'n1':\n    {text}\n"
        known = repository(tmp_path, {**FILES, RECIPE: changing})
        before = told(run(known, "n2").node)
        changed = run(known, "n1").node

        assert told(changed) != before
        assert told(run(known, "n2").node) == before
        assert contradictions_in(changed) == []

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "node.default['x'] = 1",
            "node.override['app'] = {'size': 9}",
            "node.automatic['os']['name'] = 'glaze'",
            "node.default['os']['more'] = lazy(lambda: node['app'])",
            "node.normal['app']['hosts'] = ['n']",
            "node.default = {'over': 1}",
            "node.default = {}",
        ],
    )
    def test_a_tree_to_look_at_is_that_of_a_copy(self, tmp_path, text):
        """
        Of two nodes of one repository. A recipe may hide some of it.
        """
        data = {"cookbooks/kiln/attributes/data.json": {"default": {"under": 1, "app": {"data": 1}}}}
        known = repository(tmp_path, {**FILES, **data, RECIPE: text})
        for name in ("n1", "n2"):
            node = run(known, name, settled=True).node
            assert str(sorted(merged_shared(node).items())) == str(sorted(node.to_dict(evaluate=False).items()))

    def test_the_keys_have_one_order(self, tmp_path):
        """
        Facts first, then the keys of the other levels, weakest level first. Text hashes differ in each process.
        """
        words = [f"k{number}" for number in range(20)]
        text = "\n".join(f"node.default['{word}'] = 1\nnode.override['z{word}'] = 1" for word in words)

        tree = merged_shared(run(repository(tmp_path, {**FILES, RECIPE: text}), "n1", settled=True).node)

        assert [key for key in tree if key in words] == words
        assert [key for key in tree if key[0] == "z"] == [f"z{word}" for word in words]


class TestWords:
    def test_the_word_default_is_what_stands_there_now(self, tmp_path):
        """
        As in Chef, where it is a method: not the tree that it was when the file began.
        """
        known = repository(
            tmp_path, {ATTRIBUTES: "node.default = {'a': 1}\ndefault['b'] = 2\nnode.default = {}\ndefault['c'] = 3"}
        )

        assert run_node(known, "n1", facts=Facts(TREE, Origin("facts")), run_list=[]).node.get("c") is None
        node = run_node(
            repository(tmp_path, {RECIPE: ""}), "n1", facts=Facts(TREE, Origin("facts")), run_list=["kiln"]
        ).node
        assert (node.get("a"), node.get("b"), node["c"]) == (None, None, 3)


class TestSettledFacts:
    def test_settled_facts_read_like_copied_facts(self, tmp_path):
        known = repository(tmp_path, {**FILES, RECIPE: "node.automatic['os']['name'] = 'glaze'"})
        settled, copied = (run(known, "n1", settled=one).node for one in (True, False))

        assert told(settled) == told(copied)
        for shared in (True, False):
            assert json.dumps(settled.to_chef(shared=shared)) == json.dumps(copied.to_chef())
            assert json.dumps(settled.snapshot(shared=shared)) == json.dumps(copied.snapshot())

    def test_nothing_that_is_handed_out_unasked_is_the_nodes_own(self, tmp_path):
        node = run(repository(tmp_path, {**FILES, RECIPE: ""}), "n1", settled=True).node
        before = told(node)
        for given in (node.to_dict(), node.to_chef()["automatic"], node.snapshot(), node["os"].to_dict()):
            _spoil(given)

        assert told(node) == before

    def test_a_secret_in_them_is_kept_from_documents(self, tmp_path):
        settings = 'sensitive = ["os.name", ["*", "tags"]]'
        for number, sensitive in enumerate((settings, 'sensitive = ["os"]')):
            known = repository(tmp_path / str(number), {**FILES, RECIPE: "", "nodeattrs.toml": sensitive})
            node = run(known, "n1", settled=True).node
            kept = json.dumps([saved_document(node, shared=True), filtered_snapshot(node.snapshot(shared=True))])

            assert "clay" not in kept

    def test_a_lookup_reads_them(self, tmp_path):
        files = {
            "hiera.yaml": {"version": 5, "hierarchy": [{"name": "c", "path": "c.yaml"}]},
            "data/c.yaml": {"a": "%{facts.os.name} %{facts.os.tags.1.b} %{facts.late}"},
            RECIPE: "node.automatic['late'] = lazy(lambda: node['platform'])\nnode.default['a'] = lookup('a')",
        }
        known = repository(tmp_path, {**FILES, **files})

        assert run(known, "n1", settled=True).node["a"] == run(known, "n1").node["a"] == "clay  pottery"

    def test_files_of_facts_are_settled(self, tmp_path):
        file = tmp_path / "n1.json"
        file.write_text(json.dumps(TREE), "utf-8")

        assert load_facts(file).settled is True

    def test_too_many_levels_are_not_let_through(self, tmp_path):
        """
        A document has room for one level more than a node.
        """
        tree: Any = "x"
        for _ in range(499):
            tree = [tree]
        file = tmp_path / "n1.json"
        file.write_text(json.dumps({"platform": "p", "deep": tree}), "utf-8")

        assert load_facts(file).settled is False

    def test_facts_without_a_platform_are_refused(self):
        with pytest.raises(BadArgument, match="no platform"):
            Intake(Node("n1")).merge_facts({}, settled=True)

    def test_the_facts_of_a_node_are_plain_data(self):
        node = Node("n1")
        given = {"platform": "p", "os": {"name": "clay"}}
        Intake(node).merge_facts(given, settled=True, replace=False)
        node.automatic["late"] = {"value": lazy(lambda: node["platform"])}

        facts = facts_of(node)
        assert facts == {**given, "name": "n1", "chef_environment": "_default", "late": {"value": "p"}}
        assert facts["os"] is given["os"]


class TestRunAfterRun:
    def test_a_thousandth_run_remembers_no_more_than_the_third(self, tmp_path):
        """
        The marks of a saved node are taken over as far as something refers to them.
        """
        known = repository(
            tmp_path, {**FILES, RECIPE: "node.normal['seen']['by'] = node.name\nnode.normal['list'] = ['a']\ntag('t')"}
        )
        saved, kept = None, []
        for _ in range(5):
            snapshot = json.loads(json.dumps(run(known, "n1", saved=saved).node.snapshot()))
            kept.append(snapshot)
            saved = Node.restore(snapshot)

        assert kept[2] == kept[3] == kept[4]

    def test_the_saved_node_is_left_as_it_was(self, tmp_path):
        known = repository(tmp_path, {**FILES, RECIPE: "node.normal['a'] = {'b': [1]}"})
        saved = run(known, "n1").node
        before = told(saved)
        run(known, "n1", saved=saved)

        assert told(saved) == before


def _spoil(tree: Any) -> None:
    for inner in list(tree.values()) if isinstance(tree, dict) else list(tree) if isinstance(tree, list) else ():
        _spoil(inner)
    if isinstance(tree, (dict, list)):
        tree.clear()


def test_a_file_of_a_cookbook_is_read_once_for_all_nodes(tmp_path):
    """And explanations show the line that ran, not what the file says by now."""
    known = repository(tmp_path, {RECIPE: "node.default['a'] = 1"})
    assert run_node(known, "n1", facts=Facts(TREE, Origin("facts")), run_list=["kiln"]).node["a"] == 1
    Path(tmp_path / RECIPE).write_text("node.default['a'] = 2", "utf-8")

    node = run_node(known, "n2", facts=Facts(TREE, Origin("facts")), run_list=["kiln"]).node
    assert node["a"] == 1
    assert "recipes/default.py:1" in node.explain("a")
    again = run_node(Repository(tmp_path), "n2", facts=Facts(TREE, Origin("facts")), run_list=["kiln"])
    assert again.node["a"] == 2
