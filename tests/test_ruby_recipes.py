"""Recipes in Ruby, compiled by a real ruby: what they write and declare, what is left open, what they may not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import DocumentError
from tests.on_disk import repository

pytestmark = pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no ruby")

FACTS = {"platform": "debian", "platform_family": "debian", "platform_version": "12", "os": "linux"}
RECIPE = "cookbooks/app/recipes/default.rb"
ATTRIBUTES = "cookbooks/app/attributes/default.rb"
BASE = {
    "facts.json": FACTS,
    "cookbooks/app/metadata.rb": "name 'app'\nversion '1.2.0'\ndepends 'other'\n",
    "cookbooks/other/metadata.rb": "name 'other'\nversion '1.0.0'\n",
    "cookbooks/other/recipes/x.rb": "\nnode.default['a']['b'] = 'other'\n",
    ATTRIBUTES: "default['a']['b'] = 0\ndefault['z']['y'] = 5\n",
}


def compiled(root: Path, text: str, files: dict[str, object] | None = None, **more: object) -> Run:
    """A run of the cookbook app with a default recipe of this text."""
    repo = repository(root, {**BASE, RECIPE: text, **(files or {})})
    repo.options = RepositoryOptions(ruby=True)
    facts = Facts(FACTS, Origin("facts"))
    return run_node(repo, "n1", facts=facts, run_list=["recipe[app]"], **more)  # type: ignore[arg-type]


def tree(run: Run) -> dict[str, object]:
    return run.node.to_dict()


def places(run: Run, path: str) -> list[str | None]:
    return [one.place for one in run.node.origins(path)]


def unread(run: Run, path: str) -> list[str | None]:
    """The places that may set an attribute."""
    return [one.origin.place for one in run.node.trace(path).unknown]


def resources(run: Run) -> list[str]:
    return [str(one.ref) for one in run.catalog if not one.is_container]


class TestWhatIsWritten:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("node.default['a']['b'] = 1", 1),
            ("n = node\nn.default[:a][:b] = 1", 2),
            ("node.write(:default, 'a', 'b', 1)", 1),
            ("node.send(:override)['a']['b'] = 1", 1),
            ("node.attributes.override['a']['b'] = 1", 1),
            ("run_context.node.override['a']['b'] = 1", 1),
            ("\nfile '/x' do\n  node.default['a']['b'] = 1\nend", 3),
            ("%w(b).each do |k|\n  node.normal['a'][k] = 1\nend", 2),
            ("\nAppHelp.tune(node)", 2),
            ("\ntune!", 2),
            ("extend AppMix\nmix", 2),
            ("app_def 'x' do\n  value 1\nend", 1),
            ("app_thing 'x' do\n  port 1\n  node.default['a']['b'] = port\nend", 3),
            ("node.run_state['v'] = 1\nnode.default['a']['b'] = node.run_state['v']", 2),
            ("return unless node['z']['y'] == 5\nnode.default['a']['b'] = 1\nreturn\nraise 'never'", 2),
        ],
    )
    def test_the_recipe_and_its_line_set_the_value(self, tmp_path, text, line):
        """Whatever the recipe calls on the way."""
        library = (
            "module AppHelp\n  def self.tune(node)\n    node.default['a']['b'] = 1\n  end\nend\n"
            "module AppMix\n  def mix\n    node.default['a']['b'] = 1\n  end\nend\n"
            "class Chef::Recipe\n  def tune!\n    node.override['a']['b'] = 1\n  end\nend\n"
        )
        files = {
            "cookbooks/app/libraries/a.rb": library,
            "cookbooks/app/definitions/d.rb": "define :app_def do\n  node.default['a']['b'] = params[:value]\nend\n",
            "cookbooks/app/resources/thing.rb": "provides :app_thing\nproperty :port, Integer\naction(:run) { }\n",
        }
        run = compiled(tmp_path, text, files)

        assert 1 == run.node["a"]["b"]
        assert [f"{RECIPE}:{line}"] == places(run, "a.b")
        assert [] == unread(run, "a.b")

    @pytest.mark.parametrize("word", ["base", "kind", "made", "name", "path", "source", "text"])
    def test_a_recipe_sees_no_local_variable_of_the_helper(self, tmp_path, word):
        """Else `path ::File.dirname(x)` would look for a constant in the value of the variable."""
        text = (
            f"node.default['a']['b'] = defined?({word}).inspect\nfile '/x' do\n  {word} ::File.dirname('/y/z')\nend\n"
        )
        run = compiled(tmp_path, text)

        assert "local-variable" not in run.node["a"]["b"]
        assert not [one for one in run.warnings if "TypeError" in str(one)]

    @pytest.mark.parametrize("name", ["'other::x'", "\"other::#{'x'}\"", "%w(other::x)"])
    def test_an_include_is_followed_to_its_own_line(self, tmp_path, name):
        """Once, and the node names the recipe."""
        run = compiled(tmp_path, f"include_recipe {name}\nnode.default['r'] = node['recipes']\ninclude_recipe {name}\n")

        assert ["app::default", "other::x"] == run.recipes
        assert ["cookbooks/other/recipes/x.rb:2"] == places(run, "a.b")
        assert ["app", "app::default", "other::x"] == run.node["r"].to_list()
        assert f"{RECIPE}:1" == run.included["other::x"]().place

    def test_python_and_ruby_include_each_other(self, tmp_path):
        """Each sees what the other has set."""
        files = {
            "cookbooks/app/recipes/py.py": "node.default['n'] = node['n'] + 1\ninclude_recipe('app::last')\n",
            "cookbooks/app/recipes/last.rb": "node.default['n'] = node['n'] + 10\n",
        }
        text = "node.default['n'] = 1\ninclude_recipe 'app::py'\nnode.default['m'] = node['n']\n"

        assert 12 == tree(compiled(tmp_path, text, files))["m"]

    def test_bags_versions_and_names_are_known(self, tmp_path):
        """What a recipe asks of its run; a search finds items of a data bag."""
        files = {
            "data_bags/users/bob.json": {"id": "bob", "shell": "/bin/zsh", "groups": ["a", "b"]},
            "data_bags/users/ann.json": {"id": "ann", "shell": "/bin/sh"},
        }
        asked = {
            "data_bag('users').sort": ["ann", "bob"],
            "data_bag_item('users', 'bob')['shell']": "/bin/zsh",
            "search(:users, '*:*').map { |one| one['id'] }": ["ann", "bob"],
            "search('users', 'groups:b OR id:nobody').map { |one| one['id'] }": ["bob"],
            "search('users', 'NOT shell:*zsh').size": 1,
            "[cookbook_name.to_s, recipe_name]": ["app", "default"],
            "node['cookbooks']['app']['version']": "1.2.0",
            "run_context.cookbook_collection['app'].version": "1.2.0",
            "run_context.loaded_recipe?('app')": True,
            "value_for_platform('debian' => { '>= 11' => 1 })": 1,
            "Chef::DataBag.list.keys.sort": ["users"],
            "[node.override_runlist_set?, node.primary_runlist.to_s]": [False, "recipe[app]"],
            "[node.attributes.class.name, node.logger.class.name]": ["Chef::Node::Attribute", "Mixlib::Log::Child"],
            "service('x') { provider Chef::Provider::Service }.provider.name": "Chef::Provider::Service",
            "file('x') { name 'y' }.name": "y",
        }
        lines = [f"node.default['v']['{number}'] = {one}" for number, one in enumerate(asked)]
        run = compiled(tmp_path, "\n".join(lines), files)

        assert asked == dict(zip(asked, run.node["v"].to_dict().values(), strict=True))


class TestResources:
    def test_each_is_declared_with_its_line_and_what_its_text_reads(self, tmp_path):
        """A title may come twice; one that is deleted is gone; no action, block or guard runs."""
        text = (
            "template '/x' do\n  variables(p: node['z']['y'], q: node[:a][:b])\nend\n"
            "log 'twice'\nlog 'twice' do\n  only_if { raise 'never' }\nend\n"
            "ruby_block 'b' do\n  block { raise 'never' }\nend\n"
            "file('/gone')\ndelete_resource(:file, '/gone')\n"
        )
        run = compiled(tmp_path, text)
        found = {str(one.ref): one for one in run.catalog}

        assert ["Template[/x]", "Log[twice]", "Log[twice (2)]", "Ruby_block[b]"] == resources(run)
        assert (f"{RECIPE}:1", ("z.y", "a.b")) == (found["Template[/x]"].origin.place, found["Template[/x]"].reads)
        assert {"variables": {"p": 5, "q": 0}} == found["Template[/x]"].parameters
        assert not run.warnings

    def test_properties_have_their_defaults(self, tmp_path):
        """Names, values that are computed when they are read, coerced ones; those of old resources, too."""
        files = {
            "cookbooks/app/resources/default.rb": (
                "property :path, String, name_property: true\nproperty :port, Integer, default: 80\n"
                "property :twice, Integer, default: lazy { port * 2 }\n"
                "property :up, String, coerce: proc { |v| v.upcase }\n"
                "action :run do\n  raise 'never'\nend\n"
            ),
            "cookbooks/app/resources/old.rb": "actions :make\nattribute :size, kind_of: Integer, default: 7\n",
        }
        text = (
            "one = app '/x' do\n  up 'a'\n  port 81\nend\n"
            "node.default['v'] = [one.path, one.port, one.twice, one.up, app_old('o').size, app_old('o').action.to_s]\n"
        )
        run = compiled(tmp_path, text, files)

        assert ["/x", 81, 162, "A", 7, "[:make]"] == run.node["v"].to_list()

    @pytest.mark.parametrize("used", ["part", "_part", "below/_part", "below/part.rb"])
    def test_a_resource_has_the_properties_of_a_partial(self, tmp_path, used):
        """It is beside the resource or in a folder below, and is no resource itself; Chef has some of its own."""
        folder = used.rpartition("/")[0]
        files = {
            "cookbooks/app/resources/thing.rb": f"use '{used}'\nuse 'core::_rest_resource'\n",
            f"cookbooks/app/resources/{folder and 'below/'}_part.rb": "property :port, Integer, default: 80\n",
        }
        run = compiled(tmp_path, "node.default['v'] = app_thing('x').port\n", files)

        assert 80 == run.node["v"]
        assert not run.warnings

    def test_ruby_recipes_find_and_edit_resources(self, tmp_path):
        """By type and name."""
        text = (
            "file '/x' do\n  mode '0600'\nend\n"
            "edit_resource(:file, '/x') { mode '0644' }\n"
            "one = resources('file[/x]')\n"
            "node.default['v'] = [one.mode, find_resource(:file, '/y').nil?, resources(file: '/x').name]\n"
            "resources('file[/z]')\n"
        )
        run = compiled(tmp_path, text)

        assert ["0644", True, "/x"] == run.node["v"].to_list()
        assert {"mode": "0644"} == next(one for one in run.catalog if one.ref == "File[/x]").parameters
        assert [f"{RECIPE}:7"] == unread(run, "z.y")

    def test_the_title_of_a_resource_does_not_have_a_secret(self, tmp_path):
        """It is printed and stored."""
        text = "%w[a b].each { |one| log \"#{one} #{node['pw']}\" }\nexecute(node['pw']) { user 'u' }\n"
        attributes = {"cookbooks/app/attributes/pw.py": "default['pw'] = Sensitive('s3cret')\n"}
        run = compiled(tmp_path, text, attributes)

        withheld = "Sensitive(withheld)"
        assert [f"Log[a {withheld}]", f"Log[b {withheld}]", f"Execute[{withheld}]"] == resources(run)
        assert "s3cret" not in json.dumps(run.node.snapshot()) + repr(run.catalog)

    def test_the_command_lists_them(self, tmp_path, capsys, monkeypatch):
        """All, or those that read an attribute; none is applied."""
        repository(tmp_path, {**BASE, RECIPE: "template '/x' do\n  variables(p: node['z']['y'])\nend\nlog 'l'\n"})
        monkeypatch.chdir(tmp_path)
        words = ["--repo", ".", "--node", "n1", "--facts", "facts.json", "--run-list", "recipe[app]", "--ruby"]

        assert 0 == main(["catalog", "list", *words, "--format", "json"])
        listed = json.loads(capsys.readouterr().out)["resources"]
        assert [("Template[/x]", 1), ("Log[l]", 4)] == [(one["resource"], one["origin"]["line"]) for one in listed]
        assert 0 == main(["catalog", "list", *words, "--read-path", "z"])
        assert f"Template[/x]  {RECIPE}:1\n    reads z.y\n" == capsys.readouterr().out
        assert 0 == main(["catalog", "list", *words, "--read-path", "q"])
        assert "no resource reads q\n" == capsys.readouterr().out
        assert 1 == main(["catalog", "apply", *words, "--noop"])
        assert "whose actions are not run" in capsys.readouterr().out


LATER = {
    "ruby_block": ("ruby_block 'x' do\n  block { node.default['a']['b'] = 1 }\nend", f"{RECIPE}:2"),
    "lazy": ("file 'x' do\n  content lazy { node.default['a']['b'] = 1 }\nend", f"{RECIPE}:2"),
    "guard": ("file('x') { not_if { node.default['a']['b'] = 1 } }", f"{RECIPE}:1"),
    "action": ("app_thing 'x'", "cookbooks/app/resources/thing.rb:3"),
    "held": ("h = node.default['a']\nruby_block 'x' do\n  block { h['b'] = 1 }\nend", f"{RECIPE}:1"),
    "parameter": ("node.default['a'].tap do |d|\n  log('x') { only_if { d['b'] = 1 } }\nend", f"{RECIPE}:1"),
    "method": ("def f\n  node.default['a']['b'] = 1\nend\nlog('x') { only_if { f } }", f"{RECIPE}:2"),
    "library": ("ruby_block 'x' do\n  block { AppHelp.tune(node) }\nend", f"{RECIPE}:2"),
    "mixin": ("ruby_block 'x' do\n  block { AppHelp.tuned }\nend", "cookbooks/app/libraries/a.rb:6"),
    "held twice": ("h = node.default\ng = h['a']\nruby_block 'x' do\n  block { g['b'] = 1 }\nend", f"{RECIPE}:1"),
    "include": (
        "ruby_block 'x' do\n  block { run_context.include_recipe 'other::x' }\nend",
        "cookbooks/other/recipes/x.rb:2",
    ),
    "action of a class": (
        "class Foo < Chef::Resource\n  provides :foo\n  action(:run) { node.default['a']['b'] = 1 }\nend\nfoo 'x'",
        f"{RECIPE}:3",
    ),
    "default of a class": (
        "class Foo < Chef::Resource\n  provides :foo\n  property :p, default: lazy { node.default['a']['b'] = 1 }\n"
        "end\nfoo 'x'",
        f"{RECIPE}:3",
    ),
    "singleton method": (
        "def self.f\n  node.default['a']['b'] = 1\nend\nlog('x') { only_if { f } }",
        f"{RECIPE}:2",
    ),
    "defined method": (
        "define_singleton_method(:f) { node.default['a']['b'] = 1 }\nlog('x') { only_if { f } }",
        f"{RECIPE}:1",
    ),
    "constant": ("F = -> { node.default['a']['b'] = 1 }\nlog('x') { only_if { F.call } }", f"{RECIPE}:1"),
    "global": ("$f = -> { node.default['a']['b'] = 1 }\nlog('x') { only_if { $f.call } }", f"{RECIPE}:1"),
    "appended": (
        "l = []\nl << -> { node.default['a']['b'] = 1 }\nlog('x') { only_if { l.each(&:call) } }",
        f"{RECIPE}:2",
    ),
    "pushed": (
        "l = []\nl.push(-> { node.default['a']['b'] = 1 })\nlog('x') { only_if { l.each(&:call) } }",
        f"{RECIPE}:2",
    ),
}


class TestWhatIsLeftOpen:
    @pytest.fixture
    def files(self):
        return {
            "cookbooks/app/libraries/a.rb": (
                "module AppHelp\n  def self.tune(node)\n    node.default['a']['b'] = 1\n  end\n"
                "  def self.tuned\n    Chef.node.default['a']['b'] = 1\n  end\nend\n"
            ),
            "cookbooks/app/resources/thing.rb": (
                "provides :app_thing\naction :run do\n  node.default['a']['b'] = 1\nend\n"
            ),
        }

    @pytest.mark.parametrize("name", LATER)
    def test_code_that_runs_later_leaves_open_what_its_text_may_set(self, tmp_path, files, name):
        """With the line of the text; a recipe that runs after it does not settle it."""
        text, place = LATER[name]
        run = compiled(tmp_path, f"{text}\nnode.default['a']['b'] = 2\n", files)

        assert place in unread(run, "a.b")
        if name not in ("library", "held twice"):  # the node, or all of a level, is handed on there
            assert [] == unread(run, "z.y")

    def test_code_that_runs_later_and_sets_nothing_leaves_nothing_open(self, tmp_path, files):
        """Nor do a library and a resource that nobody reaches."""
        text = "dir = node['z']['y'].to_s\nfile 'x' do\n  content lazy { dir }\n  only_if { File.exist?(dir) }\nend\n"
        run = compiled(tmp_path, f"node.default['a']['b'] = 2\n{text}", files)

        assert [] == unread(run, "a.b") + unread(run, "z.y")

    @pytest.mark.parametrize(("kind", "path"), [("ohai 'x'", "platform"), ("hostname 'x'", "fqdn")])
    def test_resources_of_chef_that_change_attributes_count(self, tmp_path, kind, path):
        """Those that they change."""
        run = compiled(tmp_path, f"\n{kind}\n")

        assert [f"{RECIPE}:2"] == unread(run, path)
        assert ([] if path == "fqdn" else [f"{RECIPE}:2"]) == unread(run, "z.y")

    @pytest.mark.parametrize(
        ("text", "line", "said"),
        [
            ("raise 'no'", 1, "RuntimeError: no"),
            ("\nnode['n']['m']", 2, "NoMethodError: undefined method"),
            ("x = 1\ninclude_recipe 'nobody'", 2, "there is no cookbook nobody"),
            ("include_recipe 'other::none'", 1, "none"),
            ("if\n", 3, "SyntaxError"),
            ("exit", 1, "SystemExit"),
            ("raise Exception, 'no'", 1, "Exception: no"),
            ("node.default['v'] = IO.read('|true')", 1, "IO.read"),
            ("node.default['v'] = Kernel.open('|true').read", 1, "open"),
            ("eval \"ruby_block('x') { block { node.default['q'] = 1 } }.run_action(:run)\"", 1, "run_action"),
            ("\nshell_out!('true')", 2, "shell_out!"),
            ("begin\n  `hostname`\nrescue\n  1\nend", 2, "hostname"),
            ("search(:node, 'role:db') rescue []", 1, "no store to search in"),
            ("data_bag_item('no', 'bag') rescue {}", 1, "no data bag no"),
            ("nobodys_resource 'x' do\n  port 1\nend", 1, "no cookbook here defines the resource nobodys_resource"),
            ("file('/x').mode", 1, "mode of file[/x], which was not set"),
            ("app_thing('x').run_action(:run)", 1, "run_action"),
            ("ruby_block('x') { block { node.default['q'] = 1 } }.run_action(:run)", 1, "run_action"),
            ("a = []\nloop { a << String.new(capacity: 100_000_000) }", None, "NoMemoryError"),
        ],
    )
    def test_a_failing_ruby_recipe_is_unread_from_its_line_on(self, tmp_path, files, text, line, said):
        """With Ruby's message; what was set before stays, and other recipes run."""
        files = {**files, "cookbooks/app/recipes/after.rb": "node.default['after'] = 1\n"}
        repo = repository(tmp_path, {**BASE, **files, RECIPE: f"{text}\nnode.default['never'] = 1\n"})
        repo.options = RepositoryOptions(ruby=True)
        run = run_node(repo, "n1", facts=Facts(FACTS, Origin("facts")), run_list=["app", "app::after"])

        assert (RECIPE if line is None else f"{RECIPE}:{line}") in unread(run, "z.y")
        assert 1 == run.node["after"]
        assert any(said in one.message for one in run.warnings if isinstance(one, DocumentError))

    @pytest.mark.parametrize(
        "text",
        [
            "eval \"ruby_block('x') { block { node.default['a']['b'] = 1 } }\"",
            "f = proc { node.default['a']['b'] = 1 }\nruby_block('x') { block(&(f >> proc { 1 })) }",
        ],
    )
    def test_a_block_that_is_in_no_file_may_set_anything_when_it_runs(self, tmp_path, text):
        run = compiled(tmp_path, f"{text}\nnode.default['a']['b'] = 2\n")

        assert [f"{RECIPE}:{text.count(chr(10)) + 1}"] == unread(run, "z.y")

    def test_an_action_that_sets_nothing_may_run_while_recipes_compile(self, tmp_path):
        """It does nothing here, and nothing is open."""
        text = (
            "package('x').run_action(:install)\nruby_block('y') { block { 1 } }.run_action(:run)\n"
            "chef_gem 'z' do\n  compile_time true\nend\nnode.default['v'] = 1\n"
        )
        run = compiled(tmp_path, text)

        assert (1, []) == (run.node["v"], unread(run, "z.y"))

    def test_a_recipe_that_takes_too_long_ends_ruby_and_not_the_run(self, tmp_path):
        """What needs Ruby afterwards is not known either."""
        files = {"nodeattrs.toml": "[chef]\nruby_seconds = 2\n"}
        run = compiled(tmp_path, "node.default['v'] = 1\nnode['v']\nloop { }\n", files)

        assert 1 == run.node["v"]
        assert [RECIPE] == unread(run, "z.y")

    def test_without_ruby_it_is_read_and_not_run(self, tmp_path, capsys, monkeypatch):
        """The warning names the option."""
        repository(tmp_path, {**BASE, RECIPE: "node.default['a']['b'] = 1\n"})
        monkeypatch.chdir(tmp_path)
        words = ["explain", "n1", "a.b", "--repo", ".", "--facts", "facts.json", "--run-list", "recipe[app]"]

        assert 5 == main(words)
        assert "--ruby runs it" in capsys.readouterr().err
        assert 0 == main([*words, "--ruby"])
        assert "a.b = 1" in capsys.readouterr().out


class TestLimits:
    @pytest.mark.parametrize(
        "text",
        [
            "Process.wait(fork { node.default['v'] = 2; node['x'] })",
            "if (child = fork)\n  Process.wait(child)\nelse\n  node.default['v'] = 2\nend",
        ],
    )
    def test_what_a_forked_process_writes_is_not_of_the_node(self, tmp_path, text):
        run = compiled(tmp_path, f"node.default['v'] = 1\n{text}\nnode.default['w'] = node['v']\n")

        assert (1, 1, []) == (run.node["v"], run.node["w"], unread(run, "v"))

    def test_its_home_is_a_folder_that_goes_with_it(self, tmp_path):
        """And not that of the caller."""
        run = compiled(
            tmp_path, "node.default['v'] = [Dir.home, ENV['TMPDIR'], ENV['HOME']]\nFile.write('~/x', '') rescue 1\n"
        )
        home = set(run.node["v"].to_list())

        assert 1 == len(home)
        assert str(Path.home()) not in home
        assert Path(home.pop()).is_dir()
