"""One writer, many readers; several writers take turns.

The interpreter is made to switch threads as often as it can. What is counted are
rounds, not seconds, so that a slow machine only takes longer.
"""

from __future__ import annotations

import copy
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from nodeattrs import Node
from nodeattrs.node.running import walk
from tests.effort import examples
from tests.sane import contradictions_in

ROUNDS = examples(400, fewest=200)


@pytest.fixture(autouse=True)
def restless():
    """Threads are switched at nearly every instruction."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*tasks: Callable[[], None]) -> None:
    """Run them side by side; the first error of any of them is raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(tasks))

    def guarded(task: Callable[[], None]) -> None:
        start.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.fixture
def node():
    """Two slots count together: the weaker one is written first, so it is never behind the stronger one."""
    node = Node("web1")
    for number in range(20):
        node.default["m"][f"k{number}"] = {"p": number}
    node.default["m"]["weak"] = node.override["m"]["strong"] = 0
    node.default["top"] = 0
    return node


def count(node: Node) -> Callable[[], None]:
    """The writer: values, new keys, keys that go, at the top and below."""

    def write() -> None:
        for number in range(1, ROUNDS + 1):
            node.default["m"]["weak"] = number
            node.override["m"]["strong"] = number
            node.normal["m"][f"n{number % 7}"] = {"x": number}
            node.normal["m"].delete(f"n{(number * 3) % 7}")
            node.normal[f"t{number % 5}"] = number
            node.rm(f"t{(number * 2) % 5}")
            if number % 20 == 0:
                node.role_default = {"m": {"r": {"q": number}}}

    return write


def together_with_the_writer(node: Node, look: Callable[[], None], readers: int = 2) -> None:
    """Look again and again until the writer is done, and once more."""
    done = threading.Event()

    def write() -> None:
        try:
            count(node)()
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            look()
        look()

    together(write, *[read] * readers)
    assert contradictions_in(node) == []


def assert_whole(tree: Any) -> None:
    """The writer writes `weak`, then `strong`: no moment has them further apart, or the other way round."""
    apart = tree["m"]["weak"] - tree["m"]["strong"]
    assert apart in (0, 1), f"torn: weak is {apart} ahead"
    assert tree["m"]["k7"] == {"p": 7}


def slots_of(snapshot: Any) -> Any:
    """The two counters as a snapshot keeps them."""
    again = Node.restore(json.loads(json.dumps(snapshot)))
    return again.to_dict()


WHOLES = {
    "to_dict": lambda node: node.to_dict(),
    "to_hash": lambda node: node.to_hash(),
    "snapshot": lambda node: slots_of(node.snapshot()),
    "deepcopy of a view": lambda node: {"m": copy.deepcopy(node["m"])},
    "a view read key by key": lambda node: {"m": dict(node["m"].items())},
    "merged": lambda node: {"m": node.merged("m")},
    "items": lambda node: dict(node.items()),  # dict(node) asks the node of now for each key
    "trace": lambda node: {"m": node.trace("m").value},
    "to_chef": lambda node: {"m": {**(document := node.to_chef())["default"]["m"], **document["override"]["m"]}},
}


QUESTIONS = {
    "explain a leaf": lambda node: node.explain("m.weak"),
    "explain a map": lambda node: node.explain("m"),
    "explain the root": lambda node: node.explain(""),
    "trace": lambda node: node.trace("m.n3.x").to_dict(),
    "debug_value": lambda node: node.debug_value("m", "weak"),
    "mapping": lambda node: (node.get("t1"), "t2" in node, len(node), list(node), list(node.values()), node == {}),
    "paths": lambda node: (node.exist("m", "n1"), walk(node, "m", "k3", "p"), node.has_attribute("t1")),
    "combined": lambda node: (node.combined_default.to_dict(), node.combined_override("m"), node.combined_default["m"]),
    "slots": lambda node: [slot.to_dict() for slot in node.slots.values()],
    "assigned": lambda node: [slot.assigned for slot in node.slots.values()],
    "origin": lambda node: (node.slots[8].origin("m.n1"), repr(node.slots[8])),
    "writers": lambda node: (node.normal.to_dict(), node.override["m"].keys(), repr(node.normal), "m" in node.normal),
    "Chef's JSON": lambda node: node.to_chef_json(),
}


class TestReaders:
    @pytest.mark.parametrize("way", WHOLES)
    def test_no_snapshot_is_torn(self, node, way):
        """Whatever gives the whole gives one moment of it."""
        together_with_the_writer(node, lambda: assert_whole(WHOLES[way](node)))

    def test_a_held_view_is_constant(self, node):
        """Read twice while the writer goes on, in two ways, it says the same; a cold part of it too."""

        def look() -> None:
            held = node["m"]
            cold = node["m"]
            first = held.to_dict()
            assert dict(held.items()) == first
            assert list(held) == list(first)
            assert cold == first or cold["weak"] >= first["weak"]
            assert held.to_dict() == first

        together_with_the_writer(node, look, readers=3)

    def test_counters_never_run_backwards(self, node):
        """What was read once is not unread: no stale answer stays in a cache."""
        seen = threading.local()

        def look() -> None:
            now = node["m"]["strong"], node["m"]["weak"], node.read("m", "strong")
            last = getattr(seen, "last", (0, 0, 0))
            assert all(one >= two for one, two in zip(now, last, strict=True)), (now, last)
            seen.last = now

        together_with_the_writer(node, look, readers=3)
        assert node["m"]["strong"] == node["m"]["weak"] == ROUNDS

    @pytest.mark.parametrize("ask", QUESTIONS)
    def test_no_question_fails_because_somebody_writes(self, node, ask):
        """Whatever may be asked; what is answered is the other tests' affair."""
        together_with_the_writer(node, lambda: QUESTIONS[ask](node))


class TestWriters:
    def test_no_store_is_lost(self, node):
        """Two threads, the same maps, keys of their own."""

        def write(name: str) -> Callable[[], None]:
            def task() -> None:
                for number in range(ROUNDS):
                    node.default["w"][f"m{number % 50}"][f"{name}{number}"] = number

            return task

        together(write("a"), write("b"))

        assert sum(map(len, node["w"].values())) == 2 * ROUNDS
        assert contradictions_in(node) == []

    def test_no_step_hides_what_came_first(self, node):
        """One thread sets a value with all steps in one subscript, where another one steps in and makes a map."""
        keys = [f"k{number}" for number in range(30 * ROUNDS)]
        node.default["s", "before"] = 0

        def set_each() -> None:
            for key in keys:
                node.default["s", key] = 1

        def step_in() -> None:
            for key in keys:
                node.default["s"][key]

        together(set_each, step_in)
        assert {1} == {*map(node["s"].__getitem__, keys)}
        assert contradictions_in(node) == []

    def test_no_in_place_work_is_lost(self, node):
        """Each push sees the list as the one before left it."""
        node.default["l"] = []

        def write(name: str) -> Callable[[], None]:
            def task() -> None:
                for number in range(ROUNDS):
                    node.default["l"].push(f"{name}{number}")

            return task

        together(write("a"), write("b"))

        assert len(node["l"]) == 2 * ROUNDS
        assert [one for one in node["l"] if one.startswith("a")] == [f"a{number}" for number in range(ROUNDS)]
        assert contradictions_in(node) == []

    def test_each_claim_is_its_own_writers(self, node):
        """Two functions write at once: the line that is named is that of the one whose value is read."""

        def write_a() -> None:
            for number in range(ROUNDS):
                node.default["who"][f"a{number}"] = "a"

        def write_b() -> None:
            for number in range(ROUNDS):
                node.default["who"][f"b{number}"] = "b"

        together(write_a, write_b)
        lines = {
            name: {node.trace(("who", f"{name}{number}")).winner.claim.origin.line for number in range(ROUNDS)}
            for name in "ab"
        }

        assert lines == {
            "a": {write_a.__code__.co_firstlineno + 2},
            "b": {write_b.__code__.co_firstlineno + 2},
        }

    def test_readers_may_come_in_between(self, node):
        """Two writers and a reader of everything."""
        node.default["l"] = []

        def write() -> None:
            for number in range(ROUNDS):
                node.default["l"].push(number)
                node.override["x"][str(number % 9)] = number
                node.override["x"].delete(str((number * 2) % 9))

        def read() -> None:
            longest = 0
            for _ in range(ROUNDS):
                now = len(node.to_dict()["l"])
                assert now >= longest
                longest = now
                node.explain("x")

        together(write, write, read)

        assert len(node["l"]) == 2 * ROUNDS
        assert contradictions_in(node) == []
