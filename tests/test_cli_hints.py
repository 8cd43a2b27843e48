"""What a command line that was not understood is answered with."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nodeattrs.cli import main
from nodeattrs.store import Saved, open_store
from tests.on_disk import repository


@pytest.fixture
def err(capsys):
    """What a command line is answered with on stderr, once it has ended with 2."""

    def told(*words: str) -> str:
        assert 2 == main(words)
        return capsys.readouterr().err

    return told


class TestMisspelt:
    @pytest.mark.parametrize(
        ("words", "meant", "usage"),
        [
            (("explian", "web1", "app"), "explain", "nodeattrs"),
            (("explain", "web1", "app", "--fromat", "json"), "--format", "nodeattrs explain"),
            (("search", "a:b", "--limt=3"), "--limit", "nodeattrs search"),
            (("hiera", "lokup", "k"), "lookup", "nodeattrs hiera"),
            (("hiera", "lookup", "k", "--merg", "deep"), "--merge", "nodeattrs hiera lookup"),
            (("node", "st", "web1"), "set", "nodeattrs node"),
            (("show", "web1", "--format", "jsn"), "json", "nodeattrs show"),
            (("help", "explian"), "explain", "nodeattrs"),
        ],
    )
    def test_the_nearest_word_is_named_with_the_command(self, err, words, meant, usage):
        """Commands, actions, options and their values."""
        text = err(*words)

        assert text.startswith(f"{usage}: error: ")
        assert f"\n  did you mean {meant}" in text

    def test_what_is_near_to_nothing_is_told_with_all_there_is(self, err):
        """The words to choose from, by the name that users see."""
        assert "there is no action 'zzz' [NA0002]\n  known are check, prune, export" in err("store", "zzz")

    def test_too_many_words_are_those_of_the_command(self, err):
        """No option is near."""
        text = err("status", "web1")

        assert text.startswith("nodeattrs status: error: not understood: web1 [NA0002]\n")


def test_text_on_a_pipe_is_whole(tmp_path):
    """No line is wrapped, whatever the terminal that the process has; COLUMNS is for those who want it so."""
    repository(tmp_path, {"nodeattrs.toml": f"sensitive = {[f'path.{number}' for number in range(40)]}\n"})
    command = [sys.executable, "-m", "nodeattrs", "config"]
    plain = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PYTHONPATH": os.getcwd()}

    def widest(**more):
        done = subprocess.run(command, cwd=tmp_path, env=plain | more, capture_output=True, text=True, check=True)
        return max(map(len, done.stdout.splitlines()))

    assert widest() > 400
    assert widest(COLUMNS="80") == 80


def test_help_is_a_command_too(capsys):
    """Of a command and of its actions."""
    for words in (["explain"], ["hiera", "lookup"], []):
        assert (main([*words, "--help"]), main(["help", *words])) == (0, 0)
        first, _, second = capsys.readouterr().out.partition("usage: ")[2].partition("usage: ")
        assert first == second


class TestHintsThatSuit:
    """What is written on the command line is told in its words."""

    @pytest.fixture
    def told(self, tmp_path, monkeypatch, capsys):
        files = {
            "hiera.yaml": "version: 5\n",
            "bom.yaml": "\ufeff#cloud-config\na: 1\n",
            "empty.toml": "a = 1\nb = \n",
            "bare.toml": "a = x\n",
        }
        repository(tmp_path, files)
        monkeypatch.chdir(tmp_path)
        store = open_store(".nodeattrs/nodes.db")
        store.save(Saved("web1", {"name": "web1", "normal": {"app": 1}}))
        store.close()

        def run(*words: str) -> str:
            assert main(words) != 0
            return "".join(capsys.readouterr())

        return run

    @pytest.mark.parametrize(
        ("words", "hint"),
        [
            ("hiera lookup nobody", "give it --default TEXT, or write it into a data file"),
            ("node set web1 app.tier gold", "remove what is in the way first: nodeattrs node rm web1 PATH"),
            ("cloud-config check bom.yaml", "save the file as UTF-8 without a byte order mark"),
            ("cloud-config pack bom.yaml --merge-type dict(recurse_lst)", "known are allow_delete"),
            ("facts --facts empty.toml", "write a value behind the ="),
            ("facts --facts bare.toml", "quote the text"),
        ],
    )
    def test_the_way_out_is_one(self, told, words, hint):
        """An option, a command, or what to change in the file."""
        assert hint in told(*words.split())


@pytest.mark.parametrize("repo", [["--repo", "repo"], ["--repo=repo"]])
@pytest.mark.parametrize(
    ("first", "others"),
    [("list", ["nodes"]), ("role", ["show", "web"]), ("overview", []), ("overview", ["--format", "json"])],
)
def test_the_repository_may_be_named_before_the_command(tmp_path, monkeypatch, capsys, repo, first, others):
    """Without a command the answer is the overview."""
    repository(tmp_path / "repo", {"nodes/n.json": "{}", "roles/web.json": {"name": "web"}})
    monkeypatch.chdir(tmp_path)

    lines = [[first, *others, *repo], [*repo, first, *others], *([[*repo, *others]] if first == "overview" else [])]
    answers = {(main(line), *capsys.readouterr()) for line in lines}

    assert len(answers) == 1
    assert {answer[0] for answer in answers} == {0}
