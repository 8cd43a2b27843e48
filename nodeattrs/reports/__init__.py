"""Reports: the output of a command, as data and as lines of text.

A report is made from computed results; it reads no options and no files. `to_dict` returns its data for JSON and YAML,
with a version of the form. `lines` returns its text for a screen. Each module has the reports of one or more commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from nodeattrs.reports.screen import Screen

__all__ = ["Report", "Screen", "StreamedReport"]


class Report(Protocol):
    """The protocol of every report: the command line prints `to_dict` as JSON or YAML, or `lines` as text.

    A `Screen` says how wide the lines may be, and whether they may have colours.
    """

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-able data that says its `version`; secrets are masked."""
        ...

    def lines(self, screen: Screen) -> Iterable[str]:
        """The report as lines for people; secrets are masked."""
        ...


class StreamedReport:
    """The base class of reports whose rows are read once, from an iterator, since they may not fit into memory.

    A subclass has `data` and `lines`. The JSON writer prints the rows of `data` one by one. Call only one of `to_dict`,
    `data` and `lines`, and only once: the rows are used up then.
    """

    def data(self) -> dict[str, Any]:
        """The report as JSON-able data; a value may be an iterator of rows, which can be read once."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The data with each iterator read into a list."""
        return {key: list(value) if isinstance(value, Iterator) else value for key, value in self.data().items()}
