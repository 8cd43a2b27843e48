"""An inventory in the forms of ansible-inventory: its list as JSON and as YAML, and its graph."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

import yaml

from nodeattrs.adapters.ansible.answers import Variables
from nodeattrs.adapters.ansible.inventory import Inventory
from nodeattrs.adapters.ansible.levels import MAGIC, SHOWN
from nodeattrs.adapters.ansible.values import Unsafe, Vault, as_json
from nodeattrs.typed import Any

_HIDDEN = MAGIC - SHOWN
PROFILE = "inventory_legacy"


def printed_variables(answer: Variables, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """The variables of an answer as ansible-inventory prints them: without Ansible's own. values: evaluated ones"""
    return {name: value for name, value in (values or answer.vars).items() if name not in _HIDDEN}


# --- the list


def grouped(inventory: Inventory, *, limit: Collection[str] | None = None) -> dict[str, Any]:
    """The groups of an inventory by name: their hosts and children in order, what is empty left out.

    limit: the hosts that count; all of them unless given
    """
    found: dict[str, Any] = {}
    for name, group in inventory.groups["all"].below().items():
        hosts = [host for host in group.hosts if limit is None or host in limit]
        kept = {key: names for key, names in (("hosts", hosts), ("children", list(group.children))) if names}
        if kept:
            found[name] = kept
    return found


def listing(inventory: Inventory, *, export: bool = False, limit: str | None = None) -> dict[str, Any]:
    """An inventory as `ansible-inventory --list` prints it.

    export: variables of groups stay with the groups
    limit:  a pattern; only hosts that it names
    raises: AnsibleError
    """
    hosts = list(inventory.hosts) if limit is None else inventory.matching(limit)
    found = grouped(inventory, limit=hosts)
    if export:
        for name in inventory.groups["all"].below():
            own = printed_variables(inventory.of_group(name))
            if own:
                found.setdefault(name, {})["vars"] = own
    asked = ((name, inventory.own(name) if export else inventory.host(name)) for name in hosts)
    hostvars = {name: its for name, answer in asked if (its := printed_variables(answer))}
    return {"_meta": {"hostvars": hostvars, "profile": PROFILE}, **found}


def nested_listing(inventory: Inventory, *, export: bool = False, limit: str | None = None) -> dict[str, Any]:
    """An inventory as `ansible-inventory --list --yaml` prints it: groups in groups, groups without hosts left out.

    A host's variables stand where it is met first. raises: AnsibleError
    """
    hosts = set(inventory.hosts if limit is None else inventory.matching(limit))
    seen: set[str] = set()
    met: set[str] = set()
    body = _nested(inventory, "all", hosts, export, seen, met)
    return {"all": body} if body else {}


def _nested(
    inventory: Inventory, name: str, hosts: set[str], export: bool, seen: set[str], met: set[str]
) -> dict[str, Any]:
    group, body = inventory.groups[name], dict[str, Any]()
    for child in group.children:
        inside = {} if child in met else _nested(inventory, child, hosts, export, seen, met)
        met.add(child)
        if inside or _counts(inventory, child, hosts, export):
            body.setdefault("children", {})[child] = inside
    for host in group.hosts:
        if host in hosts:
            answer = inventory.own(host) if export else inventory.host(host)
            body.setdefault("hosts", {})[host] = {} if host in seen else printed_variables(answer)
            seen.add(host)
    if export and (own := printed_variables(inventory.of_group(name))):
        body["vars"] = own
    return body


def _counts(inventory: Inventory, name: str, hosts: set[str], export: bool) -> bool:
    group = inventory.groups[name]
    return not hosts.isdisjoint(group.all_hosts()) or (export and bool(inventory.of_group(name).vars))


# --- the graph


def graph(inventory: Inventory, group: str = "all", *, with_variables: bool = False) -> str:
    """A group, its children and its hosts as `ansible-inventory --graph` prints them. raises: AnsibleError"""
    inventory.of_group(group)
    return "\n".join(_graph(inventory, group, 0, with_variables)) + "\n"


def _graph(inventory: Inventory, name: str, depth: int, with_variables: bool) -> Iterator[str]:
    yield _branch(f"@{name}:", depth)
    for child in inventory.groups[name].children:
        yield from _graph(inventory, child, depth + 1, with_variables)
    for host in inventory.groups[name].hosts:
        yield _branch(host, depth + 1)
        if with_variables:
            yield from _pairs(inventory.host(host), depth + 2)
    if with_variables:
        yield from _pairs(inventory.of_group(name), depth + 1)


def _pairs(answer: Variables, depth: int) -> Iterator[str]:
    for name, value in sorted(printed_variables(answer).items(), key=lambda pair: str(pair[0])):
        yield _branch(f"{{{name} = {value}}}", depth)


def _branch(text: str, depth: int) -> str:
    return f"{'  |' * depth}--{text}" if depth else text


# --- as text


def as_json_text(data: Any, *, marked: bool = True) -> str:
    """Data as ansible-inventory prints it as JSON. marked: whether texts that are no templates are marked"""
    return json.dumps(as_json(data, marked=marked), indent=4, sort_keys=True, ensure_ascii=False)


class _Dumper(yaml.SafeDumper):
    """Writes the values that only Ansible has."""


_Dumper.add_representer(Unsafe, lambda dumper, value: dumper.represent_str(str(value)))
_Dumper.add_representer(Vault, lambda dumper, value: dumper.represent_scalar("!vault", value.text, style="|"))


def as_yaml_text(data: Any, *, default_flow_style: bool | None = False, **how: Any) -> str:
    """Data as ansible-inventory prints it as YAML; what several hosts share is an alias. how: options of PyYAML"""
    flow = default_flow_style
    text: str = yaml.dump(data, Dumper=_Dumper, default_flow_style=flow, allow_unicode=True, **how)
    return text
