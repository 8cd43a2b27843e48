"""Templates that another program fills in: each branch is looked at, at the lines of the template."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.cli import main
from nodeattrs.cloudinit import InstanceData, merge
from nodeattrs.dialects.cloudinit.inputs import given_in
from nodeattrs.dialects.cloudinit.other_templates import LANGUAGES, TERRAFORM, filled_as_jinja, language_of

HEAD = "#cloud-config\n"
FAULTS = ("packges: [vim]", "runcmd: echo")
"""What stands in the two branches."""

TEMPLATES: list[tuple[str, str]] = [
    ("Terraform: if", "%{ if x }\n(?)\n%{ else }\n(?)\n%{ endif }\n"),
    ("Terraform: marks", "%{~ if x ~}\n(?)\n%{~ else ~}\n(?)\n%{~ endif ~}\n"),
    ("Terraform: a negated if", "%{ if !x ~}\n(?)\n%{ endif ~}\n%{ if x ~}\n(?)\n%{ endif ~}\n"),
    ("Terraform: a loop", "%{ for k, v in xs ~}\n%{ if v.on ~}\n(?)\n%{ endif ~}\n%{ endfor ~}\n(?)\n"),
    ("Terraform: an expression", "hostname: ${jsonencode({a = \"}\", b = {}})}\n%{ if length(x) > 0 && y != \"}\" ~}\n"
                                 "(?)\n%{ else ~}\n(?)\n%{ endif ~}\n"),
    ("Terraform: a block for a line", "users:\n${indent(2, yamlencode(users))}\n%{ if x ~}\n(?)\n%{ else ~}\n(?)\n"
                                      "%{ endif ~}\n"),
    ("Terraform: a list in two lines", "timezone: ${\n  zone\n}\n%{ if x ~}\n(?)\n%{ else ~}\n(?)\n%{ endif ~}\n"),
    ("Go: if", "{{ if .X }}\n(?)\n{{ else }}\n(?)\n{{ end }}\n"),
    ("Go: marks and a comment", "{{- /* {{ a */ -}}\n{{- if not .X }}\n(?)\n{{- else if .Y }}\n(?)\n{{- end }}\n"),
    ("Go: range and with", "{{ range $k, $v := .Xs }}\n{{ with .Y }}\n(?)\n{{ end }}\n{{ end }}\n{{ $z := 1 }}\n(?)\n"),
    ("Jinja: if", "{% if x is defined %}\n(?)\n{% else %}\n(?)\n{% endif %}\nhostname: {{ h | b64decode }}\n"),
    ("Jinja: a loop", "{% set y = lookup('a') %}\n{% for x in xs %}\n{% if x %}\n(?)\n{% endif %}\n{% endfor %}\n"
                      "{# a comment #}\n(?)\n"),
    ("ERB: if", "<% if @x -%>\n(?)\n<% else -%>\n(?)\n<% end -%>\n"),
    ("ERB: unless and a loop", "<%- unless @x -%>\n(?)\n<%- end -%>\n<% @xs.each do |x| %>\n(?)\n<% end %>\n"
                               "hostname: <%= @h %>\n"),
]  # fmt: skip
"""Templates of two branches, each with a fault in both."""


def checked(
    folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[tuple[int, str]]]:
    """The exit code of `check`, and the line and name of each finding."""
    (folder / name).write_text(text, encoding="utf-8")
    code = main(["cloud-config", "check", "--each", str(folder / name), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return code, sorted((one["line"], one["name"]) for one in found)


@pytest.mark.parametrize("template", [one[1] for one in TEMPLATES], ids=[one[0] for one in TEMPLATES])
def test_the_fault_of_each_branch_is_found_at_its_line(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEAD + template
    for fault in FAULTS:
        text = text.replace("(?)", fault, 1)
    lines = [number for number, row in enumerate(text.split("\n"), 1) if row in FAULTS]
    code, found = checked(tmp_path, "user-data", text, capsys)
    expected = [(1, "unknown-layer"), (lines[0], "misspelt-key"), (lines[1], "commands-no-list")]
    assert (code, found) == (1, expected)


@pytest.mark.parametrize("template", [one[1] for one in TEMPLATES], ids=[one[0] for one in TEMPLATES])
def test_a_template_without_a_fault_is_told_to_be_unread(
    template: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEAD + template.replace("(?)", "package_update: true", 1).replace("(?)", "package_upgrade: true")
    assert checked(tmp_path, "user-data", text, capsys) == (5, [(1, "unknown-layer")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("u.tftpl", "hostname: ${name}\n"),
        ("u.pkrtpl.hcl", "users:\n- ${jsonencode(user)}\n"),
        ("u.gotmpl", "hostname: {{ .Name }}\n"),
        ("u.yaml.j2", "hostname: {{ name }}\n"),
        ("u.erb", "hostname: <%= @name %>\n"),
    ],
)
def test_the_name_of_a_file_says_that_a_program_fills_it_in(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(tmp_path, name, HEAD + text, capsys) == (5, [(1, "unknown-layer")])
    assert checked(tmp_path, "user-data", HEAD + text, capsys)[1] != [(1, "unknown-layer")]


@pytest.mark.parametrize("template", [one[1] for one in TEMPLATES], ids=[one[0] for one in TEMPLATES])
def test_explain_is_not_certain_about_a_template_that_is_broken_yaml_before_a_program_renders_it(
    template: str, in_folder: Callable[..., tuple[int, str, str]]
) -> None:
    files = {"user-data": HEAD + template.replace("(?)", "package_update: true")}
    code, out, err = in_folder(files, "cloud-config", "explain", "user-data", "--path", "timezone.x")
    assert (code, "unknown" in out, "is a template, which" in err) == (5, True, True)


def test_a_text_that_no_placeholder_fits_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{HEAD}{{{{ if .X }}}}\npackges: [a]\n{{{{ end }}}}\na: !!binary |\n  {{{{ .Content }}}}\n"
    assert checked(tmp_path, "user-data", text, capsys) == (5, [(5, "unknown-layer")])


@pytest.mark.parametrize(
    "text", ["%{ if x }\na: 1\n", "a: ${x\n%{ if y }%{ endif }", "{{ define \"a\" }}{{ if .X }}{{ end }}{{ end }}",
             "<% case @x %><% if 1 %><% end %><% end %>", "a: 1\n", "a: $${X}\n%{ endif }\n"]
)  # fmt: skip
def test_a_block_that_is_not_closed_or_not_known_makes_no_template(text: str) -> None:
    language = language_of(text) or TERRAFORM
    assert filled_as_jinja(text, language) is None


HCL = """resource "aws_instance" "web" {
  user_data = <<-EOT
    #cloud-config
    hostname: ${var.name}
    runcmd:
    - echo $${HOME} %%{x} ${var.b}
    %{ if var.more }
    packges: [x]
    %{ endif }
  EOT
}
"""


def test_terraform_reads_a_dollar_that_is_written_twice_as_one(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(HCL.replace("    %{ if var.more }\n", "").replace("    %{ endif }\n", ""))
    (machine,) = given_in(tmp_path / "main.tf")
    config = merge(machine.user).config
    assert config == {"hostname": "${var.name}", "runcmd": ["echo ${HOME} %{x} ${var.b}"], "packges": ["x"]}


def test_a_heredoc_of_terraform_is_looked_at_branch_by_branch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value that Terraform fills in is no finding."""
    assert checked(tmp_path, "main.tf", HCL, capsys) == (1, [(3, "unknown-layer"), (8, "misspelt-key")])


def test_what_cloudformation_fills_in_is_no_finding_and_the_rest_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """Resources:
  A:
    Type: AWS::EC2::Instance
    Properties:
      UserData:
        Fn::Base64: !Sub |
          #cloud-config
          hostname: ${Name}
          timezone: ${!ZONE}
"""
    assert checked(tmp_path, "a.yaml", text, capsys) == (1, [(7, "unknown-layer"), (9, "unexpanded")])
    (machine,) = given_in(tmp_path / "a.yaml")
    assert merge(machine.user).config == {"hostname": "${Name}", "timezone": "${ZONE}"}


def test_a_config_of_another_program_is_named_at_its_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{HEAD}packages: [a]\ncoreos:\n  units: []\n"
    assert checked(tmp_path, "user-data", text, capsys) == (5, [(3, "unknown-layer")])


_PIECES = ["a: 1\n", "{{ x }}", "{% if x %}", "{#", "}", "$${y}", "\n", '"', "~"]


@given(st.lists(st.sampled_from(["%{ if x ~}\n", "%{ else }\n", "%{ endif ~}", "${x}", "%{ for a in b }", "%{ endfor }",
                                 *_PIECES]), max_size=8).map("".join))  # fmt: skip
def test_each_line_of_a_template_stays_on_its_line(text: str) -> None:
    """And what is text in the template is text in the template of Jinja."""
    template = filled_as_jinja(text, TERRAFORM)
    if template is not None:
        assert template.count("\n") == text.count("\n")
        InstanceData.missing().render(template)


@pytest.mark.parametrize("second", ["%{ else }", "%{ elif y }"])
def test_a_block_that_turns_twice_is_not_known(second: str) -> None:
    """Jinja would refuse the template."""
    assert filled_as_jinja("%{ if x }%{ else }" + second + "%{ endif }", TERRAFORM) is None
    assert filled_as_jinja("%{ for a in b }%{ elif y }%{ endfor }", TERRAFORM) is None


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(["{{", "}}", "<%", "%>", "${", "{%", "if x ", *_PIECES]),
                                            max_size=10).map("".join))  # fmt: skip
def test_no_text_ends_the_reading_of_a_template(language: object, text: str) -> None:
    assert filled_as_jinja(text, language) is None or isinstance(language_of(text), (type(TERRAFORM), type(None)))


CONDITION = f"{HEAD}%{{ if x ~}}\npackges: [a]\n%{{ endif ~}}\n"


def test_a_template_of_terraform_without_values_is_known_by_its_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.yaml").write_text(CONDITION)
    (tmp_path / "curl.yaml").write_text(f"{HEAD}runcmd:\n- curl -w '%{{http_code}}' a\n")
    assert main(["check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path}/t.yaml:3:1: warning: packges is no key of cloud-init, in a branch of the template" in out
    assert "curl.yaml" not in out


def test_without_jinja_a_template_is_named_as_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.yaml").write_text(CONDITION)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["check", str(tmp_path)]) == 5
    assert f"{tmp_path}/t.yaml: note: was not looked at: is a template" in capsys.readouterr().out
