"""Compute the values of a node that a search looks at, from its document.

Chef searches another merge than a node reads. In Chef's merge of default, normal, override and automatic, lists unite,
and null replaces nothing. Search terms that Chef lacks look into the tree that the node reads. Both trees are merged
from the four levels of the document, under its rules for paths. An `IndexPart` is a piece of the two trees, and a
`SearchEntry` one value in it. The module knows neither queries nor the index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple
from zlib import crc32

from nodeattrs.core.folding import Folding
from nodeattrs.core.part import Part, unite
from nodeattrs.core.policy import ANY, KEEP, LIST, MAP, MEET, NULL, PRESENT, TAKE, Line, Policy
from nodeattrs.core.rules import PathRule, ruled
from nodeattrs.core.tree import dig
from nodeattrs.errors import BadValue, DocumentError, wrong_argument
from nodeattrs.formats.compact_json import encoded
from nodeattrs.node.slot_names import CHEF_RULES
from nodeattrs.node.slots import ACROSS, rules_in

_NAMED, _WHOLE = re.compile(r"(recipe|role)\[.*\]", re.DOTALL), re.compile(r"^(-?\d)e")

JsonMap = dict[str, Any]
Steps = tuple[str, ...]

CHEF, OWN = 1, 2
"""Bits for the two trees: the one that Chef searches, and the one that the node reads."""


def _map_over(lower: Part, upper: Part) -> Part:
    return upper if upper.value or lower.value is None or lower.value is False else lower


_SEARCHED = Policy(
    "what Chef searches",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(LIST, LIST, unite, "two lists unite"),
    Line(PRESENT, NULL, KEEP, "null never replaces"),
    Line(PRESENT, MAP, _map_over, "an empty map replaces nothing but null and false"),
    Line(ANY, PRESENT, TAKE, "the stronger level replaces the weaker one"),
)
"""Lists unite even across levels here, unlike on the node."""

_LEVELS = ("default", "normal", "override", "automatic")
_BIG = 1_000
"""A map with more bytes of JSON is a part of its own."""
_TINY, _SORTS = 60, 64
"""The rest of the root is several parts: one for values of at most _TINY bytes, which differ most from node to node,
and _SORTS for others by a hash of their names, so that one that differs makes only its own part new."""
_LONGEST = 65_536
"""The division of a map is cached up to so many bytes."""
NO_NUL = "\ufffd"
"""Stands for NUL in all indexes, since PostgreSQL's texts cannot hold one."""


class SearchEntry(NamedTuple):
    """One value that search finds a node with.

    steps: the keys that lead to the value, without indexes of lists
    kind:  "s" text, "n" number, "b" true or false, "z" null, "w" a list or an empty map as a whole
    text:  the value as text, from `scalar_text`; for "w" from `whole`
    """

    steps: Steps
    kind: str
    text: str


class IndexPart(NamedTuple):
    """A piece of a node for the index: some keys of one of its maps, with their values. Nodes with an equal piece share
    one stored copy.

    A node has two trees: the one that Chef searches, and the one that the node reads. A part has the map from both.
    `entries` computes what an index stores for the part: entry -> the trees that have it, as bits CHEF and OWN. Call it
    only for a part that the index lacks.

    key:   the hash of its content
    steps: the keys that lead to the map
    chef:  the map in the tree that Chef searches
    own:   the map in the tree that the node reads
    names: the keys of the two maps that belong to this part; big inner maps are parts of their own
    """

    key: bytes
    steps: Steps
    chef: JsonMap
    own: JsonMap
    names: Sequence[str]

    def entries(self) -> dict[SearchEntry, int]:
        """Entry -> the trees that have it, for each entry of the part. The trees are bits: CHEF, OWN, or both."""
        found: dict[SearchEntry, int] = {}
        for tree, view in ((self.chef, CHEF), (self.own, OWN)):
            for name in self.names:
                if name in tree:
                    for entry in _entries_of(tree[name], (*self.steps, str(name))):
                        found[entry] = found.get(entry, 0) | view
        return found


@lru_cache(maxsize=64)
def _ruled(policy: Policy, rules: tuple[PathRule, ...]) -> Policy:
    """A policy between levels, changed by the rules of a node. Steps become text, as the keys of a document are."""
    between = (rule._replace(path=tuple(map(str, rule.path))) for rule in rules if not rule.inside_only)
    return ruled(policy, between)


def _merged(document: JsonMap, policy: Policy) -> JsonMap:
    if not isinstance(document, dict):
        raise wrong_argument("what is searched", "a node document", document, "node.to_chef()")
    if CHEF_RULES in document:
        with suppress(DocumentError):  # a hand-written value there hides no node
            policy = _ruled(policy, rules_in(document))
    folding = Folding(start=Part({}, None))
    for name in _LEVELS:
        level = document.get(name)
        if isinstance(level, dict):
            folding.lay(Part(level, None), policy)
    return dict(folding.result.value)


def read_tree(document: JsonMap) -> JsonMap:
    """The merged tree that the node of a document reads. It shares maps and lists with the document: do not change it.

    A level that is missing or no map counts as empty.
    raises: BadArgument, where the document is not a map
    """
    return _merged(document, ACROSS)


def found_tree(document: JsonMap) -> JsonMap:
    """What a search gives of a node, as `knife search -a`: its attributes; name, chef_environment and run_list, too,
    where no attribute has that name. It shares maps and lists with the document: do not change it.

    raises: BadArgument, where the document is not a map
    """
    tree = read_tree(document)
    environment, run_list = document.get("chef_environment") or "_default", document.get("run_list") or []
    return {"name": document["name"], "chef_environment": environment, "run_list": run_list, **tree}


def indexed(document: JsonMap) -> JsonMap:
    """The tree that Chef searches: the merged levels, `recipe` and `role` of the run-list, and the document's fields.

    `recipe` and `role` are always lists. If json_class, chef_type or chef_environment are missing, they have Chef's
    defaults. The tree shares maps and lists with the document: do not change it.
    raises: BadValue, if the run-list is not a list; BadArgument, if the document is not a map

    >>> indexed({"name": "a", "run_list": ["role[web]"], "default": {"l": [1]}, "override": {"l": [2]}})["l"]
    [1, 2]
    """
    tree = _merged(document, _SEARCHED)
    run_list = document.get("run_list") or []
    if not isinstance(run_list, list):
        raise BadValue(
            f"the run-list of the node {document.get('name')!r} is {run_list!r}, and no list",
            hint='write "run_list": ["role[web]"]',
        )
    run_list = list(dict.fromkeys(map(_explicit, run_list)))
    for kind in ("recipe", "role"):
        tree[kind] = [item[len(kind) + 1 : -1] for item in run_list if item.startswith(f"{kind}[")]
    fields = {key: value for key, value in document.items() if key not in (*_LEVELS, CHEF_RULES)}
    for key, value in (("json_class", "Chef::Node"), ("chef_type", "node"), ("chef_environment", "_default")):
        if fields.get(key) is None:
            fields[key] = value
    return tree | fields | {"run_list": run_list}


def _explicit(item: Any) -> str:
    text = str(item)
    return text if _NAMED.fullmatch(text) else f"recipe[{text}]"


def index_parts(document: JsonMap) -> Iterator[IndexPart]:
    """Yield the parts of a document, which search finds its node with; each value of the two trees is in one of them.

    raises: BadValue or BadArgument, for a document that cannot be searched
    """
    chef, own = indexed(document), read_tree(document)
    chef["X_CHEF_id_CHEF_X"] = document.get("name")
    yield from _parts((), chef, own)


def _parts(steps: Steps, chef: JsonMap, own: JsonMap) -> Iterator[IndexPart]:
    """Yield the parts of a map: of its big inner maps, then the rest, at the root divided by hashes of names."""
    small: dict[int, list[str]] = {}
    for key in chef if chef is own else {**chef, **own}:
        one, other, sort = chef.get(key, _NONE), own.get(key, _NONE), 0
        if isinstance(one, dict) and isinstance(other, dict):
            text = encoded(one)
            if one is other and _BIG < len(text) <= _LONGEST:
                yield from _cached_parts((*steps, key), one, text)
                continue
            if len(text) > _BIG or (one is not other and len(encoded(other)) > _BIG):
                yield from _parts((*steps, key), one, other)
                continue
            if len(text) > _TINY and not steps:
                sort = 1 + crc32(str(key).encode()) % _SORTS
        small.setdefault(sort, []).append(key)
    for names in small.values():
        first = encoded({name: chef[name] for name in names if name in chef})
        is_same = all(name in chef and chef[name] is own.get(name, _NONE) for name in names)
        second = first if is_same else encoded({name: own[name] for name in names if name in own})
        content = b"\n".join([encoded(steps), first[1:-1], second[1:-1]])
        yield IndexPart(sha256(content).digest(), steps, chef, own, names)


_NONE: JsonMap = {}


def _cached_parts(steps: Steps, tree: JsonMap, text: bytes) -> Iterator[IndexPart]:
    """The parts of a map that both trees have. text: the map as JSON, the key of the cached division"""
    for key, at, names in _division(steps, text):
        inner = dig(tree, at[len(steps) :])
        yield IndexPart(key, at, inner, inner, names)


@lru_cache(maxsize=128)
def _division(steps: Steps, text: bytes) -> list[tuple[bytes, Steps, Sequence[str]]]:
    # Most maps are equal to those of the node before: without this cache a fleet takes a tenth longer.
    tree = json.loads(text)
    return [(part.key, part.steps, part.names) for part in _parts(steps, tree, tree)]


def _entries_of(value: Any, steps: Steps) -> list[SearchEntry]:
    """The entries of a value at *steps*: one for each scalar in it, for each list as a whole, and for each empty map.

    The same entry may be there twice.
    """
    if isinstance(value, dict) and value:
        return [entry for key, inner in value.items() for entry in _entries_of(inner, (*steps, str(key)))]
    if not isinstance(value, dict | list):
        return [SearchEntry(steps, *scalar_text(value))]
    found = [SearchEntry(steps, "w", whole(value).replace("\0", NO_NUL))]
    for inner in _elements(value):
        if inner != {}:
            found += _entries_of(inner, steps)
    return found


def _elements(value: JsonMap | list[Any]) -> Iterator[Any]:
    """Yield the elements of a list, and for an inner list its elements; nothing for an empty map."""
    for inner in value:
        if isinstance(inner, list):
            yield from _elements(inner)
        else:
            yield inner


def scalar_text(value: Any) -> tuple[str, str]:
    """Returns (kind, text) of a scalar, as a `SearchEntry` has them.

    The kind is "z" for null, "b" for a boolean, "n" for a number and "s" for a text. Null gives the text "", and a
    boolean "true" or "false". A float is written as Ruby does it, and `NO_NUL` replaces a NUL.
    """
    if value is None:
        return "z", ""
    if isinstance(value, bool):
        return "b", "true" if value else "false"
    if isinstance(value, int):
        return "n", str(value)
    if isinstance(value, float):
        return "n", _WHOLE.sub(r"\1.0e", str(value))  # Ruby's 1.0e+20
    return "s", value.replace("\0", NO_NUL)


def whole(value: Any) -> str:
    """A value as one text in Ruby's form, `{"a"=>1}`. In it a phrase can be found across neighbouring values."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}"=>{whole(inner)}' for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(whole, value)) + "]"
    kind, text = scalar_text(value)
    return within((), kind, text)


def within(keys: Steps, kind: str, text: str) -> str:
    """The text of `whole` for a map with one value below *keys*. kind, text: as `scalar_text` gives them

    >>> within(("ssl", "port"), "n", "443"), within((), "s", "a b")
    ('{"ssl"=>{"port"=>443}}', '"a b"')
    """
    return "".join(f'{{"{key}"=>' for key in keys) + (f'"{text}"' if kind == "s" else text) + "}" * len(keys)


def names_of(steps: Steps) -> list[tuple[str, int]]:
    """(field, depth) for each field under which search finds a value at *steps*.

    Each key is a field; its depth is its place in the steps, counted from 1. Such a field also finds the map or list at
    the key as a whole. Several keys joined by "_" are one more field, which finds only the value. Its depth is the
    number of steps and one more.

    >>> names_of(("nginx", "port"))
    [('nginx', 1), ('port', 2), ('nginx_port', 3)]
    """
    steps = tuple(step.replace("\0", NO_NUL) for step in steps)
    names = [(step, depth) for depth, step in enumerate(steps, 1)]
    if len(steps) > 1:
        names.append(("_".join(steps), len(steps) + 1))
    return names


def fields_of(document: JsonMap) -> dict[str, list[str]]:
    """Field -> texts of its scalar values, each once: what `indexed` makes of the document, flattened as Chef does it.

    A scalar is in two fields: all keys joined by "_", and the last key alone. Scalars in a list are only in the first.
    A map in a list gives fields like any map. `scalar_text` gives the texts.

    >>> fields_of({"name": "a", "default": {"nginx": {"port": 80, "hosts": ["a", "a"]}}})["nginx_port"]
    ['80']
    """
    fields: dict[str, dict[str, None]] = {}

    def add(name: str, value: Any) -> None:
        fields.setdefault(name, {})[scalar_text(value)[1]] = None

    def flatten(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if not isinstance(inner, dict | list):
                    add(key, inner)
                flatten(inner, f"{name}_{key}")
        elif isinstance(value, list):
            for inner in value:
                flatten(inner, name)
        else:
            add(name, value)

    for key, value in indexed(document).items():
        flatten(value, key)
    return {name: list(values) for name, values in fields.items()}
