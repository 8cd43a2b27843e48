"""The workloads of the benchmarks compute what they claim. No clock runs here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.benchmarks import __main__ as program
from tests.benchmarks import containers, workloads
from tests.benchmarks.bindings import graph_of, our_graph
from tests.benchmarks.figures import Figure
from tests.laws import laid

GROUPS = (workloads.COMPONENTS[:4], workloads.COMPONENTS[4:5], workloads.COMPONENTS[5:9], workloads.COMPONENTS[9:])


def obvious_merge() -> Any:
    """Chef's rules over the ten components, by the oracle of the laws."""
    result: Any = {}
    for names in GROUPS:
        group: Any = {}
        for name in names:
            group = laid(group, workloads.merge_input()[name], lists_unite=True)
        result = laid(result, group, lists_unite=False)
    return result


class TestMerge:
    def test_the_stored_digest_is_that_of_an_independent_merge(self):
        """
        Byte for byte, key order included; and the node's is the same.
        """
        assert workloads.digest(obvious_merge()) == workloads.MERGED_DIGEST == workloads.digest(workloads.fresh_merge())

    def test_a_life_ends_with_the_same_tree(self):
        """
        Written leaf by leaf, twice, with and without provenance.
        """
        kept, with_provenance = workloads.life(provenance=True)
        _, without = workloads.life(provenance=False)

        assert workloads.digest(with_provenance) == workloads.digest(without) == workloads.MERGED_DIGEST
        assert "workloads.py" in kept.explain(tuple(workloads.hot_path()))
        assert 1_802 == len(workloads.writes())

    def test_the_hot_leaf_is_read_from_both_trees(self):
        """
        Four steps down.
        """
        node = workloads.loaded(workloads.merge_input())

        assert 4 == len(workloads.hot_path())
        assert workloads.read_ten(node, 2) == workloads.read_ten(obvious_merge(), 2) == node.read(*workloads.hot_path())


class TestWriteAndRead:
    @pytest.mark.parametrize("shape", ["single", "spread"])
    @pytest.mark.parametrize("size", workloads.SIZES)
    @pytest.mark.parametrize("made", [workloads.write_read_node, workloads.wide_node])
    def test_every_write_is_read_and_its_neighbour_stays(self, made, size, shape):
        """
        As many leaves as promised at depth 4, all under one top-level key.
        """
        node = made(size, shape)
        found = list(workloads.leaves(node.to_dict()))
        assert size == len(found)
        assert {("app", 4)} == {(path[0], len(path)) for path, _ in found}
        assert (shape == "single") == (node.slots[4].to_dict() == {})

        assert "start" == workloads.write_and_read(node, 7)
        assert 6 == node["app"]["sec000"]["sub000"]["key0000"]
        assert size == len(list(workloads.leaves(node.to_dict())))

    def test_the_documents_ask_for_these_paths(self):
        """
        The loop spells them out; Chef was measured with the same.
        """
        for size in workloads.SIZES:
            document = workloads.document(f"chef-write-read-{size}.json")
            assert ["app", "sec000", "sub000", "key0000"] == document["write_path"]
            assert ["app", "sec000", "sub000", "key0001"] == document["read_path"]

    def test_views_that_are_kept_are_snapshots(self):
        """
        Each one shows the map as it was before its write.
        """
        kept = workloads.write_and_keep(workloads.wide_node(10, "single"), 5)

        assert [2, 3] == [view["key0000"] for view in kept]

    def test_one_element_more_each_time(self):
        """
        The list holds them all.
        """
        node = workloads.loaded({})
        workloads.append(node, 5)

        assert [0, 1, 2, 3, 4] == node["list"]


def figures(*values: float) -> Any:
    return {
        "node": lambda rounds: [Figure("one thing", value, "times", 1.5, "another", "40 times") for value in values]
    }


class TestJudging:
    @pytest.mark.parametrize(
        ("values", "code"), [((), 0), ((1.5,), 0), ((1.51,), 1), ((1.0, 2.0, 1.0), 1)]
    )  # fmt: skip
    def test_one_missed_bar_fails_the_run(self, monkeypatch, capsys, values, code):
        """
        And the table says which.
        """
        monkeypatch.setattr(program, "KINDS", figures(*values))

        assert code == program.main(["node"])
        assert code == capsys.readouterr().out.count("MISSED")

    def test_a_figure_without_a_bar_is_never_missed(self):
        """
        It is told, not judged.
        """
        assert not Figure("one thing", 1e9, "ms").missed

    def test_the_figures_are_data_too(self, monkeypatch, capsys):
        """
        For whoever keeps them.
        """
        monkeypatch.setattr(program, "KINDS", figures(2.0))
        program.main(["node", "--json"])
        (figure,) = json.loads(capsys.readouterr().out)["figures"]

        assert ("one thing", 2.0, 1.5, True) == (figure["name"], figure["value"], figure["bar"], figure["missed"])


class TestContainers:
    def test_all_twelve_tasks_work_in_no_more_lines_than_any_other_takes(self):
        """
        Beside each of the four that is installed.
        """
        for task, lines in containers.compared().items():
            assert lines["nodeattrs"] is not None, task
            assert lines["nodeattrs"] <= containers.least_of(lines), task

    def test_the_graph_is_made_whole(self):
        """
        Two hundred classes, each once, and anew for each request.
        """
        ask = our_graph(graph_of(200))
        first, second, third = ask(), ask(), ask()
        seen, waiting = set(), [third]
        while waiting:
            one = waiting.pop()
            seen.add(type(one).__name__)
            waiting.extend(vars(one).values())

        assert 200 == len(seen)
        assert len({id(first), id(second), id(third)}) == 3
