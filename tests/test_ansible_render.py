"""Templates of Ansible evaluated without Ansible: what ansible-core 2.19.14 gave for the same, and what stays text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.ansible import Inventory, Playbook, Rendered, Rendering, as_json
from nodeattrs.cli import main
from nodeattrs.core.budget import limited
from nodeattrs.errors import TooMuch

VARS = """\
base: {a: 1, b: {c: 2}, l: [1, 2]}
under: "{{ nosuch }}"
mixed: {x: 1, y: "{{ nosuch }}"}
site: site
none: null
flag: true
unsafe: !unsafe "{{ number }}"
lst: ["{{ number }}", "{{ site }}"]
day: 2020-01-02
"""
Render = Callable[..., Rendered]


@pytest.fixture
def render(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Render:
    """Evaluates variables beside `VARS`."""

    def made(more: str | dict[str, Any]) -> Rendered:
        (tmp_path / "hosts").write_text("[web]\nweb1 number=80\n")
        (tmp_path / "group_vars").mkdir(exist_ok=True)
        (tmp_path / "group_vars" / "web").mkdir(exist_ok=True)
        (tmp_path / "group_vars" / "web" / "a.yml").write_text(VARS)
        (tmp_path / "group_vars" / "web" / "b.yml").write_text(more if isinstance(more, str) else json.dumps(more))
        monkeypatch.chdir(tmp_path)
        return Rendering(Inventory("hosts").host("web1")).variables()

    return made


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ number + 1 }}", 81),
        ("{{ '[1, 2]' }}", "[1, 2]"),
        ("{{ number }}{{ number }}", "8080"),
        (" {{ number }}", " 80"),
        ("a{{ none }}b", "ab"),
        ("{{ none }}{{ none }}", None),
        ("{{ base.l }}{{ none }}", [1, 2]),
        ("a{{ flag }}", "aTrue"),
        ("{{ base }}x", "{'a': 1, 'b': {'c': 2}, 'l': [1, 2]}x"),
        ("{% if not flag %}a{% endif %}", None),
        ("{% for k, v in base.b.items() %}{{ k }}={{ v }};{% endfor %}", "c=2;"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}", "<1>"),
        ("{% set z = 5 %}{{ z }}", 5),
        (r"{{ 'a\nb' }}", r"a\nb"),
        (r"{{ 'it\'s' }}", r"it\'s"),
        (r"{% set x = 'a\nb' %}{{ x }}", "a\nb"),
        ("{{ under | default('q') }}", "q"),
        ("{{ mixed.y | default('q') }}", "q"),
        ("{{ mixed.x }}", 1),
        ("{{ nosuch.a.b | default('z') }}", "z"),
        ("{{ '' | default('x', true) }}", "x"),
        ("{{ under is defined or mixed.y is defined }}", False),
        ("{{ lst | join('-') }}", "80-site"),
        ("{{ unsafe }} x", "{{ number }} x"),
        ("{{ '{{ number }}' }}", "{{ number }}"),
        ("{{ day }} x", "2020-01-02 x"),
        ("{{ day | to_yaml }}", "2020-01-02\n"),
        ("{{ groups['web'] + group_names }}", ["web1", "web"]),
        ("{{ base | combine({'b': {'d': 3}}) }}", {"a": 1, "b": {"d": 3}, "l": [1, 2]}),
        ("{{ base | combine({'b': {'d': 3}}, recursive=True) }}", {"a": 1, "b": {"c": 2, "d": 3}, "l": [1, 2]}),
        ("{{ {'l': [1, 1, 2]} | combine({'l': [2, 2]}, list_merge='append_rp') }}", {"l": [1, 1, 2, 2]}),
        ("{{ base | combine({'l': [2, 3]}, list_merge='prepend') }}", {"a": 1, "b": {"c": 2}, "l": [2, 3, 1, 2]}),
        ("{{ [1, 2, 2] | union([3, 2]) }}", [1, 2, 3]),
        ("{{ base.l | difference([1]) | union([9]) }}", [9, 2]),
        ("{{ [1, 2, 1] | symmetric_difference([2, 3]) }}", [1, 3]),
        ("{{ ['a', 'A', 'b'] | unique }}", ["a", "b"]),
        ("{{ [[1], [1], {'a': 1}] | unique }}", [[1], {"a": 1}]),
        ("{{ [1, [2, [3, none]]] | flatten }}", [1, 2, 3]),
        ("{{ [1, [2, [3]]] | flatten(levels=1) }}", [1, 2, [3]]),
        (r"{{ 'x' | regex_replace('(x)', '<\1>') }}", "<x>"),
        ("{{ 'abc' | regex_replace('B', 'x', ignorecase=True) }}", "axc"),
        (r"{{ 'abc' | regex_search('(a)(b)', '\1', '\2') }}", ["a", "b"]),
        (r"{{ 'abc' | regex_search('(z)', '\1') }}", None),
        ("{{ 'é' | b64encode | b64decode }}", "é"),
        ("{{ 'x' | hash }}", "11f6ad8ec52a2984abaafd7c3b516503785c2072"),
        ("{{ none | ternary('a', 'b', 'c') }}", "c"),
        ("{{ {'a': 1} | dict2items | items2dict }}", {"a": 1}),
        ("{{ {'b': 'é', 'a': [1, none]} | to_json }}", '{"b": "\\u00e9", "a": [1, null]}'),
        ("{{ {'b': 1, 'a': [{}]} | to_nice_json(indent=2) }}", '{\n  "a": [\n    {}\n  ],\n  "b": 1\n}'),
        ("{{ {'b': {'x': [1,2]}, 'a': 2} | to_yaml }}", "a: 2\nb:\n  x: [1, 2]\n"),
        ("{{ {'b': 'é', 'a': [1, {'x': 1}, 'yes']} | to_nice_yaml }}", "a:\n- 1\n-   x: 1\n- 'yes'\nb: é\n"),
        ("{{ 'a: [1, yes]' | from_yaml }}", {"a": [1, True]}),
        ("{{ ['yes', 'On', 'x', 2, none, 1.0] | map('bool') }}", [True, True, False, False, False, True]),
        ("{{ 'abc' is match('b') or 'abc' is search('b') }}", True),
    ],
)
def test_a_template_gives_what_ansible_gave(render: Render, template: str, value: object):
    """Recorded from `debug` tasks of ansible-core 2.19.14."""
    found = render({"asked": template})

    assert as_json(found.value["asked"]) == value
    assert type(as_json(found.value["asked"])) is type(value)
    assert ("asked",) not in found.left


@pytest.mark.parametrize(
    ("template", "value"),
    [
        (r"{{ ('a' * 30) | regex_search('(a+)+$', '\1') }}", ["a" * 30]),
        ("{{ 'a=b,c=d' | regex_findall('((?:(\\w)=(\\w),?)+)') }}", [["a=b,c=d", "c", "d"]]),
        (r"{{ 'a.b' | regex_search('(?P<x>\w)', '\g<x>') }}", ["a"]),
    ],
)
def test_expressions_of_templates_find_what_python_finds(render: Render, template: str, value: object):
    """Repeats in repeats, too, whose search may take long."""
    assert as_json(render({"asked": template}).value["asked"]) == value


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ nosuch }}", "'nosuch' is undefined"),
        ("{{ under }}", "'nosuch' is undefined"),
        ("{{ base.nosuch }}", "has no attribute 'nosuch'"),
        ("{{ mixed }}x", "'nosuch' is undefined"),
        ("{{ mixed | to_json }}", "'nosuch' is undefined"),
        ("{{ nosuch is none }}", "'nosuch' is undefined"),
        ("{{ nosuch | mandatory('why') }}", "why"),
        ("{{ lookup('env', 'HOME') }}", "the lookup env needs Ansible"),
        ("{{ hostvars['web1'].number | default(1) }}", "hostvars is a variable that Ansible sets when it runs"),
        ("{{ 'a' | nosuchfilter }}", "No filter named 'nosuchfilter'"),
        ("{{ 'x' is file }}", "No test named 'file'"),
        ("{{ 1 + }}", "unexpected 'end of print statement'"),
        ("{{ range(3) }}", "it gives a range"),
        ("{{ base.items }}", "it gives a "),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ asked }}", "needs itself"),
        ("{{ ('a' * 40 ~ '!') | regex_search('(a+)+$') }}", "takes longer than"),
        ("{{ secret | default('x') }}", "it is encrypted"),
        ("{{ [secret] }}", "it is encrypted"),
        ("{{ 'abc'[secret] }}", "it is encrypted"),
        ("{{ {}[{}[secret]] }}", "it is encrypted"),
        ("{{ [1] | map(attribute=secret) | list }}", "it is encrypted"),
        ("{{ {'a': secret} | to_nice_yaml }}", "it is encrypted"),
        ("{{ 'abc'[nosuch] }}", "'nosuch' is undefined"),
    ],
)
def test_what_cannot_be_evaluated_stays_a_text_with_its_reason(render: Render, template: str, reason: str):
    """Neither is anything guessed."""
    found = render(f"secret: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3766\nasked: {json.dumps(template)}\n")

    assert found.value["asked"] == template
    assert reason in found.left["asked",]
    assert found.left["secret",] == "it is encrypted"


def test_only_the_leaf_that_fails_stays_a_text(render: Render):
    """The others of its map are evaluated."""
    found = render({"asked": {"good": "{{ site }}", "bad": ["{{ nosuch }}"]}})

    assert found.value["asked"] == {"good": "site", "bad": ["{{ nosuch }}"]}
    assert ("asked", "bad", 0) in found.left


def test_variables_need_each_other_up_to_a_limit(render: Render):
    """So many in a row; not one more is tried."""
    chain = {f"v{index}": f"{{{{ v{index + 1} }}}}" for index in range(60)}
    found = render({**chain, "v60": "end"})

    assert found.value["v59"] == "end"
    assert "need one another" in found.left["v0",]


def test_a_template_that_grows_without_end_is_stopped(render: Render):
    """By the limits of one answer."""
    with limited(steps=10_000), pytest.raises(TooMuch):
        render({"asked": "{% for x in range(90000) %}{{ x }}{% endfor %}"})


def test_each_host_has_limits_of_its_own_for_the_same_template():
    inventory = Inventory("web1,web2,")
    for name in inventory.hosts:
        rendering = Rendering(inventory.host(name))
        with limited(steps=10_000), pytest.raises(TooMuch, match=f"templates of {name}"):
            Rendering(inventory.host(name)).rendered("{% for x in range(90000) %}{{ x }}{% endfor %}")
        assert rendering.rendered("{{ inventory_hostname }}!").value == f"{name}!"


def test_a_variable_that_a_task_may_have_set_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The place is named."""
    monkeypatch.chdir(tmp_path)
    Path("site.yml").write_text(
        "- hosts: all\n  gather_facts: false\n  vars: {a: 1, b: '{{ a }}'}\n"
        "  tasks:\n  - set_fact: {a: 2}\n    when: nosuch\n"
        "  - name: t\n    debug:\n"
    )
    task = Playbook(Inventory("web1,"), "site.yml").task("t", "web1")

    assert task is not None
    assert Rendering(task).variables() == Rendered({"a": 1, "b": "{{ a }}"}, {("b",): "a may be set at site.yml:5"})


class TestTheCommand:
    @pytest.fixture
    def run(self, render: Render, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
        def asked(*words: str, **variables: str) -> tuple[int, str, str]:
            render(variables)
            code = main(["ansible", *words, "-i", "hosts", "--render"])
            captured = capsys.readouterr()
            return code, captured.out, captured.err

        return asked

    def test_variables_are_printed_evaluated(self, run):
        """What is not is named on stderr, and the exit code is 5."""
        code, out, err = run("vars", "web1", asked="{{ number }}", bad="{{ lookup('file', 'x') }}")

        assert code == 5
        assert json.loads(out)["asked"] == 80
        assert json.loads(out)["bad"] == "{{ lookup('file', 'x') }}"
        assert "group_vars/web/b.yml:1: bad is not evaluated: the lookup file needs Ansible [NA1330]" in err

    def test_an_explanation_has_the_value_beside_the_text(self, run):
        """With exit code 0 where all of it is evaluated."""
        code, out, _ = run("explain", "web1", "lst")
        assert (code, 'rendered\n    [80, "site"]' in out, "not evaluated" in out) == (0, True, False)
        code, out, _ = run("explain", "web1", "mixed", "--format", "json")
        assert (code, json.loads(out)["not_evaluated"]) == (5, [{"path": "mixed.y", "reason": "'nosuch' is undefined"}])


HOSTS = """web1 hv=1 ansible_host=10.0.0.1
[g]
web2 hv="{{ gx }}" self="{{ self }}"
[all:vars]
gx=gg
tmpl="{{ gx }}-{{ inventory_hostname }}"
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'1.10' is version('1.9', '>')", True),
        ("'1.2b' is version('1.2', 'lt')", False),
        ("'1.0-rc1' is version_compare('1.0', 'gt')", True),
        ("hostvars['web2'].hv", "gg"),
        ("hostvars.web2.tmpl", "gg-web2"),
        ("hostvars['web2'].group_names", ["g"]),
        ("hostvars['web2'].nosuch | default('d')", "d"),
        ("hostvars['nosuch'].x | default('d')", "d"),
        ("groups['all'] | map('extract', hostvars, 'gx') | list", ["gg", "gg"]),
        ("'a' | extract({'a': {'b': [5]}}, ['b', 0])", 5),
        ("'/nosuch/a/../b' | realpath", "/nosuch/b"),
        ("(('2020-01-02 00:00:00' | to_datetime) - ('2020-01-01 00:00:00' | to_datetime)).days", 1),
        ("lookup('vars', 'gx')", "gg"),
        ("lookup('vars', 'nosuch', default='z')", "z"),
        ("query('vars', 'gx', 'hv')", ["gg", 1]),
        ("lookup('items', [[1, 2], [3]])", [[1, 2], [3]]),
        ("lookup('first_found', ['nosuch', 'hosts']) | basename", "hosts"),
        ("query('first_found', ['nosuch'], skip=true)", []),
        ("query('first_found', {'files': 'nosuch', 'skip': 'yes'})", []),
        ("query('first_found', {'files': 'nosuch', 'paths': '..', 'skip': true}, 'nosuch2')", []),
        ("(nope | from_yaml)['x'] | default('d')", "d"),
        ("nope | upper | default('d')", "d"),
        ("(nope | map('upper') | list) | default('d')", "d"),
        ("(nope | upper) is defined", False),
    ],
)
def test_what_ansible_fills_in_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, expression: str, expected: Any
):
    (tmp_path / "hosts").write_text(HOSTS)
    (tmp_path / "v.yml").write_text(json.dumps({"asked": f"{{{{ {expression} }}}}"}))
    monkeypatch.chdir(tmp_path)

    assert main(["ansible", "vars", "web1", "-i", "hosts", "-e", "@v.yml", "--render"]) == 0
    assert json.loads(capsys.readouterr().out)["asked"] == expected


@pytest.mark.parametrize(
    "expression",
    [
        "lookup('env', 'SIZE')",
        "lookup('vars', 'nosuch')",
        "hostvars['web2'].self",
        "'1.0' is version('1.0', strict=true)",
        "'a' is version('1', '>')",
        "(nope + 1) | default('d')",
        "lookup('pipe', 'date')",
    ],
)
def test_what_needs_ansible_or_fails_stays_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, expression: str
):
    (tmp_path / "hosts").write_text(HOSTS)
    (tmp_path / "v.yml").write_text(json.dumps({"asked": f"{{{{ {expression} }}}}"}))
    monkeypatch.chdir(tmp_path)

    assert main(["ansible", "vars", "web1", "-i", "hosts", "-e", "@v.yml", "--render"]) == 5
    assert "asked is not evaluated" in capsys.readouterr().err


def test_the_environment_is_seen_where_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """A template of a repository reads no variable of the caller without --environ."""
    (tmp_path / "hosts").write_text("web1\n")
    text = "{{ lookup('env', 'SIZE') }} {{ lookup('env', 'NOSUCH') | default('d', true) }} {{ q('env', 'SIZE') }}"
    (tmp_path / "v.yml").write_text(json.dumps({"asked": text}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZE", "big")

    assert (
        main(
            [
                "ansible",
                "explain",
                "web1",
                "asked",
                "-i",
                "hosts",
                "-e",
                "@v.yml",
                "--render",
                "--environ",
                "--format",
                "json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["rendered"] == "big d ['big']"


def test_in_a_task_the_variables_of_other_hosts_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """Tasks may have set facts of these."""
    (tmp_path / "hosts").write_text("web1 a=\"{{ hostvars['web1'].n }}\" n=1\n")
    (tmp_path / "p.yml").write_text("- hosts: all\n  gather_facts: false\n  tasks:\n  - debug:\n")
    monkeypatch.chdir(tmp_path)

    assert main(["ansible", "explain", "web1", "a", "-i", "hosts", "--playbook", "p.yml", "--render"]) == 5
