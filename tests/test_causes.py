"""The lines that decide who speaks on a node, and set nothing themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.causes import causes
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from tests.hiera_trees import written
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

    def test_the_file_of_the_node_is_the_cause_of_its_environment(self, found):
        """
        The node's own file chooses it.
        """
        assert [("the node is in environment prod", "nodes/web1.json:3")] == found("environment", "prod")

    def test_facts_and_the_node_itself_need_no_reason(self, found):
        """
        Nothing decided about them.
        """
        assert [] == found("facts", "web1.json") == found("node", "web1")


class TestOfOtherDialects:
    """`explain --because` names the lines that decide there, as text and as data."""

    HIERA: ClassVar[dict[str, str]] = {
        "hiera.yaml": "version: 5\nhierarchy:\n- name: node\n  path: node.yaml\n- name: common\n  path: common.yaml\n",
        "data/node.yaml": "k: [n]\n",
        "data/common.yaml": "lookup_options:\n  k: {merge: unique}\nk: [c]\nother: 1\n",
    }
    SITE: ClassVar[dict[str, str]] = {
        "manifests/site.pp": "site {\n  categories { node => $fqdn }\n  bindings => [\n"
        "    layer { 'site': include => 'confdir:/default' },\n"
        "    layer { 'modules': include => 'module:/*::default' },\n  ]\n}\n",
        "bindings/default.pp": "bindings default {\n  when node web1 {\n   bind override 'ssh::port' to 2222\n  }\n}\n",
        "modules/ssh/bindings/default.pp": "bindings ssh::default {\n  bind Integer, 'ssh::port' to 22\n}\n",
    }
    PARTS: ClassVar[dict[str, str]] = {
        "base.yaml": "#cloud-config\nruncmd: [a]\n",
        "web.yaml": "#cloud-config\nmerge_how: list(append)+dict(recurse_list)\nruncmd: [b]\n",
    }

    @pytest.fixture
    def asked(self, tmp_path: Path, monkeypatch, capsys) -> Any:
        """What a command line prints, as text and as the rows of `because_of`."""
        monkeypatch.chdir(tmp_path)

        def ask(files: dict[str, str], *words: str) -> tuple[str, Any]:
            written(tmp_path, files)
            assert 0 == main([*words])
            text = capsys.readouterr().out
            assert 0 == main([*words, "--format", "json"])
            return " ".join(text.split()), json.loads(capsys.readouterr().out)

        return ask

    def test_hiera_names_the_hierarchy_and_the_merge(self, asked):
        """
        An entry each, and the line of lookup_options; where nothing was chosen, the entry alone.
        """
        text, data = asked(self.HIERA, "hiera", "explain", "k", "--because")
        assert ["hiera.yaml:3", "hiera.yaml:5", "data/common.yaml:2"] == places(data["nodes"][""]["because_of"])
        assert "because of" in text
        assert "lookup_options: k is merged by unique data/common.yaml:2" in text
        _, data = asked(self.HIERA, "hiera", "explain", "other", "--because")
        assert ["hiera.yaml:5"] == places(data["nodes"][""]["because_of"])
        assert "because_of" not in asked(self.HIERA, "hiera", "explain", "k")[1]["nodes"][""]

    def test_bindings_name_conditions_and_layers(self, asked):
        """
        Of the winner and of those it hides.
        """
        words = ("bindings", "explain", "ssh::port", "--node", "web1")
        text, data = asked(self.SITE, *words, "--because")
        decided = ["bindings/default.pp:2", "manifests/site.pp:2", "manifests/site.pp:4", "manifests/site.pp:5"]
        assert decided == places(data["because_of"])
        assert "when node web1 bindings/default.pp:2" in text
        assert "layer site is listed manifests/site.pp:4" in text
        assert "because_of" not in asked(self.SITE, *words)[1]

    def test_cloud_config_names_the_definitions(self, asked):
        """
        Of the parts that speak about the path; a default stands nowhere.
        """
        words = ("cloud-config", "explain", "base.yaml", "web.yaml", "--path", "runcmd")
        text, data = asked(self.PARTS, *words, "--because")
        assert ["web.yaml:2"] == places(data["traces"][0]["because_of"])
        assert "because of web.yaml joins by list(append)+dict(recurse_list) web.yaml:2" in text
        assert "because_of" not in asked(self.PARTS, *words)[1]["traces"][0]

    def test_without_a_path_there_is_nothing_to_name(self, asked, capsys):
        """
        Exit code 2; the table of parts has the definitions.
        """
        assert 2 == main(["cloud-config", "explain", "base.yaml", "--because"])
        assert "--because names what decided about a path" in capsys.readouterr().err


def places(causes: list[dict[str, Any]]) -> list[str]:
    """Where they stand."""
    return [f"{one['file']}:{one['line']}" for one in causes]
