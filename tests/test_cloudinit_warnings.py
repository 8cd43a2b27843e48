"""The traps: each has a name, an example that falls into it, and one beside it that does not."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from nodeattrs.cloudinit import WARNINGS, CloudPart, InstanceData, about_size, merge, merge_confd, merge_layers
from nodeattrs.dialects.cloudinit.reports import findings_of

APPEND = "merge_how: list(append)+dict(recurse_list)\n"
PREPEND = "merge_how: list(prepend)+dict(recurse_list)\n"


def names(*bodies: str) -> set[str]:
    return {warning.name for warning in merge([f"#cloud-config\n{body}" for body in bodies]).warnings}


PACKED = base64.b64encode(gzip.compress(b"#cloud-config\na: 1")).decode()
ON_GZIP = "MIME-Version: 1.0\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\nMerge-Type: dict()\n\n"
BODIES = {
    "no-dict-merger": ["l: [1]", "merge_how: list(append)\nl: [2]"],
    "definition-too-early": [f"{APPEND}l: [1]", "l: [2]"],
    "default-replaces": ["l: [1]", "l: [2]"],
    "position-loses": ["l: [1]", "merge_how: dict(recurse_list)+list()\nl: [7, 8]"],
    "spread": ["l: [a]", "merge_how: dict(recurse_str)+list(append)\nl: bc"],
    "unknown-option": ["merge_how: dict(recurse_list,unique)+list(append)\nl: [2]"],
    "repeated-merger": ["merge_how: dict()+dict(replace)\nl: [2]"],
    "both-keys": ["merge_how: dict()\nmerge_type: dict(replace)\na: 1"],
    "settings-text": ["a: 1", "merge_how: [{name: dict, settings: no_replace}]\na: 2"],
    "duplicates": ["l: [a]", "merge_how: dict(recurse_list)+list(append)\nl: [a, b]"],
    "repeated-key": ["runcmd: [a]\npackages: [vim]\nruncmd: [b]"],
    "users-without-default": ["users: [{name: web}]"],
    "commands-no-list": ["runcmd: echo hello"],
    "command-no-text": ["runcmd:\n- echo a: b"],
    "command-words": ["runcmd: [systemctl, enable, nginx]"],
    "misspelt-key": ["package: [vim]"],
    "not-in-user-data": ["network: {version: 2}"],
    "owner-too-early": ["users: [default, {name: app}]\nwrite_files: [{path: /a, owner: app}]"],
    "passwd-no-hash": ["users: [default, {name: a, passwd: hunter2}]"],
    "permissions-number": ["write_files: [{path: /a, permissions: 644}]"],
    "unexpanded": ["hostname: ${name}"],
}
"""Parts without their first line that bring each warning."""

PARTS = {
    "header-case": CloudPart("a: 1", headers={"merge-type": "dict()"}),
    "include-not-followed": "#include\nhttps://example.org/more.yaml",
    "unknown-type": "packages: [vim]",
    "first-line": "# cloud-config\na: 1",
    "blank-lines-first": "\n#!/bin/sh\n",
    "crlf-script": "#!/bin/sh\necho a\r\n",
    "byte-order-mark": b"\xef\xbb\xbf#cloud-config\na: 1",
    "header-on-gzip": f"{ON_GZIP}{PACKED}",
}
"""Whole parts that bring each warning."""

ELSEWHERE = {"confd-append-order", "list-hidden", "undefined-variable", "over-size", "schema", "schema-deprecated"}
"""Warnings that need more than parts of user-data: below, and in docs/cloudinit.md."""


@pytest.mark.parametrize("name", BODIES)
def test_an_example_of_each_warning_about_configs(name: str):
    assert name in names(*BODIES[name])


@pytest.mark.parametrize("name", PARTS)
def test_an_example_of_each_warning_about_parts(name: str):
    assert {name} == {warning.name for warning in merge([PARTS[name]]).warnings}


def test_every_warning_has_an_example():
    assert {*BODIES, *PARTS, *ELSEWHERE} == set(WARNINGS)


@pytest.mark.parametrize(
    "body",
    [
        "users: [default, {name: web}]",
        "runcmd: ['echo ${HOME}']",
    ],
)
def test_a_config_without_a_trap_has_no_warning(body: str):
    assert set() == names(body)


def test_a_variable_that_instance_data_lack_is_named():
    template = "## template: jinja\n#cloud-config\nhostname: {{ nope }}"
    merged = merge([template], instance_data=InstanceData({"v1": {"region": "eu-1"}}))
    assert ["undefined-variable"] == [warning.name for warning in merged.warnings]


def test_a_size_over_the_limit_of_a_cloud_names_both():
    assert str(about_size(20_000, "web.yaml", "aws")) == (
        "web.yaml: 20,000 bytes are more than the 16,384 that aws takes [over-size]\n"
        "  pack it with gzip, or fetch what is large; --cloud names another cloud"
    )


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


@pytest.mark.parametrize("sign", ["{%", "<%", "{{", "${", "$(", "{{ds "])
def test_markup_that_is_opened_again_and_again_is_searched_to_its_end(sign: str) -> None:
    many = sign * 200_000
    hosts = f"hostname: '{many}'\nlocale: '{{% a %}}'"

    assert "unexpanded" in names(hosts)
    assert "unexpanded" in names(hosts.replace("hostname", "timezone"))
    assert "unexpanded" not in names(f"runcmd: ['{many}']")
    assert "unexpanded" in {one.name for one in merge([f"#cloud-config\na: @{many}\nb: {{% if c %}}\n"]).warnings}


def test_a_first_line_with_many_blanks_is_read_to_its_end() -> None:
    assert "first-line" in {one.name for one in merge([f"# template{' ' * 200_000}:jinja\na: 1"]).warnings}
    assert "unknown-type" in {one.name for one in merge([f"# template{' ' * 200_000}x\na: 1"]).warnings}
