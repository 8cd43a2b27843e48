"""Plain trees, one leaf at a time: for tests that change one thing and look what changes."""

from __future__ import annotations

import copy
from typing import Any


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """The paths that end: at scalars, and at empty maps and lists."""
    if not isinstance(tree, (dict, list)) or not tree:
        return [(path, tree)]
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [leaf for step, value in entries for leaf in leaves(value, (*path, step))]


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of *tree* with *value* at *path*."""
    if not path:
        return value
    tree = copy.deepcopy(tree)
    inner = tree
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return tree
