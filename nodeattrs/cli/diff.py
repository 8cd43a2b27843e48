"""`nodeattrs diff`: what differs between two kept nodes, or two revisions of one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.options import root_of, store_and_sensitive
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import SOURCES, STORE, output, path_of, revision_or_time
from nodeattrs.errors import NodeNotFound
from nodeattrs.kinds import SAVED_NOTE

if TYPE_CHECKING:
    from nodeattrs.reports.diff import Side
    from nodeattrs.store import Store

DESCRIPTION = """\
Compare two kept nodes, or two revisions of one: NODE is its latest revision, NODE@3 the third,
NODE@2030-01-31 the one at that time. With one NODE, its latest revision and the one before.
What is read is compared, lists by their elements; --slots compares what is overridden, too."""
EXAMPLES = """\
examples:
  nodeattrs diff web1
  nodeattrs diff web1@3 web1@5
  nodeattrs diff web1 web2 --path apache2
  nodeattrs diff web1@3 web1 --slots
  nodeattrs diff web1 --causes

exit codes:
  0 compared    1 could not be    2 not understood    5 compared, and an unknown layer may override something
"""


ARGUMENTS = (
    Argument(("before",), "its name, or NODE@REVISION, or NODE@TIME", {"metavar": "NODE"}),
    Argument(("after",), "the same (default: NODE as it is now)", {"metavar": "OTHER", "nargs": "?"}),
    Argument(("--path",), "only what is there", {"metavar": "PATH"}),
    Argument(("--slots",), "compare the fifteen slots, too: what is overridden as well", {"action": "store_true"}),
    Argument(
        ("--causes",), "name the lines that the new values come from, too, as `explain` does", {"action": "store_true"}
    ),
    *SOURCES,
    *STORE,
    *output(),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the differences between two saved nodes or revisions; a single NODE is compared with its revision before.

    raises: NodeNotFound, also where NODE has one revision only
    """
    from nodeattrs.reports.diff import Difference

    store, sensitive = store_and_sensitive(options)
    before, after = options.before, options.after
    if after is None:
        name, mark, _ = before.partition("@")
        after = name
        if not mark:
            revisions = store.history(name)
            if len(revisions) == 1:
                raise NodeNotFound(
                    f"the store has one revision of the node {name}, so there is none to compare it with",
                    hint="name another node, or run it again",
                )
            before = f"{name}@{revisions[1].number}" if revisions else name
    left, right = (_side(options, store, sensitive, text, terminal) for text in (before, after))
    difference = Difference(left, right, path_of(options.path), options.slots, options.causes)
    terminal.report(difference, difference.unread)
    return 0


def _side(options: argparse.Namespace, store: Store, sensitive: Any, text: str, terminal: Terminal) -> Side:
    from nodeattrs.reports.diff import Side
    from nodeattrs.store.remembered import remembered_or_raise

    name, mark, when = text.partition("@")
    found = remembered_or_raise(store, name, sensitive, revision_or_time(when) if mark else None, root_of(options))
    terminal.warn(filter(None, [found.note]), SAVED_NOTE.entry)
    return Side(text, found.node)
