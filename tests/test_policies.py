"""Policies: a locked run-list, attributes where roles would stand, exact cookbooks."""

from __future__ import annotations

import json

import pytest

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.causes import causes
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.roles import Policy, RepositoryOptions
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import (
    BadArgument,
    BadName,
    CookbookNotFound,
    DocumentError,
    InvalidRunListItem,
    NotFound,
    PolicyNotFound,
)
from nodeattrs.formats.documents import parse
from tests.on_disk import repository

FACTS = {"platform": "ubuntu", "fqdn": "web1.example.com"}
LOCK = {
    "revision_id": "abc123",
    "name": "web",
    "run_list": ["recipe[app::default]"],
    "named_run_lists": {"small": ["recipe[app::small]"]},
    "included_policy_locks": [],
    "cookbook_locks": {"app": {"version": "1.2.0", "identifier": "f00", "cache_key": "x", "source_options": {}}},
    "default_attributes": {"port": 80, "names": ["a"], "prod": {"port": 8080, "names": ["b"], "extra": {"deep": 1}}},
    "override_attributes": {"workers": 4},
    "solution_dependencies": {"Policyfile": [], "dependencies": {}},
}
APP = {
    "cookbooks/app/metadata.rb": "name 'app'\nversion '1.2.0'\n",
    "cookbooks/app/recipes/default.py": "node.default['default'] = 1",
    "cookbooks/app/recipes/small.py": "node.default['small'] = 1",
}
SITE = {**APP, "policies/web.lock.json": LOCK}


def line(key: str, nth: int = 1, of: object = LOCK) -> int:
    """The line on which a lock says a key."""
    lines = json.dumps(of, indent=1).splitlines()
    return [number for number, text in enumerate(lines, 1) if text.strip().startswith(f'"{key}":')][nth - 1]


def ran(tmp_path, files, asked=RepositoryOptions(policy="web"), **more) -> Run:  # noqa: B008
    """A run of the repository."""
    repo = repository(tmp_path, files)
    repo.options = asked
    return run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), **more)


class TestARunThatFollowsOne:
    def test_run_list_and_attributes_are_the_policys(self, tmp_path):
        """With its lines, in the slots of roles."""
        node = ran(tmp_path, SITE).node

        assert (["recipe[app::default]"], 1) == (node.run_list, node["default"])
        assert ({**LOCK["default_attributes"]}, {"workers": 4}) == (
            node.role_default.to_dict(),
            node.role_override.to_dict(),
        )
        assert [f"policies/web.lock.json:{line('workers')} (policy web)"] == [
            str(one) for one in node.origins("workers")
        ]
        assert ("web", "", "abc123") == tuple(node[f"policy_{key}"] for key in ("name", "group", "revision"))
        assert (["app::default"], []) == (node["recipes"], node["roles"])

    def test_attributes_of_the_group_are_hoisted(self, tmp_path):
        """Maps meet, lists are replaced; the line is that of the group's value."""
        run = ran(tmp_path, SITE, RepositoryOptions(policy="web", policy_group="prod"))
        node = run.node

        assert (8080, ["b"], 1, 8080) == (node["port"], node["names"], node["extra"]["deep"], node["prod"]["port"])
        assert ("prod", "prod", "prod") == (node.environment, node["chef_environment"], node["policy_group"])
        assert [line("port", 2), line("deep"), line("port", 2)] == [
            node.origins(path)[0].line for path in ("port", "extra.deep", "prod.port")
        ]

    def test_what_the_policy_says_before_the_group_keeps_its_line(self, tmp_path):
        """Null replaces, too, as in Chef."""
        lock = {**LOCK, "default_attributes": {"a": 1, "b": {"c": 2}, "prod": {"a": None, "b": {"d": 3}}}}
        node = ran(tmp_path, {**APP, "web.lock.json": lock}, RepositoryOptions(policy="web", policy_group="prod")).node

        assert (None, {"c": 2, "d": 3}) == (node["a"], node["b"])
        assert [line("c", of=lock), line("d", of=lock)] == [node.origins(path)[0].line for path in ("b.c", "b.d")]

    def test_a_named_run_list(self, tmp_path):
        """Instead of the policy's own; one that it does not have is an error."""
        assert 1 == ran(tmp_path, SITE, RepositoryOptions(policy="web", named_run_list="small")).node["small"]
        with pytest.raises(NotFound, match="no named run-list large"):
            ran(tmp_path, SITE, RepositoryOptions(policy="web", named_run_list="large"))

    def test_a_run_list_that_is_given_counts_more(self, tmp_path):
        """That of the command, then that of the JSON attributes; never that of the node's file."""
        attributes = parse('{"run_list": ["app::small"]}', "j.json", "json")
        files = {**SITE, "nodes/web1.json": {"run_list": ["recipe[none]"]}}

        assert ["recipe[app::small]"] == ran(tmp_path, files, run_list=["app::small"]).node.run_list
        assert ["recipe[app::small]"] == ran(tmp_path, files, json_attributes=attributes).node.run_list
        assert ["recipe[app::default]"] == ran(tmp_path, files).node.run_list

    def test_the_lock_says_why_a_recipe_runs(self, tmp_path):
        """Its line among the causes."""
        repo = repository(tmp_path, SITE)
        repo.options = RepositoryOptions(policy="web")
        run = run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")))

        assert ["policies/web.lock.json:5"] == [
            one.origin.place for one in causes(repo, run, run.node.origins("default"))
        ]

    def test_explain_takes_the_policy_lock_of_the_command_line(self, tmp_path, capsys):
        """`explain` names the lock."""
        repository(tmp_path / "r", {**SITE, "facts.json": FACTS})
        words = [
            "--repo",
            str(tmp_path / "r"),
            "--facts",
            str(tmp_path / "r/facts.json"),
            "--store",
            str(tmp_path / "s.db"),
        ]
        assert 0 == main(["explain", "web1", "port", *words, "--policy-name", "web", "--policy-group", "prod"])

        assert f"policies/web.lock.json:{line('port', 2)} (policy web)" in capsys.readouterr().out


class TestWhichOne:
    @pytest.mark.parametrize(
        ("more", "asked", "attributes"),
        [
            ({}, RepositoryOptions(policy="web", policy_group="prod"), {}),
            ({}, RepositoryOptions(), {"policy_name": "web", "policy_group": "prod"}),
            ({"nodeattrs.toml": '[chef]\npolicy = "web"\npolicy_group = "prod"\n'}, RepositoryOptions(), {}),
            ({"nodes/web1.json": {"policy_name": "web", "policy_group": "prod"}}, RepositoryOptions(), {}),
            (
                {"nodes/web1.json": {"policy_name": "no", "policy_group": "dev"}},
                RepositoryOptions(policy="web", policy_group="prod"),
                {},
            ),
        ],
    )
    def test_whoever_names_it(self, tmp_path, more, asked, attributes):
        """The command, the JSON attributes, the settings, the node's file."""
        given = parse(json.dumps(attributes), "j.json", "json")
        run = ran(tmp_path, {**SITE, **more}, asked, json_attributes=given)

        assert run.policy is not None
        assert ("web", "prod") == (run.policy.name, run.policy.group)

    @pytest.mark.parametrize(
        "place", ["policies/web.lock.json", "policyfiles/web.lock.json", "web.lock.json", "Policyfile.lock.json"]
    )
    def test_where_it_lies(self, tmp_path, place):
        """As people keep locks; or named as a file."""
        assert "abc123" == repository(tmp_path, {place: LOCK}).policy("web").revision
        assert "abc123" == repository(tmp_path, {}).policy(place).revision

    def test_an_export_says_the_revision_of_a_group(self, tmp_path):
        """As `chef export` writes it, cookbooks by identifier."""
        files = {
            "policy_groups/prod.json": {"policies": {"web": {"revision_id": "abc123"}}},
            "policies/web-abc123.json": LOCK,
            "policies/web-old.json": {**LOCK, "revision_id": "old"},
            "cookbook_artifacts/app-f00/metadata.json": {"name": "app", "version": "9.9.9"},
            "cookbook_artifacts/app-f00/recipes/default.py": "node.default['x'] = 1",
        }
        run = ran(tmp_path, files, RepositoryOptions(policy="web", policy_group="prod"))

        assert 1 == run.node["x"]

    def test_a_cookbook_that_lies_where_the_lock_says(self, tmp_path):
        """A cookbook with its own Policyfile is a repository; what leads out of it is not followed."""
        own = {name.removeprefix("cookbooks/app/"): text for name, text in APP.items()}
        for source, place in ((".", ""), ("../app", "policies/")):
            lock = {**LOCK, "cookbook_locks": {"app": {"version": "1.2.0", "identifier": "f00", "source": source}}}
            folder = tmp_path / f"r{len(place)}"
            files = {f"{'app/' if place else ''}{name}": text for name, text in own.items()}
            run = ran(folder, {**files, f"{place}web.lock.json": lock})
            assert 1 == run.node["default"]

        outside = {**LOCK, "cookbook_locks": {"app": {"version": "1.2.0", "source": "../r0"}}}
        with pytest.raises(CookbookNotFound):
            ran(tmp_path / "other", {"web.lock.json": outside}, RepositoryOptions(policy="web", strict=True))

    def test_a_policyfile_of_another_name_is_not_taken(self, tmp_path):
        """The error says where it was looked for."""
        with pytest.raises(PolicyNotFound, match=r"policies/db\.lock\.json"):
            repository(tmp_path, {"Policyfile.lock.json": LOCK}).policy("db")

    @pytest.mark.parametrize("name", ["../web", "a/b", ".hidden"])
    def test_a_name_becomes_no_path(self, tmp_path, name):
        """Nor does a group, nor a revision in a file."""
        repo = repository(tmp_path, {"policy_groups/g.json": {"policies": {"web": {"revision_id": "../../x"}}}})
        with pytest.raises(BadName):
            repo.policy(name)
        with pytest.raises(BadName):
            repo.policy("web", name)
        with pytest.raises(BadName):
            repo.policy("web", "g")

    def test_a_file_outside_of_the_repository_is_not_read(self, tmp_path):
        """Not by name, and not over a link."""
        repository(tmp_path, {"web.lock.json": LOCK})
        repo = repository(tmp_path / "r", {"README": ""})
        (tmp_path / "r" / "Policyfile.lock.json").symlink_to(tmp_path / "web.lock.json")
        for name in ("../web.lock.json", str(tmp_path / "web.lock.json"), "web"):
            with pytest.raises(PolicyNotFound):
                repo.policy(name)


class TestRefused:
    def test_roles_on_its_run_list(self, tmp_path):
        """As in Chef."""
        with pytest.raises(InvalidRunListItem, match="names recipes only"):
            ran(tmp_path, {**APP, "web.lock.json": {**LOCK, "run_list": ["role[x]"]}})

    def test_an_environment_beside_it(self, tmp_path):
        """As in Chef."""
        with pytest.raises(BadArgument, match="has no environment"):
            ran(tmp_path, SITE, environment="prod")

    def test_a_cookbook_that_it_does_not_lock(self, tmp_path):
        """Even if it lies there."""
        with pytest.raises(CookbookNotFound, match="locks no cookbook other"):
            ran(tmp_path, {**SITE, "cookbooks/other/recipes/default.py": ""}, run_list=["other"])

    def test_another_version_of_a_cookbook(self, tmp_path):
        """It is not the one that was locked."""
        other = {**SITE, "cookbooks/app/metadata.rb": "name 'app'\nversion '1.3.0'"}
        with pytest.raises(CookbookNotFound, match=r"cookbook app 1\.2\.0"):
            ran(tmp_path, other, RepositoryOptions(policy="web", strict=True))

    def test_a_lock_that_is_none(self, tmp_path):
        """With the line."""
        with pytest.raises(DocumentError, match=r"web\.lock\.json:2:2: run_list of policy web must be a list"):
            repository(tmp_path, {"web.lock.json": {"run_list": "app"}}).policy("web")


def test_a_policy_by_hand_hoists_nothing_without_a_group():
    """The attributes of groups are data like any other then."""
    policy = Policy("web", default_attributes={"prod": {"a": 1}})

    assert {"prod": {"a": 1}} == policy.as_role().default_attributes
