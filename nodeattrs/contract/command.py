"""A command as data: from it come the parser, `--help`, completion and the pages of `man`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.unread import Unread
from nodeattrs.reports import Report
from nodeattrs.reports.screen import Screen


class Argument(NamedTuple):
    """A word or an option of a command.

    names:    ("key",) for a word; ("--on",) or ("--format", "-F") for an option
    help:     one line
    keywords: further arguments of `argparse.ArgumentParser.add_argument`
    """

    names: tuple[str, ...]
    help: str
    keywords: Mapping[str, Any] = {}


class Question(NamedTuple):
    """What a command is called with.

    side:      the folder
    request:   facts, options and overrides
    arguments: name -> value, of the arguments that the command declares
    dialects:  the names of the dialects to ask; empty: all
    progress:  called with a subject, how many are done, and of how many
    """

    side: Side
    request: Request
    arguments: Mapping[str, Any]
    dialects: Sequence[str] = ()
    progress: Callable[[str, int, int], None] = lambda name, done, of: None


class Output(NamedTuple):
    """What a command gives. Only `cli` writes it.

    report: as lines for people and as data for --format json; `PlainReport` serves for both
    unread: what was not read and may change the answer: then the exit code is 5 in place of 0, and JSON has the
            fields `certain` and `unread`; None for what is no answer
    """

    report: Report
    code: int = 0
    unread: Sequence[Unread] | None = None
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PlainReport:
    """A report that is made already. data: JSON-able, with its "version" """

    text: Sequence[str]
    data: Mapping[str, Any]

    def lines(self, screen: Screen) -> Iterable[str]:
        """The lines for people."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The data."""
        return dict(self.data)


class Command(NamedTuple):
    """A command.

    summary:     one line, for lists of commands
    description: a paragraph
    arguments:   its own; where the files are, facts and the format of the output come by themselves
    examples:    command lines
    exits:       exit code -> its meaning here
    run:         raises: NodeattrsError
    """

    summary: str
    description: str
    arguments: Sequence[Argument]
    examples: Sequence[str]
    exits: Mapping[int, str]
    run: Callable[[Question], Output]
