"""Search over a fleet: the median time of some queries on each engine, and the size of the index."""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nodeattrs.chef import Repository
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.store import Saved, Store, open_store
from nodeattrs.store.search import parse_query
from nodeattrs.store.search.query import Query
from tests import postgresql_server
from tests.benchmarks.figures import Figure
from tests.benchmarks.fleet import SIZE, example, facts_of, fleet_figures, resolved, what_of
from tests.benchmarks.saving import saving_figures

EQUALITY = "fqdn:n7.example.com"
QUERIES = {
    "equality, one node": EQUALITY,
    "our own equality, one node": "uptime_seconds=119",
    "wildcard": "fqdn:n12*",
    "range of texts": "macaddress:[02\\:00\\:00\\:00\\:01\\:00 TO 02\\:00\\:00\\:00\\:02\\:00]",
    "range of numbers": "cpu.total>=30",
    "nine nodes of ten": "site:main",
    "any field": "*:spare",
}
INDEX = (
    "path",
    "field",
    "entry",
    "entry_path",
    "part",
    "part_entry",
    "part_entry_part",
    "node_part",
    "node_part_node",
    "word",
)


def keep_figures(rounds: int) -> Iterator[Figure]:
    """Everything about what is kept: the fleet, then search."""
    with tempfile.TemporaryDirectory() as folder:
        yield from fleet_figures(Path(folder))
        yield from saving_figures(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from search_figures(Path(folder), rounds)
    with tempfile.TemporaryDirectory() as folder:
        yield from flat_figures(Path(folder))


def search_figures(folder: Path, rounds: int) -> Iterator[Figure]:
    """Each query on each engine. The nodes are made from one of each sort, with facts of their own."""
    stores: dict[str, Store] = {"SQLite": open_store(folder / "fleet.db")}
    if not postgresql_server.why_not():
        stores["PostgreSQL"] = open_store(postgresql_server.fresh())
    for document in documents(Repository(example(folder))):
        for store in stores.values():
            store.save(Saved(document["name"], document))
    for title, text in QUERIES.items():
        query = parse_query(text)
        expected = len(stores["SQLite"].search(query))
        told = f"{expected:,} of {SIZE:,} nodes"
        for engine, store in stores.items():
            milliseconds = _median(lambda q=query, s=store: len(s.search(q)), expected, rounds)
            bar = 50.0 if engine == "SQLite" and text == EQUALITY else None
            yield Figure(f"{title}, {engine}", milliseconds, "ms", bar, told)
    for store in stores.values():
        store.close()
    yield from _index_size(folder / "fleet.db")


FEW, MANY = 300, int(os.environ.get("NODEATTRS_MANY", "10000"))
"""Small nodes of two stores; 50,000 take some minutes."""
FLAT = {"our own equality": "i=7", "Chef's field:value": "fqdn:n7.example.com"}


def flat_figures(folder: Path) -> Iterator[Figure]:
    """What must not grow with the store: equality with one hit, and forgetting a node."""
    stores = {count: open_store(folder / f"{count}.db") for count in (FEW, MANY)}
    for count, store in stores.items():
        for number in range(count):
            name = f"n{number}"
            facts = {"fqdn": f"{name}.example.com", "i": number, "n": number % 97}
            store.save(Saved(name, {"name": name, "chef_environment": "_default", "automatic": facts}))
    for title, text in FLAT.items():
        few, many = (_best(store, parse_query(text)) for store in stores.values())
        of = f"{FEW} nodes: {1e3 * few:.2f} ms"
        yield Figure(f"{title}, one hit of {MANY:,} nodes, SQLite", many / few, "times", 1.5, of)
    few, many = (min(_seconds_of(store, f"n{number}") for number in range(20)) for store in stores.values())
    of = f"{FEW} nodes: {1e3 * few:.2f} ms"
    yield Figure(f"forget a node of {MANY:,}, SQLite: processor time", many / few, "times", 2.0, of)
    for store in stores.values():
        store.close()


def _best(store: Store, query: Query) -> float:
    def once() -> float:
        began = time.process_time()
        assert store.search(query) == ["n7"]
        return time.process_time() - began

    return min(once() for _ in range(200))


def _seconds_of(store: Store, name: str) -> float:
    began = time.process_time()
    assert store.delete(name)
    return time.process_time() - began


def documents(repository: Repository) -> Iterator[dict[str, Any]]:
    """The documents of the fleet. All levels but the facts are the same for all nodes of one role and environment."""
    sorts: dict[tuple[str, str], dict[str, Any]] = {}
    for number in range(SIZE):
        name, (item,), environment = what_of(number)
        facts = facts_of(number)
        if (item, environment) not in sorts:
            kept = resolved(repository, number, Facts(dict(facts), Origin("facts"))).document
            own = {key: value for key, value in kept["automatic"].items() if key not in facts}
            sorts[item, environment] = kept | {"automatic": own}
        sort = sorts[item, environment]
        yield sort | {"name": name, "automatic": facts | sort["automatic"] | {"name": name}}


def _median(work: Callable[[], int], expected: int, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - began)
        if found != expected:
            raise RuntimeError(f"found {found} nodes, and {expected} in memory")
    return 1e3 * statistics.median(times)


def _index_size(file: Path) -> Iterator[Figure]:
    connection = sqlite3.connect(file)
    try:
        marks = ", ".join("?" * len(INDEX))
        # Also the tables' own indexes, which SQLite names after them.
        ((size,),) = connection.execute(
            f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({marks}) OR name LIKE 'sqlite_autoindex_%' "
            "AND name NOT LIKE '%\\_piece\\_%' ESCAPE '\\' AND name NOT LIKE '%\\_text\\_%' ESCAPE '\\'",
            INDEX,
        ).fetchall()
    except sqlite3.OperationalError:
        return  # this SQLite was built without that table
    finally:
        connection.close()
    yield Figure(
        "the index, for a node", size / SIZE / 1024, "KiB", of=f"{file.stat().st_size / SIZE / 1024:,.0f} KiB in all"
    )
