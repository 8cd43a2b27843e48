"""What is measured: small functions on the public face that compute something, without a clock.

The inputs stand in inputs/ (NOTICE.md says where they come from). Nothing here keeps a
view of the merged tree, unless its name says so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Any

from nodeattrs import Node
from nodeattrs.node.running import setting_as

INPUTS = Path(__file__).with_name("inputs")
SIZES = (10, 1_000, 20_000)
COMPONENTS = (
    "default", "env_default", "role_default", "force_default", "normal",
    "override", "role_override", "env_override", "force_override", "automatic",
)  # fmt: skip
SPOKEN = ("default", "force_default", "normal", "override", "force_override")

MERGED_DIGEST = "2c4d55d037c589c15c1c8b1d5630ac6b8a2014214f4acffd1e55c560be0ef7dd"
"""SHA-256 of `json.dumps` of the merge of chef-merge-input.json and its facts, byte for byte."""

Tree = dict[str, Any]


@cache
def document(name: str) -> Any:
    return json.loads((INPUTS / name).read_text(encoding="utf-8"))


@cache
def merge_input() -> dict[str, Tree]:
    """Ten components: nine generated ones, and the facts."""
    plan = document("chef-merge-input.json")
    facts = document(Path(plan["automatic_file"]).name)
    return {name: facts if name == "automatic" else plan["slots"][name] for name in COMPONENTS}


def hot_path() -> list[str]:
    """A leaf of the merge, at depth 4."""
    return document("chef-merge-input.json")["hot_path"]


def loaded(trees: dict[str, Tree], provenance: bool = True) -> Node:
    """A fresh node with each component loaded as a whole."""
    node = Node("bench", provenance=provenance)
    for component, tree in trees.items():
        setattr(node, component, tree)
    return node


def fresh_merge() -> Any:
    """From parsed inputs to a plain merged tree."""
    return loaded(merge_input()).to_dict()


def digest(tree: Any) -> str:
    return hashlib.sha256(json.dumps(tree).encode()).hexdigest()


# One write, one read


def write_read_node(size: int, shape: str) -> Node:
    """A node with so many leaves under one top-level key: "single" in default, "spread" over three components."""
    return loaded(document(f"chef-write-read-{size}.json")[shape])


def wide_node(size: int, shape: str) -> Node:
    """The same at the same depth, but all leaves in one map; "spread": a role speaks in that map too."""
    keys = [f"key{number:04}" for number in range(size)]
    trees = {"default": dict.fromkeys(keys, "start"), "role_default": dict.fromkeys(keys[2::5], "role")}
    if shape == "single":
        del trees["role_default"]
    return loaded({name: {"app": {"sec000": {"sub000": leaves}}} for name, leaves in trees.items()})


def write_and_read(node: Node, times: int) -> Any:
    """Write one leaf, read another from the merged tree, and so on; what was read last."""
    seen = None
    for number in range(times):
        node.default["app"]["sec000"]["sub000"]["key0000"] = number
        seen = node["app"]["sec000"]["sub000"]["key0001"]
    return seen


def write_and_read_at_once(node: Node, times: int) -> Any:
    """The same with all steps in one subscript."""
    seen = None
    for number in range(times):
        node.default["app", "sec000", "sub000", "key0000"] = number
        seen = node["app", "sec000", "sub000", "key0001"]
    return seen


def write_and_keep(node: Node, times: int) -> list[Any]:
    """The same by a program that keeps a new view of the map before every write: each one is a snapshot."""
    kept = []
    for number in range(times):
        kept.append(node["app"]["sec000"]["sub000"])
        node.default["app"]["sec000"]["sub000"]["key0000"] = number
        kept[-1]["key0001"]
        del kept[:-2]
    return kept


def append(node: Node, times: int) -> None:
    """One element at a time, to a list of its own: a list is a value, so each one copies it."""
    node.default["list"] = []
    for number in range(times):
        node.default["list"].append(number)


# Reading


def read_ten(tree: Any, times: int) -> Any:
    """Read the hot leaf ten times a round, step by step: of a node, or of a plain nested map."""
    a, b, c, d = hot_path()
    seen = None
    for _ in range(times):
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
        seen = tree[a][b][c][d]
    return seen


def reads_of(tree: Any, spelled: str) -> Callable[[int], Any]:
    """What reads a leaf of *tree* ten times a round, its steps written out, as they are in a file."""
    text = "lambda times: [[" + ", ".join([f"tree{spelled}"] * 10) + "] for _ in repeat(None, times)]"
    return eval(text, {"tree": tree, "repeat": repeat})  # type: ignore[no-any-return]


def hot_reads(node: Node) -> list[Callable[[int], Any]]:
    """The hot leaf of a plain nested map, and of the node with all steps in one subscript."""
    path = hot_path()
    by_one, at_once = "".join(f"[{step!r}]" for step in path), f"[{', '.join(map(repr, path))}]"
    return [reads_of(node.to_dict(), by_one), reads_of(node, at_once)]


def many_leaves(count: int) -> Node:
    """A node with one map of so many leaves in maps of a hundred, set by one statement."""
    return loaded({"default": {"a": {f"s{at}": dict.fromkeys(_HUNDRED, at) for at in range(count // 100)}}})


_HUNDRED = [f"k{at}" for at in range(100)]


# A life with and without provenance


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The leaves of a tree by path; lists and empty maps are leaves here."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


@cache
def writes() -> list[tuple[str, tuple[str, ...], Any]]:
    """Component, path and value of every leaf that cookbooks say."""
    return [(name, path, value) for name in SPOKEN for path, value in leaves(merge_input()[name])]


def life(provenance: bool) -> tuple[Node, Tree]:
    """Load facts, roles and environments; write every cookbook's leaf in attribute files and in recipes; read all."""
    node = loaded({name: tree for name, tree in merge_input().items() if name not in SPOKEN}, provenance)
    for locator in ("attribute file", "recipe"):
        with setting_as(node, locator, "bench"):
            for name, (*steps, key), value in writes():
                writer = getattr(node, name)
                for step in steps:
                    writer = writer[step]
                writer[key] = value
    return node, node.to_dict()


# Fresh interpreters

BARE = ("-c", "pass")
IMPORT = ("-c", "import nodeattrs")
IMPORT_NODE = ("-c", "from nodeattrs import Node, fold")
VERSION = ("-m", "nodeattrs", "--version")
HELP = ("-m", "nodeattrs", "--help")
