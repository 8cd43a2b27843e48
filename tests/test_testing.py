"""`nodeattrs.testing` where Hypothesis is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

_WITHOUT = "import sys; sys.modules['hypothesis'] = None\nimport nodeattrs.testing as testing\n"


def printed(code: str) -> str:
    """What a program prints that cannot import Hypothesis. A process of its own: pytest's plugin imports it, too."""
    command = [sys.executable, "-c", _WITHOUT + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_module_imports_without_hypothesis_and_gives_its_alphabets():
    assert "('a', 'b', 'c', 0) force_override" == printed("print(testing.KEYS, testing.COMPONENTS[8])")


@pytest.mark.parametrize("strategy", ["values", "trees", "paths", "layers", "programs"])
def test_a_strategy_without_hypothesis_names_the_extra(strategy):
    code = f"try: testing.{strategy}()\nexcept Exception as error: print(type(error).__name__, error.hint)"

    assert "MissingExtra install it with: pip install 'nodeattrs[dev]'" == printed(code)
