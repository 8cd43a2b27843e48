"""The command `nodeattrs ansible inventory`: print saved nodes as a dynamic inventory.

Ansible can run the command as an inventory script.
"""

from __future__ import annotations

import os

from nodeattrs.contract.command import Argument, Output, Question
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.dialects.ansible.inventory_report import DynamicInventory, ansible_name
from nodeattrs.dialects.common import saved_nodes_of
from nodeattrs.errors import BadArgument, BadUsage
from nodeattrs.kinds import LAYER_IS_UNKNOWN, SAVED_NOTE
from nodeattrs.project.settings import Settings
from nodeattrs.reports.values import unread_at
from nodeattrs.store import Store
from nodeattrs.store.saved_nodes import load_saved_or_raise
from nodeattrs.store.search import parse_query

ARGUMENTS = (
    Argument(
        ("--list",),
        "all groups and hosts, with the variables of each host",
        {"action": "store_true"},
        choice="what!",
    ),
    Argument(("--host",), "the variables of one host", {"metavar": "NAME"}, choice="what!"),
    Argument(("--prefix",), "put all of a host below this one variable", {"metavar": "NAME", "default": ""}),
)


def printed(question: Question) -> Output:
    """The inventory of all saved nodes, or of the one that --host names, as a report to print.

    An unknown layer is a warning, and the exit code stays 0. Otherwise Ansible would ignore the output. With --strict
    an unknown layer is an error.

    question: the command, with its arguments
    raises:   BadUsage, for a bad --prefix; NotFound, if nothing was ever saved; NodeNotFound, for an unknown host;
              UnknownLayer, with --strict
    """
    asked, settings = question.arguments, Settings(question.arguments, os.environ)
    prefix, host = asked["prefix"], asked["host"]
    if prefix and prefix != ansible_name(prefix):
        raise BadUsage(f"--prefix {prefix} is not a name of a variable: try {ansible_name(prefix)}")
    store, sensitive = saved_nodes_of(settings)
    inventory = DynamicInventory(host or "", prefix)
    unread: list[Unread] = []
    for name in [host] if host else store.names():
        found = load_saved_or_raise(store, name, sensitive)
        if asked["strict"]:
            found.node.trace(()).require_known()
        inventory.add(found.node, found.saved.document)
        question.caller.warn(filter(None, [found.note]), SAVED_NOTE.entry)
        unread += unread_at(found.node, ())
    if asked["list"]:
        _add_searches(settings, store, inventory)
    for code, texts in inventory.warnings():
        question.caller.warn(texts, code)
    question.caller.warn(sentences(unread), LAYER_IS_UNKNOWN.entry)
    return Output(inventory)


def _add_searches(settings: Settings, store: Store, inventory: DynamicInventory) -> None:
    """Add the groups of [ansible.groups] with the nodes that their searches find.

    raises: BadArgument, with the group's line
    """
    repository = settings.repository
    for name, query in repository.config.ansible_groups.items() if repository is not None else ():
        try:
            inventory.group(name, store.search(parse_query(query)))
        except BadArgument as error:
            place = settings.folded.origins(("ansible", "groups", name))[0]
            error.details = (*error.details, f"it is the search of the group {name}, {place}")
            raise
