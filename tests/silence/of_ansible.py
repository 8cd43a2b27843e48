"""Inventories of Ansible, in which a file, a plugin or a condition is not known."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial

from tests.silence.case import CONTENTS, KEYS, Case, Files, Maker, another, closed, values_of, with_file, yaml_of

_CFG = "[defaults]\ninventory = hosts\n"
_HOSTS = "[web]\nweb1\n[db]\ndb1\n"
_INLINE = "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  61626364\n"


class _Inventory:
    """Two hosts, with variables of their groups."""

    def __init__(self, rand: random.Random) -> None:
        self.key = rand.choice(KEYS)
        self.group = rand.choice(["all", "web", "db"])
        self.in_host = rand.random() < 0.3
        self.groups = {one: values_of(rand) for one in ("all", "web", "db")}
        self.can_set = self.group != "db" and not self.in_host
        if self.group == "all" and self.can_set:
            self.groups["web"].pop(self.key)

    def files(self) -> Files:
        files = {"ansible.cfg": _CFG, "hosts": _HOSTS}
        files |= {f"group_vars/{one}.yml": yaml_of(values) for one, values in self.groups.items()}
        return files | ({"host_vars/web1.yml": yaml_of({self.key: 7})} if self.in_host else {})


def _closed(how: str, rand: random.Random) -> Case:
    """The variables of a group."""
    inventory = _Inventory(rand)
    key, place = inventory.key, f"group_vars/{inventory.group}.yml"
    own = inventory.groups[inventory.group]
    first, second = (inventory.files() | {place: yaml_of({**own, key: value})} for value in CONTENTS)
    hidden = with_file(first, place, closed(how, first[place]))
    return Case(hidden, (first, second), place, key, "web1", inventory.can_set, "ansible", fails=how == "locked")


def _inline(rand: random.Random) -> Case:
    """One value is encrypted."""
    inventory = _Inventory(rand)
    key = inventory.key
    can_set = rand.random() < 0.5
    own = key if can_set else another(key)
    rest = {one: value for one, value in inventory.groups["web"].items() if one != own}
    files = with_file(inventory.files(), "host_vars/web1.yml", None)
    place = "group_vars/web.yml"
    first, second = (files | {place: yaml_of({**rest, own: value})} for value in CONTENTS)
    hidden = files | {place: f"{yaml_of(rest)}{own}: {_INLINE}"}
    return Case(hidden, (first, second), place, key, "web1", can_set, "ansible", is_secret=True)


def _plugin(rand: random.Random) -> Case:
    """A plugin of the inventory may give the host variables, weaker than those of its own file."""
    inventory = _Inventory(rand)
    key = inventory.key
    own = {"host_vars/web1.yml": yaml_of({key: 7})}
    files = with_file(inventory.files(), "host_vars/web1.yml", None) | (own if inventory.in_host else {})
    files["ansible.cfg"] = "[defaults]\ninventory = hosts,more.aws_ec2.yml\n"
    place = "more.aws_ec2.yml"
    first, second = (files | {place: f"all:\n  hosts:\n    web1:\n      {key}: {value}\n"} for value in CONTENTS)
    hidden = files | {place: "plugin: amazon.aws.aws_ec2\n"}
    return Case(hidden, (first, second), place, key, "web1", not inventory.in_host, "ansible")


def _vars_plugin(rand: random.Random) -> Case:
    """A plugin of variables gives a host any."""
    inventory = _Inventory(rand)
    key = inventory.key
    files = with_file(inventory.files(), "host_vars/web1.yml", None)
    first, second = (files | {"host_vars/web1.yml": yaml_of({key: value})} for value in CONTENTS)
    cfg = f"{_CFG}vars_plugins = plugins\n"
    hidden = files | {"ansible.cfg": cfg, "plugins/ours.py": "class VarsModule:\n    pass\n"}
    return Case(hidden, (first, second), "plugins", key, "web1", True, "ansible")


def _setting(rand: random.Random) -> Case:
    """A setting of ansible.cfg that is not followed here decides which variables are read."""
    inventory = _Inventory(rand)
    key = inventory.key
    files = with_file(inventory.files(), "host_vars/web1.yml", None)
    first, second = (files | {"host_vars/web1.yml": yaml_of({key: value})} for value in CONTENTS)
    cfg = f"{_CFG}playbook_vars_root = all\n"
    return Case(files | {"ansible.cfg": cfg}, (first, second), "ansible.cfg", key, "web1", True, "ansible")


def _template(rand: random.Random) -> Case:
    """A value is a template, and a variable that it names is set nowhere."""
    inventory = _Inventory(rand)
    key = inventory.key
    can_set = rand.random() < 0.5
    own = key if can_set else another(key)
    files = with_file(inventory.files(), "host_vars/web1.yml", None)
    files["group_vars/web.yml"] = yaml_of({**inventory.groups["web"], own: "{{ ours }}"})
    first, second = (files | {"hosts": f"{_HOSTS}[all:vars]\nours={value}\n"} for value in CONTENTS)
    only = ("ansible explain {subject} {key} --render",)
    return Case(files, (first, second), "ours", key, "web1", can_set, "ansible", only=only)


def _play(how: str, rand: random.Random) -> Case:
    """A task before the last one sets a variable in a way that is not known."""
    inventory = _Inventory(rand)
    key = inventory.key
    can_set = rand.random() < 0.5
    own = key if can_set else another(key)
    tasks = {
        "condition": f"set_fact: {{{own}: 101}}\n    when: ours.stdout == 'x'\n",
        "register": f"command: date\n    register: {own}\n",
        "include": "include_vars: '{{ ours }}.yml'\n",
    }
    files = inventory.files()
    first, second = (files | {"site.yml": _playbook(f"set_fact: {{{own}: {value}}}\n")} for value in CONTENTS)
    more = {"more.yml": yaml_of({own: 101})} if how == "include" else {}
    hidden = files | more | {"site.yml": _playbook(tasks[how])}
    can_set = can_set or how == "include"  # any file may be meant
    options = "--playbook site.yml"
    only = ("ansible vars", "ansible explain")
    return Case(hidden, (first, second), "site.yml", key, "web1", can_set, "ansible", options, only=only)


def _playbook(task: str) -> str:
    last = "  - debug: {msg: x}\n"
    return f"- hosts: web\n  gather_facts: false\n  tasks:\n  - {task}{last}"


MAKERS: Mapping[str, Maker] = {
    **{how: partial(_closed, how) for how in ("encrypted", "locked", "outside")},
    "inline": _inline,
    "plugin": _plugin,
    "vars plugin": _vars_plugin,
    "setting": _setting,
    "template": _template,
    **{how: partial(_play, how) for how in ("condition", "register", "include")},
}
