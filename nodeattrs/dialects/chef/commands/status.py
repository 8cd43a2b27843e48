"""`nodeattrs status`: the time and the result of each saved node's last run."""

from __future__ import annotations

from datetime import UTC, datetime

from nodeattrs.contract.arguments import STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.common import saved_nodes_of
from nodeattrs.reports.status import NodeStatus, Status
from nodeattrs.store.engines.store import last_runs

_DESCRIPTION = """\
List the saved nodes: how long ago each ran last, in which revision, whether that run went well, and
what it did to the resources of its recipes, if it was applied. A later change
of the node (node set, node restore, ...) is shown too. The exit code is 0 even where a run failed."""
_EXAMPLES = (
    "status",
    "status --failed --format json",
)


_ARGUMENTS = (
    Argument(("--failed",), "only those whose last run failed", {"action": "store_true"}),
    *STORE,
    *output(),
)


def _perform(question: Question) -> Output:
    """The last run of each saved node. raises: NotFound, if there is no store"""
    store, _ = saved_nodes_of(question.settings)
    nodes = (one for one in map(NodeStatus._make, last_runs(store)) if one.failed or not question.arguments["failed"])
    return Output(Status(nodes, datetime.now(UTC)))


COMMANDS = {"status": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}
