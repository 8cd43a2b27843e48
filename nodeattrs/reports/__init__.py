"""Reports about nodes, traces and runs: the data of a command's output, and its lines.

A report reads no options and no files. `to_dict` returns its data for JSON and YAML, with a version; `lines` returns
its text for a screen of some width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from nodeattrs.reports.screen import Screen

__all__ = ["Long", "Report", "Screen"]


class Report(Protocol):
    """Data that the command line prints: as JSON or YAML with `to_dict`, as text with `lines`."""

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-able data that says its `version`; secrets are masked."""
        ...

    def lines(self, screen: Screen) -> Iterable[str]:
        """The report as lines for people; secrets are masked."""
        ...


class Long:
    """A report with too many rows for memory: `data` may hold iterators, which `to_dict` and the JSON writer read once.

    Call `to_dict`, `data` or `lines` once in all: the rows are used up then.
    """

    def data(self) -> dict[str, Any]:
        """The report as JSON-able data; a value may be an iterator of rows, which can be read once."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The data with each iterator read into a list."""
        return {key: list(value) if isinstance(value, Iterator) else value for key, value in self.data().items()}
