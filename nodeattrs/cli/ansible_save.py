"""`nodeattrs ansible save`: hosts of an inventory as kept nodes, for search, show, diff, history and the like."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from nodeattrs.cli.exits import DONE
from nodeattrs.cli.options import add_settings_from, add_store, add_strict, kept_in
from nodeattrs.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodeattrs.adapters.ansible import Inventory, Variables
    from nodeattrs.core.fold import Layer
    from nodeattrs.node.node import Node


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where they are kept, besides the words of an inventory."""
    parser.add_argument("--limit", metavar="PATTERN", help="only hosts that it names, such as web:!web3")
    add_strict(parser)
    add_settings_from(parser)
    add_store(parser)


def perform(options: argparse.Namespace, terminal: Terminal, inventory: Inventory) -> int:
    """Save each host as a node; one that is as it was gets no new revision."""
    from nodeattrs.keep import Saved
    from nodeattrs.keep.filters import saved_document
    from nodeattrs.keep.revisions import Noted
    from nodeattrs.reports.ansible import unread

    store, sensitive = kept_in(options)
    hosts = list(inventory.hosts) if options.limit is None else inventory.matching(options.limit)
    for name in hosts:
        answer = inventory.host(name)
        layers = answer.unknown()
        if layers and options.strict:
            answer.folded().trace(()).require_known()
        terminal.note_unread(unread(layers))
        node = _node(answer, sensitive)
        document = saved_document(node)
        last = store.load(name)
        if last is None or last.document != document:
            store.save(Saved(name, document, node.snapshot(), noted=Noted(by="ansible save")))
    terminal.remark([f"{len(hosts)} host{'s' * (len(hosts) != 1)} saved in {store.describe()}"])
    return DONE


def _node(answer: Variables, sensitive: Any) -> Node:
    """A host as a node: its variables are normal attributes, what Ansible knows of it automatic ones."""
    from nodeattrs.adapters.ansible.values import as_attribute
    from nodeattrs.node.intake import Intake
    from nodeattrs.node.node import Node

    magic = answer.magic
    facts = {name: magic[name] for name in ("inventory_hostname", "group_names") if magic.get(name)}
    node = Node.from_chef({"name": answer.host, "automatic": facts}, sensitive=sensitive)
    for layer, names in _winning(answer):
        Intake(node).normal({str(name): as_attribute(answer.vars[name]) for name in names}, layer.origin)
    return node


def _winning(answer: Variables) -> Iterable[tuple[Layer, list[Any]]]:
    """The layers that count, each with its variables; of maps that are merged the strongest one."""
    last = {name: layer for layer in answer.layers() if isinstance(layer.value, dict) for name in layer.value}
    found: dict[int, tuple[Layer, list[Any]]] = {}
    for name, layer in last.items():
        found.setdefault(id(layer), (layer, []))[1].append(name)
    return found.values()
