"""Print an inventory as ansible-inventory does: `--list` in JSON, YAML and TOML, and `--graph`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.sensitive import MarkedSecret
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import INVENTORY, AnsibleError
from nodeattrs.dialects.ansible.groups import PRIORITY
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.levels import MAGIC, SHOWN
from nodeattrs.dialects.ansible.values import Vault, as_json, with_leaves
from nodeattrs.dialects.ansible.writing import as_json_text, as_yaml_text
from nodeattrs.errors import BadValue
from nodeattrs.formats.plain_writing import as_toml
from nodeattrs.reports.screen import printable

_HIDDEN = MAGIC - SHOWN
_PROFILE = "inventory_legacy"


def printed_variables(answer: Variables, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The variables of an answer without those that ansible-inventory does not print.

    values: evaluated values to take instead of the answer's
    """
    return {name: value for name, value in (values or answer.vars).items() if name not in _HIDDEN}


def _of_group(inventory: Inventory, name: str) -> dict[str, Any]:
    """A group's own variables; its priority is added as the last one, unless it is the default 1."""
    priority = inventory.groups[name].priority
    own = printed_variables(inventory.of_group(name))
    return own if priority == 1 else {**{key: one for key, one in own.items() if key != PRIORITY}, PRIORITY: priority}


# --- the list


def grouped(inventory: Inventory, *, limit: Collection[str] | None = None) -> dict[str, Any]:
    """A map with an entry for each group: name -> {"hosts": names, "children": names}, both in order.

    The key of an empty list is left out. A group with neither key is left out.

    limit: only these hosts are listed; None: all hosts
    """
    found: dict[str, Any] = {}
    for name, group in inventory.groups["all"].with_descendants().items():
        hosts = [host for host in group.hosts if limit is None or host in limit]
        kept = {key: names for key, names in (("hosts", hosts), ("children", list(group.children))) if names}
        if kept:
            found[name] = kept
    return found


def listing(inventory: Inventory, *, export: bool = False, limit: str | None = None) -> dict[str, Any]:
    """The data of `ansible-inventory --list`: "_meta" with the variables of hosts, and the groups.

    export: True: variables of groups are in the groups, and a host has only its own variables
    limit:  a pattern; only hosts that it selects are listed. None: all hosts
    raises: AnsibleError
    """
    hosts = inventory.matching(limit or "all")
    found = grouped(inventory, limit=frozenset(hosts))
    if export:
        for name in inventory.groups["all"].with_descendants():
            own = _of_group(inventory, name)
            if own:
                found.setdefault(name, {})["vars"] = own
    asked = ((name, inventory.own(name) if export else inventory.host(name)) for name in hosts)
    hostvars = {name: its for name, answer in asked if (its := printed_variables(answer))}
    return {"_meta": {"hostvars": hostvars, "profile": _PROFILE}, **found}


def nested_listing(inventory: Inventory, *, export: bool = False, limit: str | None = None) -> dict[str, Any]:
    """The data of `ansible-inventory --list --yaml`: groups within groups. {} if there is nothing to print.

    As in Ansible, a host or group that is in several groups is printed in full at its first place. At the other places
    it is an empty map. A group with nothing to print is left out at its first place.

    export: True: variables of groups are in the groups; a group with variables is then printed without hosts, too
    limit:  a pattern; only hosts that it selects are listed. None: all hosts
    raises: AnsibleError
    """
    hosts = set(inventory.matching(limit or "all"))
    seen: set[str] = set()
    met: set[str] = set()
    body = _nested(inventory, "all", hosts, export, seen, met)
    return {"all": body} if body else {}


def _nested(
    inventory: Inventory, name: str, hosts: set[str], export: bool, seen: set[str], met: set[str]
) -> dict[str, Any]:
    group, body = inventory.groups[name], dict[str, Any]()
    for child in group.children:
        is_met = child in met
        inside = {} if is_met else _nested(inventory, child, hosts, export, seen, met)
        met.add(child)
        if inside or is_met:
            body.setdefault("children", {})[child] = inside
    return body | _own(inventory, name, hosts, export, seen)


def _flat(inventory: Inventory, name: str, hosts: set[str], export: bool, seen: set[str]) -> dict[str, Any]:
    """The data of `ansible-inventory --list --toml`: all groups side by side, `all` without its children.

    The variables of a host are at its first place. A group that comes again has no variables of hosts, as in Ansible.
    raises: AnsibleError
    """
    group, body = inventory.groups[name], dict[str, Any]()
    found = {name: body}
    for child in group.children:
        if name != "all":
            body.setdefault("children", []).append(child)
        found |= _flat(inventory, child, hosts, export, seen)
    body |= _own(inventory, name, hosts, export, seen)
    return {one: its for one, its in found.items() if its or one != name}


def _own(inventory: Inventory, name: str, hosts: set[str], export: bool, seen: set[str]) -> dict[str, Any]:
    """The hosts of a group, each with its variables at the first time; with *export* the variables of the group."""
    body: dict[str, Any] = {}
    for host in inventory.groups[name].hosts:
        if host in hosts:
            answer = inventory.own(host) if export else inventory.host(host)
            body.setdefault("hosts", {})[host] = {} if host in seen else printed_variables(answer)
            seen.add(host)
    if export and (own := _of_group(inventory, name)):
        body["vars"] = own
    return body


def printed_inventory(inventory: Inventory, form: str = "json", **how: Any) -> str:
    """The text of `ansible-inventory --list`.

    form:   "json" or "yaml"; any other word means "toml"
    how:    `export` and `limit`, as for `listing`; `export` is also on if ansible.cfg says so
    raises: AnsibleError; BadValue, if values are nested too deeply to be written
    """
    how["export"] = how.get("export") or inventory.config.export
    try:
        if form == "json":
            return as_json_text(listing(inventory, **how)) + "\n"
        if form == "yaml":
            return as_yaml_text(nested_listing(inventory, **how))
        found = _flat(inventory, "all", set(inventory.matching(how.get("limit") or "all")), how["export"], set())
        # A value at a sensitive path is withheld as in JSON.
        return as_toml(with_leaves(found, lambda one: as_json(one) if type(one) is MarkedSecret else one))
    except RecursionError:
        raise BadValue(f"this is nested too deeply to be written as {form.upper()}", hint="ask for one host") from None


# --- the graph

_PER_GROUP = 100
"""Budget steps for each group, which is shown once for each way that leads to it."""


def graph(inventory: Inventory, group: str = "all", *, with_variables: bool = False) -> str:
    """The text of `ansible-inventory --graph`: a group, its children and hosts as a tree, each name on one line.

    group:          the name of the group at the top
    with_variables: whether each group and host is followed by its own variables, as with `--vars`
    raises:         AnsibleError, for an unknown group or groups that are nested too deeply; TooMuch
    """
    inventory.of_group(group)
    try:
        return "\n".join(_graph(inventory, group, 0, with_variables, Budget("the graph"))) + "\n"
    except RecursionError:
        raise AnsibleError(INVENTORY, "groups are nested too deeply", hint="ask for a group further down") from None


def _graph(inventory: Inventory, name: str, depth: int, with_variables: bool, budget: Budget) -> Iterator[str]:
    budget.steps(_PER_GROUP)
    yield _branch(f"@{printable(name)}:", depth)
    for child in inventory.groups[name].children:
        yield from _graph(inventory, child, depth + 1, with_variables, budget)
    for host in inventory.groups[name].hosts:
        yield _branch(printable(host), depth + 1)
        if with_variables:
            answer = inventory.own(host) if inventory.config.export else inventory.host(host)
            yield from _pairs(printed_variables(answer), depth + 2)
    if with_variables:
        yield from _pairs(_of_group(inventory, name), depth + 1)


def _pairs(variables: dict[str, Any], depth: int) -> Iterator[str]:
    for name, value in sorted(variables.items(), key=lambda pair: str(pair[0])):
        if not isinstance(value, Vault):
            value = with_leaves(value, lambda one: _Cipher(one.text) if isinstance(one, Vault) else one)
        yield _branch(f"{{{name} = {value}}}", depth)


class _Cipher(str):
    """An encrypted text inside a value. Its `repr` is what Ansible prints."""

    def __repr__(self) -> str:
        return f"EncryptedString(ciphertext={str(self)!r})"


def _branch(text: str, depth: int) -> str:
    return f"{'  |' * depth}--{text}" if depth else text
