"""`nodeattrs history`: the revisions of a saved node."""

from __future__ import annotations

from nodeattrs.contract.arguments import STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import BadUsage
from nodeattrs.kinds import SAVED_NOTE
from nodeattrs.reports.history import History
from nodeattrs.store.saved_nodes import load_saved_or_raise

_DESCRIPTION = """\
List the revisions of a node, the latest first: number, time (UTC), the result of the run or the
command that made the revision, and the commit of the repository. An applied run also has counts of
its resources. --format json has all of it. `show` and `explain` take a number or a time with --at."""
_EXAMPLES = (
    "history web1",
    "show web1 app --at 3",
    "diff web1@3 web1",
)


_ARGUMENTS = (
    Argument(("node",), "the node's name", {"metavar": "NODE"}),
    Argument(("--limit",), "only the latest N", {"metavar": "N", "type": int}),
    *STORE,
    *output(),
)


def _perform(question: Question) -> Output:
    """The revisions of a node, the latest first. raises: NodeNotFound, if it is not saved"""
    asked = question.arguments
    if asked["limit"] is not None and asked["limit"] < 1:
        raise BadUsage("--limit is at least 1")
    store, sensitive = store_of(question.settings)
    revisions = store.history(asked["node"])
    if not revisions:
        found = load_saved_or_raise(store, asked["node"], sensitive)
        question.caller.warn(filter(None, [found.note]), SAVED_NOTE.entry)
    return Output(History(asked["node"], revisions[: asked["limit"]]))


COMMANDS = {"history": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}
