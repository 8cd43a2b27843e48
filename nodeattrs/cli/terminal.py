"""The output of commands: reports to stdout; warnings, errors and progress to stderr.

Colour and progress are for terminals. It knows formats, and no report in particular.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from nodeattrs import border
from nodeattrs.codes import Code
from nodeattrs.contract.caller import Caller
from nodeattrs.errors import BadValue, NodeattrsError

if TYPE_CHECKING:
    from nodeattrs.core.unread import Unread
    from nodeattrs.reports import Report, Screen

_NO_COLUMNS = 100_000
_AT_ONCE = 1_000
"""Lines that are written at once, or pieces of JSON of some hundred signs; who asks little is shown all of it or
nothing."""

QUIET_SECONDS = 0.5
"""Seconds before a progress bar appears."""


class Terminal(Caller):
    """Writes reports to stdout; warnings, errors and progress to stderr.

    colour: "auto", "always" or "never"; "auto" colours a terminal, unless NO_COLOR is set
    form:   the format of reports: "text", "json" or "yaml"; others are written as text
    unread: the sources that were not read and may change the answer; `cli.exits.final_code` prints them
    """

    def __init__(self, colour: str = "auto", form: str = "text") -> None:
        self._colour = colour
        self._form = form
        self._warned: set[object] = set()
        self.unread: dict[Unread, None] = {}
        """What was not read and may change the answer; `cli.exits.final_code` names it."""
        self._progress = ""
        self._bar: Any = None
        for stream in (sys.stdout, sys.stderr):
            # A letter that the terminal does not know is written out; it ends no command.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    def report(self, report: Report, unread: Iterable[Unread] | None = None) -> None:
        """Write a report to stdout, in the format of this terminal.

        unread: sources that were not read and may change the report; None for a report that always is certain
        """
        from nodeattrs.reports import StreamedReport

        self.note_unread(unread or ())
        if self._form not in ("json", "yaml"):
            self._pieces(f"{line}\n" for line in report.lines(self.screen(sys.stdout)))
            return
        data = report.data() if isinstance(report, StreamedReport) else report.to_dict()
        data |= {} if unread is None else self.certainty(data)
        if self._form == "json":
            self._pieces(_json(data))
        else:
            from nodeattrs.formats.yaml_writing import pieces, written

            self._pieces(pieces(data) if isinstance(report, StreamedReport) else [written(data)])

    def note_unread(self, found: Iterable[Unread]) -> None:
        """Add sources that were not read to `unread`."""
        self.unread |= dict.fromkeys(found)

    def certainty(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Returns {"certain": bool, "unread": [...]} for the data of a report, with all noted sources and refused
        files.

        data: the data; its own `certain` and `unread` count, too
        """
        from nodeattrs.core.unread import Unread, certainty

        more = certainty([*self.unread, *(Unread(path, border.REASON) for path in border.refused())])
        is_certain = more["certain"] and data.get("certain", True)
        return {"certain": is_certain, "unread": [*data.get("unread", ()), *more["unread"]]}

    def _pieces(self, texts: Iterable[str]) -> None:
        waiting = iter(texts)
        while some := "".join(islice(waiting, _AT_ONCE)):
            self.text(some)  # of a whole fleet, piece by piece

    def text(self, text: str) -> None:
        """Write *text* to stdout; on a terminal control characters are escaped."""
        if sys.stdout.isatty():
            from nodeattrs.formats.hidden import ESCAPES

            self._clear()
            text = text.translate(ESCAPES)
        with self.writing():
            sys.stdout.write(text)

    def warn(self, warnings: Iterable[object], code: Code = NodeattrsError.entry) -> None:
        """Write warnings to stderr; one that was written before is skipped.

        code: the code of warnings that are plain sentences
        """
        for warning in warnings:
            from nodeattrs.reports.failure import warning_lines
            from nodeattrs.reports.findings import finding_of

            found = finding_of(warning, "warning", code.code)
            if found not in self._warned:
                self._warned.add(found)
                self.aside(warning_lines(found, self.screen(sys.stderr)))

    def complain(self, error: Exception, root: str | None = None, traceback: BaseException | None = None) -> None:
        """Write an error to stderr.

        root:      the repository; for a RecipeFailed its stack frames there are written, too
        traceback: an exception to write with its whole traceback before; None: none
        """
        from nodeattrs.reports.failure import failure_lines, traceback_lines

        if traceback is not None:
            self.aside(traceback_lines(traceback))
        self.aside(failure_lines(error, self.screen(sys.stderr), root))

    def remark(self, lines: Iterable[str]) -> None:
        """Write lines to stderr that are neither a warning nor an error."""
        from nodeattrs.reports.screen import printable

        self.aside(printable(line) for line in lines)

    def aside(self, lines: Iterable[str]) -> None:
        """Write lines to stderr as they are; they may be coloured."""
        self._clear()
        with contextlib.suppress(OSError):  # there is no other place to say it
            for line in lines:
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def progress(self, text: str) -> None:
        """Replace the progress line on stderr; does nothing where stderr is no terminal."""
        if sys.stderr.isatty():
            from nodeattrs.reports.screen import cut, printable

            self._clear()
            self._progress = cut(printable(text), columns() - 1)
            sys.stderr.write(self._progress)
            sys.stderr.flush()

    @contextlib.contextmanager
    def counting(self, total: int | None = None, what: str = "node") -> Iterator[Callable[[str], None]]:
        """A context with a progress bar on stderr, where it is a terminal; without tqdm with a counter.

        Yields a function to call with the name of each finished item.
        total: the number of items; None where it is not known
        what:  the word for an item
        """
        done = 0

        def count(name: str) -> None:
            nonlocal done
            done += 1
            if self._bar is None:
                of = f" of {total}" if total is not None else ""
                self.progress(f"{done}{of}{f': {name}' if name else ''}")
            else:
                if self._progress:
                    self._clear()
                self._bar.update()

        try:
            self._bar = _bar(total, what) if sys.stderr.isatty() else None
            yield count
        finally:
            self._clear()
            if self._bar is not None:
                self._bar.close()
                self._bar = None

    def finish(self) -> None:
        """Flush stdout and remove the progress line. raises: as `writing`"""
        self._clear()
        with self.writing():
            sys.stdout.flush()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A context for writing to stdout. raises: BrokenPipeError, where the reader has closed it; NodeattrsError"""
        try:
            yield
        except OSError as error:
            self.abandon()
            if isinstance(error, BrokenPipeError):
                raise
            raise NodeattrsError(f"the output cannot be written: {error.strerror}") from error

    def abandon(self) -> None:
        """Redirect stdout to nowhere after a failed write, so that Python does not write again at its end."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)

    def _clear(self) -> None:
        if self._progress:
            sys.stderr.write(f"\r{' ' * len(self._progress)}\r")
            sys.stderr.flush()
            self._progress = ""
        if self._bar is not None:
            self._bar.clear()  # it comes back when the next one is done

    def screen(self, stream: TextIO) -> Screen:
        """The width and colours for lines that go to *stream*; a pipe has no limit of width, unless COLUMNS is set."""
        from nodeattrs.reports import Screen

        # A pipe has no columns: its reader wants whole lines. COLUMNS says otherwise.
        is_wide = not stream.isatty() and not os.environ.get("COLUMNS")
        width = _NO_COLUMNS if is_wide else columns()
        return Screen(max(width, 40), self._coloured(stream))

    def _coloured(self, stream: TextIO) -> bool:
        if self._colour != "auto":
            return self._colour == "always"
        return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _bar(total: int | None, what: str) -> Any:
    """A bar of tqdm on stderr, or None where it is not installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    # Nothing else writes here: no thread that looks after bars, and no lock between processes.
    tqdm.monitor_interval = 0
    tqdm.set_lock(threading.RLock())
    is_known = True
    with contextlib.suppress(OSError):
        # One that does not say how big it is has room for nothing, if tqdm is asked.
        is_known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    return tqdm(
        total=total,
        unit=what,
        file=sys.stderr,
        ncols=None if is_known else 79,
        nrows=None if is_known else 24,
        dynamic_ncols=is_known,
        leave=False,
        delay=QUIET_SECONDS,
    )


class _Rows(list[Any]):
    """An iterator that is written as a list."""

    def __init__(self, rows: Iterator[Any]) -> None:
        super().__init__(islice(rows, 1))  # what is empty looks so
        self._rest = rows

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        yield from self._rest


def _json(data: dict[str, Any]) -> Iterator[str]:
    """As `json.dumps` writes it, in pieces of some hundred signs."""
    from nodeattrs.formats.hidden import ESCAPES

    rows = {key: _Rows(value) if isinstance(value, Iterator) else value for key, value in data.items()}
    signs = json.JSONEncoder(indent=2, ensure_ascii=False, allow_nan=False).iterencode(rows)
    try:
        while some := "".join(islice(signs, 100)):
            yield some.translate(ESCAPES)
        yield "\n"
    except NodeattrsError:
        raise  # of who makes the rows
    except RecursionError as error:
        raise BadValue("this is nested too deeply to be written as JSON", hint="ask for a part of it") from error
    except ValueError as error:
        raise BadValue("there is a value in it that JSON has no number for", hint="--format yaml has one") from error


def columns() -> int:
    """The width of the terminal: COLUMNS, else its own, else 80."""
    return shutil.get_terminal_size().columns
