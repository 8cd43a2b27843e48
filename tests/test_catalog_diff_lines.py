"""`catalog diff` of long content: the lines that differ, as people and Markdown see them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeattrs.cli import main

LONG = "".join(f"line {number} of a long file that no row of a table has room for\n" for number in range(60))


def catalog(content: object) -> str:
    parameters = {"content": content, "mode": "0644"}
    resources = [{"type": "File", "title": "/a", "parameters": parameters}]
    return json.dumps({"document_type": "Catalog", "edges": [], "resources": resources})


@pytest.fixture
def said(tmp_path: Path, monkeypatch, capsys):
    """Compares two contents of a file: what is printed."""

    def run(before: object, after: object, *words: str) -> str:
        (tmp_path / "before.json").write_text(catalog(before))
        (tmp_path / "after.json").write_text(catalog(after))
        monkeypatch.chdir(tmp_path)
        assert main(["catalog", "diff", "before.json", "after.json", *words]) == 0
        return capsys.readouterr().out

    return run


def test_only_the_lines_that_differ_are_shown_each_with_one_beside_it(said):
    after = LONG.replace("line 30 of", "LINE 30 of").replace("line 50 of", "LINE 50 of")
    rest = "of a long file that no row of a table has room for"

    assert said(LONG, after).partition("    content:\n")[2].splitlines() == [
        f"        line 29 {rest}",
        f"      - line 30 {rest}",
        f"      + LINE 30 {rest}",
        f"        line 31 {rest}",
        "        ...",
        f"        line 49 {rest}",
        f"      - line 50 {rest}",
        f"      + LINE 50 {rest}",
        f"        line 51 {rest}",
        "1 changed",
    ]


def test_a_line_that_looks_like_the_head_of_a_difference_is_a_line(said):
    found = said("a\n-- b\nc\n", "a\nc\n++ d\n").partition("    content:\n")[2].splitlines()

    assert found[:-1] == ["        a", "      - -- b", "        c", "      + ++ d"]


def test_no_line_ends_the_block_of_markdown(said):
    markdown = said("a\nb\n", "a\n```\n</details>\n", "--format", "markdown")

    assert "`File[/a]` `content`:\n\n````diff\n  a\n- b\n+ ```\n+ </details>\n````\n" in markdown


def test_of_many_lines_the_first_ones_are_shown(said):
    found = said("x\n", "".join(f"{number}\n" for number in range(100)))

    assert "      + 38\n        and 61 more lines\n" in found


def test_of_very_many_lines_the_numbers_are_shown(said):
    found = said("x\n" * 3_000, "y\n" * 1_000)

    assert "      - 3000 lines\n      + 1000 lines\n" in found


@pytest.mark.parametrize(("before", "after"), [("a", "b"), (1, 2), (["a\nb"], ["a\nc"])])
def test_what_is_no_text_of_lines_stands_on_one_line(said, before: object, after: object):
    assert "    content: " in said(before, after)
