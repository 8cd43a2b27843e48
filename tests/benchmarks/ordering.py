"""The figures of the catalog: graph, order, a simulated run and a large cycle, beside a bare topological sort.

The input is a generated catalog with Puppet's own answers in it (tests/benchmarks/inputs/ordering.json);
a figure for a wrong answer would mean nothing, so every answer is compared first. Where the real
Puppet is installed, the processor time of its visiting is measured beside ours.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

from nodeattrs.catalog import Catalog, Change, Plan, Ref, Report, Resource, apply_plan
from tests.benchmarks.clock import once, seconds_each
from tests.benchmarks.figures import Figure

INPUT = Path(__file__).with_name("inputs") / "ordering.json"
PEER = Path(__file__).with_name("ordering_puppet.rb")
UNCHANGED = 5_000


@cache
def given() -> dict[str, Any]:
    return dict(json.loads(INPUT.read_text(encoding="utf-8")))


@cache
def names() -> list[str]:
    kinds = given()["type_names"]
    return [f"{kinds[int(kind)]}[r{number:05}]" for number, kind in enumerate(given()["types"])]


class Simulated:
    """A resource that does as the input says."""

    __slots__ = ("changes", "fails", "refreshable")

    def __init__(self, refreshable: bool = False, changes: bool = False, fails: bool = False) -> None:
        self.refreshable, self.changes, self.fails = refreshable, changes, fails

    def check(self, site: Any) -> list[Change]:
        return [Change(name) for name in ("changes", "fails") if getattr(self, name)]

    def apply(self, change: Change, site: Any) -> None:
        if change.what == "fails":
            raise ValueError("it cannot be changed")

    def refresh(self, site: Any) -> None:
        pass


def catalog(more: Iterable[Sequence[int]] = ()) -> Catalog:
    """The catalog of the input, with further edges at the end of those that only order."""
    tree, name = given(), names()
    before: list[list[str]] = [[] for _ in name]
    notify: list[list[str]] = [[] for _ in name]
    for source, target, kind in (*tree["edges"], *more):
        (notify if kind else before)[source].append(name[target])
    flags = [set(tree[flag]) for flag in ("refreshable", "changes", "fails")]
    found = Catalog()
    for number, ref in enumerate(name):
        subject = Simulated(*(number in flag for flag in flags))
        found.add(Resource(Ref(ref), before=tuple(before[number]), notify=tuple(notify[number]), subject=subject))
    return found


def bare_order() -> list[int]:
    """The yardstick: the same graph, a heap, and nothing else."""
    edges, count = given()["edges"], given()["resources"]
    out: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for source, target, _ in edges:
        out[source].append(target)
        waits[target] += 1
    free = [vertex for vertex in range(count) if not waits[vertex]]
    heapify(free)
    ordered = []
    while free:
        vertex = heappop(free)
        ordered.append(vertex)
        for target in out[vertex]:
            waits[target] -= 1
            if not waits[target]:
                heappush(free, target)
    return ordered


def order_of(one: Catalog) -> list[Ref]:
    """Graph, cycle check and order."""
    return one.plan().order()


def simulated_run(one: Catalog) -> Report:
    """All of it, from the declarations on."""
    return apply_plan(one.plan())


def cycle_report(one: Catalog) -> tuple[Plan, Sequence[str]]:
    """From the declarations to the message with path and reasons."""
    plan = one.plan()
    return plan, plan.cycle_error().details


def check(one: Catalog, cyclic: Catalog) -> None:
    """Compare every answer with Puppet's. raises: AssertionError"""
    expected, number = given()["expect"], {name: index for index, name in enumerate(names())}
    order, report = order_of(one), simulated_run(one)
    plan, reasons = cycle_report(cyclic)
    (cycle,) = plan.cycles
    long_cycle = expected["long_cycle"]
    answers: list[tuple[str, object, object]] = [
        ("order", expected["order"], [number[ref] for ref in order]),
        ("yardstick", expected["order"], bare_order()),
        *(
            (status, expected[status], sorted(number[outcome.ref] for outcome in report.with_status(status)))
            for status in ("changed", "failed", "skipped", "restarted")
        ),
        ("members", long_cycle["member_count"], len(cycle.members)),
        ("digest", long_cycle["members_sha256"], hashlib.sha256("\n".join(cycle.names).encode()).hexdigest()),
        ("path", long_cycle["path"], [number[plan.graph.spelled(vertex)] for vertex in cycle.path]),
        ("reasons", len(cycle.ring) - 1, len(reasons)),
    ]
    for what, wanted, got in answers:
        if wanted != got:
            raise AssertionError(f"{what} is not Puppet's: a figure for it would mean nothing")


def unchanged() -> Catalog:
    """Resources that are as they should be, in no relation."""
    found = Catalog()
    for index in range(UNCHANGED):
        found.add(Resource(Ref(f"Idle[r{index}]"), subject=Simulated()))
    return found


def puppets_visiting() -> float | None:
    """The processor seconds of Puppet's visiting of as many; None where there is no Puppet."""
    if shutil.which("ruby") is None:
        return None
    try:
        told = subprocess.run(
            ["ruby", str(PEER), str(UNCHANGED)], capture_output=True, text=True, timeout=120, check=True
        )
        return float(told.stdout.split()[-1])
    except (OSError, ValueError, subprocess.SubprocessError, IndexError):
        return None


def catalog_figures(rounds: int) -> Iterator[Figure]:
    """Everything that the catalog must keep fast."""
    one, cyclic = catalog(), catalog([given()["long_cycle_edge"]["edge"]])
    check(one, cyclic)
    works = (bare_order, partial(order_of, one), partial(simulated_run, one))
    bare, order, run = seconds_each(*map(once, works), rounds=rounds)
    _, cycle = seconds_each(once(bare_order), once(partial(cycle_report, cyclic)), rounds=min(rounds, 2))
    of = "a bare topological sort"
    yield Figure("10,000 resources, 30,000 edges: graph, cycle check, order", order / bare, "times", 8.0, of)
    yield Figure("the same: a simulated run", run / bare, "times", 40.0, of)
    yield Figure("a cycle of 6,008 members: path and reasons", cycle / bare, "times", 500.0, of)
    yield Figure("a bare topological sort of it", bare * 1e3, "ms")
    (ours,) = seconds_each(once(partial(simulated_run, unchanged())), rounds=rounds)
    yield Figure(f"{UNCHANGED:,} resources without a change", ours * 1e3, "ms")
    theirs = puppets_visiting()
    if theirs is not None:
        yield Figure(
            "the same, in relation to Puppet's visiting", ours / theirs, "times", 0.1, f"Puppet: {theirs * 1e3:,.0f} ms"
        )
