"""Who wins: sets of setters, and maps and lists by Hypothesis."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.node.running import setting_as
from nodeattrs.testing import layers, trees, values
from tests import model
from tests.effort import examples
from tests.model import COMPONENTS, SLOTS, in_vectors
from tests.vectors.chef_program import plain
from tests.vectors.values import difference

SPEAKERS = {"env_default": "environment", "env_override": "environment",
            "role_default": "role", "role_override": "role", "automatic": "facts"}  # fmt: skip


def say(node: Node, slot: int, key: str, value: Any) -> None:
    """Let the locator of a slot say a value at a top-level key."""
    component, locator = SLOTS[slot - 1]
    with setting_as(node, locator or SPEAKERS[component], "pottery"):
        getattr(node, component)[key] = value


def test_the_strongest_slot_wins_whoever_speaks_and_whenever():
    """
    For sets of setters, in a shuffled order: the highest slot is read, and the trace lists
    the others behind it, strongest first. `make slow` tries all 32,767 that there are.
    """
    shuffled = random.Random("fifteen slots")
    node = Node("node1")
    every = range(1, 2**15)
    for bits in shuffled.sample(every, min(examples(2**13), len(every))):
        slots = [slot for slot in range(1, 16) if bits >> (slot - 1) & 1]
        shuffled.shuffle(slots)
        key = f"k{bits}"
        for slot in slots:
            say(node, slot, key, f"set by {slot}")
        strongest, *others = sorted(slots, reverse=True)
        trace = node.trace((key,))

        assert node[key] == f"set by {strongest}", slots
        assert trace.winner.claim.rank == strongest, slots
        assert [loser.claim.rank for loser in trace.losers] == others, slots
        assert [loser.claim.value for loser in trace.losers] == [f"set by {slot}" for slot in others], slots


def fold(said: dict[int, Any]) -> Any:
    """What the model makes of one value a slot: a recipe's value hides its attribute file's."""
    components = dict.fromkeys(COMPONENTS, model.ABSENT)
    for slot in sorted(said):
        components[SLOTS[slot - 1][0]] = said[slot]
    return model.merged([components[name] for name in COMPONENTS])


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(st.integers(1, 15), values(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_maps_and_lists_of_any_slots_merge_as_the_model_says(said, shuffled):
    """Whole values, assigned in any order: attribute files first where a recipe speaks in the same component."""
    order = list(said)
    shuffled.shuffle(order)
    node = Node("node1")
    for slot in order:
        say(node, slot, "k", said[slot])

    assert difference(in_vectors({"k": fold(said)}), in_vectors(plain(node))) is None


@settings(max_examples=examples(300), deadline=None)
@given(layers())
def test_layers_of_whole_trees_merge_as_the_model_says(said):
    """Every top-level key of every layer, written by the locator of its slot."""
    node = Node("node1")
    alone = model.Fifteen()
    for slot, tree in said.items():
        component, locator = SLOTS[slot - 1]
        for key, value in tree.items():
            say(node, slot, key, value)
            alone.store(component, locator or "", (key,), value)

    assert difference(in_vectors(alone.tree()), in_vectors(plain(node))) is None


@settings(max_examples=examples(100), deadline=None)
@given(trees(), trees())
def test_a_stronger_layer_is_always_read_back(weaker, stronger):
    """Whatever stands below, a list or scalar of the strongest slot is read as it was said."""
    node = Node("node1")
    for key, value in weaker.items():
        say(node, 1, key, value)
    for key, value in stronger.items():
        say(node, 15, key, value)

    for key, value in stronger.items():
        if not isinstance(value, dict):
            assert difference(in_vectors({key: value}), in_vectors({key: plain(node[key])})) is None
