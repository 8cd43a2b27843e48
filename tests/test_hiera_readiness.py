"""`nodeattrs hiera ready-for-8`: what fails and what changes under Puppet 8, and where legacy facts are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.puppet.legacy_facts import modern_fact
from nodeattrs.puppet.manifests import classes_in, computed_keys_in, lookups_in
from tests.hiera_trees import written

LEVELS = "version: 5\nhierarchy:\n- {name: os, path: 'os/%{::osfamily}.yaml'}\n- {name: c, path: common.yaml}\n"
FILES = {
    "hiera.yaml": LEVELS,
    "data/common.yaml": "a: 'x%{nope}y'\nb: 1\nc: ['%{::osfamily}']\ngood: '%{facts.os.family}'\n",
    "data/os/D.yaml": "b: 2\n",
    "facts/n1.json": '{"os": {"family": "D"}}',
    "facts/n2.json": '{"os": {"family": "D"}, "nope": 1, "osfamily": "D"}',
    "modules/m/manifests/init.pp": "class m {\n  # $::fqdn\n  if $::osfamily == $facts['fqdn'] { include n }\n}\n",
    "modules/m/templates/a.erb": "<%= @domain %> a@domain\n",
}


@pytest.fixture
def say(tmp_path: Path, monkeypatch, capsys):
    """Runs the command over some files: its exit code, its data, and what it says beside them."""

    def run(files: dict[str, str], *words: str) -> tuple[int, dict, str]:
        written(tmp_path, files)
        monkeypatch.chdir(tmp_path)
        code = main(["hiera", "ready-for-8", "--format", "json", *words])
        out, err = capsys.readouterr()
        return code, json.loads(out), err

    return run


def test_each_key_that_fails_has_its_place_and_its_nodes(say):
    code, data, _ = say(FILES, "--facts", "facts")
    found = [(one["file"], one["line"], one["keys"], one["nodes"]) for one in data["fails"]]

    assert (code, found) == (
        1,
        [("data/common.yaml", 1, ["a"], ["n1"]), ("data/common.yaml", 3, ["c"], ["n1", "n2"])],
    )


def test_a_level_that_a_legacy_fact_chose_is_gone_and_that_changes_a_value(say):
    assert say(FILES, "--facts", "facts")[1]["changes"] == {"b": ["n2"]}


def test_each_line_that_names_a_legacy_fact_has_the_fact_to_write(say):
    found = say(FILES, "--facts", "facts")[1]["legacy"]

    assert [(one["file"], one["line"], one["what"], one["instead"]) for one in found] == [
        ("hiera.yaml", 3, "the level os", "os.family"),
        ("data/common.yaml", 3, "c.0", "os.family"),
        ("modules/m/manifests/init.pp", 3, "code", "os.family"),
        ("modules/m/manifests/init.pp", 3, "code", "networking.fqdn"),
        ("modules/m/templates/a.erb", 1, "code", "networking.domain"),
    ]


def test_a_hiera_yaml_of_version_3_fails_for_every_key(say):
    files = {"hiera.yaml": ":backends: [yaml]\n", "modules/m/hiera.yaml": "version: 5\n"}
    data = say({**files, "modules/m/data/common.yaml": "m::k: 1\n"})[1]

    assert [(one["code"], one["keys"]) for one in data["fails"]] == [("NA1034", ["m::k"])]


def test_a_tree_without_faults_is_ready(say):
    data = "good: '%{facts.os.family}'\n"
    files = {"hiera.yaml": "version: 5\n", "data/common.yaml": data, "facts/n1.json": FILES["facts/n1.json"]}

    assert say(files, "--facts", "facts")[:2] == (
        0,
        {"version": 1, "fails": [], "changes": {}, "legacy": [], "certain": True, "unread": []},
    )


def test_without_facts_it_is_not_known_whether_a_variable_is_set(say):
    code, data, err = say({"hiera.yaml": "version: 5\n", "data/common.yaml": "a: '%{role}'\n"})

    assert (code, data["certain"], "role (variable) is not set" in err) == (5, False, True)


def test_the_report_is_for_people(say, capsys):
    say(FILES)
    main(["hiera", "ready-for-8", "--facts", "facts"])
    said = capsys.readouterr().out

    assert "the variable nope is not set, and a needs it: fails in Puppet 8\n" in said
    assert "  a on n1\n" in said
    assert "b has another value in Puppet 8 on n2\n" in said
    assert "hiera.yaml:3: the level os names ::osfamily: write facts.os.family\n" in said


def test_check_names_legacy_facts_of_levels_and_values_unless_version_7_is_set(tmp_path: Path, monkeypatch, capsys):
    written(tmp_path, {"hiera.yaml": LEVELS, "data/common.yaml": "c: ['%{::osfamily}', '%{::osfamily}']\n"})
    monkeypatch.chdir(tmp_path)
    main(["check"])
    found = [line.split(":")[:2] for line in capsys.readouterr().out.splitlines() if "legacy_fact" in line]
    (tmp_path / "nodeattrs.toml").write_text("puppet_version = 7\n")
    main(["check"])

    assert (found, "legacy_fact" in capsys.readouterr().out) == (
        [["data/common.yaml", "1"], ["hiera.yaml", "3"]],
        False,
    )


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("osfamily", "os.family"),
        ("::ipaddress6_eth0", "networking.interfaces.eth0.ip6"),
        ("facts.sshfp_rsa", "ssh.rsa.fingerprints"),
        ("facts.os.family", None),
        ("trusted.certname", None),
        ("kernel", None),
        ("xipaddress_eth0", None),
    ],
)
def test_legacy_facts_have_new_names(name: str, new: str | None):
    assert modern_fact(name) == new


@pytest.mark.parametrize("text", ["'\\", '"\\', "'\\\"\\a", "@(a", "${", '"::${', "hiera('b') "])
def test_a_manifest_that_begins_the_same_thing_many_times_is_read_to_its_end(text: str):
    many = text * 200_000

    assert [one.name for one in classes_in(f"class a($x) {{}}\n{many}")] == ["a"]
    assert {"a", "c"} <= {one.key for one in lookups_in(f"lookup('a'){many}\n\nlookup('c')")}
    assert [*computed_keys_in(f'lookup("a::${{b}}::c")\n{many}')][:1] == [["a::", "::c"]]


def test_a_quote_behind_a_backslash_opens_no_text_of_a_manifest():
    text = "class a(\n  $x = 1 ? { /\\'/ => 'b' },\n  $z = 'c',\n) {}\n"

    assert [one.parameters for one in classes_in(text)] == [{"x": 2, "z": 3}]
