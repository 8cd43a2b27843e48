"""What a command line that was not understood is answered with."""

from __future__ import annotations

import pytest

from nodeattrs.cli import main


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
            (("explian", "web1", "app"), "explain", "nodeattrs [-h]"),
            (("explain", "web1", "app", "--fromat", "json"), "--format", "nodeattrs explain "),
            (("search", "a:b", "--limt=3"), "--limit", "nodeattrs search "),
            (("hiera", "lokup", "k"), "lookup", "nodeattrs hiera "),
            (("hiera", "lookup", "k", "--merg", "deep"), "--merge", "nodeattrs hiera lookup "),
            (("node", "st", "web1"), "set", "nodeattrs node "),
            (("show", "web1", "--format", "jsn"), "json", "nodeattrs show "),
            (("help", "explian"), "explain", "nodeattrs [-h]"),
        ],
    )
    def test_the_near_one_is_named_with_the_usage_of_its_command(self, err, words, meant, usage):
        """Commands, actions, options and their values."""
        text = err(*words)

        assert text.startswith(f"usage: {usage}")
        assert f"\n  did you mean {meant}" in text

    def test_what_is_near_to_nothing_is_told_with_all_there_is(self, err):
        """The words to choose from, by the name that users see."""
        assert "there is no action 'zzz'\n  known are check, prune, export" in err("store", "zzz")

    def test_too_many_words_are_those_of_the_command(self, err):
        """No option is near."""
        text = err("status", "web1")

        assert text.startswith("usage: nodeattrs status ")
        assert "not understood: web1\n" in text


def test_help_is_a_command_too(capsys):
    """Of a command and of its actions."""
    for words in (["explain"], ["hiera", "lookup"], []):
        assert (main([*words, "--help"]), main(["help", *words])) == (0, 0)
        first, _, second = capsys.readouterr().out.partition("usage: ")[2].partition("usage: ")
        assert first == second
