"""Whole histories carried round all engines: what comes back is what went, documents, snapshots, notes and times."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from nodeattrs.keep import Noted, Saved, Store, open_store
from nodeattrs.keep.carrying import move
from tests.strain.kill import pair

NODES = 53
_BY = ("run", "node set", "import")


def strain(places: Sequence[str], count: int, chance: random.Random) -> dict[str, Any]:
    """Fill the first place with *count* revisions of each node, and carry them from each place to the next."""
    stores = [open_store(place) for place in places]
    for number in range(count):
        for node in range(NODES):
            stores[0].save(_made(f"n{node}", number, chance))
    truth = _all_of(stores[0])
    bad = [f"{len(truth)} revisions were made"] if len(truth) != count * NODES else []
    for source, target in pairwise(stores):
        move(source, target)
        if _all_of(target) != truth or target.check():
            bad.append(f"what came to {target.describe()} is not what went: {target.check()}")
    for store in stores:
        store.close()
    return {"nodes": NODES, "revisions": len(truth), "places": len(places), "bad": bad}


def _made(name: str, number: int, chance: random.Random) -> Saved:
    """A revision; some change nothing, have no snapshot, or have failed."""
    kept = pair(name, number if chance.random() < 0.7 else 1)
    report = {"changed": [number, name]} if chance.random() < 0.5 else None
    noted = Noted(ok=chance.random() < 0.8, repository=f"{chance.random():.9f}", report=report, by=chance.choice(_BY))
    return Saved(name, kept.document, kept.snapshot if chance.random() < 0.8 else None, noted=noted)


def _all_of(store: Store) -> dict[tuple[str, int], tuple[Any, ...]]:
    found = {}
    for name in store.names():
        for revision in store.history(name):
            saved = store.load(name, revision.number)
            assert saved is not None
            found[name, revision.number] = saved.document, saved.snapshot, saved.noted, saved.revision
    return found
