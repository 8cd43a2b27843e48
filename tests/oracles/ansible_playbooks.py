"""Random playbooks and roles of Ansible, to be compiled, or run so that tasks set something."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.oracles.ansible_inventories import Inventories

ROLES = [f"r{letter}" for letter in "abcde"]
_DEBUG = {"debug": {"msg": "x"}}
_EVERYWHERE: dict[str, Any] = {
    "any_errors_fatal": False,
    "check_mode": False,
    "collections": ["my.own"],
    "debugger": "never",
    "diff": True,
    "environment": {"X": "1"},
    "ignore_errors": True,
    "ignore_unreachable": True,
    "module_defaults": {"debug": {"verbosity": 0}},
    "no_log": False,
    "tags": ["blue"],
    "throttle": 1,
    "timeout": 60,
}
_COMPILED: dict[str, Any] = {
    "become": True,
    "become_exe": "sudo",
    "become_flags": "-H",
    "become_method": "sudo",
    "become_user": "root",
    "connection": "ssh",
    "port": 2222,
    "remote_user": "root",
    "run_once": True,
}
_OF_PLAY: dict[str, Any] = {
    "fact_path": "/x",
    "force_handlers": True,
    "gather_subset": ["min"],
    "gather_timeout": 5,
    "max_fail_percentage": 50,
    "order": "sorted",
    "serial": 100,
    "strategy": "linear",
}
_OF_TASK: dict[str, Any] = {
    "async": 0,
    "changed_when": False,
    "delay": 1,
    "delegate_facts": False,
    "failed_when": False,
    "poll": 0,
    "retries": 1,
}
KEYWORDS = {
    "play": {**_EVERYWHERE, **_OF_PLAY},
    "block": {**_EVERYWHERE, "when": True, "delegate_facts": False},
    "task": {**_EVERYWHERE, **_OF_TASK},
    "role": {**_EVERYWHERE, "delegate_facts": False},
    "import": {**_EVERYWHERE, "when": True},
    "include": {"ignore_errors": True, "tags": ["blue"], "when": True, "no_log": False, "debugger": "never"},
}
"""Words of Ansible that change no variable, each with a value; `_COMPILED` where nothing runs."""


class Playbooks:
    """Writes the playbook of a tree, and what belongs to it."""

    def __init__(self, inventories: Inventories) -> None:
        self.values, self.tree, self.chance = inventories.values, inventories.tree, inventories.chance
        self.use, self.some, self.put = self.values.use, self.values.some, self.values.put
        self.hosts, self.groups = inventories.hosts, inventories.groups
        self.numbers = iter(range(1, 10_000))
        self.folder = ""  # of the playbook that is written

    def write(self) -> None:
        """Roles, then one or two plays, perhaps one of another file."""
        self.base = "roles"
        if self.use("roles_path", 0.2):
            self.base = "shared/roles"
            self.tree.settings["roles_path"] = "shared/roles"
        self._roles()
        self.tree.playbook = "site.yml"
        count = 1 if self.tree.used["handler of a role"] else self.chance.randrange(1, 3)
        plays: list[Any] = [self._play(number) for number in range(count)]
        if not self.tree.run and self.use("implicit localhost", 0.05):
            plays.append({**self._play(3), "hosts": "localhost"})
            self.tree.asked.append("localhost")
        if not self.tree.used["handler of a role"] and self.use("import_playbook", 0.25):
            is_found = "roles_path" in self.tree.settings
            folder = "sub/" if is_found and self.use("playbook of another folder", 0.9) else ""
            self.folder = folder
            self.put(f"{folder}sub.yml", [self._play(8)])
            self.folder = ""
            self.put(f"{folder}group_vars/all.yml", self.some(0.2)) if folder else None
            plays.append({"import_playbook": f"{folder}sub.yml", "vars": self.some(0.15)})
        self.put("site.yml", plays)

    def _worded(self, entry: dict[str, Any], of: str, share: float = 0.15) -> dict[str, Any]:
        """An entry with words that change no variable."""
        words = {**KEYWORDS[of], **({} if self.tree.run or of == "include" else _COMPILED)}
        if self.chance.random() < share:
            for word in self.chance.sample(sorted(words), self.chance.randrange(1, 4)):
                if word not in entry:
                    entry[word] = words[word]
                    self.tree.used[f"{word} of a {of}"] += 1
        return entry

    # --- roles

    def _roles(self) -> None:
        for number, role in enumerate(ROLES):
            home = f"{self.base}/{role}"
            for kind, share in (("defaults", 0.3), ("vars", 0.12)):
                if self.use("folder main of a role", 0.1):
                    self.put(f"{home}/{kind}/main/a.yml", self.some(share))
                    self.put(f"{home}/{kind}/main/b.yml", self.some(share))
                elif self.use("JSON file of a role", 0.05):
                    self.tree.files[f"{home}/{kind}/main.json"] = json.dumps(self.some(share, rich=False), indent=1)
                else:
                    suffix = self.chance.choice((".yml", ".yml", ".yaml", ""))
                    self.put(f"{home}/{kind}/main{suffix}", self.some(share))
                if self.use("other file of a role", 0.1):
                    self.put(f"{home}/{kind}/silent.yml", self.some(share))
            self.put(f"{home}/vars/other.yml", {"vl": self.values.leaf()})
            self.put(f"{home}/defaults/other.yml", {"vk": self.values.leaf()})
            self.put(f"{home}/tasks/other.yml", [self._task(f"other of {role}")])
            tasks: list[Any] = [self._task(f"in {role}")]
            if self.tree.run and self.use("handler of a role", 0.15):
                tasks[0] |= {"notify": f"handler of {role}", "changed_when": True}
                self.put(f"{home}/handlers/main.yml", [self._task(f"handler of {role}")])
            if number < len(ROLES) - 1 and self.use("import_role in a role", 0.1):
                tasks.append(self._role_of("import_role", ROLES[number + 1]))
            if self.tree.run and number < len(ROLES) - 1 and self.use("include_role in a role", 0.15):
                tasks.append(self._role_of("include_role", ROLES[number + 1]))
            if self.tree.run and self.use("include_vars in a role", 0.15):
                self.put(f"{home}/vars/more.yml", {**self.some(0.2), "vh": self.values.leaf()})
                tasks += [{"include_vars": "more.yml"}, self._task(f"after more of {role}")]
            self.put(f"{home}/tasks/main.yml", tasks)
            needs = [self._entry(later) for later in ROLES[number + 1 :] if self.use("dependency", 0.25)]
            meta: dict[str, Any] = {"dependencies": needs} if needs else {}
            if self.use("allow_duplicates of a role", 0.12):
                meta["allow_duplicates"] = self.chance.random() < 0.8
            self.put(f"{home}/meta/main.yml", meta, empty=False)

    def _entry(self, role: str) -> dict[str, Any] | str:
        if self.use("role by its name alone", 0.2):
            return role
        if self.use("role by its path", 0.02):
            return {"role": f"{self.base}/{role}"}
        entry: dict[str, Any] = {self.chance.choice(("role", "role", "name")): role}
        if self.use("role params", 0.3):
            entry.update(self.some(0.1, rich=False))
        if self.use("vars of a role entry", 0.3):
            entry["vars"] = self.some(0.1)
        if self.use("tags of a role", 0.1):
            entry["tags"] = ["blue"]
        if self.use("condition of a role", 0.06):
            entry["when"] = "true"
        if self.tree.run and self.use("role that never runs", 0.12):
            entry["when"] = False
        return self._worded(entry, "role")

    def _role_of(self, how: str, role: str) -> dict[str, Any]:
        task: dict[str, Any] = {how: {"name": role}}
        if self.use(f"vars of {how}", 0.5):
            task["vars"] = self.some(0.1)
        for what in ("vars_from", "defaults_from", "tasks_from"):
            if self.use(what, 0.15):
                task[how][what] = self.chance.choice(("other", "other.yml"))
            elif how == "include_role" and self.use(f"{what} with a template", 0.1):
                task[how][what] = "{{ stem }}"
                task["vars"] = {**task.get("vars", {}), "stem": "other"}
            elif how == "include_role" and "loop" not in task and self.use(f"{what} in a loop", 0.15):
                task |= {"loop": ["other", "other.yml"]}
                task[how][what] = "{{ item }}"
        if self.use(f"{how} that is or is not public", 0.3):
            task[how]["public"] = self.chance.random() < (0.8 if how == "include_role" else 0.2)
        if self.use(f"allow_duplicates of {how}", 0.25):
            task[how]["allow_duplicates"] = self.chance.random() < 0.2
        if how == "include_role" and self.use("apply of include_role", 0.3):
            task[how]["apply"] = self._applied()
        return self._worded(task, how.partition("_")[0])

    def _applied(self) -> dict[str, Any]:
        """What an include applies to its tasks."""
        own = {"vars": self.some(0.15, rich=False)} if self.use("vars of apply", 0.8) else {}  # not set, it would fail
        return self._worded(own, "block", 0.3)

    # --- tasks

    def _task(self, name: str) -> dict[str, Any]:
        task: dict[str, Any] = {"name": name, **_DEBUG}
        if self.use("task vars", 0.4):
            task["vars"] = self.some(0.1)
        if self.use("delegate_to", 0.03):
            task["delegate_to"] = self.hosts[0]
        if self.use("tags of a task", 0.03):
            task["tags"] = "blue"
        return self._worded(task, "task")

    def _tasks(self, name: str, depth: int = 0) -> Iterator[dict[str, Any]]:
        yield self._task(name)
        if depth < 3 and self.use("block", 0.35):
            block: dict[str, Any] = {"block": list(self._tasks(f"{name}b", depth + 1))}
            if self.use("block vars", 0.8):
                block["vars"] = self.some(0.12)
            if self.use("always", 0.1):
                block["always"] = [self._task(f"{name}l")]
            yield self._worded(block, "block")
        if depth < 2 and self.use("import_tasks", 0.25):
            yield self._file_of("import_tasks", f"{name}-more.yml", f"{name}i", depth)
        if depth == 0 and self.use("import_role", 0.3):
            yield self._role_of("import_role", self.chance.choice(ROLES))
        if self.tree.run and depth < 2:
            yield from self._that_run(name, depth)

    def _file_of(self, how: str, file: str, name: str, depth: int) -> dict[str, Any]:
        self.put(self.folder + file, list(self._tasks(name, depth + 1)))
        own = {"vars": self.some(0.1)} if self.use(f"vars of {how}", 0.6) else {}
        if how == "include_tasks" and self.use("include_tasks with a template", 0.2):
            return {how: "{{ part }}.yml", "vars": {**own.get("vars", {}), "part": file.removesuffix(".yml")}}
        if how == "include_tasks" and self.use("apply of include_tasks", 0.3):
            return self._worded({how: {"file": file, "apply": self._applied()}, **own}, "include")
        return self._worded({how: file, **own}, how.partition("_")[0])

    def _that_run(self, name: str, depth: int) -> Iterator[dict[str, Any]]:
        """What only a run shows."""
        if self.use("include_tasks", 0.4):
            yield self._file_of("include_tasks", f"{name}-inc.yml", f"{name}n", depth)
        if self.use("include_role", 0.4):
            yield self._role_of("include_role", self.chance.choice(ROLES))
        if self.use("set_fact", 0.3):
            yield {"set_fact": {**self.some(0.1, rich=False), "vj": self.values.leaf(rich=False)}}  # a loop would fail
        if self.use("register", 0.2):
            yield {**_DEBUG, "register": "vi", "name": f"{name}r"}
        if self.use("include_vars", 0.45):
            yield from self._include_vars(name)
        if self.use("a condition that is false", 0.15):
            yield {"set_fact": {"va": self.values.leaf()}, "when": False}
        if self.use("a condition that the inventory settles", 0.15):
            when = self.chance.choice(
                (f"inventory_hostname == '{self.hosts[0]}'", f"'{self.groups[0]}' in group_names")
            )
            yield {"set_fact": {"vk": self.values.leaf(rich=False)}, "when": when}
        if self.use("add_host", 0.1):
            yield {"add_host": {"name": "h77", "groups": self.groups[0]}}
        if self.use("group_by", 0.1):
            yield {"group_by": {"key": self.groups[0]}}
        yield self._task(f"{name}z")

    def _include_vars(self, name: str) -> Iterator[dict[str, Any]]:
        number = next(self.numbers)
        if self.use("include_vars of a folder", 0.35):
            for one in ("a", "b"):
                self.put(f"{self.folder}ivd{number}/{one}.yml", self.some(0.2))
            if any(file.startswith(f"{self.folder}ivd{number}/") for file in self.tree.files):
                yield {"include_vars": {"dir": f"ivd{number}"}}
            return
        file = f"iv{number}.yml"
        self.put(self.folder + file, {**self.some(0.2), "va": self.values.leaf()})
        given: dict[str, Any] = {"file": file}
        if self.use("include_vars in a loop", 0.1):
            more = f"iv{number}-more.yml"
            self.put(self.folder + more, {**self.some(0.2), "vb": self.values.leaf()})
            yield {"include_vars": "{{ item }}", "loop": [file, more]}
            return
        if self.use("with_first_found", 0.1):
            yield {"include_vars": "{{ item }}", "with_first_found": ["nosuch.yml", file]}
            return
        if self.use("first_found as a lookup", 0.25):
            yield {"include_vars": f"{{{{ lookup('first_found', 'nosuch.yml', '{file}') }}}}"}
            return
        if self.use("include_vars with a name", 0.4):
            given["name"] = "vb"
        if self.use("include_vars that merges", 0.5):
            given["hash_behaviour"] = "merge"
        yield {"include_vars": given if len(given) > 1 else file}

    # --- plays

    def _pattern(self) -> str:
        one, other = self.chance.sample(self.groups, 2)
        plain = ["all", "all", one, *self.groups]
        if not self.use("pattern of hosts", 0.3):
            return self.chance.choice(plain)
        host = self.hosts[-1]
        return self.chance.choice(
            (
                f"{one}:{other}",
                f"all:!{one}",
                f"{one}:&{other}",
                f"{one},{host}",
                "h*",
                "~h[0-9]$",
                f"{one}[0:3]",
                "all[3]",
            )
        )

    def _play(self, number: int) -> dict[str, Any]:
        play: dict[str, Any] = {"hosts": self._pattern(), "gather_facts": False}
        if self.tree.run:
            play["connection"] = "local"
        if self.use("play vars", 0.7):
            play["vars"] = self.some(0.12)
        if self.use("hosts with a template", 0.08):
            play |= {"name": f"play {number}", "vars": {**play.get("vars", {}), "target": play["hosts"]}}
            play["hosts"] = self.chance.choice(
                ("{{ target }}", "{{ target | default('all') }}", "{{ nosuch | default(target) }}")
            )
        self._worded(play, "play", 0.25)
        if self.use("vars_files", 0.4):
            play["vars_files"] = [self._vars_file(number, entry) for entry in range(self.chance.randrange(1, 3))]
        if self.use("roles", 0.8):
            play["roles"] = [self._entry(role) for role in self.chance.sample(ROLES, self.chance.randrange(1, 4))]
        if self.tree.run and self.use("vars_prompt", 0.35):
            play["vars_prompt"] = [{"name": "vg", "default": "s9993"}]
        if not self.tree.run and self.use("a magic name among play vars", 0.04):
            play["vars"] = {**play.get("vars", {}), "inventory_hostname": "s9994"}
        if play.get("roles") and self.use("role of a collection", 0.05):
            home = "collections/ansible_collections/my/own/roles/rk"
            self.put(f"{home}/defaults/main.yml", self.some(0.2))
            self.put(f"{home}/vars/main.yml", self.some(0.1))
            self.put(f"{home}/tasks/main.yml", [self._task("in rk")])
            play["roles"].append("my.own.rk")
        if play.get("roles") and self.use("role whose name is filled in", 0.05):
            play["vars"] = {**play.get("vars", {}), "which": "rc"}
            play["roles"].append({"role": "{{ which }}"})
        for key in ("pre_tasks", "tasks", "post_tasks"):
            is_alone = self.tree.used["handler of a role"]  # handlers run after each of them
            if key == "tasks" or (not is_alone and self.use(key, 0.2)):
                play[key] = list(self._tasks(f"{key[0]}{key[1]}{number}"))
        return play

    def _vars_file(self, number: int, entry: int) -> Any:
        file = f"vf{number}{entry}.yml"
        folders = tuple(self.folder + one for one in ("", "", "vars/"))
        self.put(self.chance.choice(folders) + file, self.some(0.15), empty=False)
        if self.use("vars_files in both folders", 0.05):
            for one in folders[1:]:
                self.put(one + file, self.some(0.2), empty=False)
        if self.use("vars_files with a template", 0.1):
            self.put(f"{self.folder}vf-{self.groups[0]}.yml", self.some(0.2), empty=False)
            return "vf-{{ group_names[0] }}.yml"
        if self.use("vars_files with a name that is not set", 0.05):
            return [file, "vf-{{ nosuch }}.yml"]
        if self.use("alternatives in vars_files", 0.3):
            return ["nosuch.yml", file]
        return "nosuch.yml" if self.use("vars_files that are not there", 0.1) else file

    # --- what a run is given

    def extra(self) -> None:
        """Extra variables in their forms."""
        for form in self.chance.sample(("words", "JSON", "YAML", "file"), self.chance.randrange(1, 3)):
            self.tree.used[f"extra vars as {form}"] += 1
            getattr(self, f"_extra_{form.lower()}")()

    def _extra_words(self) -> None:
        texts = {name: self.values.leaf(rich=False) for name in self.some(0.1)}
        plain = {name: f"s{next(self.numbers) + 8000}" for name in texts}
        if plain:
            self.tree.extra.append(" ".join(f"{name}={value}" for name, value in plain.items()))

    def _extra_json(self) -> None:
        self.tree.extra.append(json.dumps(self.some(0.12, rich=False)))

    def _extra_yaml(self) -> None:
        self.tree.extra.append(
            self.values.yaml(self.some(0.12, rich=False) or {"va": 1}, default_flow_style=True).strip()
        )

    def _extra_file(self) -> None:
        self.put("extra.yml", self.some(0.15) or {"va": self.values.leaf()})
        self.tree.extra.append("@extra.yml")
