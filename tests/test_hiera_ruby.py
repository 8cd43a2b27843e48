"""Levels whose data functions are in lib/puppet/functions: run with `--ruby`, and levels that are not read without it.

The answers are those of Puppet 7.23, OpenVox 8.28.1 and 9.0.0-beta2.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.core.sensitive import plain
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera, Scope
from tests.hiera_trees import written

needs_ruby = pytest.mark.skipif(shutil.which("ruby") is None, reason="there is no ruby")

HIERA = """\
version: 5
hierarchy:
- {name: own, lookup_key: own, options: {n: 7}}
- {name: of the module, lookup_key: 'm::files', paths: [role, common]}
- {name: whole, data_hash: 'environment::whole', options: {n: 7}}
- {name: dug, data_dig: dug, options: {}}
- {name: common, path: common.yaml}
"""
OWN = """\
Puppet::Functions.create_function(:own) do
  dispatch :number do
    param 'Integer', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end
  dispatch :own do
    param 'String[1]', :key
    param 'Struct[{n => Integer}]', :options
    param 'Puppet::LookupContext', :context
  end

  def own(key, options, context)
    case key
    when 'null' then nil
    when 'plain' then '%{facts.os.family}'
    when 'filled' then context.interpolate(["%{facts.os.family} #{options['n']}", 1])
    when 'by_lookup' then context.interpolate("%{lookup('plain')} and %{lookup('filled')}")
    when 'secret' then context.interpolate("%{lookup('pw')}")
    when 'fails' then raise Puppet::DataBinding::LookupError, 'out of order'
    when 'by_failing' then context.interpolate("%{lookup('fails')}")
    when 'lacks' then begin closure_scope['::x'] rescue StandardError; nil end
    when 'symbol' then :symbol
    when 'counted' then context.cache('count', (context.cached_value('count') || 0) + 1)
    else context.not_found
    end
  end
end
"""
FILES = """\
Puppet::Functions.create_function(:'m::files') do
  dispatch :files do
    param 'String[1]', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def files(key, options, context)
    path = File.join(options['path'], key.split('::')[0..-2]) + '.yaml'
    context.not_found unless File.exist?(path)
    data = context.cached_file_data(path) { |text| Puppet::Util::Yaml.safe_load(text, [Symbol], path) }
    context.not_found unless data.include?(key)
    context.interpolate(data[key])
  end
end
"""
WHOLE = """\
Puppet::Functions.create_function(:'environment::whole') do
  dispatch :whole do
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def whole(options, context)
    options = { 'h' => { 'merge' => 'deep' } }
    { 'h' => { 'a' => '%{facts.os.family}' }, 'd' => context.environment_name, 'lookup_options' => options }
  end
end
"""
DUG = """\
Puppet::Functions.create_function(:dug) do
  dispatch :dug do
    param 'Array[Variant[String, Integer]]', :steps
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def dug(steps, options, context)
    data = { 'deep' => { 'a' => { 'b' => '%{facts.os.family}' }, 'l' => [1, 2] } }
    found = steps.reduce(data) { |value, step| value.nil? ? nil : value[step] }
    found.nil? ? context.not_found : found
  end
end
"""
TREE = {
    "hiera.yaml": HIERA,
    "lib/puppet/functions/own.rb": OWN,
    "lib/puppet/functions/dug.rb": DUG,
    "lib/puppet/functions/environment/whole.rb": WHOLE,
    "modules/m/lib/puppet/functions/m/files.rb": FILES,
    "data/common/a.yaml": "a::x: 'common %{facts.os.family}'\n",
    "data/role/b.yaml": "b::x: role\n",
    "data/common.yaml": "h: {z: 1}\nk: common\npw: hidden\nfails: below\n",
    "nodeattrs.toml": 'sensitive = ["pw"]\n',
    "facts/n.json": '{"os": {"family": "Debian"}}',
}
FACTS = {"os": {"family": "Debian"}}


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("tree"), TREE)


@pytest.fixture(scope="module")
def hiera(tree: Path) -> Hiera:
    return Hiera(tree, root=tree, ruby=True, sensitive_paths=[("pw",)])


def answer(scope: Scope, key: str) -> Any:
    """The value, or the error in its first line."""
    try:
        return scope.lookup(key)
    except NodeattrsError as error:
        return error.message


VALUES = {
    "null": None,
    "plain": "%{facts.os.family}",
    "filled": ["Debian 7", 1],
    "by_lookup": 'Debian and ["Debian 7", 1]',
    "a::x": "common Debian",
    "b::x": "role",
    "h": {"z": 1, "a": "Debian"},
    "h.a": "Debian",
    "d": "production",
    "deep": {"a": {"b": "%{facts.os.family}"}, "l": [1, 2]},
    "deep.a.b": "%{facts.os.family}",
    "deep.l.1": 2,
    "deep.nothing": "deep.nothing is not set",
    "k": "common",
    "nothing": "nothing is not set",
    "fails": "hiera.yaml:3: the data function 'own' of the entry 'own' has failed for the key 'fails': "
    "Puppet::DataBinding::LookupError: out of order",
}


@needs_ruby
@pytest.mark.parametrize("key", VALUES)
def test_a_function_in_ruby_gives_what_it_gives_in_puppet(hiera: Hiera, key: str):
    assert answer(hiera.scope(FACTS), key) == VALUES[key]


@needs_ruby
def test_a_fault_of_a_lookup_inside_a_function_is_the_fault_of_the_lookup(hiera: Hiera):
    assert "for the key 'fails'" in answer(hiera.scope(FACTS), "by_failing")


@needs_ruby
@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("lacks", "more of Puppet than there is here: closure_scope"),
        ("symbol", "a Symbol"),
        ("secret", "a secret"),
    ],
)
def test_what_a_function_needs_and_is_not_here_makes_its_level_unread(hiera: Hiera, key: str, reason: str):
    scope = hiera.scope(FACTS)

    assert answer(scope, key) == f"{key} is not set"
    assert [(one.name, reason in one.reason) for one in scope.unknown_levels(key)] == [("own", True)]


@needs_ruby
def test_what_a_function_keeps_is_the_node_s_own(hiera: Hiera):
    first, second = hiera.scope(FACTS), hiera.scope({"os": {"family": "RedHat"}})

    assert [one.lookup("counted") for one in (first, first, second)] == [1, 1, 1]
    assert [one.lookup("filled")[0] for one in (first, second, first)] == ["Debian 7", "RedHat 7", "Debian 7"]


@needs_ruby
def test_options_that_no_dispatch_takes_are_an_error(tmp_path: Path):
    bad = HIERA.replace("options: {n: 7}", "options: {n: text}", 1)
    hiera = Hiera(written(tmp_path, {**TREE, "hiera.yaml": bad}), root=tmp_path, ruby=True)

    assert "ArgumentError: no dispatch takes these arguments" in answer(hiera.scope(FACTS), "plain")


@needs_ruby
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("exit!\n", "its process has ended"),
        ("Puppet::Functions.create_function(:own) { 1 +\n", "SyntaxError"),
        ("raise 'at once'\n", "RuntimeError: at once"),
    ],
)
def test_a_function_that_ends_its_process_or_is_no_ruby_is_an_error_of_its_level(
    tmp_path: Path, text: str, reason: str
):
    files = {**TREE, "lib/puppet/functions/own.rb": text}
    scope = Hiera(written(tmp_path, files), root=tmp_path, ruby=True).scope(FACTS)

    assert reason in answer(scope, "k")
    assert reason in answer(scope, "k")


class TestTheCommands:
    @pytest.fixture
    def say(self, tree: Path, monkeypatch, capsys):
        """Runs a command in the tree: its exit code, and all that it says."""
        monkeypatch.chdir(tree)

        def run(words: str) -> tuple[int, str]:
            code = main(words.split())
            return code, "".join(capsys.readouterr())

        return run

    @needs_ruby
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ("hiera lookup filled --node n --facts facts --ruby", "Debian 7"),
            ("hiera matrix filled --facts facts --ruby", "Debian 7"),
        ],
    )
    def test_ruby_runs_where_the_caller_asks(self, say, words: str, said: str):
        code, text = say(words)

        assert (code, said in text) == (0, True)

    @pytest.mark.parametrize("key", ["filled", "k"])
    def test_a_level_is_not_read_where_nobody_asks_for_ruby(self, say, key: str):
        code, said = say(f"hiera lookup {key} --node n --facts facts")

        assert (code, "its data function is lib/puppet/functions/own.rb, which was not run" in said) == (5, True)
        assert ("--ruby runs it" in said) == (key == "filled")


def test_a_value_of_a_level_that_was_not_run_is_not_certain(tree: Path):
    scope = Hiera(tree, root=tree).scope(FACTS)

    assert plain(scope.lookup("k")) == "common"
    assert [one.name for one in scope.unknown_levels("k")] == ["own", "of the module", "whole", "dug"]
