"""What shells complete, in a real bash. Nothing of zsh and fish but their words: few machines have them."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeattrs.cli import main

Complete = Callable[..., set[str]]


def script(shell: str) -> str:
    """What we print for a shell."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["completion", shell]) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def script_of_bash() -> str:
    return script("bash")


@pytest.fixture
def completed(script_of_bash: str, tmp_path: Path) -> Complete:
    """What bash offers for the last of some words, in a folder with a few files."""
    for file in ("nodes.db", "nodes.jsonl", "two words.json"):
        (tmp_path / file).touch()
    (tmp_path / "cookbooks").mkdir(exist_ok=True)

    def completed(*words: str) -> set[str]:
        asked = " ".join(f"'{word}'" for word in ("nodeattrs", *words))
        program = (
            f"{script_of_bash}\nCOMP_WORDS=({asked}); COMP_CWORD={len(words)}\n"
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
            (["run", "--e"], {"--environment", "--export"}),
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
            (["bindings", "inject", "k"], set()),  # its keys are known to code
            (["fleet", "resolve", "--jo"], {"--jobs"}),
        ],
        ids=lambda given: " ".join(given) if isinstance(given, list) else "",
    )
    def test_bash_completion_offers_commands_options_and_values(
        self, completed: Complete, words: list[str], offered: set[str]
    ):
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
def test_every_command_and_option_is_in_the_script(shell: str):
    """
    Read off the parser: none can be forgotten.
    """
    text = script(shell)

    for word in ("run", "completion", "impact", "why-run", "json-attributes", "slot", "traceback"):
        assert word in text


EXAMPLE = Path(__file__).parent.parent / "cookbooks_example"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store with the nodes of the example."""
    folder = tmp_path_factory.mktemp("example")
    words = ["--repo", str(EXAMPLE), "--facts", str(EXAMPLE / "facts"), "--store", str(folder / "nodes.db")]
    assert main(["run", "--all", "--quiet", *words]) == 0
    return folder


class TestWhatOnlyDataKnow:
    """Names of nodes, paths and keys: the script asks `nodeattrs complete`."""

    @pytest.fixture
    def shop(self, nodes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The example with its nodes kept, and a program for the shell to ask."""
        (tmp_path / "cookbooks_example").symlink_to(EXAMPLE)
        shutil.copytree(nodes, tmp_path / ".nodeattrs")
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "nodeattrs"
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{EXAMPLE.parent}" exec "{sys.executable}" -m nodeattrs "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "inventory").write_text("[web]\nweb1 http_port=80\nweb2\n[db]\ndb1 size=3\n")
        script = tmp_path / "script.sh"
        script.write_text('#!/bin/sh\ntouch ran\necho \'{"all": {"hosts": ["x"]}}\'\n')
        script.chmod(0o755)
        return tmp_path

    @pytest.mark.parametrize(
        ("words", "offered"),
        [
            (["explain", "we"], ["web1", "web2"]),
            (["diff", "web1", ""], ["db1", "web1", "web2"]),
            (["run", "--repo", "cookbooks_example", "--node", "d"], ["db1"]),
            (["explain", "web1", "apache2.mp"], ["apache2.mpm."]),
            (["explain", "web1", "apache2.mpm.start_s"], ["apache2.mpm.start_servers"]),
            (["diff", "web1", "web2", "--path", "apache2.mod"], ["apache2.modules"]),
            (["hiera", "lookup", "--hiera", "cookbooks_example/hiera", "profile::us"], ["profile::users"]),
            (["hiera", "who-has", "--hiera", "cookbooks_example/hiera", "profile::us"], ["profile::users"]),
            (["hiera", "lookup", "--hiera", "cookbooks_example/hiera", "profile", "::", "us"], ["users"]),
            (["ansible", "vars", "-i", "inventory", "w"], ["web1", "web2"]),
            (["ansible", "diff", "-i", "inventory", "web1", ""], ["db1", "web1", "web2"]),
            (["ansible", "explain", "-i", "inventory", "web1", "http_"], ["http_port"]),
            (["ansible", "who-has", "-i", "inventory", ""], ["http_port", "size"]),
            (["ansible", "vars", "-i", "script.sh", "--run-inventory", "script.sh", ""], []),
            (["diff", "web1@"], ["web1@1"]),
            (["diff", "web1@1", "web2@"], ["web2@1"]),
            (["diff", "web1", "@", ""], ["1"]),
            (["show", "web1", "--at", ""], ["1"]),
            (["explain", "web1@"], []),
            (["hiera", "diff", "web1@"], []),
            (["diff", "nobody@"], []),
            (["codes", "NA120"], [f"NA120{number}" for number in range(1, 10)]),
            (["codes", "default-r"], ["default-replaces"]),
            (["check", "--ignore", "NA1203"], ["NA1203"]),
            (["explain", "nobody", "a"], []),
            (["explain", "web1", "nosuch.a"], []),
            (["nosuch", ""], []),
            ([], []),
        ],
        ids=" ".join,
    )
    def test_the_complete_command_prints_what_the_last_word_may_become(
        self, shop: Path, words: list[str], offered: list[str], capsys
    ):
        """
        Nothing where nothing is known: no error either, which would tear the line that is being typed.
        """
        capsys.readouterr()

        assert main(["complete", *words]) == 0
        assert ("".join(f"{one}\n" for one in offered), "") == tuple(capsys.readouterr())
        assert not (shop / "ran").exists()

    def test_the_bash_script_asks_nodeattrs_complete(
        self, shop: Path, completed: Complete, capsys: pytest.CaptureFixture[str]
    ):
        capsys.readouterr()

        assert {"web1", "web2"} == completed("explain", "web")
        assert {"apache2.mpm."} == completed("explain", "web1", "apache2.mp")
        assert {"1"} == completed("diff", "web1", "@", "")
        assert {"NA1203"} == completed("codes", "NA1203")
        assert {"--format"} == completed("explain", "web1", "--fo")
