"""Variables of Terraform: what a *.tfvars file says, where, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.errors import DocumentError, MissingExtra
from nodeattrs.formats.documents import Document, parse

BASE = 'region = "eu-west-1"\ntags = {\n  team = "a"\n}\n'
PROD = '# production\ntags = {\n  env = "prod"\n}\n'


def parsed(text: str) -> Document:
    return parse(text, "prod.tfvars", "hcl")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3", 3),
        ("-1.5e2", -150.0),
        ("true", True),
        ("null", None),
        ('""', ""),
        (r'"a\"\t\u00e9 $${x} %%{y}"', 'a"\té ${x} %{y}'),
        ('[1, # one\n "b",\n]', [1, "b"]),
        ('{ a = 1, "b c" : 2\n 3 = [{}] }', {"a": 1, "b c": 2, "3": [{}]}),
        ("<<END\n  a\n b\nEND", "  a\n b\n"),
        ("<<-END\n    a\n      b\n  END", "a\n  b\n"),
        ("<<END\nEND", ""),
    ],
)
def test_a_literal_of_terraform_has_its_value(written: str, value: Any) -> None:
    assert parsed(f"x = {written}\n").tree == {"x": value}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a = 1\nb = upper(a)", (2, 5), "is no literal"),
        ('a = "x-${b}"', (1, 8), "is no literal"),
        ("a = <<END\n${b}\nEND\n", (1, 5), "is no literal"),
        ("a = {(b) = 1}", (1, 6), "is no literal"),
        ("a = 1e999", (1, 5), "is no literal"),
        ("a {\n}", (1, 1), "is no variable"),
        ("a = 1\na = 2", (2, 1), "a is set twice"),
        ('a = "x', (1, 6), "is no HCL"),
        (f"a = {'[' * 2000}{']' * 2000}", (1, 1), "too many levels"),
    ],
)
def test_what_is_no_literal_is_an_error_with_its_place(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        parsed(text)
    assert (caught.value.line, caught.value.column) == place


def test_each_value_has_the_line_of_its_key_or_of_itself_in_a_list() -> None:
    document = parsed('# c\na = {\n  b = 1\n\n  c = [\n    "x",\n    "y" ]\n}\nd = <<E\nb = 2\nE\ne = 1')
    lines = {path: document.place(path)[0] for path in (("a",), ("a", "b"), ("a", "c"), ("a", "c", 1), ("d",), ("e",))}
    assert list(lines.values()) == [2, 3, 5, 7, 9, 12]


@pytest.mark.parametrize("words", [("why", "tags"), ("fold", "--explain", "tags")])
def test_a_later_file_sets_a_variable_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.tfvars").write_text(BASE)
    (tmp_path / "prod.tfvars").write_text(PROD)
    assert main([*words, "base.tfvars", "prod.tfvars"]) == 0
    shown = capsys.readouterr().out
    assert '{"env": "prod"}  prod.tfvars:2' in shown
    assert "base.tfvars:2" in shown


def test_variables_in_json_need_no_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "hcl2", None)
    (tmp_path / "a.tfvars.json").write_text('{"tags": {"team": "a"}}')
    (tmp_path / "b.tfvars.json").write_text('{"tags": {"env": "prod"}}')
    assert main(["fold", "a.tfvars.json", "b.tfvars.json"]) == 0
    assert capsys.readouterr().out == "tags:\n  env: prod\n"


def test_an_absent_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hcl2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'nodeattrs\[hcl\]'"):
        parsed("a = 1")
