"""Ansible: an inventory with variables of its own, group_vars and host_vars, replaced or merged, for one host."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path as Folder
from typing import Any

from nodeattrs import NodeattrsError
from nodeattrs.ansible import Inventory
from tests.causality.maker import Maker
from tests.causality.notations import json_text, yaml_text
from tests.causality.system import Answer, Input, Refused
from tests.causality.systems.plain import below
from tests.causality.values import Path

__all__ = ["AnsibleTrees"]

HOST = "web1"
PLACES = ("group_vars/all", "group_vars/site", "group_vars/web", "group_vars/aux", f"host_vars/{HOST}")
_CFG, _HOSTS = "ansible.cfg", "hosts.yml"
_GROUPS = re.compile(r"^\s*(all|site|web|aux|web1|hosts|children|vars):")


class AnsibleTrees:
    """What `web1` has: it is in `web`, a child of `site`, and in `aux`."""

    name = "ansible"

    def make(self, random: random.Random) -> Input:
        """An inventory, and two to four files or folders of variables."""
        make = Maker(random)
        files = {_HOSTS: yaml_text(self._inventory(make), random), _CFG: "[defaults]\n"}
        if random.random() < 0.5:
            files[_CFG] += "hash_behaviour = merge\n"
        for place in random.sample(PLACES, random.randint(2, 4)):
            if random.random() < 0.25:
                files[f"{place}/a.yml"] = yaml_text(make.map(3), random)
                files[f"{place}/b.yml"] = yaml_text(make.map(3), random)
            else:
                suffix, written = random.choice([(".yml", yaml_text), (".json", json_text), (".yaml", yaml_text)])
                files[place + suffix] = written(make.map(3), random)
        return Input(files)

    def _inventory(self, make: Maker) -> dict[str, Any]:
        """Groups in groups, two of them with variables; the host has some, too."""
        groups: dict[str, dict[str, Any]] = {name: {} for name in ("all", "site", "web", "aux")}
        for name in make.random.sample(list(groups), 2):
            groups[name]["vars"] = make.map(2)
        groups["web"]["hosts"] = {HOST: make.map(2)}
        groups["aux"]["hosts"] = {HOST: {}}
        groups["site"]["children"] = {"web": groups["web"]}
        return {"all": groups["all"], "site": groups["site"], "aux": groups["aux"]}

    def examples(self) -> Iterator[tuple[str, Input]]:
        """None of people's own."""
        return iter(())

    def ask(self, folder: Folder) -> Answer:
        """All variables of the host."""
        try:
            host = Inventory(_HOSTS, folder=folder).host(HOST)
            value: dict[str, Any] = host.to_dict()
        except NodeattrsError as error:
            raise Refused(str(error)) from error
        return Answer(value, lambda path: self._explained(host.trace(path).to_dict(), folder, path))

    def _explained(self, trace: dict[str, Any], folder: Folder, path: Path) -> dict[str, Any]:
        return below(trace, folder)

    def decides(self, file: str, line: str) -> bool:
        """How maps meet, and who is in which group."""
        return file == _CFG or (file == _HOSTS and _GROUPS.match(line) is not None)
