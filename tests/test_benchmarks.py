"""The workloads of the benchmarks compute what they claim. No clock runs here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli.program import parser as commands_parser
from tests.benchmarks import __main__ as program
from tests.benchmarks import growth, workloads
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


class TestGrowth:
    """Of the table: no clock runs here either."""

    def commands(self, parser: argparse.ArgumentParser, above: str = "") -> Iterator[str]:
        """Every command that the parser takes, with its action."""
        below = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
        if not below:
            yield above
        for actions in below:
            for name, inner in actions.choices.items():
                yield from self.commands(inner, f"{above} {name}".strip())

    def test_each_command_has_a_row_or_a_reason(self):
        """
        And each row and reason is of a command that there is.
        """
        rows = {row.command for row in growth.ROWS} - {""}

        assert sorted(self.commands(commands_parser())) == sorted(rows | growth.NONE.keys())
        assert not rows & growth.NONE.keys()

    def test_no_two_rows_have_one_name(self):
        """
        Since that is what one is asked for.
        """
        assert len(growth.ROWS) == len({row.name for row in growth.ROWS})

    @pytest.mark.parametrize("row", growth.ROWS, ids=lambda row: row.name)
    def test_a_row_does_what_it_says(self, row: growth.Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        """
        At a small size: its input is read, and the exit code is an answer.
        """
        monkeypatch.chdir(tmp_path)
        row.make(tmp_path, 3)

        assert growth.perform(row, tmp_path, 3).memory >= 0

    def test_the_steepest_doubling_is_what_is_judged(self):
        """
        Not the mean.
        """
        assert 3 == growth._steepest([1.0, 2.0, 6.0])
