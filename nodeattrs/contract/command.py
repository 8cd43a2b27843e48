"""A command as data: from it come the parser, `--help`, completion and the pages of `man`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """A word or an option of a command.

    names:   "KEY" for a word; "--on" or ("--format", "-F") for an option
    help:    one line
    keywords: further arguments of `argparse.ArgumentParser.add_argument`
    """

    names: tuple[str, ...]
    help: str
    keywords: Mapping[str, Any] = {}


class Output(NamedTuple):
    """What a command gives. Only `cli` writes it.

    text: for people; data: for --format json, with its "version"; code: the exit code; warnings: a sentence each
    """

    text: str
    data: Mapping[str, Any]
    code: int = 0
    warnings: Sequence[str] = ()


class Command(NamedTuple):
    """A command.

    summary:     one line, for lists of commands
    description: a paragraph
    examples:    command lines, as one types them
    exits:       exit code -> its meaning here
    run:         arguments by name -> what it gives. raises: NodeattrsError
    """

    summary: str
    description: str
    arguments: Sequence[Argument]
    examples: Sequence[str]
    exits: Mapping[int, str]
    run: Callable[[Mapping[str, Any]], Output]
