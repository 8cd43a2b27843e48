"""`nodeattrs config`: the settings that count here, each with the place that set it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.cli.options import settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.arguments import SETTINGS_FROM, STORE, output
from nodeattrs.core.sensitive import without_password
from nodeattrs.core.trace import Trace, TraceClaim
from nodeattrs.core.tree import spell
from nodeattrs.reports.screen import Screen, cut, in_columns, printable
from nodeattrs.reports.values import on_one_line

DESCRIPTION = """\
Print the settings that count for a command here, each with the place that set it, and what it overrides. Options
override environment variables (NODEATTRS_REPO, NODEATTRS_STORE), variables override nodeattrs.toml, and that
file overrides the defaults. Without --repo the nearest nodeattrs.toml counts: in the current directory or in one
above, up to the root of a repository."""
EXAMPLES = """\
examples:
  nodeattrs config
  nodeattrs config --repo cookbooks_example
  NODEATTRS_STORE=nodes nodeattrs config --format json
"""


ARGUMENTS = (
    *SETTINGS_FROM,
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print each setting that counts here, and the places that set it; returns 0. raises: NotFound, DocumentError"""
    terminal.report(_ShownSettings(tuple(settings_of(options).traces())))
    return 0


@dataclass(frozen=True, slots=True)
class _ShownSettings:
    """The report about the settings of one call of nodeattrs. Passwords in URLs are not shown.

    traces: the trace of each setting, in the order of the report
    """

    traces: Sequence[Trace]

    def to_dict(self) -> dict[str, Any]:
        """For each setting its name, its value, and all places that set it, the strongest first."""
        settings = [
            {
                "name": spell(one.path),
                "value": _plain(one.value),
                "claims": [
                    {"value": _plain(claim.value), "outcome": claim.outcome.value, **claim.origin._asdict()}
                    for claim in one.claims
                ],
            }
            for one in self.traces
        ]
        return {"version": 1, "settings": settings}

    def lines(self, screen: Screen) -> Iterator[str]:
        """A line for each setting, and below it a line for each overridden place. Overridden defaults are left out."""
        rows = [
            (spell(one.path) if number == 0 else "", _who(claim), on_one_line(_plain(claim.value)), number)
            for one in self.traces
            for number, claim in enumerate(one.claims)
            if number == 0 or claim.origin.kind != "default"
        ]
        for cells, (*_, number) in zip(in_columns([row[:3] for row in rows]), rows, strict=True):
            line = cut("  ".join(cells), screen.width)
            yield screen.paint(line, "loses") if number else line


def _plain(value: Any) -> Any:
    return without_password(value) if isinstance(value, str) else value


def _who(claim: TraceClaim) -> str:
    origin = claim.origin
    who = origin.place or origin.who
    return printable(who if claim.outcome.name in ("WINS", "JOINS") else f"{who}, overridden")
