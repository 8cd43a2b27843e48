"""Ansible: what was not read, or cannot be known, is never a certain answer; and what the files decide is no open one.

Expected values are those of ansible-core 2.19.14 in a real run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs import border
from nodeattrs.ansible import AnsibleError, Inventory, Playbook
from nodeattrs.cli import main
from nodeattrs.errors import NodeattrsError

ALL = "- hosts: all\n  gather_facts: false\n"
TASKS = f"{ALL}  tasks:\n"
PROBE = "- name: probe\n  debug: {msg: x}\n"
END = "  - name: end\n    debug: {msg: x}\n"
ROLE = {
    "roles/r/tasks/main.yml": PROBE,
    "roles/r/tasks/alt.yml": "- name: alt\n  debug: {msg: x}\n",
    "roles/r/vars/main.yml": "v: main\n",
    "roles/r/vars/alt.yml": "v: alt\n",
    "roles/r/defaults/main.yml": "d: main\n",
    "roles/r/defaults/alt.yml": "d: alt\n",
    "more.yml": PROBE,
}
VAULTED = "$ANSIBLE_VAULT;1.1;AES256\n3766\n"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {"hosts": "web1 fam=x n=3\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def probed(folder: Path, files: dict[str, str], task: str = "probe", *more: str) -> Any:
    inventory = Inventory("hosts", folder=written(folder, files), extra_vars=more)
    found = Playbook(inventory, "play.yml").task(task, "web1")
    assert found is not None
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def asked(words: str, files: dict[str, str]) -> tuple[int, str, str]:
        monkeypatch.chdir(written(tmp_path, files))
        monkeypatch.setenv("COLUMNS", "200")
        code = main(["ansible", *words.split()])
        out, err = capsys.readouterr()
        return code, out, err

    return asked


INCLUDE = "  - include_role: {name: r, "
SETS = {
    "apply_of_a_role": (f"{TASKS}{INCLUDE}apply: {{vars: {{v: on apply}}}}}}\n", "probe", {"v": "on apply"}),
    "apply_of_tasks": (
        f"{TASKS}  - include_tasks: {{file: more.yml, apply: {{vars: {{v: 2, w: 2}}}}}}\n    vars: {{w: task}}\n",
        "probe",
        {"v": 2, "w": "task"},
    ),
    "apply_over_a_block": (
        f"{TASKS}  - block:\n    - include_tasks: {{file: more.yml, apply: {{vars: {{v: on apply}}}}}}\n"
        "    vars: {v: on block}\n",
        "probe",
        {"v": "on apply"},
    ),
    "apply_under_args": (
        f"{TASKS}  - include_role: {{name: r}}\n    args: {{apply: {{vars: {{v: 3}}}}, vars_from: alt}}\n",
        "probe",
        {"v": 3},
    ),
    "words": (f"{TASKS}  - include_role: name=r vars_from=alt\n", "probe", {"v": "alt"}),
    "action": (f"{TASKS}  - action: {{module: include_role, name: r, vars_from: alt}}\n", "probe", {"v": "alt"}),
    "files_by_a_group_variable": (
        f"{TASKS}{INCLUDE}vars_from: '{{{{ w }}}}', defaults_from: '{{{{ w }}}}', tasks_from: '{{{{ w }}}}'}}\n",
        "alt",
        {"v": "alt", "d": "alt"},
    ),
    "file_of_an_import_by_its_own_variable": (
        f"{TASKS}  - import_role: {{name: r, vars_from: '{{{{ o }}}}'}}\n    vars: {{o: alt}}\n",
        "probe",
        {"v": "alt"},
    ),
    "file_by_the_item_of_a_loop": (
        f"{TASKS}{INCLUDE}vars_from: '{{{{ item }}}}'}}\n    loop: [alt]\n",
        "probe",
        {"v": "alt", "item": "alt", "ansible_loop_var": "item"},
    ),
    "loop_with_other_names": (
        f"{TASKS}  - include_tasks: more.yml\n    with_items: [a, [b]]\n    when: one == 'b'\n"
        "    loop_control: {loop_var: one, index_var: at}\n",
        "probe",
        {"one": "b", "at": 1},
    ),
    "role_by_a_filter": (
        f"{TASKS}  - include_role: {{name: \"{{{{ no | default('r') }}}}\"}}\n",
        "probe",
        {"d": "main"},
    ),
    "fact_with_a_value": (f"{TASKS}  - set_fact: {{a: 1, b: '{{{{ fam }}}}!'}}\n{END}", "end", {"a": 1, "b": "x!"}),
    "fact_under_args": (f"{TASKS}  - set_fact:\n    args: {{a: 5}}\n{END}", "end", {"a": 5}),
    "fact_under_a_condition": (
        f"{TASKS}  - set_fact: {{a: 1}}\n    when: fam == 'x'\n  - set_fact: {{b: 1}}\n    when: [fam == 'y', no]\n"
        f"{END}",
        "end",
        {"a": 1, "b": None},
    ),
    "condition_of_a_block_is_asked_by_each_task": (
        f"{TASKS}  - block:\n    - set_fact: {{a: 1}}\n    - set_fact: {{b: 1}}\n    when: a is not defined\n{END}",
        "end",
        {"a": 1, "b": None},
    ),
    "file_in_a_block_that_is_skipped": (
        f"{TASKS}  - block:\n    - include_vars: roles/r/vars/alt.yml\n    when: fam == 'y'\n{END}",
        "end",
        {"v": None},
    ),
    "task_that_only_tags_run": (
        f"{TASKS}  - include_vars: roles/r/vars/alt.yml\n    tags: [never, x]\n  - set_fact: {{a: 1}}\n"
        f"    tags: never, always\n{END}",
        "end",
        {"v": None, "a": 1},
    ),
    "play_that_only_tags_run": (
        f"{ALL}  tags: never\n  tasks:\n  - set_fact: {{a: 1}}\n{TASKS}{END}",
        "end",
        {"a": None},
    ),
    "role_whose_entry_is_skipped": (
        f"{ALL}  roles: [{{role: s, when: fam == 'y'}}]\n  tasks:\n{END}",
        "end",
        {"s": None},
    ),
    "files_in_a_loop": (
        f"{TASKS}  - include_vars: 'roles/r/vars/{{{{ item }}}}.yml'\n    loop: [alt, main]\n{END}",
        "end",
        {"v": "main"},
    ),
    "first_found_as_a_lookup": (
        f"{TASKS}  - include_vars: \"{{{{ lookup('first_found', ['no.yml', 'vars/' ~ fam ~ '.yml']) }}}}\"\n{END}",
        "end",
        {"f": "vars"},
    ),
    "first_found_with_folders": (
        f"{TASKS}  - include_vars: \"{{{{ lookup('first_found', where) }}}}\"\n"
        f"    vars: {{where: {{files: ['{{{{ fam }}}}.yml'], paths: [vars]}}}}\n{END}",
        "end",
        {"f": "vars"},
    ),
    "first_found_as_a_loop_seeks_in_vars_first": (
        f"{TASKS}  - include_vars: '{{{{ item }}}}'\n    with_first_found: ['{{{{ fam }}}}.yml']\n{END}",
        "end",
        {"f": "vars"},
    ),
    "first_found_as_a_lookup_seeks_beside_the_playbook": (
        f"{TASKS}  - include_vars: \"{{{{ lookup('first_found', ['x.yml']) }}}}\"\n{END}",
        "end",
        {"f": "beside"},
    ),
    "first_found_that_is_skipped_by_its_map": (
        f"{TASKS}  - include_vars: '{{{{ item }}}}'\n    with_first_found: [no.yml, {{files: [no2.yml], skip: true}}]\n"
        f"{END}",
        "end",
        {"f": None},
    ),
    "first_found_in_the_folder_of_the_map_before": (
        f"{TASKS}  - include_vars: \"{{{{ lookup('first_found', where, 'x.yml') }}}}\"\n"
        f"    vars: {{where: {{files: no.yml, paths: files}}}}\n{END}",
        "end",
        {"f": "files"},
    ),
    "public_as_a_text": (f"{TASKS}{INCLUDE}public: 'yes'}}\n{END}", "end", {"v": "main"}),
    "public_by_a_variable": (f"{TASKS}{INCLUDE}public: '{{{{ n == 3 }}}}'}}\n{END}", "end", {"v": "main"}),
    "closed_as_a_text": (f"{TASKS}  - import_role: {{name: r, public: 'no'}}\n{END}", "end", {"v": None}),
    "facts_whose_names_are_filled_in": (
        f"{TASKS}  - set_fact: {{'k_{{{{ item }}}}': 1}}\n    loop: [a, b]\n{END}",
        "end",
        {"k_a": 1, "k_b": 1},
    ),
    "hosts_by_a_play_variable": (
        f"- hosts: \"{{{{ t | default('none') }}}}\"\n  gather_facts: false\n  vars: {{t: all}}\n  tasks:\n{END}",
        "end",
        {"t": "all"},
    ),
    "hosts_by_a_file": (
        f"- hosts: '{{{{ target }}}}'\n  gather_facts: false\n  vars_files: [hosts.yml]\n  tasks:\n{END}",
        "end",
        {"target": ["web1"]},
    ),
    "hosts_where_a_file_needs_a_host": (
        f"- hosts: '{{{{ t }}}}'\n  gather_facts: false\n  vars: {{t: all}}\n"
        f"  vars_files: ['{{{{ group_names[0] }}}}.yml']\n  tasks:\n{END}",
        "end",
        {},
    ),
    "hosts_by_a_group": (
        f"- hosts: \"{{{{ groups['all'] }}}}\"\n  gather_facts: false\n  tasks:\n{END}",
        "end",
        {"fam": "x"},
    ),
}
FOUND = {
    **ROLE,
    "group_vars/all.yml": "w: alt\n",
    "roles/s/tasks/main.yml": "- set_fact: {s: 1}\n",
    "vars/x.yml": "f: vars\n",
    "files/x.yml": "f: files\n",
    "x.yml": "f: beside\n",
    "hosts.yml": "target: [web1]\n",
}


@pytest.mark.parametrize(("play", "task", "expected"), SETS.values(), ids=SETS)
def test_variables_that_the_files_decide_are_certain(tmp_path: Path, play: str, task: str, expected: dict[str, Any]):
    """None is for what is not set."""
    found = probed(tmp_path, {**FOUND, "play.yml": play}, task)

    assert {name: found.vars.get(name) for name in expected} == expected
    assert [found.trace(name).unknown for name in expected] == [()] * len(expected)


OPEN = {
    "condition_that_is_applied": (
        f"{TASKS}  - include_role: {{name: s, apply: {{when: nope}}}}\n{END}",
        {"roles/s/tasks/main.yml": "- set_fact: {s: 1}\n"},
        "s",
    ),
    "file_by_an_open_name": (f"{TASKS}{INCLUDE}vars_from: '{{{{ nope }}}}'}}\n", {}, "v"),
    "tasks_by_an_open_name": (f"{TASKS}{INCLUDE}tasks_from: '{{{{ nope }}}}'}}\n{END}", {}, "v"),
    "item_of_an_open_loop": (f"{TASKS}{INCLUDE}vars_from: '{{{{ item }}}}'}}\n    with_nested: [[a], [b]]\n", {}, "v"),
    "open_arguments": (f"{TASKS}  - set_fact:\n    args: '{{{{ nope }}}}'\n{END}", {}, "s"),
    "open_tags": (f"{TASKS}  - set_fact: {{s: 1}}\n    tags: '{{{{ fam }}}}'\n{END}", {}, "s"),
    "block_that_may_fail": (
        f"{TASKS}  - block:\n    - fail:\n    - set_fact: {{s: 1}}\n    rescue:\n    - debug: {{msg: x}}\n{END}",
        {},
        "s",
    ),
    "handler": (f"{ALL}  handlers:\n  - name: h\n    set_fact: {{s: 1}}\n  tasks:\n{END}", {}, "s"),
    "handler_of_an_earlier_play": (f"{ALL}  handlers:\n  - name: h\n    set_fact: {{s: 1}}\n{TASKS}{END}", {}, "s"),
    "task_after_the_end_of_its_role": (
        f"{ALL}  roles: [s]\n  tasks:\n{END}",
        {"roles/s/tasks/main.yml": "- meta: end_role\n  when: nope\n- set_fact: {s: 1}\n"},
        "s",
    ),
    "fact_that_another_host_delegates": (
        f"{TASKS}  - set_fact: {{s: 1}}\n    delegate_to: web1\n    delegate_facts: true\n"
        f"    when: inventory_hostname != 'web1'\n{END}",
        {},
        "s",
    ),
    "fact_that_a_play_for_another_host_delegates": (
        "- hosts: web2\n  tasks:\n  - set_fact: {s: 1}\n    delegate_to: web1\n    delegate_facts: true\n"
        f"{TASKS}{END}",
        {"hosts": "web1\nweb2\n"},
        "s",
    ),
    "encrypted_file_under_a_condition": (
        f"{TASKS}  - include_vars: secret.yml\n    when: nope\n{END}",
        {"secret.yml": VAULTED},
        "s",
    ),
    "file_under_an_open_name": (
        f"{TASKS}  - include_vars: {{file: more.yml, name: '{{{{ nope }}}}'}}\n{END}",
        {"more.yml": "a: 1\n"},
        "s",
    ),
    "play_for_open_hosts": (f"- hosts: '{{{{ nope }}}}'\n  tasks: []\n{TASKS}{END}", {}, "s"),
    "facts_where_they_are_gathered": (
        f"- hosts: all\n  tasks:\n  - set_fact: {{s: 1}}\n    when: ansible_facts.pkg_mgr is defined\n{END}",
        {},
        "s",
    ),
    "other_facts_that_are_gathered": (f"- hosts: all\n  tasks:\n{END}", {}, "module_setup"),
    "file_in_a_handler": (
        f"{ALL}  handlers:\n  - name: h\n    include_vars: s.yml\n  tasks:\n{END}",
        {"s.yml": "s: 1\n"},
        "s",
    ),
    "fact_that_is_registered_too": (f"{TASKS}  - set_fact: {{s: 1}}\n    register: s\n{END}", {}, "s"),
    "what_an_include_registers": (f"{TASKS}  - include_tasks: more.yml\n    register: s\n{END}", {}, "s"),
    "role_that_is_public_perhaps": (f"{TASKS}{INCLUDE}public: '{{{{ nope }}}}'}}\n{END}", {}, "s"),
    "defaults_of_a_module": (f"{ALL}  module_defaults: {{set_fact: {{s: 1}}}}\n  tasks:\n{END}", {}, "s"),
    "module_of_the_playbook": (f"{TASKS}  - own:\n{END}", {"library/own.py": "exit_json(ansible_facts={})\n"}, "s"),
    "module_of_a_role": (
        f"{ALL}  roles: [s]\n  tasks:\n{END}",
        {"roles/s/tasks/main.yml": "- own:\n", "roles/s/library/own.py": "exit_json(ansible_facts={})\n"},
        "s",
    ),
    "module_that_loads_variables": (f"{TASKS}  - community.sops.load_vars: {{file: x}}\n{END}", {}, "s"),
}


ANYTHING = {
    "file_by_an_open_name", "tasks_by_an_open_name", "item_of_an_open_loop", "open_arguments", "play_for_open_hosts",
    "encrypted_file_under_a_condition", "file_under_an_open_name", "module_that_loads_variables",
    "fact_that_a_play_for_another_host_delegates",
    "role_that_is_public_perhaps", "defaults_of_a_module", "module_of_the_playbook", "module_of_a_role",
}  # fmt: skip
"""Those that may set any variable; the others leave all other variables certain."""


@pytest.mark.parametrize("case", OPEN)
def test_what_the_files_leave_open_is_unknown(tmp_path: Path, case: str):
    play, files, name = OPEN[case]
    found = probed(tmp_path, {**ROLE, **files, "play.yml": play}, "end" if END in play else "probe")

    assert found.unknown(name)
    assert bool(found.unknown("other")) is (case in ANYTHING)


@pytest.mark.parametrize("apply", ["'{{ nope }}'", "[vars]"])
def test_apply_is_a_map(tmp_path: Path, apply: str):
    files = {**ROLE, "play.yml": f"{TASKS}{INCLUDE}apply: {apply}}}\n"}
    with pytest.raises(AnsibleError, match=r"play\.yml:4: apply is a map"):
        probed(tmp_path, files)


def test_a_loop_of_includes_has_a_limit(tmp_path: Path):
    """Tasks multiply where an include includes itself in a loop."""
    again = "- include_tasks: again.yml\n  loop: [1, 2]\n  when: deep | default(0) | int < 45\n"
    again += '  vars: {deep: "{{ deep | default(0) | int + 1 }}"}\n'
    with pytest.raises(NodeattrsError):
        probed(tmp_path, {"again.yml": again, "play.yml": f"{TASKS}  - include_tasks: again.yml\n{END}"}, "end")


def test_no_task_is_met_where_the_hosts_of_a_play_are_open(run: Callable[..., Any]):
    """The error names the play."""
    play = f"- hosts: '{{{{ nope }}}}'\n  tasks:\n{END}"
    code, _, err = run("explain web1 fam -i hosts --playbook play.yml", {"play.yml": play})

    assert code == 1
    assert "play.yml:1: the play's hosts are not known: `nope` has no value" in err


def test_a_host_may_come_from_a_source_that_was_not_run(run: Callable[..., Any]):
    """The error names it."""
    code, _, err = run("vars web9 -i inv.yml", {"inv.yml": "plugin: amazon.aws.aws_ec2\n"})

    assert (code, "inv.yml may have it: it was not run" in err) == (1, True)


FACT = f"{TASKS}  - set_fact: {{color: 1, size: 2}}\n    when: nope\n{END}"
IN_TASK = "-i hosts --playbook play.yml"
SCRIPT = {"inv.yml": "plugin: amazon.aws.aws_ec2\n"}
SECRET = {"group_vars/all.yml": VAULTED}


@pytest.mark.parametrize(
    ("words", "files", "code", "said"),
    [
        (
            f"vars web1 {IN_TASK}",
            {"play.yml": FACT},
            5,
            "play.yml:4 (registered vars and set_facts (19 of 22)) may set color, size: set_fact sets it to 1",
        ),
        (f"vars web1 {IN_TASK}", {"play.yml": FACT}, 5, "may set color, size"),
        (f"vars web1 {IN_TASK} -e color=1", {"play.yml": FACT}, 5, "may set size"),
        (f"vars web1 {IN_TASK} -e color=1 -e size=1", {"play.yml": FACT}, 0, ""),
        (f"vars web1 {IN_TASK} --render", {"play.yml": FACT}, 5, "may set color, size"),
        (f"vars web1 {IN_TASK} --origins", {"play.yml": FACT}, 5, "may set color, size"),
        (f"explain web1 color {IN_TASK}", {"play.yml": FACT}, 5, "may set color"),
        (f"explain web1 fam {IN_TASK}", {"play.yml": FACT}, 0, ""),
        (f"diff web1 web1 {IN_TASK}", {"play.yml": FACT}, 5, "may set color, size"),
        ("vars web1 -i hosts", {"play.yml": FACT}, 0, ""),
        ("vars web1 -i hosts", SECRET, 5, "group_vars/all.yml:1 (inventory group_vars/all (4 of 22)) is encrypted"),
        ("list -i hosts", SECRET, 5, "may set anything"),
        ("graph -i hosts", SECRET, 0, ""),
        ("graph -i hosts --vars", SECRET, 5, "may set anything"),
        ("matrix size -i hosts", SECRET, 5, "may set size"),
        ("matrix fam -i hosts", SECRET, 0, ""),
        ("who-has size -i hosts", SECRET, 5, "may set size"),
        ("list -i inv.yml", SCRIPT, 5, "the plugin amazon.aws.aws_ec2, which was not run"),
        ("graph -i inv.yml", SCRIPT, 5, "which was not run"),
        ("matrix size -i inv.yml", SCRIPT, 5, "which was not run"),
        ("matrix nope -i hosts", {}, 1, ""),
        ("matrix fam -i hosts", {}, 0, ""),
        ("list -i hosts", {}, 0, ""),
    ],
)
def test_each_command_says_what_may_change_its_answer(
    run: Callable[..., Any], words: str, files: dict[str, str], code: int, said: str
):
    """Exit code 5, and a line for each level; 0 where no unread place can set what was asked."""
    got, _, err = run(words, files)

    assert got == code, err
    assert said in err
    assert said or "NA0204" not in err


@pytest.mark.parametrize(
    "words", ["explain web1 color", "matrix color", "who-has color", "vars web1 --origins"], ids=lambda one: one[:4]
)
@pytest.mark.parametrize("files", [SECRET, {}], ids=["unread", "read"])
def test_data_have_the_certainty_and_the_unread_places(run: Callable[..., Any], words: str, files: dict[str, str]):
    data = json.loads(run(f"{words} -i hosts --format json", files)[1])

    assert data["certain"] is (not files)
    assert [one["place"].partition(":")[0] for one in data["unread"]] == list(files)


def test_places_of_one_level_are_one_line(run: Callable[..., Any]):
    files = {f"group_vars/all/{name}.yml": VAULTED for name in "abc"}
    err = run("vars web1 -i hosts", files)[2]

    assert err.count("NA0204") == 1
    assert "3 places of inventory group_vars/all (4 of 22) are encrypted, and may set anything: group_vars/all/a" in err
    assert 3 == run("vars web1 -i hosts --unread", files)[2].count("NA0204")


PLUGIN = "class VarsModule:\n    def get_vars(self, loader, path, entities, cache=True):\n        return {'fam': 'y'}\n"
NOTHING = PLUGIN.replace("{'fam': 'y'}", "{}")
NAMED = PLUGIN.replace("    def", "    REQUIRES_ENABLED = True\n\n    def")
IN_ROLE = {"roles/r/tasks/main.yml": PROBE, "roles/r/vars_plugins/p.py": PLUGIN, "play.yml": f"{ALL}  roles: [r]\n"}


@pytest.mark.parametrize(
    ("words", "files", "place"),
    [
        ("", {"ansible.cfg": "[defaults]\nvars_plugins = plug\n", "plug/below/p.py": PLUGIN}, "plug/below/p.py:1"),
        ("", {"ansible.cfg": "[defaults]\nvars_plugins_enabled = host_group_vars,ns.c.p\n"}, "ansible.cfg"),
        ("--playbook-dir .", {"vars_plugins/p.py": PLUGIN}, "vars_plugins/p.py:1"),
        ("--playbook play.yml", {"vars_plugins/p.py": PLUGIN, "play.yml": TASKS + END}, "vars_plugins/p.py:1"),
        ("--playbook play.yml", IN_ROLE, "roles/r/vars_plugins/p.py:1"),
        ("", {"vars_plugins/p.py": PLUGIN}, None),
        ("--playbook-dir .", {"vars_plugins/p.py": NAMED}, None),
        ("", {"ansible.cfg": "[defaults]\nvars_plugins = plug\n"}, None),
        ("--playbook-dir .", {"vars_plugins/p.py": NOTHING}, None),
        ("--playbook-dir .", {"vars_plugins/p.py": f"{NOTHING}VarsModule.get_vars = x\n"}, "vars_plugins/p.py:1"),
        ("--playbook-dir .", {"vars_plugins/p.py": f"import x\n@x.y\n{NOTHING}"}, "vars_plugins/p.py:1"),
        ("--playbook-dir .", {"vars_plugins/p.py": f"{NOTHING}\n)"}, "vars_plugins/p.py:1"),
    ],
    ids=[
        "folder",
        "name",
        "beside",
        "play",
        "role",
        "not a playbook's",
        "not enabled",
        "none",
        "sets nothing",
        "is replaced",
        "is decorated",
        "is broken",
    ],
)
def test_a_plugin_that_may_set_variables_is_an_unknown_layer(
    run: Callable[..., Any], words: str, files: dict[str, str], place: str | None
):
    code, out, err = run(f"explain web1 fam -i hosts {words}", files)

    assert code == (5 if place else 0), err
    assert place is None or f"{place} (vars plugin p" in out.replace("ns.c.p", "p")


LISTED = {
    "web": {"hosts": ["web1"]},
    "made": {"hosts": ["web1"]},
    "_meta": {"hostvars": {"web1": {"fam": "x", "n": 4}}},
}
CONSTRUCTED = {
    "inv/01-hosts": "[web]\nweb1 fam=x n=3\n",
    "inv/02-made.yml": "plugin: ns.c.made\nuse_vars_plugins: true\n",
    "inv/group_vars/made.yml": "size: big\n",
}


def test_a_plugin_is_given_the_sources_before_it(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What it repeats stays theirs, and it sees files of variables where it asks for them."""
    program = tmp_path / "bin" / "ansible-inventory"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho \"$@\" > words\nenv > env\ncat <<'END'\n{json.dumps(LISTED)}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    code, out, _ = run("vars web1 -i inv --run-inventory inv/02-made.yml --origins", CONSTRUCTED)

    assert code == 0
    assert sorted(out.splitlines()) == [
        'fam = "x"  inv/01-hosts:2',
        "n = 4  inv/02-made.yml",
        'size = "big"  inv/group_vars/made.yml:1',
    ]
    given = (tmp_path / "words").read_text().replace(f"{tmp_path}/", "")
    assert given == "-i inv/01-hosts -i inv/02-made.yml --list --export\n"
    assert "ANSIBLE_VARS_ENABLED" not in (tmp_path / "env").read_text()


@pytest.mark.parametrize("program", [None, "exit 3"], ids=["absent", "broken"])
def test_a_source_that_could_not_be_run_is_unknown(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None
):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    if program is not None:
        (tmp_path / "bin" / "ansible-inventory").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "bin" / "ansible-inventory").chmod(0o755)
    code, _, err = run("vars web1 -i inv --run-inventory inv/02-made.yml", CONSTRUCTED)

    assert (code, "inv/02-made.yml:1" in err) == (5, True)


def test_a_file_of_a_plugin_that_is_enabled_by_name_is_unknown(run: Callable[..., Any]):
    files = {"ansible.cfg": "[inventory]\nenable_plugins = ns.c.made, ini\n", **CONSTRUCTED}
    assert run("vars web1 -i inv", files)[0] == 5


COLLECTION = {
    f"deps/ansible_collections/ns/c/roles/r/{name}": text
    for name, text in {"tasks/main.yml": PROBE, "defaults/main.yml": "d: collection\n"}.items()
}


@pytest.mark.parametrize(
    ("config", "play"),
    [
        ("deps", f"{ALL}  roles: [ns.c.r]\n"),
        ("deps/ansible_collections", f"{ALL}  roles: [ns.c.r]\n"),
        ("deps", f"{ALL}  collections: [ns.c]\n  roles: [r]\n"),
        ("deps", f"{ALL}  collections: ns.c\n  tasks:\n  - import_role: {{name: r}}\n"),
        ("deps", f"{TASKS}  - block:\n    - include_role: {{name: r}}\n    collections: [ns.c]\n"),
        ("deps", f"{TASKS}  - import_role: {{name: r}}\n    collections: [ns.c]\n"),
    ],
)
def test_roles_are_sought_in_collections_first(tmp_path: Path, config: str, play: str):
    """Those that a play, a block or a task names, in the folders of ansible.cfg."""
    config = f"[defaults]\ncollections_path = {config}\n"
    found = probed(tmp_path, {**ROLE, **COLLECTION, "ansible.cfg": config, "play.yml": play})

    assert found.vars["d"] == "collection"


@pytest.mark.parametrize("path", ["$PWD/hosts", "${PWD}/hosts", "{{CWD}}/hosts", "hosts"])
def test_paths_of_ansible_cfg_are_filled_in(run: Callable[..., Any], path: str):
    assert run("vars web1", {"ansible.cfg": f"[defaults]\ninventory = {path}\n"})[0] == 0


@pytest.mark.parametrize(
    ("plugins", "hosts"),
    [("advanced_host_list", ["web1", "web2"]), ("host_list, advanced_host_list", ["web[1:2]"]), ("ini", ["web[1:2]"])],
)
def test_ranges_in_a_list_of_hosts_need_their_plugin(tmp_path: Path, plugins: str, hosts: list[str]):
    written(tmp_path, {"ansible.cfg": f"[inventory]\nenable_plugins = {plugins}\n"})
    assert list(Inventory("web[1:2],", folder=tmp_path).hosts) == hosts


PLAYED = {"play.yml": TASKS + END}


@pytest.mark.parametrize(
    ("config", "words", "code"),
    [
        ("[vars_host_group_vars]\nstage = task", "", 5),
        ("[defaults]\nplaybook_vars_root = all", "", 5),
        ("[tags]\nskip = x", "--playbook play.yml", 5),
        ("[tags]\nrun = x", "--playbook play.yml", 5),
        ("[tags]\nskip = x", "", 0),
        ("[defaults]\nforks = 5", "--playbook play.yml", 0),
    ],
)
def test_a_setting_that_is_not_followed_is_unknown(run: Callable[..., Any], config: str, words: str, code: int):
    assert run(f"explain web1 fam -i hosts {words}", {**PLAYED, "ansible.cfg": f"{config}\n"})[0] == code


def test_settings_have_a_second_name_that_counts_more(tmp_path: Path):
    config = "[defaults]\ninventory_ignore_extensions = .x\nplaybook_dir = books\n[inventory]\nignore_extensions = .y\n"
    files = {"inv/a.x": "web1\n", "inv/b.y": "web2\n", "books/group_vars/all.yml": "a: 1\n", "ansible.cfg": config}
    inventory = Inventory("inv", folder=written(tmp_path, files))

    assert list(inventory.hosts) == ["web1"]
    assert inventory.host("web1").vars == {"a": 1}


# --- what Ansible sets itself


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("group_names", 'group_names = ["web"]'),
        ("groups.web", 'groups.web = ["web1"]'),
        ("inventory_hostname", 'inventory_hostname = "web1"'),
        ("hostvars.web2.n", "web2 in the inventory: n = 4"),
    ],
)
def test_a_variable_that_ansible_sets_is_explained(run: Callable[..., Any], words: str, expected: str):
    code, out, _ = run(f"explain web1 {words} -i hosts", {"hosts": "web2 n=4\n[web]\nweb1\n"})
    assert (code, expected in out) == (0, True)


@pytest.mark.parametrize("name", ["ansible_version", "ansible_check_mode", "hostvars"])
def test_a_variable_that_only_a_run_knows_is_not_known(run: Callable[..., Any], name: str):
    """Also where a file sets it: Ansible's own counts."""
    files = {"host_vars/web1.yml": "ansible_version: 1\n"}
    assert run(f"explain web1 {name} -i hosts", files)[0] == 5


def test_groups_are_not_known_where_a_source_was_not_run(run: Callable[..., Any]):
    files = {"inv/a": "web1\n", "inv/b.yml": "plugin: amazon.aws.aws_ec2\n"}
    assert run("explain web1 group_names -i inv", files)[0] == 5
    assert run("explain web1 inventory_hostname -i inv", files)[0] == 0


def test_vars_files_may_be_one_text(tmp_path: Path):
    found = probed(tmp_path, {"play.yml": f"{ALL}  vars_files: one.yml\n  tasks:\n{END}", "one.yml": "one: 1\n"}, "end")
    assert found.vars["one"] == 1
    assert [(one.file, one.line) for one in found.origins("one")] == [("one.yml", 1)]


@pytest.mark.parametrize("words", ["list", "explain web1 a", "graph", "vars web1", "matrix a", "who-has a"])
def test_an_inventory_that_is_not_there_is_the_error(run: Callable[..., Any], words: str):
    """Ansible goes on with localhost alone."""
    code, _, err = run(f"{words} -i nosuch", {})
    assert (code, err.splitlines()[-2]) == (1, "error: nosuch: this inventory is not there [NA1305]")


def test_an_inventory_that_ansible_cfg_names_and_is_not_there_is_the_error(run: Callable[..., Any]):
    code, _, err = run("list", {"ansible.cfg": "[defaults]\ninventory = gone/hosts\n"})
    assert (code, "gone/hosts: this inventory is not there" in err) == (1, True)


def test_one_source_of_several_that_is_not_there_is_a_warning(run: Callable[..., Any]):
    code, _, err = run("list -i nosuch -i hosts", {})
    assert (code, "warning: nosuch: no inventory" in err) == (0, True)


def test_the_usual_task_is_no_rescue(run: Callable[..., Any]):
    """A rescue runs where something has failed."""
    block = "  - block:\n    - name: one\n      debug:\n    rescue:\n    - name: two\n      debug:\n"
    code, out, _ = run("explain web1 fam -i hosts --playbook play.yml", {"play.yml": TASKS + block})
    assert (code, "task 'one'" in out) == (0, True)


# --- playbooks of collections

IN_COLLECTION = {
    f"collections/ansible_collections/ns/c/{name}": text
    for name, text in {
        "playbooks/site.yml": f"{ALL}  vars: {{p: own}}\n  vars_files: [vars/v.yml]\n  roles: [r]\n",
        "playbooks/vars/v.yml": "v: beside it\n",
        "roles/r/tasks/main.yml": PROBE,
        "roles/r/defaults/main.yml": "d: of the collection\n",
    }.items()
}


@pytest.mark.parametrize("name", ["ns.c.site", "ns.c.site.yml"])
def test_a_playbook_of_a_collection_is_imported_by_its_name(tmp_path: Path, name: str):
    """Its roles are sought in that collection, and files beside it."""
    play = f"- import_playbook: {name}\n  vars: {{p: over}}\n"
    found = probed(tmp_path, {**IN_COLLECTION, "play.yml": play})

    assert found.vars.items() >= {"p": "over", "v": "beside it", "d": "of the collection"}.items()


@pytest.mark.parametrize(
    ("role", "text", "line"),
    [
        ("nsx.c.r", "collections:\n- name: nsx.c\n", 2),
        ("other", "roles:\n- src: x\n- name: other\n", 3),
        ("a.b", "- a.b\n", 1),
    ],
)
def test_a_role_that_requirements_name_says_so(run: Callable[..., Any], role: str, text: str, line: int):
    files = {"play.yml": f"{ALL}  roles: [{role}]\n", "requirements.yml": text}
    code, _, err = run("explain web1 fam -i hosts --playbook play.yml", files)

    assert (code, f"requirements.yml:{line} names it" in err) == (1, True)


@pytest.mark.parametrize("how", ["include_role: {name: r, apply: %s}", "include_tasks: {file: more.yml, apply: %s}"])
def test_what_apply_sets_is_filled_in_where_the_include_stands(tmp_path: Path, how: str):
    """And not with what the tasks inside have; a template that needs a run is unknown."""
    apply = "{vars: {a: '{{ fam }}-1', fam: '{{ n }}', b: \"{{ lookup('pipe', 'date') }}\"}}"
    found = probed(tmp_path, {**ROLE, "play.yml": f"{TASKS}  - {how % apply}\n"})

    assert (found.vars["a"], str(found.vars["fam"])) == ("x-1", "3")
    assert found.trace("b").unknown
    assert not found.trace("a").unknown


OS_FILES = {
    "roles/r/vars/Debian-12.yml": "size: 1\n",
    "roles/r/vars/RedHat.yml": "depth: 2\n",
    "roles/r/vars/other.yml": "fam: 3\n",
    "roles/r/tasks/end.yml": "- name: end\n  debug:\n",
}


@pytest.mark.parametrize(
    ("task", "open_names", "sure_names"),
    [
        ("include_vars: 'Debian-{{ ansible_facts.version }}.yml'", ["size"], ["fam", "n", "depth"]),
        (
            "include_vars: '{{ item }}'\n  with_first_found:\n"
            "  - files: ['Debian-{{ ansible_version }}.yml', RedHat.yml]\n    paths: [../vars]\n    skip: true",
            ["size", "depth"],
            ["fam", "n"],
        ),
        ("include_vars: '{{ ansible_os_family }}.yml'", ["size", "depth", "fam"], ["n"]),
        ("include_vars: '{{ other }}.yml'", ["size", "depth", "fam", "n"], []),
    ],
)
def test_a_file_that_facts_choose_sets_no_more_than_the_files_there(
    tmp_path: Path, task: str, open_names: list[str], sure_names: list[str]
):
    """What another variable chooses may be any file."""
    tasks = f"- {task}\n- name: end\n  debug:\n"
    files = {**OS_FILES, "roles/r/tasks/main.yml": tasks, "play.yml": f"{ALL}  roles: [r]\n"}
    found = probed(tmp_path, files, "end")

    assert [name for name in (*open_names, *sure_names) if found.trace(name).unknown] == open_names


FOLDER_TREE = {f"d/{name}.yml": f"x: {name}\n" for name in ("m", "a/1", "b/a/2", "b/c/3", "b/4", "z")}


def test_a_folder_that_is_included_has_its_own_files_first(tmp_path: Path):
    """Then those of the folders in it, each by name; a link that leads back changes nothing."""
    files = {"play.yml": f"{TASKS}  - include_vars: {{dir: d}}\n{END}", **FOLDER_TREE}
    written(tmp_path, files)
    for name in ("l1", "l2"):
        (tmp_path / "d/b" / name).symlink_to(".")

    found = probed(tmp_path, files, "end")
    (origin,) = found.origins("x")
    assert (found.vars["x"], origin.file, found.trace("x").unknown) == ("b/c/3", "d/b/c/3.yml", ())
    assert [one.claim.value for one in found.trace("x").claims] == ["b/c/3", "b/a/2", "b/4", "a/1", "z", "m"]


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("include_vars: 'v/{{ ansible_a }}/{{ ansible_b }}.yml'", {"deep"}),
        ("include_vars: 'v/{{ ansible_a }}/b.yml'", {"deep"}),
        ("include_vars: 'v/a/{{ ansible_b }}'", {"deep"}),
        ("include_vars: 'v/x-{{ ansible_a }}.yml'", set()),
        ("include_vars: 'v/[a]{{ ansible_a }}.yml'", set()),
        ("include_vars: 'v/{% if ansible_a %}a{% endif %}/b.yml'", {"deep"}),
        ("include_vars: 'v/{% if ansible_a %}a/b{% endif %}.yml'", None),
        ("include_vars: 'v/{{ ansible_a'", None),
        ("include_vars: 'out/{{ ansible_a }}.yml'", None),
        ("include_vars: {dir: 'v/{{ ansible_a }}'}", None),
        ("include_vars: {dir: v, extensions: [yml]}", None),
    ],
)
def test_a_file_that_facts_choose_may_be_any_that_fits(tmp_path: Path, task: str, names: set[str] | None):
    """What is not understood, or lies outside, may set any variable."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.yml").write_text("other: 1\n")
    here = tmp_path / "here"
    files = {"play.yml": f"{TASKS}  - {task}\n{END}", "v/a/b.yml": "deep: 1\n", "v/a.yml": "top: 1\n"}
    written(here, files)
    (here / "out").symlink_to(outside)

    with border.held(border.Border([here])):
        found = probed(here, files, "end")
        unknown = {name for name in ("deep", "top", "other") if found.trace(name).unknown}
    assert unknown == ({"deep", "top", "other"} if names is None else names)


OUTCOMES = {
    "tasks_by_a_result": (
        "  - command: x\n    register: out\n  - include_tasks: 't-{{ out.stdout }}.yml'\n",
        {"a": True, "b": True, "c": False},
    ),
    "tasks_by_a_condition": (
        '  - include_tasks: "t-{% if nope %}a{% else %}b{% endif %}.yml"\n',
        {"a": True, "b": True, "c": False},
    ),
    "tasks_by_the_template_of_a_variable": (
        "  - include_tasks: '{{ file }}'\n    vars: {file: 't-{% if nope %}a{% endif %}.yml'}\n",
        {"a": True, "b": True, "c": False},
    ),
    "tasks_that_are_found_first": (
        "  - include_tasks: '{{ item }}'\n    with_first_found: ['t-{{ ansible_x }}.yml', no.yml]\n",
        {"a": True, "b": True, "c": False},
    ),
    "tasks_that_may_be_these_again": (
        "  - include_tasks: 'u-{{ ansible_x }}.yml'\n",
        {"a": True, "b": False, "c": False},
    ),
    "tasks_by_a_name_that_is_not_set": ("  - include_tasks: 't-{{ nope }}.yml'\n", {"a": True, "b": True, "c": True}),
    "tasks_by_a_path": ("  - include_tasks: '{{ n }}-{{ nope }}.yml'\n", {"a": True, "b": True, "c": True}),
    "tasks_in_a_loop_that_is_not_known": (
        "  - include_tasks: 't-{{ item }}.yml'\n    loop: '{{ nope }}'\n",
        {"a": True, "b": True, "c": True},
    ),
    "a_group_without_variables": ("  - group_by: {key: other}\n", {"a": False, "g": False}),
    "a_group_with_a_file": ("  - group_by: {key: 'in_{{ nope }}'}\n", {"g": True, "h": True, "a": False}),
    "a_group_with_parents": ("  - group_by: {key: other, parents: in_x}\n", {"g": True, "a": True}),
    "a_group_whose_task_does_not_run": ("  - group_by: {key: in_x}\n    when: fam == 'y'\n", {"g": False}),
    "a_group_that_is_known": ("  - group_by: {key: 'in_{{ fam }}'}\n", {"g": False, "h": False, "groups": True}),
    "a_group_of_a_task_for_another_host": (
        "  - group_by: {key: in_x}\n    delegate_to: web2\n    delegate_facts: true\n",
        {"g": True, "h": True, "a": False},
    ),
    "a_group_by_a_result": ("  - group_by: {key: 'in_{{ nope }}'}\n    when: nope\n", {"g": True, "h": True}),
}


@pytest.mark.parametrize(("tasks", "unknown"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_may_be_one_of_the_files_there_sets_no_more_than_they_do(
    tmp_path: Path, tasks: str, unknown: dict[str, bool]
):
    files = {
        "hosts": "web1 fam=x n=3\n[in_x]\nweb2 \n[up:children]\nin_x\n[up:vars]\nh=1\n",
        "group_vars/in_x.yml": "g: 1\n",
        "t-a.yml": "- set_fact: {a: 1}\n",
        "u-a.yml": "- include_tasks: 'u-{{ ansible_x }}.yml'\n- set_fact: {a: 1}\n",
        "u-b.yml": "- include_tasks: 'u-{{ ansible_y }}.yml'\n",
        "t-b.yml": "- block:\n  - command: x\n    register: b\n",
        "play.yml": f"{TASKS}{tasks}{END}",
    }
    found = probed(tmp_path, files, "end")
    assert {name: bool(found.trace(name).unknown) for name in unknown} == unknown


def test_a_dependency_runs_once_in_a_play_whose_hosts_are_open(tmp_path: Path):
    files = {
        "hosts": "[web]\nweb1\n",
        "roles/d/tasks/main.yml": "- {name: in d, debug: {msg: x}}\n",
        "roles/r/meta/main.yml": "dependencies: [d]\n",
        "play.yml": f"{ALL}  tasks:\n  - group_by: {{key: web}}\n"
        "- hosts: web[0:3]\n  gather_facts: false\n  tasks:\n"
        "  - include_role: {name: r}\n    loop: [1, 2]\n",
    }
    found = Playbook(Inventory("hosts", folder=written(tmp_path, files)), "play.yml").tasks("web1")
    assert [task.name for task in found] == ["group_by", "in d"]


@pytest.mark.parametrize(("value", "is_open"), [("false", False), ("no", False), ("true", True), ("'{{ x }}'", True)])
def test_a_play_for_others_sets_facts_of_a_host_only_where_it_delegates_them(tmp_path: Path, value: str, is_open: bool):
    files = {
        "hosts": "web1\nweb2\n",
        "play.yml": "- hosts: web2\n  gather_facts: false\n  tasks:\n"
        f"  - debug: {{msg: x}}\n    delegate_facts: {value}\n{TASKS}{END}",
    }
    playbook = Playbook(Inventory("hosts", folder=written(tmp_path, files)), "play.yml")
    assert bool(playbook.unknown("web1")) is is_open


def test_a_play_for_a_group_that_tasks_make_may_be_for_a_host(tmp_path: Path):
    """What it sets is not certain, and its tasks are not met; a play for other groups is as before."""
    made = f"{TASKS}  - group_by: {{key: 'in_{{{{ nope }}}}'}}\n- hosts: in_x\n  gather_facts: false\n  tasks:\n"
    play = f"{made}  - set_fact: {{s: 1}}\n  - name: probe\n    debug:\n{TASKS}{END}"
    files = {"hosts": "web1\n", "play.yml": play}

    assert probed(tmp_path, files, "end").trace("s").unknown
    assert Playbook(Inventory("hosts", folder=tmp_path), "play.yml").task("probe", "web1") is None
    other = {**files, "play.yml": play.replace("hosts: in_x", "hosts: web2")}
    assert not probed(tmp_path, other, "end").trace("s").unknown


def test_a_role_that_may_join_a_play_is_not_certain_after_it(tmp_path: Path):
    tasks = "  - include_tasks: more.yml\n    when: nope\n"
    files = {**ROLE, "play.yml": f"{TASKS}{tasks}{END}", "more.yml": "- import_role: {name: r}\n"}
    assert probed(tmp_path, files, "end").trace("v").unknown


INCLUDED = "- set_fact: {done: true}\n- name: probe\n  debug: {msg: x}\n"


@pytest.mark.parametrize(
    "include",
    ["include_tasks: more.yml\n    when: done is not defined", "include_tasks: \"{{ done | default('more') }}.yml\""],
)
def test_all_passes_of_an_include_are_settled_before_its_first_task(tmp_path: Path, include: str):
    """A real run meets the probe twice."""
    files = {"play.yml": f"{TASKS}  - {include}\n    loop: [1, 2]\n", "more.yml": INCLUDED}
    playbook = Playbook(Inventory("hosts", folder=written(tmp_path, files)), "play.yml")

    assert [task.name for task in playbook.tasks("web1")].count("probe") == 2


@pytest.mark.parametrize(
    "roles", ["[{role: r, module_defaults: {set_fact: {v: default}}}]", "[{role: r, run_once: true}]"]
)
def test_keywords_of_a_role_that_change_what_its_tasks_set_leave_that_open(tmp_path: Path, roles: str):
    files = {
        "play.yml": f"{ALL}  roles: {roles}\n  post_tasks:\n{END}",
        "roles/r/tasks/main.yml": "- set_fact: {w: 1}\n",
    }

    assert probed(tmp_path, files, "end").trace(("w" if "run_once" in roles else "v",)).unknown


@pytest.mark.parametrize(("handlers", "names"), [("other", {"b"}), ("'{{ nosuch }}'", {"a", "b"}), ("main", {"a"})])
def test_handlers_from_names_the_handlers_that_may_run(tmp_path: Path, handlers: str, names: set[str]):
    files = {
        "play.yml": f"{TASKS}  - include_role: {{name: r, handlers_from: {handlers}}}\n{END}",
        "roles/r/tasks/main.yml": PROBE,
        "roles/r/handlers/main.yml": "- name: one\n  set_fact: {a: 1}\n",
        "roles/r/handlers/other.yml": "- name: two\n  set_fact: {b: 1}\n",
    }
    found = probed(tmp_path, files, "end")

    assert {name for name in ("a", "b") if found.trace((name,)).unknown} == names


REGROUPED = """
- hosts: all
  gather_facts: false
  tasks:
  - group_by: {key: "in_{{ fam | default('none') }}"}
  - name: first
    debug:
  - group_by: {key: web}
    when: fam is defined
  - name: second
    debug:
- hosts: web:!in_none
  gather_facts: false
  tasks: [{name: third, debug: }]
- hosts: ungrouped
  gather_facts: false
  tasks: [{name: fourth, debug: }]
- hosts: in_*
  gather_facts: false
  tasks: [{name: fifth, debug: }]
"""
"""A play whose tasks put hosts into groups that are there, and into new ones."""


def test_a_host_is_in_the_groups_that_its_tasks_surely_put_it_into(tmp_path: Path):
    """With their variables and plays; a host that joins one is no longer ungrouped."""
    files = {
        "hosts": "h1 fam=x\nh2\n[web]\nh2\n[big:children]\nweb\n[web:vars]\nc=web\n",
        "group_vars/in_x.yml": "a: in_x\n",
        "group_vars/ungrouped.yml": "e: ungrouped\n",
        "play.yml": REGROUPED,
    }
    playbook = Playbook(Inventory("hosts", folder=written(tmp_path, files)), "play.yml")
    met = {host: [task.name for task in playbook.tasks(host) if task.name != "group_by"] for host in ("h1", "h2")}

    assert met == {"h1": ["first", "second", "third", "fifth"], "h2": ["first", "second", "fifth"]}
    found = playbook.task("third", "h1")
    assert found is not None
    assert (found.vars, found.magic["group_names"]) == ({"fam": "x", "a": "in_x", "c": "web"}, ["big", "in_x", "web"])


def test_defaults_of_modules_that_an_include_applies_are_unknown(tmp_path: Path):
    apply = "apply: {module_defaults: {set_fact: {w: default}}}"
    files = {**ROLE, "play.yml": f"{TASKS}  - include_role: {{name: r, {apply}}}\n{END}"}

    assert probed(tmp_path, files, "end").trace(("w",)).unknown
