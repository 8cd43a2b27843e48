"""The commands `nodeattrs ansible save` and `nodeattrs ansible inventory`.

The first saves hosts of an inventory as nodes, for search, show, diff and history. The second prints saved nodes as a
dynamic inventory, as Ansible runs it as a script. The attributes of a node are merged already, so all variables belong
to hosts and none to groups. A text that looks like a template is marked, and Ansible does not evaluate it: attributes
are no templates.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.codes import Code
from nodeattrs.contract.command import Argument, Output, Question
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT, Path, spell, strict_key
from nodeattrs.core.unread import Unread, sentences
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import GROUP_NAME, VARIABLE_NAME
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.reports import unread
from nodeattrs.dialects.ansible.values import as_attribute
from nodeattrs.dialects.common import saved_nodes_of, store_of
from nodeattrs.errors import BadArgument, BadUsage, ValueWithheld
from nodeattrs.kinds import LAYER_IS_UNKNOWN, SAVED_NOTE
from nodeattrs.node.documents import json_ready
from nodeattrs.node.intake import Intake
from nodeattrs.node.node import Node
from nodeattrs.node.values import MARKER
from nodeattrs.project.settings import Settings
from nodeattrs.reports.screen import Screen
from nodeattrs.reports.show import tree_lines
from nodeattrs.reports.values import unread_at
from nodeattrs.store import Saved, Store
from nodeattrs.store.filters import saved_document
from nodeattrs.store.revisions import Noted
from nodeattrs.store.saved_nodes import load_saved_or_raise
from nodeattrs.store.search import indexed, parse_query

_TEMPLATE = re.compile(r"\{[{%#]")
_UNSAFE = "__ansible_unsafe"


def ansible_name(name: object) -> str:
    """*name* as a name that Ansible accepts: other signs than ASCII letters, digits and _ become _; no digit comes
    first.

    >>> ansible_name("http-port"), ansible_name("2fa"), ansible_name("http_port")
    ('http_port', '_2fa', 'http_port')
    """
    text = re.sub(r"\W", "_", str(name), flags=re.ASCII)
    return text if text and not text[0].isdigit() else f"_{text}"


@dataclass
class _DynamicInventory:
    """The inventory that a script prints for `--list` or `--host`. The caller adds nodes, and then prints `to_dict()`.

    host:   the one host to print, for `--host`; "" for `--list`
    prefix: the name of one variable that holds all values of a host as a map; "": each top-level key is a variable
    hosts:  host -> its variables; `add` fills it
    notes:  code -> sentences on values that had to differ from the values of the nodes; `add` fills it

    `group` adds hosts to a group. `warnings` yields (code, sentences) for what had to change. `to_dict` raises KeyError
    if `host` was not added.
    """

    host: str = ""
    prefix: str = ""
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[Code, list[str]] = field(default_factory=dict)
    _groups: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def add(self, node: Node, document: Mapping[str, Any]) -> None:
        """Add a node as a host with its variables, in the groups of its roles and its environment.

        The groups are called `role_NAME` and `environment_NAME`. Values that have to be left out or changed are put
        into `notes`.

        node:     the node
        document: its saved document, which has the roles of the run-list and of the expanded run-list
        raises:   DeferredCycle
        """
        tree = json_ready(node.to_dict(evaluate=False))
        safe = {name: self._safe(value, (name,)) for name, value in tree.items()}
        found = {name: value for name, value in safe.items() if value is not ABSENT}
        self.hosts[node.name] = {self.prefix: found} if self.prefix else self._named(node.name, found)
        kept = indexed(dict(document))
        expanded = kept.get("roles")
        for role in dict.fromkeys([*kept["role"], *(expanded if isinstance(expanded, list) else ())]):
            self.group(f"role_{role}", [node.name])
        self.group(f"environment_{node.environment}", [node.name])

    def group(self, name: str, hosts: Iterable[str]) -> None:
        """Add hosts to a group, which is made where it is missing."""
        self._groups.setdefault(ansible_name(name), {}).setdefault(name, []).extend(hosts)

    def warnings(self) -> Iterator[tuple[Code, list[str]]]:
        """Yield a code with its sentences: names of groups that had to change, then `notes`."""
        renamed = [
            f"the group {name} is {word} for Ansible{', with the hosts of all that are' if len(of) > 1 else ''}"
            for word, of in sorted(self._groups.items())
            for name in of
            if name != word
        ]
        yield GROUP_NAME.entry, renamed
        yield from self.notes.items()

    def to_dict(self) -> dict[str, Any]:
        """The data that a script prints for Ansible.

        For one host, its variables. Otherwise the groups, each with its hosts; "all" with the groups as its children;
        and "_meta" with the variables of all hosts.
        raises: KeyError, where the one host was not added
        """
        if self.host:
            return self.hosts[self.host]
        groups = {
            word: {"hosts": sorted({host for hosts in of.values() for host in hosts}), "vars": {}}
            for word, of in sorted(self._groups.items())
        }
        return {"_meta": {"hostvars": self.hosts}, "all": {"children": list(groups), "vars": {}}, **groups}

    def lines(self, screen: Screen) -> Iterator[str]:
        """The data of `to_dict` as a tree of text lines."""
        yield from tree_lines(self.to_dict(), screen)

    def _named(self, host: str, found: dict[str, Any]) -> dict[str, Any]:
        """Variables under names that Ansible accepts; of two names that become one, the unchanged name wins, else
        the first.
        """
        named = {name: value for name, value in found.items() if name == ansible_name(name)}
        for name, value in found.items():
            word = ansible_name(name)
            if named.setdefault(word, value) is not value:
                self._note(VARIABLE_NAME.entry, f"{name} of {host} is left out: it has a {word}, too")
            elif name != word:
                self._note(VARIABLE_NAME.entry, f"the variable {name} is {word} for Ansible")
        return named

    def _safe(self, value: Any, path: Path) -> Any:
        """A value without its secrets: ABSENT for a secret, a key of a map is left out, an element of a list is
        null.
        """
        if value == MARKER:
            if self.host:  # with --list each call would repeat it, and Ansible shows it as an error
                self._note(ValueWithheld.entry, f"{spell(path)} is a secret, and left out")
            return ABSENT
        if isinstance(value, dict):
            inside = {key: self._safe(inner, (*path, key)) for key, inner in value.items()}
            return {key: inner for key, inner in inside.items() if inner is not ABSENT}
        if isinstance(value, list):
            elements = [self._safe(inner, (*path, index)) for index, inner in enumerate(value)]
            return [None if inner is ABSENT else inner for inner in elements]
        return {_UNSAFE: value} if isinstance(value, str) and _TEMPLATE.search(value) else value

    def _note(self, code: Code, sentence: str) -> None:
        self.notes.setdefault(code, []).append(sentence)


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
    """Save each host as a node in the store of the settings. A host with equal values and lines gets no new revision.

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
        saved = Saved(name, saved_document(node), node.snapshot(), noted=Noted(by="ansible save"))
        last = store.load(name)
        if last is None or _content(last) != _content(saved):
            store.save(saved)
    question.caller.remark([f"{len(hosts)} host{'s' * (len(hosts) != 1)} saved in {store.describe()}"])
    return Output("", unread=found)


def _content(saved: Saved) -> Any:
    """The values of a revision and the lines that set them, to compare revisions; `1` and `true` differ."""
    return strict_key([saved.document, saved.snapshot])


def _node(answer: Variables, sensitive: Any) -> Node:
    """A host as a node: variables are normal attributes, `inventory_hostname` and `group_names` automatic ones."""
    magic = answer.magic
    facts = {name: magic[name] for name in ("inventory_hostname", "group_names") if magic.get(name)}
    node = Node.from_chef({"name": answer.host, "automatic": facts}, sensitive=sensitive)
    for layer, names in _winning(answer):
        Intake(node).merge_normal({str(name): as_attribute(answer.vars[name]) for name in names}, layer.origin)
    return node


def _winning(answer: Variables) -> Iterable[tuple[Layer, list[Any]]]:
    """(Layer, names of its variables that count) for each layer with such variables. A merged map counts as the value
    of its strongest layer.
    """
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
    inventory = _DynamicInventory(host or "", prefix)
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


def _add_searches(settings: Settings, store: Store, inventory: _DynamicInventory) -> None:
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
