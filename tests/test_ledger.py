"""The fifteen trees under a merged view: cheap writes, true views, and a check that notices when they are not."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.core.policy import MAP
from nodeattrs.errors import NodeattrsError
from nodeattrs.node import component_tree, ledger, view
from nodeattrs.node.history import HISTORY_BOUND, Chronicle, Event
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.setters import Setter
from nodeattrs.node.slots import PAIR
from nodeattrs.testing import paths, programs
from tests.effort import examples
from tests.vectors.chef_program import Program


@pytest.fixture
def node():
    return Node("web1")


def tree_of(node: Node, slot: int, *path: object) -> object:
    """The map itself that a slot keeps: for tests of what is copied and what is not."""
    here = node._ledger.trees[slot]
    for step in path:
        here = here[step]
    return here


class TestWhatAWriteCopies:
    def test_nothing_where_nobody_holds_a_view(self, node):
        """Reading through and letting go leaves the maps where they are."""
        node.default["a"]["b"]["c"] = 1
        before = tree_of(node, 2, "a", "b")
        for number in range(3):
            assert node["a"]["b"]["c"] is not None
            node.default["a"]["b"]["c"] = number

        assert tree_of(node, 2, "a", "b") is before

    def test_nor_where_steps_are_taken_at_once(self, node):
        """What a write notes of its way holds no view itself."""
        for key in "bd":
            node.default["a", key, "c"] = 1
        before = [tree_of(node, 2, *steps) for steps in (["a"], ["a", "b"], ["a", "d"])]
        for number in range(20):
            node.default["a", "b", "c"] = number
            assert (node["a", "b", "c"], node["a", "d", "c"]) == (number, number - 1 if number else 1)
            node.default["a", "d", "c"] = number

        now = [tree_of(node, 2, *steps) for steps in (["a"], ["a", "b"], ["a", "d"])]
        assert all(one is other for one, other in zip(before, now, strict=True))

    def test_one_level_each_where_a_view_is_held(self, node):
        """The maps on the path, once; what lies beside them is shared."""
        node.default["a"]["b"]["c"] = 1
        node.default["a"]["side"]["x"] = 1
        held = node["a"]
        before, beside = tree_of(node, 2, "a", "b"), tree_of(node, 2, "a", "side")
        node.default["a"]["b"]["c"] = 2
        copied = tree_of(node, 2, "a", "b")
        node.default["a"]["b"]["c"] = 3

        assert copied is not before
        assert tree_of(node, 2, "a", "b") is copied
        assert tree_of(node, 2, "a", "side") is beside
        assert held == {"b": {"c": 1}, "side": {"x": 1}}

    def test_a_loaded_tree_is_owned_along_the_path_only(self, node):
        """Facts stay the frozen maps that they came as."""
        node.automatic = {"kernel": {"name": "Linux"}, "cpu": {"0": {"mhz": 1}}}
        node.automatic["kernel"]["name"] = "Other"

        assert type(tree_of(node, 15, "kernel")) is OwnedMap
        assert type(tree_of(node, 15, "cpu")) is dict
        assert node._check() == []

    def test_what_was_read_elsewhere_is_still_known(self, node):
        """A write forgets the answers on its path and no others."""
        node.default["a"] = {"b": {"c": 1}, "d": {"e": 1}}
        node.default["z"] = {"y": 1}
        assert (node["a"]["b"]["c"], node["a"]["d"]["e"], node["z"]["y"]) == (1, 1, 1)
        known = id(node["a"]["d"]), id(node["z"])
        node.default["a"]["b"]["c"] = 2

        assert (id(node["a"]["d"]), id(node["z"])) == known
        assert node["a"]["b"]["c"] == 2

    def test_the_serial_rises_with_every_change_and_with_no_question(self, node):
        """Writers tell by it whether their place may have moved."""
        serials = [node._ledger.serial]
        for change in (
            lambda: node.default.__setitem__("a", {"l": [1]}),
            lambda: node.default["a"]["l"].push(2),
            lambda: node.default["a"].delete("l"),
            lambda: setattr(node, "normal", {"n": 1}),
            lambda: node.rm("n"),
        ):
            change()
            serials.append(node._ledger.serial)
        node.to_dict(), node.get("a"), node.explain("a"), node.snapshot(), node.default.read("a"), node._check()

        assert serials == sorted(set(serials))
        assert node._ledger.serial == serials[-1]


# Scenarios. Each gives what went wrong; the mutants below must make each of them find something.


def a_view_whose_parents_were_let_go() -> list[str]:
    """The directed test that random programs missed in 1,500 runs."""
    node = Node("web1")
    node.default["a"]["b"]["c"] = 1
    node.override["a"]["b"]["d"] = 2
    held = node["a"]["b"]
    node.default["a"] = {"x": 1}
    node.override["a"]["b"]["d"] = 3
    return [] if held == {"c": 1, "d": 2} else [f"held view became {held}"]


def a_held_view_of_the_child_of_a_copy() -> list[str]:
    """The first write copies the parent, the second one must still copy the child."""
    node = Node("web1")
    node.default["a"]["b"]["c"] = 1
    held = node["a"]
    node.default["a"]["x"] = 1
    node.default["a"]["b"]["c"] = 2
    return [] if held == {"b": {"c": 1}} else [f"held view became {held}"]


def a_view_held_by_one_name() -> list[str]:
    """Exactly one reference more than nobody."""
    node = Node("web1")
    node.default["a"]["b"] = 1
    held = node["a"]
    node.default["a"]["b"] = 2
    return [] if held == {"b": 1} else [f"held view became {held}"]


def the_root_view_held_by_one_name() -> list[str]:
    """As an iteration over the node holds it."""
    node = Node("web1")
    node.default["a"] = 1
    held = node._ledger.view()
    node.default["a"] = 2
    return [] if held == {"a": 1} else [f"root view became {held}"]


def a_map_assigned_over_an_attribute_file() -> list[str]:
    """Law 2a in three lines."""
    node = Node("web1")
    with node.setting_as("attribute file", "x"):
        node.default["a"] = {"file": 1}
    node.default["a"] = {"recipe": 2}
    return [] if node["a"] == {"recipe": 2} else [f"read {node['a']}"]


def a_read_after_a_write() -> list[str]:
    """Every slot joins a path that was read before, and then writes to it again."""
    node = Node("web1")
    node.default["a"]["b"] = {"c": 0}
    wrong = []
    for turn in range(2):
        for name in ("default", "role_default", "normal", "override", "automatic"):
            assert node["a"]["b"]["c"] is not None
            getattr(node, name)["a"]["b"]["c"] = f"{name} {turn}"
            wrong += node._check()
    return wrong + ([] if node["a"]["b"]["c"] == "automatic 1" else ["stale"])


def a_writer_that_was_cut_off() -> list[str]:
    """It writes to what it kept, and a view from before must not see that."""
    node = Node("web1")
    node.default["a"]["b"] = {"c": 1}
    writer, held = node.default["a"]["b"], node["a"]["b"]
    node.default["a"] = {"new": 1}
    writer["c"] = 2
    found = [] if held == {"c": 1} else [f"held view became {held}"]
    return found + ([] if node["a"] == {"new": 1} else [f"the node became {node['a']}"])


DOORS: tuple[Callable[[Node], Any], ...] = (
    lambda node: node["a"],
    lambda node: node["a"]["b"],
    lambda node: node["a", "b"],
    lambda node: (node["a"]["b", "c"], node["a"])[1],
    lambda node: node.get("a"),
    lambda node: node.read("a", "b"),
    lambda node: node.walk("a", "b"),
    lambda node: next(iter(node.values())),
    lambda node: dict(node.items())["a"],
    lambda node: node.combined_default["a"],
)
"""Where views come out of a node."""


def a_view_taken_between_writes_beside_each_other() -> list[str]:
    """What the second write knows of who holds a view is void once somebody has asked for one."""
    wrong = []
    for number, door in enumerate(DOORS):
        node = Node("web1")
        for turn in range(12):
            node.default["a", "b", "c"] = turn
            node.default["a", "b", f"d{turn}"] = node["a", "b", "c"]
            if turn > 8:
                held = door(node)
                was = held.to_dict()
                node.default["a", "b", "c"] = "later"
                node.default["a", "b", "e"] = "later"
                wrong += [f"held view of door {number} became {held}"] if held != was else []
                del held
    return wrong


def a_write_after_nodes_began_with_the_same() -> list[str]:
    """Maps that others begin with are copied by whoever writes, also beside what he wrote before."""
    node, other = Node("web1"), Node("web2")
    for key in "cd":
        node.default["a", "b", key] = 1
    other._ledger.begin_with(node._ledger.prepared((1, 2)))
    node.default["a", "b", "c"] = 2
    return [] if other["a"] == {"b": {"c": 1, "d": 1}} else [f"the other node became {other['a']}"]


SCENARIOS: tuple[Callable[[], list[str]], ...] = (
    a_view_whose_parents_were_let_go,
    a_held_view_of_the_child_of_a_copy,
    a_view_held_by_one_name,
    the_root_view_held_by_one_name,
    a_map_assigned_over_an_attribute_file,
    a_read_after_a_write,
    a_writer_that_was_cut_off,
    a_view_taken_between_writes_beside_each_other,
    a_write_after_nodes_began_with_the_same,
)


def forget_unmarked(its, view, key):
    """A dropped view does not mark the maps that somebody below may still look at."""
    view._cache.order = None
    view._cache.pop(key, None)


def forget_keys_only(its, view, key):
    """The answer itself stays in the cache."""
    view._cache.order = None


def copy_with_open_children(shared):
    """A copied map does not mark its children."""
    copied = type(shared)(shared, shared.origin)
    copied.origins = shared.origins.copy()
    return copied


def look_unnoticed(its, look=ledger.Ledger.view):
    """Whoever asks for the view leaves the way of the last write as it is."""
    way, seen = its.way, look(its)
    its.way = way
    return seen


def prepare_unmarked(its, slots):
    """What others begin with is not marked as shared."""
    return ledger.Prepared({slot: its.trees[slot] for slot in slots}, tuple(its.marks.all()[1:]), {}, {}, False)


MUTANTS = {
    "a look at the view leaves the way": lambda patch: patch.setattr(ledger.Ledger, "view", look_unnoticed),
    "what others begin with is not marked": lambda patch: patch.setattr(ledger.Ledger, "prepared", prepare_unmarked),
    "a dropped view marks nothing": lambda patch: patch.setattr(ledger.Ledger, "_drop", forget_unmarked),
    "an answer is kept": lambda patch: patch.setattr(ledger.Ledger, "_drop", forget_keys_only),
    "a copy does not mark its children": lambda patch: patch.setattr(ledger, "replica", copy_with_open_children),
    "one holder is not counted": lambda patch: patch.setattr(ledger, "ALONE", view.ALONE + 1),
    "marks are ignored": lambda patch: (
        patch.setitem(PAIR.kinds, AssignedMap, MAP),
        patch.setattr(PAIR, "cells", {}),
        patch.setattr(PAIR, "always", PAIR.always - {AssignedMap}),
    ),
    "nothing is shared for a held view": lambda patch: patch.setattr(ledger, "share", lambda part: None),
    "recipes mark nothing": lambda patch: patch.setattr(component_tree, "AssignedMap", OwnedMap),
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_scenario(scenario):
    """Nothing is wrong."""
    assert scenario() == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_planted_fault_is_noticed(mutant, monkeypatch):
    """One scenario at least finds it, or the scenarios protect nothing."""
    MUTANTS[mutant](monkeypatch)

    assert any(scenario() for scenario in SCENARIOS), mutant


def test_without_reference_counts_every_view_counts_as_held(monkeypatch):
    """As on interpreters that have none: right, and slower."""
    monkeypatch.setattr(ledger, "ALONE", -1)

    assert [scenario() for scenario in SCENARIOS] == [[]] * len(SCENARIOS)


@pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="an interpreter without reference counts")
def test_the_baseline_is_still_what_it_was_at_import():
    """It is measured on the same lines of code, so a debugger or tracer does not shift it."""
    assert view._references() == view.ALONE


class TestHistory:
    def test_it_keeps_the_first_and_the_last_few(self):
        """And counts what lies between."""
        chronicle = Chronicle(Event("overwritten", 0, 0, 0))
        for number in range(1, 100):
            chronicle.add(Event("overwritten", number, 0, 0))

        assert [event.value for event in chronicle.events()] == [0, *range(101 - HISTORY_BOUND, 100)]
        assert chronicle.dropped == 100 - HISTORY_BOUND

    @settings(max_examples=examples(150))
    @given(st.integers(0, 30))
    def test_none_is_lost_from_the_count(self, times):
        """Kept and dropped together are all."""
        chronicle = Chronicle(Event("silent", 0, 0, 0))
        for number in range(times):
            chronicle.add(Event("silent", number, 0, 0))

        assert len(chronicle.events()) + chronicle.dropped == times + 1
        assert len(chronicle.events()) <= HISTORY_BOUND

    def test_a_first_write_leaves_no_entry(self, node):
        """The tree itself is who speaks now; nothing is kept twice."""
        node.default["a"] = {"b": {"c": 1}}
        node.role_default["a"]["b"]["d"] = 2
        node.automatic = {"x": {"y": 1}}

        assert node._ledger.history == {}

    def test_what_was_cut_off_is_kept_as_it_was(self, node):
        """Later writes to the same place do not reach into the past."""
        node.default["a"]["b"] = {"c": 1}
        node.default["a"] = {"b": {"c": 2}}
        node.default["a"]["b"]["c"] = 3

        assert [past.claim.value for past in node.trace("a").history if past.claim.path == ("a",)] == [{"b": {"c": 1}}]

    def test_it_is_kept_for_each_path_and_slot_by_itself(self, node):
        """One slot's loop does not push out another's past."""
        node.normal["a"] = "kept"
        node.normal["a"] = "now"
        for number in range(100):
            node.default["a"] = number

        assert "kept" in [past.claim.value for past in node.trace("a").history]


class TestCheck:
    """`_check` is judged too: it must notice what it says that it notices."""

    @pytest.fixture
    def full(self, node):
        with node.setting_as("attribute file", "x"):
            node.default["a"] = {"b": {"c": 1}, "l": [1]}
        node.default["a"]["b"]["d"] = 2
        node.override["a"]["b"]["c"] = 3
        node.default["a"]["l"].push(2)
        assert node["a"]["b"]["c"] == 3
        assert list(node["a"]) == ["b", "l"]
        assert node._check() == []
        return node

    @pytest.mark.parametrize(
        "harm",
        [
            lambda node: tree_of(node, 10, "a", "b").__setitem__("c", 4),
            lambda node: tree_of(node, 10, "a").__setitem__("new", 4),
            lambda node: tree_of(node, 10).__delitem__("a"),
            lambda node: tree_of(node, 10, "a").__setitem__("x", tree_of(node, 10, "a", "b")),
            lambda node: tree_of(node, 10, "a").origins.__setitem__("nobody", 1),
            lambda node: tree_of(node, 10, "a").origins.__setitem__("b", 99),
            lambda node: tree_of(node, 2, "a")["l"].append(OwnedMap()),
            lambda node: tree_of(node, 2).__setitem__("z", {"frozen": OwnedMap()}),
            lambda node: tree_of(node, 11).__setitem__("z", AssignedMap()),
            lambda node: tree_of(node, 1).__setitem__("z", AssignedMap()),
            lambda node: node._ledger.trees.__setitem__(9, AssignedMap()),
            lambda node: node["a"]["b"]._cache.__setitem__("c", True),
            lambda node: node["a"]._cache.__setitem__("gone", 1),
            lambda node: node._ledger.__setitem__("a", 1),
            lambda node: node._ledger.__setitem__(("a", "b", "d"), 1),
            lambda node: node._ledger.history.setdefault(("a",), {}).__setitem__((2, True), _too_long()),
        ],
    )
    def test_it_notices(self, full, harm):
        """One contradiction at a time."""
        harm(full)

        assert full._check() != []

    @settings(max_examples=examples(100))
    @given(programs(interleaved=True), st.lists(paths(), max_size=4))
    def test_no_program_makes_it_speak(self, program, asked):
        """Whatever is read in between, and whatever raises."""
        judged = Program()
        held = []
        for step in program:
            judged.answer({name: value for name, value in step.items() if name != "speaker"}, step["speaker"])
            for path in asked:
                view = judged.node.read(*path)
                held.append((view, copy.deepcopy(view)))
            assert judged.node._check() == []
        for view, before in held:
            assert repr(view) == repr(before)


def _too_long() -> Chronicle:
    chronicle = Chronicle(Event("silent", 1, 0, 0))
    chronicle.last = [Event("silent", 1, 0, 0)] * HISTORY_BOUND
    return chronicle


class TestRoots:
    def test_files_are_relative_to_the_root_that_was_given(self, tmp_path):
        """Snapshots travel; a file from elsewhere keeps its whole name."""
        inside, outside = tmp_path / "repo" / "a.py", tmp_path / "b.py"
        inside.parent.mkdir()
        node = Node("web1", root=tmp_path / "repo")
        for file in (inside, outside):
            file.write_text("node.default['a'] = 1\n")
            exec(compile(file.read_text(), str(file), "exec"), {"node": node})

        assert node.trace("a").winner.claim.origin.file == outside.as_posix()
        assert node.trace("a").history[0].claim.origin.file == "a.py"


# Writes beside the last one (node/ways.py). Whoever forgets each way does the same, and takes longer.

STEPS = st.sampled_from([("a", "b"), ("a", "b", "c"), ("a", "c"), ("b", "c")])
VALUES = st.sampled_from([1, "x", None, True, 2.5, [1], {"k": 1}])
DEEDS = st.one_of(
    st.tuples(st.just("store"), st.sampled_from(["default", "override", "normal"]), STEPS, VALUES),
    st.tuples(st.just("step"), st.sampled_from(["default", "override"]), STEPS, VALUES),
    st.tuples(st.just("read"), STEPS),
    st.tuples(st.just("hold"), STEPS),
    st.tuples(st.just("unless"), STEPS, VALUES),
    st.tuples(st.just("delete"), STEPS),
    st.tuples(st.just("early"), st.booleans()),
    st.tuples(st.just("writer"), STEPS),
    st.tuples(st.just("through"), VALUES),
)


def told(deeds: list[tuple[Any, ...]], forgetful: bool, secret: bool) -> list[Any]:
    """What a program sees that does some deeds, and what is left."""
    node = Node("web1", sensitive=["b.c"] if secret else ())
    seen: list[Any] = []
    held: list[tuple[Any, Any]] = []
    writer = node.default
    for what, *more in [*deeds, ("hold", ("a", "b"))]:
        if forgetful:
            node._ledger.way = None
        try:
            if what == "store":
                getattr(node, more[0])[more[1]] = more[2]
            elif what == "step":
                here = getattr(node, more[0])
                for step in more[1][:-1]:
                    here = here[step]
                here[more[1][-1]] = more[2]
            elif what == "read":
                seen.append(node[more[0]])
            elif what == "hold":
                view = node[more[0][0]]
                held.append((view, view.to_dict()))
            elif what == "unless":
                node.default_unless(*more[0], more[1])
            elif what == "delete":
                node.default.delete(more[0][0]) if len(more[0]) == 2 else node.rm(*more[0])
            elif what == "early":
                node._ledger.set_as(Setter("attribute file", "x") if more[0] else Setter("recipe", "x"))
            elif what == "writer":
                writer = node.default[more[0][:-1]]
            else:
                writer["b", "c"] = more[0]
        except (NodeattrsError, KeyError, TypeError) as error:
            seen.append(f"{type(error).__name__}: {error}")
    for view, was in held:
        seen.append(view == was)
    snapshot = node.snapshot()
    return [*map(repr, seen), node._check(), snapshot]


@settings(max_examples=examples(400))
@given(st.lists(DEEDS, max_size=14), st.booleans())
def test_the_way_of_the_last_write_makes_no_difference(deeds, secret):
    """Not to what is read, held, kept or refused, nor to who set it."""
    assert told(deeds, False, secret) == told(deeds, True, secret)
