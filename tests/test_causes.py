"""The lines that decide who speaks on a node, and set nothing themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.core.claim import Origin
from nodeattrs.runs.causes import causes
from nodeattrs.runs.facts import Facts
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import run_node
from tests.on_disk import repository

FILES: dict[str, Any] = {
    "cookbooks/base/attributes/default.py": 'default["base"] = 1\n',
    "cookbooks/base/metadata.json": {"name": "base", "version": "1.0.0"},
    "cookbooks/app/metadata.json": {"name": "app", "version": "1.0.0", "depends": {"base": ">= 0.0.0"}},
    "cookbooks/app/attributes/default.py": 'default["app"] = 1\n',
    "cookbooks/app/recipes/default.py": '# two\ninclude_recipe("app::more")\n',
    "cookbooks/app/recipes/more.py": 'node.default["more"] = 1\n',
    "roles/inner.yaml": "name: inner\nrun_list:\n  - recipe[app]\n",
    "roles/web.yaml": "name: web\ndefault_attributes: {r: 1}\nrun_list:\n  - role[inner]\n",
    "environments/prod.yaml": "name: prod\ndefault_attributes: {e: 1}\n",
    "nodes/web1.json": '{\n"name": "web1",\n"chef_environment": "prod",\n"run_list": [\n"role[web]"]}\n',
}
LIST = [
    ("recipe[app::default] is on the run-list of role inner", "roles/inner.yaml:3"),
    ("role[inner] is on the run-list of role web", "roles/web.yaml:4"),
    ("role[web] is on the run-list", "nodes/web1.json:5"),
]


@pytest.fixture
def found(tmp_path: Path) -> Any:
    """What decided about a source: words and places."""
    repo: Repository = repository(tmp_path, FILES)
    run = run_node(repo, "web1", facts=Facts({"platform": "x"}, Origin("facts")))

    def of(kind: str, name: str) -> list[tuple[str, str | None]]:
        return [(one.what, one.origin.place) for one in causes(repo, run, [Origin(kind, name)])]

    return of


class TestCauses:
    def test_a_recipe_of_a_role_inside_a_role(self, found):
        """
        From the recipe outwards, each with its line.
        """
        assert LIST == found("recipe", "app::default")

    def test_an_included_recipe_names_the_line_that_includes_it(self, found):
        """
        And then why that one was run.
        """
        included = ("recipe app::more is included", "cookbooks/app/recipes/default.py:2")

        assert [included, *LIST] == found("recipe", "app::more")

    def test_an_attribute_file_of_a_cookbook_that_another_one_needs(self, found):
        """
        No recipe of it runs: its metadata's line is why it is there.
        """
        first, *rest = found("attribute file", "base::default")

        assert "cookbook app depends on base" == first[0]
        assert first[1].startswith("cookbooks/app/metadata.json:")
        assert LIST == rest

    def test_an_environment(self, found):
        """
        The node's own file chooses it.
        """
        assert [("the node is in environment prod", "nodes/web1.json:3")] == found("environment", "prod")

    def test_facts_and_the_node_itself_need_no_reason(self, found):
        """
        Nothing decided about them.
        """
        assert [] == found("facts", "web1.json") == found("node", "web1")
