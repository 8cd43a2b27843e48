"""Kept nodes as a dynamic inventory of Ansible: the contract of its scripts, names, secrets, templates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import Node
from nodeattrs.ansible import Inventory
from nodeattrs.cli import main
from nodeattrs.core.claim import Origin
from nodeattrs.store import Saved, open_store, saved_document

Ask = Callable[..., tuple[int, Any, str]]
ROOT = Path(__file__).parents[1]
SETTINGS = 'store = "nodes.db"\nsensitive = ["db.password", "keys.*"]\n'


def keep(name: str, tree: dict[str, Any], environment: str = "production", roles: tuple[str, ...] = ("web",)) -> Node:
    """Save a node in the store of the current directory."""
    node = Node(name, environment=environment, sensitive=["db.password"])
    node.run_list = [f"role[{role}]" for role in roles]
    for key, value in tree.items():
        node.default[key] = value
    open_store("nodes.db").save(Saved(node.name, saved_document(node), node.snapshot()))
    return node


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two web nodes and a database, each in an environment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodeattrs.toml").write_text(SETTINGS)
    keep("web1", {"port": 80, "db": {"host": "db1", "password": "geheim"}})
    keep("web2", {"port": 81}, "staging")
    keep("db1", {"roles": ["base", "db"]}, "_default", ("db",))
    return tmp_path


@pytest.fixture
def ask(site: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """The exit code of a call, what it prints, and what it says on stderr."""

    def asked(*words: str) -> tuple[int, Any, str]:
        capsys.readouterr()
        code = main(["ansible", "inventory", *words])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err

    return asked


def hosts(data: dict[str, Any]) -> dict[str, list[str]]:
    """The hosts of each group."""
    return {name: group["hosts"] for name, group in data.items() if name not in ("_meta", "all")}


class TestTheContract:
    def test_the_list_has_groups_of_roles_and_environments_and_the_variables_of_every_host(self, ask: Ask):
        code, data, err = ask("--list")

        assert (0, "") == (code, err)
        assert {
            "role_web": ["web1", "web2"],
            "role_base": ["db1"],
            "role_db": ["db1"],
            "environment_production": ["web1"],
            "environment_staging": ["web2"],
            "environment__default": ["db1"],
        } == hosts(data)
        assert sorted(hosts(data)) == data["all"]["children"]
        assert {"port": 81} == data["_meta"]["hostvars"]["web2"]
        assert all(group["vars"] == {} for name, group in data.items() if name != "_meta")

    def test_a_host_has_the_variables_that_the_list_has(self, ask: Ask):
        every = ask("--list")[1]["_meta"]["hostvars"]

        assert every == {name: ask("--host", name)[1] for name in ("web1", "web2", "db1")}

    def test_people_can_read_it_as_a_tree(self, capsys: pytest.CaptureFixture[str], site: Path):
        assert 0 == main(["ansible", "inventory", "--host", "web2", "--format", "text"])
        assert "port: 81\n" == capsys.readouterr().out

    def test_a_host_that_is_not_there_is_an_error_with_near_names(self, ask: Ask):
        code, data, err = ask("--host", "wbe1")

        assert (1, None) == (code, data)
        assert "did you mean web1" in err

    def test_without_anything_saved_there_is_no_inventory(self, ask: Ask):
        """Ansible takes an exit code that is not 0 for a failure, and an empty list for no hosts."""
        code, data, err = ask("--list", "--store", "elsewhere.db")

        assert (1, None) == (code, data)
        assert "there is no store" in err

    @pytest.mark.parametrize("words", [(), ("--list", "--host", "web1"), ("--list", "--prefix", "a-b")])
    def test_the_inventory_script_refuses_other_arguments(self, ask: Ask, words: tuple[str, ...]):
        assert (2, None) == ask(*words)[:2]


class TestSavedSearches:
    def test_a_search_of_the_settings_is_a_group(self, ask: Ask):
        Path("nodeattrs.toml").write_text(
            SETTINGS + '[ansible.groups]\nlive = "role:web AND chef_environment:production"\nhigh-port = "port>80"\n'
            'none = "role:nosuch"\n'
        )

        code, data, err = ask("--list")

        assert 0 == code
        assert (["web1"], ["web2"], []) == tuple(hosts(data)[name] for name in ("live", "high_port", "none"))
        assert "the group high-port is high_port for Ansible [NA1319]" in err

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ('web = "role:("', "it is the search of the group web, nodeattrs.toml:4"),
            ('all = "*:*"', "nodeattrs.toml:4:1: all is a group that Ansible makes itself"),
            ("web = 1", "nodeattrs.toml:4:1: ansible['groups']['web'] of the settings must be text"),
            ('web = ""', "nodeattrs.toml:4:1: a group needs the search that finds its hosts"),
        ],
    )
    def test_what_is_no_group_is_an_error_with_its_line(self, ask: Ask, line: str, words: str):
        Path("nodeattrs.toml").write_text(f"{SETTINGS}[ansible.groups]\n{line}\n")

        code, data, err = ask("--list")

        assert (1, None) == (code, data)
        assert words in err


class TestNames:
    def test_a_name_that_no_variable_can_have_is_changed_and_said(self, ask: Ask):
        keep("web1", {"http-port": 1, "2fa": {"a-b": 2}, "größe": 3})

        code, data, err = ask("--host", "web1")

        assert (0, {"http_port": 1, "_2fa": {"a-b": 2}, "gr__e": 3}) == (code, data)
        assert "warning: the variable http-port is http_port for Ansible [NA1310]" in err

    def test_of_two_names_that_come_to_one_the_unchanged_one_counts(self, ask: Ask):
        keep("web1", {"a-b": 1, "a_b": 2, "c-d": 3, "c.d": 4})

        _, data, err = ask("--host", "web1")

        assert {"a_b": 2, "c_d": 3} == data
        assert "a-b of web1 is left out: it has a a_b, too" in err
        assert "c.d of web1 is left out: it has a c_d, too" in err

    def test_below_a_prefix_names_stay(self, ask: Ask):
        keep("web1", {"http-port": 1, "name": "x"})

        assert (0, {"attributes": {"http-port": 1, "name": "x"}}, "") == ask("--host", "web1", "--prefix", "attributes")

    def test_two_roles_of_one_name_are_one_group(self, ask: Ask):
        keep("web1", {}, roles=("a-b",))
        keep("web2", {}, roles=("a_b",))

        _, data, err = ask("--list")

        assert ["web1", "web2"] == hosts(data)["role_a_b"]
        assert "the group role_a-b is role_a_b for Ansible, with the hosts of all that are" in err


class TestValues:
    def test_a_secret_is_left_out_and_null_in_a_list(self, ask: Ask):
        keep("web1", {"db": {"host": "db1", "password": "geheim"}, "keys": ["geheim", "geheim"]})

        _, data, err = ask("--host", "web1")

        assert {"db": {"host": "db1"}, "keys": [None, None]} == data
        assert "db.password is a secret, and left out" in err
        assert "geheim" not in json.dumps(ask("--list")[1])

    def test_a_text_that_looks_like_a_template_is_marked(self, ask: Ask):
        """A fact of a machine would else be run where Ansible is."""
        keep("web1", {"a": "{{ lookup('pipe', 'id') }}", "l": ["{% if %}", "{# #}", "{ }"]})

        unsafe = [{"__ansible_unsafe": text} for text in ("{{ lookup('pipe', 'id') }}", "{% if %}", "{# #}")]
        assert {"a": unsafe[0], "l": [*unsafe[1:], "{ }"]} == ask("--host", "web1")[1]

    def test_an_unknown_layer_is_a_warning_and_with_strict_an_error(self, ask: Ask):
        node = Node("web1")
        node.default["port"] = 80
        node.unknown("override", "odd", Origin("role", "odd", "roles/odd.rb"), "it is Ruby")
        open_store("nodes.db").save(Saved(node.name, saved_document(node), node.snapshot()))

        code, data, err = ask("--host", "web1")
        assert (0, {"port": 80}) == (code, data)
        assert "it is Ruby" in err
        assert (1, None) == ask("--host", "web1", "--strict")[:2]


@pytest.mark.skipif(shutil.which("ansible-inventory") is None, reason="needs ansible-core, a program")
def test_ansible_itself_reads_it_by_a_script_of_two_lines(site: Path):
    """That of docs/ansible.md."""
    page = (ROOT / "docs/ansible.md").read_text("utf-8")
    script = page.partition("```sh\n")[2].partition("```")[0]
    for name, text in (("hosts.sh", script), ("nodeattrs", f'#!/bin/sh\nexec {sys.executable} -m nodeattrs "$@"\n')):
        (site / name).write_text(text)
        (site / name).chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{site}:{os.environ['PATH']}"}

    said = subprocess.run(
        ["ansible-inventory", "-i", "hosts.sh", "--list"], capture_output=True, text=True, env=environment, check=True
    )

    data = json.loads(said.stdout)
    assert ["web1", "web2"] == data["role_web"]["hosts"]
    assert {"port": 80, "db": {"host": "db1"}} == data["_meta"]["hostvars"]["web1"]


def test_what_an_alias_brings_stands_where_its_anchor_does(tmp_path: Path):
    """Ansible names that line."""
    text = "a: &x\n  k: 1\nb: &s text\nc: *s\nd: *x\ne:\n- *s\nf: {<<: *x, m: *s}\ng: &n ~\nh: *n\n"
    (tmp_path / "hosts").write_text("h1\n")
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "all.yml").write_text(text)
    host = Inventory("hosts", folder=tmp_path).host("h1")
    lines = {path: host.origins(path)[0].line for path in ("a", "b", "c", "d", "d.k", "e.0", "f.k", "f.m", "h")}

    assert lines == {"a": 1, "b": 3, "c": 3, "d": 1, "d.k": 2, "e.0": 3, "f.k": 2, "f.m": 3, "h": 9}
