"""Repositories made for Chef: what is read of them, and what is named because nobody ran it."""

from __future__ import annotations

import sys

import pytest

from nodeattrs.cache import CACHE
from nodeattrs.cli import main
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.cookbook_paths import Lock
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook, cookbook_order
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.ruby_files import lines_that_set
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import BadName, CookbookNotFound, DocumentError, RecipeNotFound
from tests.on_disk import repository

FACTS = {"platform": "ubuntu", "fqdn": "web1.example.com"}

WEB_RB = """\
name 'web'
run_list 'recipe[app]'
default_attributes 'app' => { 'port' => 80,
                              'names' => %w(a b) }
override_attributes 'app' => { 'workers' => 4 }
"""


def ran(repo: Repository, *run_list: str) -> Run:
    """A run of the repository."""
    from nodeattrs.core.claim import Origin

    return run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=list(run_list))


def kinds(run: Run) -> list[str]:
    """The files that warnings name, each with its kind."""
    return [f"{getattr(one, 'file', None)} {one.kind}" for one in run.warnings]


@pytest.fixture
def without_ruby(monkeypatch):
    """As if the extra were not installed, and nothing had been parsed before."""
    CACHE.clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_ruby", None)


class TestRolesInRuby:
    def test_a_role_is_read_with_its_lines(self, tmp_path):
        """As its JSON would be."""
        run = ran(repository(tmp_path, {"roles/web.rb": WEB_RB, "cookbooks/app/recipes/default.py": ""}), "role[web]")

        assert (80, ["a", "b"], 4) == tuple(run.node["app"][key] for key in ("port", "names", "workers"))
        assert ["roles/web.rb:3 (role web)"] == [str(one) for one in run.node.origins("app.port")]
        assert ["roles/web.rb:4 (role web)"] == [str(one) for one in run.node.origins("app.names.1")]
        assert [] == run.warnings

    def test_an_environment_is_read_too(self, tmp_path):
        """With its constraints."""
        text = "name 'prod'\ncookbook 'app', '= 1.0'\noverride_attributes 'a' => 1\n"
        prod = repository(tmp_path, {"environments/prod.rb": text}).environment("prod")

        assert ({"app": "= 1.0"}, {"a": 1}) == (prod.cookbook_versions, prod.override_attributes)

    def test_json_counts_beside_ruby(self, tmp_path):
        """As in Chef, and it is said."""
        repo = repository(tmp_path, {"roles/web.rb": WEB_RB, "roles/web.json": {"description": "json"}})

        assert "json" == repo.role("web").description
        assert [("roles/web.rb", "json-counts")] == [(one.file, one.kind) for one in repo.warnings]

    def test_two_other_forms_contradict(self, tmp_path):
        """It cannot be known which counts."""
        repo = repository(tmp_path, {"roles/web.rb": WEB_RB, "roles/web.py": ""})
        with pytest.raises(DocumentError, match="described twice"):
            repo.role("web")

    def test_a_text_is_a_run_list_of_one_item_as_in_chef(self, tmp_path):
        role = repository(tmp_path, {"roles/web.json": {"name": "web", "recipes": "app"}}).role("web")

        assert ["app"] == [*role.run_list]

    def test_a_run_list_of_old_chef_is_called_recipes(self, tmp_path):
        """In JSON; each item has its line."""
        role = repository(tmp_path, {"roles/web.json": {"name": "web", "recipes": ["app"]}}).role("web")

        assert (("recipes",), ["app"]) == role.run_list_for("prod")

    def test_what_is_wrong_with_its_fields_has_a_line(self, tmp_path):
        """By the same rules as for any document."""
        repo = repository(tmp_path, {"roles/web.rb": "name 'web'\nrun_list 'role[a', 'b'\n"})
        with pytest.raises(DocumentError, match=r"roles/web\.rb:2:10"):
            repo.role("web")

    def test_without_the_extra_a_role_is_an_unknown_layer(self, tmp_path, without_ruby):
        """It is named where it might decide, and the warning says what to install."""
        files = {"roles/web.rb": WEB_RB, "cookbooks/app/recipes/default.py": "node.default['k'] = 1"}
        run = ran(repository(tmp_path, files), "role[web]", "recipe[app]")

        assert ["roles/web.rb ruby"] == kinds(run)
        assert "nodeattrs[chef]" in str(run.warnings[0])
        assert ["roles/web.rb (role web)"] == [str(one.origin) for one in run.node.trace("k").unknown]
        assert "roles/web.rb" in run.node.explain("k")


class TestMetadata:
    @pytest.mark.parametrize(
        ("said", "understood", "warned"),
        [
            ({"runit": []}, {"runit": ""}, []),
            ({"runit": [">= 1.0"]}, {"runit": ">= 1.0"}, []),
            ({"runit": [">= 1.0", "< 2.0"]}, {"runit": ""}, ["no-constraint"]),
            ({"hadoop": ["java"]}, {"hadoop": ""}, ["no-constraint"]),
        ],
    )
    def test_old_forms_of_json(self, tmp_path, said, understood, warned):
        """Chef reads them all."""
        repo = repository(tmp_path, {"cookbooks/a/metadata.json": {"name": "a", "dependencies": said}})

        assert understood == repo.cookbook("a").depends
        assert warned == [one.kind for one in repo.warnings]

    def test_ruby_says_name_version_and_dependencies(self, tmp_path):
        """Each dependency with its line."""
        text = "name 'a'\nversion '1.2.3'\ndepends 'b', '~> 1.0'\n"
        cookbook = repository(tmp_path, {"cookbooks/a/metadata.rb": text}).cookbook("a")

        assert ("1.2.3", {"b": "~> 1.0"}) == (cookbook.version, cookbook.depends)
        assert "cookbooks/a/metadata.rb:3" == cookbook.origin_of_dependency("b").place

    def test_json_counts_beside_ruby_without_a_word(self, tmp_path):
        """It was made of it."""
        files = {"cookbooks/a/metadata.rb": "version '1.0.0'", "cookbooks/a/metadata.json": {"version": "2.0.0"}}
        repo = repository(tmp_path, files)

        assert ("2.0.0", []) == (repo.cookbook("a").version, repo.warnings)

    def test_without_the_extra_nothing_is_known_of_what_it_needs(self, tmp_path, without_ruby):
        """Its version meets every constraint, and what it depends on might set anything."""
        files = {
            "cookbooks/a/metadata.rb": "version '1.0.0'\ndepends 'b'",
            "cookbooks/a/attributes/default.py": "default['k'] = 1",
            "cookbooks/a/recipes/default.py": "",
            "environments/prod.json": {"cookbook_versions": {"a": "= 1.0.0"}},
        }
        run = ran(repository(tmp_path, files), "recipe[a]")

        assert ["cookbooks/a/metadata.rb ruby"] == kinds(run)
        assert 1 == run.node["k"]
        assert {"cookbooks/a/metadata.rb"} == {one.origin.file for one in run.node.trace("k").unknown}


RUBY_COOKBOOK = {
    "cookbooks/app/metadata.rb": "name 'app'",
    "cookbooks/app/attributes/default.rb": "default['app']['port'] = 80\n",
    "cookbooks/app/attributes/late.py": "default['app']['late'] = 1",
    "cookbooks/app/recipes/default.rb": "include_recipe 'app::more'\npackage 'app'\n",
    "cookbooks/app/recipes/more.rb": "node.override['app']['x'] = 1\n",
    "cookbooks/app/recipes/plain.py": "node.default['plain'] = 1",
}


class TestWhatIsNotRun:
    def test_each_file_is_a_warning(self, tmp_path):
        """The recipe that a recipe includes, too."""
        run = ran(repository(tmp_path, RUBY_COOKBOOK), "recipe[app]", "recipe[app::plain]")

        files = ("attributes/default", "recipes/default", "recipes/more")
        assert [f"cookbooks/app/{file}.rb ruby" for file in files] == kinds(run)
        assert (["app/attributes/late.py"], 1) == (run.attribute_files, run.node["plain"])

    def test_explain_names_it_where_it_might_decide(self, tmp_path):
        """By its line, at the paths and levels that it writes out, and at no others."""
        node = ran(repository(tmp_path, RUBY_COOKBOOK), "recipe[app]").node
        places = {path: [str(one.origin) for one in node.trace(path).unknown] for path in ("app", "app.port", "app.x")}
        more = "cookbooks/app/recipes/more.rb:1 (recipe app::more)"
        port = "cookbooks/app/attributes/default.rb:1 (attribute file app::default)"

        assert {"app": [more, port], "app.port": [port], "app.x": [more]} == places
        assert () == node.trace("app.late").unknown

    def test_the_command_line_says_so(self, tmp_path, capsys):
        """Exit code 5, and the file."""
        repository(tmp_path / "r", {**RUBY_COOKBOOK, "facts.json": FACTS})
        words = ["--repo", str(tmp_path / "r"), "--run-list", "app", "--facts", str(tmp_path / "r/facts.json")]

        assert 5 == main(["explain", "web1", "app.port", *words, "--store", str(tmp_path / "s.db")])
        out, err = capsys.readouterr()
        assert 0 == main(["explain", "web1", "app.late", *words, "--store", str(tmp_path / "s.db")])
        assert "cookbooks/app/attributes/default.rb:1" in out
        assert "cookbooks/app/attributes/default.rb: is Ruby, which was not run" in err

    def test_many_warnings_that_differ_in_their_file_alone_are_one(self, tmp_path, capsys):
        """With the first three files and the number of the others."""
        files = {f"cookbooks/app/attributes/x{number}.rb": "" for number in range(5)}
        repository(tmp_path / "r", {**RUBY_COOKBOOK, **files, "facts.json": FACTS})
        main(["explain", "web1", "app.late", "--repo", str(tmp_path / "r"), "--run-list", "app", "--facts",
              str(tmp_path / "r/facts.json"), "--store", str(tmp_path / "s.db")])  # fmt: skip

        (line,) = [line for line in capsys.readouterr().err.splitlines() if "is Ruby, which was not run [" in line]
        assert line.startswith("warning: cookbooks/app/attributes/default.rb, cookbooks/app/attributes/x0.rb,")
        assert "and 5 more: is Ruby" in line

    def test_an_attribute_that_only_ruby_sets_is_explained_by_its_line(self, tmp_path, capsys, monkeypatch):
        """The line that would set it, where its text says so."""
        monkeypatch.setenv("COLUMNS", "120")
        files = {**RUBY_COOKBOOK, "cookbooks/app/attributes/more.rb": "x = 1\ndefault[:app]['deep'][\"a\"] = 2\n"}
        repository(tmp_path / "r", {**files, "facts.json": FACTS})
        words = ["--repo", str(tmp_path / "r"), "--run-list", "app", "--facts", str(tmp_path / "r/facts.json")]

        assert 5 == main(["explain", "web1", "app.deep", *words, "--store", str(tmp_path / "s.db")])
        assert "cookbooks/app/attributes/more.rb:2 (attribute file app::more)" in capsys.readouterr().out

    def test_an_attribute_file_of_an_unused_cookbook_is_named_as_not_run(self, tmp_path, capsys):
        """Who sets it, and why not here."""
        files = {**RUBY_COOKBOOK, "cookbooks/b/recipes/default.py": "", "facts.json": FACTS}
        repository(tmp_path / "r", files)
        words = ["--repo", str(tmp_path / "r"), "--run-list", "b", "--facts", str(tmp_path / "r/facts.json")]

        assert 1 == main(["explain", "web1", "app.port", *words, "--store", str(tmp_path / "s.db")])
        named = (
            "attribute file app::default sets it (cookbooks/app/attributes/default.rb:1): it is Ruby, which was not run"
        )
        assert named in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("text", "lines"),
        [
            ("default['a']['b'] = 1", [1]),
            ("\nnode.default[:a] = {}\n", [2]),
            ("default['a']['b']['c'] << 1", [1]),
            ("x = node['a']['b'] == 1", []),
            ("default['a']['c'] = 1", []),
            ("default['ab']['b'] = 1", []),
        ],
    )
    def test_lines_of_ruby_that_set_a_path(self, tmp_path, text, lines):
        """Above, at and below it."""
        cookbook = repository(tmp_path, {"cookbooks/app/attributes/default.rb": text}).cookbook("app")

        assert lines == list(lines_that_set(cookbook, "attributes/default.rb", ("a", "b")))

    def test_levels_that_a_text_does_not_name_are_known(self, tmp_path):
        """What it says of nothing is nothing."""
        files = {
            "cookbooks/app/attributes/default.rb": "x = 1",
            "cookbooks/app/recipes/default.py": "node.default['k'] = 1",
        }
        run = ran(repository(tmp_path, files), "recipe[app]")

        assert () == run.node.trace("k").unknown

    @pytest.mark.parametrize("folder", ["attributes", "recipes"])
    def test_one_name_in_two_languages_is_an_error(self, tmp_path, folder):
        """It cannot be known which counts."""
        files = {f"cookbooks/app/{folder}/default.{end}": "" for end in ("py", "rb")}
        with pytest.raises(DocumentError) as caught:
            ran(repository(tmp_path, {"cookbooks/app/recipes/x.py": "", **files}), "recipe[app::x]")

        assert "two-languages" == caught.value.kind

    def test_both_languages_load_by_name(self):
        """As Chef orders them; two endings change nothing."""
        files = ("attributes/c.py", "attributes/b.rb", "attributes/default.rb", "attributes/a.b.py", "attributes/a.rb")

        assert ["default", "a.b", "a", "b", "c"] == list(Cookbook("x", files=files).attribute_files)

    def test_a_recipe_that_is_not_there_is_an_error_still(self, tmp_path):
        """Ruby ones are there."""
        repo = repository(tmp_path, RUBY_COOKBOOK)

        assert "recipes/more.rb" == repo.cookbook("app").recipe_file("app::more")
        with pytest.raises(RecipeNotFound):
            ran(repo, "recipe[app::none]")

    def test_check_names_each(self, tmp_path):
        """Roles and metadata in Ruby are read, code is not."""
        repo = repository(tmp_path, {**RUBY_COOKBOOK, "roles/web.rb": WEB_RB})

        assert [] == checked(repo, run_code=True).faults
        assert 1 == [one.kind for one in checked(repo).warnings].count("ruby")

    def test_the_order_of_cookbooks_comes_from_ruby_metadata(self, tmp_path):
        """What a cookbook depends on is loaded before it."""
        files = {"cookbooks/a/metadata.rb": "depends 'b'", "cookbooks/b/metadata.rb": ""}

        assert ["b", "a"] == cookbook_order(["a"], repository(tmp_path, files).cookbook)


HALF = {
    "roles/web.json": {"run_list": ["recipe[ntp]", "recipe[app]"], "override_attributes": {"k": 1}},
    "facts.json": FACTS,
}
WARN = {"nodeattrs.toml": '[chef]\nmissing_cookbooks = "warn"\n'}


class TestCookbooksThatAreNotThere:
    def test_the_settings_make_each_a_warning_and_an_unknown_layer(self, tmp_path):
        """As attribute file and as recipe; those that are there run."""
        files = {**HALF, **WARN, "cookbooks/app/recipes/default.py": "node.default['app'] = 1"}
        run = ran(repository(tmp_path, files), "role[web]")

        assert ["cookbook ntp is not there"] == [one.message for one in run.warnings]
        assert (1, 1) == (run.node["k"], run.node["app"])
        assert ["ntp", "ntp::default"] == sorted({one.origin.name for one in run.node.trace("app").unknown})
        assert "attribute file ntp" in run.node.explain("app")

    def test_several_of_one_slot_are_numbered_once(self, tmp_path, capsys):
        """In the line that says why they are unknown."""
        files = {
            **HALF,
            **WARN,
            "cookbooks/app/metadata.rb": "depends 'b'\ndepends 'c'",
            "cookbooks/app/recipes/default.py": "",
        }
        repository(tmp_path / "r", files)
        words = ["--repo", str(tmp_path / "r"), "--run-list", "app", "--facts", str(tmp_path / "r/facts.json")]
        main(["explain", "web1", "k", *words, "--store", str(tmp_path / "s.db")])

        assert "2 attribute files are not there, and may set anything: " in capsys.readouterr().err

    def test_what_an_included_one_might_set_is_named(self, tmp_path):
        """`depends` of it, too."""
        files = {
            **WARN,
            "cookbooks/a/metadata.json": {"depends": {"b": "= 9.0.0"}},
            "cookbooks/a/recipes/default.py": "",
        }
        run = ran(repository(tmp_path, files), "recipe[a]")

        assert {"b"} == {one.origin.name for one in run.node.trace("x").unknown}

    def test_the_words_of_the_setting_are_two(self, tmp_path):
        """A slip is an error."""
        with pytest.raises(DocumentError, match=r"nodeattrs\.toml:2"):
            repository(tmp_path, {"nodeattrs.toml": '[chef]\nmissing_cookbooks = "maybe"\n'}).config  # noqa: B018

    def test_roles_only_reads_no_cookbook(self, tmp_path, capsys):
        """Not even one that is there; who sets a value among roles and environments is answered."""
        repository(tmp_path / "r", {**HALF, "cookbooks/app/recipes/default.py": "1/0"})
        words = ["--repo", str(tmp_path / "r"), "--run-list", "role[web]", "--facts", str(tmp_path / "r/facts.json")]
        assert 5 == main(["explain", "web1", "k", *words, "--roles-only", "--store", str(tmp_path / "s.db")])

        out, err = capsys.readouterr()
        assert "roles/web.json:7" in out
        assert "cookbook ntp was not read: --roles-only" in err


class TestWhereCookbooksLie:
    def test_a_repository_may_be_one_cookbook(self, tmp_path):
        """As people publish each; files are named as they lie, and what `berks vendor` copied there is behind it."""
        files = {
            "metadata.rb": "name 'app'\nversion '2.0.0'\ndepends 'ntp'\n",
            "attributes/default.py": "node.default['k'] = 1",
            "recipes/default.py": "",
            ".git/config": "",
            **{f"berks-cookbooks/{name}/recipes/default.py": "" for name in ("app", "ntp")},
            "berks-cookbooks/app/metadata.json": {"name": "app", "version": "3.0.0"},
        }
        repo = repository(tmp_path / "checkout", files)
        run, app = ran(repo, "recipe[app]"), repo.cookbook("app")

        assert ["app", "ntp"] == repo.cookbooks()
        assert ("2.0.0", False) == (app.version, ".git/config" in app.files)
        assert "berks-cookbooks/app" == repo.cookbook("app", Lock("3.0.0")).folder
        assert ["attributes/default.py:1 (attribute file app::default)"] == [str(one) for one in run.node.origins("k")]

    def test_a_repository_may_be_a_folder_of_cookbooks(self, tmp_path):
        """As those for OpsWorks; where one of the usual folders has some, what lies beside it is none."""
        files = {"app/metadata.rb": "name 'app'", "app/recipes/default.py": "", "docs/recipes/soup.md": ""}
        assert ["app"] == repository(tmp_path, files).cookbooks()

        assert ["b"] == repository(tmp_path, {"cookbooks/b/recipes/default.py": ""}).cookbooks()

    def test_one_that_lies_elsewhere_is_named(self, tmp_path):
        """Where people keep those of others, and the settings do not say so."""
        files = {
            "cookbooks/app/metadata.rb": "depends 'apt'",
            "community/apt/metadata.rb": "name 'apt'",
            "community/apt/recipes/default.rb": "",
        }
        (fault,) = checked(repository(tmp_path, files), run_code=True).faults

        assert "there is one in community: name that folder in [chef] cookbook_paths" == fault.hint

    def test_roles_and_recipes_that_are_not_there_have_kinds(self, tmp_path):
        """So that one of them can be passed over."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            "nodes/web1.json": {"run_list": ["role[none]", "recipe[app::none]"], "chef_environment": "none"},
        }
        found = [(one.kind, one.code) for one in checked(repository(tmp_path, files), run_code=True).faults]

        assert [
            ("missing-role", "NA0435"),
            ("missing-recipe", "NA0436"),
            ("missing-environment", "NA0437"),
        ] == found

    def test_a_module_of_puppet_is_no_cookbook(self, tmp_path):
        """Though it has metadata."""
        module = {"metadata.json": {"name": "me-app", "version": "1.0.0"}, "manifests/init.pp": ""}

        assert [] == repository(tmp_path, module).cookbooks()

    def test_the_first_folder_counts(self, tmp_path):
        """Of the usual ones, or of those that the settings name."""
        files = {f"{folder}/a/recipes/default.py": "" for folder in ("cookbooks", "site-cookbooks", "mine")}
        repo = repository(tmp_path, {**files, "site-cookbooks/b/recipes/default.py": ""})
        assert ["a", "b"] == repo.cookbooks()
        named = repository(tmp_path, {"nodeattrs.toml": '[chef]\ncookbook_paths = ["mine", "cookbooks"]\n'})

        assert ["cookbooks/a", "site-cookbooks/b", "mine/a"] == [
            repo.cookbook("a").folder,
            repo.cookbook("b").folder,
            named.cookbook("a").folder,
        ]
        assert ["a"] == named.cookbooks()

    def test_a_folder_outside_of_the_repository(self, tmp_path):
        """Such as Berkshelf's or Chef's cache; its files are named whole."""
        text = f'[chef]\ncookbook_paths = ["{tmp_path}/shelf"]\n'
        files = {"shelf/ntp-3.5.0/metadata.rb": "name 'ntp'\nversion '3.5.0'", "shelf/ntp-3.5.0/recipes/default.py": ""}
        repository(tmp_path, files)
        cookbook = repository(tmp_path / "r", {"nodeattrs.toml": text}).cookbook("ntp")

        assert ("ntp", "3.5.0", f"{tmp_path}/shelf/ntp-3.5.0") == (cookbook.name, cookbook.version, cookbook.folder)

    def test_of_several_versions_the_newest_counts_or_the_one_that_is_asked_for(self, tmp_path):
        """The name is that of the metadata."""
        versions = ("3.9.0", "3.10.0", "3.5.0")
        files = {f"cookbooks/ntp-{one}/metadata.json": {"name": "ntp", "version": one} for one in versions}
        repo = repository(tmp_path, {**files, "cookbooks/ntp-cookbook-abc/metadata.rb": "name 'other'"})

        assert "3.10.0" == repo.cookbook("ntp").version
        assert "3.5.0" == repo.cookbook("ntp", Lock("3.5.0")).version
        assert ["ntp", "ntp-cookbook-abc"] == repo.cookbooks()
        assert "cookbooks/ntp-cookbook-abc" == repo.cookbook("other").folder
        with pytest.raises(CookbookNotFound, match=r"cookbook ntp 1\.0\.0"):
            repo.cookbook("ntp", Lock("1.0.0"))

    @pytest.mark.parametrize("name", ["../x", "a/b", ""])
    def test_a_name_becomes_no_path(self, tmp_path, name):
        """Wherever it comes from."""
        with pytest.raises(BadName):
            repository(tmp_path, {}).cookbook(name)


CLIENT_RB = """\
here = File.dirname(__FILE__)
log_level :info
node_name 'web7'
environment 'prod'
cookbook_path ["#{here}/../mine", File.join(here, '..', 'cookbooks'), '/var/chef/cookbooks']
encrypted_data_bag_secret File.expand_path('../secret', __FILE__)
policy_name ENV['POLICY']
automatic_attribute_whitelist ['fqdn', ['a', 'b']]
knife[:editor] = 'vi'
"""


class TestChefsOwnConfiguration:
    def test_literals_in_client_rb_count_as_settings(self, tmp_path):
        """Where nodeattrs.toml says nothing; what leads out, and what only Ruby knows, is a warning."""
        repo = repository(tmp_path, {".chef/config.rb": CLIENT_RB, ".chef/knife.rb": "environment 'other'"})
        config = repo.config

        assert (("mine", "cookbooks"), ".chef/secret", "web7") == (
            config.chef.cookbook_paths,
            config.chef.secret_file,
            config.chef.node_name,
        )
        assert ("prod", ["fqdn", ["a", "b"]], "") == (
            config.environment,
            config.allowed["automatic"],
            config.chef.policy,
        )
        assert [(5, "outside"), (7, "not-literal")] == sorted((one.line, one.kind) for one in repo.warnings)

    def test_the_settings_count_more(self, tmp_path):
        """One by one, and they name another file."""
        settings = 'environment = "dev"\n[chef]\ncookbook_paths = ["x"]\nconfig = "solo/solo.rb"\n'
        files = {
            "nodeattrs.toml": settings,
            "solo/solo.rb": "environment 'no'\npolicy_group 'g'\n",
            ".chef/config.rb": "x(",
        }
        config = repository(tmp_path, files).config

        assert ("dev", ("x",), "g") == (config.environment, config.chef.cookbook_paths, config.chef.policy_group)

    def test_the_name_in_knife_rb_is_that_of_a_person(self, tmp_path):
        """And of no node."""
        assert "" == repository(tmp_path, {".chef/knife.rb": "node_name 'anna'"}).config.chef.node_name

    @pytest.mark.parametrize("text", ["environment(", "environment 7", "environment 'a', 'b'"])
    def test_one_that_cannot_be_read_is_a_warning(self, tmp_path, text):
        """It is not what the repository is made of."""
        repo = repository(tmp_path, {".chef/config.rb": text})

        assert None is repo.config.environment
        assert [".chef/config.rb"] == [one.file for one in repo.warnings]

    def test_without_the_extra_it_is_a_warning(self, tmp_path, without_ruby):
        """Defaults count."""
        repo = repository(tmp_path, {".chef/config.rb": CLIENT_RB})

        assert ((), ["ruby"]) == (repo.config.chef.cookbook_paths, [one.kind for one in repo.warnings])

    def test_node_name_of_client_rb_chooses_the_node_to_run(self, tmp_path, capsys):
        """Where the command names none."""
        files = {".chef/config.rb": "node_name 'web7'", "roles/web.json": {}, "facts.json": FACTS}
        repository(tmp_path / "r", files)
        words = ["--repo", str(tmp_path / "r"), "--facts", str(tmp_path / "r/facts.json"), "--run-list", "role[web]"]

        assert 0 == main(["run", *words, "--new", "--store", str(tmp_path / "s.db")])
        assert "web7" in capsys.readouterr().out
