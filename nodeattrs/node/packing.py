"""The trees of a node as a snapshot has them, and what has happened to them.

What is packed is data for JSON; who set what is a number, and what those say is `snapshots`' affair.
It never holds a secret: a marker stands in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.origins import At, Patched
from nodeattrs.core.tree import SCALARS, Path, copied, is_json
from nodeattrs.node.documents import FAILED, computed, json_ready
from nodeattrs.node.history import Chronicle
from nodeattrs.node.ledger import Ledger
from nodeattrs.node.maps import AssignedMap, OwnedMap, Worked
from nodeattrs.node.values import Deferred, Sensitive, Symbol, Withheld

NOTHING: Mapping[Any, Any] = {}

# Trees of a snapshot. A map is {"m": [[key, entry], ...]}, so that 1 and "1" stay two keys; with
# "o" its own mark, "a" whether it is assigned; an entry is [key, value] or [key, value, mark].
# A list is {"l": [...]}; a scalar stands for itself. A map that was set as a whole and is JSON through
# and through is {"j": itself}: so facts stand in a snapshot as they do in a node document.


def packed(value: Any, evaluate: bool = True, whole: bool = True) -> Any:
    """A part of a tree, as a copy. whole: False for what stands in a map that is no JSON: nothing is looked at twice"""
    if isinstance(value, dict):
        if whole and type(value) is dict and is_json(value):
            return {"j": copied(value)}
        return packed_map(value, evaluate)
    if isinstance(value, list):
        items = []
        for inner in value:
            items.append(inner if type(inner) in SCALARS else packed(inner, evaluate, whole))
        return {"l": items}
    if isinstance(value, (Sensitive, Withheld)):
        return {"s": "withheld"}
    if isinstance(value, Deferred):
        return _packed_deferred(value) if evaluate else {"d": repr(value)}
    return {"y": str(value)} if type(value) is Symbol else value


def packed_map(value: dict[Any, Any], evaluate: bool = True, settled: Mapping[Any, Any] = NOTHING) -> dict[str, Any]:
    """A map entry by entry. settled: entries that are JSON for certain, which are not copied"""
    owned = value if isinstance(value, OwnedMap) else None
    origins = NOTHING if owned is None else owned.origins
    pairs = []
    for key, inner in value.items():
        if type(inner) in SCALARS:
            pair = [key, inner]
        elif type(inner) is dict and settled.get(key) is inner:
            pair = [key, {"j": inner}]
        else:
            pair = [key, packed(inner, evaluate, owned is not None)]
        if key in origins:
            pair.append(packed_whose(origins[key]))
        pairs.append(pair)
    whole: dict[str, Any] = {"m": pairs}
    if owned is not None:
        whole["o"] = owned.origin
        if isinstance(owned, AssignedMap):
            whole["a"] = True
    return whole


def _packed_deferred(value: Deferred) -> dict[str, Any]:
    came = computed(value, ())
    failed = came.get(FAILED) if isinstance(came, dict) else None
    return {"d": packed(json_ready(came))} if failed is None else {"f": failed}


def packed_whose(whose: Any) -> Any:
    """A number, or for a list an array of elements: a number, or tagged "at", "all" or "in".

    One that was worked on in place has its array under "of", and beside it who set and who worked on it.
    """
    if isinstance(whose, Worked):
        return {"of": [packed_whose(one) for one in whose], "begun": list(whose.begun), "steps": list(whose.steps)}
    if isinstance(whose, list):
        return [packed_whose(one) for one in whose]
    if isinstance(whose, At):
        return {"at": [whose.source, list(whose.path)]}
    if isinstance(whose, Patched):
        return {"in": [packed_whose(whose.base), list(whose.path), packed_whose(whose.by)]}
    if isinstance(whose, tuple):
        return {"all": [packed_whose(one) for one in whose]}
    return whose


def packed_history(ledger: Ledger, slots: Collection[int]) -> list[list[Any]]:
    """What has happened at each path of some slots."""
    return [
        [list(path), slot, chronicle.dropped, [_packed_event(*event) for event in (chronicle.first, *chronicle.last)]]
        for path, slot, chronicle in chronicles_in(ledger, slots)
    ]


def _packed_event(what: str, value: Any, whose: Any, by: int) -> list[Any]:
    return [what, packed(value, evaluate=False), packed_whose(whose), by]


def packed_unknown(ledger: Ledger, slots: Collection[int]) -> Iterator[list[Any]]:
    """Each layer that cannot be read: its slot, name and reason, and who it is of."""
    for slot in sorted(slots & ledger.unknown.keys()):
        for layer in ledger.unknown[slot]:
            yield [slot, layer.value.name, layer.value.reason, packed_origin(layer.origin.at(()))]


def chronicles_in(ledger: Ledger, slots: Collection[int]) -> Iterator[tuple[Path, int, Chronicle]]:
    """Each path of some slots at which something has happened, its slot, and what that was."""
    for path, chronicles in ledger.history.items():
        for (slot, _), chronicle in chronicles.items():
            if slot in slots:
                yield path, slot, chronicle


def packed_origin(origin: Origin) -> dict[str, Any]:
    """An origin as a snapshot has it."""
    # Written out, since it is done for each mark and each cause of each node.
    kind, name, file, line, column = origin
    place: dict[str, Any] = {"kind": kind} if kind else {}
    if name:
        place["name"] = name
    if file:
        place["file"] = file
    if line is not None:
        place["line"] = line
    if column is not None:
        place["column"] = column
    return place
