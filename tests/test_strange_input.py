"""Inputs and surroundings that once used up the machine, destroyed a device or ended in a fault of ours.

Each command runs in a process that would be killed after 8 s of processor time, and has 1.5 GiB.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from nodeattrs.cli import main
from nodeattrs.contract.request import Request
from nodeattrs.verbs.hover import hover
from nodeattrs.verbs.lines import FileLine, FolderLines
from tests.effort import EFFORT

InFolder = Callable[..., tuple[int, str, str]]

HIERA = "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n"
COLLIDING = [number * (2**61 - 1) for number in range(1, 20_001)]
DOCUMENTS: dict[str, tuple[dict[str, str], list[str]]] = {
    "many YAML documents": ({"a.yaml": "---\na: 1\n" * 20_000}, ["fold", "a.yaml"]),
    "continued lines of INI": ({"a.ini": "[a]\nb=1\n" + "  x\n" * 400_000}, ["fold", "a.ini"]),
    "integer keys that share a hash": (
        {"a.yaml": "".join(f"{number}: 1\n" for number in COLLIDING)}, ["fold", "a.yaml"],
    ),
    "integers that share a hash in a list": (
        {"hiera.yaml": HIERA, "data/c.yaml": json.dumps({"k": COLLIDING})},
        ["hiera", "lookup", "k", "--merge", "unique"],
    ),
    "unclosed expressions of Hiera": (
        {"hiera.yaml": HIERA, "data/c.yaml": "k: '" + "%{" * 100_000 + "'\n"}, ["hiera", "lookup", "k"],
    ),
    "a key that is written again": ({"a.yaml": "a: 1\n" * 20_000}, ["fold", "a.yaml"]),
}  # fmt: skip


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (8, 8))
    resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000,) * 2)


def child(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which $NA is the program."""
    environment = {**os.environ, "NA": f"{sys.executable} -P -m nodeattrs"}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, preexec_fn=limited
    )


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(("files", "words"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_ends_with_an_answer_or_an_error_of_ours(
    tmp_path: Path, files: dict[str, str], words: list[str]
) -> None:
    written(tmp_path, files)

    done = child(tmp_path, f"$NA {' '.join(words)} > out")

    assert done.returncode in (0, 1), done.stderr[-500:]
    assert "fault in nodeattrs" not in done.stderr
    assert "Traceback" not in done.stderr


def few_of(lines: list[str], more: list[str]) -> list[tuple[str, str]]:
    """Each line and each of what goes with it, by turns; all pairs in `make slow`."""
    if EFFORT >= 1:
        return [*itertools.product(lines, more)]
    return [*zip(itertools.cycle(lines), more, strict=False)]


ROLE = {"roles/web.json": '{"name": "web", "default_attributes": {"a": 1}}', "nodes/n.json": '{"name": "n"}'}


class TestStreams:
    @pytest.mark.parametrize(
        ("words", "closed"),
        [
            *few_of(["list roles", "show nobody"], [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&-", "<&- >&- 2>&-"]),
            ("check", "<&- >&- 2>&-"),
            ("fold roles/web.json", ">&-"),
        ],
    )
    def test_a_stream_that_is_closed_is_no_fault_of_ours(self, tmp_path: Path, words: str, closed: str) -> None:
        written(tmp_path, ROLE)

        done = child(tmp_path, f"$NA {words} {closed}")

        assert done.returncode in (0, 1), done
        assert "fault in nodeattrs" not in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("line", "before"),
        few_of(
            ["$NA list roles", "env -u HOME $NA check", "HOME=/nowhere $NA trust --list"],
            ["", "ulimit -n 24;", "export PYTHONOPTIMIZE=2;", "export TMPDIR=/nowhere;"],
        ),
    )
    def test_few_handles_no_home_and_optimised_python_are_no_fault_of_ours(
        self, tmp_path: Path, before: str, line: str
    ) -> None:
        written(tmp_path, ROLE)

        done = child(tmp_path, f"{before} {line}")

        assert done.returncode in (0, 1), done
        assert "fault in nodeattrs" not in done.stderr
        assert "Traceback" not in done.stderr


class TestOutputs:
    @pytest.mark.parametrize("line", ["check --baseline b --write-baseline", "report n --store s.db --output b"])
    def test_a_pipe_is_written_to_and_stays_a_pipe(self, tmp_path: Path, line: str) -> None:
        written(tmp_path, {**ROLE, "f.json": '{"platform": "debian"}'})
        if line.startswith("report"):
            child(tmp_path, "$NA run --node n --facts f.json --store s.db --quiet")
        os.mkfifo(tmp_path / "b")

        done = child(tmp_path, f"cat b > got & $NA {line}; wait")

        assert "fault in nodeattrs" not in done.stderr
        assert stat.S_ISFIFO((tmp_path / "b").stat().st_mode)
        assert (tmp_path / "got").stat().st_size > 0

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a device")
    def test_a_device_stays_a_device(self, tmp_path: Path) -> None:
        written(tmp_path, ROLE)
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))

        child(tmp_path, "$NA check --baseline null --write-baseline")

        assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


class TestSigns:
    """Signs that command a terminal, or turn the direction of text, come out as escapes."""

    SIGNS = "\u202e\u2066\u200f\u061c\x9b"

    @pytest.mark.parametrize("form", ["yaml", "json"])
    def test_a_merged_value_is_escaped_and_means_the_same(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.json").write_text(json.dumps({"k": f"a{self.SIGNS}b"}))

        assert main(["fold", "a.json", "--format", form]) == 0
        text = capsys.readouterr().out

        assert not set(self.SIGNS) & set(text)
        assert yaml.safe_load(text) == {"k": f"a{self.SIGNS}b"}

    @pytest.mark.parametrize("sign", [*SIGNS, "\x1b"])
    def test_a_value_that_env_cannot_escape_is_refused(self, in_folder: InFolder, sign: str) -> None:
        code, out, errors = in_folder({"a.json": json.dumps({"k": f"a{sign}b"})}, "fold", "a.json", "--format", "env")
        assert (code, out, "invisible" in errors, sign in errors) == (1, "", True, False)

    def test_the_name_of_a_chart_that_was_not_read_is_escaped(self, in_folder: InFolder) -> None:
        file = 'kind: Application\nmetadata: {name: r}\nspec: {source: {repoURL: x, chart: "c\\e[31m"}}\n'
        code, out, errors = in_folder({"apps.yaml": file}, "why", "k")
        assert (code, "c\\x1b[31m" in out, "\x1b" in out + errors) == (5, True, False)

    def test_the_name_of_a_file_is_escaped_in_an_annotation(self, in_folder: InFolder) -> None:
        chart = {"a\x1b[31m/Chart.yaml": "name: c", "a\x1b[31m/values.yaml": "k: 1\n"}
        _, out, _ = in_folder(chart, "check", ".", "--format", "github")
        assert ("file=a\\x1b[31m/values.yaml" in out, "\x1b" in out) == (True, False)

    @pytest.mark.parametrize("words", ["why k", "where i.yml:1", "hiera lookup k --hiera .", "ansible graph -i i.yml"])
    def test_a_name_is_on_one_line(self, in_folder: InFolder, words: str) -> None:
        """A log of CI would take the second line for a command."""
        name = "a\n::add-mask::b"
        files = {
            f"data/{name}.yaml": "k: [\n",
            "hiera.yaml": f"version: 5\nhierarchy: [{{name: a, path: {json.dumps(name + '.yaml')}}}]\n",
            "i.yml": json.dumps({"all": {"hosts": {name: None}, "children": {name: {"hosts": {"h": None}}}}}),
        }
        _, out, errors = in_folder(files, *words.split())
        assert "a\\n::add-mask" in out + errors
        assert "\n::add-mask" not in out + errors

    def test_a_name_has_no_effect_in_a_hover(self, in_folder: InFolder, tmp_path: Path) -> None:
        chart = {"![x](https:/evil.example)/Chart.yaml": "name: c", "![x](https:/evil.example)/values.yaml": "k: 1\n"}
        over = {"![x](https:/evil.example)/values-<b>.yaml": "k: 2\n"}
        in_folder(chart | over, "list", "subjects")
        lines = FolderLines(tmp_path, Request(str(tmp_path)))
        lines.look()
        for name in chart | over:
            text = hover(lines.at(FileLine(name, 1)), lines.count)
            assert "![x](" not in text
            assert "<b>" not in text

    def test_user_data_that_is_merged_is_escaped(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "ud").write_text("#cloud-config\nk: " + json.dumps(f"a{self.SIGNS}b") + "\n")

        assert main(["cloud-config", "merge", "ud"]) == 0
        text = capsys.readouterr().out

        assert not set(self.SIGNS) & set(text)
        assert yaml.safe_load(text) == {"k": f"a{self.SIGNS}b"}

    def test_markdown_mentions_nobody(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for side, value in (("old", "1"), ("new", "@everybody")):
            written(tmp_path / side, {"hiera.yaml": HIERA, "data/c.yaml": f"'@team': '{value}'\n"})

        main(["impact", "old", "new", "--no-run-code", "--format", "markdown"])
        text = re.sub(r"`[^`]*`", "", capsys.readouterr().out)  # in a code span nobody is mentioned

        assert "team" in text
        assert not re.search(r"@\w", text)
