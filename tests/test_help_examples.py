"""The first example in the help of each command of a dialect: typed at the top of a checkout, it works."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.cli.manual import entries
from nodeattrs.cli.program import parser
from nodeattrs.dialects.built_in import BUILT_IN

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
COMMANDS = {
    f"{dialect.command} {name}".strip(): command
    for dialect in BUILT_IN
    if dialect.command
    for name, command in dialect.commands().items()
}
FILES_OF_THE_READER = {"fold", "cloud-config explain", "cloud-config pack"}
"""Commands whose examples name files that only the reader has."""


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_of_a_dialect_has_an_example(words: str):
    assert COMMANDS[words].examples


@pytest.mark.parametrize("words", sorted({*COMMANDS} - FILES_OF_THE_READER))
def test_the_first_example_of_a_command_works(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Exit code 5 is an answer, too: the example has cookbooks that these commands do not run."""
    shutil.copytree(EXAMPLE, tmp_path / "cookbooks_example")
    monkeypatch.chdir(tmp_path)
    dialect = words.split()[0]
    if words == "ansible inventory":
        assert 0 == main(["ansible", "save", "--store", "nodes.db", "-i", "cookbooks_example/ansible"])

    code = main([dialect, *shlex.split(COMMANDS[words].examples[0])])

    assert code in (0, 5), capsys.readouterr().err


def test_no_help_is_longer_than_60_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """On a terminal of 80 columns; what needs more words has a page. A default that is not set is not printed."""
    monkeypatch.setenv("COLUMNS", "80")
    helps = {}
    for entry in entries(parser()):
        assert 0 == main([*entry.words, "--help"])
        helps[entry.name] = capsys.readouterr().out

    assert {} == {name: len(text.splitlines()) for name, text in helps.items() if len(text.splitlines()) > 60}
    assert [] == [name for name, text in helps.items() if "None" in text]
    assert [] == [name for name, text in helps.items() if name not in text.partition("\nexamples:\n")[2]]


@pytest.mark.parametrize("words", ["check", "list", "order", "graph", "apply"])
def test_the_example_of_a_catalog_works(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The others name a file that only the reader has."""
    shutil.copytree(EXAMPLE, tmp_path / "cookbooks_example")
    monkeypatch.chdir(tmp_path)
    entry = next(one for one in entries(parser()) if one.words == ("catalog", words))
    example = entry.more.partition("examples:\n")[2].splitlines()[0]

    assert main(shlex.split(example)[1:]) in (0, 1), capsys.readouterr().err
    assert "error:" not in capsys.readouterr().err
