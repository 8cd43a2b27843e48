"""What shells complete, in a real bash. Nothing of zsh and fish but their words: few machines have them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.cli import main

Complete = Callable[..., set[str]]


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What we print for a shell."""

    def script(shell: str) -> str:
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return script


@pytest.fixture
def completed(script: Callable[[str], str], tmp_path: Path) -> Complete:
    """What bash offers for the last of some words, in a folder with a few files."""
    for file in ("nodes.db", "nodes.jsonl", "two words.json"):
        (tmp_path / file).touch()
    (tmp_path / "cookbooks").mkdir()

    def completed(*words: str) -> set[str]:
        asked = " ".join(f"'{word}'" for word in ("nodeattrs", *words))
        program = (
            f"{script('bash')}\nCOMP_WORDS=({asked}); COMP_CWORD={len(words)}\n"
            'compopt() { :; }\n_nodeattrs\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert done.stderr == ""
        return set(filter(None, done.stdout.split("\n")))

    return completed


class TestBash:
    @pytest.mark.parametrize(
        ("words", "offered"),
        [
            # the words, the last one unfinished      what is offered for it
            (["ex"], {"explain"}),
            (["--v"], {"--version"}),
            (["run", "--e"], {"--environment"}),
            (["show", "web1", "--format", ""], {"text", "json", "yaml"}),
            (["show", "web1", "--format", "="], {"text", "json", "yaml"}),
            (["show", "web1", "--format", "=", "j"], {"json"}),
            (["show", "web1", "--level", "force"], {"force_default", "force_override"}),
            (["completion", "z"], {"zsh"}),
            (["history", "web1", "--l"], {"--limit"}),
            (["history", "web1", "--limit", ""], set()),
            (["diff", "web1", "--pa"], {"--path"}),
            (["catalog", "ch"], {"check"}),
            (["catalog", "check", "--fr"], {"--from"}),
            (["catalog", "graph", "--as", ""], {"dot", "mermaid"}),
            (["catalog", "explain", "--l"], set()),  # --level belongs to another command
            (["node", "r"], {"rm", "restore"}),
            (["node", "rm", "r"], set()),
            (["fleet", "r"], {"resolve"}),
            (["fleet", "resolve", "--jo"], {"--jobs"}),
        ],
        ids=lambda given: " ".join(given) if isinstance(given, list) else "",
    )
    def test_it_offers_commands_options_and_values(self, completed: Complete, words: list[str], offered: set[str]):
        """
        Each where it may stand, also behind the action of a command.
        """
        assert offered == completed(*words)

    def test_an_option_that_names_a_directory_is_offered_directories(self, completed: Complete):
        """
        No files.
        """
        assert {"cookbooks"} == completed("run", "--repo", "")

    @pytest.mark.parametrize("words", [("status", "--store"), ("store", "import"), ("catalog", "check", "--from")])
    def test_where_a_file_may_stand_all_are_offered(self, completed: Complete, words: tuple[str, ...]):
        """
        A name with a space in it is one name.
        """
        assert {"cookbooks", "nodes.db", "nodes.jsonl", "two words.json"} == completed(*words, "")

    def test_an_option_is_offered_where_a_file_may_stand_too(self, completed: Complete):
        """
        The first dash decides.
        """
        assert {"--keep"} == completed("store", "prune", "--k")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_the_script(script: Callable[[str], str], shell: str):
    """
    Read off the parser: none can be forgotten.
    """
    text = script(shell)

    for word in ("run", "completion", "impact", "why-run", "json-attributes", "slot", "traceback"):
        assert word in text
