"""Run commands inside of `web` and `mcp`, and return the data of `--format json` instead of printing it.

The caller passes the words of a command line. They are parsed as by the program, but nothing is printed, and an error
does not end the process.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from nodeattrs import border
from nodeattrs.cli import program
from nodeattrs.cli.exits import FAILED, final_code
from nodeattrs.cli.options import limits_of, may_run_code, settings_limits
from nodeattrs.cli.terminal import Terminal
from nodeattrs.codes import Code
from nodeattrs.core.code import held_back
from nodeattrs.core.unread import Unread
from nodeattrs.errors import BadArgument, NodeattrsError
from nodeattrs.reports import Report
from nodeattrs.reports.findings import finding_of
from nodeattrs.web.asking import CommandAnswer

AT_ONCE = 4
"""The most commands that run at the same time; further ones wait."""

_ONE_BY_ONE = ("impact", "catalog")
"""Commands that take long, or run a repository's code: one of each at a time, so that there is room for others."""


class _StrictParser(program.Parser):
    """A parser that raises BadArgument for words that it does not understand, and for `--help`. It prints nothing."""

    def print_help(self, file: Any = None) -> None:
        raise BadArgument("no help is printed here", hint=f"in a shell: {self.prog} --help")

    def error(self, message: str) -> NoReturn:
        raise BadArgument(message.partition("\n")[0])


class _CollectingTerminal(Terminal):
    """A terminal that writes nothing: it keeps the report, its data, and the warnings as texts."""

    def __init__(self) -> None:
        super().__init__("never", "json")
        self.data: dict[str, Any] | None = None
        self.reported: Report | None = None
        self.warnings: list[str] = []

    def report(self, report: Report, unread: Iterable[Unread] | None = None) -> None:
        self.note_unread(unread or ())
        self.reported, self.data = report, report.to_dict()
        self.data |= {} if unread is None else self.certainty(self.data)

    def warn(self, warnings: Iterable[object], code: Code = NodeattrsError.entry) -> None:
        self.warnings += dict.fromkeys(getattr(one, "message", str(one)) for one in warnings)

    def text(self, text: str) -> None:
        """Does nothing: only reports are kept."""

    def aside(self, lines: Iterable[str]) -> None:
        """Does nothing: remarks are for people at a terminal."""

    def progress(self, text: str) -> None:
        """Does nothing: no progress is shown."""

    @contextmanager
    def counting(self, total: int | None = None, what: str = "node") -> Iterator[Callable[[str], None]]:
        yield lambda name: None


class CommandRunner:
    """Runs commands of the program inside this process, and returns their reports as data.

    Make one runner, and call it with the words of a command line: `ask("list", "nodes")` returns a `CommandAnswer`.
    A failed command raises nothing: its error is in the answer, with exit code 1. Nothing is printed. A call without
    words, and one for a help text, are errors, too.
    Each call reads settings and repository again. The runner keeps only the parsers. At most four calls run at the same
    time in threads; further calls wait.
    given:     the options of the server, such as `repo` and `store`, in the form that `Settings` takes
    runs_code: True: a command runs code of the repository if its own options allow it; False: no command does
    """

    def __init__(self, given: Mapping[str, Any], runs_code: bool) -> None:
        self._given, self._runs_code = given, runs_code
        self._room, self._parsing = threading.BoundedSemaphore(AT_ONCE), threading.Lock()
        self._turns = {name: threading.Lock() for name in _ONE_BY_ONE}
        self._parsers: dict[str, argparse.ArgumentParser] = {}

    def __call__(self, *words: str) -> CommandAnswer:
        """Run the command line *words*; returns its data, report, warnings and exit code.

        An error is returned as data in `error`, with exit code 1. A command that prints no report has the data None.
        """
        terminal = _CollectingTerminal()
        command = words[0] if words else ""  # which is no command, and refused as such
        with self._turns.get(command, nullcontext()), self._room:
            try:
                code = self._perform(command, words, terminal)
            except Exception as error:
                data = finding_of(program.understood(error)).to_dict()
                return CommandAnswer(terminal.data, data, terminal.warnings, FAILED)
        return CommandAnswer(terminal.data, None, terminal.warnings, code, terminal.reported)

    def _perform(self, command: str, words: tuple[str, ...], terminal: _CollectingTerminal) -> int:
        from nodeattrs.project.settings import Settings

        if any("\0" in word for word in words):  # no command line has one, so no command expects it
            raise BadArgument("a word has a null character")
        options = argparse.Namespace(words=words, given=self._given, settings=Settings(self._given, os.environ))
        with self._parsing:
            self._parser(command).parse_args(words, options)
        options.format = "json"
        is_held = not (self._runs_code and may_run_code(options))
        around = border.in_force()
        around = None if around is None else around.for_one_answer(is_held)
        with border.held(around), held_back(is_held):
            settled = settings_limits(options, terminal)
            terminal.warnings.clear()  # the settings were read at the start, and warned then
            with limits_of(options, settled):
                code: int = options.perform(options, terminal)
        return final_code(code, options, terminal, around)

    def _parser(self, command: str) -> argparse.ArgumentParser:
        if command not in self._parsers:
            if program.command_module(command) is None:
                raise BadArgument(f"there is no command {command!r}", hint="nodeattrs --help lists them")
            self._parsers[command] = program.parser(command, kind=_StrictParser)
        return self._parsers[command]
