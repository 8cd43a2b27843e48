"""Attribute files in Ruby, run by a real ruby: what they write, what they see, how they fail, what is left of them."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nodeattrs.dialects.chef.ruby.helper
from nodeattrs import Node, Sensitive, border, children
from nodeattrs.cli import main
from nodeattrs.core.budget import limited
from nodeattrs.core.claim import Origin
from nodeattrs.core.code import held_back
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.fleet import Fleet, resolve
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import RepositoryOptions
from nodeattrs.dialects.chef.ruby.described import described
from nodeattrs.dialects.chef.ruby.helper import Helper, ruby_command
from nodeattrs.dialects.chef.ruby.messages import RunServices
from nodeattrs.dialects.chef.ruby.session import RubySession
from nodeattrs.dialects.chef.run.run import Run, run_node
from nodeattrs.errors import DocumentError, NodeattrsError, NotFound, RecipeFailed, TooMuch
from tests.on_disk import repository
from tests.ruby_programs import Programs, judged
from tests.vectors.cases import HERE, cases_of

pytestmark = pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no ruby")

FACTS = {"platform": "ubuntu", "platform_family": "debian", "platform_version": "22.04", "os": "linux"}
DEFAULT = "cookbooks/app/attributes/default.rb"


def ran(root: Path, files: dict[str, object], **more: object) -> Run:
    """A run of the cookbook app, with Ruby; a text alone is its default attribute file."""
    repo = repository(root, files)
    repo.options = RepositoryOptions(ruby=True)
    return run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=["app"], **more)  # type: ignore[arg-type]


def of_text(root: Path, text: str, **files: object) -> Run:
    return ran(root, {"cookbooks/app/recipes/default.py": "", DEFAULT: text, **files})


def places(run: Run, path: str) -> list[str | None]:
    return [one.place for one in run.node.origins(path)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return Programs(tmp_path_factory.mktemp("programs").resolve())


class TestWhatIsWritten:
    def test_each_value_names_its_line(self, tmp_path):
        """The line of the write, of the element that was added, and the one that took the place of another."""
        text = "default['app']['port'] = 80\ndefault['app']['names'] = ['a']\ndefault['app']['names'] << 'b'\n"
        run = of_text(tmp_path, f"{text}default['app']['port'] = 8080\n")

        assert {"port": 8080, "names": ["a", "b"]} == run.node["app"].to_dict()
        assert [f"{DEFAULT}:4"] == places(run, "app.port")
        assert [f"{DEFAULT}:2", f"{DEFAULT}:3"] == places(run, "app.names.0")  # who went on with it, too
        assert [f"{DEFAULT}:3"] == places(run, "app.names.1")
        assert "app::default" in run.node.explain("app.port")

    def test_an_entry_of_a_literal_names_its_own_line(self, tmp_path):
        """Ruby names one line of a statement; which one depends on what it holds."""
        text = (
            "default['app'] = {\n  'a' => 1,\n  'b' => { c: [1,\n    2] },\n}\n"
            "default['list'] << [\n  'x'\n] rescue nil\n"
            "default['app'].merge!(\n  'm' => 1,\n  'n' => 2)\n"
            "default['made'] = [1,\n  2].map { |one|\n  one + 1 }\n"
        )
        run = of_text(tmp_path, text)

        lines = {"app.a": 2, "app.b.c": 3, "app.b.c.1": 4, "app.m": 10, "app.n": 11, "made": 12}
        assert {path: [f"{DEFAULT}:{line}"] for path, line in lines.items()} == {
            path: places(run, path) for path in lines
        }

    def test_what_a_method_of_a_library_writes_names_the_attribute_file(self, tmp_path):
        """And not the library, which any file may call."""
        library = "class Chef::Node\n  def workers(count)\n    default['app']['workers'] = count\n  end\nend\n"
        run = of_text(tmp_path, "\nworkers 4\n", **{"cookbooks/app/libraries/a.rb": library})

        assert 4 == run.node["app"]["workers"]
        assert [f"{DEFAULT}:2"] == places(run, "app.workers")

    def test_values_keep_their_types(self, tmp_path):
        """Symbols, whole numbers as keys, numbers, null; what JSON cannot say is text, with a warning."""
        run = of_text(tmp_path, "default['a'] = { 1 => :x, 'f' => 1.0, 'n' => nil, 'r' => /b+/ }\n")

        assert {1: "x", "f": 1.0, "n": None, "r": "(?-mix:b+)"} == run.node["a"].to_dict()
        assert "Symbol" == type(run.node["a"][1]).__name__
        assert [(DEFAULT, 1)] == [(one.file, one.line) for one in run.warnings if isinstance(one, DocumentError)]

    def test_a_text_that_is_changed_in_place_is_written_again(self, tmp_path):
        """As Ruby's texts are, in a level and not in what is merged."""
        run = of_text(tmp_path, "default['p'] = '/bin'\ndefault['p'] << ':/opt'\ndefault['q'] = node['p']\n")

        assert ["/bin:/opt", "/bin:/opt"] == [run.node["p"], run.node["q"]]
        assert [f"{DEFAULT}:2"] == places(run, "p")

    def test_a_step_makes_a_map_in_its_place(self, tmp_path):
        """In the order in which Ruby made them."""
        run = of_text(tmp_path, "default['a']\ndefault['b']['c'] = 1\ndefault['d']['e']\n")

        assert [("a", {}), ("b", {"c": 1}), ("d", {"e": {}})] == list(run.node.default.to_dict().items())

    def test_a_deferred_value_is_computed_when_it_is_read(self, tmp_path):
        """By Ruby, with what stands there then, also for a recipe in Python."""
        files = {
            "cookbooks/app/recipes/default.py": "node.default['b'] = 2\nnode.default['seen'] = node['sum']\n",
            DEFAULT: "default['b'] = 1\ndefault['sum'] = lazy { node['b'] + 1 }\ndefault['then'] = node['sum']\n",
        }
        run = ran(tmp_path, files)

        assert (3, 3, 2) == (run.node["sum"], run.node["seen"], run.node["then"])

    def test_several_threads_may_read_deferred_values(self, tmp_path):
        """One after the other is computed."""
        run = of_text(tmp_path, "20.times { |n| default['a'][n.to_s] = lazy { n + 1 } }\n")
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda n: run.node["a"][str(n)], range(20)))

        assert list(range(1, 21)) == found

    @pytest.mark.parametrize("case", [one["id"] for one in cases_of(HERE / "chef-attributes.jsonl")][::5])
    def test_programs_give_what_chef_gives(self, programs, case):
        """Each statement, and what stands there in the end; the oracle runs them all, and random ones."""
        found = next(one for one in cases_of(HERE / "chef-attributes.jsonl") if one["id"] == case)

        assert judged(programs, found) is None


class TestWordsOfChef:
    def test_a_library_reopens_each_class_of_chef(self, tmp_path):
        """As a class, which each of them is in Chef Infra 19."""
        names = ["Digester", "Exceptions", "JSONCompat", "Log", "Platform", "Util"]
        classes = "".join(f"  class {name}\n    def self.of_library\n      1\n    end\n  end\n" for name in names)
        text = "".join(f"default['a']['{name}'] = Chef::{name}.of_library\n" for name in names)
        run = of_text(tmp_path, text, **{"cookbooks/app/libraries/more.rb": f"class Chef\n{classes}end\n"})

        assert (dict.fromkeys(names, 1), []) == (run.node["a"].to_dict(), run.warnings)

    def test_words_of_attribute_files_give_the_values_of_chef(self, tmp_path):
        """The values of Chef Infra 19."""
        values = {
            "Chef::JSONCompat.parse('{\"a\": 1}')": {"a": 1},
            "Chef::JSONCompat.from_json('[1]')": [1],
            "Chef::JSONCompat.to_json({ 'a' => 1 })": '{"a":1}',
            '"#{node}"': "node[web1]",
            '"#{node.run_list}"': "recipe[app]",
            "node.run_list.map(&:name)": ["app"],
            "node.run_list.map { |item| item.type.to_s }": ["recipe"],
            "node.run_list?('recipe[app]')": True,
            "Chef::Version.new('12.0.0') > Chef::Version.new('11.9')": True,
            "Chef::Version.new('12.1').to_s": "12.1.0",
            "Chef::Mixin::DeepMerge.merge({ 'a' => { 'x' => 1 } }, { a: { y: 2 } })": {"a": {"x": 1, "y": 2}},
            "Chef::Mixin::DeepMerge.merge({ 'l' => [1] }, { 'l' => [2, 1] })": {"l": [1, 2]},
            "node['languages'].is_a?(Mash)": True,
            "{ 'x' => 1 }.to_yaml": "---\nx: 1\n",
            "Chef::DataBagItem.load('users', 'bob')['shell']": "/bin/zsh",
            "[Chef::Config[:node_name] == node.name, Chef::Config.node_name == node.name]": [True, True],
        }
        bag = {"data_bags/users/bob.json": {"id": "bob", "shell": "/bin/zsh"}}
        lines = [f"default['v'][{number}] = {expression}\n" for number, expression in enumerate(values)]
        run = of_text(tmp_path, "".join(["automatic['languages']['ruby'] = '3'\n", *lines]), **bag)

        assert values == dict(zip(values, run.node["v"].to_dict().values(), strict=True))

    @pytest.mark.parametrize(
        "word",
        [
            *("Chef::Role.load('web')", "Chef::Environment.load('x')", "Chef::Platform.provider_for_node(node)"),
            *(
                "Chef::Config[:no_such]",
                "Chef::Search::Query.new.search(:node)",
                "Chef::Digester.checksum_for_file('/')",
            ),
            *("`true`", "system('true')", "shell_out('true')", "IO.popen('true')", "Kernel.exec('true')", "%x(true)"),
            *("open('|true')", "(require 'socket'; TCPSocket.new('localhost', 1))", "Process.spawn('true')"),
            *("(require 'open3'; Open3.capture2('true'))", "Mixlib::ShellOut.new('true').run_command", "which('sh')"),
        ],
    )
    def test_one_that_needs_chef_or_the_machine_is_unread_and_not_null(self, tmp_path, word):
        """From its line on, with a warning, though the file rescues errors; what came before counts."""
        text = f"default['w'] = 1\nbegin\n  default['v'] = {word}\nrescue StandardError\n  default['v'] = 'no'\nend\n"
        run = of_text(tmp_path, text)

        assert {"w": 1} == {key: value for key, value in run.node.to_dict().items() if key in "vw"}
        assert f"{DEFAULT}:3" in {one.origin.place for one in run.node.trace("w").unknown}
        assert [(DEFAULT, 3)] == [(one.file, one.line) for one in run.warnings if isinstance(one, DocumentError)]


class TestPythonAndRuby:
    def test_python_and_ruby_attribute_files_load_by_name_and_see_each_other(self, tmp_path):
        """Whoever includes whom."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            DEFAULT: "default['seen'] = ['rb']\ninclude_attribute 'app::b'\ndefault['after'] = node['b'] + 1\n",
            "cookbooks/app/attributes/a.py": "default['seen'].append('a')\n",
            "cookbooks/app/attributes/b.py": "include_attribute('app::c')\ndefault['b'] = node['c'] * 2\n",
            "cookbooks/app/attributes/c.rb": "default['seen'] << 'c'\ndefault['c'] = 5\n",
        }
        run = ran(tmp_path, files)

        assert ["default.rb", "b.py", "c.rb", "a.py"] == [name.rpartition("/")[2] for name in run.attribute_files]
        assert (["rb", "c", "a"], 10, 11) == (run.node["seen"].to_list(), run.node["b"], run.node["after"])

    def test_ruby_sees_what_python_has_set_by_then(self, tmp_path):
        """In the middle of a file, each time anew."""
        python = (
            "default['n'] = 1\ninclude_attribute('app::c')\ndefault['n'] = 2\ninclude_attribute('app::d')\n"
            "default['n'] = 3\ndefault['now'] = node['later']\n"
        )
        files = {
            "cookbooks/app/recipes/default.py": "",
            DEFAULT: "default['first'] = node['n']\ninclude_attribute 'app::b'\ndefault['last'] = default['n']\n",
            "cookbooks/app/attributes/b.py": python,
            "cookbooks/app/attributes/c.rb": "default['c'] = [node['n'], default['n']]\n"
            "default['later'] = lazy { node['n'] }\n",
            "cookbooks/app/attributes/d.rb": "default['d'] = [node['n'], default['n']]\n",
        }
        tree = ran(tmp_path, files).node.to_dict()

        assert (None, [1, 1], [2, 2], 3, 3) == tuple(tree[key] for key in ("first", "c", "d", "last", "now"))

    def test_a_writer_that_was_held_goes_on(self, tmp_path):
        """It sees what another file set meanwhile, and writes to what stands there then."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            DEFAULT: "held = default['a']\nheld['x'] = 1\ninclude_attribute 'app::b'\nheld['z'] = held['y'] + 1\n",
            "cookbooks/app/attributes/b.py": "default['a']['y'] = 2\n",
        }
        run = ran(tmp_path, files)

        assert {"x": 1, "y": 2, "z": 3} == run.node["a"].to_dict()

    def test_what_was_held_of_a_level_that_was_replaced_as_a_whole_goes_on_by_itself(self, tmp_path):
        """As in Chef: a step, a value and a text that is changed in place are in no level any more."""
        text = (
            "default['d']['a']['d'] = 1\ndefault['d']['t'] = +'x'\n"
            "held, text = default['d']['a'], default['d']['t']\nnode.attributes.default = {'d' => 2}\n"
            "held['a']['b'] = 3\nheld['c']\ntext << 'y'\n"
        )
        files = {"cookbooks/app/recipes/default.py": "", "cookbooks/app/attributes/default.rb": text}

        assert 2 == ran(tmp_path, files).node["d"]

    @pytest.mark.parametrize("removal", ["node.unlink(:normal, 'a', 'b')", "node.normal['a'].delete('b')"])
    def test_maps_that_were_stepped_into_stay_when_what_is_in_them_goes(self, tmp_path, removal):
        """As in Chef, where each step makes a map."""
        files = {"cookbooks/app/recipes/default.py": "", DEFAULT: f"node.normal['a']['b']\n{removal}\n"}

        assert {} == ran(tmp_path, files).node["a"].to_dict()

    def test_a_file_that_a_recipe_includes_does_not_win(self, tmp_path):
        """An attribute file that runs late sees and changes what attribute files set."""
        files = {
            "cookbooks/app/recipes/default.py": "node.default['a'] = 'recipe'\ninclude_attribute('lib')\n",
            "cookbooks/lib/attributes/default.rb": "default['b'] = default.to_hash.keys\ndefault['a'] = 'file'\n",
        }
        run = ran(tmp_path, files)

        assert ("recipe", []) == (run.node["a"], run.node["b"].to_list())


class TestSecrets:
    def test_what_ruby_makes_of_a_secret_is_one(self, tmp_path):
        """A copy, a text that has it inside, a map of it; another text is none."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            "cookbooks/app/attributes/default.py": (
                "default['pw'] = Sensitive('s3cret')\ndefault['deep'] = Sensitive({'a': ['hidden!']})\n"
            ),
            "cookbooks/app/attributes/more.rb": (
                "default['copy'] = node['pw']\ndefault['url'] = \"x:#{node['pw']}@y\"\n"
                "default['map'] = { 'k' => [node['deep']['a'][0]] }\n"
                "default['lazy'] = lazy { node['pw'].upcase + node['pw'] }\n"
                "default['other'] = 's3'\n"
            ),
        }
        node = ran(tmp_path, files).node

        assert isinstance(node["copy"], Sensitive)
        assert node["url"].unwrap() == "x:s3cret@y"
        assert node["other"] == "s3"
        shown = json.dumps(node.snapshot()) + repr(node.to_dict()) + node.explain("url") + json.dumps(node.to_chef())
        assert "s3cret" not in shown
        assert "hidden!" not in shown

    MAKES = "default['pw'] = Sensitive('s3cret')\ndefault['key'] = Sensitive('long s3cret\\n' * 9)\n"

    @pytest.mark.parametrize(
        "text",
        [
            "raise \"no #{node['pw']}\"",
            "raise node['key'].inspect",
            "Integer(node['pw'])",
            "{}.fetch(node['pw'])",
            "node.to_hash.nosuch",
            "{ 'pw' => 's3cret' }.nosuch",
            "default.nosuch",
            "include_attribute node['pw']",
            "data_bag_item('users', node['pw'])",
        ],
    )
    def test_an_error_of_ruby_does_not_have_a_secret(self, tmp_path, text):
        files = {"cookbooks/app/recipes/default.py": "", "cookbooks/app/attributes/default.py": self.MAKES}
        with pytest.raises(RecipeFailed) as raised:
            ran(tmp_path, {**files, "cookbooks/app/attributes/more.rb": text})

        assert "s3cret" not in "".join(traceback.format_exception(raised.value))

    @pytest.mark.parametrize("size", [0, 50, 66])
    def test_logs_and_calls_that_are_not_done_do_not_have_a_secret(self, tmp_path, size):
        files = {
            "cookbooks/app/recipes/default.py": "",
            "cookbooks/app/attributes/default.py": self.MAKES,
            "cookbooks/app/attributes/more.rb": (
                f"Chef::Log.warn(\"a #{{node['pw']}}\")\nsystem('x' * {size} + node['key'])\n"
            ),
        }
        run = ran(tmp_path, files)

        assert ["a Sensitive(withheld)"] == [line.message for line in run.log]
        assert "s3cret" not in repr(run.warnings) + json.dumps(run.node.snapshot())
        assert "it asks for system" in repr(run.warnings)


class TestWords:
    def test_what_a_file_asks_of_the_platform(self, tmp_path):
        """The constraints of Chef, its defaults, and predicates."""
        text = (
            "default['a'] = value_for_platform('ubuntu' => { '>= 22.04' => 'new', 'default' => 'old' })\n"
            "default['b'] = value_for_platform(%w(centos) => { 'default' => 1 }, 'default' => 2)\n"
            "default['c'] = value_for_platform_family(%w(rhel fedora) => 1, 'debian' => 2)\n"
            "default['d'] = [platform?('ubuntu', 'x'), platform_family?('rhel'), debian?, windows?]\n"
        )
        run = of_text(tmp_path, text)

        assert ["new", 2, 2, [True, False, True, False]] == [run.node.to_dict()[key] for key in "abcd"]

    def test_data_bags_search_log_and_names(self, tmp_path):
        """All of them answered by the run."""
        text = (
            "default['item'] = data_bag_item('users', 'ann')['shell']\ndefault['bag'] = data_bag('users')\n"
            "default['found'] = search(:node, 'role:db').map { |one| one['name'] }\n"
            "default['names'] = [node.name, node.chef_environment, node.run_list.to_a, tagged?('x')]\n"
            "Chef::Log.warn(\"a #{node.recipe?('app')}\")\nChef::Log.debug('not said')\n"
        )
        item = {"data_bags/users/ann.json": {"id": "ann", "shell": "/bin/sh"}}
        words = {"search": lambda index, query: [{"name": f"{index} {query}"}]}
        run = ran(tmp_path, {"cookbooks/app/recipes/default.py": "", DEFAULT: text, **item}, words=words)

        told = [run.node.to_dict()[key] for key in ("item", "bag", "found")]
        assert ["/bin/sh", ["ann"], ["node role:db"]] == told
        assert ["web1", "_default", ["recipe[app]"], False] == run.node["names"].to_list()
        assert [("warn", "a true", 5)] == [(line.level, line.message, line.origin.line) for line in run.log]

    def test_an_error_of_the_run_can_be_rescued(self, tmp_path):
        """A cookbook, or a bag, that is not there."""
        text = "default['a'] = data_bag_item('no', 'bag') rescue default['a'] = $!.message[/^\\w+/]\n"
        run = of_text(tmp_path, f"{text}include_attribute('nobody') rescue default['b'] = 1\n")

        assert ("DataBagItemNotFound", 1) == (run.node["a"], run.node["b"])

    def test_libraries_load_without_chef(self, tmp_path):
        """Resources, mixins and Chef's own files are names that do nothing; one that fails is a warning."""
        library = (
            "require 'chef/resource'\nclass Thing < Chef::Resource\n  include Chef::Mixin::ShellOut\n"
            "  property :path, String\n  action(:create) { }\nend\nmodule App\n  SIZE = 3\nend\n"
        )
        files = {"cookbooks/app/libraries/a.rb": library, "cookbooks/app/libraries/b.rb": "require 'not_there'\n"}
        run = of_text(tmp_path, "default['size'] = App::SIZE\ndefault['c'] = Chef::Config[:file_cache_path]\n", **files)

        assert (3, "/var/chef/cache") == (run.node["size"], run.node["c"])
        assert ["cookbooks/app/libraries/b.rb"] == [getattr(one, "file", None) for one in run.warnings]


class TestWhenItFails:
    @pytest.mark.parametrize(
        ("text", "line", "said"),
        [
            ("\ndefault['a'] = node['b']['c']\n", 2, "NoMethodError: undefined method"),
            ("default['a'] = 1\nif\n", 2, "SyntaxError"),
            ("\n\nraise 'no'\n", 3, "RuntimeError: no"),
            ("node['a']['b'] = 1 if node['platform']\n", 1, "NoMethodError"),
            ("node['os'] << 'x'\n", 1, "FrozenError"),
            ("exit 3\n", 1, "SystemExit"),
            ("\ninclude_attribute 'nobody'\n", 2, "there is no cookbook nobody"),
            ("def f(n)\n  f(n + 1)\nend\nf(1)\n", None, "SystemStackError"),
            ("default['a'] = { nil => 1 }\n", 1, "a key"),
            ("\ndefault['a'][nil] = 1\n", 2, "a key is text or a whole number, and not nil"),
            ("node[nil]\nnode.rm('a', 1.5)\n", 2, "a key is text or a whole number, and not 1.5"),
            ("default['a'] = Float::NAN\n", 1, "NaN"),
            ("default['a'] = \"\\xff\"\n", 1, "JSON::GeneratorError"),
        ],
    )
    def test_the_error_names_the_line(self, tmp_path, text, line, said):
        """Of the attribute file that ran, whatever Ruby raises."""
        with pytest.raises(RecipeFailed) as raised:
            of_text(tmp_path, text)

        assert f"{DEFAULT}:{line}: " in str(raised.value) or line is None
        assert said in str(raised.value)

    def test_an_included_file_names_its_own_line(self, tmp_path):
        """Whoever included it; unless that one raises something of its own."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            DEFAULT: "include_attribute 'app::b'\n",
            "cookbooks/app/attributes/b.rb": "\nraise 'no'\n",
        }
        with pytest.raises(RecipeFailed, match=r"^cookbooks/app/attributes/b\.rb:2: .*app::b failed: RuntimeError: no"):
            ran(tmp_path, files)
        with pytest.raises(RecipeFailed, match=r"^cookbooks/app/attributes/default\.rb:2: .* RuntimeError: mine"):
            ran(tmp_path, {**files, DEFAULT: "begin; include_attribute 'app::b'\nrescue => e then raise 'mine'\nend\n"})

    def test_a_file_that_takes_too_long_is_ended_with_all_it_started(self, tmp_path):
        """Its processes too; the next run has a process of its own."""
        files = {
            DEFAULT: "File.write('child', fork { sleep 600 }.to_s)\nloop { }\n",
            "cookbooks/app/recipes/default.py": "",
            "nodeattrs.toml": "[chef]\nruby_seconds = 1.5\n",
        }
        with pytest.raises(RecipeFailed, match=r"longer than 1\.5 s"):
            ran(tmp_path, files)

        child = int((tmp_path / "child").read_text())
        assert _is_gone(child)
        assert 1 == of_text(tmp_path, "default['a'] = 1\n").node["a"]

    def test_without_ruby_the_error_says_so(self, tmp_path, monkeypatch):
        """And the way out."""
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(NotFound, match="there is no ruby"):
            of_text(tmp_path, "default['a'] = 1\n")


def _is_gone(process: int) -> bool:
    for _ in range(100):
        try:
            os.kill(process, 0)
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


class TestWhoRunsIt:
    def test_nothing_runs_unless_it_is_asked_for(self, tmp_path):
        """Then the file is an unknown layer."""
        repo = repository(tmp_path, {"cookbooks/app/recipes/default.py": "", DEFAULT: "File.write('ran', '1')\n"})
        run = run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=["app"])

        assert not (tmp_path / "ran").exists()
        assert [DEFAULT] == [getattr(one, "file", None) for one in run.warnings]

    def test_the_setting_runs_it_where_code_runs_and_nowhere_else(self, tmp_path):
        """Held back, it is not run, whatever the repository says."""
        files = {DEFAULT: "File.write('ran', '1')\n", "nodeattrs.toml": "[chef]\nruby = true\n"}
        repo = repository(tmp_path, files)

        with held_back():
            run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=[])
            with pytest.raises(NodeattrsError, match="not run"):
                Helper(tmp_path)
        assert not (tmp_path / "ran").exists()
        assert True is repo.config.chef.ruby

    def test_repositories_of_one_folder_share_a_process(self, tmp_path, monkeypatch):
        """As the suites of Test Kitchen in a comparison."""
        started: list[object] = []
        start = children.start
        monkeypatch.setattr(children, "start", lambda *words, **named: started.append(words) or start(*words, **named))
        files = {"cookbooks/app/recipes/default.py": "", DEFAULT: "default['process'] = Process.pid\n"}
        first, *others = [repository(tmp_path, files) for _ in range(3)]
        processes = set()
        for repo in (first, *others, first):
            repo.options = RepositoryOptions(ruby=True)
            run = run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=["app"])
            processes.add(run.node["process"])

        assert (4, 1) == (len(processes), len(started))

    def test_the_command_line_asks_for_it(self, tmp_path, monkeypatch, capsys):
        """run, explain and fleet."""
        files = {
            "cookbooks/app/recipes/default.py": "",
            DEFAULT: "\ndefault['a'] = node['fqdn']\n",
            "nodes/web1.json": {"name": "web1", "run_list": ["recipe[app]"]},
            "facts.json": {**FACTS, "fqdn": "web1.example.com"},
        }
        repository(tmp_path, files)
        monkeypatch.chdir(tmp_path)
        common = ["--facts", "facts.json", "--ruby"]

        assert 0 == main(["run", "--repo", ".", "--node", "web1", *common])
        assert 0 == main(["fleet", "resolve", "--repo", ".", "--jobs", "1", *common])
        assert 0 == main(["explain", "web1", "a", "--repo", ".", *common])
        assert f'"web1.example.com"  {DEFAULT}:2' in capsys.readouterr().out

    def test_it_has_a_clean_environment_and_the_repository_as_its_folder(self, tmp_path, monkeypatch):
        """Nothing of ours but where programs lie."""
        monkeypatch.setenv("SECRET", "x")
        run = of_text(tmp_path, "default['env'] = ENV.keys.sort\ndefault['here'] = Dir.pwd\n$stdin.read\nputs 'x'\n")

        assert {"SECRET", "PYTHONPATH", "RUBYOPT"}.isdisjoint(run.node["env"].to_list())
        assert os.path.realpath(tmp_path) == run.node["here"]

    def test_one_ruby_serves_a_fleet_and_no_node_sees_another(self, tmp_path):
        """What a file leaves behind in Ruby is gone with its node; each has all the rest."""
        text = "$seen ||= []\n$seen << node.name\ndefault['seen'] = $seen\ndefault['ruby'] = Process.ppid\n"
        files = {"cookbooks/app/recipes/default.py": "", DEFAULT: text, "facts.json": FACTS}
        nodes = {f"nodes/n{number}.json": {"name": f"n{number}", "run_list": ["app"]} for number in range(3)}
        repository(tmp_path, {**files, **nodes})
        fleet = Fleet(
            str(tmp_path), str(tmp_path / "s.db"), str(tmp_path / "facts.json"), options=RepositoryOptions(ruby=True)
        )
        outcomes = list(resolve(fleet, ["n0", "n1", "n2"], jobs=1, collect=_attributes))

        assert [["n0"], ["n1"], ["n2"]] == [one.collected["seen"] for one in outcomes]
        assert 1 == len({one.collected["ruby"] for one in outcomes})

    def test_a_deferred_value_of_an_earlier_node_says_that_it_is_over(self, tmp_path):
        """What was saved holds what it came to."""
        repo = repository(tmp_path, {"cookbooks/app/recipes/default.py": "", DEFAULT: "default['a'] = lazy { 1 }\n"})
        repo.options = RepositoryOptions(ruby=True)
        first, second = (
            run_node(repo, name, facts=Facts(FACTS, Origin("facts")), run_list=["app"]).node for name in ("n1", "n2")
        )

        assert 1 == second["a"]
        with pytest.raises(RecipeFailed, match="has ended"):
            first["a"]

    def test_the_ruby_process_ends_with_the_repository(self, tmp_path):
        """No process is left behind."""
        run = of_text(tmp_path, "default['ruby'] = Process.ppid\n")
        ruby = run.node["ruby"]
        del run
        gc.collect()

        assert _is_gone(ruby)

    def test_it_ends_with_the_workers_of_a_fleet_and_so_does_what_it_has_started(self, tmp_path):
        """Those that begin as copies end at once, and have to see to it before."""
        started = "Process.detach(fork { sleep 600 }).pid"
        code = f"File.write(\"child-#{{{started}}}\", '')\n"
        files = {
            DEFAULT: code,
            "cookbooks/app/recipes/default.py": "",
            "cookbooks/app/metadata.json": '{"name": "app", "version": "1.0.0"}',
            "nodeattrs.toml": "",
            **{f"nodes/n{number}.json": f'{{"name": "n{number}", "run_list": ["app"]}}' for number in range(20)},
            **{f"facts/n{number}.json": '{"platform": "debian"}' for number in range(20)},
        }
        repository(tmp_path, files)
        words = f"fleet resolve --repo {tmp_path} --facts {tmp_path}/facts --store {tmp_path}/n.db --jobs 2 --ruby"
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-m", "nodeattrs", *words.split()]
        said = subprocess.run(command, env=environment, text=True, capture_output=True)

        assert re.search(r"^20 nodes, .*\b0 failed$", said.stdout, re.MULTILINE), said
        children = [int(file.name.partition("-")[2]) for file in tmp_path.glob("child-*")]
        assert len(children) == 20
        assert all(map(_is_gone, children))


def _attributes(name, came, log):
    return {key: came.run.node[key].to_list() if key == "seen" else came.run.node[key] for key in ("seen", "ruby")}


class TestWhatItMaySay:
    """The helper is trusted with no more than its node."""

    def said(self, root: Path, lines: str, seconds: float = 5) -> Node:
        (root / "said").write_text(lines)
        node = Node("web1", root=root)
        helper = Helper(root.resolve(), seconds, [sys.executable, "-c", _SAY])
        with contextlib.closing(helper):
            RubySession(node, helper, RunServices(lambda *_: None), root.resolve()).run(
                f"{root.resolve()}/a.rb", "a::b", "a.rb", "a"
            )
        return node

    def test_a_valid_message_of_ruby_sets_the_attribute(self, tmp_path):
        """A line for each message."""
        said = json.dumps(["set", "default", ["a", "b"], 1, f"{tmp_path.resolve()}/a.rb", 3])
        node = self.said(tmp_path, f'["ready"]\n{said}\n["done", null]\n')

        assert (1, "a.rb:3") == (node["a"]["b"], node.origins("a.b")[0].place)

    @pytest.mark.parametrize(
        "line",
        [
            "no json",
            "[" * 100_000,
            "{}",
            "[]",
            "[1]",
            '["nothing"]',
            '["set"]',
            '["set", "automatics", ["a"], 1, null, null]',
            '["set", "default", [], 1, null, null]',
            '["set", "default", [[]], 1, null, null]',
            '["set", "default", ["a"], 1, [], null]',
            '["set", "default", ["a"], 1, null, {}]',
            '["set", "__class__", ["a"], 1, null, null]',
            '["list", "default", ["a"], "__init__", [], null, null]',
            '["list", "default", ["a"], "push", 1, null, null]',
            '["full", "default", ["a"], true, null, null]\n["list", "default", ["a", "b"], "push", [1], null, null]',
            '["replace", "default", 1, null, null]',
            '["ask"]',
            '["ask", []]',
            '["ask", "eval", "1", null, null]',
            '["lines", 1]',
            '["lines", "a.rb", [[1]]]',
            '["failed", 1]',
            '["set", "default", ["a"], %s, null, null]' % ("[" * 600 + "]" * 600),
            '["set", "default", ["a"], {"$lazy": "x"}, null, null]',
            '["set", "default", ["a"], {"$x": 1}, null, null]',
            '["set", "default", ["a"], NaN, null, null]',
        ],
    )
    def test_a_malformed_message_of_ruby_is_an_error(self, tmp_path, line):
        """One of ours, whatever was said; and none of it is done."""
        with pytest.raises(NodeattrsError):
            self.said(tmp_path, f'["ready"]\n{line}\n["done", null]\n')

    def test_more_than_a_limit_allows_is_refused(self, tmp_path):
        """One long line, and many short ones."""
        line = '["step", "default", ["a"], null, null]\n'
        with limited(bytes=100_000):
            for lines in ('["ready"]\n["set", "' + "x" * 300_000, '["ready"]\n' + line * 5_000):
                with pytest.raises((TooMuch, RecipeFailed)):
                    self.said(tmp_path, lines)
        with limited(steps=100), pytest.raises(TooMuch, match="100 steps"):
            self.said(tmp_path, '["ready"]\n' + line * 200)

    def test_silence_has_an_end(self, tmp_path):
        """It is asked, and never answers."""
        with pytest.raises(RecipeFailed, match="longer than"):
            self.said(tmp_path, '["ready"]\n', seconds=0.5)

    def test_a_process_that_ends_is_an_error(self, tmp_path):
        """In the middle of it."""
        helper = Helper(tmp_path, 5, ["true"])
        with pytest.raises(RecipeFailed, match="has ended"):
            RubySession(Node("web1"), helper, RunServices(lambda *_: None), tmp_path).run("a.rb", "a", "a.rb", "a")


_HELPER = Path(nodeattrs.dialects.chef.ruby.helper.__file__).with_suffix(".rb")


class TestAProcessThatEnds:
    """Each end is noticed at once, with its reason, and the next node has a process again."""

    def helper(self, root: Path, before: str = "") -> Helper:
        """A helper that runs some lines of Ruby before its own."""
        (root / "started.rb").write_text(f"{before}\nload {str(_HELPER)!r}\n")
        return Helper(root, 20, ruby_command(root / "started.rb"))

    def run(self, helper: Helper, root: Path, text: str, name: str = "web1") -> Node:
        """The node after an attribute file of that text."""
        (root / "a.rb").write_text(text)
        node = Node(name)
        RubySession(node, helper, RunServices(lambda *_: None), root).run(str(root / "a.rb"), "app::a", "a.rb", "app")
        return node

    @pytest.mark.parametrize(
        ("dies", "reason"),
        [
            ("Process.kill(:KILL, Process.pid); sleep", "its process has ended: signal 9"),
            ("exit!(3)", "its process has ended: exit code 3"),
            ("raise NoMemoryError, 'too much'", "its process has ended: NoMemoryError: too much"),
            ("[Process.ppid, Process.pid].each { |one| Process.kill(:KILL, one) }; sleep", "its process has ended"),
            (
                "fork { sleep 15 }; [Process.ppid, Process.pid].each { |one| Process.kill(:KILL, one) }; sleep",
                "its process has ended",
            ),
        ],
    )
    def test_before_the_node_has_begun(self, tmp_path, capfd, dies, reason):
        """Also where a process that it has started keeps the pipe open."""
        begins = f"Module.new {{ def begin_as(_)\n{dies}\nend }}"
        patch = f"TracePoint.trace(:end) {{ |at| at.self.prepend({begins}) if at.self.name == 'Chef::Node' }}"
        with pytest.raises(RecipeFailed, match=f"{reason}$"):
            self.run(self.helper(tmp_path.resolve(), patch), tmp_path.resolve(), "")

        assert "" == capfd.readouterr().err

    def test_its_folder_is_removed_while_an_answer_about_another_repository_is_computed(self, tmp_path, monkeypatch):
        """The border of that repository does not count for it, and notes nothing."""
        folder, repository_folder = tmp_path / "home", tmp_path / "repository"
        folder.mkdir()
        repository_folder.mkdir()
        monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: str(folder))
        helper = Helper(repository_folder, 5, ["true"])
        with border.held(border.Border([repository_folder])):
            del helper
            gc.collect()
            refused = border.refused()

        assert ((), False) == (refused, folder.exists())

    def test_within_a_role(self, tmp_path):
        """It is noticed as early as for a node."""
        (tmp_path / "r.rb").write_text("name 'r'\nProcess.kill(:KILL, Process.pid)\nsleep\n")
        with pytest.raises(RecipeFailed, match=r"its process has ended: signal 9$"):
            described(tmp_path, tmp_path / "r.rb", "r.rb", "role", 20)

    def test_where_no_process_can_be_forked(self, tmp_path, capfd):
        """The system's words are the reason."""
        patch = "module Kernel\ndef fork\nraise Errno::EAGAIN, 'fork(2)'\nend\nend"
        with pytest.raises(RecipeFailed, match=r"has ended: Resource temporarily unavailable - fork\(2\)$"):
            self.run(self.helper(tmp_path.resolve(), patch), tmp_path.resolve(), "")

        assert "" == capfd.readouterr().err

    @pytest.mark.parametrize(
        ("text", "reason"), [("Process.kill(:KILL, Process.pid); sleep", "signal 9"), ("exit!(0)", "exit code 0")]
    )
    def test_within_a_file(self, tmp_path, text, reason):
        """A recipe may do so, or the system for it."""
        with pytest.raises(RecipeFailed, match=f"has ended: {reason}$"):
            self.run(self.helper(tmp_path.resolve()), tmp_path.resolve(), text)

    def test_after_its_last_file_the_next_node_has_a_new_one(self, tmp_path):
        """The end of the first is read where the next begins."""
        root = tmp_path.resolve()
        helper = self.helper(root)
        process = self.run(helper, root, "default['process'] = Process.pid")["process"]
        os.kill(process, signal.SIGKILL)

        assert _is_gone(process)
        assert 1 == self.run(helper, root, "default['a'] = 1", "web2")["a"]


_SAY = "import sys, time; sys.stdout.write(open('said').read()); sys.stdout.flush(); time.sleep(600)"


def test_a_node_that_ruby_wrote_is_saved_with_its_lines(tmp_path):
    """A snapshot and Chef's document are as of any node."""
    run = of_text(tmp_path, "default['a'] = {\n  'b' => lazy { 1 + 1 },\n  'c' => :d }\n")
    again = Node.restore(json.loads(json.dumps(run.node.snapshot())))

    assert ({"b": 2, "c": "d"}, f"{DEFAULT}:2") == (again["a"].to_dict(), again.origins("a.b")[0].place)
    assert {"b": 2, "c": "d"} == run.node.to_chef()["default"]["a"]


def test_the_repository_need_not_be_the_folder_of_the_caller(tmp_path, monkeypatch):
    """A link to it is the same."""
    (tmp_path / "real").mkdir()
    repository(tmp_path / "real", {"cookbooks/app/recipes/default.py": "", DEFAULT: "default['a'] = 1\n"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    repo = Repository(tmp_path / "link")
    repo.options = RepositoryOptions(ruby=True)
    run = run_node(repo, "web1", facts=Facts(FACTS, Origin("facts")), run_list=["app"])

    assert [f"{DEFAULT}:1"] == places(run, "a")
