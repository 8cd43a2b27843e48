"""Child processes: one module starts them, and what it starts takes nothing from the current folder."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

import pytest

import nodeattrs
from nodeattrs import children
from nodeattrs.errors import TooMuch
from nodeattrs.workers.batches import each

ROOT = Path(nodeattrs.__file__).parent
STARTERS = {"Popen", "run", "call", "check_call", "check_output", "system", "popen", "posix_spawn", "execv", "spawnv"}


def python(text: str, folder: Path, **limits: float) -> children.FinishedProgram:
    how = {"seconds": 20.0, "most_bytes": 1000, **limits}
    return children.run([sys.executable, "-c", text], env=children.environment(), folder=folder, **how)  # type: ignore[arg-type]


class TestTheSmallEnvironment:
    def test_a_python_child_imports_nothing_from_the_current_folder(self, tmp_path: Path) -> None:
        (tmp_path / "json.py").write_text("print('ran')\n")

        assert python("import json", tmp_path).output == b""

    def test_a_child_gets_no_secret_of_the_caller(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("PGPASSWORD", "GIT_SSH_COMMAND", "PYTHONPATH", "LD_PRELOAD"):
            monkeypatch.setenv(name, "")

        seen = python("import os; print(*os.environ)", tmp_path).output.decode().split()

        assert not {"PGPASSWORD", "GIT_SSH_COMMAND", "PYTHONPATH", "LD_PRELOAD"} & {*seen}

    def test_relative_places_of_path_are_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", os.pathsep.join([".", "", "bin", "/usr/bin"]))

        assert children.environment()["PATH"] == "/usr/bin"


class TestLimits:
    def test_a_child_that_prints_too_much_is_ended(self, tmp_path: Path) -> None:
        with pytest.raises(TooMuch, match="printed more than 1,000 bytes"):
            python("while True: print('x' * 1000)", tmp_path)

    def test_a_child_that_does_not_end_is_ended_although_its_own_child_keeps_the_output_open(
        self, tmp_path: Path
    ) -> None:
        text = "import os, time; print(os.fork(), flush=True); time.sleep(5)"

        with pytest.raises(TooMuch, match="did not end within"):
            python(text, tmp_path, seconds=0.5)


def variable(name: str) -> str | None:
    return os.environ.get(name)


class TestProcessPools:
    @pytest.mark.parametrize("value", [None, "1"])
    def test_programs_of_a_worker_import_as_the_caller_has_it(
        self, monkeypatch: pytest.MonkeyPatch, value: str | None
    ) -> None:
        monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
        if value is not None:
            monkeypatch.setenv("PYTHONSAFEPATH", value)

        assert list(each(variable, ["PYTHONSAFEPATH"] * 2, jobs=2)) == [value, value]
        assert os.environ.get("PYTHONSAFEPATH") == value


def test_no_other_module_starts_a_program() -> None:
    found = []
    texts = {file: file.read_text(encoding="utf-8") for file in ROOT.rglob("*.py")}
    for file in (file for file, text in texts.items() if any(f".{name}(" in text for name in STARTERS)):
        for node in ast.walk(ast.parse(texts[file])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STARTERS:
                owner = node.func.value
                if isinstance(owner, ast.Name) and owner.id in ("subprocess", "os", "anyio"):
                    found.append(f"{file.relative_to(ROOT)}: {owner.id}.{node.func.attr}")
    assert found == ["children.py: subprocess.Popen"]
