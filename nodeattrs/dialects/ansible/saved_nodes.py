"""The commands `nodeattrs ansible save` and `nodeattrs ansible inventory`.

The first saves hosts of an inventory as nodes, for search, show, diff and history. The second prints saved nodes as a
dynamic inventory, as Ansible runs it as a script.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from nodeattrs.contract.command import Argument, Output, Question
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import strict_key
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.inventory_report import DynamicInventory, ansible_name
from nodeattrs.dialects.ansible.reports import unread
from nodeattrs.dialects.ansible.values import as_attribute
from nodeattrs.dialects.common import saved_nodes_of, store_of
from nodeattrs.errors import BadArgument, BadUsage
from nodeattrs.kinds import LAYER_IS_UNKNOWN, SAVED_NOTE
from nodeattrs.node.intake import Intake
from nodeattrs.node.node import Node
from nodeattrs.project.settings import Settings
from nodeattrs.reports.values import unread_at
from nodeattrs.store import Saved, Store
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import Noted
from nodeattrs.store.saved_nodes import load_saved_or_raise
from nodeattrs.store.search import parse_query

INVENTORY_ARGUMENTS = (
    Argument(
        ("--list",),
        "all groups and hosts, with the variables of each host",
        {"action": "store_true"},
        choice="what!",
    ),
    Argument(("--host",), "the variables of one host", {"metavar": "NAME"}, choice="what!"),
    Argument(("--prefix",), "put all of a host below this one variable", {"metavar": "NAME", "default": ""}),
)


def save(question: Question, inventory: Inventory, hosts: Sequence[str]) -> Output:
    """Save each host as a node in the store of the settings. A host that is unchanged gets no new revision.

    Unknown layers are in the output's `unread`. The number of hosts is printed as a remark.

    question:  the command, with its arguments
    inventory: the inventory with the hosts
    hosts:     their names
    raises:    UnknownLayer, with --strict, at the first host with an unknown layer; hosts before it are saved
    """
    store, sensitive = store_of(Settings(question.arguments, os.environ))
    found: list[Unread] = []
    for name in hosts:
        answer = inventory.host(name)
        layers = answer.unknown()
        if layers and question.arguments["strict"]:
            answer.folded().trace(()).require_known()
        found += unread(layers)
        node = _node(answer, sensitive)
        document = saved_document(node)
        last = store.load(name)
        if last is None or strict_key(last.document) != strict_key(document):
            store.save(Saved(name, document, node.snapshot(), noted=Noted(by="ansible save")))
    question.caller.remark([f"{len(hosts)} host{'s' * (len(hosts) != 1)} saved in {store.describe()}"])
    return Output("", unread=found)


def _node(answer: Variables, sensitive: Any) -> Node:
    """A host as a node: variables are normal attributes, `inventory_hostname` and `group_names` automatic ones."""
    magic = answer.magic
    facts = {name: magic[name] for name in ("inventory_hostname", "group_names") if magic.get(name)}
    node = Node.from_chef({"name": answer.host, "automatic": facts}, sensitive=sensitive)
    for layer, names in _winning(answer):
        Intake(node).merge_normal({str(name): as_attribute(answer.vars[name]) for name in names}, layer.origin)
    return node


def _winning(answer: Variables) -> Iterable[tuple[Layer, list[Any]]]:
    """The layers whose value counts, each with the names of its variables; of merged maps the strongest layer."""
    last = {name: layer for layer in answer.layers() if isinstance(layer.value, dict) for name in layer.value}
    found: dict[int, tuple[Layer, list[Any]]] = {}
    for name, layer in last.items():
        found.setdefault(id(layer), (layer, []))[1].append(name)
    return found.values()


def print_inventory(question: Question) -> Output:
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
    places: list[Unread] = []
    for name in [host] if host else store.names():
        found = load_saved_or_raise(store, name, sensitive)
        if asked["strict"]:
            found.node.trace(()).require_known()
        inventory.add(found.node, found.saved.document)
        question.caller.warn(filter(None, [found.note]), SAVED_NOTE.entry)
        places += unread_at(found.node, ())
    if asked["list"]:
        _add_searches(settings, store, inventory)
    for code, texts in inventory.warnings():
        question.caller.warn(texts, code)
    question.caller.warn(sentences(places), LAYER_IS_UNKNOWN.entry)
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
