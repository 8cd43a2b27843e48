"""Random trees of Ansible: inventories, files of variables, roles and playbooks, each value once in its tree.

A tree is its files by name and what a run is given. `used` counts what a tree has, so that nothing is missed for good.
It knows neither Ansible nor us.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

NAMES = [f"v{letter}" for letter in "abcdefghijkl"]
ROLES = [f"r{letter}" for letter in "abcde"]


@dataclass
class Tree:
    """A tree. environment: the settings that hold for it"""

    files: dict[str, str] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    playbook: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)


def tree(seed: str, hosts: int = 50) -> Tree:
    """The tree of a seed; the same for the same one."""
    return _Maker(random.Random(seed), hosts).made()


class _Maker:
    def __init__(self, chance: random.Random, hosts: int) -> None:
        self.chance = chance
        self.tree = Tree()
        self.values = 0
        self.hosts = [f"h{number}" for number in range(hosts)]
        self.groups = [f"g{number:02}" for number in chance.sample(range(60), chance.randrange(4, 9))]
        self.is_merge = chance.random() < 0.4

    def made(self) -> Tree:
        self._inventory()
        for folder in {source.rpartition("/")[0] for source in self.tree.sources} | {""}:
            self._files(folder)
        self._settings()
        if self.chance.random() < 0.85:
            self._roles()
            self._playbook()
        if self._use("extra vars", 0.3):
            self._extra()
        return self.tree

    def _use(self, what: str, share: float) -> bool:
        if self.chance.random() >= share:
            return False
        self.tree.used[what] += 1
        return True

    # --- values

    def _leaf(self) -> Any:
        self.values += 1
        return f"s{self.values:04}" if self.chance.random() < 0.6 else 10000 + self.values

    def _value(self, depth: int = 0) -> Any:
        share = self.chance.random()
        if share < (0.35 if self.is_merge and depth < 3 else 0.7) or depth > 3:
            return self._leaf()
        if share < 0.5 or share > 0.95:
            return [self._leaf() for _ in range(self.chance.randrange(1, 4))]
        return {f"k{key}": self._value(depth + 1) for key in self.chance.sample(range(4), self.chance.randrange(1, 4))}

    def _some(self, share: float) -> dict[str, Any]:
        return {name: self._value() for name in NAMES if self.chance.random() < share}

    def _put(self, file: str, data: Any, empty: bool = True) -> None:
        if data:
            style = self.chance.choice((None, False, False))
            self.tree.files[file] = yaml.safe_dump(data, sort_keys=False, default_flow_style=style)
        elif empty and self._use("empty file", 0.2):
            self.tree.files[file] = "# nothing\n"

    # --- inventories

    def _inventory(self) -> None:
        layouts = (["inv/hosts"], ["inv/hosts", "more/hosts"], ["inv"], ["inv/hosts", "inv/again"])
        self.tree.sources = list(self.chance.choice(layouts))
        files = {"inv": ["inv/10-a", "inv/20-b"]}
        for number, source in enumerate(file for one in self.tree.sources for file in files.get(one, [one])):
            notation = self.chance.choice(("ini", "yaml"))
            self.tree.used[f"inventory in {notation}"] += 1
            getattr(self, f"_{notation}")(source, number)
        self.tree.used["several sources" if len(self.tree.sources) > 1 else f"source {self.tree.sources[0]}"] += 1

    def _members(self, number: int) -> dict[str, list[str]]:
        share = 0.25 if number == 0 else 0.08
        return {group: [host for host in self.hosts if self.chance.random() < share] for group in self.groups}

    def _children(self) -> dict[str, list[str]]:
        return {
            group: [later for later in self.groups[index + 1 :] if self._use("child group", 0.2)]
            for index, group in enumerate(self.groups)
        }

    def _of_group(self) -> dict[str, Any]:
        own = self._some(0.08)
        if self._use("group priority", 0.1):
            own["ansible_group_priority"] = self.chance.randrange(-2, 9)
        return own

    def _ini(self, file: str, number: int) -> None:
        lines = []
        for host in self.hosts if number == 0 else self.chance.sample(self.hosts, min(5, len(self.hosts))):
            own = {name: value for name, value in self._some(0.03).items() if not isinstance(value, (dict, list))}
            lines.append(" ".join([host, *(f"{name}={value}" for name, value in own.items())]))
        everyone = self._some(0.1)
        lines += ["[all:vars]", *(f"{name}={value!r}" for name, value in everyone.items())] if everyone else []
        children = self._children()
        for group, members in self._members(number).items():
            lines += [f"[{group}]", *members]
            own = self._of_group()
            lines += [f"[{group}:vars]", *(f"{name} = {value!r}" for name, value in own.items())] if own else []
            lines += [f"[{group}:children]", *children[group]] if children[group] else []
        self.tree.files[file] = "\n".join(lines) + "\n"

    def _yaml(self, file: str, number: int) -> None:
        children = self._children()
        groups = {
            group: _kept(hosts=dict.fromkeys(members), vars=self._of_group(), children=dict.fromkeys(children[group]))
            for group, members in self._members(number).items()
        }
        chosen = self.hosts if number == 0 else self.chance.sample(self.hosts, min(5, len(self.hosts)))
        own = {host: self._some(0.03) or None for host in chosen}
        body = _kept(hosts=own, vars=self._some(0.1), children=groups)
        self.tree.files[file] = yaml.safe_dump({"all": body}, sort_keys=False)

    def _files(self, folder: str) -> None:
        base = f"{folder}/" if folder else ""
        for group in ["all", *self.groups]:
            self._variables(f"{base}group_vars/{group}", 0.18)
        for host in self.chance.sample(self.hosts, min(8, len(self.hosts))):
            self._variables(f"{base}host_vars/{host}", 0.2)

    def _variables(self, stem: str, share: float) -> None:
        if self._use("folder of variables", 0.12):
            for name in self.chance.sample(("a.yml", "b.yaml", "c", "Z.yml", "0.yml", "sub/x.yml"), 2):
                self._put(f"{stem}/{name}", self._some(share))
        elif self._use("file of variables", 0.4):
            self._put(stem + self.chance.choice(("", ".yml", ".yaml")), self._some(share))
        elif self._use("JSON file", 0.06):
            self.tree.files[f"{stem}.json"] = json.dumps(self._some(share), indent=2)

    def _settings(self) -> None:
        if self.is_merge:
            self.tree.used["hash_behaviour = merge"] += 1
            self.tree.environment["ANSIBLE_HASH_BEHAVIOUR"] = "merge"
        else:
            self.tree.used["hash_behaviour = replace"] += 1

    # --- roles and plays

    def _roles(self) -> None:
        for number, role in enumerate(ROLES):
            for kind, share in (("defaults", 0.3), ("vars", 0.12)):
                if self._use("folder main of a role", 0.1):
                    self._put(f"roles/{role}/{kind}/main/a.yml", self._some(share))
                    self._put(f"roles/{role}/{kind}/main/b.yml", self._some(share))
                else:
                    self._put(f"roles/{role}/{kind}/main.yml", self._some(share))
            tasks: list[Any] = [self._task(f"in {role}")]
            if number < len(ROLES) - 1 and self._use("import_role in a role", 0.1):
                tasks.append(self._import_role(ROLES[number + 1]))
            self._put(f"roles/{role}/tasks/main.yml", tasks)
            needs = [self._entry(later) for later in ROLES[number + 1 :] if self._use("dependency", 0.25)]
            if needs:
                self._put(f"roles/{role}/meta/main.yml", {"dependencies": needs})

    def _entry(self, role: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"role": role}
        if self._use("role params", 0.3):
            entry.update(self._some(0.1))
        if self._use("vars of a role entry", 0.3):
            entry["vars"] = self._some(0.1)
        return entry

    def _task(self, name: str) -> dict[str, Any]:
        task: dict[str, Any] = {"name": name, "debug": {"msg": "x"}}
        if self._use("task vars", 0.4):
            task["vars"] = self._some(0.1)
        return task

    def _import_role(self, role: str) -> dict[str, Any]:
        task: dict[str, Any] = {"import_role": {"name": role}}
        if self._use("vars of import_role", 0.5):
            task["vars"] = self._some(0.1)
        if self._use("vars_from", 0.2):
            task["import_role"]["vars_from"] = "other"
            self._put(f"roles/{role}/vars/other.yml", self._some(0.2))
        return task

    def _tasks(self, name: str, depth: int = 0) -> Iterator[dict[str, Any]]:
        yield self._task(name)
        if depth < 3 and self._use("block", 0.35):
            block: dict[str, Any] = {"block": list(self._tasks(f"{name}b", depth + 1))}
            if self._use("block vars", 0.8):
                block["vars"] = self._some(0.12)
            yield block
        if depth < 2 and self._use("import_tasks", 0.25):
            self._put(f"{name}-more.yml", list(self._tasks(f"{name}i", depth + 1)))
            task: dict[str, Any] = {"import_tasks": f"{name}-more.yml"}
            if self._use("vars of import_tasks", 0.6):
                task["vars"] = self._some(0.1)
            yield task
        if depth == 0 and self._use("import_role", 0.3):
            yield self._import_role(self.chance.choice(ROLES))

    def _play(self, number: int) -> dict[str, Any]:
        play: dict[str, Any] = {"hosts": self.chance.choice(["all", *self.groups]), "gather_facts": False}
        if self._use("play vars", 0.7):
            play["vars"] = self._some(0.12)
        if self._use("vars_files", 0.4):
            play["vars_files"] = [self._vars_file(number, entry) for entry in range(self.chance.randrange(1, 3))]
        if self._use("roles", 0.8):
            play["roles"] = [self._entry(role) for role in self.chance.sample(ROLES, self.chance.randrange(1, 4))]
        for key in ("pre_tasks", "tasks", "post_tasks"):
            if key == "tasks" or self._use(key, 0.2):
                play[key] = list(self._tasks(f"{key[0]}{key[1]}{number}"))
        return play

    def _vars_file(self, number: int, entry: int) -> Any:
        file = f"vf{number}{entry}.yml"
        self._put(self.chance.choice(("", "", "vars/")) + file, self._some(0.15), empty=False)
        return ["nosuch.yml", file] if self._use("alternatives in vars_files", 0.3) else file

    def _playbook(self) -> None:
        self.tree.playbook = "site.yml"
        plays: list[Any] = [self._play(number) for number in range(self.chance.randrange(1, 3))]
        if self._use("import_playbook", 0.15):
            self._put("sub.yml", [self._play(8)])
            plays.append({"import_playbook": "sub.yml", "vars": self._some(0.15)})
        self._put("site.yml", plays)

    def _extra(self) -> None:
        self.tree.extra.append(json.dumps(self._some(0.12)))
        if self._use("extra vars of a file", 0.3):
            self._put("extra.yml", self._some(0.15) or {"va": self._leaf()})
            self.tree.extra.append("@extra.yml")


def _kept(**parts: Any) -> dict[str, Any] | None:
    return {name: part for name, part in parts.items() if part} or None
