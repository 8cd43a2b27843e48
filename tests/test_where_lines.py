"""`where FILE:LINE`: a line is asked about with the subjects that may read it, and gives what its file gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.contract.request import Request
from nodeattrs.core.tree import spell
from nodeattrs.verbs.lines import FileLine, FolderLines

InFolder = Callable[..., tuple[int, str, str]]

HIERA = {
    "hiera.yaml": "version: 5\nhierarchy:\n- {name: own, path: 'nodes/%{fqdn}.yaml'}\n- {name: all, path: all.yaml}\n",
    "data/nodes/web1.yaml": "users:\n  anna:\n    uid: 1\nports: [1, 2]\n",
    "data/all.yaml": (
        "lookup_options:\n  users: {merge: deep}\n  ports: {merge: unique}\n"
        "users:\n  anna:\n    uid: 2\n    shell: sh\nports:\n- 3\n- 4\n"
        "text: |\n  two\n  lines\nother: \"%{alias('text')}\"\n"
    ),
}
CHART = {
    "c/Chart.yaml": "name: c\n",
    "c/values.yaml": "port: 80\nsub:\n  size: 2\nlist:\n- a\n- b: 1\n",
    "c/values-prod.yaml": "port: 81\nlist: []\n",
    "c/charts/sub/Chart.yaml": "name: sub\n",
    "c/charts/sub/values.yaml": "size: 1\nport: 5\n",
}
COMPOSE = {
    "compose.yaml": (
        "services:\n  base:\n    image: a\n    environment: [A=1, B=2]\n  web:\n    extends: {service: base}\n"
        "    build: .\n    environment:\n      A: 3\n"
    )
}
CHEF = {
    "nodes/web1.json": '{"name": "web1", "normal": {"a": {"b": 1}},\n"run_list": ["role[web]"]}',
    "roles/web.json": '{"name": "web", "run_list": [],\n"default_attributes": {"a": {"b": 2,\n"c": [1,\n2]}}}',
}
ANSIBLE = {
    "hosts.ini": "[web]\nweb1 port=1\n",
    "group_vars/all.yml": "port: 2\nmap:\n  a: 1\n  b:\n  - x\n",
    "site.yml": "- hosts: all\n",
    "roles/r/defaults/main.yml": "port: 3\nonly_in_role: 1\n",
    "roles/r/tasks/main.yml": "[]\n",
}


SAMPLES = {"hiera": HIERA, "helm": CHART, "compose": COMPOSE, "chef": CHEF, "ansible": ANSIBLE}


@pytest.mark.parametrize("files", SAMPLES.values(), ids=SAMPLES)
def test_each_line_does_what_its_file_says_it_does(in_folder: InFolder, files: dict[str, str]) -> None:
    seen = 0
    for file, text in files.items():
        whole = json.loads(in_folder(files, "where", file, "--format", "json")[1] or '{"lines": []}')["lines"]
        for number in range(1, text.count("\n") + 2):
            expected = [one for one in whole if one["line"] == number]
            out = in_folder({}, "where", f"{file}:{number}", "--format", "json")[1]
            found = json.loads(out)["lines"] if out else []
            if expected:
                assert found == expected, (file, number)
            else:  # a key of a map, or a line inside of a list or text
                assert all(one in whole for one in found), (file, number)
            seen += len(expected)
    assert seen >= 4


def effects(folder: Path, file: str, number: int) -> list[tuple[str, int, str, list[str]]]:
    """The effects that an editor shows for a line, as `where` has them."""
    lines = FolderLines(folder, Request(str(folder), run_code=False))
    lines.look()
    found = lines.around(FileLine(file, number))
    return [(one.place.file, one.place.line, spell(one.path), [*one.wins]) for one in found]


@pytest.mark.parametrize("files", SAMPLES.values(), ids=SAMPLES)
def test_a_hover_over_each_line_has_the_effects_that_where_prints(
    in_folder: InFolder, tmp_path: Path, files: dict[str, str]
) -> None:
    in_folder(files, "list", "subjects")
    for file, text in files.items():
        for number in range(1, text.count("\n") + 2):
            out = in_folder({}, "where", f"{file}:{number}", "--format", "json")[1]
            found = json.loads(out)["lines"] if out else []
            expected = [(one["file"], one["line"], one["path"], one["wins_on"]) for one in found]
            assert effects(tmp_path, file, number) == expected, (file, number)


@pytest.mark.parametrize(
    ("sample", "file", "number", "expected"),
    [
        ("hiera", "data/all.yaml", 4, ["6 users.anna.uid", "7 users.anna.shell"]),
        ("hiera", "data/nodes/web1.yaml", 1, ["3 users.anna.uid"]),
        ("hiera", "data/all.yaml", 12, ["11 text"]),
        ("helm", "c/values.yaml", 2, ["3 sub.size"]),
        ("chef", "roles/web.json", 1, []),
        ("ansible", "group_vars/all.yml", 2, ["3 map.a", "4 map.b"]),
        ("ansible", "hosts.ini", 1, ["2 port"]),
        ("compose", "compose.yaml", 3, ["3 services.web.image", "3 services.base.image"]),
        ("compose", "compose.yaml", 8, ["9 services.web.environment.A"]),
    ],
)
def test_a_line_that_sets_nothing_stands_for_lines_below_or_around(
    in_folder: InFolder, tmp_path: Path, sample: str, file: str, number: int, expected: list[str]
) -> None:
    in_folder(SAMPLES[sample], "list", "subjects")
    assert [f"{line} {path}" for _, line, path, _ in effects(tmp_path, file, number)] == expected


@pytest.mark.parametrize("name", ["local", "sample"])
def test_a_line_behind_a_link_is_that_of_the_file(in_folder: InFolder, tmp_path: Path, name: str) -> None:
    files = {"site.yml": "", "inventory/sample/group_vars/all.yml": "port: 1\n", "inventory/local/hosts.ini": "web1\n"}
    in_folder(files, "list", "subjects", "--repo", "inventory")
    (tmp_path / "inventory/local/group_vars").symlink_to("../sample/group_vars")
    code, out, _ = in_folder({}, "where", f"inventory/{name}/group_vars/all.yml:1")
    assert (code, "inventory/sample/group_vars/all.yml:1  port = 1" in out, "wins on 1 of 1 host" in out) == (
        0,
        True,
        True,
    )


def test_a_line_of_a_role_says_in_which_play_it_counts(in_folder: InFolder) -> None:
    files = {**ANSIBLE, "site.yml": "- hosts: all\n  roles: [r]\n"}
    out = in_folder(files, "where", "roles/r/defaults/main.yml:2")[1]
    assert "only_in_role: in site.yml play 1" in out


def test_a_list_of_hosts_stands_for_an_inventory(in_folder: InFolder) -> None:
    code, out, _ = in_folder(ANSIBLE, "why", "map.a", "-i", "db1,", "--dialect", "ansible")
    assert (code, out.startswith("ansible: db1\n"), "group_vars/all.yml:3" in out) == (0, True, True)


def test_the_version_of_a_cookbook_wins_on_its_nodes(in_folder: InFolder) -> None:
    files = {
        "cookbooks/a/metadata.json": '{"name": "a",\n"version": "1.2.0"}',
        "cookbooks/a/recipes/default.py": "",
        "nodes/n1.json": '{"run_list": ["recipe[a]"]}',
    }
    code, out, _ = in_folder(files, "where", "cookbooks/a/metadata.json:2", "--run-code")
    assert (code, out.splitlines()[0].partition(" · ")[0]) == (
        0,
        'cookbooks/a/metadata.json:2  cookbooks.a.version = "1.2.0"',
    )


def test_a_line_of_facts_sets_no_value_of_a_node(in_folder: InFolder) -> None:
    """So that nodes with facts in different files share an answer."""
    files = {
        "nodes/n1.json": '{"run_list": [],\n"normal": {"a": 1}}',
        "facts/n1.json": '{"platform": "debian", "platform_version": "12"}',
    }
    assert "sets no value of any subject" in in_folder(files, "where", "facts/n1.json:1")[1]


def test_values_of_one_line_come_in_their_order(in_folder: InFolder) -> None:
    files = {"hiera.yaml": HIERA["hiera.yaml"], "data/all.yaml": "ports: [1, 2, 3, 4, 5, 6, 7]\n"}
    lines = in_folder(files, "where", "data/all.yaml")[1].splitlines()
    shown = [one.partition(" = ")[2].partition(" · ")[0] for one in lines if " = " in one]
    assert shown == ["[1, 2, 3, 4, 5, 6, 7]", *"1234567"]
