"""`nodeattrs codes`: what the code of an error, a warning or a finding means."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeattrs.cli.terminal import Terminal
from nodeattrs.codes import Code, codes
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import output
from nodeattrs.project.config import known_code
from nodeattrs.reports.screen import Screen, in_columns

DESCRIPTION = "Give the cause of an error, a warning or a finding, an example and the way out; without a CODE list all."
EXAMPLES = """\
examples:
  nodeattrs codes NA1203
  nodeattrs codes default-replaces
  nodeattrs codes NA11
"""


ARGUMENTS = (
    Argument(("code",), "a code, its beginning, or a name", {"metavar": "CODE", "nargs": "?", "default": "NA"}),
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the codes that CODE selects, or all; returns 0. raises: BadArgument, where no code is selected"""
    terminal.report(_CodeList(_matching(options.code)))
    return 0


@dataclass(frozen=True, slots=True)
class _CodeList:
    """The report about some codes. As text a single code is shown in full, and several as a list of causes.

    entries: the codes, in the order of the report
    """

    entries: Sequence[Code]

    def to_dict(self) -> dict[str, Any]:
        """All fields of each code, with its name and page, as JSON-able data."""
        return {"version": 1, "codes": [one._asdict() | {"name": one.name, "page": one.page} for one in self.entries]}

    def lines(self, screen: Screen) -> Iterator[str]:
        """For one code its names, cause, example and way out; for several a line with the cause of each."""
        if len(self.entries) > 1:
            for code, name, cause in in_columns([[one.code, one.name, one.cause] for one in self.entries]):
                yield from screen.wrapped(cause, " " * 8, f"{code}  {name}  ")
            return
        for one in self.entries:
            yield screen.paint(f"{one.code} {' '.join(one.names)}", "strong")
            for title, text in (("cause", one.cause), ("example", one.example), ("way out", one.way_out)):
                yield from screen.wrapped(text, " " * 11, f"  {title:7}  ")


def _matching(word: str) -> list[Code]:
    """The codes that *word* selects: a code, the beginning of codes, a name, or "all".

    raises: BadArgument, where no code is selected
    """
    known_code(word)
    return [one for one in codes().values() if one.code.startswith(word) or word in one.names or word == "all"]
