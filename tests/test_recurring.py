"""Entries of JSON texts that came before: read as any other, and only once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.runs.facts import load_facts, parse_facts
from nodeattrs.runs.repository import Repository
from nodeattrs.runs.run import run_node
from nodeattrs.texts import fast_json, recurring
from nodeattrs.texts.fast_json import IN_COMMON, encoded_once
from nodeattrs.texts.recurring import VARIANTS

pytest.importorskip("orjson")


@pytest.fixture(autouse=True)
def anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has read enough to choose orjson, and remembers nothing yet."""
    library = fast_json._imported()
    assert library
    monkeypatch.setattr(fast_json._Choice, "library", library)
    _forget()


def _forget() -> None:
    known = recurring._Remembered
    known.size, known.in_vain, known.variants = 0, 0, {}
    IN_COMMON.clear()


def read_entries(text: bytes) -> dict[str, Any] | None:
    """What a text says, which is kept as it was written."""
    entries = recurring.read_entries(text)
    assert entries is None or entries.text == text
    return None if entries is None else entries.tree


def _lines(tree: dict[str, Any]) -> bytes:
    return json.dumps(tree, indent=2).encode()


def _is_same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other) and repr(one) == repr(other)


_SCALARS = st.sampled_from([None, True, 0, -1, 1.5, 1e-7, 2**70, "", "a", 'b"', "\\", "é", '\n  "', ',\n  "', "}\n"])
_KEYS = st.sampled_from(["a", "b", "c", 'b"', "é", "\\"])
_TREES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=6
)
_WAYS = st.sampled_from(
    [
        lambda tree: json.dumps(tree, indent=2),
        lambda tree: json.dumps(tree, indent=2, ensure_ascii=False),
        lambda tree: json.dumps(tree, indent=2) + "\n",
        lambda tree: json.dumps(tree, indent=2).replace("{}", "{\n\n  }").replace("[]", "[\n\n  ]"),
        lambda tree: json.dumps(tree, indent=1),
        lambda tree: json.dumps(tree),
        lambda tree: '{\n  "' + json.dumps(tree)[2:-1] + "\n}" if tree else "{}",
        lambda tree: json.dumps(tree, indent=2).replace("\n    ", "\n  "),
    ]
)


@given(st.lists(st.tuples(st.dictionaries(_KEYS, _TREES, max_size=4), _WAYS), min_size=1, max_size=4))
def test_what_came_before_changes_nothing_of_what_a_text_says(written):
    _forget()
    for tree, way in written:
        text = way(tree)
        read = read_entries(text.encode())
        assert read is None or _is_same(read, json.loads(text)), text


_FEW = st.sampled_from([1, {"x": 1}, {"x": 2}])


@given(st.lists(st.tuples(st.permutations("abcde") | st.just("abcde"), st.tuples(*[_FEW] * 5)), min_size=3, max_size=9))
def test_entries_that_follow_one_another_change_nothing_of_what_a_text_says(texts):
    _forget()
    for keys, values in texts:
        tree = dict(zip(keys, values, strict=False))
        read = read_entries(_lines(tree))
        assert read is None or (read, list(read)) == (tree, list(tree))


def test_entries_that_follow_one_another_in_all_texts_are_found_with_one_look():
    def looks(tree: dict[str, Any]) -> list[int]:
        entries = recurring.read_entries(_lines(tree))
        assert entries is not None
        assert entries.tree == tree
        return [len(chunk.split(b',\n  "')) for chunk in entries.written]

    base = {key: {"x": key} for key in "abcdefg"}
    assert [looks({**base, "d": number}) for number in range(4)] == [[1] * 7, [1] * 7, [3, 1, 3], [3, 1, 3]]
    assert [looks({**base, "d": 9, "b": number}) for number in range(2)] == [[1, 1, 1, 1, 3]] * 2


@given(st.dictionaries(_KEYS, _TREES, min_size=1, max_size=4))
def test_texts_that_programs_write_in_lines_are_read_entry_by_entry(tree):
    if 2**70 in tree.values() or str(2**70) in json.dumps(tree):
        return  # which is for the standard library
    _forget()
    assert _is_same(read_entries(_lines(tree)), tree)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{\n  "a": 1,\n  "b": {}\n}', {"a": 1, "b": {}}),
        ('{\n  "a": 1\n}\n\n', {"a": 1}),
        ('{\n  "a": 1, "b": 2,\n  "c": 3\n}', {"a": 1, "b": 2, "c": 3}),
        ('{\n  "a": {\n\n  },\n  "b": 0.10\n}', {"a": {}, "b": 0.1}),
        # A key that is written twice is told by others.
        ('{\n  "a": 1,\n  "a": 2\n}', None),
        ('{\n  "a": {\n    "b": 1,\n    "b": 2\n  }\n}', None),
        ('{\n  "a": 1, "a": 2\n}', None),
        # What looks like the end of an entry, and is none.
        ('{\n  "a": {\n  "b": 1,\n  "c": 2}\n}', None),
        ('{\n  "a": [1,\n  "b"],\n  "c": 3\n}', None),
        # Other texts, and what is no text at all.
        ('{"a": 1}', None),
        ("{}", None),
        ('{\n  "a": 1\n', None),
        ('{\n  "a": 1,\n}', None),
        ('{\n  "a": 1\n} ', None),
        ('{\n  "a": 1\n}}\n}', None),
        ('{\n  "a"\n}', None),
        ('{\n  "', None),
        ('{\n  "\n}', None),
        ('{\n  "a": 36893488147419103232\n}', None),
    ],
)
def test_a_text_is_read_whole_or_left_to_others(text: str, says: Any):
    for _ in range(2):
        assert read_entries(text.encode()) == says


def test_an_entry_that_came_before_is_not_taken_out_of_the_middle_of_another():
    assert read_entries(b'{\n  "k": 1\n}') == {"k": 1}
    assert read_entries(b'{\n  "a": 1, "c": {"q": 1,\n  "k": 1,\n  "c": 2}\n}') is None


def test_bytes_that_are_no_utf8_are_left_to_others():
    assert read_entries(b'{\n  "a": "\xff"\n}') is None


def test_an_entry_that_begins_as_one_before_is_another():
    assert read_entries(b'{\n  "a": 1\n}') == {"a": 1}
    assert read_entries(b'{\n  "a": 12\n}') == {"a": 12}
    assert read_entries(b'{\n  "a": 1,\n  "b": 2\n}') == {"a": 1, "b": 2}


def test_what_is_the_same_byte_for_byte_is_shared():
    read_entries(_lines({"a": {"b": [1]}}))
    one = read_entries(_lines({"a": {"b": [1]}, "c": {"d": 1}})) or {}
    other = read_entries(_lines({"c": {"d": 2}, "a": {"b": [1]}})) or {}
    assert one["a"] is other["a"]
    assert list(other) == ["c", "a"]
    assert (one["c"], other["c"]) == ({"d": 1}, {"d": 2})


def _twice(tree: dict[str, Any]) -> dict[str, Any]:
    read_entries(_lines(tree))
    return read_entries(_lines(tree)) or {}


def test_what_came_once_is_nobody_elses():
    one = read_entries(_lines({"a": {"b": 1}})) or {}
    assert not IN_COMMON
    assert (read_entries(_lines({"a": {"b": 1}})) or {})["a"] is not one["a"]


def test_of_one_key_the_last_are_remembered():
    trees = [_twice({"a": {"b": number}}) for number in range(VARIANTS + 1)]
    again = [_twice({"a": {"b": number}}) for number in range(VARIANTS, -1, -1)]
    assert [one["a"] is other["a"] for one, other in zip(reversed(trees), again, strict=True)] == [True] * 4 + [False]
    assert len(IN_COMMON) == VARIANTS


def test_what_is_met_again_is_the_last_to_be_forgotten():
    common = _twice({"a": {"b": 0}})["a"]
    for number in range(1, 3 * VARIANTS):
        read_entries(_lines({"a": {"b": number}}))
        assert (read_entries(_lines({"a": {"b": 0}})) or {})["a"] is common


def test_an_entry_that_is_very_long_is_not_remembered():
    long = {"a": {"b": "x" * (recurring.MOST // VARIANTS)}}
    assert _twice(long) == long
    assert not IN_COMMON


def test_texts_that_have_nothing_in_common_are_read_at_once_for_a_while():
    came = [read_entries(_lines({"a": {"b": number}})) for number in range(100)]
    tried = [number for number, tree in enumerate(came) if tree is not None]
    assert [*range(8), *range(72, 76)] == tried[:12]
    assert all(came[number] == {"a": {"b": number}} for number in tried)


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recurring, "MOST", 2_000)
    for number in range(50):
        _twice({f"key{number}": {"b": "x" * 100}})
        assert len(IN_COMMON) <= 7
    assert len(IN_COMMON) > 1


def test_a_map_that_is_shared_is_written_once():
    tree = _twice({"a": {"b": [1, "é"]}, "l": [1]})
    text, is_sure = encoded_once(tree["a"])
    assert (text, is_sure) == ('{"b":[1,"é"]}'.encode(), True)
    assert encoded_once(tree["a"])[0] is text
    assert encoded_once({"b": [1, "é"]})[0] is not text
    assert encoded_once(tree["l"])[0] == b"[1]"


_MACHINE = {"platform": "debian", "site": "x", "kernel": {"name": "Linux", "modules": ["a"]}}


def test_facts_that_somebody_may_change_are_nobody_elses(tmp_path: Path):
    file = tmp_path / "n.json"
    file.write_bytes(_lines(_MACHINE))
    first, second = (load_facts(file).tree for _ in range(2))
    assert first["kernel"] is not second["kernel"]
    load_facts(file, settled=True)
    settled, sent = load_facts(file, settled=True), parse_facts(_lines(_MACHINE), "m.json", settled=True)
    assert settled.tree["kernel"] is sent.tree["kernel"]
    assert settled.locator.at(("kernel", "modules")).line == 6


def test_a_key_written_twice_is_told_in_settled_facts(tmp_path: Path):
    file = tmp_path / "n.json"
    file.write_text('{\n  "platform": "a",\n  "platform": "b"\n}')
    for _ in range(2):
        facts = load_facts(file, settled=True)
        assert facts.tree == {"platform": "b"}
        assert [warning.line for warning in facts.warnings] == [3]


def test_facts_of_facter_are_nobody_elses(tmp_path: Path):
    file = tmp_path / "n.json"
    file.write_bytes(_lines({"os": {"family": "Debian", "name": "Debian"}, "extra": {"list": [1]}}))
    first, second = (load_facts(file, settled=True).tree for _ in range(2))
    first["extra"]["list"].append(2)
    assert second["extra"] == {"list": [1]}


def test_a_recipe_that_changes_facts_changes_those_of_its_node_alone(tmp_path: Path):
    recipe = tmp_path / "cookbooks" / "a" / "recipes" / "default.py"
    recipe.parent.mkdir(parents=True)
    recipe.write_text(
        'if node["site"] == "x":\n'
        '    node.automatic["kernel"]["name"] = "Hurd"\n'
        '    node.automatic["kernel"]["modules"].append("b")\n'
    )
    (recipe.parents[1] / "metadata.json").write_text('{"name": "a", "version": "1.0.0"}')
    repository, trees = Repository(tmp_path), []
    for site in "xyxyx":
        (file := tmp_path / "n.json").write_bytes(_lines({**_MACHINE, "site": site}))
        node = run_node(repository, "n", facts=load_facts(file, settled=True), run_list=["a"]).node
        trees.append(node.merged_shared()["kernel"])
    assert trees[0] == trees[2] == trees[4] == {"name": "Hurd", "modules": ["a", "b"]}
    assert trees[1] == trees[3] == {"name": "Linux", "modules": ["a"]}
