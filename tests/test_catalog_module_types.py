"""What types of modules relate by themselves, read from their Ruby. `tests.oracles.catalog modules` asks Puppet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.catalog.compiled import compiled_catalog
from nodeattrs.catalog.module_types import ModuleTypes
from nodeattrs.cli import main
from tests.test_catalog_compiled import compiled, resource

TYPE = """\
Puppet::Type.newtype(:db_entry) do
  @doc = "what it is"
  newparam(:name, namevar: true) { desc 'autorequire(:file) in a text is none' }
  newparam(:path)
  newproperty(:mode, :parent => Puppet::Property::Boolean) do
    defaultto 'fast'
    munge { |value| value.to_s.upcase }
  end
BLOCK
  def self.autorequire_of(one)
    one
  end
end
"""


def related(tmp_path: Path, block: str, **parameters: Any) -> tuple[list[str], list[str]]:
    """Which of the others are related to a `db_entry`, and what is a warning."""
    file = tmp_path / "modules/db/lib/puppet/type/db_entry.rb"
    file.parent.mkdir(parents=True)
    file.write_text(TYPE.replace("BLOCK", block), "utf-8")
    others = ("File[/a/b]", "File[/a]", "Package[db]", "User[u]", "User[v]", "File[/FAST]", "Class[db]")
    tree = compiled(resource("Db_entry[u@v]", **parameters), *(resource(ref) for ref in others))
    plan = compiled_catalog(tree, types=ModuleTypes([tmp_path / "modules"])).plan()
    edges = [f"{plan.graph.spelled(edge.source)} > {plan.graph.spelled(edge.target)}" for edge in plan.graph.edges]
    return [edge.replace("Db_entry[u@v]", "me") for edge in edges if "Db_entry" in edge], [
        str(one) for one in plan.warnings()
    ]


@pytest.mark.parametrize(
    ("block", "edges"),
    [
        ("autorequire(:package) { 'db' }", ["Package[db] > me"]),
        ("autorequire(:package) do\n ['db', 'none']\n end", ["Package[db] > me"]),
        ("autorequire(:file) { self[:path] }", ["File[/a/b] > me"]),
        ("autorequire(:file) { [self[:path], nil] }", ["File[/a/b] > me"]),
        ("autorequire(:file) { Pathname.new(self[:path]).parent.to_s }", ["File[/a] > me"]),
        ("autorequire(:file) { File.dirname(self[:path]) }", ["File[/a] > me"]),
        (
            "autorequire(:file) do\n if self[:path] && Pathname.new(self[:path]).absolute?\n self[:path]\n end\n end",
            ["File[/a/b] > me"],
        ),
        ("autorequire(:file) do\n if self[:none] && Pathname.new(self[:none]).absolute?\n self[:none]\n end\n end", []),
        ("autorequire(:user) { [self[:name].split('@')[1]] }", ["User[v] > me"]),
        ("autorequire(:user) { name.split('@')[7] }", []),
        ('autobefore(:file) { "/#{self[:none]}a" }', ["me > File[/a]"]),
        ("autonotify(:package) { %w[db] }", ["me > Package[db]"]),
        ("autorequire(:class) { 'db' }", []),
        ("autorequire(:package) { 'other' }\n autorequire(:package) { 'db' }", ["Package[db] > me"]),
    ],
)
def test_what_is_plain_relates_as_an_agent_relates_it(tmp_path: Path, block: str, edges: list[str]):
    assert related(tmp_path, block, path="/a/b") == (edges, [])


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("autorequire(:file) { catalog.resources.first.title }", "`catalog.resources.first.title` is no literal"),
        ("autorequire(:file) { self[:mode] }", "what mode becomes only Ruby could say"),
        ("autorequire(:file) do\n x = 1\n x\n end", "is no literal"),
    ],
)
def test_what_only_ruby_could_say_is_named(tmp_path: Path, block: str, reason: str):
    edges, (warning,) = related(tmp_path, block, mode="slow")
    assert edges == []
    assert warning.startswith("the type db_entry of module db may relate or refresh more than is known here")
    assert reason in warning


def test_a_default_is_known_where_nothing_is_set(tmp_path: Path):
    assert related(tmp_path, "autorequire(:package) { self[:backend] }\n newparam(:backend) { defaultto 'db' }") == (
        ["Package[db] > me"],
        [],
    )


def test_types_of_modules_that_nobody_named_are_one_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    tree = compiled(resource("Ini_setting[a]"), resource("File_line[b]"), resource("D[x]", kind="defined_type"))
    (tmp_path / "c.json").write_text(json.dumps(tree))
    assert main(["catalog", "order", "--puppet", str(tmp_path / "c.json")]) == 0
    said = capsys.readouterr()
    assert "types of modules may relate or refresh more than is known here: file_line, ini_setting" in said.err
    assert "--modulepath DIR" in said.err
    assert main(["catalog", "check", "--puppet", str(tmp_path / "c.json"), "--format", "json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["severity"]) == ("NA0620", "note")


def test_the_command_line_reads_the_types_beside_a_catalog(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    related(tmp_path, "autorequire(:package) { 'db' }")
    tree = compiled(resource("Db_entry[x]"), resource("Package[db]"))
    (tmp_path / "c.json").write_text(json.dumps(tree))
    where = ["--puppet", str(tmp_path / "c.json"), "--modulepath", str(tmp_path / "modules")]
    assert main(["catalog", "why", "Package[db]", "Db_entry[x]", *where]) == 0
    said = capsys.readouterr()
    assert "automatic require of Db_entry[x]" in said.out
    assert said.err == ""


def test_ruby_that_cannot_be_read_is_a_warning(tmp_path: Path):
    _, (warning,) = related(tmp_path, "autorequire(:package) { ")
    assert "Ruby syntax error" in warning


def test_whether_a_refresh_means_something_is_in_the_ruby(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    related(tmp_path, "def refresh\n end")
    first, then = resource("Package[db]", notify="Db_entry[x]"), resource("Db_entry[x]", notify="Exec[y]")
    (tmp_path / "c.json").write_text(json.dumps(compiled(first, then, resource("Exec[y]"))))
    where = ["catalog", "impact", "Package[db]", "--puppet", str(tmp_path / "c.json")]
    assert main([*where, "--modulepath", str(tmp_path / "modules")]) == 0
    assert "refresh: 2\n    Db_entry[x]\n    Exec[y]" in capsys.readouterr().out
    assert main(where) == 0
    said = capsys.readouterr()
    assert "refresh: none" in said.out
    assert "may relate or refresh more" in said.err
