"""The manual, read off the parser: pages for man, the reference of the site, and where --install puts them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nodeattrs import __version__
from nodeattrs.cli import main
from nodeattrs.cli.manual import entries, man, markdown
from nodeattrs.cli.program import parser, summaries


@pytest.fixture(scope="module")
def known():
    return list(entries(parser()))


class TestTheEntries:
    def test_every_command_is_there_with_a_summary(self, known):
        assert {one.words[0] for one in known if len(one.words) == 1} == set(summaries())
        assert all(one.summary for one in known if one.words)

    def test_every_option_that_help_shows_is_there(self, known):
        explain = next(one for one in known if one.words == ("explain",))
        spellings = {option.spelling for options in explain.options.values() for option in options}
        assert "--format {text,json,yaml}, -F {text,json,yaml}" in spellings
        assert {"NODE", "PATH", "--repo DIR", "--because"} <= spellings


class TestMan:
    def test_signs_that_man_takes_for_its_own_are_shown(self, known):
        odd = known[0]._replace(
            words=("a-b",), description=".begins with a point\n'and a quote\\n", more="examples:\n  x -y\n"
        )
        text = man(odd, "1.0")
        assert "\n\\&.begins with a point\n\\&'and a quote\\en\n" in text
        assert ".SH EXAMPLES\n.nf\n  x \\-y\n.fi" in text

    @pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")
    def test_man_shows_every_page_without_a_warning(self, known, tmp_path: Path):
        """One after the other in one file, which man shows much sooner than a file for each."""
        pages = {one.page_name: man(one, "1.0") for one in known}
        (tmp_path / "all.1").write_text("\n".join(pages.values()))
        done = subprocess.run(
            ["man", "--warnings", "-l", str(tmp_path / "all.1")], capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert len(pages) == len(known) == len(re.findall("^NAME$", done.stdout, re.MULTILINE))

    def test_the_program_prints_one(self, capsys: pytest.CaptureFixture[str]):
        assert main(["--man", "hiera", "lookup"]) == 0
        assert capsys.readouterr().out.startswith(".TH NODEATTRS\\-HIERA\\-LOOKUP 1 ")

    def test_a_command_that_nobody_knows_is_answered_with_a_near_one(self, capsys: pytest.CaptureFixture[str]):
        assert main(["--man", "exlain"]) == 1
        assert "did you mean explain?" in capsys.readouterr().err


class TestTheReference:
    def test_a_bar_or_a_bracket_breaks_no_table(self, known):
        odd = known[0]._replace(
            options={"odd": [known[0].options["options"][0]._replace(spelling="a|b", help="x | <y>\nz")]}
        )
        assert "| `a\\|b` | x \\| &lt;y> z |" in markdown(odd)


class TestInstall:
    @pytest.mark.parametrize(
        ("shell", "place"),
        [
            ("bash", ".local/share/bash-completion/completions/nodeattrs"),
            ("zsh", ".local/share/zsh/site-functions/_nodeattrs"),
            ("fish", ".config/fish/completions/nodeattrs.fish"),
        ],
    )
    def test_completion_and_man_pages_are_installed_where_shells_look(
        self, shell, place, tmp_path, monkeypatch, capsys, known
    ):
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")

        assert main(["completion", "--install"]) == 0

        printed = capsys.readouterr().out
        assert str(tmp_path / place) in printed
        assert main(["completion", shell]) == 0
        assert (tmp_path / place).read_text() == capsys.readouterr().out
        assert len(list((tmp_path / ".local/share/man/man1").glob("nodeattrs*.1"))) == len(known)

    def test_a_shell_that_nobody_knows_is_refused(self, monkeypatch, capsys):
        monkeypatch.setenv("SHELL", "/bin/tcsh")
        assert main(["completion", "--install"]) == 2
        assert "name a shell: bash, zsh, fish" in capsys.readouterr().err


def test_version_says_of_what(capsys: pytest.CaptureFixture[str]):
    assert main(["--version", "-v"]) == 0
    first, python, *rest = capsys.readouterr().out.splitlines()
    assert first == f"nodeattrs {__version__}"
    assert "Python 3" in python
    assert any(line.startswith("always: pyyaml 6") for line in rest)
    assert rest[-1].startswith("stores: SQLite 3")
