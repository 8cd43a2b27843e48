"""The border of a repository: what a stranger's files name is read inside of it, and nowhere else."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs.border import Border, held, in_force, is_outside, narrowed, widened
from nodeattrs.cli import main, program
from nodeattrs.cli.border import NAMING, OPENING, border_of, root_of
from nodeattrs.dialects import all_dialects
from tests.on_disk import repository

MARKER = "outer-marker-4711"
HIERA = "version: 5\nhierarchy:\n- {name: c, path: common.yaml}\n"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A repository, which is the current folder, and a folder beside it."""
    repo, outer = tmp_path / "repo", tmp_path / "outer"
    for folder in (repo, outer):
        folder.mkdir()
    (outer / "a.yaml").write_text(f"k: {MARKER}\n")
    (outer / "a.json").write_text(json.dumps({"name": "a", "k": MARKER}))
    (repo / "a.yaml").write_text("k: 1\n")
    monkeypatch.chdir(repo)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return repo, outer


class TestWhatIsInside:
    @pytest.mark.parametrize(
        ("path", "fault"),
        [
            ("a.yaml", ""),
            ("missing.yaml", ""),
            ("link-inside.yaml", ""),
            ("../repo/a.yaml", ""),
            ("../outer/a.yaml", "lies outside of the repository"),
            ("link-outside.yaml", "lies outside of the repository"),
            ("folder-outside/a.yaml", "lies outside of the repository"),
            ("chain.yaml", "lies outside of the repository"),
            ("/proc/self/environ", "lies outside of the repository"),
            ("environ.yaml", "lies outside of the repository"),
            ("/dev/zero", "lies outside of the repository"),
            ("/dev/null", ""),
            (".git/config", "belongs to Git"),
            ("pipe", "is not a regular file"),
        ],
    )
    def test_a_path_is_judged_by_where_it_leads(self, folders: tuple[Path, Path], path: str, fault: str) -> None:
        repo, outer = folders
        for name, target in {
            "link-inside.yaml": "a.yaml",
            "link-outside.yaml": outer / "a.yaml",
            "folder-outside": outer,
            "chain.yaml": "link-outside.yaml",
            "environ.yaml": "/proc/self/environ",
        }.items():
            (repo / name).symlink_to(target)
        (repo / ".git").mkdir()
        os.mkfifo(repo / "pipe")

        assert Border([repo]).fault(path) == fault

    def test_what_the_caller_names_outside_may_be_a_pipe_and_inside_no_link_that_leads_out(
        self, folders: tuple[Path, Path]
    ) -> None:
        repo, outer = folders
        os.mkfifo(outer / "pipe")
        (repo / "link.yaml").symlink_to(outer / "a.yaml")
        border = Border([repo], [outer / "pipe", repo / "link.yaml", "/dev/stdin"])

        assert border.fault(str(outer / "pipe")) == border.fault("/dev/stdin") == ""
        assert border.fault("link.yaml") == "lies outside of the repository"

    def test_a_folder_that_becomes_a_link_to_the_outside_is_refused_from_then_on(
        self, folders: tuple[Path, Path]
    ) -> None:
        repo, outer = folders
        (repo / "data").mkdir()
        (repo / "data" / "a.yaml").write_text("k: 1\n")
        border = Border([repo])
        before = border.fault("data/a.yaml")
        (repo / "data").rename(repo / "earlier")
        (repo / "data").symlink_to(outer)

        assert (before, border.fault("data/a.yaml")) == ("", "lies outside of the repository")

    @pytest.mark.parametrize(
        "read",
        [
            lambda outer: (outer / "a.yaml").read_text(),
            lambda outer: os.open(outer / "a.yaml", os.O_RDONLY),
            lambda outer: os.listdir(outer),
            lambda outer: list(os.scandir(outer)),
            lambda outer: list(outer.iterdir()),
            lambda outer: sqlite3.connect(f"file://{outer}/a.db?mode=ro", uri=True),
        ],
        ids=["open", "os.open", "listdir", "scandir", "iterdir", "sqlite"],
    )
    def test_python_refuses_each_way_to_read_what_lies_outside(self, folders: tuple[Path, Path], read) -> None:
        repo, outer = folders
        with held(Border([repo])), pytest.raises(PermissionError, match="lies outside of the repository"):
            read(outer)

    def test_a_border_that_is_open_refuses_nothing_and_still_says_what_lies_outside(
        self, folders: tuple[Path, Path]
    ) -> None:
        repo, outer = folders
        with held(Border([repo], is_closed=False)):
            assert MARKER in (outer / "a.yaml").read_text()
            assert is_outside(outer / "a.yaml")

    def test_new_files_and_libraries_are_inside(self, folders: tuple[Path, Path], tmp_path: Path) -> None:
        with held(Border([folders[0]])):
            os.close(os.open(tmp_path / "new", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            assert Path(argparse.__file__).read_text()
            assert Path(pytest.__file__).read_text()

    def test_blocks_change_the_border_and_give_it_back(self, folders: tuple[Path, Path]) -> None:
        repo, outer = folders
        with held(Border([repo])):
            with widened(outer):
                assert not is_outside(outer / "a.yaml")
                with narrowed(outer):
                    assert is_outside(repo / "a.yaml")
            assert is_outside(outer / "a.yaml")
        assert in_force() is None


class TestTheRootOfARepository:
    def test_it_is_the_work_tree_of_git_or_the_folder(self, folders: tuple[Path, Path]) -> None:
        repo, outer = folders
        (repo / ".git").mkdir()
        (repo / "sub").mkdir()

        assert root_of("sub") == root_of("a.yaml") == str(repo)
        assert root_of(str(outer / "a.yaml")) == str(outer)

    @pytest.mark.parametrize("has_git", [True, False])
    def test_a_link_of_the_repository_is_not_followed(self, folders: tuple[Path, Path], has_git: bool) -> None:
        repo, outer = folders
        if has_git:
            (repo / ".git").mkdir()
        (repo / "inventory").symlink_to(outer)

        assert root_of("inventory") == root_of("inventory/a.yaml") == str(repo)

    def test_a_link_of_the_user_to_a_repository_is_followed(self, folders: tuple[Path, Path], tmp_path: Path) -> None:
        (tmp_path / "current").symlink_to(folders[0])

        assert root_of(str(tmp_path / "current")) == str(folders[0])

    def test_a_place_that_is_not_there_opens_nothing(self, folders: tuple[Path, Path]) -> None:
        border = border_of(argparse.Namespace(repo="/nowhere/at/all"), is_closed=True)

        assert border is not None
        assert border.roots == (str(folders[0]), str(folders[0] / ".nodeattrs"))

    def test_a_link_to_our_own_folder_opens_nothing(self, folders: tuple[Path, Path]) -> None:
        repo, outer = folders
        (repo / ".nodeattrs").symlink_to(outer)
        border = border_of(argparse.Namespace(), is_closed=True)

        assert border is not None
        assert border.roots == (str(repo),)

    def test_each_option_that_names_a_file_is_in_a_table(self) -> None:
        words = ("FILE", "DIR", "PLACE", "FOLDER", "SOURCE")
        known = {*OPENING, *NAMING, "allow_path", "root"}  # the root is where a catalog is applied
        known |= {one.option.name.lstrip("-") for one in all_dialects().values() if one.option is not None}
        left = set()
        ahead = [program.parser(name)._subparsers._group_actions[0].choices[name] for name in program.summaries()]
        while ahead:
            for action in ahead.pop()._actions:
                if isinstance(action, argparse._SubParsersAction):
                    ahead += action.choices.values()
                elif (
                    action.dest not in known
                    and not action.dest.startswith("place_")
                    and str(action.metavar).strip("[]").startswith(words)
                ):
                    left.add((action.dest, action.metavar))
        assert left == {("repository", "DIR"), ("remove", "DIR")}  # of `trust`, which reads neither


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out + err


LOOKUP = ["hiera", "lookup", "k"]
CASES: dict[str, tuple[dict[str, object], list[str], int]] = {
    "a fold of the settings": (
        {"nodeattrs.toml": '[fold.z]\nfiles = ["a.yaml", "OUTER/a.yaml"]\n'}, ["fold", "--name", "z"], 1,
    ),
    "a fold of a link": ({"b.yaml": "-> OUTER/a.yaml"}, ["fold", "a.yaml", "b.yaml"], 5),
    "the datadir of a hierarchy": ({"hiera.yaml": HIERA.replace("path: common", "datadir: OUTER, path: a")}, LOOKUP, 5),
    "a glob of a hierarchy": (
        {"hiera.yaml": HIERA.replace("path: common.yaml", "datadir: OUTER, glob: '*.yaml'")}, LOOKUP, 5,
    ),
    "a link in data": ({"hiera.yaml": HIERA, "data/common.yaml": "-> OUTER/a.yaml"}, LOOKUP, 5),
    "the tree of the settings": ({"nodeattrs.toml": 'hiera = "OUTER"\n'}, ["check"], 1),
    "variables of a group": (
        {"hosts": "h1\n", "group_vars": "-> OUTER"}, ["ansible", "explain", "h1", "k", "-i", "hosts"], 5,
    ),
    "a file of variables": (
        {"hosts": "h1\n", "group_vars/all/x.yml": "-> OUTER/a.yaml"},
        ["ansible", "explain", "h1", "k", "-i", "hosts"], 5,
    ),
    "an inventory of ansible.cfg": ({"ansible.cfg": "[defaults]\ninventory = OUTER/a.yaml\n"}, ["ansible", "list"], 5),
    "a role that is a link": ({"roles/a.json": "-> OUTER/a.json", "nodes/n.json": {"name": "n"}}, ["check"], 5),
    "a folder of roles that is a link": ({"roles": "-> OUTER", "nodes/n.json": {"name": "n"}}, ["check"], 5),
    "user-data": ({"ud": "-> OUTER/a.yaml"}, ["cloud-config", "merge", "ud"], 5),
    "a schema": (
        {"nodeattrs.toml": '[schema]\nattributes = "OUTER/a.json"\n', "nodes/n.json": {"name": "n"}}, ["check"], 1,
    ),
}  # fmt: skip
"""What a repository holds, "-> TARGET" for a link; a command, and its exit code."""


class TestCommands:
    @pytest.mark.parametrize(("files", "words", "code"), CASES.values(), ids=CASES)
    def test_nothing_outside_is_printed_and_the_answer_says_so(
        self,
        folders: tuple[Path, Path],
        capsys: pytest.CaptureFixture[str],
        files: dict[str, object],
        words: list[str],
        code: int,
    ) -> None:
        repo, outer = folders
        for name, content in files.items():
            if isinstance(content, str) and content.startswith("-> "):
                (repo / name).parent.mkdir(parents=True, exist_ok=True)
                (repo / name).symlink_to(content[3:].replace("OUTER", str(outer)))
            else:
                text = content.replace("OUTER", str(outer)) if isinstance(content, str) else content
                repository(repo, {name: text})

        came, text = said(capsys, *words)

        assert MARKER not in text
        assert came == code, text
        assert "outside of the repository" in text or "leads out of the repository" in text, text

        _, allowed = said(capsys, *words, "--allow-path", str(outer))

        assert "outside of the repository" not in allowed
        assert "leads out" not in allowed

    def test_a_command_that_fails_warns_of_the_file_that_it_was_refused_too(
        self, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        repo, outer = folders
        repository(repo, {"roles/other.json": "{}"})
        (outer / "web.json").write_text("{}")
        (repo / "roles/web.json").symlink_to(outer / "web.json")

        code, text = said(capsys, "role", "show", "web")

        assert code == 5
        assert "error: roles/web.json: cannot be read" in text
        assert "roles/web.json lies outside of the repository, and may set anything [NA0317]" in text

    def test_impact_reads_its_two_sides_alone(
        self, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        repo, _ = folders
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        settings = repo / "nodeattrs.toml"
        settings.write_text('[fold.z]\nfiles = ["a.yaml"]\n')
        (repo / ".gitignore").write_text("secret.yaml\n")
        (repo / "secret.yaml").write_text(f"k: {MARKER}\n")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a"]):
            subprocess.run([*git, *words], check=True)
        settings.write_text(
            f'[fold.z]\nfiles = ["a.yaml", "{repo}/secret.yaml", "{repo}/.git/config"]\nsyntax = "ini"\n'
        )
        subprocess.run([*git, "commit", "-qam", "b"], check=True)

        code, text = said(capsys, "impact", "HEAD~1..HEAD", "--no-run-code")

        assert code == 5
        assert "2 places lie outside of the repository, and may set anything" in " ".join(text.split()), text
        assert MARKER not in text
        assert "repositoryformatversion" not in text

    def test_impact_names_a_level_outside_that_may_set_what_changes(
        self, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        repo, outer = folders
        other = repo.parent / "other"
        hiera = HIERA.replace("hierarchy:\n", f"hierarchy:\n- {{name: o, datadir: {outer}, path: a.yaml}}\n")
        for side, value in ((repo, "1"), (other, "2")):
            repository(side, {"hiera.yaml": hiera, "data/common.yaml": f"k: {value}\n"})

        code, text = said(capsys, "impact", str(repo), str(other), "--no-run-code")

        assert code == 5
        assert "not known: the values of 1 change: hiera.yaml:3 (level o)" in text

    @pytest.mark.parametrize("place", ["path: a.yaml", "glob: '*.yaml'"])
    def test_a_data_folder_outside_that_does_not_exist_here_may_set_anything(
        self, folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str], place: str
    ) -> None:
        repo, _ = folders
        hiera = HIERA.replace("hierarchy:\n", f"hierarchy:\n- {{name: o, datadir: {repo.parent}/absent, {place}}}\n")
        repository(repo, {"hiera.yaml": hiera, "data/common.yaml": "k: 1\n"})

        code, text = said(capsys, "why", "k")

        assert code == 5, text
        assert "hiera.yaml:3 (level o) may set k: there is no folder" in text


def test_a_folder_of_every_module_runs_none_of_them(tmp_path: Path) -> None:
    """`python -P -m` and the installed script import nothing of the current folder."""
    proof = tmp_path / "proof"
    repo = tmp_path / "repo"
    repository(repo, {"nodes/n.json": {"name": "n"}})
    for name in {*sys.stdlib_module_names, "yaml", "nodeattrs", "jinja2", "lark"}:
        (repo / f"{name}.py").write_text(f"open({str(proof)!r}, 'a').write({name!r} + ' ')\n")

    done = subprocess.run([sys.executable, "-P", "-m", "nodeattrs", "check"], cwd=repo, capture_output=True, text=True)

    assert "0 errors" in done.stdout, done.stderr
    assert not proof.exists(), proof.read_text()
