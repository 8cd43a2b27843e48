"""How often a question may go back to a file that it had left, and how long a function may be."""

from __future__ import annotations

import ast

import pytest

from tests.structure.sources import ROOT, trees
from tests.structure.statements import statements
from tests.structure.ways import WAYS

LONGEST = 60
"""Lines of a function in `nodeattrs`."""


class TestWays:
    @pytest.mark.parametrize(
        ("way", "back"),
        [("explain", 40), ("cloud-config", 60), ("save", 80), ("lookup", 48), ("first lookup", 219)],
    )
    def test_a_way_returns_to_few_files(self, way: str, back: int):
        """
        How often a question goes back to a file that it had left. `python -m tests.structure.ways` also shows the
        files.
        """
        walked = WAYS[way]()

        assert walked.back <= back, str(walked)

    def test_every_way_can_be_walked(self):
        """
        And is one: it begins at a question and calls something of ours.
        """
        for walk in WAYS.values():
            assert len(walk().calls) > 1


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function, its docstring not counted."""
    written = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    first = function.body[0]
    if ast.get_docstring(function) is None or first.end_lineno is None:
        return len(written)
    return len(written) - (first.end_lineno - first.lineno + 1)


class TestFunctions:
    def test_no_function_has_more_than_sixty_lines(self):
        """
        Ruff counts the branches of each (`max-complexity` in pyproject.toml).
        """
        long = [
            f"{file.relative_to(ROOT)}:{node.lineno}: {node.name} has {lines_of(node)} lines"
            for file, tree in trees().items()
            for node in statements(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > LONGEST
        ]

        assert [] == long

    def test_no_module_has_more_than_900_lines(self):
        assert [] == [
            str(file.relative_to(ROOT))
            for file in sorted(ROOT.rglob("*.py"))
            if len(file.read_text("utf-8").splitlines()) > 900
        ]
