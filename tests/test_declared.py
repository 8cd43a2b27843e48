"""Commands of nodes as data: what they answer to a question, without a command line and without a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli.program import summaries
from nodeattrs.contract.command import Command, CommandGroup, Output, Question
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.dialects import BUILT_IN
from nodeattrs.errors import BadUsage
from nodeattrs.store import open_store

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
TOPS = [(one, name) for one in BUILT_IN for name in one.tops]


def commands_in(top: Command | CommandGroup) -> list[Command]:
    return [top] if isinstance(top, Command) else [*top.commands.values()]


def asked(name: str, **given: Any) -> Output:
    """What a command answers: arguments that are not given have their defaults."""
    (dialect,) = [one for one, top in TOPS if top == name]
    (command,) = commands_in(dialect.top(name))
    flag = {"store_true": False}
    defaults = {
        one.name: one.keywords.get("default", flag.get(one.keywords.get("action", ""))) for one in command.arguments
    }
    assert callable(command.run)
    return command.run(Question(Side("", Path(), Path(), {}), Request(), defaults | given))


@pytest.mark.parametrize(("dialect", "name"), TOPS, ids=[name for _, name in TOPS])
def test_a_command_of_a_dialect_stands_in_the_help_and_declares_each_argument_once(dialect: Any, name: str):
    assert summaries()[name] == dialect.tops[name]
    for command in commands_in(dialect.top(name)):
        names = [one.name for one in command.arguments]
        assert sorted(names) == sorted({*names})


def test_facts_are_an_answer_without_a_terminal():
    found = asked("facts", path="platform", facts=str(EXAMPLE / "facts/web1.json"))

    assert not isinstance(found.report, str)
    assert (found.code, found.report.to_dict()["value"]) == (0, "ubuntu")


def test_options_that_exclude_each_other_are_an_error_of_the_command():
    with pytest.raises(BadUsage, match="--winners is about all slots"):
        asked("show", node="web1", winners=True, origins=True)


def test_a_fleet_runs_for_a_caller_that_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store = str(tmp_path / "nodes.db")
    found = asked("fleet", task="resolve", repo=str(EXAMPLE), facts=str(EXAMPLE / "facts"), store=store, jobs=1)

    assert (found.code, sorted(open_store(store).names())) == (0, ["db1", "web1", "web2"])
    assert capsys.readouterr() == ("", "")
