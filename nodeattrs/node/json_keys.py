"""Keys that JSON cannot keep apart: `80` and `"80"` in one map of a node.

A document has text for keys only, so the last of the two is saved, as in Chef. The module knows no
document: its callers pass on the warnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodeattrs.core.tree import Path, spell
from nodeattrs.errors import BadKey
from nodeattrs.kinds import SAME_KEY_AS_TEXT
from nodeattrs.node.attributes import Attributes
from nodeattrs.node.levels import unsettled_keys


def double_keys(node: Attributes) -> list[BadKey]:
    """A warning for each integer key beside the same key as text in the merged tree, with the origins of both; [] for
    none.

    cost: a look at every map; settled facts are JSON and are skipped
    """
    ledger = node._ledger
    with ledger.lock:
        facts = {key: ledger.trees[-1][key] for key in unsettled_keys(ledger)}
        trees = [tree for tree in (*ledger.trees[1:-1], facts) if tree]
        numbers = dict.fromkeys(path for tree in trees for path in _numbers(tree))
    twins = ((path, (*path[:-1], str(path[-1]))) for path in numbers)
    return [_warning(node, *pair) for pair in twins if node.exist(*pair[0]) and node.exist(*pair[1])]


def _numbers(tree: Any) -> Iterator[Path]:
    waiting: list[tuple[Path, Any]] = [((), tree)]
    for path, here in waiting:  # which grows
        by_key = isinstance(here, dict)
        for step, inner in here.items() if by_key else enumerate(here):
            if by_key and type(step) is int:
                yield (*path, step)
            if isinstance(inner, (dict, list)):
                waiting.append(((*path, step), inner))


def _warning(node: Attributes, *twins: Path) -> BadKey:
    names = " and ".join(map(spell, twins))
    warning = BadKey(
        f"{names} are one key in what is saved, whose keys are text: the last one is kept",
        path=twins[0],
        details=[f"{spell(path)} was set by {origin}" for path in twins for origin in node.origins(path)],
        hint="write both as text",
    )
    warning.kind = SAME_KEY_AS_TEXT
    return warning
