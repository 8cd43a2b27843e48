"""Write saved nodes as a dynamic inventory, the output of an inventory script: groups of hosts, and variables.

The attributes of a node are merged already, so all variables belong to hosts and none to groups. Attributes are no
templates: a text that looks like a template is marked, so that Ansible does not evaluate it. The module reads no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nodeattrs.codes import Code
from nodeattrs.core.tree import ABSENT, spell
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.faults import GROUP_NAME, GROUP_SEARCH, VARIABLE_NAME, AnsibleError, new_warning
from nodeattrs.errors import BadArgument, ValueWithheld
from nodeattrs.formats.documents import read
from nodeattrs.node.node import Node
from nodeattrs.node.values import MARKER
from nodeattrs.reports.screen import Screen
from nodeattrs.reports.show import tree_lines
from nodeattrs.reports.values import data_of
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
class DynamicInventory:
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
        tree = data_of(node.to_dict(evaluate=False))
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

        For one host its variables. Else "_meta" with the variables of all hosts, each group with its hosts and its
        variables, and "all" with the groups as its children.
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
        """The same data as a tree of text lines."""
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

    def _safe(self, value: Any, path: Steps) -> Any:
        """A value without its secrets: ABSENT for a secret, a key of a map is left out, an element of a list is
        null.
        """
        if value == MARKER:
            if self.host:  # of all hosts it would be said at every call, and Ansible calls it an error
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


def doubtful_groups(root: Path, groups: Mapping[str, str]) -> Iterator[AnsibleError]:
    """Yield a warning for each group of [ansible.groups] whose search cannot be parsed, or whose name another group
    gets, too.

    groups: name -> search. Reads root/nodeattrs.toml for the lines.
    """
    locator = read(root / "nodeattrs.toml", "nodeattrs.toml").locator("settings", "")
    words: dict[str, str] = {}
    for name, query in groups.items():
        origin = locator.at(("ansible", "groups", name))
        first = words.setdefault(ansible_name(name), name)
        if first != name:
            message = f"for Ansible {name} and {first} are one group, {ansible_name(name)}"
            yield new_warning(GROUP_SEARCH, message, origin.file, origin.line)
        try:
            parse_query(query)
        except BadArgument as error:
            yield new_warning(GROUP_SEARCH, f"the search of the group {name}: {error}", origin.file, origin.line)
