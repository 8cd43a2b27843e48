"""Where odd data is read otherwise than by Puppet: each row of docs/differences.md with its smallest input.

That Puppet differs, and that a row's rule finds it, is asked of Puppet itself by `python -m tests.oracles.hiera odd`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracles.hiera_odd import ROWS, Row, smallest
from tests.vectors.values import spelled

PAGE = (Path(__file__).parent.parent / "docs" / "differences.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_a_smallest_input_and_what_we_answer_to_it(row: Row):
    assert PAGE.count(f"\n| {row.name}") == 1
    answer = smallest(row)
    assert answer == row.ours if isinstance(row.ours, tuple) else spelled(answer) == spelled(row.ours)
