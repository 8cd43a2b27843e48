"""Commands that are asked in this process, for their data: what `--format json` would print, and what went wrong.

Whoever asks gives the words of a command line; they are understood as the program understands them, but nothing is
printed and nothing ends the process.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from nodeattrs.cli import program
from nodeattrs.cli.options import asked_to_run, judge, limits_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.core.code import held_back
from nodeattrs.errors import BadArgument
from nodeattrs.web.asking import Answer

if TYPE_CHECKING:
    from nodeattrs.reports import Report
    from nodeattrs.runs.settings import Settings


class _Refusing(program.Parser):
    """A parser whose faults are errors."""

    def error(self, message: str) -> NoReturn:
        raise BadArgument(message.partition("\n")[0])


class _Collecting(Terminal):
    """A terminal that keeps what is reported, as data, and warnings."""

    def __init__(self) -> None:
        super().__init__("never", "json")
        self.data: dict[str, Any] | None = None
        self.warnings: list[str] = []

    def report(self, report: Report) -> None:
        self.data = report.to_dict()

    def warn(self, warnings: Iterable[object], name: str = "", owner: str = "") -> None:
        self.warnings += dict.fromkeys(getattr(one, "message", str(one)) for one in warnings)

    def text(self, text: str) -> None:
        """Nothing that is asked here is no report."""

    def aside(self, lines: Iterable[str]) -> None:
        """Remarks are for who sits at a terminal."""

    def progress(self, text: str) -> None:
        """Nobody looks."""

    @contextmanager
    def counting(self, total: int | None = None, what: str = "node") -> Iterator[Callable[[str], None]]:
        yield lambda name: None


class Asked:
    """Asks commands, one at a time: they share a repository, which is read once.

    settings:  whose store and repository count
    runs_code: whether a command that runs code of the repository may
    """

    def __init__(self, settings: Settings, runs_code: bool) -> None:
        self._settings, self._runs_code = settings, runs_code
        self._turn = threading.Lock()
        self._parsers: dict[str, argparse.ArgumentParser] = {}

    def __call__(self, *words: str) -> Answer:
        """What a command answers. Whatever is wrong is in the answer."""
        terminal = _Collecting()
        options = argparse.Namespace(words=words, settings=self._settings)
        with self._turn:
            try:
                self._parser(words[0]).parse_args(words, options)
                options.format = "json"
                settled = judge(options, terminal)
                terminal.warnings.clear()  # those of the settings were shown at the start
                with limits_of(options, settled), held_back(not (self._runs_code and asked_to_run(options))):
                    options.perform(options, terminal)
            except Exception as error:
                return Answer(terminal.data, _error(program.understood(error)), terminal.warnings)
        return Answer(terminal.data, None, terminal.warnings)

    def _parser(self, command: str) -> argparse.ArgumentParser:
        if command not in self._parsers:
            self._parsers[command] = program.parser(command, kind=_Refusing)
        return self._parsers[command]


def _error(error: Exception) -> dict[str, Any]:
    from nodeattrs.reports.findings import finding_of

    return finding_of(error).to_dict()
