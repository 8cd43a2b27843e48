"""`nodeattrs impact`: the values that a change changes, on which subjects, and the changed lines that cause it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from nodeattrs.cli.changing import CHANGING, answer, request_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side

DESCRIPTION = """\
Compute the nodes, hosts and sets that a change may affect, before and after it, in every dialect, and
print what differs. The sides are Git commits, which are read and not checked out, or folders; with one
revision the other side is the work tree. Code of both sides runs; --no-run-code runs none."""
EXAMPLES = """\
examples:
  nodeattrs impact main..HEAD
  nodeattrs impact main...HEAD --format markdown --forbid 'apache2.**'
  nodeattrs impact HEAD
  nodeattrs impact old/ new/ --sample 100

exit codes:
  0 done    1 it could not be done, a node can no longer be resolved, or an option forbids the change
  2 not understood    130 interrupted
"""


ARGUMENTS = (
    Argument(
        ("change",),
        "a range, BASE...HEAD from where they branched off, one revision, or a folder",
        {"metavar": "BASE..HEAD"},
    ),
    Argument(("other",), "the folder as it is after the change", {"metavar": "FOLDER", "nargs": "?"}),
    *CHANGING,
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Compare the two sides of a change and print the differences; returns the exit code.

    raises: the errors of a revision or folder that does not exist, and of `verbs.impact.impact`
    """
    from nodeattrs.contract.written_sides import sides_of

    def sides(private: Path) -> tuple[Side, Side, Request]:
        home = "" if options.other is not None else os.path.realpath(options.repo)
        before, after = sides_of(options.change, options.other, Path(options.repo), private)
        return before, after, request_of(options, home)

    return answer(options, terminal, sides)
