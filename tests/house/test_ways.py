"""How long the ways through the house may be, and how big its pieces."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nodeattrs
from tests.house.ways import WAYS

ROOT = Path(nodeattrs.__file__).parent
ROOMS = ("core", "node", "adapters")


class TestWays:
    @pytest.mark.parametrize(
        ("way", "files", "back"), [("explain", 10, 40), ("cloud-config", 10, 999), ("save", 19, 999)]
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


def functions(file: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


class TestPieces:
    def test_no_function_is_tangled(self):
        """
        At most twelve ways through one.
        """
        command = [
            sys.executable,
            "-m",
            "ruff",
            "check",
            "--isolated",
            "--select",
            "C901",
            "--output-format",
            "concise",
        ]
        command += ["--config", "lint.mccabe.max-complexity=12", *(str(ROOT / room) for room in ROOMS)]

        done = subprocess.run(command, capture_output=True, text=True)

        assert 0 == done.returncode, done.stdout

    def test_most_functions_are_small(self):
        """
        Half of them have at most eight lines.
        """
        sizes = [
            one.end_lineno - one.lineno + 1
            for room in ROOMS
            for file in (ROOT / room).rglob("*.py")
            for one in functions(file)
            if one.end_lineno is not None
        ]

        assert statistics.median(sizes) <= 8
