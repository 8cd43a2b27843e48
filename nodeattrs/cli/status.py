"""`nodeattrs status`: when each kept node ran last, and how that went."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import add_output, add_store, kept_in
from nodeattrs.cli.terminal import Terminal

__all__ = ["DESCRIPTION", "EXAMPLES", "NAME", "SUMMARY", "add_options", "perform"]

NAME = "status"
SUMMARY = "say when each node ran last, and how that went"
DESCRIPTION = """\
List the kept nodes with the age of the latest revision, and whether that run went well. The exit
code is 0 even where one failed: what was asked for is the list."""
EXAMPLES = """\
examples:
  nodeattrs status
  nodeattrs status --failed --format json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("--failed", action="store_true", help="only those whose last run failed")
    add_store(parser)
    add_output(parser)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """List them."""
    from datetime import UTC, datetime

    from nodeattrs.reports.status import Status

    store, _ = kept_in(options)
    nodes = [
        (name, last) for name, last in store.latest() if not options.failed or (last is not None and not last.noted.ok)
    ]
    terminal.report(Status(nodes, datetime.now(UTC)))
    return 0
