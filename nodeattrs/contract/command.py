"""A command as data, its `Question` and its `Output`.

The parser, `--help`, completion and the pages of `man` are made from a `Command`. Its function gets a `Question` and
returns an `Output`. It prints nothing, except through `Question.caller`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.contract.argument import Argument as Argument
from nodeattrs.contract.caller import Caller, PassOutcomes, one_by_one
from nodeattrs.core.unread import Unread
from nodeattrs.reports import Report, Screen

if TYPE_CHECKING:  # only their names: --help reads this module, and asks nothing
    from nodeattrs.contract.request import Request
    from nodeattrs.contract.sides import Side
    from nodeattrs.project.settings import Settings
    from nodeattrs.reports.findings import Finding

_VERB = ("folder", "asking", "ruby", "output")
"""`Command.shared` of every verb."""


class Question(NamedTuple):
    """What the function of a command gets: a folder, a request, and the values of its arguments. Nothing is read yet.

    side:      the folder with the files, as one version of them
    request:   facts, options and overrides
    arguments: name -> value, of the arguments that the command declares and shares; "format" is the form of the output
    dialects:  the names of the dialects to ask; (): all
    progress:  called with the name of a finished subject, the number of finished subjects, and the number of all
    caller:    shows warnings, and what must be shown before the function returns its output
    through:   a function that takes the outcomes of many nodes one by one (`caller.PassOutcomes`)
    settings:  the settings of the folder that the arguments name. Reading it raises NotFound if the folder does not
               exist
    """

    side: Side
    request: Request
    arguments: Mapping[str, Any]
    dialects: Sequence[str] = ()
    progress: Callable[[str, int, int], None] = lambda name, done, of: None
    caller: Caller = Caller()
    through: PassOutcomes = one_by_one

    @property
    def settings(self) -> Settings:
        """The settings of the folder that the arguments name. raises: NotFound, where that folder is not there"""
        from nodeattrs.project.settings import Settings  # parsers, which help does not need

        found = self.arguments.get("settings")
        return found if isinstance(found, Settings) else Settings(self.arguments, os.environ)


class CheckFindings(NamedTuple):
    """What a check found, for `Output.checked`. The options --fail-on, --ignore, ... are applied to it afterwards.

    found:   the findings
    looked:  kind of things that were checked -> their number; {}: no numbers are shown
    root:    the folder to which file names in findings are relative; "" for the current one
    ways_on: lines of advice, shown if there was nothing to check
    """

    found: Iterable[Finding]
    looked: Mapping[str, int]
    root: str = ""
    ways_on: Sequence[str] = ()


class Prompt(NamedTuple):
    """A Python prompt that the caller opens after the report, until the input ends.

    names:  variable -> value
    banner: the line above the prompt on a terminal
    """

    names: Mapping[str, Any]
    banner: str


class Output(NamedTuple):
    """What the function of a command returns. Only `cli` writes it; pages and tools take the data of the report.

    report:   an object with lines for people, and data for --format json; a text is printed as it is
    code:     the exit code
    warnings: sentences, errors or findings, shown before the report
    checked:  findings to show in place of a report; the exit code follows from them. Such a command shares "checking"
    error:    an error to show in place of a report, with *code* as exit code. An error with exit code 1 is raised
              instead
    unread:   what was not read and may change the answer. If it has any entry, the exit code is 5 instead of 0, and
              JSON says so in the fields `certain` and `unread`. None: the output is no answer, and JSON has no such
              fields
    prompt:   a Python prompt to open after the report; None for none
    """

    report: Report | str = ""
    code: int = 0
    warnings: Sequence[object] = ()
    checked: CheckFindings | None = None
    error: Exception | None = None
    unread: Sequence[Unread] | None = None
    prompt: Prompt | None = None


class PlainReport(NamedTuple):
    """A report whose lines and data are given; nothing is formatted or masked.

    text: the lines, the same for each screen
    data: the data for JSON, with its "version"
    """

    text: Sequence[str]
    data: Mapping[str, Any]

    def lines(self, screen: Screen) -> Iterable[str]:
        """The lines of the report; the screen makes no difference."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """A copy of the data, one level deep."""
        return dict(self.data)


class Command(NamedTuple):
    """A command as data: its help, its arguments, and the function that answers. The constructor runs nothing.

    summary:     one line, for lists of commands
    description: a paragraph
    arguments:   its own arguments; *shared* adds others
    examples:    command lines without the program and the dialect; () for none. A remark begins with "  # "
    exits:       exit code -> its meaning in this command; {}: help has no list of exit codes
    run:         the function that answers, or the name of a verb. The function gets a `Question`. It may raise
                 NodeattrsError, and BadUsage for arguments that exclude each other. A verb that is named here runs for
                 this dialect alone, and `Request.options` has the values of *arguments*
    shared:      names of sets of further arguments: "folder", "asking", "ruby", "strict", "code", "settings", "store",
                 "output"; "text": "output" without formats; "checking": which findings count, and formats
    forms:       the formats of "output", the default first
    unsaved:     the verb that runs in place of this command, if no node is saved or the named repository has none of
                 the dialect. With an argument that the verb does not have, the command itself runs. "": no other verb
    """

    summary: str
    description: str
    arguments: Sequence[Argument]
    examples: Sequence[str]
    exits: Mapping[int, str]
    run: Callable[[Question], Output] | str
    shared: Sequence[str] = _VERB
    forms: Sequence[str] = ("text", "json", "yaml")
    unsaved: str = ""


class CommandGroup(NamedTuple):
    """A word of the command line with commands below it, such as `catalog` in `nodeattrs catalog check`.

    summary:     one line about the word, for lists of commands
    description: a paragraph for `--help` of the word
    examples:    command lines without the program and the word: "check --strict"
    commands:    word -> command
    """

    summary: str
    description: str
    examples: Sequence[str]
    commands: Mapping[str, Command]
