"""The words that ask what machine it is, beside the answers of chef-utils and Chef 19.4.14 (tests/chef_words.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Node
from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts, load_facts
from nodeattrs.dialects.chef.facts.known import platform_file
from nodeattrs.dialects.chef.run.lookups import READERS
from nodeattrs.dialects.chef.run.platform_words import QUESTIONS, platform_questions, platform_words
from nodeattrs.dialects.chef.run.recipes import BOTH, FILES_ONLY, RECIPES_ONLY
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import BadArgument
from tests.on_disk import repository as written

KEPT = json.loads((Path(__file__).parent / "chef_words.json").read_text(encoding="utf-8"))
OURS = {"docker", "systemd", "rhel9", "rhel10"}
"""Chef's `docker` and `systemd` look at the machine that asks, and it has no rhel9."""


def words(facts: dict[str, Any]) -> dict[str, Any]:
    node = Node("n")
    node.automatic = facts
    return {**platform_questions(node), **platform_words(node)}


class TestQuestions:
    @pytest.mark.parametrize("case", KEPT["questions"])
    def test_each_is_answered_as_chef_utils_does(self, case: dict[str, Any]):
        asked = words(case["facts"])
        assert [name for name in sorted(QUESTIONS.keys() - OURS) if asked[name]()] == sorted(set(case["yes"]) - OURS)

    def test_platform_predicates_that_need_facts_alone(self):
        facts = {"platform_family": "rhel", "platform_version": "9.3", "init_package": "systemd"}
        asked = words({**facts, "virtualization": {"systems": {"docker": "guest"}}})
        assert all(asked[name] for name in ("docker", "systemd", "rhel9"))
        assert not asked["rhel10"]

    def test_the_parentheses_may_be_left_out(self):
        asked = words({"platform_family": "debian"})
        assert asked["debian"]
        assert not asked["rhel"]
        assert repr(asked["debian"]) == "True"

    def test_platform_and_family_take_several_names(self):
        asked = words({"platform": "ubuntu", "platform_family": "debian"})
        assert asked["platform"]("debian", "ubuntu")
        assert not asked["platform"]("debian")
        assert asked["platform_family"]("debian", "rhel")

    def test_a_node_without_facts_is_nothing(self):
        asked = words({})
        assert [name for name in QUESTIONS if asked[name]()] == ["physical", "_32_bit"]


class TestWhoAsks:
    @pytest.mark.parametrize(
        "asked",
        [
            "debian",
            "debian()",
            "[debian for _ in '1'][0]",
            "(lambda: debian)()",
            "eval('deb' + 'ian')",
            "globals()['debian']",
            "sys._getframe().f_globals['debian']",
            "nodeattrs.recipe.debian",
        ],
    )
    @pytest.mark.parametrize(
        "before", ["", "from nodeattrs.recipe import *\n", "from nodeattrs.recipe import debian\n"]
    )
    @pytest.mark.parametrize("value", ["bool({})", "lazy(lambda: bool({}))"])
    def test_platform_predicates_work_by_every_way_to_name_them(self, tmp_path, asked, before, value):
        text = f"{before}\nimport sys, nodeattrs.recipe\nnode.default['a'] = {value.format(asked)}\n"
        if "recipe.debian" in asked and "lazy" in value:  # that module knows who runs, and then nobody does
            return
        node = ran(tmp_path, text)
        assert node["a"] is True

    def test_no_other_word_is_called_as_a_question_is(self):
        """
        So it is nothing to anybody in which order they are put together.
        """
        assert not QUESTIONS.keys() & {*FILES_ONLY, *RECIPES_ONLY, *BOTH, *READERS, "node", "lazy", "log", "set"}


def ran(folder: Path, text: str) -> Node:
    files = {"cookbooks/app/recipes/default.py": text}
    facts = Facts({"platform": "ubuntu", "platform_family": "debian"}, Origin("facts"))
    return run_node(written(folder, files), "n", facts=facts, run_list=["app"]).node


class TestValues:
    @pytest.mark.parametrize("case", KEPT["values"])
    def test_each_is_chosen_as_chef_does(self, case: dict[str, Any]):
        given = {
            tuple(key.split(",")) if case.get("lists") and "," in key else key: one for key, one in case["map"].items()
        }
        ask = words(case["facts"])[case["word"]]
        if case.get("fails"):
            with pytest.raises(BadArgument):
                ask(given)
        else:
            assert ask(given) == case["value"]

    def test_value_for_platform_family_takes_a_map(self):
        with pytest.raises(BadArgument, match="values of platforms are a map"):
            words({})["value_for_platform_family"]("apache2")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    files = {
        "cookbooks/a/attributes/default.py": """\
from nodeattrs.recipe import *
from nodeattrs.recipe import debian, rhel

default["package"] = value_for_platform_family({("rhel", "fedora"): "httpd", "default": "apache2"})
default["asked"] = [platform("debian"), bool(debian), rhel(), has_role("inner"), has_recipe("a"), has_recipe("b")]
default["admin"] = data_bag_item("users", "ann")["shell"]
default["tagged"] = tagged("canary")
run_state["seen"] = 1
""",
        "cookbooks/a/recipes/default.py": """\
include_recipe("b")
node.default["later"] = [has_recipe("b"), run_state["seen"]]
""",
        "cookbooks/b/recipes/default.py": "log(node.run_list)\n",
        "roles/web.json": '{"name": "web", "run_list": ["role[inner]", "recipe[a]"]}',
        "roles/inner.json": '{"name": "inner"}',
        "data_bags/users/ann.json": '{"id": "ann", "shell": "/bin/zsh"}',
        "nodes/n.json": '{"run_list": ["role[web]"]}',
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_attribute_files_and_recipes_have_them(repository: Path):
    node = run_node(Repository(repository), "n", facts=load_facts(platform_file("debian-12"))).node
    assert node["package"] == "apache2"
    assert node["asked"] == [True, True, False, True, True, False]
    assert (node["admin"], node["tagged"]) == ("/bin/zsh", False)
    assert node["later"] == [True, 1]


def test_outside_of_a_run_the_module_still_lists_them():
    assert {"node", "platform", "debian", "include_recipe"} <= set(__import__("nodeattrs.recipe").recipe.__all__)


def test_explain_names_the_line_that_used_a_platform_predicate(repository: Path, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert main(["explain", "n", "asked", "--repo", ".", "--platform", "debian-12"]) == 0
    assert "cookbooks/a/attributes/default.py:5" in capsys.readouterr().out


class TestOverrideRunList:
    def test_it_is_run_once_and_the_node_keeps_its_own(self, repository: Path, monkeypatch, capsys):
        monkeypatch.chdir(repository)
        assert main(["run", "--node", "n", "--platform", "debian-12", "-o", "b", "--store", "s.db"]) == 0
        printed = capsys.readouterr().out
        assert "recipes          b::default" in printed
        assert "['role[web]']" in printed
        assert "saved            nothing" in printed
        assert not (repository / "s.db").exists()

    def test_explain_takes_an_override_run_list(self, repository: Path, monkeypatch, capsys):
        monkeypatch.chdir(repository)
        assert main(["explain", "n", "package", "--repo", ".", "--platform", "debian-12", "-o", "recipe[b]"]) == 1
        assert "package is not set" in capsys.readouterr().err
        assert main(["explain", "n", "package", "-o", "b"]) == 2

    def test_one_that_names_nothing_is_refused(self, repository: Path, monkeypatch, capsys):
        monkeypatch.chdir(repository)
        assert main(["run", "--node", "n", "--platform", "debian-12", "-o", ", "]) == 1
        assert "--override-run-list names no item" in capsys.readouterr().err
