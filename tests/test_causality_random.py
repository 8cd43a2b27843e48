"""Every explanation told the truth, on a few random inputs of each system and on the examples.

More of them: `python -m tests.causality [SYSTEM] --count N --seed S`.
"""

from __future__ import annotations

import shutil

import pytest

from tests.causality.runner import MOST_ASIDE, SYSTEMS, run
from tests.effort import EFFORT, examples

LONG = ("node",)
"""Systems whose examples take their time; tests/test_causality.py asks much of the same."""

MANY = 1_000
"""Of fewer settings the share that was set aside says little; the runner is stricter."""

COUNTS = {
    "node": 8,
    "wide": 3,
    "fold": 12,
    "rules": 8,
    "hiera": 4,
    "cloudinit": 6,
    "bindings": 4,
    "ruby": 3,
    "ansible": 4,
}

ONCE_FALSE = {
    "node": (
        80,
        175,
        226,
        251,
        275,
        322,
        200_728,
        1_200_588,
        1_200_805,
        1_500_611,
        1_501_053,
        1_501_259,
        1_700_168,
        1_700_554,
        2_100_152,
        3_201_008,
        3_201_028,
    ),
    "wide": (107,),
    "cloudinit": (1_500_002, 1_500_600),
}
"""Seeds of inputs of which an explanation, or the judge, was wrong."""

EACH = 1 if EFFORT >= 1 else 4
"""Every so many of these is asked."""


@pytest.mark.parametrize("name", SYSTEMS)
def test_explanations_of_random_inputs_are_true(name):
    """
    Another value on the line of a winner is read, one elsewhere is not; without the winner the next in line is.
    """
    if name == "ruby" and shutil.which("ruby") is None:
        pytest.skip("there is no ruby")
    report = run(SYSTEMS[name](), range(1, examples(COUNTS[name], fewest=1) + 1), examples=name not in LONG)

    assert not report.lines, f"python -m tests.causality {name}\n" + "\n".join(report.lines)
    assert report.passed.keys() >= {"a", "b", "c", "d"}
    assert report.aside <= MOST_ASIDE or report.figures["settings"] < MANY


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name, seeds in ONCE_FALSE.items() for seed in seeds[::EACH]]
)
def test_explanations_of_inputs_that_failed_once_are_true(name, seed):
    """
    Each of these inputs has found something.
    """
    report = run(SYSTEMS[name](), [seed])

    assert not report.lines, "\n".join(report.lines)
