"""Variables that roles and plays set, asked for without naming a playbook."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main

FILES = {
    "hosts": "[web]\nweb1\n[db]\ndb1\n",
    "roles/x/defaults/main.yml": "---\na: from x\n",
    "roles/y/vars/main/one.yml": "b: from y\n",
    "roles/y/meta/main.yml": "dependencies:\n- role: x\n",
    "roles/z/tasks/main.yml": "- name: more\n  ansible.builtin.include_role:\n    name: y\n",
    "site.yml": "- hosts: web\n  roles: [x]\n- hosts: db\n  vars: {p: 1}\n  tasks:\n  - import_role: {name: z}\n",
    "upgrade.yml": "- import_playbook: site.yml\n- hosts: all\n  vars_files: v.yml\n  roles:\n  - role: z\n",
    "open.yml": "- hosts: '{{ target }}'\n  roles: [x]\n",
    "v.yml": "f: 1\n",
    "notes.yml": "hosts: not a playbook\n",
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def asked(words: str, **more: str) -> tuple[int, str, str]:
        for name, text in {**FILES, **more}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        (tmp_path / ".git").mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "300")
        code = main(["ansible", *words.split()])
        out, err = capsys.readouterr()
        return code, out, err

    return asked


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "explain web1 a",
            '"from x", set by roles/x/defaults/main.yml:2, in open.yml play 1 and upgrade.yml plays 1, 3 '
            "(for which hosts is not known)",
        ),
        ("explain db1 b", '"from y", set by roles/y/vars/main/one.yml:1, in upgrade.yml plays 2 to 3'),
        ("explain web1 b", '"from y", set by roles/y/vars/main/one.yml:1, in upgrade.yml play 3'),
        ("explain db1 p", "1, set by site.yml:4, in upgrade.yml play 2"),
        ("explain db1 f", "1, set by v.yml:1, in upgrade.yml play 3"),
        ("who-has b", "roles/y/vars/main/one.yml:1  b: in upgrade.yml plays 2 to 3"),
    ],
)
def test_a_variable_that_only_plays_set_names_them(run: Callable[..., Any], words: str, expected: str):
    """A playbook that another one imports is not named again; nothing is warned of."""
    code, out, err = run(f"{words} -i hosts")

    assert (code, expected in out, err) == (0, True, "")


def test_a_play_for_other_hosts_is_not_named(run: Callable[..., Any]):
    assert run("explain web1 p -i hosts")[0] == 1


def test_a_matrix_of_what_only_plays_set_names_them(run: Callable[..., Any]):
    code, _, err = run("matrix b -i hosts")

    assert code == 1
    assert "roles/y/vars/main/one.yml:1 sets b in upgrade.yml plays 2 to 3" in err


def test_outside_of_plays_the_inventory_counts(run: Callable[..., Any]):
    """What plays set is listed below it."""
    code, out, _ = run("explain db1 b -i hosts", **{"host_vars/db1.yml": "b: own\n"})

    assert code == 0
    assert out.startswith('db1 in the inventory: b = "own"')
    assert "  in plays\n" in out


def test_as_data_each_place_has_the_numbers_of_its_plays(run: Callable[..., Any]):
    (place,) = json.loads(run("explain db1 b -i hosts --format json")[1])["in_plays"]

    assert (place["file"], place["line"], place["level"]) == ("roles/y/vars/main/one.yml", 1, 15)
    assert place["plays"] == {"upgrade.yml": [2, 3]}


def test_with_a_playbook_only_that_is_asked(run: Callable[..., Any]):
    _, out, _ = run("explain web1 a -i hosts --playbook site.yml", **{"roles/x/tasks/main.yml": "- debug:\n"})
    assert out.startswith("web1 in task")
    assert "in plays" not in out


@pytest.mark.parametrize("text", ["- hosts: web\n  nosuch: 1\n", "- hosts: [web\n", "- hosts: web\n  roles: [gone]\n"])
def test_a_playbook_that_is_broken_costs_nothing(run: Callable[..., Any], text: str):
    assert run("explain db1 b -i hosts", **{"broken.yml": text})[0] == 0
