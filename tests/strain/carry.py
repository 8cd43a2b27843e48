"""Copy histories round all engines, with kills: documents, snapshots, notes and times arrive as they were."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from nodeattrs.store import Noted, Saved, Store, open_store
from nodeattrs.store.carrying import copy_store
from tests.store_writers import settle
from tests.strain.kill import pair

NODES = 53
KILLS = 5
"""Copies from one place to the next that are killed before one that is not."""
LONGEST = 0.02
"""Seconds that a copy goes on after the nodes that are waited for."""
_BY = ("run", "node set", "import")

History = dict[tuple[str, int], tuple[Any, ...]]


def strain(places: Sequence[str], count: int, chance: random.Random) -> dict[str, Any]:
    """Fill the first place with *count* revisions of each node, and copy them from each place to the next.

    Before each copy that ends, KILLS of them are killed; each may leave only whole revisions of the source.
    """
    first = open_store(places[0])
    for number in range(count):
        for node in range(NODES):
            first.save(_made(f"n{node}", number, chance))
    truth = _all_of(first)
    first.close()
    bad = [f"{len(truth)} revisions were made"] if len(truth) != count * NODES else []
    stopped = 0
    for place, other in pairwise(places):
        for _ in range(KILLS):
            _killed(place, other, chance)
            target = open_store(other)
            if target.is_there():
                settle(target)
            there = _all_of(target)
            stopped += len(there) < len(truth)
            if not there.items() <= truth.items() or target.check():
                bad.append(f"a killed copy left something else in {target.describe()}: {target.check()}")
            target.close()
        source, target = open_store(place), open_store(other)
        copy_store(source, target)
        if _all_of(target) != truth or target.check():
            bad.append(f"what came to {target.describe()} is not what went: {target.check()}")
        source.close()
        target.close()
    return {"nodes": NODES, "revisions": len(truth), "places": len(places), "stopped": stopped, "bad": bad}


def _killed(place: str, other: str, chance: random.Random) -> None:
    """Copy in a process that is killed after some nodes, somewhere in the one that follows."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            copy_store(open_store(place), open_store(other), lambda _: os.write(outlet, b"."))
        finally:
            os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb", buffering=0) as done:
        for _ in range(chance.randrange(NODES // 2)):
            done.read(1)
        time.sleep(chance.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _made(name: str, number: int, chance: random.Random) -> Saved:
    """A revision; some change nothing, have no snapshot, or have failed."""
    kept = pair(name, number if chance.random() < 0.7 else 1)
    report = {"changed": [number, name]} if chance.random() < 0.5 else None
    noted = Noted(ok=chance.random() < 0.8, repository=f"{chance.random():.9f}", report=report, by=chance.choice(_BY))
    return Saved(name, kept.document, kept.snapshot if chance.random() < 0.8 else None, noted=noted)


def _all_of(store: Store) -> History:
    found: History = {}
    for name in store.names():
        for revision in store.history(name):
            saved = store.load(name, revision.number)
            assert saved is not None
            found[name, revision.number] = saved.document, saved.snapshot, saved.noted, saved.revision
    return found
