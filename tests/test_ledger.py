"""The fifteen trees under a merged view: cheap writes, true views, and a check that notices when they are not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.core.policy import MAP
from nodeattrs.node import component_tree, ledger
from nodeattrs.node.ledger import HISTORY_BOUND, Chronicle, Event
from nodeattrs.node.maps import AssignedMap, OwnedMap
from nodeattrs.node.running import setting_as, walk
from nodeattrs.node.slots import PAIR
from nodeattrs.testing import paths, programs
from tests.effort import examples
from tests.ledgers import cache_of, ledger_of
from tests.sane import contradictions_in
from tests.vectors.chef_program import Program


@pytest.fixture
def node():
    return Node("web1")


def tree_of(node: Node, slot: int, *path: object) -> object:
    """The map itself that a slot keeps: for tests of what is copied and what is not."""
    here = ledger_of(node).trees[slot]
    for step in path:
        here = here[step]
    return here


class TestWhatAWriteCopies:
    @pytest.fixture
    def copied(self, monkeypatch):
        """The number of entries of each map that a write has copied."""
        entries: list[int] = []

        def counted(original, writable_copy=ledger.writable_copy):
            entries.append(len(original))
            return writable_copy(original)

        monkeypatch.setattr(ledger, "writable_copy", counted)
        return entries

    @pytest.mark.parametrize("held", [False, True], ids=["views let go", "views held"])
    @pytest.mark.parametrize("size", [3, 100, 1_000])
    def test_a_write_after_each_read_copies_two_entries_at_most_on_average(self, node, copied, size, held):
        """Whatever the size of the map, and whether a program keeps the views that it reads."""
        node.default["a"] = {f"k{number}": 0 for number in range(size)}
        node.default["a"]["k0"] = 1
        copied.clear()
        kept = []
        for number in range(3_000):
            kept.append(node["a"])
            node.default["a"][f"k{number % size}"] = number
            if not held:
                kept.clear()

        assert sum(copied) <= 2 * 3_000
        assert all(view["k0"] == (number and (number - 1) // size * size) for number, view in enumerate(kept[1:], 1))

    def test_writes_without_a_read_note_nothing(self, node):
        """What is replaced is kept for views only."""
        node.default["a"]["b"] = 0
        node["a"]["b"]
        for number in range(1_000):
            node.default["a"]["b"] = number
        assert len(tree_of(node, 2, "a").past) < 10

    def test_a_loaded_tree_is_owned_along_the_path_only(self, node):
        """Facts stay the frozen maps that they came as."""
        node.automatic = {"kernel": {"name": "Linux"}, "cpu": {"0": {"mhz": 1}}}
        node.automatic["kernel"]["name"] = "Other"

        assert type(tree_of(node, 15, "kernel")) is OwnedMap
        assert type(tree_of(node, 15, "cpu")) is dict
        assert contradictions_in(node) == []

    def test_the_serial_rises_with_every_change_and_with_no_question(self, node):
        """Writers tell by it whether their place may have moved."""
        serials = [ledger_of(node).serial]
        for change in (
            lambda: node.default.__setitem__("a", {"l": [1]}),
            lambda: node.default["a"]["l"].push(2),
            lambda: node.default["a"].delete("l"),
            lambda: setattr(node, "normal", {"n": 1}),
            lambda: node.rm("n"),
        ):
            change()
            serials.append(ledger_of(node).serial)
        (
            node.to_dict(),
            node.get("a"),
            node.explain("a"),
            node.snapshot(),
            node.default.read("a"),
            contradictions_in(node),
        )

        assert serials == sorted(set(serials))
        assert ledger_of(node).serial == serials[-1]


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
    held = ledger_of(node).view()
    node.default["a"] = 2
    return [] if held == {"a": 1} else [f"root view became {held}"]


def a_map_assigned_over_an_attribute_file() -> list[str]:
    """Law 2a in three lines."""
    node = Node("web1")
    with setting_as(node, "attribute file", "x"):
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
            wrong += contradictions_in(node)
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
    lambda node: walk(node, "a", "b"),
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


SCENARIOS: tuple[Callable[[], list[str]], ...] = (
    a_view_whose_parents_were_let_go,
    a_held_view_of_the_child_of_a_copy,
    a_view_held_by_one_name,
    the_root_view_held_by_one_name,
    a_map_assigned_over_an_attribute_file,
    a_read_after_a_write,
    a_writer_that_was_cut_off,
    a_view_taken_between_writes_beside_each_other,
)


def write_without_a_note(its, parent, key, value):
    """What a write replaces is lost."""
    parent[key] = value


def write_in_the_version_of_now(its):
    """Views go on to read the maps as they are."""
    its._version = its._view = None
    its.clear()


def write_beside_the_answers(its):
    """What the node has read stays."""
    if its._version is not None:
        its._version.is_old = True
        its._version = its._view = None


MUTANTS = {
    "a write notes nothing": lambda patch: patch.setattr(ledger.Ledger, "_set", write_without_a_note),
    "no version gets old": lambda patch: patch.setattr(ledger.Ledger, "_end_version", write_in_the_version_of_now),
    "an answer is kept": lambda patch: patch.setattr(ledger.Ledger, "_end_version", write_beside_the_answers),
    "marks are ignored": lambda patch: (
        patch.setitem(PAIR.kinds, AssignedMap, MAP),
        patch.setattr(PAIR, "cells", {}),
        patch.setattr(PAIR, "always", PAIR.always - {AssignedMap}),
    ),
    "recipes mark nothing": lambda patch: patch.setattr(component_tree, "AssignedMap", OwnedMap),
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_random_writes_leave_a_consistent_ledger(scenario):
    """Nothing is wrong."""
    assert scenario() == []


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_planted_fault_is_noticed(mutant, monkeypatch):
    """One scenario at least finds it, or the scenarios protect nothing."""
    MUTANTS[mutant](monkeypatch)

    assert any(scenario() for scenario in SCENARIOS), mutant


class TestHistory:
    def test_the_history_of_a_value_keeps_the_first_and_last_events(self):
        """And counts what lies between."""
        chronicle = Chronicle([Event("overwritten", 0, 0, 0)])
        for number in range(1, 100):
            chronicle.add(Event("overwritten", number, 0, 0))

        assert [event.value for event in chronicle.events] == [0, *range(101 - HISTORY_BOUND, 100)]
        assert chronicle.dropped == 100 - HISTORY_BOUND

    @settings(max_examples=examples(150))
    @given(st.integers(0, 30))
    def test_none_is_lost_from_the_count(self, times):
        """Kept and dropped together are all."""
        chronicle = Chronicle([Event("silent", 0, 0, 0)])
        for number in range(times):
            chronicle.add(Event("silent", number, 0, 0))

        assert len(chronicle.events) + chronicle.dropped == times + 1
        assert len(chronicle.events) <= HISTORY_BOUND

    def test_a_first_write_leaves_no_entry(self, node):
        """The tree itself is who speaks now; nothing is kept twice."""
        node.default["a"] = {"b": {"c": 1}}
        node.role_default["a"]["b"]["d"] = 2
        node.automatic = {"x": {"y": 1}}

        assert ledger_of(node).history == {}

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
        with setting_as(node, "attribute file", "x"):
            node.default["a"] = {"b": {"c": 1}, "l": [1]}
        node.default["a"]["b"]["d"] = 2
        node.override["a"]["b"]["c"] = 3
        node.default["a"]["l"].push(2)
        assert node["a"]["b"]["c"] == 3
        assert list(node["a"]) == ["b", "l"]
        assert contradictions_in(node) == []
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
            lambda node: ledger_of(node).trees.__setitem__(9, AssignedMap()),
            lambda node: cache_of(node["a"]["b"]).__setitem__("c", True),
            lambda node: cache_of(node["a"]).__setitem__("gone", 1),
            lambda node: ledger_of(node).__setitem__("a", 1),
            lambda node: ledger_of(node).__setitem__(("a", "b", "d"), 1),
            lambda node: ledger_of(node).history.setdefault(("a",), {}).__setitem__((2, True), _too_long()),
        ],
    )
    def test_the_check_of_a_ledger_notices_each_contradiction(self, full, harm):
        """One contradiction at a time."""
        harm(full)

        assert contradictions_in(full) != []

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
            assert contradictions_in(judged.node) == []
        for view, before in held:
            assert repr(view) == repr(before)


def _too_long() -> Chronicle:
    return Chronicle([Event("silent", 1, 0, 0)] * (HISTORY_BOUND + 1))


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
