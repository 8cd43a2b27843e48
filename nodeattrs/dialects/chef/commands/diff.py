"""`nodeattrs diff`: the differences between two saved nodes, or two revisions of one node."""

from __future__ import annotations

from typing import Any

from nodeattrs.contract.argument_values import path_of, revision_or_time
from nodeattrs.contract.arguments import SOURCES, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, Question
from nodeattrs.dialects.common import sources_of, store_of
from nodeattrs.errors import NodeNotFound
from nodeattrs.kinds import SAVED_NOTE
from nodeattrs.reports.diff import Difference, DiffSide
from nodeattrs.store import Store
from nodeattrs.store.saved_nodes import load_saved_or_raise

_DESCRIPTION = """\
Compare two saved nodes, or two revisions of one: NODE is its latest revision, NODE@3 the third,
NODE@2030-01-31 the one at that time. With one NODE, its latest revision and the one before.
What is read is compared, lists by their elements; --slots compares what is overridden, too. Where nothing is
saved, two nodes, hosts or sets of any dialect are compared, and no code of the repository runs."""
_EXAMPLES = (
    "diff web1",
    "diff web1@3 web1@5",
    "diff web1 web2 --path apache2",
    "diff web1@3 web1 --slots",
    "diff web1 --causes",
)
_EXITS = {
    0: "compared",
    1: "an error",
    2: "not understood",
    5: "compared, and an unknown layer may override something",
}


_ARGUMENTS = (
    Argument(("before",), "its name, or NODE@REVISION, or NODE@TIME", {"metavar": "NODE"}),
    Argument(("after",), "the same (default: NODE as it is now)", {"metavar": "OTHER", "nargs": "?"}),
    Argument(("--path",), "only this path", {"metavar": "PATH"}),
    Argument(("--slots",), "compare the fifteen slots, too: what is overridden as well", {"action": "store_true"}),
    Argument(
        ("--causes",), "name the lines that the new values come from, too, as `explain` does", {"action": "store_true"}
    ),
    *SOURCES,
    *STORE,
    *output(),
)


def _perform(question: Question) -> Output:
    """Compare two saved nodes or revisions; a single NODE is compared with its revision before.

    raises: NodeNotFound, also if NODE has only one revision
    """
    asked = question.arguments
    store, sensitive = store_of(question.settings)
    before, after = asked["before"], asked["after"]
    if after is None:
        name, mark, _ = before.partition("@")
        after = name
        if not mark:
            revisions = store.history(name)
            if len(revisions) == 1:
                raise NodeNotFound(
                    f"the store has one revision of the node {name}, and no other to compare it with",
                    hint="name another node, or run it again",
                )
            before = f"{name}@{revisions[1].number}" if revisions else name
    left, right = (_side(question, store, sensitive, text) for text in (before, after))
    difference = Difference(left, right, path_of(asked["path"]), asked["slots"], asked["causes"])
    return Output(difference, unread=difference.unread)


def _side(question: Question, store: Store, sensitive: Any, text: str) -> DiffSide:
    name, mark, when = text.partition("@")
    sources = sources_of(question.settings, question.arguments["sources"])
    found = load_saved_or_raise(store, name, sensitive, revision_or_time(when) if mark else None, sources)
    question.caller.warn(filter(None, [found.note]), SAVED_NOTE.entry)
    return DiffSide(text, found.node)


COMMANDS = {"diff": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, _EXITS, _perform, (), unsaved="diff")}
