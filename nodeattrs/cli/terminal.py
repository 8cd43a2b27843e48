"""Print the output of commands: reports to stdout; warnings, errors and progress to stderr.

Only terminals get colour and progress. The module knows output formats, and no report in particular.
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
from typing import Any, TextIO

from nodeattrs import border
from nodeattrs.codes import Code
from nodeattrs.contract.caller import Caller
from nodeattrs.core.unread import Unread, certainty
from nodeattrs.errors import BadValue, NodeattrsError
from nodeattrs.reports import Report, Screen, StreamedReport
from nodeattrs.reports.screen import cut, printable

_NO_COLUMNS = 100_000
_AT_ONCE = 1_000
"""Lines, or pieces of JSON of some hundred characters, that are written at once: a short output whole or not at all."""

QUIET_SECONDS = 0.5
"""Seconds before a progress bar appears."""


class Terminal(Caller):
    """The output of one command: reports go to stdout; warnings, errors and progress go to stderr.

    The constructor writes nothing. It sets both streams of this process to escape characters that they cannot encode. A
    command calls `report` or `text`, and the program calls `finish` at the end.
    On stderr, `warn` writes warnings, each once, and `complain` an error. `remark` escapes other lines, and `aside`
    writes them unchanged. `progress` and `counting` show progress, on a terminal only. `screen` says how wide lines may
    be. `note_unread` adds to *unread*, and `certainty` gives the fields "certain" and "unread" of a report's data.
    `writing` is a context manager around code that writes to stdout itself.
    colour: "auto", "always" or "never"; "auto" colours a terminal, unless NO_COLOR is set
    form:   the format of reports: "text", "json" or "yaml"; any other format counts as "text"
    unread: the sources that were not read and may change the answer, as keys; `cli.exits.final_code` prints them
    """

    def __init__(self, colour: str = "auto", form: str = "text") -> None:
        self._colour = colour
        self._form = form
        self._warned: set[object] = set()
        self.unread: dict[Unread, None] = {}
        self._progress = ""
        self._bar: Any = None
        for stream in (sys.stdout, sys.stderr):
            # A letter that the terminal does not know is written out; it ends no command.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")

    def report(self, report: Report, unread: Iterable[Unread] | None = None) -> None:
        """Write a report to stdout, in the format of this terminal, piece by piece. raises: as `text`

        unread: sources that were not read and may change the report; they are noted, and data gets `certain` and
                `unread`. None: the report is no answer, and its data has no such fields
        """
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
        """Add sources that were not read to `unread`, each once; nothing is printed."""
        self.unread |= dict.fromkeys(found)

    def certainty(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Returns {"certain": bool, "unread": [...]} for the data of a report: all noted sources, and refused files.

        data: a report; if it has `certain` and `unread`, these are combined with the noted sources. It is not changed
        """
        more = certainty([*self.unread, *(Unread(path, border.REASON) for path in border.refused())])
        is_certain = more["certain"] and data.get("certain", True)
        return {"certain": is_certain, "unread": [*data.get("unread", ()), *more["unread"]]}

    def _pieces(self, texts: Iterable[str]) -> None:
        waiting = iter(texts)
        while some := "".join(islice(waiting, _AT_ONCE)):
            self.text(some)  # of a whole fleet, piece by piece

    def text(self, text: str) -> None:
        """Write *text* to stdout as it is; on a terminal with control characters escaped.

        raises: BrokenPipeError, where the reader has closed it; NodeattrsError, where it cannot be written
        """
        if sys.stdout.isatty():
            from nodeattrs.formats.hidden import ESCAPES

            self._clear()
            text = text.translate(ESCAPES)
        with self.writing():
            sys.stdout.write(text)

    def warn(self, warnings: Iterable[object], code: Code = NodeattrsError.entry) -> None:
        """Write warnings to stderr; a warning that this terminal wrote before is skipped.

        More than three warnings that differ only in their places are one warning with the first three places.
        warnings: errors, or plain sentences
        code:     the code of plain sentences
        """
        given = list(warnings)
        if not given:
            return
        from nodeattrs.reports.failure import warning_lines
        from nodeattrs.reports.findings import finding_of, joined_places

        found = dict.fromkeys(finding_of(warning, "warning", code.code) for warning in given)
        new = [one for one in found if one not in self._warned]
        self._warned.update(new)
        for one in joined_places(new):
            self.aside(warning_lines(one, self.screen(sys.stderr)))

    def complain(self, error: Exception, root: str | None = None, traceback: BaseException | None = None) -> None:
        """Write an error to stderr: place, message, code, details and hint. The program goes on.

        root:      the repository; for a RecipeFailed its stack frames there are written, too
        traceback: an exception whose whole traceback is written before; None: no traceback
        """
        from nodeattrs.reports.failure import failure_lines, traceback_lines

        if traceback is not None:
            self.aside(traceback_lines(traceback))
        self.aside(failure_lines(error, self.screen(sys.stderr), root))

    def remark(self, lines: Iterable[str]) -> None:
        """Write lines to stderr that are neither a warning nor an error; control characters are escaped."""
        self.aside(printable(line) for line in lines)

    def aside(self, lines: Iterable[str]) -> None:
        """Write lines to stderr as they are; they may be coloured. Failures to write are ignored."""
        self._clear()
        with contextlib.suppress(OSError):
            for line in lines:
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def progress(self, text: str) -> None:
        """Replace the progress line on stderr, cut to the width; does nothing where stderr is no terminal.

        The next output removes the line.
        """
        if sys.stderr.isatty():
            self._clear()
            self._progress = cut(printable(text), shutil.get_terminal_size().columns - 1)
            sys.stderr.write(self._progress)
            sys.stderr.flush()

    @contextlib.contextmanager
    def counting(self, total: int | None = None, what: str = "node") -> Iterator[Callable[[str], None]]:
        """A context manager with a progress bar on stderr, if that is a terminal; without tqdm with a counter.

        It gives a function to call with the name of each finished item. The bar is removed at the end.
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
        """Remove the progress line, and flush stdout. raises: BrokenPipeError or NodeattrsError, where that fails"""
        self._clear()
        with self.writing():
            sys.stdout.flush()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A context manager for code that writes to stdout. After a failed write, stdout goes to /dev/null.

        raises: BrokenPipeError, where the reader has closed it; NodeattrsError, for any other OSError
        """
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError, ValueError):  # else Python would write again at its end
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, sys.stdout.fileno())
                os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                raise
            raise NodeattrsError(f"the output cannot be written: {error.strerror}") from error

    def _clear(self) -> None:
        if self._progress:
            sys.stderr.write(f"\r{' ' * len(self._progress)}\r")
            sys.stderr.flush()
            self._progress = ""
        if self._bar is not None:
            self._bar.clear()  # it comes back when the next one is done

    def screen(self, stream: TextIO) -> Screen:
        """The width, at least 40, and whether to colour, for lines that go to *stream*.

        Without COLUMNS, lines for a file or a pipe may be of any width.
        """
        is_wide = not stream.isatty() and not os.environ.get("COLUMNS")
        width = _NO_COLUMNS if is_wide else shutil.get_terminal_size().columns
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
    """The rows of an iterator in the form of a list, for the JSON encoder: only the first row is taken at once."""

    def __init__(self, rows: Iterator[Any]) -> None:
        super().__init__(islice(rows, 1))  # without rows the list is empty
        self._rest = rows

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        yield from self._rest


def _json(data: dict[str, Any]) -> Iterator[str]:
    """Yield the JSON text of *data* in pieces of some hundred characters; control characters are escaped."""
    from nodeattrs.formats.hidden import ESCAPES

    rows = {key: _Rows(value) if isinstance(value, Iterator) else value for key, value in data.items()}
    signs = json.JSONEncoder(indent=2, ensure_ascii=False, allow_nan=False).iterencode(rows)
    try:
        while some := "".join(islice(signs, 100)):
            yield some.translate(ESCAPES)
        yield "\n"
    except NodeattrsError:
        raise  # an error of the rows
    except RecursionError as error:
        raise BadValue("this is nested too deeply to be written as JSON", hint="ask for a part of it") from error
    except ValueError as error:
        raise BadValue("there is a value in it that JSON has no number for", hint="--format yaml has one") from error
