"""Hiera in recipes: `lookup`, and what an explanation says of the line that used it."""

from __future__ import annotations

import pytest

from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.reports.explain import explained
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import NotFound, RecipeFailed
from nodeattrs.reports.explain import explained as of_saved
from tests.on_disk import repository

FACTS = Facts({"platform": "kilnos", "fqdn": "kiln1.example"}, Origin("facts", "test"))

FILES = {
    "nodeattrs.toml": 'hiera = "data"\n',
    "data/hiera.yaml": (
        "version: 5\n"
        "defaults: {datadir: ., data_hash: yaml_data}\n"
        "hierarchy:\n"
        '  - {name: node, path: "%{trusted.certname}.yaml"}\n'
        '  - {name: platform, path: "%{facts.platform}-%{environment}.yaml"}\n'
        "  - {name: common, path: common.yaml}\n"
    ),
    "data/common.yaml": "kiln::heat: 900\nkiln::tools: [tongs]\n",
    "data/kilnos-_default.yaml": "kiln::tools: [gloves]\n",
    "data/kiln1.yaml": "kiln::heat: 1040\n",
    "cookbooks/kiln/attributes/default.py": "default['kiln']['margin'] = 10\n",
    "cookbooks/kiln/recipes/default.py": (
        "node.default['kiln']['tools'] = lookup('kiln::tools', merge='unique')\n"
        "limit = lookup('kiln::heat') + node['kiln']['margin']\n"
        "node.default['kiln']['limit'] = limit\n"
    ),
    "nodes/kiln1.json": '{"name": "kiln1", "run_list": ["kiln"]}\n',
}


@pytest.fixture
def kiln(tmp_path):
    return lambda **changes: repository(tmp_path, {**FILES, **changes})


class TestLookup:
    def test_lookup_uses_the_facts_of_the_running_node(self, kiln):
        """
        Its name is the certificate's, its automatic attributes are the facts, its environment is Hiera's.
        """
        node = run_node(kiln(), "kiln1", facts=FACTS).node

        assert node["kiln"].to_dict() == {"margin": 10, "tools": ["gloves", "tongs"], "limit": 1050}

    def test_a_recipe_may_change_a_looked_up_value(self, kiln):
        """
        A recipe that changes the answer changes nothing in the tree that other nodes read.
        """
        code = "lookup('kiln::tools').append('x')\nnode.default['kiln']['tools'] = lookup('kiln::tools')\n"
        repo = kiln(**{"cookbooks/kiln/recipes/default.py": code})

        assert run_node(repo, "kiln1", facts=FACTS).node["kiln"]["tools"] == ["gloves"]

    def test_a_key_that_is_nowhere_stops_the_recipe_at_its_line(self, kiln):
        """
        As any error of a recipe, with the file and the line.
        """
        repo = kiln(**{"cookbooks/kiln/recipes/default.py": "\nlookup('kiln::heart')\n"})

        with pytest.raises(RecipeFailed, match=r"cookbooks/kiln/recipes/default\.py:2.*kiln::heart"):
            run_node(repo, "kiln1", facts=FACTS)

    def test_without_a_tree_the_error_says_where_to_put_one(self, kiln):
        """
        A repository need not have one until a recipe asks.
        """
        repo = kiln(**{"nodeattrs.toml": ""})

        with pytest.raises(RecipeFailed, match=r"has no Hiera tree(.|\n)*nodeattrs\.toml") as caught:
            run_node(repo, "kiln1", facts=FACTS)
        assert isinstance(caught.value.__cause__, NotFound)


class TestExplanation:
    def test_an_explanation_lists_the_keys_that_a_line_looked_up(self, kiln):
        """
        Through the name that the line before gave it.
        """
        repo = kiln()
        explanation = explained(run_node(repo, "kiln1", facts=FACTS).node, ("kiln", "limit"), repo)
        data = {one["what"]: one["trace"] for one in explanation.to_dict()["read"]}

        assert list(data) == ["lookup(kiln::heat)", "kiln.margin"]
        assert data["lookup(kiln::heat)"]["leaves"][0]["set_by"][0]["file"] == "data/kiln1.yaml"
        assert data["kiln.margin"]["claims"][0]["file"] == "cookbooks/kiln/attributes/default.py"
        assert data["kiln.margin"]["claims"][0]["line"] == 1

    def test_the_keys_that_a_value_of_hiera_needed_are_listed_too(self, kiln):
        """
        Behind the one that needed them, each once.
        """
        common = (
            FILES["data/common.yaml"]
            + "kiln::note: \"%{lookup('kiln::sum')}\"\nkiln::sum: \"%{lookup('kiln::heat')}\"\n"
        )
        code = "node.default['kiln']['note'] = lookup('kiln::note')\n"
        repo = kiln(**{"data/common.yaml": common, "cookbooks/kiln/recipes/default.py": code})
        read = explained(run_node(repo, "kiln1", facts=FACTS).node, ("kiln", "note"), repo).readings

        assert [one.what for one in read] == ["lookup(kiln::note)", "lookup(kiln::sum)", "lookup(kiln::heat)"]
        assert [origin.place for origin in read[-1].trace.origins(())] == ["data/kiln1.yaml:1"]

    def test_a_value_that_no_cookbook_wrote_read_nothing(self, kiln):
        """
        A document reads nothing; neither does a node whose repository is not at hand.
        """
        repo = kiln()
        node = run_node(repo, "kiln1", facts=FACTS).node

        assert explained(node, ("platform",), repo).readings == ()
        assert of_saved(node, ("kiln", "limit")).readings == ()
