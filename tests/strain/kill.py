"""kill -9 while nodes are saved: what was promised is there, whole, and of what was not at most one save more."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any

from nodeattrs.store import Saved, Store, open_store
from tests.store_writers import settle

NAMES = ("web1", "web2", "db1")
LONGEST = 0.03
"""Seconds that a victim lives after its first save."""

Counts = dict[str, list[int]]
"""Of each node the mark and the number that were promised last."""


def strain(place: str, count: int, chance: random.Random) -> dict[str, Any]:
    """Kill *count* processes that save, and judge what each left."""
    promised: Counts = {name: [0, 0] for name in NAMES}
    bad: list[str] = []
    saves = more = 0
    for kill in range(count):
        saves += _killed(place, promised, chance)
        store = open_store(place)
        settle(store)
        for name in NAMES:
            found, faults = _found(store, name, promised[name])
            bad += [f"kill {kill}: {name}: {fault}" for fault in faults]
            more += found != promised[name]
            promised[name] = found
        bad += [f"kill {kill}: {fault}" for fault in (store.check() if kill % 10 == 0 or kill == count - 1 else [])]
        store.close()
    return {"kills": count, "promised": saves, "there though not promised": more, "bad": bad}


def pair(name: str, mark: int) -> Saved:
    """A document and a snapshot that both say the mark, and change in part."""
    pad = {f"k{number}": "x" * random.Random(mark // 3 * 100 + number).randrange(400) for number in range(60)}
    document = {"name": name, "chef_environment": "_default", "normal": {"mark": mark, "pad": pad}}
    return Saved(name, document, {"mark": mark, "pad": pad})


def _killed(place: str, promised: Counts, chance: random.Random) -> int:
    """Let a process save until it is killed, and note what it was promised; how often."""
    inlet, outlet = os.pipe()
    seed = chance.random()
    child = os.fork()
    if child == 0:
        try:
            _save_for_ever(place, outlet, {name: mark for name, (mark, _) in promised.items()}, random.Random(seed))
        finally:
            os._exit(3)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as told:
        first = told.readline() if chance.random() < 0.8 else b""
        time.sleep(chance.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = [line for line in (first, *told) if line.endswith(b"\n")]
    for line in lines:
        name, mark, number = line.split()
        promised[name.decode()] = [int(mark), int(number)]
    return len(lines)


def _save_for_ever(place: str, outlet: int, marks: dict[str, int], chance: random.Random) -> None:
    store = open_store(place)
    while True:
        name = chance.choice(NAMES)
        marks[name] += not marks[name] or chance.random() < 0.7
        if chance.random() < 0.03:
            store.prune(5)
        number = store.save(pair(name, marks[name])).number
        os.write(outlet, f"{name} {marks[name]} {number}\n".encode())


def _found(store: Store, name: str, promised: list[int]) -> tuple[list[int], list[str]]:
    """The mark and the number of a node's latest revision, and what is wrong with it."""
    saved, numbers = store.load(name), [revision.number for revision in store.history(name)]
    if saved is None:
        return promised, [f"{promised} is gone"] if promised[1] or numbers else []
    mark = saved.document["normal"]["mark"]
    faults = []
    if (
        saved.note
        or saved.snapshot is None
        or saved.snapshot != {key: saved.document["normal"][key] for key in ("mark", "pad")}
    ):
        faults.append(f"no whole pair: {saved.note}")
    if numbers != list(range(numbers[0], numbers[-1] - 1, -1)):
        faults.append(f"its revisions are {numbers}")
    if numbers[0] not in (promised[1], promised[1] + 1) or mark not in (promised[0], promised[0] + 1):
        faults.append(f"promised was {promised}, there is {[mark, numbers[0]]}")
    return [mark, numbers[0]], faults
