"""The traps: each has a name, a section on the page, a case that falls into it, and one beside it that does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nodeattrs.cloudinit import WARNINGS, CloudPart, merge, merge_confd, merge_layers
from nodeattrs.dialects.cloudinit.reports import findings_of

PAGE = Path(__file__).parents[1] / "docs" / "cloudinit.md"
APPEND = "merge_how: list(append)+dict(recurse_list)\n"
PREPEND = "merge_how: list(prepend)+dict(recurse_list)\n"


def names(*bodies: str) -> set[str]:
    return {warning.name for warning in merge([f"#cloud-config\n{body}" for body in bodies]).warnings}


@pytest.mark.parametrize("name", sorted(WARNINGS))
def test_the_page_has_an_example_of_each(name: str):
    """The examples of two sections, which run with those of all pages."""
    section = re.search(r"^## Warnings\n(.*?)^## Secrets", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)

    assert section is not None
    shown = "".join(re.findall(r"^```python\n.*?^```$", section[1], re.MULTILINE | re.DOTALL))
    assert f"'{name}'" in shown or f"[{name}]" in shown


DICT, LIST = "merge_how: dict(recurse_list)", "merge_how: dict(recurse_list)+list()"
TEXT = "merge_how: [{name: dict, settings: replace}]"


@pytest.mark.parametrize(
    ("name", "first", "second", "beside"),
    [
        # name                   part one          a part two that falls in          and one that does not
        ("no-dict-merger", "a: 1", "merge_how: list(append)\na: 2", "merge_how: dict()\na: 2"),
        ("definition-too-early", f"{APPEND}l: [1]", "l: [2]", f"{APPEND}l: [2]"),
        ("default-replaces", "l: [1]", "l: [2]", "l: [1]"),
        ("default-replaces", "l: [1]", "l: [2]", "merge_how: dict(replace)\nl: [2]"),
        ("default-replaces", "n: {a: 1}", "n: {b: 1}", "n: {a: 1, b: 1}"),
        ("default-replaces", "n: {a: 1}", "n: text", "m: text"),
        ("position-loses", "l: [1]", "merge_how: dict(recurse_list)+list()\nl: [2]", f"{APPEND}l: [2]"),
        ("position-loses", "l: []", f"{LIST}\nl: [2]", f"{LIST}\nl: []"),
        ("spread", "l: [1]", "merge_how: dict(recurse_str)+list(append)\nl: ab", f"{APPEND}l: [ab]"),
        ("spread", "l: [1]", f"{APPEND}l: {{a: 1}}", f"{APPEND}l: [{{a: 1}}]"),
        ("unknown-option", "a: 1", "merge_how: dict(unique)\na: 2", "merge_how: dict(replace)\na: 2"),
        ("unknown-option", "a: 1", "merge_how: dict(replace,recurse_list)\na: 2", f"{DICT}\na: 2"),
        ("unknown-option", "a: 1", f"{DICT}+list(append,recurse_dict)\na: 2", f"{DICT}+list(recurse_dict)\na: 2"),
        ("repeated-merger", "a: 1", "merge_how: dict()+m_dict(replace)\na: 2", "merge_how: dict()+list()\na: 2"),
        ("both-keys", "a: 1", "merge_how: dict()\nmerge_type: dict()\na: 2", "merge_type: dict()\na: 2"),
        ("both-keys", "a: 1", "merge_how: ''\nmerge_type: dict()\na: 2", "merge_how:\nmerge_type: dict()\na: 2"),
        ("settings-text", "a: 1", f"{TEXT}\na: 2", "merge_how: dict(replace)\na: 2"),
        ("duplicates", "l: [a]", f"{APPEND}l: [a]", f"{APPEND}l: [b]"),
        ("duplicates", "l: [1]", f"{APPEND}l: [1]", f"{APPEND}l: [true]"),
        ("duplicates", "l: [{a: [x]}]", f"{PREPEND}l: [{{a: [x]}}]", f"{PREPEND}l: [{{a: [y]}}]"),
        ("confd-append-order", "a: 1", None, f"{APPEND}l: [2]"),
    ],
)  # fmt: skip
def test_the_trap_and_the_way_beside_it(name: str, first: str, second: str | None, beside: str):
    """A warning that also comes for the remedy would be switched off by everybody."""
    if second is not None:
        assert name in names(first, second)
    assert name not in names(first, beside)


class TestHeaders:
    @pytest.mark.parametrize("header", ["merge-type", "MERGE-TYPE", "x-merge-type", "X-merge-Type"])
    def test_the_wrong_case_is_told_with_the_right_one(self, header: str):
        """The hint can be pasted."""
        (warning,) = merge([CloudPart("a: 1", headers={header: "dict()"})]).warnings

        assert warning.name == "header-case"
        assert warning.hint.split(",")[0] in ("write Merge-Type", "write X-Merge-Type")

    def test_a_header_of_a_script_is_nobodys_business(self):
        """Scripts are not merged."""
        assert merge([CloudPart("#!/bin/sh", "text/x-shellscript", headers={"merge-type": "x"})]).warnings == ()


class TestConfd:
    def test_append_is_told_and_prepend_is_not(self):
        """Each file that appends to what stronger ones said."""
        files = {name: [w.name for w in merge_confd(f"{how}l: [0]", {"10.cfg": f"{how}l: [1]"}).warnings]
                 for name, how in (("append", APPEND), ("prepend", PREPEND))}  # fmt: skip

        assert files == {"append": ["confd-append-order"], "prepend": []}

    def test_the_default_of_layers_is_no_trap(self):
        """It fills up, and replaces nothing."""
        assert merge_layers(user="l: [1]", base={"l": [2], "n": {}}).warnings == ()


def test_a_warning_says_where_what_and_how_to_get_out():
    """In one text, and as data."""
    (warning,) = merge(["#cloud-config\nl: [a, b]", "#cloud-config\nl: [b]"]).warnings

    assert str(warning) == (
        "part-002: replaces the list l of the parts before it: 1 of 2 entries go [default-replaces]\n"
        "  to keep both, write merge_how: dict(recurse_list)+list(append) into this part"
    )
    assert warning.to_dict()["path"] == "l"
    assert warning.number == 2


@pytest.mark.parametrize("way", ["parts", "confd", "layers", "bytes"])
def test_each_has_a_place(way: str, tmp_path: Path):
    """
    File and line, whether the parts are files of their own, conf.d or layers; of bytes without a file there is none.
    """
    texts = ["packages: [a]\nl: [1]", "merge_how: list(append)+dict(unique)\nl: [2]", "packages: [b]"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.cfg").write_text(f"#cloud-config\n{text}\n")
    files = sorted(tmp_path.iterdir())
    merged = {
        "parts": lambda: merge(files),
        "confd": lambda: merge_confd("packages: [z]", {file.name: file.read_text() for file in files}),
        "layers": lambda: merge_layers(user=merge(files), vendor=merge(files[:1])),
        "bytes": lambda: merge([file.read_bytes() for file in files]),
    }[way]()
    found = list(findings_of(merged))

    assert found
    if way in ("parts", "layers"):
        assert [] == [one for one in found if not (one.file and one.line)]
