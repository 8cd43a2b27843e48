"""What is shipped for CI: hooks for pre-commit, an action, and the snippets of docs/in-ci.md."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs.cli import main
from nodeattrs.cli.program import parser
from tests.tutorials import programs_in

ROOT = Path(__file__).parents[1]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
SNIPPETS = [
    yaml.safe_load(block)
    for block in re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs/in-ci.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
]


def three_files(root: Path) -> Path:
    """A repository of three files, with a key twice."""
    files = {
        "roles/web.json": '{"name": "web", "run_list": ["role[base]"],\n "default_attributes": {"a": 1, "a": 2}}\n',
        "roles/base.yaml": "name: base\nrun_list: []\n",
        "environments/prod.yaml": "name: prod\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


class TestHooks:
    def test_each_is_what_pre_commit_asks_for(self):
        """
        An id, a name, a language, an entry; files by the root only, once for all of them.
        """
        assert {"nodeattrs-check", "nodeattrs-fix"} <= {hook["id"] for hook in HOOKS}
        for hook in HOOKS:
            assert {"id", "name", "entry", "language", "description"} <= hook.keys()
            assert ("python", "nodeattrs") == (hook["language"], hook["entry"].split()[0])
            assert re.compile(hook.get("files", ""))

    @pytest.mark.parametrize(
        "hook", [hook for hook in HOOKS if hook["entry"].startswith("nodeattrs check")], ids=lambda hook: hook["id"]
    )
    def test_the_command_of_each_hook_fails_and_then_succeeds(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: dict[str, Any]
    ):
        """
        The fixing one changes a file, which fails a commit, and ends well.
        """
        monkeypatch.chdir(three_files(tmp_path))
        before = Path("roles/web.json").read_text()
        words = shlex.split(hook["entry"])[1:]
        assert (1 if hook["id"] == "nodeattrs-check" else 0) == main(words)
        assert ("--fix" in words) == (before != Path("roles/web.json").read_text())
        assert 0 == main(["check", "--fix"])
        assert 0 == main(words)

    @pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed")
    def test_pre_commit_runs_them(self, tmp_path: Path):
        """
        On a repository of three files: it fails, mends, and passes. Installs what the hooks ask for.
        """
        root = three_files(tmp_path / "three")
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
        environment.pop("PYTHONPATH", None)
        run = ["pre-commit", "try-repo", str(ROOT), "--all-files"]
        came = []
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
        for _ in range(2):
            subprocess.run(["git", "add", "--all"], cwd=root, check=True)
            came.append(subprocess.run(run, cwd=root, env=environment, capture_output=True, text=True, check=False))
        assert [1, 0] == [one.returncode for one in came], came[0].stdout + came[1].stdout
        assert "repeated-key" in came[0].stdout
        assert "files were modified by this hook" in came[0].stdout


class TestAction:
    def test_no_input_becomes_a_part_of_a_script(self):
        """
        Somebody else's text is given as a variable, never pasted.
        """
        assert "composite" == ACTION["runs"]["using"]
        scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
        assert scripts
        assert not any("${{" in script for script in scripts)
        assert set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8"))) == set(ACTION["inputs"])

    def test_python_and_pip_of_the_installation_import_nothing_from_the_workspace(self):
        """
        `make slow` also runs them, in tests/test_package.py.
        """
        (step,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Install"]

        assert ["-I -m venv", "-I -m pip"] == [" ".join(shlex.split(line)[1:4]) for line in step["run"].splitlines()]

    def test_the_script_of_the_action_runs(self, tmp_path: Path):
        """
        Run as the action runs it, but for the installation.
        """
        three_files(tmp_path)
        (step,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Check"]
        programs_in(tmp_path / "runner/nodeattrs/bin")
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "PYTHONPATH": str(ROOT),
            "REPO": ".",
            "ARGUMENTS": "--ignore NA0305,NA0302",
        }
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (1, True) == (done.returncode, done.stdout.startswith("::warning file=roles/web.json,line=2")), (
            done.stderr
        )


class TestForStrangers:
    """In somebody else's repository, nothing is imported from its folder and nothing comes by a name that can move."""

    def test_every_action_is_pinned_by_commit_with_its_version_beside_it(self):
        """
        A tag can be moved to other code.
        """
        files = [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]
        used = [found for file in files for found in re.findall(r"\buses: *(.*)", file.read_text("utf-8"))]

        assert used
        assert [] == [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)]

    def test_no_page_starts_the_program_with_modules_of_the_current_folder(self):
        """
        `python -m` imports from there before our code runs, `python -P -m` does not.
        """
        files = [ROOT / name for name in ("README.md", "action.yml", ".pre-commit-hooks.yaml")]
        files += sorted((ROOT / "docs").rglob("*.md"))

        assert [] == [
            f"{file.relative_to(ROOT)}: {found}"
            for file in files
            for found in re.findall(r"python[\d.]* -m (?:nodeattrs(?!\.)|json\.tool).*", file.read_text("utf-8"))
        ]


class TestThePage:
    def test_its_snippets_are_yaml_and_the_workflow_may_only_read(self):
        """
        `pull_request`, and never the kind that has secrets.
        """
        precommit, github, impact, gitlab = SNIPPETS
        assert {hook["id"] for hook in HOOKS} == {hook["id"] for hook in precommit["repos"][0]["hooks"]}
        # YAML 1.1 reads the word `on` as true.
        assert ({"pull_request": None}, {"contents": "read"}) == (github[True], github["permissions"])
        assert {"contents": "read", "pull-requests": "write"} == impact["permissions"]
        for steps in (github["jobs"]["check"]["steps"], impact["jobs"]["impact"]["steps"]):
            assert set(steps[1]["with"]) <= set(ACTION["inputs"])
        assert "gl-code-quality-report.json" == gitlab["nodeattrs"]["artifacts"]["reports"]["codequality"]

    def test_every_command_of_its_snippets_is_understood(self):
        """
        By the parser of the program.
        """
        arguments = SNIPPETS[1]["jobs"]["check"]["steps"][1]["with"]["arguments"]
        for text in (f"nodeattrs check {arguments}", *SNIPPETS[3]["nodeattrs"]["script"]):
            if text.startswith("nodeattrs "):
                words = shlex.split(text.partition(">")[0])[1:]
                assert "check" == parser().parse_args(words).command
