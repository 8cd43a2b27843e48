"""The command `nodeattrs ansible save`: save hosts of an inventory as nodes, for search, show, diff and history."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from nodeattrs.contract.command import Output, Question
from nodeattrs.core.fold import Layer
from nodeattrs.core.unread import Unread
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.reports import unread
from nodeattrs.dialects.ansible.values import as_attribute
from nodeattrs.dialects.common import store_of
from nodeattrs.node.intake import Intake
from nodeattrs.node.node import Node
from nodeattrs.project.settings import Settings
from nodeattrs.store import Saved
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import Noted


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
        if last is None or last.document != document:
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
