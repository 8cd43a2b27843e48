"""`nodeattrs ansible inventory`: kept nodes for Ansible, as it asks a script for them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from nodeattrs.cli.exits import DONE
from nodeattrs.cli.options import add_output, add_settings_from, add_store, add_strict, saved_in, settings_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.kinds import LAYER_IS_UNKNOWN, SAVED_NOTE

if TYPE_CHECKING:
    from nodeattrs.core.unread import Unread, sentences
    from nodeattrs.keep import Store
    from nodeattrs.reports.ansible_inventory import DynamicInventory


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this action. Ansible reads JSON."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--list", action="store_true", help="all groups and hosts, with the variables of each host")
    which.add_argument("--host", metavar="NAME", help="the variables of one host")
    parser.add_argument("--prefix", metavar="NAME", default="", help="put all of a host below this one variable")
    add_strict(parser)
    add_settings_from(parser)
    add_store(parser)
    add_output(parser, default="json")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print it. An unknown layer is a warning, and with --strict an error: Ansible wants 0 or nothing."""
    from nodeattrs.reports.ansible_inventory import DynamicInventory, ansible_name
    from nodeattrs.reports.values import unread_at
    from nodeattrs.runs.remembered import required

    if options.prefix and options.prefix != ansible_name(options.prefix):
        options.refuse(f"--prefix {options.prefix} is no name of a variable: try {ansible_name(options.prefix)}")
    store, sensitive = saved_in(options)
    inventory = DynamicInventory(options.host or "", options.prefix)
    unread: list[Unread] = []
    for name in [options.host] if options.host else store.names():
        found = required(store, name, sensitive)
        if options.strict:
            found.node.trace(()).require_known()
        inventory.add(found.node, found.saved.document)
        terminal.warn(filter(None, [found.note]), SAVED_NOTE.entry)
        unread += unread_at(found.node, ())
    if options.list:
        _add_searches(options, store, inventory)
    for code, texts in inventory.warnings():
        terminal.warn(texts, code)
    terminal.report(inventory)
    terminal.warn(sentences(unread), LAYER_IS_UNKNOWN.entry)
    return DONE


def _add_searches(options: argparse.Namespace, store: Store, inventory: DynamicInventory) -> None:
    """The groups of [ansible.groups]. raises: QueryNotUnderstood, QueryNotSupported, with the line"""
    from nodeattrs.errors import BadArgument
    from nodeattrs.keep.search import parse_query

    repository = settings_of(options).repository
    for name, query in repository.config.ansible_groups.items() if repository is not None else ():
        try:
            inventory.group(name, store.search(parse_query(query)))
        except BadArgument as error:
            place = settings_of(options).folded.origins(("ansible", "groups", name))[0]
            error.details = (*error.details, f"it is the search of the group {name}, {place}")
            raise
