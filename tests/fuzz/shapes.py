"""Trees grown from a shape, and spoiled: documents that get past a JSON or YAML parser.

A shape is plain data: a dict has some of its keys, a list some of its elements' shapes, a tuple is one of its members,
a callable makes what it likes of chance, and all else stands for itself.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import yaml

__all__ = ["ODD", "TREE", "as_json", "as_yaml", "grown", "spoiled"]

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 10**30, 1.5, -0.0, 1e308, float("inf"), "", " ", "a", "*", "a.b", "/", "..", "\0", "é",
    "\ud800", "\u202e", "%{x}", "[", "a" * 300, "٣", "2020-01-01", "1:30", [], [[]], {}, [None], {"": {}},
    {"a": {"b": 1}},
)  # fmt: skip
"""Values that somebody might not have thought of."""


def TREE(chance: random.Random, depth: int = 3) -> Any:
    """Any tree: small, of few keys."""
    kind = chance.randrange(6) if depth else 0
    if kind < 4:
        return chance.choice((1, 2, True, None, "a", "b c", "", 1.5, -1, [], {}))
    if kind == 4:
        return [TREE(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(("a", "b", "c", "a.b", "")): TREE(chance, depth - 1) for _ in range(chance.randrange(4))}


def grown(shape: Any, chance: random.Random, share: float = 0.8) -> Any:
    """A tree of that shape.

    share: how many of the keys there are
    """
    if callable(shape):
        return shape(chance)
    if isinstance(shape, tuple):
        return grown(chance.choice(shape), chance, share)
    if isinstance(shape, list):
        return [grown(chance.choice(shape), chance, share) for _ in range(chance.choice((0, 1, 1, 2, 3)))]
    if isinstance(shape, dict):
        return {key: grown(inner, chance, share) for key, inner in shape.items() if chance.random() < share}
    return shape


def spoiled(tree: Any, chance: random.Random) -> Any:
    """The tree, something in it replaced, taken away, said again or put under another key."""
    places = list(_places(tree))
    if not places:
        return copy.deepcopy(chance.choice(ODD))
    above, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del above[key]
        case 1 if isinstance(above, dict):
            above[chance.choice(("a", "", "name", " ", "é", "a.b", "*", key.upper()))] = above.pop(key)
        case 2 if isinstance(above, list):
            above.insert(key, copy.deepcopy(above[key]))
        case 3:
            above[key] = chance.choice(([above[key]], {"a": above[key]}, [[above[key]]]))
        case 4:
            other, its = chance.choice(places)
            above[key] = copy.deepcopy(other[its])
        case _:
            above[key] = copy.deepcopy(chance.choice(ODD))
    return tree


def _places(tree: Any) -> Any:
    """Every container with each of its keys."""
    entries = list(tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ())
    for key, inner in entries:
        yield tree, key
        yield from _places(inner)


def as_json(tree: Any, chance: random.Random) -> str:
    """The tree as a JSON text."""
    return json.dumps(tree, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, None, 1)))


def as_yaml(tree: Any, chance: random.Random) -> str:
    """The tree as a YAML text; what YAML has no way to write is left to JSON."""
    try:
        return yaml.dump(tree, Dumper=_Dumper, default_flow_style=chance.choice((None, False, False, True)))
    except (yaml.YAMLError, UnicodeError):
        return json.dumps(tree)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        return True
