"""Where we differ from the real cloud-init on purpose: each rule of the oracle has its smallest input, and its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cloudinit import CloudConfigError, InstanceData, merge, merge_confd, merge_layers
from tests.oracles.cloudinit import agree, spelled
from tests.oracles.cloudinit_questions import SORTS, question
from tests.oracles.cloudinit_rules import RULES, Asked, explained

DIFFERENCES = (Path(__file__).parents[1] / "docs" / "differences.md").read_text(encoding="utf-8")


def statuses(*texts: str, **more: Any) -> list[str]:
    return [part.status for part in merge(texts, **more).parts]


def raises_archive(entry: str) -> bool:
    """Whether an archive with that entry cannot be unpacked."""
    with pytest.raises(CloudConfigError) as caught:
        merge([f"#cloud-config-archive\n{entry}"])
    return caught.value.kind == "archive"


SMALLEST: dict[str, Any] = {
    "a value inside itself": lambda: statuses("#cloud-config\na: &r [*r]") == ["failed"],
    "templates leave the sandbox": lambda: (
        merge(
            ["## template: jinja\n#cloud-config\na: {{ ''.__class__ }}"],
            instance_data=InstanceData({}),
            cloud_init="22.4",
        ).config
        == {"a": "CI_MISSING_JINJA_VAR/__class__"}
    ),
    "a conf.d template waits for data": lambda: merge_confd("## template: jinja\na: 1").parts[0].status == "template",
    "a name stays in its line": lambda: (
        "# Cloud-config part ignored SCHEMA_ERROR: a b\n"
        in merge(["#cloud-config-archive\n- {content: '#cloud-config', filename: \"a\\nb\"}"]).text
    ),
    "an include is listed": lambda: statuses("#include-once\n\udce9") == ["include"],
    "a broken archive stops vendor-data that is off": lambda: raises_archive(
        "- {content: {a: 1}, type: message/rfc822}"
    ),
    "pairs are lists once written": lambda: (
        merge_layers(user=merge(["#cloud-config\na: !!pairs [x: 1]"])).config == {"a": [("x", 1)]}
    ),
}


@pytest.mark.parametrize("name", sorted(RULES))
def test_each_rule_has_its_row_and_its_smallest_input(name: str) -> None:
    assert f"| {name}: " in DIFFERENCES
    assert SMALLEST[name]()


def test_a_difference_without_a_rule_is_explained_by_none() -> None:
    one = Asked("values", {}, ("ok", 1), ("ok", 2), "26.2", frozenset())
    assert explained(one) is None


def test_the_same_number_asks_the_same() -> None:
    assert question(7, 11) == question(7, 11)
    assert {question(7, number)[0] for number in range(200)} == set(SORTS)


def test_answers_agree_by_type_and_order() -> None:
    assert agree("values", ("ok", {"a": 1, "b": 2}), ("ok", {"a": 1, "b": 2}), "26.2")
    assert not agree("values", ("ok", {"a": 1, "b": 2}), ("ok", {"b": 2, "a": 1}), "26.2")
    assert agree("machine", ("ok", {"a": 1, "b": 2}), ("ok", {"b": 2, "a": 1}), "26.2")
    assert not agree("values", ("ok", 1), ("ok", True), "26.2")
    assert not agree("values", ("ok", 1), ("error", "type"), "26.2")
    assert agree("values", ("error", "TypeError"), ("error", "type"), "26.2")
    assert spelled({"a": [1, (2,)]}) == "{str 'a': list[int 1, tuple[int 2]]}"
