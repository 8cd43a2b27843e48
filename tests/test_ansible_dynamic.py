"""Dynamic inventories: run only where somebody names them, or read from what they have printed; and TOML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.ansible import AnsibleError, Inventory, printed_inventory
from nodeattrs.cli import main
from nodeattrs.core.code import held_back

LISTED = {
    "web": {"hosts": ["a", "b"], "vars": {"x": 1, "p": "{{ x }}"}, "children": ["sub"]},
    "sub": ["c"],
    "alone": {"k": 1},
    "_meta": {"hostvars": {"a": {"own": True, "u": {"__ansible_unsafe": "{{ y }}"}}, "nobody": {"z": 1}}},
}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = tmp_path / "inv" / "s.sh"
    file.parent.mkdir()
    file.write_text(f"#!/bin/sh\ntouch ran\ncat <<'END'\n{json.dumps(LISTED)}\nEND\n")
    file.chmod(0o755)
    (tmp_path / "out.json").write_text(json.dumps(LISTED, indent=1))
    monkeypatch.chdir(tmp_path)
    return "inv/s.sh"


class TestAScript:
    def test_an_inventory_script_is_not_run_by_default(self, script: str):
        """It is an unknown layer then."""
        inventory = Inventory(script)
        assert [one.file for one in inventory.not_run] == [script]
        assert not Path("ran").exists()

    def test_where_it_is_named_its_output_is_read(self, script: str):
        """Groups, hosts and the variables of both; of `_meta` only hosts that a group names."""
        inventory = Inventory(script, run_inventory=[script])
        assert list(inventory.hosts) == ["a", "b", "alone", "c"]
        assert inventory.host("a").vars == {"x": 1, "p": "{{ x }}", "own": True, "u": "{{ y }}"}
        assert [one.file for one in inventory.host("a").origins("x")] == [script]
        assert not inventory.not_run

    def test_its_output_may_be_given_as_a_file_and_has_lines_then(self, script: str):
        """Nothing is run."""
        with held_back():
            inventory = Inventory(script, run_inventory=[f"{script}=out.json"])
        (origin,) = inventory.host("a").origins("x")
        assert (origin.file, origin.line) == ("out.json", 8)
        assert not Path("ran").exists()

    def test_without_meta_each_host_is_asked_for(self, tmp_path: Path, script: str):
        """With `--host`, as Ansible does."""
        text = '#!/bin/sh\n[ $1 = --list ] && echo \'{"g": {"hosts": ["a"]}}\' || echo "{\\"n\\": \\"$2\\"}"\n'
        Path(script).write_text(text)
        assert Inventory(script, run_inventory=[script]).host("a").vars == {"n": "a"}

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("exit 3", "ended with 3"),
            ("echo '[1]'", "it is not a map"),
            ("echo '{'", "no JSON"),
            ('echo \'{"g": {"hosts": {}}}\'', "g.hosts is not a list"),
            ("echo '{\"_meta\": {}}'", "hostvars is not a map"),
        ],
    )
    def test_what_it_prints_amiss_is_a_warning_of_the_source(self, script: str, text: str, reason: str):
        """The others are read."""
        Path(script).write_text(f"#!/bin/sh\n{text}\n")
        inventory = Inventory(script, "h1,", run_inventory=[script])
        assert "h1" in inventory.hosts
        assert any(reason in one.reason for one in inventory.warnings if one.kind == "unparsed")

    def test_a_name_that_is_no_source_is_an_error(self, script: str):
        """A slip in it would go unseen."""
        with pytest.raises(AnsibleError, match="none of the inventory's"):
            Inventory(script, run_inventory=["inv/other.sh"])

    def test_the_command_runs_it(self, script: str, capsys: pytest.CaptureFixture[str]):
        """What is named may run."""
        assert main(["ansible", "vars", "a", "-i", script, "--run-inventory", script]) == 0
        assert '"own": true' in capsys.readouterr().out


class TestToml:
    def test_groups_stand_side_by_side_and_values_before_tables(self, tmp_path: Path):
        """As tomli-w writes them: an element a line, maps in a list within the line where they fit."""
        hosts = {"h1": {"m": {"a": 1.5}, "l": [1, {"x": "é\n"}, [True]], "e": [], "t": [{"a": "x" * 90}, {}]}}
        (tmp_path / "i.yml").write_text(json.dumps({"web": {"hosts": hosts, "children": {"sub": None}}}))
        assert printed_inventory(Inventory("i.yml", folder=tmp_path), "toml") == (
            '[web]\nchildren = [\n    "sub",\n]\n\n[web.hosts.h1]\n'
            'l = [\n    1,\n    { x = "é\\n" },\n    [\n        true,\n    ],\n]\ne = []\n\n'
            f'[web.hosts.h1.m]\na = 1.5\n\n[[web.hosts.h1.t]]\na = "{"x" * 90}"\n\n[[web.hosts.h1.t]]\n'
        )

    def test_null_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        """TOML has none."""
        (tmp_path / "i.yml").write_text("web: {hosts: {h1: {n: null}}}")
        monkeypatch.chdir(tmp_path)
        assert main(["ansible", "list", "--toml", "-i", "i.yml"]) == 1
        assert "TOML has no null" in capsys.readouterr().err
