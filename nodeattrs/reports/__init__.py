"""Reports: what a node, a trace or a run has to say, as data first and then as text.

A report knows no command line, no file and no terminal: it is asked for its data
(`to_dict`, for JSON and YAML, with a version), or for its lines on a screen of some width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from nodeattrs.reports.screen import Screen

__all__ = ["Long", "Report", "Screen"]


class Report(Protocol):
    """What every report can do."""

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-able data that says its `version`; secrets are masked."""
        ...

    def lines(self, screen: Screen) -> Iterable[str]:
        """The report as lines for people; secrets are masked."""
        ...


class Long:
    """A report whose rows are made while it is written, so that a whole store can be. It is asked once, one way or the
    other."""

    def data(self) -> dict[str, Any]:
        """As `to_dict`, where rows may be an iterator."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The report as data, whole."""
        return {key: list(value) if isinstance(value, Iterator) else value for key, value in self.data().items()}
