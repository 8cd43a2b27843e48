"""A command as data: from it come the parser, `--help`, completion and the pages of `man`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.contract.argument import Argument as Argument
from nodeattrs.contract.caller import Caller, Through, one_by_one
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.core.unread import Unread
from nodeattrs.reports import Report
from nodeattrs.reports.findings import Finding
from nodeattrs.reports.screen import Screen

if TYPE_CHECKING:
    from nodeattrs.project.settings import Settings

VERB = ("folder", "asking", "ruby", "output")
"""What a verb shares with all others; see `Command.shared`."""


class Question(NamedTuple):
    """What a command is called with.

    side:      the folder
    request:   facts, options and overrides
    arguments: name -> value, of the arguments that the command declares and shares; "format" is the form of the output
    dialects:  the names of the dialects to ask; empty: all
    progress:  called with a subject, how many are done, and of how many
    caller:    takes warnings, and what cannot wait for the output
    through:   takes the outcomes of many nodes one by one, until Ctrl-C
    """

    side: Side
    request: Request
    arguments: Mapping[str, Any]
    dialects: Sequence[str] = ()
    progress: Callable[[str, int, int], None] = lambda name, done, of: None
    caller: Caller = Caller()
    through: Through = one_by_one

    @property
    def settings(self) -> Settings:
        """The settings that count for the call. raises: NotFound, where the folder of the arguments is not there"""
        from nodeattrs.project.settings import Settings  # parsers, which help does not need

        found = self.arguments.get("settings")
        return found if isinstance(found, Settings) else Settings(self.arguments, os.environ)


class CheckFindings(NamedTuple):
    """What a check found. The options of the caller say which findings count, and how they come out.

    found:   the findings
    looked:  what the check looked at -> how many; {} where it does not count
    root:    the folder from which the findings name files; "" for the current one
    ways_on: lines about what to do where there was nothing to look at
    """

    found: Iterable[Finding]
    looked: Mapping[str, int]
    root: str = ""
    ways_on: Sequence[str] = ()


class Prompt(NamedTuple):
    """A prompt of Python, which the caller opens until the input ends.

    names:  the variables that are there
    banner: the line above the prompt of a terminal
    """

    names: Mapping[str, Any]
    banner: str


class Output(NamedTuple):
    """What a command gives. Only `cli` writes it.

    report:   lines for people, and data for --format json; `PlainReport` serves for both. A text is printed as it is
    warnings: sentences, errors or findings
    checked:  what a command that shares "checking" found, instead of a report; the exit code follows from it
    error:    the whole answer, in place of a report; for an error whose code is not 1
    unread:   what was not read and may change the answer: then the exit code is 5 in place of 0, and JSON has the
              fields `certain` and `unread`; None for what is no answer
    prompt:   what a person may try things on, after the report
    """

    report: Report | str = ""
    code: int = 0
    warnings: Sequence[object] = ()
    checked: CheckFindings | None = None
    error: Exception | None = None
    unread: Sequence[Unread] | None = None
    prompt: Prompt | None = None


@dataclass(frozen=True, slots=True)
class PlainReport:
    """A report that is made already. data: JSON-able, with its "version" """

    text: Sequence[str]
    data: Mapping[str, Any]

    def lines(self, screen: Screen) -> Iterable[str]:
        """The lines of the report, for a screen."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return dict(self.data)


class Command(NamedTuple):
    """A command.

    summary:     one line, for lists of commands
    description: a paragraph
    arguments:   its own; those that it shares come by themselves
    examples:    command lines, without the words before them; empty for none
    exits:       exit code -> its meaning here; empty leaves the list out
    run:         raises: NodeattrsError; BadUsage, where the arguments cannot be meant. Or the name of a verb,
                 which asks the dialect alone; the request has the values of the arguments as options
    shared:      what else it takes: "folder", "asking", "ruby", "strict", "code", "settings",
                 "store", "output"; "text": "output" without formats; "checking": which findings count, and formats
    forms:       the formats of "output", the default first; a text of its own is printed as it is
    unsaved:     the verb that answers for every dialect where nothing is saved and the verb knows all arguments;
                 "" for none
    """

    summary: str
    description: str
    arguments: Sequence[Argument]
    examples: Sequence[str]
    exits: Mapping[int, str]
    run: Callable[[Question], Output] | str
    shared: Sequence[str] = VERB
    forms: Sequence[str] = ("text", "json", "yaml")
    unsaved: str = ""


class CommandGroup(NamedTuple):
    """A word of the command line with commands below it, as `nodeattrs catalog check`.

    summary, description, examples: as of a `Command`
    commands: the word of each -> the command
    """

    summary: str
    description: str
    examples: Sequence[str]
    commands: Mapping[str, Command]
