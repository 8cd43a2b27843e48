"""The figures of the node, each with its bar, and Chef's own figure beside it where there is one.

A bar is a ratio within one run wherever it can be, so that it holds on any machine.
Chef's figures are of Chef Infra Client 19.4.14 under Ruby 3.1.2 on the same inputs, in
processor time, on another machine on another day (docs/performance.md): they tell the
order of magnitude.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from tests.benchmarks import workloads
from tests.benchmarks.clock import once, seconds_each, seconds_of_python


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    unit: "times" for a ratio, else what a second was divided into
    bar:  what it must not exceed; None for figures that are told and not judged
    of:   what was put in relation, or how much was done
    chef: what Chef needs for the same
    """

    name: str
    value: float
    unit: str
    bar: float | None = None
    of: str = ""
    chef: str = ""

    @property
    def missed(self) -> bool:
        return self.bar is not None and self.value > self.bar

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "missed": self.missed}


def node_figures(rounds: int) -> Iterator[Figure]:
    """Everything that the node must keep fast, one figure after the other."""
    yield from write_and_read(rounds)
    yield from reading(rounds)
    yield from merging(rounds)
    yield from provenance(rounds)
    yield from starting(rounds)


# What Chef's cost grows with: 10 leaves per CPU second against 1,000 and 20,000.
CHEF_PAIRS = {"single": {10: 29_421, 1_000: 1_305, 20_000: 72.8}, "spread": {10: 10_749, 1_000: 198, 20_000: 10.2}}


FLAT = 1.2
"""What a write and a read of a large tree may take of the time that they take of a small one."""


def write_and_read(rounds: int) -> Iterator[Figure]:
    small, *larger = workloads.SIZES
    for shape, chefs in CHEF_PAIRS.items():
        nodes = [workloads.write_read_node(size, shape) for size in workloads.SIZES]
        base, *others = seconds_each(*_each(workloads.write_and_read, nodes), rounds=rounds)
        yield _micro(f"write + read, depth 4, {small} leaves, {shape}", base, chef=_micro_text(1 / chefs[small]))
        for size, seconds in zip(larger, others, strict=True):
            yield Figure(
                f"write + read, depth 4, {size:,} leaves, {shape}", seconds / base, "times", FLAT,
                f"the same with {small}", f"{chefs[small] / chefs[size]:,.0f} times",
            )  # fmt: skip
    for shape, slots in (("single", ""), ("spread", ", two slots")):
        nodes = [workloads.wide_node(size, shape) for size in (small, larger[-1], 1_000_000)]
        for node in nodes:
            workloads.write_and_read(node, 1)  # the first write copies what was loaded
        base, *others = seconds_each(*_each(workloads.write_and_read, nodes), rounds=rounds)
        for size, seconds in zip((larger[-1], 1_000_000), others, strict=True):
            name = f"write + read, one map of {size:,} keys{slots}"
            yield Figure(name, seconds / base, "times", FLAT, f"the same with {small}")
    nodes = [workloads.write_read_node(small, "single") for _ in range(2)]
    by_one, at_once = seconds_each(
        partial(workloads.write_and_read, nodes[0]), partial(workloads.write_and_read_at_once, nodes[1]), rounds=rounds
    )
    yield Figure("write + read, all steps in one subscript", at_once / by_one, "times", 0.6, "the steps one by one")
    (kept,) = seconds_each(partial(workloads.write_and_keep, workloads.wide_node(larger[-1], "single")), rounds=rounds)
    yield _micro(f"write, a new view of {larger[-1]:,} keys kept before each", kept)
    (appended,) = seconds_each(once(partial(workloads.append, workloads.loaded({}), 1_000)), rounds=rounds)
    yield _micro("append, one by one up to 1,000 elements", appended / 1_000)


def reading(rounds: int) -> Iterator[Figure]:
    node = workloads.loaded(workloads.merge_input())
    warm, plain = seconds_each(*_each(workloads.read_ten, [node, node.to_dict()]), rounds=rounds)
    yield Figure("warm read `node[a][b][c][d]`", warm / plain, "times", 4.0, "a plain nested dict")
    plain, at_once = seconds_each(*workloads.hot_reads(node), rounds=rounds)
    yield Figure("warm read `node[a, b, c, d]`", at_once / plain, "times", 2.0, "a plain nested dict")
    yield _micro("warm read `node[a][b][c][d]`", warm / 10, chef=_micro_text(1 / 153_899))
    written, _ = workloads.life(provenance=True)
    path = tuple(workloads.hot_path())
    (explained,) = seconds_each(once(lambda: written.explain(path)), rounds=rounds)
    yield Figure("explain one leaf", explained * 1e3, "ms", 5.0, f"after {2 * len(workloads.writes()):,} writes",
                 f"{1e3 / 17_297:.2f} ms (debug_value)")  # fmt: skip


def merging(rounds: int) -> Iterator[Figure]:
    result = workloads.fresh_merge()
    if workloads.digest(result) != workloads.MERGED_DIGEST:
        raise AssertionError("the merge is not what it was: a figure for it would mean nothing")
    fresh, copied = seconds_each(once(workloads.fresh_merge), once(lambda: copy.deepcopy(result)), rounds=rounds)
    yield Figure("fresh node to to_dict()", fresh / copied, "times", 1.2, "copy.deepcopy of the result")
    yield Figure("fresh node to to_dict()", fresh * 1e3, "ms", chef=f"{1e3 / 69 + 1e3 / 23.9:.1f} ms")
    node = workloads.loaded(workloads.merge_input())
    many = workloads.many_leaves(1_000_000)
    tree = many.to_dict()
    kept, copied = seconds_each(once(many.snapshot), once(lambda: copy.deepcopy(tree)), rounds=1)
    yield Figure("snapshot of 1,000,000 leaves of one statement", kept / copied, "times", 2.0, "copy.deepcopy of it")
    (merged,) = seconds_each(once(node.to_dict), rounds=rounds)
    yield Figure("to_dict() alone", merged * 1e3, "ms", chef=f"{1e3 / 23.9:.1f} ms")


def provenance(rounds: int) -> Iterator[Figure]:
    on, off = seconds_each(*(once(partial(workloads.life, switch)) for switch in (True, False)), rounds=rounds)
    count = f"{2 * len(workloads.writes()):,}"
    yield Figure(f"provenance on: load, {count} writes, full read", on / off, "times", 1.3, "provenance off")


def starting(rounds: int) -> Iterator[Figure]:
    programs = (workloads.BARE, workloads.IMPORT, workloads.IMPORT_NODE, workloads.VERSION, workloads.HELP)
    bare, *others = seconds_of_python(*programs, rounds=3 * rounds)
    # The face opens its rooms when somebody enters, so the second figure is told beside the first.
    names = ("import nodeattrs", "from nodeattrs import Node, fold", "nodeattrs --version", "nodeattrs --help")
    for name, seconds in zip(names, others, strict=True):  # `tests.benchmarks starts` judges whole commands
        yield Figure(name, max(0.0, seconds - bare) * 1e3, "ms", of="over a bare interpreter")


def _each(work: Callable[[Any, int], object], subjects: list[Any]) -> list[Callable[[int], object]]:
    return [partial(work, subject) for subject in subjects]


def _micro(name: str, seconds: float, chef: str = "") -> Figure:
    return Figure(name, seconds * 1e6, "µs", chef=chef)


def _micro_text(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs"
