"""`search` in recipes: the nodes of the store that the run has."""

import pytest

from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.dialects.chef.run.session import NodeRequest
from nodeattrs.errors import NotFound, RecipeFailed
from nodeattrs.store import open_store
from tests.on_disk import perform, repository

FACTS = Facts({"platform": "kilnos", "fqdn": "kiln1.example"}, Origin("facts", "test"))
RECIPE = "cookbooks/kiln/recipes/default.py"
FILES = {
    RECIPE: "node.default['others'] = [one['name'] for one in search('node', 'platform:kilnos')]\n",
    "nodes/kiln1.json": {"name": "kiln1", "run_list": ["kiln"]},
    "nodes/kiln2.json": {"name": "kiln2", "run_list": ["kiln"]},
}


def test_search_in_a_recipe_finds_the_nodes_that_ran_before(tmp_path):
    """The node that runs is not in the store yet, unless an earlier run left it there."""
    repo, store = repository(tmp_path / "repo", FILES), open_store(str(tmp_path / "nodes.db"))

    found = [
        perform(repo, store, name, NodeRequest(FACTS)).run.node["others"].to_list()
        for name in ("kiln1", "kiln2", "kiln1")
    ]

    assert found == [[], ["kiln1"], ["kiln1", "kiln2"]]


def test_without_a_store_the_error_says_how_to_have_one(tmp_path):
    """A run of the library alone has none."""
    with pytest.raises(RecipeFailed, match=r"no store to search(.|\n)*--store") as caught:
        run_node(repository(tmp_path, FILES), "kiln1", facts=FACTS)
    assert isinstance(caught.value.__cause__, NotFound)
