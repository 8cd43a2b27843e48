"""The inventory plugin `constructed`: evaluated here, without a run.

Expected values are those of ansible-inventory 2.19.14.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.ansible import Inventory
from nodeattrs.cli import main

HOSTS = "lone\n[web]\nweb1 tier=prod az=eu-1\nweb2 tier=dev\n[db]\ndb1 tier=prod\n[all:vars]\ngall=1\n"


def tree(folder: Path, plugin: str, **files: str) -> Inventory:
    named = {"inv/01-hosts": HOSTS, "inv/02-made.yml": f"plugin: constructed\n{plugin}", **files}
    for name, text in named.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Inventory("inv", folder=folder)


def groups(inventory: Inventory) -> dict[str, list[str]]:
    known = {"all", "ungrouped", "web", "db"}
    return {name: list(one.all_hosts()) for name, one in inventory.groups.items() if name not in known}


def test_a_condition_puts_hosts_into_a_group_whose_files_count(tmp_path: Path):
    """And nothing is unread then."""
    files = {"inv/group_vars/all.yml": "size: small\n", "inv/group_vars/prodlike.yml": "size: big\n"}
    inventory = tree(tmp_path, "groups: {prodlike: tier == 'prod'}\n", **files)

    assert groups(inventory) == {"prodlike": ["web1", "db1"]}
    assert [inventory.host(name).vars["size"] for name in ("web1", "web2")] == ["big", "small"]
    assert not inventory.not_run


def test_a_composed_variable_has_the_line_of_its_expression(tmp_path: Path):
    inventory = tree(tmp_path, "compose:\n  c: tier ~ '-x'\n  tier: tier | upper\n")

    assert {name: inventory.host("web1").vars[name] for name in ("c", "tier")} == {"c": "prod-x", "tier": "PROD"}
    (origin,) = inventory.host("web1").origins("c")
    assert (origin.file, origin.line) == ("inv/02-made.yml", 3)
    assert inventory.host("lone").vars == {"gall": 1}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("key: tier, prefix: t", {"t_prod": ["web1", "db1"], "t_dev": ["web2"]}),
        ("key: az", {"_eu_1": ["web1"]}),
        ("key: az, separator: ''", {"eu_1": ["web1"]}),
        ("key: az, parent_group: up", {"_eu_1": ["web1"], "up": ["web1"]}),
        ("key: az, parent_group: '{{ nosuch }}'", {}),
        ("key: \"{'a': tier, 'b': ''}\", prefix: m, default_value: d", {"m_a_prod": ["web1", "db1"]}),
        ("key: \"['', az]\", prefix: l", {"l_": ["web1"], "l_eu_1": ["web1"]}),
        ("key: \"''\", default_value: none", {"_none": ["lone", "web1", "web2", "db1"]}),
        ("key: nosuch", {}),
        ("prefix: x", {}),
    ],
)
def test_a_key_gives_names_of_groups(tmp_path: Path, entry: str, expected: dict[str, list[str]]):
    """Signs that no name of a variable has become `_`."""
    found = groups(tree(tmp_path, f"keyed_groups: [{{{entry}}}]\n"))
    assert {name: its for name, its in found.items() if name in expected or not expected} == expected


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        ("strict: true\ngroups: {g: nosuch}\n", "'nosuch' is undefined"),
        ("strict: true\ncompose: {a: 1}\n", "an expression is a text, not 1"),
        ("strict: true\ngroups: {g: '1'}\n", "'1' is 1, and neither true nor false"),
        ("strict: true\nkeyed_groups: [{key: \"''\"}]\n", "this key is empty"),
        ("keyed_groups: [text]\n", "an entry of keyed_groups is a map"),
        ("keyed_groups: [{key: '1'}]\n", "a group is named by a text, a list or a map, not by 1"),
        ("keyed_groups: [{key: az, default_value: x, trailing_separator: false}]\n", "exclude each other"),
        ("groups: [a]\n", "groups is a map"),
    ],
)
def test_what_ansible_refuses_is_a_warning_of_the_source(tmp_path: Path, plugin: str, reason: str):
    warnings = tree(tmp_path, plugin).warnings
    assert any(reason in one.reason for one in warnings if one.file == "inv/02-made.yml")


@pytest.mark.parametrize("expression", ["lookup('env', 'HOME')", "tier | password_hash"])
def test_an_expression_that_needs_ansible_leaves_the_source_unread(tmp_path: Path, expression: str):
    """With the line of the expression."""
    (origin,) = tree(tmp_path, f"compose:\n  a: tier\n  b: {expression}\n").not_run
    assert (origin.file, origin.line) == ("inv/02-made.yml", 4)


def test_names_of_a_play_are_not_there(tmp_path: Path):
    """`omit` leaves a variable out."""
    inventory = tree(tmp_path, "compose: {a: groups, b: playbook_dir | default('none'), c: nosuch | default(omit)}\n")
    assert inventory.host("web1").vars.keys() - {"tier", "az", "gall"} == {"b"}


@pytest.mark.parametrize(("option", "expected"), [("true", {"f": 1, "w": 1}), ("false", {})])
def test_files_of_variables_are_seen_where_the_plugin_asks(tmp_path: Path, option: str, expected: dict[str, Any]):
    """Those beside the sources before it, for groups that these have named: not for `all`."""
    files = {"inv/group_vars/web.yml": "w1: 1\n", "inv/group_vars/all.yml": "f1: 1\n", "inv/host_vars/web1.yml": "h: 1"}
    plugin = f"use_vars_plugins: {option}\ncompose: {{w: w1, f: h, a: f1}}\n"
    found = tree(tmp_path, plugin, **files).host("web1").vars

    assert {name: found[name] for name in ("f", "w", "a") if name in found} == expected


def test_extra_variables_are_seen_where_the_plugin_asks(tmp_path: Path):
    tree(tmp_path, "use_extra_vars: true\ncompose: {a: e}\n")
    assert Inventory("inv", folder=tmp_path, extra_vars=["e=5"]).host("web1").vars["a"] == "5"


def test_keys_do_not_see_the_groups_that_conditions_add(tmp_path: Path):
    """Nor do conditions see extra variables."""
    plugin = (
        "use_extra_vars: true\ngroups: {new: true, e: extra is defined}\n"
        'keyed_groups: [{key: "\'new\' in group_names", prefix: k}, {key: "group_names | join"}, {key: extra}]\n'
    )
    tree(tmp_path, plugin.replace("'new' in group_names\"", "('new' in group_names) | string\""))
    found = groups(Inventory("inv", folder=tmp_path, extra_vars=["extra=x"]))

    assert found.keys() == {"new", "k_False", "_db", "_web", "_ungrouped", "_x"}


def test_a_run_that_is_named_is_not_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """Ansible need not be installed."""
    tree(tmp_path, "compose: {a: tier}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")

    assert main(["ansible", "vars", "web1", "-i", "inv", "--run-inventory", "inv/02-made.yml"]) == 0
    assert '"a": "prod"' in capsys.readouterr().out


def test_the_depth_of_a_group_is_that_after_all_sources(tmp_path: Path):
    """While sources are read, groups have no parent `all` yet."""
    files = {
        "inv/03-more": "[top:children]\nweb\n[top:vars]\nv=top\n[web:vars]\nv=web\n[wide]\nweb1\n[wide:vars]\nv=wide\n"
    }
    inventory = tree(tmp_path, "groups: {g: v is defined}\n", **files)

    assert groups(inventory).keys() == {"top", "wide"}
    assert inventory.host("web1").vars["v"] == "web"


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ("[a]\nh\n[x]\nh\n[b:children]\na\n[y]\nh\n", "y"),
        ("[a]\nh\n[x]\nh\n[y]\nh\n[b:children]\na\n", "b"),
    ],
)
def test_a_group_that_a_host_comes_into_later_counts_more(tmp_path: Path, sections: str, expected: str):
    """While sources are read, files of groups count in the order in which the host came into them."""
    files = {f"inv/group_vars/{name}.yml": f"who: {name}\n" for name in "abxy"}
    inventory = tree(tmp_path, "use_vars_plugins: true\ncompose: {seen: who}\n", **files, **{"inv/01-hosts": sections})

    assert inventory.host("h").vars["seen"] == expected
