"""Ruby that is not run: which attributes of a node its text may set, and which stay certain."""

from __future__ import annotations

import json
import pathlib
import random
import shutil
import sys
from collections.abc import Iterator

import pytest

from nodeattrs.cache import CACHE
from nodeattrs.cli import main
from nodeattrs.core.tree import Path, dig, spell
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions as AskedOfARun
from nodeattrs.dialects.chef.ruby.unrun import unrun_code
from nodeattrs.node.node import Node
from tests.ruby_programs import PRELUDE, printed
from tests.test_chef_repository import FACTS, ran, repository
from tests.vectors.cases import HERE as VECTORS
from tests.vectors.cases import cases_of

WRITE = "node.default['a']['b'] = 1"

BASE = {
    "facts.json": FACTS,
    "cookbooks/app/metadata.rb": "name 'app'\nversion '1.0.0'\ndepends 'other'\n",
    "cookbooks/app/attributes/default.py": "default['a']['b'] = 0\ndefault['a']['l'] = [0]\ndefault['z']['y'] = 5\n",
    "cookbooks/other/metadata.rb": "name 'other'\nversion '1.0.0'\n",
    "cookbooks/other/recipes/x.rb": f"{WRITE}\n",
}

RECIPE = "cookbooks/app/recipes/default.rb"
LIBRARY = "cookbooks/app/libraries/help.rb"

EXACT = {
    "plain": WRITE,
    "symbols": "node.default[:a][:b] = 1",
    "hash": "node.override['a'] = { 'b' => 1 }",
    "push": "node.default['a']['l'] << 1",
    "merge": "node.default['a'].merge!('b' => 1)",
    "update": "node.default['a'].update(b: 1)",
    "delete": "node.default['a'].delete('b')",
    "loop": "%w(b l).each { |k| node.default['a'][k] = 1 }",
    "force": "node.force_override['a']['b'] = 1",
    "rm": "node.rm('a', 'b')",
    "rm-default": "node.rm_default('a')",
    "rm-override": "node.rm_override('a', 'b')",
    "rm-normal": "node.rm_normal(:a)",
    "include": "include_recipe 'other::x'",
    "include-several": "include_recipe('other::x', 'app')",
    "write": "node.write(:default, 'a', 'b', 1)",
    "write-strict": "node.write!(:default, 'a', 'b', 1)",
    "unlink": "node.unlink('default', 'a', 'b')",
    "bang": "node.default!('a', 'b', 1)",
    "bang-chain": "node.default!['a']['b'] = 1",
    "send": "node.send(:default)['a']['b'] = 1",
    "public-send": "node.public_send('override')['a']['b'] = 1",
    "try": "run_context.try(:node).default['a']['b'] = 1",
    "send-bang": "node.send(:override!, 'a', 'b', 1)",
    "send-write": "node.__send__(:write, :normal, 'a', 'b', 1)",
    "ruby-block": "ruby_block 'x' do\n  block { node.normal['a']['b'] = 1 }\nend",
    "lazy": "file 'x' do\n  content lazy { node.normal['a']['b'] = 1 }\nend",
    "guard": "file('x') { only_if { node.normal['a']['b'] = 1 } }",
    "held": "h = node.default['a']\nh['b'] = 1",
    "passed": "AppHelp.fill(node.default['a'])",
    "unless": "node.default_unless['a']['b'] = 1",
    "automatic": "node.automatic['a']['b'] = 1",
    "automatic-attrs": "node.automatic_attrs['a']['b'] = 1",
    "conditional": "node.override['a']['b'] = 1 if node['a']['b'] == 0",
    "case": "case node['platform']\nwhen 'debian'\n  node.set['a']['b'] = 1\nend",
    "method": "def tune\n  node.default['a']['b'] = 1\nend\ntune",
    "attributes": "node.attributes.override['a']['b'] = 1",
    "run-context": "run_context.node.override['a']['b'] = 1",
    "chef-node": "Chef.node.override['a']['b'] = 1",
    "self": "self.node.override['a']['b'] = 1",
    "instance-variable": "@node.override['a']['b'] = 1",
    "instance-variable-get": "run_context.instance_variable_get(:@node).default['a']['b'] = 1",
    "safe-navigation": "node&.override['a']['b'] = 1",
    "parentheses": "(node).override['a']['b'] = 1",
    "normal": "node.normal['a']['b'] = 1",
    "env": "node.env_default['a']['b'] = 1",
    "role": "node.role_override['a']['b'] = 1",
    "multi-line": "node.default['a'][\n  'b'\n] = 1",
    "op-assign": "node.default['a']['b'] += 1",
    "or-assign": "node.override['a']['b'] ||= 1",
    "mass": "node.default['a']['b'], x = 1, 2",
    "interpolation": "x = \"#{node.default['a']['b'] = 1}\"",
    "custom-resource": "app_thing 'x'",
    "declared-resource": "declare_resource(:app_thing, 'x')",
    "resource-in-a-resource": "app_outer 'x'",
    "resource-with-a-partial-in-a-folder": "app_below 'x'",
    "definition": "app_def 'x'",
    "library-mixin": "extend AppMix\ntune!",
    "library-included": "Chef::DSL::Recipe.send(:include, AppMix)\ntune!",
    "library-of-the-node": "node.adjust",
    "library-through-another": "AppOuter.run(self)",
}
"""Forms that set `a.b`, or `a` above it, and no other attribute."""

ANYTHING = {
    "alias": "n = node\nn.default['a']['b'] = 1",
    "alias-of-level": "d = node.default\nd['a']['b'] = 1",
    "instance-variable-set": "@n = node\n@n.default['a']['b'] = 1",
    "include-computed": "include_recipe \"other::#{'x'}\"",
    "include-loop": "%w(other::x).each { |r| include_recipe r }",
    "include-of-run-context": "run_context.include_recipe('other::' + 'x')",
    "include-unknown": "include_recipe 'elsewhere'",
    "library": "AppHelp.tune(node)",
    "library-keyword": "AppHelp.tune(node: node)",
    "library-shorthand": "AppHelp.tune(node:)",
    "array": "[node].each { |n| n.default['a']['b'] = 1 }",
    "block-argument": "[self].map(&:node).each { |n| n.default['a']['b'] = 1 }",
    "send-computed": "node.send(['def', 'ault'].join)['a']['b'] = 1",
    "send-node": "send(:node).tap { |n| n.default['a']['b'] = 1 }",
    "try-node": "run_context.try(:node).tap { |n| n.default['a']['b'] = 1 }",
    "level-of-a-computed-send": "run_context.send(name).default['a']['b'] = 1",
    "level-of-a-computed-try": "(run_context.try(name)).default!('a', 'b', 1)",
    "removal-of-a-computed-send": "run_context.public_send(name).rm('a', 'b')",
    "level-of-a-held-computed-send": "one = run_context.send(name)\none.default['a']['b'] = 1",
    "level-of-a-kept-computed-send": "@one ||= run_context.send(name)\n@one.override['a']['b'] = 1",
    "tap-of-a-computed-send": "run_context.send(name).tap { |one| one.default['a']['b'] = 1 }",
    "write-of-a-computed-send": "run_context&.send(name).write(:default, 'a', 'b', 1)",
    "method-node": "method(:node).call.default['a']['b'] = 1",
    "write-computed": "level = :default\nnode.write(level, 'a', 'b', 1)",
    "key-computed": "k = 'a'\nnode.default[k]['b'] = 1",
    "from-file": "node.from_file('/nowhere.rb') if false",
    "consume": "node.consume_attributes('a' => { 'b' => 1 })",
    "eval": "eval(\"node.default['a']['b'] = 1\")",
    "binding": "ERB.new(x).result(binding)",
    "instance-eval": "node.instance_eval { default['a']['b'] = 1 }",
    "instance-eval-text": "instance_eval(\"node.default['a']['b'] = 1\")",
    "instance-exec": "node.instance_exec(1) { |x| default['a']['b'] = x }",
    "tap": "node.default.tap { |d| d['a']['b'] = 1 }",
    "tap-node": "node.tap { |n| n.default['a']['b'] = 1 }",
    "old-method": "node.default.a.b = 1",
    "whole-level": "node.default = { 'a' => { 'b' => 1 } }",
    "merge-level": "node.override.merge!('a' => { 'b' => 1 })",
    "object-space": "ObjectSpace.each_object(Chef::Node) { |n| n.default['a']['b'] = 1 }",
    "instance-variable-computed": "instance_variable_get(name).default['a']['b'] = 1",
    "load": "load '/nowhere.rb'",
    "reset": "node.reset_defaults_and_overrides",
    "syntax": "node.default['a'",
}
"""Forms that hide their level or the first key: they may set any attribute."""

NOTHING = {
    "empty": "",
    "reads": "x = node['a']['b']\ny = node[:a][:b] == 1\nz = node.read('a', 'b')",
    "questions": "return if node.platform_family?('debian') || node.attribute?('a') || node.recipe?('x')",
    "run-state": "node.run_state['a'] = 1",
    "texts": "Chef::Log.info(\"#{node} #{node['a']} #{node.name} node.default['a']['b'] = 1\")",
    "comment": "# node.default['a']['b'] = 1",
    "here-document": "file 'x' do\n  content <<~E\n    node.default['a']['b'] = 1\n  E\nend",
    "other-node": "search(:node, 'role:db').each { |node| hosts << node['fqdn'] }",
    "resources": "package 'x'\nservice('x') { action :start }\nfile('y') { mode '0644'; default true }",
    "unused-library": "AppHelper.tune",
    "class-eval": "Chef::Recipe.class_eval { include AppNothing }",
    "send-to-others": "new_resource.send(name, 1)",
    "held-send-to-others": "one = new_resource.send(name)\none.each { |two| puts two }\nother.default['a'] = 1",
    "constant-send-to-others": "new_resource.send(:options).default['a'] = 1",
    "require": "require 'json'",
}
"""Recipes that set no attribute."""

CODE = {
    LIBRARY: """module AppHelp
  def self.tune(node)
    node.default['a']['b'] = 1
  end
end
""",
    "cookbooks/app/libraries/mix.rb": "module AppMix\n  def tune!\n    node.override['a']['b'] = 1\n  end\nend\n",
    "cookbooks/app/libraries/node.rb": """class Chef
  class Node
    def adjust
      default['a']['b'] = 1
    end
  end
end
""",
    "cookbooks/other/libraries/outer.rb": """module AppOuter
  def self.run(recipe)
    AppInner.new.go(recipe.run_context)
  end
end
""",
    "cookbooks/other/libraries/inner.rb": """class AppInner < Object
  def go(context)
    context.node.normal['a']['b'] = 1
  end
end
""",
    "cookbooks/app/resources/thing.rb": f"provides :app_thing\naction :create do\n  {WRITE}\nend\n",
    "cookbooks/app/resources/outer.rb": "action :create do\n  app_nested 'x'\nend\n",
    "cookbooks/app/resources/nested.rb": "use 'part'\naction :create do\nend\n",
    "cookbooks/app/resources/_part.rb": f"action :other do\n  {WRITE}\nend\n",
    "cookbooks/app/resources/below.rb": "use 'partial/_deep'\naction :create do\nend\n",
    "cookbooks/app/resources/partial/_deep.rb": f"action :other do\n  {WRITE}\nend\n",
    "cookbooks/app/definitions/app_def.rb": f"define :app_def do\n  {WRITE}\nend\n",
}
"""Code that a recipe may reach; each sets `a.b`."""


@pytest.fixture
def node_of(tmp_path):
    """Runs the recipe app, whose text is given."""

    def run(text: str, more: dict[str, str] = CODE) -> Node:
        return ran(repository(tmp_path, {**BASE, **more, RECIPE: f"{text}\n"}), "recipe[app]").node

    return run


def places(node: Node, path: str) -> list[str]:
    """The lines that may override a path."""
    return [one.origin.place for one in node.trace(path).unknown]


class TestRecipes:
    @pytest.mark.parametrize("name", EXACT)
    def test_keys_that_are_written_out_leave_other_attributes_certain(self, node_of, name):
        """What lies above or below the path is not certain."""
        node = node_of(EXACT[name])

        assert places(node, "a.l" if name == "push" else "a.b")
        assert places(node, "a")
        assert ([], []) == (places(node, "z.y"), places(node, "z"))

    @pytest.mark.parametrize("name", ANYTHING)
    def test_a_hidden_level_or_key_leaves_nothing_certain(self, node_of, name):
        """The row names the line."""
        node = node_of(ANYTHING[name])

        assert places(node, "a.b")
        assert any(place.startswith(f"{RECIPE}:") for place in places(node, "z.y"))

    @pytest.mark.parametrize("name", NOTHING)
    def test_a_recipe_that_sets_nothing_leaves_everything_certain(self, node_of, name):
        """Whatever the cookbooks have besides."""
        node = node_of(NOTHING[name])

        assert ([], [], []) == (places(node, "a.b"), places(node, "z.y"), places(node, ""))

    @pytest.mark.parametrize(
        ("name", "file"),
        [
            ("custom-resource", "cookbooks/app/resources/thing.rb:3"),
            ("resource-in-a-resource", "cookbooks/app/resources/_part.rb:2"),
            ("definition", "cookbooks/app/definitions/app_def.rb:2"),
            ("library-mixin", "cookbooks/app/libraries/mix.rb:3"),
            ("library-through-another", "cookbooks/other/libraries/inner.rb:3"),
            ("include", "cookbooks/other/recipes/x.rb:1"),
        ],
    )
    def test_the_row_names_the_line_of_the_code_that_is_reached(self, node_of, name, file):
        """A library, a resource or a definition; of any cookbook of the run."""
        assert [file] == places(node_of(EXACT[name]), "a.b")

    def test_the_level_that_is_written_out_decides(self, node_of):
        """A weaker one does not matter below a scalar of a stronger one."""
        more = {"cookbooks/app/attributes/late.py": "override['a']['b'] = 2"}

        assert [] == places(node_of(WRITE, more), "a.b")
        assert [f"{RECIPE}:1"] == places(node_of("node.force_override['a']['b'] = 1", more), "a.b")

    def test_a_place_that_may_set_every_level_is_one_row(self, node_of):
        """And not one for each level."""
        assert 1 == len(node_of("n = node", {}).trace("z.y").unknown)
        assert 1 == len(node_of("node.rm('z')", {}).trace("z.y").unknown)

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("tag 'web'", "tags"),
            ("untag 'web'", "tags"),
            ("node.tags << 'web'", "tags"),
            ("hostname 'x'", "fqdn"),
            ("ohai 'reload'", "anything"),
            ("windows_feature_dism 'x'", "dism_features_cache.enabled"),
        ],
    )
    def test_words_of_chef_that_change_attributes_count(self, node_of, text, path):
        """As in Chef's own resources."""
        assert [f"{RECIPE}:1"] == places(node_of(text), path)

    def test_a_recipe_in_python_that_ruby_may_include_is_not_certain(self, node_of):
        """It was not run, so what it sets is not known."""
        more = {"cookbooks/app/recipes/python.py": "node.override['z']['y'] = 1"}

        assert [f"{RECIPE}:1"] == places(node_of("include_recipe '::python'", more), "z.y")


class TestLibraries:
    @pytest.mark.parametrize(
        ("text", "is_certain"),
        [
            ("def initialize(one)\n  @node = one.run_context.node\nend", True),
            ("def initialize(one)\n  @node ||= one.node\nend", True),
            ("def initialize(node)\n  @node = node.to_hash\nend", True),
            ("def node\n  resource.run_context.node\nend", True),
            ("def fit\n  FITTING.select { |one| send(one) }\nend", True),
            ("def fit\n  1 if send(FITTING[0])\nend", True),
            ("def fit\n  !send(NAME) && send(NAME) == 1 ? 1 : 2\nend", True),
            ("def tune\n  (send(NAME) || {})['a']['b'] = 1\nend", False),
            ("def tune\n  (one ? send(NAME) : {})['a']['b'] = 1\nend", False),
            ("def tune\n  FITTING.map { send(NAME) }[0]['a']['b'] = 1\nend", False),
            ("def tune\n  send(NAME) if one\nend", False),
            ("def node\n  resource.run_context.node\nend\ndef tune\n  node.default['a']['b'] = 1\nend", False),
            ("def initialize(one)\n  @node = one.node\n  @node.default['a']['b'] = 1\nend", False),
            ("def initialize(one)\n  @other = one.run_context.node\nend", False),
            ("def initialize(one)\n  tune(@node = one.node)\nend", False),
            ("def tuned\n  @node = run_context.node\nend", False),
            ("def tuned\n  run_context.node\nend", True),
            ("def tuned\n  run_context.node\nend\ndef tune\n  set(tuned)\nend", False),
            ("def tune\n  (node = one.node).default['a']['b'] = 1\nend", False),
            ("def tune\n  send(NAME)['a']['b'] = 1\nend", False),
            ("def tune\n  set(send(NAME))\nend", False),
            ("def tune\n  1 if send(NAME, 'other::x')\nend", False),
        ],
    )
    def test_a_library_that_only_names_the_node_leaves_everything_certain(self, node_of, text, is_certain):
        """What it does with the name counts."""
        library = f"module App\n  class Help\n    {text}\n  end\nend\n"

        node = node_of("App::Help.new(self)", {"cookbooks/app/libraries/help.rb": library})
        assert is_certain == (not places(node, "a.b"))

    GIVING = "class App\n  def own\n    @resource.run_context.node\n  end\n  def tune\n    {}\n  end\nend\n"

    @pytest.mark.parametrize(
        ("body", "paths"),
        [
            ("1", []),
            ("own['z']['y'] == 1", []),
            ("own['a']['b'] ? self.own['z']['y'] : own.read('a')", []),
            ("own.default['a']['b'] = 1", ["a.b"]),
            ("self.own.override['a']['b'] = 1", ["a.b"]),
            ("send(:own).rm('z')", ["a.b", "z.y"]),
            ("set(own)", ["a.b", "z.y"]),
            ("[self].map(&:own).each { |one| one.default['a'] = 1 }", ["a.b", "z.y"]),
            ("set(own:)", ["a.b", "z.y"]),
            ("n = own\nn.default['a'] = 1", ["a.b", "z.y"]),
        ],
    )
    def test_a_method_that_only_gives_the_node_is_read_as_the_node_in_its_own_text(self, node_of, body, paths):
        """As in the cookbook ark: `def node_in_run_context; resource.run_context.node; end`."""
        node = node_of("App.new.tune", {"cookbooks/app/libraries/help.rb": self.GIVING.replace("{}", body)})

        assert paths == [path for path in ("a.b", "z.y") if places(node, path)]

    @pytest.mark.parametrize(
        ("text", "is_certain"),
        [
            ("App.new.own.default['a'] = 1", False),
            ("one = App.new.send(name)\n    one.default['a'] = 1", False),
            ("App.new.tune", True),
            ("App.new.send(:tune)", True),
        ],
    )
    @pytest.mark.parametrize("in_library", [False, True])
    def test_other_code_that_uses_the_name_of_such_a_method_may_set_anything(
        self, node_of, text, is_certain, in_library
    ):
        """In a recipe, and in a library of another cookbook."""
        other = {"cookbooks/other/libraries/more.rb": f"module More\n  def self.go\n    {text}\n  end\nend\n"}
        recipe = "More.go" if in_library else text
        node = node_of(recipe, {"cookbooks/app/libraries/help.rb": self.GIVING, **(other if in_library else {})})

        assert is_certain == (not places(node, "z.y"))

    @pytest.mark.parametrize(
        "method",
        [
            "def own(one)\n    one.node\n  end",
            "def own\n    tune\n    @resource.node\n  end",
            "def own\n    @own ||= @resource.node\n  end",
            "def own\n    @resource.node { 1 }\n  end",
            "def self.own\n    Chef.node\n  end",
        ],
    )
    def test_a_method_that_does_more_than_give_the_node_hides_what_is_set(self, node_of, method):
        """Each caller of the library counts."""
        library = f"class App\n  {method}\n  def tune\n    1\n  end\nend\n"

        assert places(node_of("App.new.tune", {"cookbooks/app/libraries/help.rb": library}), "z.y")


class TestAttributeFiles:
    @pytest.mark.parametrize(
        ("text", "is_exact"),
        [
            ("default['a']['b'] = 1", True),
            ("default[:a][:b] = node['z']['y']", True),
            ("force_default['a'] = {}", True),
            ("default_unless['a']['b'] = 1", True),
            ("node.override['a']['b'] = 1", True),
            ("self.normal['a']['b'] = 1", True),
            ("rm('a', 'b')", True),
            ("override!('a', 'b', 1)", True),
            ("send(:default)['a']['b'] = 1", True),
            ("d = default\nd['a']['b'] = 1", False),
            ("default[key]['b'] = 1", False),
            ("AppHelp.tune(self)", False),
            ("from_file('x.rb')", False),
            ("write(level, 'a', 'b', 1)", False),
            ("eval(\"default['a']['b'] = 1\")", False),
        ],
    )
    def test_self_is_the_node(self, node_of, text, is_exact):
        """Levels stand without a receiver."""
        node = node_of("", {"cookbooks/app/attributes/late.rb": text, "cookbooks/app/recipes/x.rb": ""})

        assert places(node, "a.b")
        assert is_exact == (not places(node, "z.y"))

    @pytest.mark.parametrize(
        "text", ["", "x = platform_family?('debian') ? 1 : 2", "puts node['z']['y']", "default = 1"]
    )
    def test_one_that_sets_nothing_leaves_everything_certain(self, node_of, text):
        """As a recipe."""
        assert [] == places(node_of("", {"cookbooks/app/attributes/late.rb": text}), "")

    def test_a_file_that_it_includes_counts(self, tmp_path):
        """Of a cookbook that no recipe needs, too."""
        files = {
            **BASE,
            "cookbooks/app/attributes/late.rb": "include_attribute 'extra'",
            "cookbooks/extra/attributes/default.rb": "default['z']['y'] = 1",
            RECIPE: "",
        }

        node = ran(repository(tmp_path, files), "recipe[app]").node
        assert ["cookbooks/extra/attributes/default.rb:1"] == places(node, "z.y")


class TestWhatIsKept:
    def test_a_saved_node_has_the_paths_and_lines(self, node_of):
        """Also in the run after that, for normal attributes."""
        node = node_of("node.normal['a']['b'] = 1\nnode.normal['z']['y'] = 1")
        again = Node.restore(json.loads(json.dumps(node.snapshot())))

        assert [f"{RECIPE}:2"] == places(again, "z.y")
        assert [] == places(again, "z.x")
        assert str(again.trace("a.b")) == str(node.trace("a.b"))

    @pytest.mark.parametrize("lines", [7, [7], [["a"]], [[["a"], "x"]], [[[{}], 1]]])
    def test_forged_paths_are_refused(self, node_of, lines):
        """As a damaged snapshot."""
        snapshot = node_of(WRITE).snapshot()
        snapshot["unknown"][0][4] = lines
        with pytest.raises(Exception, match="damaged"):
            Node.restore(snapshot)

    def test_a_text_is_parsed_once_in_a_process(self, tmp_path, monkeypatch):
        """However many nodes ask."""
        file = tmp_path / "r.rb"
        file.write_text(WRITE)
        CACHE.clear()
        first = unrun_code(file, "r.rb", "recipes", ())
        monkeypatch.setitem(sys.modules, "tree_sitter_ruby", None)

        assert first is unrun_code(file, "r.rb", "recipes", ())


class TestWithoutTreeSitter:
    def test_nothing_is_certain_and_the_warning_says_what_to_install(self, tmp_path, monkeypatch):
        """The row says that the file was not read."""
        CACHE.clear()
        monkeypatch.setitem(sys.modules, "tree_sitter_ruby", None)
        run = ran(repository(tmp_path, {**BASE, RECIPE: WRITE}), "recipe[app]")

        assert RECIPE in places(run.node, "z.y")
        assert "nor read: reading Ruby needs tree_sitter_ruby" in run.node.explain("z.y")
        assert any("nodeattrs[chef]" in str(one) for one in run.warnings)


class TestOnTheCommandLine:
    @pytest.mark.parametrize(
        ("text", "codes"), [(WRITE, (5, 0)), ("node.send(x)['a'] = 1", (5, 5)), ("x = node['a']", (0, 0))]
    )
    def test_explain_exits_by_the_path(self, tmp_path, capsys, text, codes):
        """5 where code that was not run may set it, else 0."""
        repository(tmp_path / "r", {**BASE, RECIPE: text})
        words = ["--repo", str(tmp_path / "r"), "--run-list", "app", "--facts", str(tmp_path / "r/facts.json")]

        assert codes == tuple(
            main(["explain", "n1", path, *words, "--store", str(tmp_path / "s.db")]) for path in ("a.b", "z.y")
        )


SAVED = {
    "facts.json": FACTS,
    "nodes/n1.json": {"name": "n1", "run_list": ["role[web]"], "chef_environment": "prod"},
    "roles/web.json": {
        "name": "web",
        "run_list": ["recipe[app]"],
        "default_attributes": {"app": {"port": 8080, "host": "h"}},
    },
    "environments/prod.json": {"name": "prod", "override_attributes": {"app": {"port": 1, "tls": True}}},
    "cookbooks/app/attributes/default.py": "default['app']['port'] = 80\n",
    RECIPE: "node.force_override['app']['port'] = 443\n",
}


class TestSavedNodes:
    @pytest.fixture
    def ask(self, tmp_path, capsys):
        """Runs `nodeattrs` where one such node is saved: its exit code, its JSON, what it prints on stderr."""
        repository(tmp_path / "r", SAVED)
        common = ["--store", str(tmp_path / "s.db")]
        facts = ["--facts", str(tmp_path / "r/facts.json")]
        assert 0 == main(["run", "--node", "n1", "--repo", str(tmp_path / "r"), *facts, "--quiet", *common])

        def run(*words: str) -> tuple[int, dict[str, object], str]:
            capsys.readouterr()
            place = (
                ["--repo", str(tmp_path / "r"), *facts, "--on", "n1", "--run-code"] if words[0] == "where" else common
            )
            code = main([*words, *place, "--format", "json"])
            out, err = capsys.readouterr()
            return code, json.loads(out), err

        return run

    @pytest.mark.parametrize("file", ["roles/web.json", "environments/prod.json"])
    def test_where_names_the_place_that_may_override_a_value(self, ask, file):
        """The exit code is 5; the recipe is named for the one value that it may set."""
        code, found, _ = ask("where", file)

        assert (5, [(f"{RECIPE}:1", ["app.port"])]) == (
            code,
            [(row["place"], [".".join(map(str, path)) for path in row["paths"]]) for row in found["unread"]],
        )

    @pytest.mark.parametrize(
        ("query", "total", "code"),
        [
            ("app.port=1", 1, 5),
            ("app.port=443", 0, 5),
            ("app.port=443 AND app.host=h", 0, 5),
            ("NOT app.port=443", 1, 5),
            ("app_port:443", 0, 5),
            ("port:[400 TO 500]", 0, 5),
            ("app.host=h", 1, 0),
            ("app.tls=true AND name:n1", 1, 0),
            ("role:web", 1, 0),
            ("chef_environment:prod", 1, 0),
            ("*:*", 1, 0),
        ],
    )
    def test_search_says_which_nodes_may_match_or_not(self, ask, query, total, code):
        """Found or not, where code that was not run may set what the query asks."""
        came, found, err = ask("search", query)

        assert (code, total) == (came, found["total"])
        assert [f"{RECIPE}:1"] * (code == 5) == [one["place"] for one in found["unread"]]
        assert (code == 5) == (f"{RECIPE}:1" in err)

    def test_search_at_a_time_does_so_too(self, ask):
        """As the node was then."""
        assert 5 == ask("search", "app.port=1", "--at", "2999-01-01")[0]


@pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no ruby")
@pytest.mark.parametrize("seed", range(12))
def test_an_attribute_that_is_certain_is_the_same_once_the_file_runs(tmp_path, seed):
    """Statements of the vectors as an attribute file, read and not run, then run by a real ruby."""
    draw = random.Random(seed)
    cases = list(cases_of(VECTORS / "chef-attributes.jsonl"))
    statements = [text for case in draw.sample(cases, 3) for text in map(printed, case["ops"]) if text]
    base = "for key in 'abx':\n    default[key]['b'] = 1\n    override[key]['l'] = [1]\n"
    files = {
        "cookbooks/app/attributes/default.py": base,
        "cookbooks/app/attributes/late.rb": "\n".join([PRELUDE, *draw.sample(statements, min(2, len(statements)))]),
        "cookbooks/app/recipes/default.py": "",
    }
    read = ran(repository(tmp_path / "read", files), "recipe[app]").node
    repo = repository(tmp_path / "run", files)
    repo.options = AskedOfARun(ruby=True)
    known = ran(repo, "recipe[app]").node
    trees = read.to_dict(), known.to_dict()

    for path in {one for tree in trees for one in paths_in(tree)}:
        if not read.trace(path).unknown:
            assert repr(dig(trees[0], path)) == repr(dig(trees[1], path)), path


def paths_in(tree: object, at: Path = ()) -> Iterator[Path]:
    """Each path of a tree."""
    yield at
    for key, inner in tree.items() if isinstance(tree, dict) else ():
        yield from paths_in(inner, (*at, key))


def test_each_public_form_of_a_text_is_read(tmp_path: pathlib.Path) -> None:
    """Levels, paths and lines of one text."""
    text = "node.rm('a')\nnode.default!('b', 1)\nx = node.override[:c]['d']\ninclude_recipe 'e::f'\nhelp node['g']\n"
    (tmp_path / "r.rb").write_text(text)
    code = unrun_code(tmp_path / "r.rb", "r.rb", "recipes", ())

    assert {
        *(f"{level} a 1" for level in ("default", "force_default", "normal", "override", "force_override")),
        *("default b 2", "force_default b 2", "override c.d 3"),
    } == {f"{level} {spell(path)} {line}" for level, lines in code.lines.items() for path, line in lines.items()}
    assert (None, {"e::f": 4}, True) == (code.hidden, code.recipes, "help" in code.words)
