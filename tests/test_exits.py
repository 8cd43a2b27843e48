"""How commands end: one table of exit codes, and Ctrl-C at any moment without a traceback."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.cli.exits import EXITS

ROOT = Path(__file__).parents[1]

AT_IMPORT = """
import os, signal, sys
left, begun = int(os.environ["AT"]), False
def hook(event, arguments):
    global left, begun
    if event == "import":
        begun = begun or arguments[0] == os.environ["FROM"]
        left -= begun
        if left == 0:
            left = -1
            signal.raise_signal(signal.SIGINT)
sys.addaudithook(hook)
"""
AT_END = "import atexit, signal; atexit.register(signal.raise_signal, signal.SIGINT)"
IN_CALLBACK = """
import signal, sys
class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def hook(event, arguments):
    if event == "import" and arguments[0] == "nodeattrs.project.config":
        Dropped()
sys.addaudithook(hook)
"""


class TestTheTable:
    def test_the_page_and_the_help_have_all_of_it(self, capsys: pytest.CaptureFixture[str]):
        """
        Code, name and meaning.
        """
        assert 0 == main(["--help"])
        told = capsys.readouterr().out
        rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \|$", (ROOT / "docs/cli.md").read_text("utf-8"), re.MULTILINE)

        assert {code: (name, what.replace("|", "\\|")) for code, (name, what) in EXITS.items()} == {
            int(code): (name, what) for code, name, what in rows
        }
        for code, (name, what) in EXITS.items():
            assert re.search(rf"^ +{code}  {name} +{re.escape(what)}$", told, re.MULTILINE)

    def test_no_command_returns_a_number_of_its_own(self):
        """
        Beside 0 and 1, exit codes have the names of the table.
        """
        odd = [
            f"{file.name}:{node.lineno}"
            for file in (ROOT / "nodeattrs/cli").glob("*.py")
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and type(node.value.value) is int
            if node.value.value not in (0, 1) and file.name != "__init__.py"
        ]
        assert [] == odd


def interrupted(tmp_path: Path, customize: str, at: int = 0, *, installed: bool = False) -> tuple[int, str]:
    """How the program ends that is interrupted as the given code says, and what it says on stderr.

    installed: as the script of that name, which its first import knows
    """
    (tmp_path / "sitecustomize.py").write_text(customize)
    program = "import sys; from nodeattrs.cli import main; sys.exit(main())"
    script, begin = tmp_path / "nodeattrs", "nodeattrs._lazy" if installed else "nodeattrs.cli.interrupts"
    script.write_text(program)
    started = [script] if installed else ["-c", program]
    done = subprocess.run(
        [sys.executable, *started, "codes", "NA1203"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "AT": str(at), "FROM": begin},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


class TestCtrlC:
    @pytest.mark.parametrize("at", [1, 2, 3, 5, 9, 17, 33, 45])
    def test_while_it_starts(self, tmp_path: Path, at: int):
        """
        At the first import, the second, ...: 130, and no word.
        """
        assert (130, "") == interrupted(tmp_path, AT_IMPORT, at)

    @pytest.mark.parametrize("at", [1, 2, 3, 4, 8])
    def test_while_its_first_import_begins(self, tmp_path: Path, at: int):
        """
        Before `main` is there to be called.
        """
        assert (130, "") == interrupted(tmp_path, AT_IMPORT, at, installed=True)

    def test_the_interrupted_command_succeeds_without_ctrl_c(self, tmp_path: Path):
        """
        So that the test above is one.
        """
        assert (0, "") == interrupted(tmp_path, AT_IMPORT, 10_000)

    def test_while_it_ends(self, tmp_path: Path):
        """
        When all is done and said.
        """
        assert (130, "") == interrupted(tmp_path, AT_END)

    def test_in_a_callback_in_which_python_would_tell_of_it_and_go_on(self, tmp_path: Path):
        """
        It ends there.
        """
        assert (130, "") == interrupted(tmp_path, IN_CALLBACK)

    def test_a_caller_in_python_keeps_its_handler(self, capsys: pytest.CaptureFixture[str]):
        """
        Only the program itself is ended at once.
        """
        import signal

        before = signal.getsignal(signal.SIGINT)
        assert 0 == main(["codes", "NA1203"])
        assert before is signal.getsignal(signal.SIGINT)
