"""`nodeattrs node`: change or delete a saved node, as `knife node` does on a server."""

from __future__ import annotations

from nodeattrs.contract.argument_values import path_of, revision_or_time
from nodeattrs.contract.arguments import SETTINGS_FROM, STORE, output
from nodeattrs.contract.command import Argument, Command, Output, PlainReport, Question
from nodeattrs.core.tree import json_or_text
from nodeattrs.dialects.common import store_of
from nodeattrs.errors import BadArgument, BadUsage, TypeConflict
from nodeattrs.reports.history import revision_dict
from nodeattrs.reports.screen import printable
from nodeattrs.store import Revision
from nodeattrs.store.saved_nodes import load_saved_or_raise, remove_normal, restore, set_normal

_DESCRIPTION = """\
set:      store a normal attribute at PATH, such as app.tier; VALUE is JSON, else text
rm:       remove the stored normal attribute at PATH
restore:  make an older revision the latest again; WHICH is its number, or a time
delete:   delete the node with all its revisions

Each of the first three makes a new revision, which `history` and `status` distinguish from a run. The
next run starts from it: it keeps normal attributes, and makes all others anew."""
_EXAMPLES = (
    "node set web1 app.tier gold",
    "node set web1 app.ports '[80, 443]'",
    "node set web1 app.version '\"1.10\"'",
    "node rm web1 app.tier",
    "node restore web1 3",
)


_ARGUMENTS = (
    Argument(
        ("task",), "set, rm, restore or delete", {"metavar": "ACTION", "choices": ("set", "rm", "restore", "delete")}
    ),
    Argument(("node",), "the node's name", {"metavar": "NODE"}),
    Argument(("what",), "the attribute; for restore the revision", {"metavar": "PATH|WHICH", "nargs": "?"}),
    Argument(("value",), "for set: the new value", {"metavar": "VALUE", "nargs": "?"}),
    *SETTINGS_FROM,
    *STORE,
    *output(),
)


def _perform(question: Question) -> Output:
    """Set or remove a stored attribute, restore a revision, or delete a node. raises: NodeNotFound, TypeConflict"""
    asked = question.arguments
    wanted = {"set": 2, "rm": 1, "restore": 1, "delete": 0}[asked["task"]]
    given = sum(word is not None for word in (asked["what"], asked["value"]))
    if given != wanted:
        words = ("a path and a value", "a revision" if asked["task"] == "restore" else "a path", "nothing more")
        raise BadUsage(f"node {asked['task']} NODE is followed by {words[2 - wanted]}")
    store, sensitive = store_of(question.settings)
    name = asked["node"]
    load_saved_or_raise(store, name, sensitive)  # with near misses where there is none
    if asked["task"] == "delete":
        store.delete(name)
        return Output(_changed(name, None, store.describe()))
    if asked["task"] == "set":
        try:
            revision = set_normal(store, name, path_of(asked["what"]), json_or_text(asked["value"]), sensitive)
        except TypeConflict as error:
            error.hint = f"remove what is in the way first: nodeattrs node rm {name} PATH"
            raise
    elif asked["task"] == "rm":
        revision = remove_normal(store, name, path_of(asked["what"]), sensitive)
    else:
        at = revision_or_time(asked["what"])
        if at is None:
            raise BadArgument("an empty text is no revision")
        revision = restore(store, name, at)
    return Output(_changed(name, revision, store.describe()))


def _changed(node: str, latest: Revision | None, store: str) -> PlainReport:
    """The report about a changed node. latest: its new revision; None: it was deleted"""
    how = "forgotten" if latest is None else f"at revision {latest.number} in {store}"
    data = {"version": 1, "node": node, "latest": revision_dict(latest), "store": store}
    return PlainReport([printable(f"{node} is {how}")], data)


COMMANDS = {"node": Command("", _DESCRIPTION, _ARGUMENTS, _EXAMPLES, {}, _perform, ())}
