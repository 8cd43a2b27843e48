"""`nodeattrs status`: when each kept node ran last, and how that went."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from nodeattrs.cli.options import existing_store
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import STORE, output

DESCRIPTION = """\
List the kept nodes: how long ago each ran last, in which revision, whether that run went well, and
what it did to the resources of its recipes, if it was applied. Where somebody has changed the node
since (node set, node restore, ...), that is shown too. The exit code is 0 even where a run failed:
what was asked for is the list."""
EXAMPLES = """\
examples:
  nodeattrs status
  nodeattrs status --failed --format json
"""


ARGUMENTS = (
    Argument(("--failed",), "only those whose last run failed", {"action": "store_true"}),
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the last run of each saved node. raises: NotFound, where there is no store"""
    from nodeattrs.reports.status import NodeStatus, Status
    from nodeattrs.store.engines.store import last_runs

    store, _ = existing_store(options)
    nodes = (one for one in map(NodeStatus._make, last_runs(store)) if one.failed or not options.failed)
    terminal.report(Status(nodes, datetime.now(UTC)))
    return 0
