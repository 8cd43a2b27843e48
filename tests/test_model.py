"""The model is judged first, by what the real Chef answered; then it judges the node.

The laws are those of docs/merging.md, "attribute file and recipe"; programs come from
`nodeattrs.testing`, whose alphabets are so small that nearly everything collides.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.node.running import setting_as, walk
from nodeattrs.testing import COMPONENTS, paths, programs, values
from tests import model
from tests.effort import examples
from tests.model import DEFAULTS, OVERRIDES, Fifteen, Model, ModelError, Said, found, in_vectors
from tests.sane import contradictions_in
from tests.vectors.cases import HERE, cases_of
from tests.vectors.chef_program import Program, plain
from tests.vectors.values import decoded, difference

RUN_LEVEL = {
    "consume_external", "consume_ohai", "environment", "expand", "for_json", "json_text", "next_run",
    "peer_api", "reload", "run_list", "save", "tag", "tags", "to_hash", "untag",
}  # fmt: skip

CASES = [
    case
    for case in cases_of(HERE / "chef-attributes.jsonl")
    if not RUN_LEVEL & {operation["op"] for operation in case["ops"]}
]


def answer(judge: Model, operation: dict[str, Any]) -> dict[str, Any]:
    """What the model answers, as the vectors write it."""
    operation = decoded(operation, model.Symbol, lambda path: model.Deferred(tuple(path)))
    try:
        return {"ok": in_vectors(judge.perform(operation))}
    except ModelError as error:
        return {"error": error.kind}


def state(judge: Model) -> dict[str, Any]:
    """What the model holds, as the vectors write it."""
    return {
        "merged": in_vectors(judge.tree()),
        "combined_default": in_vectors(judge.combined(DEFAULTS)),
        "combined_override": in_vectors(judge.combined(OVERRIDES)),
        "slots": in_vectors(judge.components()),
    }


class TestTheModel:
    def test_the_vectors_leave_it_enough_to_answer(self):
        """All but the programs that load, save or expand are judged."""
        assert len(CASES) == 334

    @pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
    def test_the_model_answers_as_chef_does(self, case):
        """
        Every result, the merged tree, both combined levels and all ten sources are Chef's,
        types and order of keys included.
        """
        judge = Model()
        answers = [answer(judge, operation) for operation in case["ops"]]

        expected = dict(case["expect"])
        expected["results"] = [{k: v for k, v in result.items() if k != "peer"} for result in expected["results"]]
        assert difference(expected, {"results": answers, **state(judge)}) is None


def through(view: Any) -> Any:
    """Everything in a view, read key by key as a recipe would."""
    if isinstance(view, Mapping):
        return {key: through(view[key]) for key in view}
    if isinstance(view, Sequence) and not isinstance(view, str):
        return [through(element) for element in view]
    return view


class Keepsakes:
    """Views that a program was handed, each with what it showed then.

    What the view shows is taken from the model, so that the view itself may stay unread.
    """

    def __init__(self) -> None:
        self.read: list[tuple[Any, Any]] = []
        self.unread: list[tuple[Any, Any]] = []

    def keep(self, program: Program, judge: Model, which: int, unread: bool) -> None:
        """Keep the view of one of the maps and lists that are there, `which` counts them."""
        tree = judge.tree()
        containers = list(containers_in(tree))
        path = containers[which % len(containers)]
        # The views of the parents are let go as soon as the walk is over.
        pair = walk(program.node, *path), copy.deepcopy(found(tree, path))
        (self.unread if unread else self.read).append(pair)

    def check(self) -> None:
        for view, expected in self.read:
            assert difference({"view": in_vectors(expected)}, {"view": in_vectors(through(view))}) is None

    def check_all(self) -> None:
        self.read += self.unread
        self.check()


def containers_in(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all maps and lists, the root first."""
    if isinstance(tree, dict | list):
        yield path
        for step, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from containers_in(inner, (*path, step))


looks = st.none() | st.tuples(st.integers(0, 9), st.booleans())
"""After a step: keep no view, or keep one, to be read after every step or not before the end."""


class TestPrograms:
    @settings(max_examples=examples(200), deadline=None)
    @given(programs(min_size=4), st.lists(looks, max_size=12), st.booleans())
    def test_a_node_does_what_the_model_does(self, program, keep, whole):
        """
        Law 2a: attribute files, then recipes. After every step the node answers as the model, holds
        what it holds, shows in views of before what they showed, and contradicts itself nowhere.
        """
        run(program, keep, whole)

    @settings(max_examples=examples(200), deadline=None)
    @given(
        programs(min_size=10, max_size=20, keys=("a", "b"), scalars=(1, None)),
        st.lists(looks, max_size=20),
        st.booleans(),
    )
    def test_long_programs_over_two_keys_agree_with_the_model(self, program, keep, whole):
        """The same, with two keys and longer programs: nearly every step meets what another one left."""
        run(program, keep, whole)

    @settings(max_examples=examples(200), deadline=None)
    @given(
        programs(
            min_size=6,
            max_size=20,
            keys=("a", "b"),
            scalars=(1, 2),
            verbs=("set", "delete", "replace_slot", "hash", "array"),
            components=("default", "override"),
        ),
        st.lists(looks, min_size=6, max_size=20),
    )
    def test_views_that_are_kept_never_change(self, program, keep):
        """The same with writes only, two components and no reads in between but through the views that are kept."""
        run(program, keep, whole=False)


NAMES = st.sampled_from(["v", "w"])
held_steps = st.one_of(
    st.builds(lambda name, slot, path: {"op": "hold", "name": name, "slot": slot, "path": [*path]},
              NAMES, st.sampled_from(["default", "override"]), paths(("a", "b"), 1, 2)),
    st.builds(lambda name, path: {"op": "held_get", "name": name, "path": [*path]}, NAMES, paths(("a", "b"), 0, 2)),
    st.builds(lambda name, path, value: {"op": "held_set", "name": name, "path": [*path], "value": value},
              NAMES, paths(("a", "b"), 1, 2), values(("a", "b"), (1, None))),
    st.builds(lambda name, value: {"op": "held_array", "name": name, "path": [], "method": "append", "args": [value]},
              NAMES, values(("a", "b"), (1, None))),
)  # fmt: skip
"""Steps that keep a writer and use it later."""

some_steps = programs(max_size=1, keys=("a", "b"), scalars=(1, None), verbs=("set", "delete", "replace_slot", "hash"))


class TestWriters:
    @settings(max_examples=examples(150), deadline=None)
    @given(
        st.lists(held_steps | some_steps.map(lambda program: program[0]), min_size=5, max_size=15),
        st.sampled_from(["attribute file", "recipe"]),
    )
    def test_a_writer_that_is_kept_is_live_until_its_place_is_replaced(self, steps, locator):
        """
        It sees and changes its map or list as long as that stands where it stood; afterwards it keeps
        the old content to itself. One locator: no law covers writers that change hands.
        """
        program = [{**step, "speaker": locator} for step in steps]
        run(program, [], whole=True)


def run(program: list[dict[str, Any]], keep: list[Any], whole: bool) -> None:
    """Perform a program on a node and on the model, and compare.

    whole: compare everything after each step, not only at the end. Reading leaves traces inside: caches
           are filled, maps are marked as looked at; so half of the programs run unobserved.
    """
    judged, judge, kept = Program(), Model(), Keepsakes()
    for number, step in enumerate(program):
        if step["op"].startswith("held_") and step["name"] not in judge.held:
            continue
        operation = {name: value for name, value in step.items() if name != "speaker"}
        expected = answer(judge, operation)
        got = judged.answer(operation, step["speaker"])
        assert difference(expected, got) is None, (number, step)
        assert contradictions_in(judged.node) == []
        if whole:
            assert difference(state(judge), judged.state()) is None, (number, step)
            assert difference(in_vectors(judge.tree()), in_vectors(through(judged.node))) is None, (number, step)
        kept.check()
        if number < len(keep) and keep[number] is not None:
            kept.keep(judged, judge, *keep[number])
    assert difference(in_vectors(judge.tree()), in_vectors(through(judged.node))) is None
    assert difference(state(judge), judged.state()) is None
    kept.check_all()
    assert contradictions_in(judged.node) == []


def test_a_view_of_a_branch_outlives_the_branch():
    """
    A view whose parents were let go is found again by no cache; what it joins must be left alone
    all the same, whichever slot is written.
    """
    node = Node("node1")
    node.default["a"]["b"]["c"] = 1
    node.override["a"]["b"]["d"] = 2
    held = node["a"]["b"]

    node.default["a"] = {"x": 1}
    node.override["a"]["b"]["d"] = 3

    assert held == {"c": 1, "d": 2}
    assert node["a"] == {"x": 1, "b": {"d": 3}}


@pytest.mark.parametrize("remove", ["rm", "rm_default", "force_default_full"])
def test_removing_reaches_what_nobody_can_read(remove):
    """
    Chef asks the merged view only whether the parent is a map. A value below it that a scalar hides
    is removed too, though there was nothing to return.
    """
    node = Node("node1")
    node.default["a"]["b"] = 1
    node.role_default["a"] = 5
    node.force_default["a"] = {"c": 1}

    if remove == "force_default_full":
        node.force_default_full("a", "b", 2)
    else:
        assert getattr(node, remove)("a", "b") is None

    assert node.default.to_dict() == {"a": {}}


stores = st.lists(
    st.tuples(
        st.sampled_from(COMPONENTS),
        st.sampled_from(["attribute file", "recipe"]),
        paths(),
        values(),
    ),
    max_size=12,
)


class TestAttributeFileAndRecipe:
    @settings(max_examples=examples(200), deadline=None)
    @given(stores)
    def test_the_order_of_writing_makes_no_difference_between_them(self, said):
        """
        Law 2b: stores through an index chain, of which none raises and none steps into a list, come
        to the fold of fifteen trees, each built alone from what its own slot said.
        """
        node, alone = Node("node1"), Fifteen()
        for component, locator, path, value in said:
            if not _is_within_the_law(alone, component, locator, path):
                continue
            alone.store(component, locator, path, value)
            with setting_as(node, locator, "cookbook"):
                writer = getattr(node, component)
                for key in path[:-1]:
                    writer = writer[key]
                writer[path[-1]] = value

        assert difference(in_vectors(alone.tree()), in_vectors(plain(node))) is None
        assert difference(in_vectors(alone.tree()), in_vectors(through(node))) is None
        assert contradictions_in(node) == []

    @settings(max_examples=examples(150), deadline=None)
    @given(programs(min_size=4, interleaved=True))
    def test_fifteen_trees_and_their_marks_are_the_node(self, program):
        """Law 2c: whatever was done, in whatever order, folding `node.slots` gives what is read."""
        judged = Program()
        for step in program:
            operation = {name: value for name, value in step.items() if name != "speaker"}
            judged.answer(operation, step["speaker"])

        fifteen = Fifteen()
        fifteen.slots = [marked(judged.node.slots[number]) for number in range(1, 16)]

        assert difference(in_vectors(fifteen.tree()), in_vectors(plain(judged.node))) is None


def marked(slot: Any) -> Said:
    """The tree of a slot, with its "assigned" marks, as the model holds one."""
    tree = model.said(slot.to_dict(evaluate=False))
    for path in slot.assigned:
        found(tree, path).replaces = True
    return tree


class TestLawsWeDoNotHave:
    """
    Law 2b ends where law 2a begins: each of these comes out otherwise in the other order, and must,
    since Chef's one tree answers the order in which attribute files come first.
    """

    @staticmethod
    def both_orders(by_file, by_recipe):
        seen = []
        for order in ((0, 1), (1, 0)):
            node = Node("node1")
            for turn in order:
                speaking = setting_as(node, ("attribute file", "recipe")[turn], "pottery")
                with speaking, contextlib.suppress(TypeError):  # 5[...] is Python's own to refuse
                    (by_file, by_recipe)[turn](node)
            seen.append(node.to_dict())
        return seen

    def test_a_store_that_raises(self):
        """A recipe cannot step into the attribute file's number; into nothing it can."""

        def by_recipe(node):
            node.default["a"]["b"] = 1

        assert self.both_orders(lambda node: node.write("default", "a", 5), by_recipe) == [{"a": 5}, {"a": {"b": 1}}]

    def test_a_write_into_a_list(self):
        """Written into the attribute file's list, it is an element; written first, it is an entry of a map."""
        orders = self.both_orders(
            lambda node: node.write("default", "a", []), lambda node: node.write("default", "a", 0, "x")
        )

        assert orders == [{"a": ["x"]}, {"a": {0: "x"}}]

    def test_a_write_and_a_deletion_do_not_commute(self):
        """What a recipe deletes is gone from both; what comes later is there."""
        orders = self.both_orders(lambda node: node.write("default", "a", 1), lambda node: node.unlink("default", "a"))

        assert orders == [{}, {"a": 1}]

    def test_a_read_that_creates(self):
        """Stepping to an absent key of a level leaves an empty map there."""
        orders = self.both_orders(lambda node: node.write("default", "a", 5), lambda node: node.default["a"])

        assert orders == [{"a": 5}, {"a": {}}]

    def test_fifteen_trees_without_their_marks(self):
        """Two nodes whose slots hold the same plain trees, and that read differently: the mark belongs to the tree."""
        walked, assigned = Node("node1"), Node("node1")
        for node in (walked, assigned):
            with setting_as(node, "attribute file", "pottery"):
                node.default["a"]["x"] = 1
        walked.default["a"]["y"] = 2
        assigned.default["a"] = {"y": 2}

        assert [walked.slots[n].to_dict() for n in (1, 2)] == [assigned.slots[n].to_dict() for n in (1, 2)]
        assert walked["a"] == {"x": 1, "y": 2}
        assert assigned["a"] == {"y": 2}


def _is_within_the_law(alone: Fifteen, component: str, locator: str, path: tuple[Any, ...]) -> bool:
    """Whether the store meets nothing but maps on its way, in its own slot and in what its locator sees."""
    file = dict(zip(COMPONENTS, alone.components(), strict=True))[component]
    own = alone.slots[model.slot_of(component, locator)]
    seen = (own, file) if locator == "recipe" else (own,)
    return all(
        isinstance(found(tree, path[:depth]), dict) or found(tree, path[:depth]) is model.ABSENT
        for tree in seen
        for depth in range(1, len(path))
    )
