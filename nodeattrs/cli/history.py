"""`nodeattrs history`: the revisions of a node."""

from __future__ import annotations

import argparse

from nodeattrs.cli.options import store_and_sensitive
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import STORE, output
from nodeattrs.kinds import SAVED_NOTE

DESCRIPTION = """\
List what the store keeps of a node, the latest first: the number of each revision, when it was
saved (in UTC), how the run went (and what it did to the resources of its recipes, if it was
applied) or which command made the revision, and the commit of the repository. --format json has
all of it. `show` and `explain` take such a number, or a time, with --at."""
EXAMPLES = """\
examples:
  nodeattrs history web1
  nodeattrs show web1 app --at 3
  nodeattrs diff web1@3 web1
"""


ARGUMENTS = (
    Argument(("node",), "its name", {"metavar": "NODE"}),
    Argument(("--limit",), "only the latest N", {"metavar": "N", "type": int}),
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the revisions of a node. raises: NodeNotFound, where it is not saved"""
    from nodeattrs.reports.history import History

    if options.limit is not None and options.limit < 1:
        options.refuse("--limit is at least 1")
    store, sensitive = store_and_sensitive(options)
    revisions = store.history(options.node)
    if not revisions:
        from nodeattrs.store.remembered import remembered_or_raise

        terminal.warn(filter(None, [remembered_or_raise(store, options.node, sensitive).note]), SAVED_NOTE.entry)
    terminal.report(History(options.node, revisions[: options.limit]))
    return 0
