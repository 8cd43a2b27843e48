"""The rules of the older manual: the mode "documented"."""

from __future__ import annotations

import pytest

from nodeattrs.cloudinit import merge, merge_layers, merge_values

BASH12 = "runcmd: [bash1, bash2]"
BASH34 = "runcmd: [bash3, bash4]"
APPEND = "merge_how: [{name: list, settings: [append]}, {name: dict, settings: [no_replace, recurse_list]}]"


def documented(*bodies: str) -> object:
    return merge([f"#cloud-config\n{body}" for body in bodies], mode="documented").config


class TestTheStack:
    def test_a_definition_decides_about_the_next_part(self):
        """The last example of the manual, and its half."""
        whole = {"runcmd": ["bash1", "bash2", "bash3", "bash4"]}

        assert documented(f"{APPEND}\n{BASH12}", f"{APPEND}\n{BASH34}") == whole
        assert documented(f"{APPEND}\n{BASH12}", BASH34) == whole
        assert documented(BASH12, f"{APPEND}\n{BASH34}") == {"runcmd": ["bash1", "bash2"]}

    def test_what_was_pushed_stays_until_another_is(self):
        """Nothing is said of taking one off."""
        parts = [f"{APPEND}\nl: [1]", "l: [2]", "merge_how: dict(replace)\nl: [3]", "l: [4]", "l: [5]"]

        assert [documented(*parts[:count]) for count in (2, 3, 4, 5)] == [
            {"l": [1, 2]},
            {"l": [1, 2, 3]},
            {"l": [4]},
            {"l": [5]},
        ]

    def test_the_report_says_whose_definition_it_was(self):
        """By the number of the part."""
        merged = merge([f"#cloud-config\n{APPEND}\nl: [1]", "#cloud-config\nl: [2]"], mode="documented")

        assert [part.source for part in merged.parts] == ["default", "part 1"]

    def test_a_definition_that_cannot_be_built_fails_its_own_part(self):
        """Not the next one."""
        merged = merge(["#cloud-config\nmerge_how: set()\na: 1", "#cloud-config\nb: 1"], mode="documented")

        assert (merged.config, [part.status for part in merged.parts]) == ({"b": 1}, ["failed", "merged"])


@pytest.mark.parametrize(
    ("how", "base", "update", "merged"),
    [
        # no option: a list keeps its items, in the first example as well
        ("list()+dict(recurse_list)", {"l": [1]}, {"l": [7, 8]}, {"l": [1]}),
        ("list(replace)", [1, 2, 3], [9], [9, 2, 3]),
        ("list(append)", [1], [2], [1, 2]),
        ("list(append)", [1], "two", [1, "two"]),
        ("list(no_replace)", [1], 2, [1]),
        # allow_delete: what is not in the new mapping goes, and a null is a value
        ("dict(allow_delete)", {"a": 1, "b": 2}, {"a": None, "c": 3}, {"a": 1, "c": 3}),
        ("dict(allow_delete,replace)", {"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"x": None}}, {"a": {"x": None}}),
        ("dict(allow_delete)", {"a": 1}, {}, {}),
        # recurse_dict is on for all types, also where values are replaced
        ("dict(replace)", {"a": {"x": 1, "y": 1}}, {"a": {"x": 2}}, {"a": {"x": 2, "y": 1}}),
        ("dict(replace)", {"a": 1}, {"a": {"x": 2}}, {"a": {"x": 2}}),
        ("dict()", {"a": "x"}, {"a": {"b": 1}}, {"a": "x"}),
        ("list(replace)+dict()", [{"n": 1, "g": 1}], [{"n": 2}], [{"n": 1, "g": 1}]),
        ("dict(replace,recurse_str)+str(append)", {"t": "a"}, {"t": "b"}, {"t": "ab"}),
    ],
)
def test_the_options_to_the_letter(how: str, base: object, update: object, merged: object):
    """docs/cloudinit.md, "The older manual"."""
    assert merge_values(base, update, how, mode="documented") == merged


def test_user_data_overwrites_conf_d_without_merging():
    """A top-level key hides that of the base; today nested mappings are filled up."""
    layers = {"user": "n: {a: 1}", "vendor": "n: {b: 2}", "base": {"n": {"c": 3}, "m": 1}}

    assert merge_layers(**layers, mode="documented").config == {"n": {"a": 1, "b": 2}, "m": 1}
    assert merge_layers(**layers).config == {"n": {"a": 1, "b": 2, "c": 3}, "m": 1}
    assert merge_layers(base={"m": 1}, mode="documented").config == {"m": 1}
