"""The grammar of options: an option has one meaning, one metavar and one short form in all commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nodeattrs.cli.program import parser


class Use(NamedTuple):
    """An option as one command has it. metavar: "" for a flag"""

    command: str
    short: str
    metavar: str


def uses_in(one: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Use]]:
    """Each long option of a parser and of the parsers in it."""
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from uses_in(inner, (*words, name))
        elif action.help != argparse.SUPPRESS and action.option_strings:
            names = action.option_strings
            long = next(name for name in names if name.startswith("--"))
            short = next((name for name in names if not name.startswith("--")), "")
            metavar = "" if action.nargs == 0 else str(action.metavar or "a choice")
            yield long, Use(" ".join(words), short, metavar)


def uses() -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for name, use in uses_in(parser()):
        found.setdefault(name, []).append(use)
    return found


USES = uses()


OF_ORIGINALS = {("hiera lookup", "--explain"): "puppet lookup"}
"""Options that have the name and form that another program gave them."""


@pytest.mark.parametrize("name", sorted(name for name, some in USES.items() if len(some) > 1))
def test_an_option_has_one_metavar_and_one_short_form_in_all_commands(name: str):
    own = [use for use in USES[name] if (use.command, name) not in OF_ORIGINALS]
    forms = {(use.short, use.metavar): use.command for use in own}

    assert len(forms) == 1, forms


def test_a_short_form_stands_for_one_option():
    longs: dict[str, set[str]] = {}
    for name, some in USES.items():
        for use in some:
            longs.setdefault(use.short, set()).add(name)

    assert {short: names for short, names in longs.items() if short and len(names) > 1} == {}
