"""What `check` finds in a repository of Ansible, and what keeps it silent."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.dialects.ansible.static import RepositoryCheck, is_repository
from nodeattrs.dialects.ansible.templates import names_in_templates

PLAY = "- hosts: web\n  roles: [web]\n"
FILES = {
    "ansible.cfg": "[defaults]\ninventory = hosts\n",
    "hosts": "[web]\nweb1\nweb2\n",
    "site.yml": PLAY,
    "roles/web/tasks/main.yml": "- debug: {msg: '{{ http_port }}'}\n",
}


def found(folder: Path, **files: str) -> list[tuple[str, str | None, int | None]]:
    """Kind, file and line of each finding. files: `__` in a name is a slash, `_yml` at its end a suffix"""
    named = {name.replace("__", "/").replace("_yml", ".yml").replace("_j2", ".j2"): one for name, one in files.items()}
    for name, text in {**FILES, **named}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [(one.kind, one.file, one.line) for one in RepositoryCheck(folder).warnings()]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"group_vars__web_yml": "http_port: 80\n"}, []),
        (
            {"group_vars__web_yml": "http_port: 80\nspare: 1\n"},
            [("unused-variable", "group_vars/web.yml", 2)],
        ),
        (
            {"group_vars__web_yml": "htpp_port: 80\n"},
            [("misspelt-variable", "group_vars/web.yml", 1)],
        ),
        ({}, [("undefined-variable", "roles/web/tasks/main.yml", 1)]),
        (
            {"hosts": "[web]\nweb1\n[web:vars]\nhttp_port=1\n", "group_vars__all_yml": "http_port: 2\n"},
            [("shadowed-variable", "hosts", 4)],
        ),
        (
            {"group_vars__web_yml": "http_port: 1\nhttp_port: 2\n"},
            [("duplicate-key", "group_vars/web.yml", 2)],
        ),
        (
            {
                "roles__web__templates__a_j2": "{{ http_port }} {{ nosuch_name }}\n",
                "group_vars__all_yml": "http_port: 2\n",
            },
            [("undefined-variable", "roles/web/templates/a.j2", 1)],
        ),
    ],
)
def test_each_kind_has_its_place(tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str, int]]):
    """Set and not mentioned, mentioned and not set, one of each that look alike, never counting, written twice."""
    assert found(tmp_path, **files) == expected


USES = "- debug: {msg: '{{ other }}'}\n"
SILENT = {
    "a default": {"roles__web__tasks__main_yml": "- debug: {msg: '{{ other_port | default(80) }}'}\n"},
    "a condition": {"roles__web__tasks__main_yml": "- debug: {msg: x}\n  when: other_port is defined\n"},
    "a task sets it": {"roles__web__tasks__main_yml": f"- {{command: x, register: other}}\n{USES}"},
    "Ansible sets it": {"roles__web__tasks__main_yml": "- debug: {msg: '{{ ansible_host }} {{ item.x }}'}\n"},
    "the template sets it": {"roles__web__templates__a_j2": "{% for other in groups.web %}{{ other }}{% endfor %}\n"},
    "a program gives it": {"roles__web__tasks__main_yml": USES, "run.sh": "ansible -e other=80\n"},
    "a page says so": {"roles__web__tasks__main_yml": USES, "README.md": "| `other` | why |\n"},
    "a comment names it": {
        "roles__web__tasks__main_yml": USES,
        "group_vars__db_yml": "# other:\n",
    },
    "a comment says how to set it": {
        "roles__web__tasks__main_yml": f'{USES[:-1]}  # give "other: true" to see it\n',
    },
    "a role is not there": {"group_vars__web_yml": "other: 1\n", "site_yml": "- {hosts: all, roles: [a.b.other]}\n"},
    "it begins like a variable of a role that is not there": {
        "site_yml": "- {hosts: web, roles: [web, ns.c.ansible-role-own]}\n",
        "roles__web__tasks__main_yml": "- debug: {msg: '{{ own_other }}'}\n",
    },
    "its name is made": {"group_vars__web_yml": "other_a: 1\n", "x_yml": "[\"{{ lookup('vars', 'other_' ~ x) }}\"]\n"},
    "a program makes its name": {"group_vars__web_yml": "other_a: 1\n", "x.py": "f'other_{role}'\n"},
    "a template makes its name": {"group_vars__web_yml": "other_a: 1\n", "x_yml": "a: \"{{ {'other_' ~ x: 1} }}\"\n"},
    "its value is taken by an alias": {"group_vars__web_yml": "other: &a {x: 1}\nhttp_port: {<<: *a}\n"},
    "a hidden template mentions it": {
        "group_vars__web_yml": "other: 1\n",
        "roles__web__templates__.env_j2": "{{ other }}",
    },
    "a comment names it in passing": {
        "roles__web__tasks__main_yml": f"# `other` is in the inventory\n{USES}",
    },
    "its value is the same": {
        "hosts": "[web]\nweb1\n[web:vars]\nother=1\n",
        "group_vars__all_yml": "other: 1\n",
        "roles__web__tasks__main_yml": USES,
    },
    "its host is a placeholder": {
        "hosts": "[web]\nyour_host\n[web:vars]\nother=1\n",
        "group_vars__all_yml": "other: 2\n",
        "roles__web__tasks__main_yml": USES,
    },
    "a quote gives it": {
        "roles__web__tasks__main_yml": USES,
        "tox.ini": '--extra-vars "other=1"\n',
    },
    "its playbook wants more": {
        "site_yml": "- hosts: '{{ target }}'\n  roles: [web]\n",
        "roles__web__tasks__main_yml": USES,
    },
    "its file is no template": {"roles__web__files__a_yml": "x: '{{ other }}'\n"},
    "its file is another program's": {"k8s__a.json": '{"x": "{{ other }}"}'},
    "its file is a test": {"tests__a_yml": "x: '{{ other }}'\n"},
    "a comment uses it": {"group_vars__web_yml": "other: 1\n", "x_yml": "a: 1\n# b: '{{ other }}'\n"},
    "a module sets it": {"roles__web__tasks__main_yml": "- debug: {msg: '{{ getent_other }}'}\n"},
    "a file from elsewhere gives it": {
        "roles__web__tasks__main_yml": USES,
        "README.md": "Run `ansible-playbook -e @secrets.yml site.yml`\n",
    },
    "its play reads another file": {
        "site_yml": "- hosts: web\n  vars_files: ['/srv/private/{{ x }}.yml']\n  roles: [web]\n",
        "roles__web__tasks__main_yml": USES,
    },
    "its role reads another file": {
        "roles__web__tasks__main_yml": f"- include_vars: {{file: nosuch.yml}}\n{USES}",
    },
    "git passes its file over": {
        "roles__web__tasks__main_yml": USES,
        ".gitignore": "group_vars/*/vault.yml\n",
    },
    "a folder of roles is not there": {
        "site_yml": PLAY + "- {hosts: '{{ target }}', roles: [galaxy/other]}\n",
        "roles__web__tasks__main_yml": "- debug: {var: other_port}\n",
        "roles__web__templates__other__x": "",
    },
    "a key stands beside a merge": {"group_vars__web_yml": "a: &a {other: 1}\nb: {<<: *a, other: 2}\n"},
    "a task sets what another one names": {
        "roles__web__tasks__main_yml": f"- set_fact: {{'{{{{ item.into }}}}': 1}}\n{USES}",
        "site_yml": PLAY + "- {hosts: all, vars: {x: [{into: other}]}}\n",
    },
    "its role reads a file that a variable names, and something fetches": {
        "roles__web__tasks__main_yml": "- include_vars: {file: '../../vars/{{ it }}'}\n- debug: {msg: '{{ other }}'}\n",
        "roles__vars__main_yml": "it: urls.yaml\n",
        "roles__web__vars__main_yml": "",
    },
    "a task makes its name": {
        "roles__web__tasks__main_yml": "- set_fact: {'{{ item }}_its_other': 1}\n- debug: {msg: '{{ a_its_other }}'}\n",
    },
    "an import gives it": {
        "roles__web__tasks__main_yml": USES,
        "x_yml": "- import_playbook: site.yml other=1\n",
    },
    "a file is encrypted": {"group_vars__web_yml": "other: 1\n", "group_vars__all_yml": "$ANSIBLE_VAULT;1.1;AES256\n"},
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_what_may_be_meant_is_not_reported(tmp_path: Path, files: dict[str, str]):
    """Nobody is told of a variable that somebody may set or read all the same."""
    found(tmp_path, **files)
    warnings = [one for one in RepositoryCheck(tmp_path).warnings() if one.kind != "not-judged"]
    assert [one.reason for one in warnings if "other" in one.reason] == []


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"README.md": "`ansible-playbook -e @secrets.yml site.yml`\n", "secrets_yml": "a: 1\n"}, 1),
        ({"roles__db__README.md": "`ansible-playbook -e @secrets.yml x.yml`\n"}, 1),
        ({"site_yml": PLAY + "  vars_files: ['../x/vars/a.yml', '{{ y }}']\n", "vars__a_yml": ""}, 0),
        ({"site_yml": PLAY + "  vars_files: ['/x/vars/{{ y }}.yml']\n", "vars__a_yml": ""}, 1),
    ],
    ids=["there", "of a role", "elsewhere", "by its end"],
)
def test_files_of_variables_that_are_there_say_what_they_set(tmp_path: Path, files: dict[str, str], count: int):
    """What another role names does not matter, and a repository may lie where an absolute path says."""
    kinds = [kind for kind, *_ in found(tmp_path, **files)]
    assert [kind for kind in kinds if kind not in ("missing", "not-judged")] == ["undefined-variable"] * count


def test_the_command_judges_ansible_and_groups_of_searches(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With codes, beside all else that a repository has."""
    found(tmp_path, group_vars__web_yml="http_port: 80\nspare: 1\n")
    (tmp_path / "nodeattrs.toml").write_text('[ansible.groups]\nweb = "role:("\na-b = "role:x"\na_b = "role:y"\n')
    assert main(["check", "--repo", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "group_vars/web.yml:2: note: nothing mentions spare [NA1332 unused-variable]" in out
    assert "nodeattrs.toml:2: warning: the search of the group web" in out
    assert "nodeattrs.toml:4: warning: for Ansible a_b and a-b are one group, a_b" in out


def test_what_ansible_fetches_is_no_role_of_chef(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Its list lies beside the roles."""
    found(tmp_path, group_vars__web_yml="http_port: 80\n", roles__requirements_yml="roles: [{name: a.b}]\n")
    assert main(["check", "--repo", str(tmp_path)]) == 0
    assert " 0 roles" in capsys.readouterr().out


def test_yaml_that_ansible_does_not_read_is_no_fault(tmp_path: Path):
    """Manifests of others have several documents; a file of tasks has one. A folder of roles may lie anywhere."""
    several = "a: 1\n---\nb: 2\n"
    files = dict.fromkeys(("manifests__a_yml", "roles__web__tasks__b_yml"), several)
    files |= {"b_yml": f"kind: x\n{several}", "x__roles__README": "text\n"}
    found(tmp_path, **files)
    assert [one.file for one in RepositoryCheck(tmp_path).faults] == ["roles/web/tasks/b.yml"]


def test_other_repositories_are_left_alone(tmp_path: Path):
    """A folder of roles alone says nothing; one of playbooks may have what an inventory has."""
    (tmp_path / "playbooks/roles").mkdir(parents=True)
    assert not is_repository(tmp_path)
    (tmp_path / "playbooks/group_vars").mkdir()
    (tmp_path / "playbooks/site.yml").write_text("- {hosts: all, tasks: [{debug: {msg: '{{ nosuch }}'}}]}\n")
    (tmp_path / "chart.yml").write_text("x: '{{ nosuch_label }}'\n")
    assert is_repository(tmp_path)
    assert [one.file for one in RepositoryCheck(tmp_path).warnings()] == ["playbooks/site.yml"]


@pytest.mark.parametrize("folder", ["inventory/group_vars", "inventory/prod/host_vars", "inventories/prod/group_vars"])
def test_variables_beside_inventories_are_a_sign_of_one(tmp_path: Path, folder: str):
    """Not every project has an ansible.cfg, or roles of its own."""
    (tmp_path / folder).mkdir(parents=True)

    assert is_repository(tmp_path)


def test_a_role_alone_is_a_repository(tmp_path: Path):
    """As people publish each: what nothing mentions is found there, what its users give is not missed."""
    texts = {
        "defaults/main.yml": "http_port: 80\nspare: 1\n",
        "tasks/main.yml": "- debug: {msg: '{{ http_port }} {{ bucket }}'}\n",
        "tests/test.yml": "- {hosts: all, roles: [me.web]}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert is_repository(tmp_path)
    assert [("unused-variable", "defaults/main.yml", 2)] == [
        (one.kind, one.file, one.line) for one in RepositoryCheck(tmp_path).warnings()
    ]


@pytest.mark.parametrize(("name", "faults"), [("mkdocs.yml", 0), ("site.yml", 1)])
def test_what_another_program_reads_is_no_fault(tmp_path: Path, name: str, faults: int):
    """The settings of MkDocs name objects of Python, and lie beside playbooks."""
    begun = {"mkdocs.yml": "site_name: Shop\n", "site.yml": "- hosts: all\n  "}[name]
    (tmp_path / "ansible.cfg").touch()
    (tmp_path / name).write_text(f"{begun}x: !!python/name:os.system\n")

    assert faults == len(RepositoryCheck(tmp_path).faults)


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ("[defaults]\nforks=1\nforks=2\n", 3, "the key forks is written twice"),
        ("[defaults]\n[defaults]\n", 2, "the section [defaults] is written twice"),
        ("[defaults]\nforks\n", 2, "a line that is no `key = value`"),
        ("forks=1\n", 1, "a line that is no `key = value`"),
        ("[defaults]\ninventory_ignore_patterns=(\n", None, "'(' cannot be read"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_a_fault_and_all_else_is_looked_at(
    tmp_path: Path, text: str, line: int | None, shown: str
):
    """Ansible itself stops there."""
    files = {"ansible.cfg": text, "group_vars__web_yml": "http_port: 1\nspare: 1\n"}
    names = [kind for kind, *_ in found(tmp_path, **files)]
    (fault,) = RepositoryCheck(tmp_path).faults

    assert (["unused-variable"], line) == (names, fault.line)
    assert shown in str(fault)


def test_a_configuration_whose_list_of_inventories_is_empty_stops_no_check(tmp_path: Path):
    """`inventory = ,` names no source at all."""
    files = {"ansible.cfg": "[defaults]\ninventory = ,\n", "group_vars__web_yml": "http_port: 1\nspare: 1\n"}

    assert [("unused-variable", "group_vars/web.yml", 2)] == found(tmp_path, **files)


def test_each_file_is_counted_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """There may be thousands, and who waits sees how far it is."""
    found(tmp_path, group_vars__web_yml="http_port: 1\n")
    counted: list[str] = []
    RepositoryCheck(tmp_path, counted.append)

    assert sorted([*FILES, "group_vars/web.yml"]) == sorted(counted)

    shown: list[str] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("nodeattrs.cli.terminal._bar", lambda *_: None)
    monkeypatch.setattr("nodeattrs.cli.terminal.Terminal.progress", lambda _, text: shown.append(text))
    main(["check", str(tmp_path)])

    assert f"5: {counted[-1]}" == shown[-1]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"hosts": "[web]\nweb1 http_port=1 pw=ab#cd\n[web:vars]\nspare=1\n"}, ("ini-comment", "hosts", 2)),
        ({"hosts": "[web]\nweb1\n[web:vars]\nhttp_port=abc # tail\n"}, ("ini-comment", "hosts", 4)),
        ({"group_vars__web_yml": "ansible_group_priority: 10\n"}, ("no-effect", "group_vars/web.yml", 1)),
        ({"group_vars__web_yml": "", "group_vars__web.yaml": ""}, ("passed-over", "group_vars/web.yaml", None)),
        ({"group_vars__web_yml": "My-Var: 1\n"}, ("variable-name", "group_vars/web.yml", 1)),
        ({"group_vars__web_yml": "environment: x\n"}, ("reserved-name", "group_vars/web.yml", 1)),
        (
            {"group_vars__web_yml": "a: &a {k: 1}\nb: &b {k: 2}\nc:\n  <<: [*a, *b]\n"},
            ("duplicate-key", "group_vars/web.yml", 4),
        ),
        ({"site_yml": PLAY + "  vars_files: [vars/missng.yml]\n"}, ("missing", "site.yml", 3)),
        ({"roles__web__tasks__main_yml": "- include_vars: no.yml\n"}, ("missing", "roles/web/tasks/main.yml", 1)),
        (
            {"roles__web__tasks__main_yml": "- debug:\n  when: '{{ x }}'\n"},
            ("condition", "roles/web/tasks/main.yml", 2),
        ),
    ],
)
def test_what_is_probably_not_meant_is_found(tmp_path: Path, files: dict[str, str], expected: tuple[str, str, int]):
    assert expected in found(tmp_path, **files)


@pytest.mark.parametrize(
    "files",
    [
        {"hosts": "[web]\nweb1 http_port='ab#cd' # tail\n[web:vars]\nx=5 # tail\ny='a # b'\n# z=a # b\nw=a#b\n"},
        {"unit.ini": "[Service]\nExec=a b=c#d\n"},
        {"group_vars__web_yml": "a: 1\n", "roles__web__vars__web.yaml": "b: 1\n"},
        {"group_vars__web_yml": "a: &a {k: 1, l: 2}\nb: &b {k: 1, m: 3}\nc:\n  <<: [*a, *b]\n"},
        {"site_yml": PLAY + "  vars_files: [v.yml, [gone.yml, v.yml], '{{ x }}.yml']\n", "v_yml": "a: 1\n"},
        {"roles__web__tasks__main_yml": "- debug:\n  when: \"'{{ x }}' == y\"\n"},
    ],
)
def test_what_may_be_meant_is_not_found(tmp_path: Path, files: dict[str, str]):
    kinds = {kind for kind, *_ in found(tmp_path, **files)}
    assert not kinds & {
        "duplicate-key",
        "ini-comment",
        "no-effect",
        "passed-over",
        "missing",
        "condition",
        "reserved-name",
    }


LONG = 50_000


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        (f"x=abc{' ' * LONG}", False),
        (f"x=abc{' ' * LONG}# tail", True),
        (f"x={'abc ' * LONG}", False),
        (f"{'x' * LONG} # y", False),
        (f"x{' ' * LONG}= abc # y", True),
    ],
)
def test_a_long_line_of_an_inventory_is_judged_like_others(tmp_path: Path, line: str, is_found: bool):
    """The suite ends what takes too long."""
    files = {"hosts": f"[web]\nweb1 http_port=1\n[web:vars]\n{line}\n"}
    assert (("ini-comment", "hosts", 4) in found(tmp_path, **files)) is is_found


@pytest.mark.parametrize("text", ["{", "{{ ", "{{ '\\'", "\n", "{{ a"])
def test_a_text_that_opens_templates_again_and_again_takes_linear_time(tmp_path: Path, text: str):
    many = text * 60_000
    began = time.process_time()
    found(tmp_path, **{"roles/web/README.md": many, "roles/web/defaults/main.yml": f"# {many}\na: 1\n"})
    assert "b" in names_in_templates([many, f"{{{{ {'a' * 60_000}( }}}}", "{{ b }}"])

    assert time.process_time() - began < 8


def test_a_condition_with_a_number_of_many_digits_ends_no_check(tmp_path: Path):
    play = f"- hosts: web\n  tasks: [{{debug: , when: '{'1' * 5000}'}}]\n"
    assert ("undefined-variable", "roles/web/tasks/main.yml", 1) in found(tmp_path, play_yml=play)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("roles/web/defaults/main.yml", "http_port:\n- {command: x, when: '{{ y }}'}\n"),
        ("site.yml", PLAY + "  vars:\n    http_port: [{when: '{{ y }}'}]\n"),
        ("roles/web/tasks/main.yml", "- debug: {msg: '{{ http_port }}'}\n  with_items: [{when: '{{ y }}'}]\n"),
    ],
    ids=["in a variable", "in a variable of a play", "in a loop"],
)
def test_a_key_called_when_in_data_is_no_condition(tmp_path: Path, file: str, text: str):
    assert [one for one in found(tmp_path, **{file: text}) if one[0] == "condition"] == []


def test_a_condition_in_a_block_of_a_play_is_judged(tmp_path: Path):
    text = PLAY + "  tasks:\n  - block:\n    - {debug: {msg: x}, when: '{{ http_port }}'}\n"
    assert ("condition", "site.yml", 5) in found(tmp_path, site_yml=text)


@pytest.mark.parametrize("is_there", [False, True])
def test_a_file_of_a_submodule_is_missing_only_where_the_submodule_is_there(tmp_path: Path, is_there: bool):
    files = {".gitmodules": '[submodule "m"]\n\tpath = m\n', **({"m/b.yml": "c: 1\n"} if is_there else {})}
    kinds = [one[0] for one in found(tmp_path, site_yml=PLAY + "  vars_files: [m/a.yml]\n", **files)]
    assert ("missing" in kinds) is is_there


def test_a_computed_name_is_a_note_with_the_names_that_it_may_be(tmp_path: Path):
    """They are not said to be unused, and the rule is not silent."""
    files = {"group_vars__web_yml": "http_port: 1\nspare: 1\nother: 2\n", "a_yml": "- x: '{{ vars[y] }}'\n"}
    found(tmp_path, **files)
    (note,) = [one for one in RepositoryCheck(tmp_path).warnings() if one.kind == "not-judged"]

    assert (note.file, note.line) == ("a.yml", 1)
    assert note.reason.endswith("whether these are used: spare, other")


@pytest.mark.parametrize(
    ("files", "line", "why"),
    [
        ({"a_yml": "- x: 1\n- y: '{{ vars[\"spa\"] }}'\n"}, 2, "names are put together from parts, first here"),
        ({"a_yml": "- {hosts: web, roles: [ns.elsewhere]}\n"}, 1, "the role ns.elsewhere is not in the repository"),
    ],
    ids=["a part of its name", "a role from elsewhere"],
)
def test_a_variable_that_something_else_may_use_is_a_note_with_the_line(
    tmp_path: Path, files: dict[str, str], line: int, why: str
):
    found(tmp_path, group_vars__web_yml="http_port: 1\nspare: 1\n", **files)
    (note,) = [one for one in RepositoryCheck(tmp_path).warnings() if one.kind == "not-judged"]

    assert (note.file, note.line) == ("a.yml", line)
    assert note.reason == f"{why}, so it is not known whether these are used: spare"


@pytest.mark.parametrize(
    "file", ["roles/net/cilium/defaults/main.yml", "roles/net/cilium/vars/a.yml", "vars/a.yml"], ids=str
)
def test_variables_of_roles_in_folders_and_of_folders_called_vars_are_judged(tmp_path: Path, file: str):
    others = {"roles/net/cilium/tasks/main.yml": "- debug: {msg: x}\n", "group_vars/web.yml": "http_port: 1\n"}
    assert found(tmp_path, **others, **{file: "a: 1\nspare: 1\n", "b.yml": "x: '{{ a }}'\n"}) == [
        ("unused-variable", file, 2)
    ]


def test_a_file_that_is_not_there_says_that_nothing_is_called_undefined(tmp_path: Path):
    found(tmp_path, site_yml=PLAY + "  vars_files: [gone.yml]\n")
    (note,) = [one for one in RepositoryCheck(tmp_path).warnings() if one.kind == "not-judged"]

    assert (note.file, note.line) == ("site.yml", 3)
    assert note.reason.startswith("gone.yml is not there")


@pytest.mark.parametrize("text", ["vars[", "hostvars[", "lookup('vars' "])
def test_a_template_that_asks_for_variables_by_name_again_and_again_is_read_to_its_end(tmp_path: Path, text: str):
    few = found(tmp_path, **{".gitignore": "a\n", "roles/web/templates/a.j2": "a"})
    many = found(tmp_path, **{".gitignore": "passw" * 100_000, "roles/web/templates/a.j2": text * 60_000})

    assert few == many
