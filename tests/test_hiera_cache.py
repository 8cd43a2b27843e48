"""The cache of a process changes no answer of Hiera: each node gets what it would get without one."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.cache import CACHE
from nodeattrs.dialects.hiera.data import read_document
from nodeattrs.dialects.hiera.keys import Options
from nodeattrs.errors import NodeattrsError
from nodeattrs.hiera import Hiera
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
def test_nodes_that_asked_before_change_no_answer(tree, merge, asked):
    with tempfile.TemporaryDirectory() as folder:
        files = {f"data/{name}.yaml": json.dumps(data) for name, data in tree.items() if name != "module"}
        options = {"lookup_options": {key: {"merge": merge} for key in _KEYS}}
        files["data/common.yaml"] = json.dumps({**tree.get("common", {}), **options})
        files["modules/m/hiera.yaml"] = "version: 5\n"
        files["modules/m/data/common.yaml"] = json.dumps(tree.get("module", {}))
        root = written(Path(folder), {"hiera.yaml": CONFIG, **files})
        hiera = Hiera(root)
        for (name, roles), key, how in asked:
            with mock.patch.object(CACHE, "get", lambda key, make: make()):
                expected = _answer(Hiera(root), name, roles, key, how)
            assert expected == _answer(hiera, name, roles, key, how)
            assert expected == _answer(Hiera(root), name, roles, key, how)


MERGED = {
    "hiera.yaml": CONFIG,
    "data/common.yaml": "k: [1]\nw: ['%{who}']\nlookup_options: {k: {merge: unique}, w: {merge: unique}}\n",
    "data/last.yaml": "k: [2]\n",
    "data/role/x.yaml": "k: [3]\n",
}


def test_nodes_share_the_answers_that_are_the_same_for_all(site: Site):
    CACHE.clear()
    scope = site(MERGED, {"who": "a"})
    other = type(scope)(scope.tree, {"who": "b"}, "other", "production", None, {}, True)

    assert [[1, 2], ["a"]] == [scope.lookup("k"), scope.lookup("w")]
    entries = len(CACHE)
    assert [[1, 2], ["b"]] == [other.lookup("k"), other.lookup("w")]
    assert entries == len(CACHE)


def test_nodes_share_lookup_options_that_are_the_same_for_all(site: Site):
    CACHE.clear()
    scope = site(MERGED)
    other = type(scope)(scope.tree, {}, "other", "production", None, {}, True)
    with mock.patch("nodeattrs.dialects.hiera.search.Options", wraps=Options) as made:
        answers = [one.lookup("k") for one in (scope, other)]

    assert [[1, 2], [1, 2]] == answers
    assert 1 == made.call_count


def test_places_without_a_file_are_places(tmp_path: Path):
    """
    A list keeps what it has twice where another place might have had the key.
    """
    files = {"data/role/x.yaml": "k: [1, 1]\n", "data/common.yaml": "lookup_options: {k: {merge: unique}}\n"}
    hiera = Hiera(written(tmp_path, {"hiera.yaml": CONFIG, **files}))
    answers = [_answer(hiera, "c", roles, "k", None) for roles in (["x"], ["x", "z"], ["x"])]

    assert ["[1]", "[1, 1]", "[1]"] == answers


def test_an_answer_belongs_to_its_caller(site: Site):
    scope = site(MERGED)
    scope.lookup("k").append(3)

    assert [1, 2] == scope.lookup("k")


def test_how_one_call_merges_is_not_how_the_next_one_does(site: Site):
    scope = site(MERGED)
    assert [[1, 2], [1], [1, 2]] == [scope.lookup("k", merge=how) for how in (None, "first", None)]


def test_a_tree_that_is_read_anew_is_asked_anew(tmp_path: Path):
    hiera = Hiera(written(tmp_path, MERGED))
    assert [1, 2] == hiera.scope({}, node="a").lookup("k")
    (tmp_path / "data/last.yaml").write_text("k: [4]\n")
    hiera.forget()

    assert [1, 4] == hiera.scope({}, node="a").lookup("k")


def test_a_file_is_parsed_once_for_several_trees(tmp_path: Path):
    path = written(tmp_path, MERGED) / "data/last.yaml"

    assert read_document(path, "last", "yaml") is read_document(path, "last", "yaml")


def test_a_changed_file_of_the_same_size_and_time_is_parsed_again(tmp_path: Path):
    """
    A stamp says the same of both.
    """
    root = written(tmp_path, MERGED)
    path, before = root / "data/last.yaml", os.stat(root / "data/last.yaml")
    assert [1, 2] == Hiera(root).scope().lookup("k")
    path.write_text("k: [4]\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert [1, 4] == Hiera(root).scope().lookup("k")


def test_one_content_under_two_names_is_two_files(tmp_path: Path):
    """
    Each error and each origin names its own.
    """
    root = written(tmp_path, {**MERGED, "data/role/x.yaml": "k: [2]\n"})
    leaves = Hiera(root).scope(variables={"roles": ["x"]}).explain("k", merge="unique").leaves()

    assert ["data/role/x.yaml", "data/last.yaml"] == [
        Path(origin.file or "").relative_to(root).as_posix()
        for path, _, origins in leaves
        for origin in origins
        if path == (0,)
    ]
