"""python -m tests.strain KIND --store ENGINE [--count N] [--seed S]

kill      kill -9 while nodes are saved                      --count kills (1000)
writers   8 processes that count in one node                 --count saves of each (2000)
first     first saves at once in places where nothing is     --count rounds (100)
flips     single bits flipped, files cut                     --count copies (2000); sqlite
disk      a disk of 600 KiB that gets full                   --count disks (20); sqlite, as root
apply     folders swapped for links under a catalog          --count catalogs (1000); no store
fleet     fleets on Dask, and a worker, scheduler or server that is killed  --count fleets (30); PostgreSQL
carry     histories of 53 nodes copied from SQLite to PostgreSQL and back, with kills  --count revisions of each (10)

Prints the figures as JSON. Exit code 0 if nothing bad happened, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import pathlib
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from tests import postgresql_server, store_writers
from tests.strain import apply, carry, disk, fleet, flips, kill, pgbench, writers

ENGINES = {"sqlite": "nodes.db", "postgresql": None}
WRITERS = 8


def main(words: list[str]) -> int:
    """Put strain on a store, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.strain", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=COUNTS)
    parser.add_argument("--store", choices=ENGINES, default="sqlite")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in", dest="folder", help="where the stores stand (default: a temporary folder)")
    options = parser.parse_args(words)
    if options.kind in ("flips", "disk") and options.store == "postgresql":
        parser.error(f"{options.kind} is about the files of sqlite")
    if options.kind == "disk" and not disk.is_possible():
        parser.error("disk needs the right to mount one")
    postgresql_server.IS_DURABLE = options.kind == "writers"
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        began = time.monotonic()
        figures = strained(
            options.kind, options.store, options.count or COUNTS[options.kind], options.seed, pathlib.Path(folder)
        )
        seconds = round(time.monotonic() - began, 1)
    print(json.dumps({"kind": options.kind, "store": options.store, "seconds": seconds, **figures}, indent=1))
    return 1 if figures["bad"] else 0


def strained(kind: str, engine: str, count: int, seed: int, folder: pathlib.Path) -> dict[str, Any]:
    """The figures of one kind of strain; what must not be is in "bad"."""
    chance = random.Random(seed)
    file = ENGINES[engine] or ""
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "kill": lambda: kill.strain(_place(engine, folder), count, chance),
        "writers": lambda: _written(engine, _place(engine, folder), count),
        "first": lambda: _first(engine, folder, count),
        "flips": lambda: flips.strain(folder, file, count, chance),
        "disk": lambda: disk.strain(folder, file, count, chance),
        "apply": lambda: apply.strain(folder, count),
        "fleet": lambda: fleet.strain(folder, count, chance),
        "carry": lambda: carry.strain(_round(folder), count, chance),
    }
    return ways[kind]()


def _place(engine: str, folder: pathlib.Path, name: str = "") -> str:
    file = ENGINES[engine]
    return postgresql_server.fresh() if file is None else str(folder / f"{name}{file}")


def _round(folder: pathlib.Path) -> list[str]:
    engines = ["sqlite", *(["postgresql"] if not postgresql_server.why_not() else []), "sqlite"]
    return [_place(engine, folder, str(number)) for number, engine in enumerate(engines)]


def _written(engine: str, place: str, count: int) -> dict[str, Any]:
    figures = writers.strain(place, WRITERS, count)  # the server waits for its disk, as one does that keeps things
    if engine == "postgresql":
        figures["pgbench"] = pgbench.rate(place, WRITERS)
        figures["share"] = round(figures["rate"] / figures["pgbench"], 3) if figures["pgbench"] else None
    return figures


def _first(engine: str, folder: pathlib.Path, count: int) -> dict[str, Any]:
    places = [_place(engine, folder, str(number)) for number in range(count)]
    told = io.StringIO()
    bad = []
    with contextlib.redirect_stdout(told):
        try:
            store_writers.first(places)
        except AssertionError as error:
            bad.append(str(error) or "a first save was lost")
    return {"rounds": count, "bad": bad}


COUNTS = {
    "kill": 1_000,
    "writers": 2_000,
    "first": 100,
    "flips": 2_000,
    "disk": 20,
    "apply": 1_000,
    "fleet": 30,
    "carry": 10,
}

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a server that was started is stopped then, too
    sys.exit(main(sys.argv[1:]))
