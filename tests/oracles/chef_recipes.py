"""python -m tests.oracles.chef_recipes [--count N] [--seed S] [--keep DIR]

Random repositories with recipes in Ruby: writes of attributes in many forms, includes, libraries, definitions, custom
resources, resources with blocks. Each is compiled by us (`--ruby`) and by the real Chef (chef_recipes.rb), which
converges nothing either. The ten levels, the merged attributes and the declared resources in order have to be equal.
Where Chef fails, ours has to say that something is not known.

keep: a folder for the repositories that differ
CHEF_SRC names a checkout of chef/chef, MIXLIB_AUTH the lib of its gem mixlib-authentication. Exit code 0 where none
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from nodeattrs import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.dialects.chef.ruby.helper import Helper
from nodeattrs.dialects.chef.run.ruby_files import HELPERS
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import NodeattrsError
from tests.oracles.chef import difference, plain
from tests.oracles.chef_programs import COMPONENTS
from tests.oracles.peer import Peer
from tests.ruby_programs import literal

FACTS = {"platform": "debian", "platform_version": "12", "platform_family": "debian", "os": "linux", "hostname": "n1"}
COOKBOOKS = ("app", "base", "lib")
RECIPES = ("default", "a", "b")
KEYS = "abcd"


class Maker:
    """Draws the files of a repository."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0

    def key(self) -> str:
        key = self.random.choice(KEYS)
        return self.random.choice([f"'{key}'", f":{key}", f'"{key}"'])

    def keys(self, most: int = 2) -> str:
        return "".join(f"[{self.key()}]" for _ in range(self.random.randint(1, most)))

    def value(self, depth: int = 0) -> str:
        drawn = self.random.random()
        if depth > 1 or drawn < 0.6:
            return literal(self.random.choice([0, 1, 2, "x", "y", True, None, 1.5, {"$sym": "s"}]))
        if drawn < 0.8:
            return "{ " + ", ".join(f"'{k}' => {self.value(depth + 1)}" for k in self.random.sample(KEYS, 2)) + " }"
        return "[" + ", ".join(self.value(depth + 1) for _ in range(self.random.randint(0, 2))) + "]"

    def level(self) -> str:
        levels = ("default", "default", "normal", "override", "force_default", "force_override", "automatic")
        return self.random.choice(levels)

    def title(self) -> str:
        self.names += 1
        return f"/t/{self.names}"

    def read(self) -> str:
        a, b = self.key(), self.key()
        return self.random.choice(
            [
                *(f"node.read({a}, {b})", f"node[{a}].to_s.size", f"node.attribute?({a})", f"node.exist?({a}, {b})"),
                *("cookbook_name.to_s", "recipe_name.to_s", "node['recipes'].to_a", "node.recipe?('base::a')"),
                *("run_context.loaded_recipe?('lib::a')", "node.run_state['k']", "platform_family?('debian')"),
                *("value_for_platform('debian' => { '>= 11' => 1 }, 'default' => 2)", "tagged?('t')", "node.tags.to_a"),
                *("data_bag('bag').sort", "data_bag_item('bag', 'one')['v']", "node.name", "node.role?('r')"),
                *("run_context.resource_collection.to_a.size", "cookbook_name.class.name", "params.class.name.size"),
                *('"#{node}"', '"#{node.run_list}"', "node['cookbooks']['app']['version']", "self.class.name"),
                *("run_context.cookbook_collection.keys.map(&:to_s).sort", "Chef.node.name", "recipe_name.class.name"),
                *("Chef::DataBag.list.keys.sort", "node.attributes.class.name", "node.logger.class.name"),
                *("node.override_runlist_set?", "node.primary_runlist.to_s", f"node.attributes[{a}].to_s.size"),
                f"node.attributes.read({a}, {b})",
            ]
        )

    def write(self) -> str:
        level, a, b, value = self.level(), self.key(), self.key(), self.value()
        plain_level = self.random.choice(["default", "normal", "override"])
        any_level = self.random.choice(["default", "override"])
        return self.random.choice(
            [
                *[f"node.{level}{self.keys()} = {value}"] * 6,
                f"node.{level}['{self.random.choice('klm')}'] = {self.read()}",
                *(f"node.write(:{plain_level}, {a}, {b}, {value})", f"node.{any_level}!({a}, {b}, {value})"),
                *(f"node.send(:{plain_level})['w'][{a}] = {value}", f"node.public_send('{level}')['w'][{a}] = {value}"),
                *(f"n = node\nn.{level}['w'][{a}] = {value}", f"node.attributes.{plain_level}['w'][{a}] = {value}"),
                *(f"h = node.{level}['held']\nh[{a}] = {value}", f"node.{level}['held'].merge!('{a[1:2]}' => {value})"),
                *(f"%w(p q).each {{ |k| node.{level}['each'][k] = {value} }}", f"node.rm({a}, {b})"),
                *(f"node.{any_level}['list'] = [1]\nnode.{any_level}['list'] << {value}", f"node.rm_{any_level}({a})"),
                f"node.{plain_level}_unless['u'][{a}] = {value}",
                f"node.{any_level}.tap {{ |d| d['w'][{a}] = {value} }}",
                f"run_context.node.{plain_level}['w'][{a}] = {value}",
                *(
                    f"node.run_state['k'] = {value}",
                    f"node.{level}['lazy'] = Chef::DelayedEvaluator.new {{ node.read('a') }}",
                ),
                *(f"node.{level}['seen'] = node.read({a})", "tag('t')", "untag('t')", "node.tag('u')"),
                f"node.{level}['cond'] = {value} if {self.read()}",
                f"begin\n  raise 'no'\nrescue StandardError => e\n  node.{level}['why'] = e.message\nend",
                f"eval(\"node.{plain_level}['ev'] = 1\")",
                f"node.{any_level}['sum'] = (node['sum'] || 0) + 1",
                f"Chef.node.{plain_level}['w'][{a}] = {value}",
                f"node.{level}['m'] = Chef::Mixin::DeepMerge.merge({{ 'a' => [1] }}, {{ 'a' => [{literal('z')}] }})",
            ]
        )

    def include(self, here: str, number: int) -> str:
        """An include of a later recipe, so that none includes itself."""
        later = [(book, name) for book in COOKBOOKS for name in RECIPES if order(book, name) > number]
        if not later:
            return self.write()
        book, name = self.random.choice(later)
        full = book if name == "default" and self.random.random() < 0.5 else f"{book}::{name}"
        forms = [f"include_recipe '{full}'", f"include_recipe \"{book}::#{{'{name}'}}\"", f"include_recipe(['{full}'])"]
        forms += [f"load_recipe '{full}'" if "::" in full else f"include_recipe '{full}'"]
        forms += [f"run_context.include_recipe '{full}'", f"include_recipe '{full}' if {self.read()}"]
        forms += [f"include_recipe '::{name}'"] * 3 if book == here else []
        forms += ["node.include_attribute 'lib::more'"]
        return self.random.choice(forms)

    def resource(self, depth: int = 0) -> str:
        kind = self.random.choice(
            ["file", "directory", "template", "package", "service", "ruby_block", "log", "execute"]
        )
        title = self.title()
        body = {
            "ruby_block": "block { node.normal['converge'] = 1 }",
            "template": f"source 'x.erb'\n  variables(v: node.read({self.key()}), w: {self.value()})",
            "execute": "command 'false'\n  only_if { raise 'never' }",
            "service": "provider Chef::Provider::Service::Debian\n  only_if 'x', environment: { 'A' => 'b' }\n"
            "  supports [:start]\n  action [:enable, :start]",
            "directory": f"name '{title}n'\n  notifies :run, 'execute[x]', :immediately",
            "file": f"content lazy {{ node.normal['converge'] = 1 }}\n  mode '0644'\n  not_if {{ node[{self.key()}] }}",
        }.get(kind, "action :nothing")
        inside = self.write().replace("\n", "\n  ") if self.random.random() < 0.3 else "retries 2"
        inside = inside if "cookbook_name" not in inside and "tag" not in inside else "retries 1"
        return f"{kind} '{title}' do\n  {body}\n  {inside}\nend"

    def asking(self) -> str:
        """Something is done with a resource that was declared."""
        title, level = self.title(), self.level()
        head = f"directory '{title}' do\n  mode '0700'\nend\n"
        return head + self.random.choice(
            [
                f"node.{level}['mode'] = resources('directory[{title}]').mode",
                f"node.{level}['mode'] = find_resource(:directory, '{title}').mode",
                f"node.{level}['none'] = find_resource(:file, '/nobody').nil?",
                f"edit_resource(:directory, '{title}') {{ mode '0711' }}\n"
                f"node.{level}['mode'] = find_resource!(:directory, '{title}').mode",
                f"find_resource(:file, '{title}x') {{ mode '0600' }}",
                f"declare_resource(:log, '{title}') {{ node.{level}['log'] = 1 }}",
                f"delete_resource(:directory, '{title}')",
                f"node.{level}['title'] = edit_resource(:log, '{title}y') {{ action :nothing }}.name",
                f"d = directory '{title}z'\n"
                f"node.{level}['d'] = [d.name, d.to_s, d.cookbook_name.to_s, d.recipe_name.to_s]",
                f"d = build_resource(:file, '{title}b') {{ mode '1' }}\nnode.{level}['d'] = d.mode",
            ]
        )

    def custom(self) -> str:
        title, level = self.title(), self.level()
        return self.random.choice(
            [
                f"app_thing '{title}' do\n  port {self.random.randint(1, 9)}\n  tags_of %w(x)\nend",
                f"r = app_thing '{title}'\nnode.{level}['thing'] = [r.port, r.path, r.label, r.tags_of, r.double]",
                f"r = app_thing '{title}' do\n  port 3\n  label 'l'\nend\n"
                f"node.{level}['thing'] = [r.port, r.label, r.double]",
                f"app_thing '{title}' do\n  node.{level}['inside'] = port + 1\n  helper_of_it\nend",
                f"base_old '{title}' do\n  size 4\nend",
                f"r = base_old '{title}'\nnode.{level}['old'] = [r.size, r.owner, r.action, r.resource_name.to_s]",
                f"lib_class '{title}' do\n  color 'red'\nend",
                f"r = lib_class '{title}' do\n  color 'blue'\nend\nnode.{level}['color'] = [r.color, r.shape]",
                f"app '{title}'",
                f"named_otherwise '{title}' do\n  v 2\nend",
            ]
        )

    def defined(self) -> str:
        title = self.title()
        return self.random.choice(
            [
                f"app_def '{title}'",
                f"app_def '{title}' do\n  port({self.value()})\nend",
                f"app_def '{title}' do\n  extra({self.value()})\n  port 1, 2\nend",
                f"outer_def '{title}' do\n  deep({self.value()})\nend",
            ]
        )

    def library(self) -> str:
        a, value = self.key(), self.value()
        return self.random.choice(
            [
                *(f"AppHelp.tune(node, {a}, {value})", f"tune!({a}, {value})", f"extend AppMix\nmix!({value})"),
                *(
                    f"node.{self.level()}['lib'] = AppHelp.twice({value})",
                    f"node.tuned({value})",
                    "AppHelp.declares(self)",
                ),
                f"Chef::Recipe.include(AppMix)\nmix!({value})",
                f"file '{self.title()}' do\n  content AppHelp.twice('x').join\n  extend AppMix\n  mix!({value})\nend",
            ]
        )

    def statement(self, book: str, number: int) -> str:
        kinds: list[tuple[Callable[[], str], int]] = [
            *((self.write, 8), (self.resource, 3), (self.asking, 2), (self.custom, 3), (self.defined, 2)),
            *((self.library, 2), (lambda: self.include(book, number), 3)),
        ]
        text = self.random.choices([one for one, _ in kinds], [weight for _, weight in kinds])[0]()
        drawn = self.random.random()
        if drawn < 0.06:
            return "if platform?('debian')\n" + text + "\nelse\n  raise 'never'\nend"
        if drawn < 0.1:
            return f"case node['platform']\nwhen 'debian', 'ubuntu'\n{text}\nend"
        return f"return if node['hostname'] == 'n1'\n{text}" if drawn < 0.11 else text

    def recipe(self, book: str, name: str) -> str:
        number = order(book, name)
        return "\n".join(self.statement(book, number) for _ in range(self.random.randint(0, 6))) + "\n"

    def files(self) -> dict[str, str]:
        """The files of a repository."""
        found = {f"cookbooks/{book}/metadata.rb": metadata(book) for book in COOKBOOKS}
        for book in COOKBOOKS:
            for name in RECIPES:
                found[f"cookbooks/{book}/recipes/{name}.rb"] = self.recipe(book, name)
            level = self.random.choice(["default", "normal", "override"])
            found[f"cookbooks/{book}/attributes/default.rb"] = f"{level}['{book}']{self.keys()} = {self.value()}\n"
        level = self.level()
        return {**found, **{name: text.replace("LEVEL", level) for name, text in FIXED.items()}}

    def run_list(self) -> list[str]:
        every = [f"recipe[{book}::{name}]" for book in COOKBOOKS for name in RECIPES]
        return ["recipe[app]", *self.random.sample(every, self.random.randint(0, 3))]


def order(book: str, name: str) -> int:
    """The place of a recipe among all."""
    return COOKBOOKS.index(book) * len(RECIPES) + RECIPES.index(name)


def metadata(book: str) -> str:
    """The metadata of a cookbook: the first depends on the others."""
    depends = "depends 'base'\ndepends 'lib'\n" if book == "app" else ""
    return f"name '{book}'\nversion '1.2.{len(book)}'\n{depends}"


FIXED: Mapping[str, str] = {
    "data_bags/bag/one.json": '{"id": "one", "v": [1, {"k": "x"}]}',
    "data_bags/bag/two.json": '{"id": "two", "v": null}',
    "facts.json": json.dumps(FACTS),
    "cookbooks/lib/attributes/more.rb": "default['more'] = 1\nnode.override['w']['more'] = cookbook rescue nil\n",
    "cookbooks/app/libraries/help.rb": """\
module AppHelp
  def self.tune(node, key, value)
    node.LEVEL['tuned'][key] = value
  end

  def self.twice(value)
    [value, value]
  end

  def self.declares(recipe)
    recipe.log 'from a library' do
      node.LEVEL['declared'] = 1
    end
  end
end

module AppMix
  def mix!(value)
    node.LEVEL['mixed'] = value
  end
end

class Chef::Recipe
  def tune!(key, value)
    node.LEVEL['tune!'][key] = value
  end
end

class Chef::Node
  def tuned(value)
    LEVEL['by_node'] = value
  end
end
""",
    "cookbooks/lib/libraries/class.rb": """\
class LibClass < Chef::Resource
  provides :lib_class
  resource_name :lib_class
  property :color, String, default: 'green'
  property :shape, String, default: lazy { |r| r.color + '!' }
  default_action :paint
  action :paint do
    node.default['painted'] = new_resource.color
  end
end
""",
    "cookbooks/app/resources/thing.rb": """\
provides :app_thing
unified_mode true
property :path, String, name_property: true
property :port, Integer, default: 80
property :label, [String, nil], coerce: proc { |v| v.to_s * 2 }
property :tags_of, Array, default: []
property :double, Integer, default: lazy { port * 2 }

def helper_of_it
  node.LEVEL['helped'] = path
end

action :create do
  node.default['thing']['created'] = true
end

action_class do
  def x
    node.default['never'] = 1
  end
end
""",
    "cookbooks/app/resources/default.rb": "property :n, Integer, default: 1\naction :run do\n  raise 'never'\nend\n",
    "cookbooks/app/resources/other.rb": "provides :named_otherwise\nproperty :v, Integer\naction(:run) { }\n",
    "cookbooks/base/resources/old.rb": """\
actions :create, :remove
default_action :create
attribute :size, kind_of: Integer, default: 7
attribute :owner, kind_of: String, name_attribute: true
""",
    "cookbooks/base/providers/old.rb": "use_inline_resources\naction :create do\n  node.default['never'] = 1\nend\n",
    "cookbooks/app/definitions/app_def.rb": """\
define :app_def, port: 5 do
  node.LEVEL['def'][params[:name]] = params[:port]
  node.LEVEL['extra'] = params[:extra]
  file "#{params[:name]}.conf" do
    content params[:port].to_s
    node.LEVEL['def_block'] = params[:port]
  end
end
""",
    "cookbooks/base/definitions/outer.rb": """\
define :outer_def do
  app_def "#{params[:name]}-inner" do
    port params[:deep]
  end
  node.LEVEL['outer'] = [params[:deep], cookbook_name.to_s, recipe_name.to_s]
end
""",
}


class Chef:
    """The real one: a process for each repository, all of one that has loaded Chef."""

    def __init__(self) -> None:
        self._peer = Peer("ruby", "-W0", str(Path(__file__).with_name("chef_recipes.rb")), LC_ALL="C.UTF-8")
        self.seconds = 0.0

    def compile(self, root: Path, run_list: list[str]) -> dict[str, Any]:
        """What Chef answers; {} where its process ended."""
        folders = {"cookbooks": str(root / "cookbooks"), "bags": str(root / "data_bags")}
        began = time.perf_counter()
        found = self._peer.ask({**folders, "facts": str(root / "facts.json"), "run_list": run_list})
        self.seconds += time.perf_counter() - began
        return found


def ours(root: Path, run_list: list[str], kept: list[Helper] | None = None) -> dict[str, Any]:
    """The same of our run. kept: the helper of an earlier run in the same folder, which is used again"""
    repository = Repository(root)
    key = repository.root, repository.config.chef.ruby_seconds
    if kept and kept[-1].alive:
        HELPERS.of_folder[key] = kept[-1]
    repository.options = RepositoryOptions(ruby=True)
    facts = Facts(json.loads((root / "facts.json").read_text()), Origin("facts"))
    try:
        run = run_node(repository, "n1", facts=facts, run_list=run_list)
    except NodeattrsError as error:
        return {"failed": str(error)}
    finally:
        if kept is not None:
            kept[:] = [HELPERS.of_folder[key]] if key in HELPERS.of_folder else []
    trees = {level: plain(getattr(run.node, level).to_dict()) for level in COMPONENTS}
    said = [str(one) for one in run.warnings]
    return {
        "levels": trees,
        "merged": plain(run.node.to_dict()),
        "resources": [lowered(str(one.ref)) for one in run.catalog if not one.is_container],
        "failed": "; ".join(one for one in said if "was not run" in one or "not done here" in one) or None,
        "lines": [one.origin.file is not None and one.origin.line is not None for one in run.catalog if one.origin],
    }


def lowered(ref: str) -> str:
    """A reference as Chef spells it, without the number of one that is declared again."""
    return re.sub(r" \(\d+\)]$", "]", ref[0].lower() + ref[1:])


def differs(here: dict[str, Any], theirs: dict[str, Any]) -> str:
    """The first thing that is not the same; "" where all is, or both say that it fails."""
    if theirs.get("failed") or not theirs:
        return "" if here.get("failed") else f"only Chef fails: {theirs.get('failed', 'it ended')}"
    if here.get("failed"):
        return f"only ours fails: {here['failed']}"
    for name in ("levels", "merged"):
        if found := difference(*(known(one[name]) for one in (here, theirs))):
            return f"{name}{found}"
    return difference({"resources": here["resources"]}, {"resources": theirs["resources"]})


def known(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree without what Chef makes up for each run; facts in order of their names."""
    facts = {key: one for key, one in sorted(tree.get("automatic", {}).items()) if key != "chef_guid"}
    if "automatic" in tree:
        return {**tree, "automatic": facts}
    return {key: one for key, one in sorted(tree.items()) if key != "chef_guid"}


def compare(count: int, seed: int, keep: Path | None) -> int:
    """Print what is not the same; the exit code."""
    chef, equal, failing, seconds = Chef(), 0, 0, 0.0
    kept: list[Helper] = []
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name).resolve()
    for number in range(seed, seed + count):
        maker = Maker(Random(f"recipes-{number}"))
        files, run_list = maker.files(), maker.run_list()
        write(root, files)
        began = time.perf_counter()
        here = ours(root, run_list, kept)
        seconds += time.perf_counter() - began
        theirs = chef.compile(root, run_list)
        found = differs(here, theirs)
        equal += not found
        failing += bool(theirs.get("failed"))
        if found:
            print(f"repository {number} {run_list}: {found}", flush=True)
            if keep is not None:
                write(keep / str(number), files)
    folder.cleanup()
    print(
        f"{equal} of {count} are equal; in {failing} Chef fails, too; ours {seconds:.0f} s, Chef {chef.seconds:.0f} s"
    )
    return 0 if equal == count else 1


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files of a repository."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.chef_recipes", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if missing := [name for name in ("CHEF_SRC", "MIXLIB_AUTH") if name not in os.environ]:
        parser.error(f"{' and '.join(missing)} must say where Chef's source lies, see the top of this file")
    return compare(options.count, options.seed, options.keep)


if __name__ == "__main__":
    sys.exit(main())
