"""How commands and operations grow: the table has all of them, and each row does what it says. No clock runs here."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodeattrs.cli.program import parser as commands_parser
from tests.benchmarks import growth


class TestGrowth:
    """The table."""

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
