"""Variables that roles and plays set, asked for without naming a playbook."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import folder_side
from nodeattrs.dialects.ansible.dialect import Ansible

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


@pytest.mark.parametrize("given", ["true", "3", "{a: b}"])
def test_vars_files_that_are_no_list_are_named_as_not_read(run: Callable[..., Any], given: str):
    code, out, _ = run("explain web1 g -i hosts", **{"bad.yml": f"- hosts: all\n  vars_files: {given}\n"})

    assert code == 5
    assert "bad.yml:2 (playbook) is broken: vars_files is a list, and may set g" in out


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


VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n3766\n"
CLOSED = {
    "an encrypted file of defaults": ({"roles/x/defaults/main.yml": VAULTED}, "roles/x/defaults/main.yml"),
    "a broken file of defaults": ({"roles/x/defaults/main.yml": "new: [1\n"}, "roles/x/defaults/main.yml"),
    "a file of defaults that is not a map": ({"roles/x/defaults/main.yml": "- new\n"}, "roles/x/defaults/main.yml"),
    "an encrypted file of tasks": ({"roles/z/tasks/main.yml": VAULTED}, "roles/z/tasks/main.yml"),
    "an encrypted playbook": ({"more.yml": VAULTED}, "more.yml"),
    "a broken playbook": ({"more.yml": "- hosts: [web\n"}, "more.yml"),
    "a broken playbook in a folder of playbooks": ({"playbooks/web/a.yml": "- hosts: [web\n"}, "playbooks/web/a.yml"),
    "a play with an unknown word": ({"more.yml": "- hosts: web\n  nosuch: 1\n"}, "more.yml:2"),
    "encrypted vars_files": ({"v.yml": VAULTED}, "v.yml"),
    "encrypted vars_files by a template": (
        {"more.yml": "- hosts: web\n  vars_files: ['in/{{ f }}.yml']\n", "in/a.yml": VAULTED},
        "in/a.yml",
    ),
    "a role that is not there": ({"more.yml": "- hosts: all\n  roles: [gone]\n"}, "role gone"),
    "a role of a collection that is not there": (
        {"more.yml": "- hosts: all\n  roles: [ns.c.r]\n", "requirements.yml": "collections:\n- ns.c\n"},
        "requirements.yml:2 names it",
    ),
    "a role whose name is computed": (
        {"more.yml": "- hosts: all\n  tasks:\n  - include_role:\n      name: '{{ a }}}}'\n"},
        "more.yml",
    ),
    "broken dependencies": (
        {"roles/x/meta/main.yml": "dependencies: [\n"},
        "roles/x/meta/main.yml",
    ),
}


@pytest.mark.parametrize(("files", "place"), CLOSED.values(), ids=CLOSED)
class TestPlaysThatAreNotRead:
    """What may set a variable, and is encrypted, broken or not there."""

    def test_explain_of_an_unset_variable_is_not_certain(
        self, run: Callable[..., Any], files: dict[str, str], place: str
    ):
        code, out, err = run("explain web1 new -i hosts --format json", **files)

        assert (code, json.loads(out)["certain"], place in out, place.partition(" names")[0] in err) == (
            5,
            False,
            True,
            True,
        )

    def test_who_has_and_matrix_of_an_unset_variable_are_not_certain(
        self, run: Callable[..., Any], files: dict[str, str], place: str
    ):
        for words in ("who-has new", "matrix new"):
            code, _, err = run(f"{words} -i hosts --unread", **files)
            assert (code, place in err) == (5, True), words

    def test_unread_plays_leave_variables_of_the_inventory_certain(
        self, run: Callable[..., Any], files: dict[str, str], place: str
    ):
        own = {"host_vars/web1.yml": "new: 1\n", "host_vars/db1.yml": "new: 1\n"}
        for words in ("explain web1 new", "who-has new", "matrix new"):
            assert run(f"{words} -i hosts", **files, **own)[0] == 0, words

    def test_what_a_play_sets_is_said_with_a_warning(self, run: Callable[..., Any], files: dict[str, str], place: str):
        own = {"set.yml": "- hosts: all\n  vars: {new: 1}\n"}
        for words, expected in (("explain web1 new", 0), ("who-has new", 0), ("matrix new", 1)):
            code, out, err = run(f"{words} -i hosts", **files, **own)
            assert (code, "set.yml:2" in out + err, place.partition(" names")[0] in err) == (expected, True, True), (
                words
            )


REASONS = {
    "an encrypted file of defaults": "roles/x/defaults/main.yml:1 (role defaults) is encrypted",
    "a file of defaults that is not a map": "roles/x/defaults/main.yml:1 (role defaults) is broken: "
    "a file of variables is a map, and this is a list",
    "an encrypted file of tasks": "roles/z/tasks/main.yml is encrypted",
    "an encrypted playbook": "more.yml (file) is encrypted",
    "a play with an unknown word": "more.yml:2 (playbook) is broken: a play has no 'nosuch'",
    "encrypted vars_files": "v.yml:1 (vars_files) is encrypted",
    "a role that is not there": "role gone is not there: no folder of roles has it",
    "a role whose name is computed": "more.yml:1 (play all) cannot be followed: "
    "which file {{ a }}}} names is not known",
}


@pytest.mark.parametrize(("case", "said"), REASONS.items())
def test_a_place_that_is_not_read_says_why(run: Callable[..., Any], case: str, said: str):
    err = run("explain web1 new -i hosts --unread", **CLOSED[case][0])[2]

    assert f"warning: {said}, and may set new [NA0204]" in err.splitlines()


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("- set_fact: {new: 1}\n", "1, set by roles/x/tasks/main.yml:1, in open.yml"),
        ("- ansible.builtin.set_fact: new=1\n", '"1", set by roles/x/tasks/main.yml:1, in open.yml'),
        ("- block:\n  - command: a\n    register: new\n", "set by roles/x/tasks/main.yml:3, in open.yml"),
        ("- debug:\n  vars:\n    new: 1\n", "1, set by roles/x/tasks/main.yml:3, in open.yml"),
        ("- include_vars: other.yml\n", "2, set by roles/x/vars/other.yml:1, in open.yml"),
    ],
)
def test_what_tasks_of_plays_set_is_named(run: Callable[..., Any], task: str, expected: str):
    files = {"roles/x/tasks/main.yml": task, "roles/x/vars/other.yml": "new: 2\n" if "include" in task else "{}\n"}
    code, out, _ = run("explain web1 new -i hosts", **files)
    assert (code, expected in out) == (0, True), out


def test_what_a_task_of_a_play_itself_sets_is_named(run: Callable[..., Any]):
    code, out, _ = run("who-has new -i hosts", **{"p.yml": "- hosts: web\n  tasks:\n  - set_fact:\n      new: 1\n"})
    assert (code, "p.yml:4  new: in p.yml play 1" in out) == (0, True)


BLANKS = "\n" * 60_000


@pytest.mark.parametrize(
    "more",
    [
        {"blank.yml": f"- hosts: web\n{BLANKS}  roles: [x]\n"},
        {"roles/x/tasks/main.yml": f"- include_role:\n{BLANKS}    name: y\n"},
        {"roles/x/tasks/main.yml": f"- include_role:{' ' * 60_000}\n    name: y\n"},
        {"roles/x/meta/main.yml": f"dependencies:\n{BLANKS}- role: y\n"},
        {"roles/x/tasks/main.yml": f"- {'include_role ' * 5_000}\n"},
    ],
    ids=["playbook", "tasks", "blanks", "meta", "words"],
)
def test_a_file_of_blank_lines_is_read_like_others(run: Callable[..., Any], more: dict[str, str]):
    """The suite ends what takes too long."""
    code, out, _ = run("explain web1 a -i hosts", **more)
    assert (code, "roles/x/defaults/main.yml:2" in out) == (0, True)


def test_folders_that_lead_back_are_entered_once(run: Callable[..., Any], tmp_path: Path):
    for folder in ("roles/x/tasks", "roles/x/defaults/main", "group_vars/all", "playbooks", "vars"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("l1", "l2"):
            (tmp_path / folder / name).symlink_to(".")
    (tmp_path / "roles/x/defaults/main/a.yml").write_text("a: from x\n")
    code, out, _ = run("explain web1 a -i hosts", **{"roles/x/defaults/main.yml": "", "group_vars/all/a.yml": "c: 1\n"})

    assert (code, out.count("set by")) == (1, 0)


def test_links_below_templates_in_a_name_end(run: Callable[..., Any], tmp_path: Path):
    """Twelve links at each of six gaps are three million names."""
    (tmp_path / "more").mkdir()
    for number in range(12):
        (tmp_path / f"more/l{number}").symlink_to(".")
    name = "/".join(f"{{{{ v{number} }}}}" for number in range(6))
    play = f"- hosts: web\n  roles: [x]\n  tasks:\n  - include_tasks: 'more/{name}/t.yml'\n"

    code, _, errors = run("matrix nope -i hosts --budget steps=100000", **{"links.yml": play})
    assert code == 5
    assert "cannot be followed: takes more than 100,000 steps" in errors


def test_a_role_by_a_template_may_be_any_that_fits(run: Callable[..., Any]):
    """Tasks are texts here: an include in a block, in words, in a map, or with a name on a later line is one, too."""
    tasks = {
        "a key": "- include_role:\n    # why\n    tasks_from: a\n    name: y\n",
        "a map": "- {include_role: {name: y, tasks_from: a}}\n",
        "words": "- import_role: name=y\n",
        "an action": "- action: include_role name=y\n",
        "a template": "- include_role:\n    name: '{{ which }}'\n",
        "a part": "- include_role: {name: \"{{ which | default('y') }}\"}\n",
        "a file of tasks": "- include_tasks: ../../../more/t.yml\n",
        "a file of tasks by a template": "- include_tasks: '{{ playbook_dir }}/more/t.yml'\n",
    }
    for what, text in tasks.items():
        code, out, _ = run("explain db1 b -i hosts", **{"roles/z/tasks/main.yml": text, "more/t.yml": tasks["a key"]})
        assert (code, "roles/y/vars/main/one.yml:1" in out) == (0, True), what


def test_a_task_of_a_play_may_bring_files_of_tasks(run: Callable[..., Any]):
    play = "- hosts: web\n  tasks:\n  - block:\n    - include_tasks: more/{{ x }}.yml\n"
    code, out, _ = run("explain web1 b -i hosts", **{"p.yml": play, "more/t.yml": "- import_role: {name: y}\n"})
    assert (code, "p.yml play 1" in out) == (0, True)


@pytest.mark.parametrize("text", ["- hosts: web\n  nosuch: 1\n", "- hosts: [web\n", "- hosts: web\n  roles: [gone]\n"])
def test_a_playbook_that_is_broken_costs_nothing(run: Callable[..., Any], text: str):
    assert run("explain db1 b -i hosts", **{"broken.yml": text})[0] == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x" * 50_000, False), (f"{'a.' * 25_000}y", False), ("see(v.yml)", True), ("v.yml.", True), ("in/v.yml-x", True)],
    ids=["word", "dots", "brackets", "dot", "more"],
)
def test_a_file_that_some_text_names_may_be_read(tmp_path: Path, text: str, expected: bool):
    """The suite ends what takes too long."""
    for name, content in {
        "ansible.cfg": "[defaults]\ninventory = hosts\n",
        "hosts": "web1\n",
        "v.yml": "a: 1\n",
    }.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "notes.yml").write_text(f"a: '{text}'\n")

    assert Ansible().open(folder_side(tmp_path), Request()).leaves_out("v.yml") is expected


def test_an_encrypted_file_of_vars_files_is_named_once_though_it_lies_where_playbooks_lie(run):
    code, _, err = run("explain web1 nosuch -i hosts --unread", **{"v.yml": VAULTED})

    assert (code, err.count("v.yml")) == (5, 1)
