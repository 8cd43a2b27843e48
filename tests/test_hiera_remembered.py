"""What a tree remembers from node to node: each has what it would have of a tree that nobody asked before."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.adapters.hiera import Hiera, remembered
from nodeattrs.adapters.hiera.remembered import memory_of
from nodeattrs.errors import NodeattrsError
from tests import hiera_trees
from tests.effort import examples
from tests.hiera_trees import Site, written

site = hiera_trees.site

CONFIG = """\
version: 5
hierarchy:
- {name: node, path: "node/%{trusted.certname}.yaml"}
- {name: roles, mapped_paths: [roles, one, "role/%{one}.yaml"]}
- {name: common, paths: [common.yaml, last.yaml]}
"""
FILES = ["node/a", "role/x", "common", "module"]
_VALUES = st.sampled_from([1, [1, 1], [[2], 2], ["%{who}"], {"m": 1}, {"m": "%{who}", "n": 1}])
_OPTIONS = st.sampled_from(["unique", "deep"])
_KEYS = ["k", "m::k"]
_TREES = st.dictionaries(st.sampled_from(FILES), st.dictionaries(st.sampled_from(_KEYS), _VALUES), max_size=3)
_NODES = st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from("xyz"), max_size=2, unique=True))
_ASKED = st.tuples(_NODES, st.sampled_from(_KEYS), st.sampled_from([None, None, None, "unique"]))


def _answer(hiera: Hiera, name: str, roles: list[str], key: str, merge: str | None) -> Any:
    scope = hiera.scope({"who": name}, node=name, variables={"roles": roles})
    try:
        return json.dumps(scope.lookup(key, merge=merge), sort_keys=False)
    except NodeattrsError as error:
        return f"{type(error).__name__}: {error.message}"


@settings(max_examples=examples(120))
@given(_TREES, _OPTIONS, st.lists(_ASKED, min_size=2, max_size=8))
def test_who_asked_before_changes_no_answer(tree, merge, asked):
    with tempfile.TemporaryDirectory() as folder:
        files = {f"data/{name}.yaml": json.dumps(data) for name, data in tree.items() if name != "module"}
        options = {"lookup_options": {key: {"merge": merge} for key in _KEYS}}
        files["data/common.yaml"] = json.dumps({**tree.get("common", {}), **options})
        files["modules/m/hiera.yaml"] = "version: 5\n"
        files["modules/m/data/common.yaml"] = json.dumps(tree.get("module", {}))
        root = written(Path(folder), {"hiera.yaml": CONFIG, **files})
        hiera = Hiera(root)
        for (name, roles), key, how in asked:
            assert _answer(Hiera(root), name, roles, key, how) == _answer(hiera, name, roles, key, how)


MERGED = {
    "hiera.yaml": CONFIG,
    "data/common.yaml": "k: [1]\nw: ['%{who}']\nlookup_options: {k: {merge: unique}, w: {merge: unique}}\n",
    "data/last.yaml": "k: [2]\n",
    "data/role/x.yaml": "k: [3]\n",
}


def _answers(scope: Any) -> list[str]:
    return sorted(key for known in memory_of(scope.tree).known.values() for key in known.answers)


def test_what_a_key_comes_to_is_remembered_where_it_is_the_same_for_all(site: Site):
    scope = site(MERGED, {"who": "a"})
    other = type(scope)(scope.tree, {"who": "b"}, "other", "production", None, {})

    assert [[1, 2], ["a"], [1, 2]] == [scope.lookup("k"), scope.lookup("w"), other.lookup("k")]
    assert ["b"] == other.lookup("w")
    assert ["k"] == _answers(scope)


def test_places_without_a_file_are_places(tmp_path: Path):
    """
    A list keeps what it has twice where another place might have had the key.
    """
    files = {"data/role/x.yaml": "k: [1, 1]\n", "data/common.yaml": "lookup_options: {k: {merge: unique}}\n"}
    hiera = Hiera(written(tmp_path, {"hiera.yaml": CONFIG, **files}))
    answers = [_answer(hiera, "c", roles, "k", None) for roles in (["x"], ["x", "z"], ["x"])]

    assert ["[1]", "[1, 1]", "[1]"] == answers


def test_an_answer_belongs_to_whoever_asked(site: Site):
    scope = site(MERGED)
    scope.lookup("k").append(3)

    assert [1, 2] == scope.lookup("k")


def test_how_one_call_merges_is_not_how_the_next_one_does(site: Site):
    scope = site(MERGED)
    assert [[1, 2], [1], [1, 2]] == [scope.lookup("k", merge=how) for how in (None, "first", None)]


def test_what_is_remembered_has_a_bound(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remembered, "_MOST_ANSWERS", 3)
    keys = [f"k{number}" for number in range(10)]
    data = {key: [key] for key in keys}
    scope = site({"data/common.yaml": json.dumps({**data, "lookup_options": {"^k": {"merge": "unique"}}})})

    assert [[key] for key in keys] * 2 == [scope.lookup(key) for key in keys * 2]
    assert len(_answers(scope)) <= 3


def test_a_tree_that_is_read_anew_is_asked_anew(tmp_path: Path):
    hiera = Hiera(written(tmp_path, MERGED))
    assert [1, 2] == hiera.scope({}, node="a").lookup("k")
    (tmp_path / "data/last.yaml").write_text("k: [4]\n")
    hiera.forget()

    assert [1, 4] == hiera.scope({}, node="a").lookup("k")
