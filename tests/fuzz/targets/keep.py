"""What is kept: queries, snapshots, node documents, imports, allow lists and reports of runs."""

from __future__ import annotations

import random
from functools import lru_cache, partial
from operator import methodcaller
from pathlib import Path
from typing import Any

from nodeattrs import Node
from nodeattrs.node.running import setting_as
from nodeattrs.store import Saved, Store, filtered_snapshot, open_store, saved_document
from nodeattrs.store.carrying import read_nodes, save_nodes
from nodeattrs.store.engines.index import names_found
from nodeattrs.store.search import Query, parse_query
from tests.fuzz.grammar import Grammar
from tests.fuzz.shapes import TREE, as_json, spoiled
from tests.fuzz.target import Target, from_grammar, from_shape, json_of, seeds_in, tried, vectors
from tests.fuzz.targets.runs import NODE
from tests.oracles.search_language import GRAMMAR
from tests.sane import contradictions_in

__all__ = ["TARGETS", "node_of"]

_QUERIES = Grammar(
    GRAMMAR,
    {
        "_AND": ("AND", "&&"), "_OR": ("OR", "||"), "_NOT": ("NOT",), "_TO": ("TO",), "OPENING": ("[", "{"),
        "CLOSING": ("]", "}"),
        "END": ("*", "1", "3", "a", "z*", "10.5", "\\*", "-1"),
        "PHRASE": ('"a b"', '"x"', '"a* ?"', '"\\""', '""', '" "'),
        "OWN": ('n>=1', 'f="a"', 'f~"^a"', "n=2", '"a b".c<3', 'm."k*"=v?', "l.0=1", "n=1e400", "f=null", 'x~"["',
            "n<-1", "l=true"),
        "WORD": ("role", "f", "n", "m_k*", "a*", "*", "?b", "web", "name", "w1", "2", "l", "1.5", "a\\:b", "_default",
            "%", "a-b", ".5", "recipes"),
    },
)  # fmt: skip
_NODES = {
    f"w{number}": {
        "name": f"w{number}", "chef_environment": "_default", "run_list": ["role[web]"],
        "normal": {"f": "a%b_c" * number, "n": number, "l": [1, "x", None, True], "m": {"k*": "v?", "": "e"}},
    }
    for number in range(4)
}  # fmt: skip
_LEVELS = ("default", "force_default", "normal", "override", "force_override", "automatic")


@lru_cache(maxsize=1)
def _sqlite(place: str) -> Store:
    Path(place).unlink(missing_ok=True)
    store = open_store(place)
    for name, document in _NODES.items():
        store.save(Saved(name, document, None))
    return store


def _found(query: Query) -> None:
    in_memory = names_found(_NODES.items(), query)
    kept = _sqlite(str(Path("search.db").absolute())).search(query)
    assert in_memory == kept, f"{query.text!r} finds {in_memory} in memory, {kept} in SQLite"


def node_of(chance: random.Random) -> Node:
    """A node with a history: a few writes of a few levels, some in place, some taken back."""
    node = Node("web1", "prod", rules=chance.choice(({}, {"a.b": "append"})))
    node.run_list = chance.choice(([], ["role[web]", "recipe[a@1.2.3]"]))
    for _ in range(chance.randrange(8)):
        level = getattr(node, chance.choice(_LEVELS))
        path = [chance.choice(("a", "b", "c")) for _ in range(chance.choice((1, 1, 2, 3)))]
        with setting_as(node, chance.choice(("recipe", "role", "attribute file")), "x"):
            # By its name, so that no source is followed to what is written: that takes longer than all the rest.
            does_write = chance.random() < 0.8
            change = methodcaller("write", *path, TREE(chance)) if does_write else methodcaller("unlink", *path)
            tried(partial(change, level))
    return node


def _as_kept(tree: Any, chance: random.Random) -> str:
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        tree = spoiled(tree, chance)
    return as_json(tree, chance)


def _snapshot(chance: random.Random) -> str:
    return _as_kept(node_of(chance).snapshot(), chance)


def _line(chance: random.Random) -> str:
    """Lines of an export: nodes with all that is kept of them."""
    node, lines = node_of(chance), []
    for number in range(1, chance.choice((2, 3))):
        noted = {"by": "run", "ok": chance.choice((True, False)), "error": "X", "report": {"counts": {"changed": 1}}}
        line = {"document": node.to_chef(), "snapshot": node.snapshot(), "noted": noted}
        if chance.random() < 0.6:
            line |= {"revision": number, "at": "2030-01-31T12:00:00+00:00"}
        lines.append(_as_kept(chance.choice((line, line, line["document"])), chance).replace("\n", " "))
    return "\n".join(lines)


def _restored(node: Node) -> None:
    contradictions_in(node)
    tried(
        node.to_dict,
        node.snapshot,
        lambda: str(node.trace("a")),
        lambda: node.default.write("a", "b", 1),
        lambda: filtered_snapshot(node, {"default": ["a"]}),
        lambda: Node.restore(node.snapshot()),
        node.to_chef,
    )


class _Nothing:
    """A store that has nothing, and keeps nothing."""

    def load(self, name: str, at: object = None) -> None:
        return None

    def history(self, name: str) -> list[Any]:
        return []

    def save(self, saved: Saved, after: int | None = None) -> None:
        return None

    def add_history(self, name: str, revisions: object) -> None:
        return None

    def describe(self) -> str:
        return "nothing"


def _imported(text: str) -> list[str]:
    lines = text.splitlines(True)
    tried(lambda: read_nodes(_Nothing(), lines, "nodes.jsonl", [("a", "b"), ("*", "c")]))
    return save_nodes(_Nothing(), read_nodes(_Nothing(), lines, "nodes.jsonl"))


_KEYS = (
    "a",
    "a/b",
    "a/b/c",
    "/a",
    "a//b",
    "b",
    "network/interfaces",
    "",
    "/",
    "*",
    ["a", "b"],
    ["a/b"],
    ["a", 0],
    ["a", "l", 0],
)
_LISTS = {level: ([_KEYS], None) for level in ("automatic", "default", "normal", "override")}


def _filters(text: str) -> tuple[Any, Any]:
    """The lists, and the same with the tree that they filter."""
    said = json_of(text)
    allow, block = (said.get(key) for key in ("allow", "block")) if isinstance(said, dict) else (said, None)
    node = Node("web1")
    for level in ("automatic", "default", "normal", "override"):
        getattr(node, level).write("b", [1])
    saved_document(node, allow, block)
    return allow, block


def _filtered(lists: tuple[Any, Any]) -> None:
    node = Node("web1")
    node.automatic.write("a", {"b": {"c": 1}, "l": [1], "t": "text b"})
    node.default.write("a", "b", 1)
    node.normal.write("a", None)
    node.override.write("network", {"interfaces": {"a/b": 1}})
    tried(lambda: saved_document(node, *lists), lambda: filtered_snapshot(node, *lists))


TARGETS = (
    Target("query", from_grammar(_QUERIES, seeds_in("chef-search", lambda text: ":" in text)), parse_query, _found),
    Target("snapshot", _snapshot, lambda text: Node.restore(json_of(text)), _restored),
    Target("chef-node", from_shape(NODE), lambda text: Node.from_chef(json_of(text)), _restored),
    Target("import", _line, _imported),
    Target(
        "allow-lists",
        from_shape({"allow": _LISTS, "block": _LISTS},
            [{"allow": {"default": one["allow"]}} for one in vectors("chef-allowlist")]),
        _filters,
        _filtered,
    ),
)  # fmt: skip
