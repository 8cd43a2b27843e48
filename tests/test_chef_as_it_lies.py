"""Chef repositories without a settings file: what lies in which folder, and what is read of it."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import CookbookNotFound, DocumentError, InvalidRunListItem
from nodeattrs.node.node import Node
from tests.on_disk import repository

FACTS = {"platform": "debian", "platform_version": "12", "platform_family": "debian", "fqdn": "n1.example"}
APP = {
    "cookbooks/app/metadata.rb": "name 'app'\nversion '1.0.0'\n",
    "cookbooks/app/recipes/default.rb": "",
    "facts.json": FACTS,
}
ROLE = "name 'r'\nrun_list 'recipe[app]'\n"


def ran(repo: Repository, *run_list: str, asked: RepositoryOptions | None = None, **more: object) -> Run:
    """A run of node n1 of the repository."""
    repo.options = asked or repo.options
    return run_node(repo, "n1", facts=Facts(FACTS, Origin("facts")), run_list=list(run_list) or None, **more)


def said(tmp_path, capsys, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command about the repository `r`."""
    facts = () if "list" in words or "--platform" in words else ("--facts", str(tmp_path / "r/facts.json"))
    code = main([*words, "--repo", str(tmp_path / "r"), *facts, "--store", str(tmp_path / "s.db")])
    out, err = capsys.readouterr()
    return code, out, err


class TestCookbooksThatAreNotThere:
    FILES: ClassVar = {
        **APP,
        "roles/r.rb": ROLE.replace("app]'", "app]', 'recipe[ntp]'") + "override_attributes 'k' => 1\n",
    }

    def test_a_missing_cookbook_is_an_unread_layer_with_a_warning(self, tmp_path):
        run = ran(repository(tmp_path, self.FILES), "role[r]")

        assert 1 == run.node["k"]
        assert ["cookbook ntp is not there"] == [one.message for one in run.warnings if one.kind == "missing-cookbook"]
        assert {"ntp", "ntp::default"} == {one.origin.name for one in run.node.trace("k").unknown}

    def test_an_empty_folder_is_no_cookbook(self, tmp_path):
        """As Git leaves one for a submodule that is not checked out; Chef passes over it."""
        repo = repository(tmp_path, APP)
        (tmp_path / "cookbooks/gone").mkdir()
        run = ran(repo, "recipe[app]", "recipe[gone]")

        assert ["app"] == repo.cookbooks()
        assert run.node.trace("a").unknown
        assert "cookbook gone is not there" in str(run.warnings[0])

    def test_explain_answers_with_exit_code_5_and_strict_refuses(self, tmp_path, capsys):
        repository(tmp_path / "r", self.FILES)
        words = ("explain", "n1", "k", "--run-list", "role[r]")

        code, out, err = said(tmp_path, capsys, *words)
        assert (5, True) == (code, "roles/r.rb:3" in out)
        assert "cookbook ntp is not there" in err
        assert 1 == said(tmp_path, capsys, *words, "--strict")[0]

    @pytest.mark.parametrize(("path", "code"), [("k", 0), ("ntp.servers", 5), ("other", 1)])
    def test_the_settings_may_vouch_that_it_sets_its_own_attributes_only(self, tmp_path, capsys, path, code):
        resource = {"cookbooks/app/recipes/default.rb": "ntp_server 'x'\n"}
        settings = {"nodeattrs.toml": '[chef]\nmissing_cookbooks = "own"\n'}
        repository(tmp_path / "r", {**self.FILES, **settings, **resource})
        words = ("explain", "n1", path, "--run-list", "role[r]", "--ruby")

        assert code == said(tmp_path, capsys, *words)[0]
        assert 5 == said(tmp_path, capsys, *words, "--roles-only")[0]

    def test_run_strict_refuses_before_anything_is_saved(self, tmp_path, capsys):
        repository(tmp_path / "r", self.FILES)
        words = ("run", "--node", "n1", "--run-list", "role[r]", "--why-run")

        assert 0 == said(tmp_path, capsys, *words)[0]
        code, _, err = said(tmp_path, capsys, *words, "--strict")
        assert (1, True) == (code, "there is no cookbook ntp" in err)

    def test_a_cookbook_with_a_similar_name_is_proposed(self, tmp_path):
        run = ran(repository(tmp_path, {**APP, "cookbooks/nginx/recipes/default.rb": ""}), "ngix")

        assert ["did you mean nginx?"] == [one.hint for one in run.warnings if one.kind == "missing-cookbook"]

    def test_an_attribute_file_that_a_missing_cookbook_has_is_unread(self, tmp_path):
        files = {
            **APP,
            "cookbooks/app/metadata.rb": "name 'app'\ndepends 'ntp'\n",
            "cookbooks/app/attributes/default.py": "include_attribute('ntp')\ndefault['a'] = 1\n",
        }
        run = ran(repository(tmp_path, files), "app")

        assert 1 == run.node["a"]
        assert "ntp" in {one.origin.name for one in run.node.trace("a").unknown}

    def test_an_include_of_what_no_cookbook_depends_on_is_refused_as_in_chef(self, tmp_path):
        files = {**APP, "cookbooks/app/attributes/default.py": "include_attribute('ntp')\n"}

        with pytest.raises(Exception, match="there is no cookbook ntp"):
            ran(repository(tmp_path, files), "app")

    def test_the_settings_can_refuse(self, tmp_path):
        files = {**self.FILES, "nodeattrs.toml": '[chef]\nmissing_cookbooks = "error"\n'}

        with pytest.raises(CookbookNotFound, match="there is no cookbook ntp"):
            ran(repository(tmp_path, files), "role[r]")


class TestSubfolders:
    @pytest.mark.parametrize("file", ["roles/sub/r.rb", "roles/a/b/r.rb"])
    def test_a_role_in_a_folder_below_roles_is_found_by_its_name(self, tmp_path, file):
        repo = repository(tmp_path, {**APP, file: f"{ROLE}default_attributes 'app' => {{ 'a' => 2 }}\n"})
        run = ran(repo, "role[r]")

        assert (["r"], 2) == (repo.roles(), run.node["app"]["a"])
        assert [f"{file}:3 (role r)"] == [str(one) for one in run.node.origins("app.a")]

    def test_json_counts_beside_ruby_and_the_top_folder_before_both(self, tmp_path):
        files = {
            "roles/sub/r.rb": "name 'r'\ndescription 'ruby'\n",
            "roles/sub/r.json": {"name": "r", "description": "json", "json_class": "Chef::Role"},
        }
        assert "json" == repository(tmp_path, files).role("r").description
        assert "top" == repository(tmp_path, {"roles/r.rb": "name 'r'\ndescription 'top'\n"}).role("r").description

    def test_two_files_of_one_role_are_refused_as_in_chef(self, tmp_path):
        repo = repository(tmp_path, {f"roles/{one}/r.rb": ROLE for one in ("a", "b")})

        with pytest.raises(DocumentError, match=r"role r is described twice, by roles/a/r\.rb and roles/b/r\.rb"):
            repo.role("r")

    def test_an_environment_in_a_folder_is_found(self, tmp_path):
        files = {**APP, "environments/eu/prod.rb": "name 'prod'\noverride_attributes 'a' => 1\n"}
        repo = repository(tmp_path, files)

        assert (["prod"], 1) == (repo.environments(), ran(repo, "app", environment="prod").node["a"])

    def test_what_other_tools_keep_below_roles_and_environments_is_passed_over(self, tmp_path):
        files = {
            "roles/web/tasks/main.json": {"run_list": []},
            "roles/web/files/x.rb": ROLE,
            "environments/production/modules/m/metadata.json": {"name": "me-m"},
            "environments/production/settings.json": {"a": 1},
        }
        repo = repository(tmp_path, files)

        assert ([], []) == (repo.roles(), repo.environments())


class TestRecipesAsData:
    def test_a_recipe_in_yaml_sets_nothing(self, tmp_path, capsys):
        files = {name: text for name, text in APP.items() if "recipes" not in name}
        files["cookbooks/app/recipes/default.yml"] = "resources:\n- type: file\n  name: /tmp/x\n"
        files["cookbooks/app/attributes/default.py"] = "default['app']['a'] = 1\n"
        repository(tmp_path / "r", files)
        code, out, _ = said(tmp_path, capsys, "explain", "n1", "app.a", "--run-list", "app", "-F", "json")

        assert (0, 1) == (code, json.loads(out)["value"])

    @pytest.mark.parametrize(
        ("files", "recipe"),
        [
            (["default.rb", "default.yml", "default.json"], "recipes/default.rb"),
            (["default.yaml", "default.json"], "recipes/default.yaml"),
            (["default.json"], "recipes/default.json"),
        ],
    )
    def test_ruby_goes_before_yaml_and_yaml_before_json(self, tmp_path, files, recipe):
        repo = repository(tmp_path, {f"cookbooks/app/recipes/{name}": "" for name in files})

        assert {"default": recipe} == repo.cookbook("app").recipes

    def test_included_recipes_run_and_resources_that_set_attributes_are_unread(self, tmp_path):
        recipe = (
            "resources:\n- type: hostname\n  name: x\n- type: app_thing\n  name: y\ninclude_recipes:\n- app::more\n"
        )
        files = {
            "cookbooks/app/recipes/default.yml": recipe,
            "cookbooks/app/recipes/more.json": {"resources": []},
            "cookbooks/app/resources/thing.rb": "action :create do\n  node.default['t']['u'] = 1\nend\n",
        }
        run = ran(repository(tmp_path, files), "app")
        places = {
            path: [str(one.origin.at(())) for one in run.node.trace(path).unknown] for path in ("fqdn", "t.u", "other")
        }

        assert ["app::default", "app::more"] == run.recipes
        assert [] == places["other"]
        assert ["cookbooks/app/recipes/default.yml:2"] == [one.partition(" ")[0] for one in places["fqdn"]]
        assert ["cookbooks/app/resources/thing.rb:2"] == [one.partition(" ")[0] for one in places["t.u"]]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: 1\n", "a recipe needs the key resources"),
            ("resources: 1\n", "resources must be a list"),
            (
                "resources:\n- name: x\n",
                "default.yml:2:3: an entry of resources must be a map with a type, found a map$",
            ),
            ("resources: {x: 1}\n", "default.yml:1:1: resources must be a list, found a map$"),
        ],
    )
    def test_a_recipe_that_chef_refuses_is_refused_with_its_line(self, tmp_path, text, message):
        with pytest.raises(DocumentError, match=message):
            ran(repository(tmp_path, {"cookbooks/app/recipes/default.yml": text}), "app")

    def test_two_spellings_of_yaml_are_refused_as_in_chef(self, tmp_path):
        repo = repository(
            tmp_path, {f"cookbooks/app/recipes/default.{one}": "resources: []" for one in ("yml", "yaml")}
        )

        with pytest.raises(DocumentError, match="one file in two languages"):
            ran(repo, "app")


class TestVersionsOfACookbook:
    FILES: ClassVar = {
        f"cookbooks/app-{version}/{file}": text
        for version in ("1.0.0", "2.0.0")
        for file, text in {
            "metadata.rb": f"name 'app'\nversion '{version}'\n",
            "attributes/default.py": f"default['app']['a'] = '{version}'\n",
            "recipes/default.rb": "",
        }.items()
    }

    @pytest.mark.parametrize(
        ("asked", "version"),
        [("= 1.0.0", "1.0.0"), ("~> 2.0", "2.0.0"), (">= 0.0", "2.0.0"), ("< 2.0", "1.0.0")],
    )
    def test_the_version_is_used_that_the_environment_asks_for(self, tmp_path, asked, version):
        files = {**self.FILES, "environments/dev.rb": f"name 'dev'\ncookbook 'app', '{asked}'\n"}
        run = ran(repository(tmp_path, files), "app", environment="dev")

        assert version == run.node["app"]["a"]
        assert {"app": {"version": version}} == run.node["cookbooks"]

    def test_an_item_of_the_run_list_may_ask_for_one(self, tmp_path):
        assert "1.0.0" == ran(repository(tmp_path, self.FILES), "recipe[app@1.0.0]").node["app"]["a"]

    def test_a_version_that_is_not_there_is_a_conflict_with_both_lines(self, tmp_path):
        files = {**self.FILES, "environments/dev.rb": "name 'dev'\ncookbook 'app', '= 3.0.0'\n"}

        with pytest.raises(Exception, match=r"cookbook app is at 2\.0\.0 .* = 3\.0\.0 is required by environments/dev"):
            ran(repository(tmp_path, files), "app", environment="dev")


class TestVersionsAsAttributes:
    def test_the_node_knows_the_versions_of_its_cookbooks(self, tmp_path):
        files = {
            **APP,
            "cookbooks/app/attributes/default.py": "default['app']['v'] = node['cookbooks']['app']['version']\n",
            "cookbooks/unused/recipes/default.rb": "",
        }
        node = ran(repository(tmp_path, files), "app").node

        assert ("1.0.0", {"app": {"version": "1.0.0"}}) == (node["app"]["v"], node["cookbooks"])
        assert "cookbooks" in node.automatic.to_dict()

    def test_each_version_has_the_line_of_the_metadata_that_sets_it_also_after_a_save(self, tmp_path):
        base = {"metadata.json": '{\n "name": "base",\n "version": "2.0.0"\n}', "recipes/default.rb": ""}
        files = {**APP, **{f"cookbooks/base/{file}": text for file, text in base.items()}}
        node = ran(repository(tmp_path, files), "app", "base").node

        for one in (node, Node.restore(node.snapshot())):
            places = {name: [it.place for it in one.origins(f"cookbooks.{name}.version")] for name in ("app", "base")}
            assert {"app": ["cookbooks/app/metadata.rb:2"], "base": ["cookbooks/base/metadata.json:3"]} == places

    def test_metadata_with_a_value_that_is_no_literal_leave_the_cookbook_open_and_the_run_goes_on(self, tmp_path):
        """As chef-sugar has them: the version is a constant of a file that the metadata require."""
        metadata = "name 'app'\nrequire './version'\nversion App::VERSION\ndepends 'base'\n"
        files = {
            **APP,
            "cookbooks/app/metadata.rb": metadata,
            "cookbooks/app/attributes/default.py": "default['v'] = 1\n",
        }
        run = ran(repository(tmp_path, files), "app")

        assert 1 == run.node["v"]
        assert ["cookbooks/app/metadata.rb"] == [one.origin.file for one in run.node.trace("v").unknown]
        assert any("`App::VERSION` is no literal" in str(one) for one in run.warnings)

    @pytest.mark.parametrize("files", [{"metadata.rb": "name 'app'\n"}, {"metadata.json": '{"name": "app"}'}, {}])
    def test_a_version_that_no_line_sets_has_no_line(self, tmp_path, files):
        repo = repository(
            tmp_path,
            {f"cookbooks/app/{file}": text for file, text in files.items()} | {"cookbooks/app/recipes/default.py": ""},
        )
        (found,) = ran(repo, "app").node.origins("cookbooks.app.version")

        assert ("cookbooks/app" + "".join(f"/{file}" for file in files), None) == (found.file, found.line)

    def test_versions_are_merged_into_facts_of_that_name_as_in_chef(self, tmp_path):
        """The expected map was asked of `Chef::Node#set_cookbook_attribute`."""
        repo = repository(tmp_path, APP)
        known = {"cookbooks": {"old": {"version": "9", "path": "p"}, "app": {"version": "0", "x": 1}}}
        facts = Facts({**FACTS, **known}, Origin("facts"))
        node = run_node(repo, "n1", facts=facts, run_list=["app"]).node

        assert {"old": {"version": "9", "path": "p"}, "app": {"version": "1.0.0", "x": 1}} == node["cookbooks"]

    def test_without_cookbooks_the_attribute_is_not_set_as_in_chef(self, tmp_path):
        node = run_node(repository(tmp_path, APP), "n1", facts=Facts(FACTS, Origin("facts"))).node

        assert "cookbooks" not in node.automatic.to_dict()


LOCK = {
    "name": "web",
    "run_list": ["recipe[app::default]"],
    "named_run_lists": {},
    "cookbook_locks": {"app": {"version": "1.0.0", "source": "cookbooks/app"}},
    "default_attributes": {"app": {"port": 1}},
}
POLICYFILE = """\
name 'web'
default_source :chef_repo, ENV['HOME']
run_list 'app'
named_run_list :deploy, 'app::deploy', 'app'
cookbook 'app', path: 'cookbooks/app'
port = 8080
default['app']['port'] = port
default['app']['tree'] = { 'a' => [1], b: 2 }
override['app']['tls'] = true
"""


class TestPolicies:
    @pytest.mark.parametrize("file", ["policies/macos/web.lock.json", "policyfiles/a/b/x.lock.json"])
    def test_a_lock_in_a_folder_below_is_found_by_its_name(self, tmp_path, capsys, file):
        repo = repository(tmp_path / "r", {**APP, file: LOCK})

        assert (0, "web\n") == said(tmp_path, capsys, "list", "policies")[:2]
        assert 1 == ran(repo, asked=RepositoryOptions(policy="web")).node["app"]["port"]

    def test_the_literals_of_a_policyfile_without_a_lock_count(self, tmp_path):
        repo = repository(tmp_path, {**APP, "Policyfile.rb": POLICYFILE, "cookbooks/app/recipes/deploy.rb": ""})
        run = ran(repo, asked=RepositoryOptions(policy="web"))
        deploy = ran(repo, asked=RepositoryOptions(policy="web", named_run_list="deploy"))

        assert ["web"] == repo.policies()
        assert (["app::default"], ["app::deploy", "app::default"]) == (run.recipes, deploy.recipes)
        assert {"port": 8080, "tree": {"a": [1], "b": 2}, "tls": True} == run.node["app"].to_dict()
        assert ({"port", "tree"}, {"tls"}) == ({*run.node.role_default["app"]}, {*run.node.role_override["app"]})
        assert ["Policyfile.rb:7 (policy web)"] == [str(one) for one in run.node.origins("app.port")]
        assert () == tuple(run.node.trace("app.port").unknown)
        assert ["policy-without-lock"] == [one.kind for one in run.warnings if one.file == "Policyfile.rb"]

    def test_a_lock_counts_before_the_policyfile_beside_it(self, tmp_path):
        files = {**APP, "policyfiles/web.rb": POLICYFILE, "policyfiles/web.lock.json": LOCK}
        for name in ("web", "policyfiles/web.rb"):
            assert 1 == ran(repository(tmp_path, files), asked=RepositoryOptions(policy=name)).node["app"]["port"]

    @pytest.mark.parametrize(
        ("code", "line"),
        [
            ("run_list(*Dir['cookbooks/*'])", 10),
            ("default['app']['port'] = ENV['PORT']", 10),
            ("Dir['x'].each { |one| named_run_list one, 'app' }", 10),
            ("local_cookbooks %w(a)", 10),
            ("default['app'].merge!('a' => 1)", 10),
            ("include_policy 'base', git: 'https://git.example/base.git'", 10),
            ("include_policy 'base', path: '../outside'", 10),
        ],
    )
    def test_what_is_no_literal_in_a_policyfile_is_unread_with_its_line(self, tmp_path, code, line):
        repo = repository(tmp_path, {**APP, "Policyfile.rb": f"{POLICYFILE}{code}\n"})
        unread = ran(repo, asked=RepositoryOptions(policy="web")).node.trace("app.port").unknown

        assert {f"Policyfile.rb:{line}"} == {str(one.origin.at(())).partition(" ")[0] for one in unread}

    def test_an_included_policy_comes_first_and_its_attributes_join(self, tmp_path):
        own = POLICYFILE.replace("cookbooks/app", "../cookbooks/app")
        base = "name 'base'\nrun_list 'base'\ndefault['base']['a'] = 1\noverride['app']['more'] = 2\n"
        files = {
            **APP,
            "cookbooks/base/recipes/default.rb": "",
            "policyfiles/base.rb": base,
            "policyfiles/web.rb": f"{own}include_policy 'base', path: '.'\n",
        }
        run = ran(repository(tmp_path, files), asked=RepositoryOptions(policy="web"))

        assert ["base::default", "app::default"] == run.recipes
        assert (1, 8080, 2, True) == (
            run.node["base"]["a"],
            run.node["app"]["port"],
            run.node["app"]["more"],
            run.node["app"]["tls"],
        )
        assert ["policyfiles/base.rb:3 (policy base)"] == [str(one) for one in run.node.origins("base.a")]
        assert ["policyfiles/web.rb:7 (policy web)"] == [str(one) for one in run.node.origins("app.port")]

    def test_policyfiles_that_include_each_other_are_unread(self, tmp_path):
        files = {
            **APP,
            "policyfiles/a.rb": "name 'a'\nrun_list 'app'\ninclude_policy 'b', path: '.'\n",
            "policyfiles/b.rb": "name 'b'\nrun_list 'app'\ninclude_policy 'a', path: '.'\n",
        }
        assert ran(repository(tmp_path, files), asked=RepositoryOptions(policy="a")).node.trace("x").unknown

    @pytest.mark.parametrize("path", ["sub/../Policyfile.rb", "linked/Policyfile.rb"])
    def test_a_policyfile_that_includes_itself_by_another_path_is_unread(self, tmp_path, path):
        files = {**APP, "sub/x": "", "Policyfile.rb": f"name 'a'\nrun_list 'app'\ninclude_policy 'a', path: '{path}'\n"}
        repo = repository(tmp_path, files)
        (tmp_path / "linked").symlink_to(".")

        assert ["Policyfile.rb:3"] == [
            one.origin.at(()).place for one in ran(repo, asked=RepositoryOptions(policy="a")).node.trace("x").unknown
        ]

    def test_policyfiles_that_include_one_twice_are_read_once_and_their_items_count_once(self, tmp_path):
        def text(number: int) -> str:
            words = f"name 'p{number}'\nrun_list 'app'\n"
            return words + "".join(f"include_policy '{one}', path: 'p{number + 1}.rb'\n" for one in ("a", "b"))

        files = {**APP, **{f"policies/p{number}.rb": text(number) for number in range(20)}}
        files["policies/p20.rb"] = "name 'p20'\nrun_list 'app'\ndefault['k'] = 1\n"
        run = ran(repository(tmp_path, files), asked=RepositoryOptions(policy="p0"))

        assert (["recipe[app::default]"], 1) == (run.node.run_list, run.node["k"])

    def test_a_long_chain_of_policyfiles_is_unread_from_some_depth_on(self, tmp_path):
        words = "run_list 'app'\ninclude_policy 'i', path:"
        files = {f"policies/p{one}.rb": f"name 'p{one}'\n{words} 'p{one + 1}.rb'\n" for one in range(300)}
        assert ran(repository(tmp_path, {**APP, **files}), asked=RepositoryOptions(policy="p0")).node.trace("x").unknown

    @pytest.mark.parametrize("place", ["../outside/app", "nosuch"])
    def test_a_cookbook_whose_named_folder_is_not_in_the_repository_is_not_there(self, tmp_path, place):
        """Another one of its name is not what the Policyfile means."""
        repository(tmp_path / "outside/app", {"metadata.rb": "name 'app'\n"})
        text = f"name 'web'\nrun_list 'app'\ncookbook 'app', path: '{place}'\n"
        run = ran(repository(tmp_path / "r", {**APP, "Policyfile.rb": text}), asked=RepositoryOptions(policy="web"))

        assert {"app", "app::default"} == {one.origin.name for one in run.node.trace("k").unknown}

    def test_the_folder_that_a_policyfile_names_goes_before_another_one(self, tmp_path):
        files = {
            "cookbooks/app/metadata.rb": "name 'app'\nversion '1.0.0'\n",
            "cookbooks/app/recipes/default.rb": "",
            "mine/app/metadata.rb": "name 'app'\nversion '2.0.0'\n",
            "mine/app/recipes/default.rb": "",
            "Policyfile.rb": "name 'web'\nrun_list 'app'\ncookbook 'app', '>= 1.0', path: 'mine/app'\n",
        }
        assert (
            "2.0.0"
            == ran(repository(tmp_path, files), asked=RepositoryOptions(policy="web")).node["cookbooks"]["app"][
                "version"
            ]
        )

    def test_two_policies_of_one_name_are_an_error_that_names_both(self, tmp_path):
        """A Policyfile and its lock are one; the path of a file chooses."""
        text = "name 'web'\nrun_list 'app'\ndefault['k'] = "
        files = {**APP, "policies/a/web.rb": f"{text}1\n", "policies/b/web.rb": f"{text}2\n"}
        repo = repository(tmp_path, files)

        with pytest.raises(
            DocumentError, match=r"web is described twice, by policies/a/web\.rb and policies/b/web\.rb"
        ):
            ran(repo, asked=RepositoryOptions(policy="web"))
        assert 2 == ran(repo, asked=RepositoryOptions(policy="policies/b/web.rb")).node["k"]

    def test_what_is_no_literal_in_a_policyfile_names_the_option_that_runs_it(self, tmp_path):
        files = {**APP, "policies/web.rb": "name 'web'\nrun_list 'app'\ndefault['k'] = ENV['K']\n"}
        run = ran(repository(tmp_path, files), asked=RepositoryOptions(policy="web"))

        assert "--ruby runs it; or write the value out" in [getattr(one, "hint", None) for one in run.warnings]

    def test_a_version_that_a_policyfile_asks_for_is_checked(self, tmp_path):
        text = POLICYFILE.replace("'app', path", "'app', '~> 2.0', path")
        with pytest.raises(Exception, match=r"~> 2\.0 is required by Policyfile\.rb:5"):
            ran(repository(tmp_path, {**APP, "Policyfile.rb": text}), asked=RepositoryOptions(policy="web"))


KITCHEN = """\
driver:
  name: vagrant
provisioner:
  name: chef_infra
  product_version: <%= ENV['CHEF_VERSION'] || 'latest' %>
  attributes:
    app: { port: 1, common: true, list: [1] }
platforms:
  - name: ubuntu-22.04
    run_list: recipe[base]
    attributes:
      app: { port: 2, platform: true }
  - name: debian-12
    run_list: [ "recipe[base]" ]
suites:
  - name: default
    run_list:
      - recipe[app]
    attributes:
      app:
        port: 9
        list: [2]
  - name: my_suite
    includes: [debian-12]
    provisioner:
      attributes:
        app: { own: 1 }
  - name: other
    excludes: [debian-12]
    provisioner:
      name: shell
"""
BASE = {**APP, "cookbooks/base/recipes/default.rb": ""}


def suite_of(tmp_path, text: str, name: str = "default-debian-12", **files: object) -> Run:
    return run_node(
        repository(tmp_path, {**BASE, "kitchen.yml": text, **files}), name, facts=Facts(FACTS, Origin("facts"))
    )


class TestKitchen:
    def test_each_suite_on_each_platform_of_chef_is_a_node(self, tmp_path, capsys):
        repository(tmp_path / "r", {**BASE, ".kitchen.yml": KITCHEN, "nodes/web.json": {"name": "web"}})
        names = ["default-debian-12", "default-ubuntu-2204", "my-suite-debian-12", "web"]

        assert (0, names) == (lambda code, out, _: (code, out.split()))(*said(tmp_path, capsys, "list", "nodes"))
        assert ["web"] == Repository(tmp_path / "r").nodes()

    def test_explain_names_the_line_of_kitchen_yml(self, tmp_path, capsys):
        repository(tmp_path / "r", {**BASE, "kitchen.yml": KITCHEN})

        code, out, _ = said(tmp_path, capsys, "explain", "default-ubuntu-2204", "app.port")
        assert (0, True) == (code, "kitchen.yml:21 (kitchen default-ubuntu-2204)" in out)
        _, out, _ = said(tmp_path, capsys, "explain", "default-ubuntu-2204", "app.platform")
        assert "kitchen.yml:12 (kitchen default-ubuntu-2204)" in out

    def test_explain_runs_a_suite_of_the_current_folder(self, tmp_path, capsys, monkeypatch):
        repository(tmp_path, {**BASE, "kitchen.yml": KITCHEN})
        monkeypatch.chdir(tmp_path)

        assert 0 == main(["explain", "default-debian-12", "app.port", "--store", str(tmp_path / "s.db")])
        assert "kitchen.yml:21 (kitchen default-debian-12)" in capsys.readouterr().out

    def test_suites_with_the_same_folders_share_what_was_read(self, tmp_path):
        """A suite with a folder of its own does not."""
        text = KITCHEN.replace("  product_version", "  roles_path: other\n  product_version")
        text = text.replace("      attributes:\n        app: { own: 1 }", "      roles_path: mine")
        repo = repository(tmp_path, {**BASE, "kitchen.yml": text})
        one, other, mine = map(repo.for_node, ("default-debian-12", "default-ubuntu-2204", "my-suite-debian-12"))

        assert one is other
        assert mine not in (one, repo)

    def test_explain_of_a_suite_without_repo_runs_no_code_and_names_repo(self, tmp_path, capsys, monkeypatch):
        """With --ruby, and where the cookbooks are in Python, which stops the run."""
        repository(tmp_path, {**BASE, "kitchen.yml": KITCHEN})
        monkeypatch.chdir(tmp_path)
        asked = ["explain", "default-debian-12", "app.port", "--store", str(tmp_path / "s.db")]

        assert 2 == main([*asked, "--ruby"])
        assert "--ruby is about a run, so it needs --repo" in capsys.readouterr().err
        repository(tmp_path, {"cookbooks/base/attributes/more.py": "default['app']['more'] = 1\n"})
        assert 1 == main(asked)
        told = capsys.readouterr().err
        assert "--repo . runs it" in told
        assert "--run-code" not in told

    def test_suites_stand_beside_nodes_or_roles_as_subjects(self, tmp_path, capsys):
        repository(tmp_path / "r", {**BASE, "kitchen.yml": KITCHEN, "roles/r.rb": ROLE})
        _, out, _ = said(tmp_path, capsys, "list", "subjects")

        assert ["nodes default-debian-12", "nodes default-ubuntu-2204", "nodes my-suite-debian-12"] == sorted(
            one for one in out.splitlines() if "-" in one
        )
        assert "nodes role[r]" in out.splitlines()

    @pytest.mark.parametrize(
        ("settings", "files", "policy"),
        [
            ("{policyfile: policies/web.rb}", {}, "policies/web.rb"),
            ("{policyfile_path: ./web.rb}", {}, "web.rb"),
            ("{policyfile_path: web.rb, policyfile: other.rb}", {}, "web.rb"),
            ("{}", {"Policyfile.rb": "name 'a'\n"}, "Policyfile.rb"),
            ("{}", {}, ""),
        ],
    )
    def test_the_policyfile_of_a_suite_is_the_one_that_is_named_or_that_of_the_repository(
        self, tmp_path, settings, files, policy
    ):
        text = f"platforms: [{{name: debian-12}}]\nsuites: [{{name: default, provisioner: {settings}}}]\n"
        found = repository(tmp_path, {"kitchen.yml": text, **files}).kitchen.node("default-debian-12")
        assert (found.policy_name, found.policy_group) == (policy, "local" if policy else "")

    def test_attributes_are_merged_and_lists_replaced_as_in_test_kitchen(self, tmp_path):
        run = suite_of(tmp_path, KITCHEN)

        assert {"port": 9, "common": True, "list": [2]} == run.node["app"].to_dict()
        assert ["base::default", "app::default"] == run.recipes
        assert ["app", "base"] == [*run.node["cookbooks"]]
        assert {"port", "list", "common"} == {*run.node.normal["app"]}

    def test_a_platform_without_known_facts_is_unread_and_a_known_one_is_not(self, tmp_path, capsys):
        repository(tmp_path / "r", {**BASE, "kitchen.yml": KITCHEN.replace("debian-12", "rockylinux-9")})
        words = ("explain", "default-rockylinux-9", "platform", "--repo", str(tmp_path / "r"), "-F", "json")
        assert 5 == main([*words, "--store", str(tmp_path / "s.db")])
        answer = json.loads(capsys.readouterr().out)

        assert ("rocky", False) == (answer["value"], answer["certain"])
        repository(tmp_path / "r", {"kitchen.yml": KITCHEN})
        words = ("explain", "default-debian-12", "app.port", "--repo", str(tmp_path / "r"))
        assert 0 == main([*words, "--store", str(tmp_path / "s.db")])

    def test_a_kitchen_file_is_parsed_once_for_each_content(self, tmp_path):
        texts = {"a": KITCHEN, "b": KITCHEN, "c": KITCHEN.replace("debian-12", "debian-11")}
        one, same, other = (
            repository(tmp_path / name, {"kitchen.yml": text}).kitchen.instances for name, text in texts.items()
        )

        assert one is same
        assert "default-debian-11" in other

    def test_erb_is_read_as_far_as_it_is_a_literal(self, tmp_path):
        text = KITCHEN.replace("port: 9", "port: <%= '9' %>\n        host: <%= ENV['HOST'] %>")
        run = suite_of(tmp_path, text)
        unread = {path: [one.origin.at(()).line for one in run.node.trace(path).unknown] for path in ("app.host", "k")}

        assert (9, None) == (run.node["app"]["port"], run.node.read("app", "host"))
        assert {"app.host": [22], "k": []} == unread

    def test_code_in_erb_makes_each_suite_unread_with_its_line(self, tmp_path):
        run = suite_of(tmp_path, f"<%# a remark %>\n<% if ENV['X'] %>\n{KITCHEN}<% end %>\n")

        assert {2} == {one.origin.at(()).line for one in run.node.trace("app.port").unknown}

    def test_an_item_of_a_run_list_from_erb_is_unread(self, tmp_path):
        run = suite_of(tmp_path, KITCHEN.replace("recipe[app]", "recipe[<%= ENV['X'] %>]"))

        assert run.node.trace("k").unknown

    @pytest.mark.parametrize("setting", ["named_run_list", "policyfile_path", "roles_path"])
    def test_a_setting_from_erb_that_decides_what_runs_makes_the_suite_unread(self, tmp_path, setting):
        text = KITCHEN.replace("  name: chef_infra", f"  name: <%= ENV['P'] %>\n  {setting}: <%= ENV['X'] %>")

        assert suite_of(tmp_path, text).node.trace("k").unknown

    def test_a_suite_whose_name_is_erb_is_a_warning_and_no_node(self, tmp_path):
        repo = repository(tmp_path, {"kitchen.yml": KITCHEN.replace("my_suite", "<%= ENV['S'] %>")})

        assert ["default-ubuntu-2204", "default-debian-12"] == repo.suites()
        assert [("kitchen.yml", 23)] == [(one.file, one.line) for one in repo.warnings if one.kind == "kitchen-name"]

    def test_an_item_that_is_no_run_list_item_names_its_line(self, tmp_path):
        with pytest.raises(InvalidRunListItem, match=r"it is named by kitchen\.yml:17"):
            suite_of(tmp_path, KITCHEN.replace("- recipe[app]", "- -recipe[app]"))

    @pytest.mark.parametrize(
        ("setting", "message"),
        [
            ("attributes: [1]", r"kitchen\.yml:2: attributes must be a map, found a list"),
            ("attributes: text", r"kitchen\.yml:2: attributes must be a map, found 'text'"),
            ("run_list: {a: b}", r"kitchen\.yml:2: an item of a run-list must be a text, found a map"),
            ("run_list: [[5]]", r"kitchen\.yml:2: an item of a run-list must be a text, found 5"),
        ],
    )
    def test_a_setting_of_another_shape_names_its_line(self, tmp_path, setting, message):
        with pytest.raises(DocumentError, match=message):
            suite_of(tmp_path, f"suites: [{{name: s,\n  {setting}}}]\n", "s")

    @pytest.mark.parametrize("place", ["../outside", "/nosuch", "a/../../outside", "linked"])
    def test_a_folder_outside_of_the_repository_is_unread_and_another_one_is_not_certain(self, tmp_path, place):
        text = KITCHEN.replace("- recipe[app]", "- role[r]").replace(
            "  - name: default\n", f"  - name: default\n    roles_path: {place}\n"
        )
        (tmp_path / "outside").mkdir()
        root = tmp_path / "repository"
        root.mkdir()
        (root / "linked").symlink_to(tmp_path / "outside")
        run = suite_of(root, text, **{"roles/r.rb": f"{ROLE}default_attributes 'role' => 1\n"})

        assert ["kitchen.yml:17"] == [one.origin.at(()).place for one in run.node.trace("role").unknown]

    def test_attributes_that_erb_makes_are_unread_as_a_whole(self, tmp_path):
        run = suite_of(tmp_path, "suites:\n  - name: s\n    attributes: <%= ENV['A'] %>\n", "s")

        assert [3] == [one.origin.at(()).line for one in run.node.trace("k").unknown]

    def test_lines_of_erb_are_counted_once_each(self, tmp_path):
        text = f"<%\n\n%>a: 1 # {'<%# %>' * 3}\n# <% x\n%><%\n y %>\n{KITCHEN}"
        run = suite_of(tmp_path, text)

        assert {4, 5} == {one.origin.at(()).line for one in run.node.trace("app.port").unknown}

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            (KITCHEN, "3 suites, 0 errors"),
            (KITCHEN.replace("app: { own: 1 }", "- 1"), "kitchen.yml:26:"),
            ("suites: [\n", "kitchen.yml:2:1: error"),
        ],
    )
    def test_check_reads_each_suite(self, tmp_path, capsys, text, found):
        repository(tmp_path, {**BASE, "kitchen.yml": text})
        code, out = main(["check", str(tmp_path)]), capsys.readouterr().out

        assert ("suites" not in found, True) == (code == 1, found in out), out
        assert out.count("kitchen.yml") <= 1

    def test_a_suite_without_a_name_is_no_node(self, tmp_path):
        assert ["ok"] == repository(tmp_path, {"kitchen.yml": "suites: [{name: ..}, {name: ok}]\n"}).suites()

    def test_a_node_that_only_a_broken_kitchen_may_describe_is_unread(self, tmp_path):
        repo = repository(tmp_path, {**APP, "kitchen.yml": "suites: [\n"})

        assert ran(repo).node.trace("x").unknown
        assert not ran(repo, "app").node.trace("x").unknown

    def test_a_null_of_a_suite_has_its_line(self, tmp_path):
        node = suite_of(tmp_path, KITCHEN.replace("port: 9", "port:")).node

        assert (None, ["kitchen.yml:21 (kitchen default-debian-12)"]) == (
            node["app"]["port"],
            [str(one) for one in node.origins("app.port")],
        )

    def test_a_local_file_counts_before_the_other_one(self, tmp_path):
        local = "provisioner:\n  attributes:\n    app: { common: false, local: 1 }\n"
        node = suite_of(tmp_path, KITCHEN, **{"kitchen.local.yml": local}).node

        assert (False, 1, 9) == (node["app"]["common"], node["app"]["local"], node["app"]["port"])
        assert ["kitchen.local.yml:3 (kitchen default-debian-12)"] == [str(one) for one in node.origins("app.local")]

    def test_a_suite_alone_is_a_node_where_there_are_no_platforms(self, tmp_path):
        text = "suites:\n  - name: default\n    run_list: [recipe[app]]\n    attributes:\n      app:\n        port: 9\n"
        run = suite_of(tmp_path, text, "default")

        assert (["app::default"], 9) == (run.recipes, run.node["app"]["port"])

    def test_roles_of_a_suite_lie_where_test_kitchen_looks_for_them(self, tmp_path):
        text = KITCHEN.replace("- recipe[app]", "- role[r]")
        role = f"{ROLE}default_attributes 'role' => 'of the suite'\n"
        files = {
            "roles/r.rb": role.replace("of the suite", "of all"),
            "test/integration/default/roles/r.rb": role,
            "elsewhere/r.rb": role.replace("of the suite", "named"),
        }
        assert "of the suite" == suite_of(tmp_path / "a", text, **files).node["role"]
        named = text.replace("  - name: default\n", "  - name: default\n    roles_path: elsewhere\n")
        assert "named" == suite_of(tmp_path / "b", named, **files).node["role"]

    def test_a_policyfile_gives_the_run_list_and_the_suite_its_attributes(self, tmp_path):
        files = {"Policyfile.rb": POLICYFILE, "cookbooks/app/recipes/deploy.rb": ""}
        run = suite_of(tmp_path / "a", KITCHEN, **files)
        text = KITCHEN.replace("    run_list:\n      - recipe[app]", "    named_run_list: deploy")
        named = suite_of(tmp_path / "b", text, **files)

        assert (["app::default"], 9, "local") == (run.recipes, run.node["app"]["port"], run.node.environment)
        assert ["app::deploy", "app::default"] == named.recipes

    def test_a_kitchen_that_cannot_be_read_does_not_end_the_run_of_another_node(self, tmp_path):
        repo = repository(tmp_path, {**APP, "kitchen.yml": "a: [\n"})
        run = ran(repo, "app")

        assert ["app::default"] == run.recipes
        assert "kitchen.yml" in {one.file for one in run.warnings if isinstance(one, DocumentError)}
        with pytest.raises(DocumentError):
            repo.suites()


CODE_ROLE = """\
name 'r'
run_list 'recipe[app]'
ports = (1..3).map { |i| 8000 + i }
default_attributes 'app' => { 'ports' => ports, 'host' => ENV['NOSUCH'] || 'h' }
override_attributes(
  app: { tls: [:on, true].first }
)
env_run_lists '_default' => [], 'prod' => %w(recipe[app] recipe[base])
"""


class TestCodeInRuby:
    RUBY = RepositoryOptions(ruby=True)

    def test_a_role_is_run_with_ruby_and_its_lines_are_those_of_the_words(self, tmp_path):
        repo = repository(tmp_path, {**BASE, "roles/r.rb": CODE_ROLE.replace("env_run", "# env_run")})
        run = ran(repo, "role[r]", asked=self.RUBY)

        assert {"ports": [8001, 8002, 8003], "host": "h", "tls": "on"} == run.node["app"].to_dict()
        places = [str(run.node.origins(path)[0]) for path in ("app.ports.1", "app.tls")]
        assert ["roles/r.rb:4 (role r)", "roles/r.rb:5 (role r)"] == places

    def test_without_ruby_it_is_refused_with_the_line_and_the_way_out(self, tmp_path):
        with pytest.raises(DocumentError, match=r"roles/r\.rb:3:\d+: .* is no literal\n  --ruby runs it"):
            ran(repository(tmp_path, {**BASE, "roles/r.rb": CODE_ROLE}), "role[r]")

    def test_run_lists_by_environment_and_an_environment_are_run(self, tmp_path):
        files = {
            **BASE,
            "roles/r.rb": CODE_ROLE,
            "environments/prod.rb": "cookbook 'app', ['= 1', '0.0'].join('.')\ndefault_attributes 'e' => 1 + 1\n",
        }
        run = ran(repository(tmp_path, files), "role[r]", asked=self.RUBY, environment="prod")

        assert (["app::default", "base::default"], 2) == (run.recipes, run.node["e"])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("name 'r'\nrun_list Nothing.new\n", r"roles/r\.rb:2: role failed: NameError"),
            ("name 'r'\ndefault_attributes 'a' => Object.new\n", "a Object is no value of JSON"),
            ("name 'r'\nnosuchword 1 + 1\n", "NoMethodError"),
            ("name 'r'\ndefault_attributes 'a' => (begin `hostname`; rescue Exception; 'x' end)\n", "is not done here"),
        ],
    )
    def test_a_role_that_fails_names_its_line(self, tmp_path, text, message):
        with pytest.raises(Exception, match=message):
            ran(repository(tmp_path, {**BASE, "roles/r.rb": text}), "role[r]", asked=self.RUBY)

    def test_the_error_of_a_role_does_not_have_its_attributes(self, tmp_path):
        text = "name 'r'\ndefault_attributes 'pw' => 's3cret'\nrun_list nosuch\ndefault_attributes['pw'].nosuch\n"
        with pytest.raises(Exception, match="nosuch") as raised:
            ran(repository(tmp_path, {**BASE, "roles/r.rb": text}), "role[r]", asked=self.RUBY)

        assert "s3cret" not in str(raised.value)

    def test_code_of_a_policyfile_is_run(self, tmp_path):
        code = (
            "Dir.children('cookbooks/app/recipes').each { |r| n = r[0..-4]; named_run_list n.to_sym, \"app::#{n}\" }\n"
        )
        files = {**APP, "Policyfile.rb": f"{POLICYFILE}{code}override['app']['sum'] = 1 + 1\n"}
        repo = repository(tmp_path, {**files, "cookbooks/app/recipes/deploy.rb": ""})
        run = ran(repo, asked=RepositoryOptions(ruby=True, policy="web", named_run_list="deploy"))

        assert (["app::deploy"], 8080, 2) == (run.recipes, run.node["app"]["port"], run.node["app"]["sum"])
        assert ["Policyfile.rb:11 (policy web)"] == [str(one) for one in run.node.origins("app.sum")]
        assert () == tuple(run.node.trace("app.port").unknown)

    def test_commands_that_run_no_code_run_no_role(self, tmp_path, capsys):
        repository(tmp_path / "r", {**BASE, "roles/r.rb": f"{CODE_ROLE}File.write('ran', '')\n"})
        main(["check", str(tmp_path / "r")])

        assert not (tmp_path / "r" / "ran").exists()


class TestWhereCookbooksLie:
    @pytest.mark.parametrize("folder", ["vendor", "vendor_cookbooks", "vendor/cookbooks", "berks-cookbooks"])
    def test_cookbooks_of_the_usual_folders_are_found(self, tmp_path, folder):
        files = {f"{folder}/ntp/{name.removeprefix('cookbooks/app/')}": text for name, text in APP.items()}
        repo = repository(tmp_path, {**APP, **files, "vendor/bundle/ruby/README": ""})

        assert f"{folder}/ntp" == repo.cookbook("ntp").folder
        assert ["app", "ntp"] == repo.cookbooks()

    def test_cookbooks_that_test_a_cookbook_lie_below_its_tests(self, tmp_path):
        own = {name.removeprefix("cookbooks/app/"): text for name, text in APP.items()}
        files = {"test/cookbooks/test/metadata.rb": "name 'test'\n", "test/cookbooks/test/recipes/default.rb": ""}

        assert ["app", "test"] == repository(tmp_path / "a", {**own, **files}).cookbooks()
        assert [] == repository(tmp_path / "b", files).cookbooks()

    @pytest.mark.parametrize("file", ["Berksfile", "Cheffile", "Policyfile.rb"])
    def test_a_folder_that_a_file_names_at_the_root_is_looked_at(self, tmp_path, file):
        text = "group :test do\n  cookbook 'ntp', '~> 1.0', path: './mine/x'\n  cookbook 'no', path: '../no'\nend\n"
        files = {"mine/x/metadata.rb": "name 'ntp'\nversion '1.0.0'\n", "mine/x/recipes/default.rb": ""}
        repository(tmp_path, {"no/metadata.rb": "name 'no'\n", "no/recipes/default.rb": ""})
        repo = repository(tmp_path / "r", {**APP, **files, file: text})

        assert ("mine/x", "1.0.0") == (repo.cookbook("ntp").folder, repo.cookbook("ntp").version)
        with pytest.raises(CookbookNotFound):
            repo.cookbook("no")

    def test_a_cache_outside_of_the_repository_is_read_only_where_the_caller_names_it(self, tmp_path, capsys):
        files = {"shelf/ntp-3.5.0/metadata.rb": "name 'ntp'\nversion '3.5.0'\n"}
        files |= {
            "shelf/ntp-3.5.0/attributes/default.py": "default['ntp'] = 1\n",
            "shelf/ntp-3.5.0/recipes/default.rb": "",
        }
        repository(tmp_path, files)
        repository(tmp_path / "r", APP)
        words = ("explain", "n1", "ntp", "--run-list", "ntp")

        assert 5 == said(tmp_path, capsys, *words)[0]
        code, out, _ = said(tmp_path, capsys, *words, "--cookbook-path", str(tmp_path / "shelf"))
        assert (0, True) == (code, "ntp-3.5.0/attributes/default.py:1" in out)

    def test_each_folder_of_cookbooks_that_the_caller_names_counts(self, tmp_path, capsys):
        files = {f"{one}/metadata.rb": f"name '{one[-1]}'\n" for one in ("first/a", "second/b")}
        repository(tmp_path, files | {f"{one}/recipes/default.rb": "" for one in ("first/a", "second/b")})
        node = {"nodes/n1.json": '{"name": "n1", "normal": {"k": 1}, "run_list": ["recipe[a]", "recipe[b]"]}'}
        repository(tmp_path / "r", node)
        folders = [word for one in ("first", "second") for word in ("--cookbook-path", str(tmp_path / one))]

        assert 0 == main(["why", "k", "--on", "n1", "--repo", str(tmp_path / "r"), *folders]), capsys.readouterr()
