"""What each part did, and the file that cloud-init writes."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.cloudinit import merge
from nodeattrs.core import part
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.cloudinit import steps
from tests.effort import examples


def config(body: str, how: str = "") -> str:
    return f"#cloud-config\n{body}" + (f"\nmerge_how: '{how}'" if how else "")


REPLACE, LISTS = "dict(replace)", "dict(recurse_list)"


class TestChanges:
    @pytest.mark.parametrize(
        ("before", "after", "how", "changes"),
        [
            ("a: 1", "b: 2", "", [("set", "b", ABSENT, 2)]),
            ("a: 1", "a: 2", "", [("replaced", "a", 1, 2)]),
            ("a: 1", "a: 1", "", []),
            ("a: 1", "a: {k: 1}", "", [("replaced", "a", 1, {"k": 1})]),
            ("a: {k: 1, l: 2}", "a: {k: 2}", "dict(recurse)", [("dropped", "a.k", 1, 2)]),
            ("a: [1]", "a: [2]", f"list(append)+{LISTS}", [("extended", "a", [1], [1, 2])]),
            ("a: [1]", "a: [2]", f"list(prepend)+{LISTS}", [("extended", "a", [1], [2, 1])]),
            ("a: x", "a: y", "str(append)+dict(recurse_str)", [("extended", "a", "x", "xy")]),
            ("a: {k: 1}", "a: ~", "dict(recurse,allow_delete)", [("deleted", "a", {"k": 1}, ABSENT)]),
            ("a: [1, 2]", "a: [3, 4, 5]", f"list(no_replace)+{LISTS}", [("dropped", "a", [1, 2], [3, 4, 5])]),
            ("a: 1", "b: ~", "dict(recurse,allow_delete)", [("set", "b", ABSENT, None)]),
        ],
    )
    def test_changes_of_the_second_part_have_each_kind_of_action(
        self, before: str, after: str, how: str, changes: list[Any]
    ):
        """Of two parts the second; what it said in vain is dropped."""
        *_, last = merge([config(before), config(after, how)]).changes()

        assert 2 == last.number
        assert changes == [(one.action, ".".join(one.path), one.old, one.new) for one in last.changes]

    @pytest.mark.parametrize(
        ("before", "after", "extended"),
        [
            ("x", "xy", True), ("x", "yx", True), ("x", "yxy", False), ("xy", "y", False), ("''", "x", True),
            ("[1]", "[1, 1]", True), ("[1]", "[2, 1]", True), ("[1]", "[1, 2]", True), ("[1]", "[2, 1, 2]", False),
            ("[1, 2]", "[2]", False), ("[]", "[1]", True), ("[1]", "[]", False), ("x", "[x, y]", False),
            ("[1]", "[true, 2]", False),
        ],
    )  # fmt: skip
    def test_what_still_holds_the_old_at_an_end_was_extended(self, before: str, after: str, extended: bool):
        *_, last = merge([config(f"a: {before}"), config(f"a: {after}", REPLACE)]).changes()

        assert ["extended" if extended else "replaced"] == [one.action for one in last.changes]

    def test_as_data_what_is_not_there_is_left_out(self):
        first, second = merge([config("a.b: 1"), config("a.b: ~", "dict(recurse,allow_delete)")]).changes()

        assert [{"path": "'a.b'", "steps": ["a.b"], "action": "set", "new": 1}] == [
            {**one.to_dict(), "path": "'a.b'"} for one in first.changes
        ]
        assert [("deleted", 1, False)] == [
            (told["action"], told["old"], "new" in told) for told in (one.to_dict() for one in second.changes)
        ]


_VALUES = st.recursive(
    st.sampled_from(["x", "xy", 1, None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
_HOW = st.sampled_from(
    [
        "",
        "dict(replace,recurse_dict)",
        "dict(recurse_dict,recurse_list,allow_delete)+list(append)",
        "dict(recurse_dict,recurse_list)+list(no_replace,recurse_dict,recurse_list)+str(append)",
        "dict(recurse_dict,recurse_list,recurse_str)+list(replace,recurse_dict)+str(append)",
    ]
)
_PARTS = st.lists(
    st.tuples(st.dictionaries(st.sampled_from("ab"), _VALUES, min_size=1, max_size=2), _HOW), min_size=1, max_size=6
)
_PATCHES = st.lists(st.sampled_from(["add /a [1]", "add /b {}", "remove /a -", "replace /a {c:\xa01}"]), max_size=2)


class TestWhatIsLookedAt:
    """Of the result before and after a part only what it touches is kept: whole results would take the square."""

    @settings(max_examples=examples(300))
    @given(parts=_PARTS, patches=_PATCHES, turn=st.integers(0, 6))
    def test_changes_of_a_part_equal_the_differences_of_whole_results(self, parts, patches, turn):
        """However small maps are that grow in place."""
        bodies = [config(yaml.safe_dump(body), how) for body, how in parts]
        bodies.insert(turn, "#cloud-config-jsonp\n" + json.dumps([_patch(*one.split(" ")) for one in patches]))
        with pytest.MonkeyPatch.context() as patching:
            patching.setattr(part, "FEW", 0)
            merged = merge(bodies)
            found = [one.changes for one in merged.changes()]
        assert found == [tuple(one) for row in merged.rows for one in _whole(row)]

    def test_a_map_in_a_list_that_many_parts_add_to_is_what_it_was_at_each(self):
        """It grows in place once it is large, in the list before as in the list after."""
        how = "dict(recurse_list)+list(recurse_dict)"
        merged = merge([config(f"a: [{{k{number}: 0}}]", how) for number in range(20)])
        found = [(one.action, len(one.new[0])) for _, _, (one,) in merged.changes()]
        assert found == [("set", 1), *(("replaced", number) for number in range(2, 21))]


def _patch(op: str, path: str, value: str) -> dict[str, Any]:
    return {"op": op, "path": path, "value": yaml.safe_load(value)}


def _whole(row: steps.Row) -> Iterator[list[steps.Change]]:
    """What each part changed, by two whole results that no later step changes."""
    results = [copy.deepcopy(one.value) for one in row.folding.results()]
    for step in row.merged_parts:
        before, after, results = results[0], results[step.steps], results[step.steps :]
        met = step.laid and step.policy and (step.policy, step.laid.value)
        dropped = [] if step.laid is None else steps._dropped(step.laid.value, before, after, ())
        yield [*steps._differences(before, after, (), met), *dropped]


class TestText:
    @pytest.mark.parametrize(
        ("blobs", "text"),
        [
            ([], ""),
            (["#!/bin/sh\n"], ""),
            ([config("a: 1"), config("b: 1")], "\n# from 2 files\n# part-001\n# part-002\n\n---\na: 1\nb: 1\n...\n"),
            (
                [config("a: ["), config("b: 1")],
                "\n# from 1 files\n# part-002\n\n# Cloud-config part ignored SCHEMA_ERROR: part-001\n---\nb: 1\n...\n",
            ),
            ([config("")], "\n# Cloud-config part ignored SCHEMA_ERROR: part-001\n--- {}\n...\n"),
        ],
    )
    def test_it_names_the_files_and_those_that_were_ignored(self, blobs: list[str], text: str):
        merged = merge(blobs)

        assert (f"#cloud-config\n{text}" if text else "") == merged.text
        assert merged.ok == ("SCHEMA_ERROR" not in text)


class TestCauses:
    def test_the_lines_that_decided_how_parts_are_joined(self):
        """Of those who set something at the path: the body's line, the part of a header, nothing for a default."""
        headers = "MIME-Version: 1.0\nContent-Type: text/cloud-config\nMerge-Type: list(append)+dict(recurse_list)\n\n"
        merged = merge(
            [
                "#cloud-config\na: [1]\nmerge_how: 'list(append)'\n",
                f"{headers}#cloud-config\na: [2]\nb: 1\n",
                config("c: 3"),
            ]
        )
        first = ("part-001 joins by list(append)", "part-001:3")
        second = ("part-002 joins by list(append)+dict(recurse_list)", "part-002:5")

        for path, causes in {"a": [second, first], "b": [second], "c": []}.items():
            assert causes == [(cause.what, cause.origin.place) for cause in merged.causes(path)]
        assert [True, True, False] == [merged.definition_origin(number) is not None for number in (1, 2, 3)]
