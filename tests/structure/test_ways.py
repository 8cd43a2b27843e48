"""How many files a question may lead through, and how long a function may be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import nodeattrs
from tests.structure.ways import WAYS

ROOT = Path(nodeattrs.__file__).parent
LONGEST = 60
"""Lines of a function in `nodeattrs`."""


class TestWays:
    @pytest.mark.parametrize(
        ("way", "files", "back"),
        [("explain", 10, 40), ("cloud-config", 10, 999), ("save", 19, 999), ("lookup", 19, 120)],
    )
    def test_a_way_is_short(self, way: str, files: int, back: int):
        """
        Few files, and little to and fro; one of cloud-config's is the builder of YAML that three readers share. Trees,
        marks and Chef's document of a save are a file each: of these a run that changes nothing needs the first.
        """
        walked = WAYS[way]()

        assert len(walked.files) <= files, str(walked)
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
            for file in sorted(ROOT.rglob("*.py"))
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > LONGEST
        ]

        assert [] == long
