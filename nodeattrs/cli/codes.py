"""`nodeattrs codes`: what the code of an error, a warning or a finding means."""

from __future__ import annotations

import argparse

from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import output

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
    """Print the codes that CODE selects; all without CODE."""
    from nodeattrs.reports.codes import CodeList, matching

    terminal.report(CodeList(matching(options.code)))
    return 0
