"""Templates checked without a machine: each branch is rendered once, and each branch's error is found at its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jinja2 import Environment

from nodeattrs.cli import main
from nodeattrs.core.budget import Budget
from nodeattrs.dialects.cloudinit.branches import MOST, ways_of

HEAD = "## template: jinja\n#cloud-config\n"
SCHEMA = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "packages": {"type": "array"},
        "hostname": {"type": "string"},
        "ntp": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"enabled": {"type": "boolean"}, "servers": {"type": "array"}},
        },
        "runcmd": {"type": "array", "items": {"type": ["string", "array"]}},
        "bootcmd": {"type": "array"},
        "users": {"type": "array"},
        "write_files": {"type": "array", "items": {"type": "object", "required": ["path"]}},
        "package_update": {"type": "boolean"},
        "locale": {"enum": ["C.UTF-8", "en_US.UTF-8"]},
    },
}
"""A schema of a few keys, so that the test needs no cloud-init."""

FAULTS = ("packages: vim", "ntp: {enabled: 7}")
"""What stands in the two branches unless a template has faults of its own."""
ONE = "(?)"
"""In a template: where the fault of the next branch stands."""

TEMPLATES: list[tuple[str, str]] = [
    ("if and else", "{% if v1.region == 'x' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a negated if", "{% if not v1.region %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("if and elif", "{% if v1.a == 1 %}\n(?)\n{% elif v1.a == 2 %}\n(?)\n{% endif %}\n"),
    ("elif and else", "{% if v1.a == 1 %}\nhostname: a\n{% elif v1.b %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("three elifs", "{% if v1.a %}\n(?)\n{% elif v1.b %}\nhostname: b\n{% elif v1.c %}\n(?)\n{% endif %}\n"),
    ("a test for definition", "{% if v1.region is defined %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a test for absence", "{% if ds is not defined %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("in a list of words", "{% if v1.distro in ['ubuntu', 'debian'] %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("comparison of numbers", "{% if v1.cpus > 4 %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("and", "{% if v1.a and v1.b %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("or", "{% if v1.a or v1.b == 'x' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a method of a text", "{% if v1.name.startswith('web') %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a filter in the test", "{% if v1.tags | length > 2 %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("an index", "{% if ds.meta_data.tags[0] == 'x' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a key in brackets", "{% if ds['meta_data']['role'] == 'x' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("nested in the body", "{% if v1.a %}\n{% if v1.b %}\n(?)\n{% else %}\n(?)\n{% endif %}\n{% endif %}\n"),
    ("nested in the else", "{% if v1.a %}\nhostname: a\n{% else %}\n{% if v1.b %}\n(?)\n{% else %}\n(?)\n"
                           "{% endif %}\n{% endif %}\n"),
    ("one deep, one flat", "{% if v1.a %}\n{% if v1.b %}\n(?)\n{% endif %}\n{% else %}\n(?)\n{% endif %}\n"),
    ("three deep", "{% if v1.a %}\n{% if not v1.b %}\n{% if v1.c %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"
                   "{% endif %}\n{% endif %}\n"),
    ("two ifs, both taken", "{% if v1.a %}\n(?)\n{% endif %}\n{% if v1.b %}\n(?)\n{% endif %}\n"),
    ("two ifs, one not taken", "{% if v1.a %}\n(?)\n{% endif %}\n{% if not v1.b %}\n(?)\n{% endif %}\n"),
    ("a loop and its else", "{% for x in ds.list %}\n{% if loop.first %}\n(?)\n{% endif %}\n{% else %}\n(?)\n"
                            "{% endfor %}\n"),
    ("a branch in a loop", "{% for x in ds.list %}\n{% if x == 'a' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"
                           "{% endfor %}\n"),
    ("a loop over pairs", "{% for k, v in ds.map.items() %}\n{% if v.on %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"
                          "{% endfor %}\n"),
    ("a variable that is set", "{% set role = v1.role %}\n{% if role == 'a' %}\n(?)\n{% else %}\n(?)\n{% endif %}\n"),
    ("a set with a default", "{% set r = v1.role | default('web') %}\n{% if r == 'web' %}\n(?)\n{% else %}\n(?)\n"
                             "{% endif %}\n"),
    ("a macro", "{% macro m(on) %}\n{% if on %}\n(?)\n{% else %}\n(?)\n{% endif %}\n{% endmacro %}\n{{ m(v1.on) }}\n"),
    ("a value in one line", "packages: {{ 'vim' if v1.a else ['vim'] }}\n"
                            "ntp: {{ {'enabled': true} if v1.b else {'enabled': 7} }}\n"),
    ("trimmed blocks", "{%- if v1.a %}\n\n(?)\n{%- else %}\n\n(?)\n{%- endif %}\n"),
    ("markup beside the fault", "{% if v1.a %}\nhostname: {{ v1.name }}\n(?)\n{% else %}\nhostname: '${x}'\n(?)\n"
                                "{% endif %}\n"),
]  # fmt: skip
"""Templates of two branches, each with a fault in both."""


def written(template: str) -> tuple[str, list[int]]:
    """The template with its faults in place, and the lines of these."""
    text = HEAD + template
    for fault in FAULTS:
        text = text.replace(ONE, fault, 1)
    keys = ("packages:", "ntp:")
    return text, [number for number, row in enumerate(text.split("\n"), 1) if row.startswith(keys)]


def checked(folder: Path, text: str, capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[int, str, str]]:
    """The findings of `check` but for the note about instance data: line, name and message."""
    (folder / "t.yaml").write_text(text, encoding="utf-8")
    (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    main(["cloud-config", "check", str(folder / "t.yaml"), "--format", "json", *words])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [(one["line"], one["name"], one["message"]) for one in found if one["name"] != "unknown-layer"]


@pytest.mark.parametrize("template", [one[1] for one in TEMPLATES], ids=[one[0] for one in TEMPLATES])
def test_the_error_of_each_branch_is_found_at_its_line(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, lines = written(template)
    found = checked(tmp_path, text, capsys, "--schema", str(tmp_path / "schema.json"))
    errors = [(line, message) for line, name, message in found if name == "schema"]
    assert sorted({line for line, _ in errors}) == lines


def test_a_finding_of_one_branch_says_so_and_one_of_all_branches_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{HEAD}packges: [a]\n{{% if v1.a %}}\nruncmd: echo\n{{% endif %}}\n"
    found = {line: message for line, _, message in checked(tmp_path, text, capsys)}
    assert {line: "in a branch of the template" in message for line, message in found.items()} == {3: False, 5: True}


@pytest.mark.parametrize(
    "body",
    [
        "packages: [a]\n{% set debug = false %}\n{% if debug %}\nruncmd: echo\n{% endif %}\n",
        "{% if v1.a %}\nruncmd:\n{% endif %}\n{% if v1.a %}\n- echo\n{% endif %}\n",
        "{% for x in ds.list %}\n{% if loop.first %}\nruncmd:\n{% endif %}\n- {{ x }}\n{% endfor %}\n",
        "{% if not v1.a %}\nruncmd: [a]\n{% else %}\nruncmd:\n{% if v1.a %}\n- echo\n{% endif %}\n{% endif %}\n",
        "users:\n{% for name, key in ds.users.items() | sort %}\n- name: {{ name }}\n  keys: [{{ key }}]\n"
        "{% endfor %}\n- default\n",
        "runcmd: {{ v1.commands }}\n",
        "hostname: {{ v1.local_hostname | upper | replace('A', 'B') }}\nruncmd: [echo {{ v1.n * 2 }}]\n",
    ],
)
def test_a_branch_that_no_machine_takes_is_not_judged(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(tmp_path, HEAD + body, capsys, "--schema", str(tmp_path / "schema.json")) == []


def test_an_unknown_key_is_found_whatever_stands_under_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{HEAD}packges: {{{{ v1.a }}}}\nntp:\n  bogus: {{{{ v1.b }}}}\n  enabled: {{{{ v1.c }}}}\n"
    found = checked(tmp_path, text, capsys, "--schema", str(tmp_path / "schema.json"))
    assert [line for line, _, _ in found] == [3, 5]


def test_broken_yaml_beside_a_placeholder_is_found_and_one_made_by_it_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = f"{HEAD}hostname: {{{{ v1.a }}}}\npackages: [a]\nruncmd: [a\nusers: [b]\n"
    assert [name for _, name, _ in checked(tmp_path, broken, capsys)] == ["empty"]
    assert checked(tmp_path, f"{HEAD}{{{{ v1.block }}}}\nhostname: a\n", capsys) == []


def test_the_branches_past_the_limit_of_a_template_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodeattrs.dialects.cloudinit.branches.MOST", 8)
    text = HEAD + "".join(f"{{% if v1.a{n} == 1 %}}\n{{% elif v1.b{n} %}}\nk{n}: 1\n{{% endif %}}\n" for n in range(10))
    (tmp_path / "many.yaml").write_text(text)
    assert main(["cloud-config", "check", str(tmp_path / "many.yaml")]) == 5
    out = capsys.readouterr().out
    assert "many.yaml:1:1: note: 4 branches of the template were not looked at: " in out
    assert out.endswith("1 part, 0 errors, 0 warnings, 2 notes\n")


def test_a_large_template_is_rendered_fewer_times() -> None:
    chain = "{% if v1.a0 %}" + "".join(f"{{% elif v1.a{number} %}}x" for number in range(400)) + "{% endif %}"
    text = chain * 2
    ways, unseen, _ = ways_of(Environment().parse(text), Budget("a template"))
    assert len(ways) < MOST / 2
    assert len(ways) + unseen > 400
    many = Environment().parse("{% if v1.a %}x{% endif %}" * 1_500)
    assert len(ways_of(many, Budget("a template")).ways) == 2


@pytest.mark.parametrize("template", ["{%% %sif v1.a%s %%}\n", "{{ %sif .a%s }}\n"])
def test_a_chain_of_conditions_past_the_limit_of_depth_is_told_before_it_is_rendered(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodeattrs.dialects.cloudinit.branches.follow", None)
    is_jinja = template.startswith("{%")
    chain = template % ("", 0) + "".join(template % ("el" if is_jinja else "else ", at) for at in range(1, 502))
    text = f"{HEAD}{chain}{{% endif %}}\n" if is_jinja else f"#cloud-config\n{chain}{{{{ end }}}}\n"
    (tmp_path / "t.yaml").write_text(text)
    assert main(["cloud-config", "check", str(tmp_path / "t.yaml")]) == 1
    assert "nested deeper than 500 levels" in capsys.readouterr().out


def test_both_branches_of_a_template_in_an_archive_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = "".join(f"    {row}\n" for row in written(TEMPLATES[0][1])[0].split("\n"))
    text = f"#cloud-config-archive\n- type: text/jinja2\n  content: |\n{inner}"
    found = checked(tmp_path, text, capsys, "--schema", str(tmp_path / "schema.json"))
    assert [(line, name) for line, name, _ in found] == [(7, "schema"), (9, "schema")]
