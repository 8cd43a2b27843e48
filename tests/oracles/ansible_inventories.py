"""Random inventories of Ansible in all notations, with group_vars and host_vars beside them."""

from __future__ import annotations

import json
from typing import Any

from tests.oracles.ansible_values import Values

_LAYOUTS = (
    ["inv/hosts"],
    ["inv/hosts", "more/hosts"],
    ["inv"],
    ["inv/hosts", "inv/again"],
    ["inv/hosts", "x9,x10:22,[2001:db8::7]:23,"],
    ["inv/hosts.yml"],
    ["gone/nosuch", "inv/hosts"],
)
_FILES = {"inv": ["inv/10-a", "inv/20-b", "inv/deep/30-c"]}
_ODD = ("true", "True", "010", "0x1F", "1_000", "'1'", "(1, 2)", "[1, 'a']", "{'a': 1}", "~", "None", "1e3", "yes")
"""Texts of INI that are read as something, or stay texts."""
_TAILS = ("", "", " # c", " ; c")
_RANGES = {"r[01:03]": "r02", "s[a:c]": "sc", "t[1:7:3]": "t4", "u[:1]-[1:2]": "u1-2", "w[9:12]:2201": "w10"}
"""Ranges, and one of the hosts that each makes."""
_SCRIPT = "#!/bin/sh\ncat <<'END'\n{}\nEND\n"


class Inventories:
    """Writes the sources of a tree.

    hosts, groups: their names
    more: a host that a range makes
    """

    def __init__(self, values: Values, hosts: int) -> None:
        self.values, self.tree, self.chance = values, values.tree, values.chance
        self.hosts = [f"h{number}" for number in range(hosts)]
        self.more: list[str] = []
        self.groups = [f"g{number:02}" for number in self.chance.sample(range(60), self.chance.randrange(4, 9))]
        if self.values.use("group with an odd name", 0.06):
            self.groups[-1] = "g-odd"
        if self.values.use("group and host of one name", 0.04):
            self.groups[-2] = self.hosts[0]
        if self.values.use("host with dots in its name", 0.15):
            self.hosts[1] = "h1.example.com"

    def write(self) -> None:
        """Sources, files of variables beside them, and what is passed over."""
        self.tree.sources = list(self.chance.choice(_LAYOUTS))
        there = [one for one in self.tree.sources if "," not in one and one != "gone/nosuch"]
        files = [file for one in there for file in _FILES.get(one, [one])]
        for number, source in enumerate(files):
            notation = self.chance.choice(("ini", "ini", "yaml", "yaml", "json", "toml", "dynamic"))
            if number and "inventory_ignore_extensions" in self.tree.settings and self.tree.sources[0] == "inv":
                notation = "toml"
            if notation in ("toml", "dynamic") and (number == 0 or self.tree.sources[0] != "inv"):
                notation = "ini"  # these have no kind of their own at a path without a suffix
            self.tree.used[f"inventory in {notation}"] += 1
            getattr(self, f"_{notation}")(source, number)
        several = len(self.tree.sources) > 1
        self.tree.used["several sources" if several else f"source {self.tree.sources[0]}"] += 1
        if self.tree.sources[0] == "gone/nosuch":
            self.tree.used["source that is not there"] += 1
        if "," in self.tree.sources[-1]:
            self.tree.used["list of hosts"] += 1
        if self.tree.sources[0] == "inv":
            self._passed_over()
        if self.values.use("constructed groups and variables", 0.15):
            file = "inv/25-made.yml" if self.tree.sources[0] == "inv" else "inv/made.yml"
            self.tree.sources += [] if self.tree.sources[0] == "inv" else [file]
            self._constructed(file)
        folders = {source.rpartition("/")[0] or "inv" for source in there}
        for folder in sorted(folders | {""}):
            base = f"{folder}/" if folder else ""
            for group in ["all", "ungrouped", *self.groups]:
                self.values.variables(f"{base}group_vars/{group}", 0.18)
            for host in self.chance.sample(self.hosts, min(8, len(self.hosts))):
                self.values.variables(f"{base}host_vars/{host}", 0.2)
        if self.values.use("vars beside a subfolder", 0.05):
            self.values.put("inv/deep/group_vars/all.yml", self.values.some(0.3))

    def _passed_over(self) -> None:
        for name, what in (("inv/.hidden", "hidden source"), ("inv/old.bak", "ignored suffix")):
            if self.values.use(what, 0.3):
                self.tree.files[name] = "[g00]\nnobody\n"
        if self.values.use("source that is broken half way", 0.3):
            self.tree.files["inv/15-half"] = f"[{self.groups[0]}]\n{self.hosts[0]} vb=s9999\n{self.hosts[1]} vc\n"

    # --- what they say

    def _members(self, number: int) -> dict[str, list[str]]:
        share = 0.25 if number == 0 else 0.08
        return {group: [host for host in self.hosts if self.chance.random() < share] for group in self.groups}

    def _children(self) -> dict[str, list[str]]:
        return {
            group: [later for later in self.groups[index + 1 :] if self.values.use("child group", 0.2)]
            for index, group in enumerate(self.groups)
        }

    def _of_group(self, *, rich: bool) -> dict[str, Any]:
        own = self.values.some(0.08, rich=rich)
        if self.values.use("group priority", 0.1):
            own["ansible_group_priority"] = self.chance.randrange(-2, 9)
        return own

    def _chosen(self, number: int) -> list[str]:
        return self.hosts if number == 0 else self.chance.sample(self.hosts, min(5, len(self.hosts)))

    # --- notations

    def _ini(self, file: str, number: int) -> None:
        lines = ["; a comment", ""] if self.values.use("comment in INI", 0.2) else []
        for host in self._chosen(number):
            own = {name: self.values.leaf(rich=False) for name, _ in self.values.some(0.03, rich=False).items()}
            words = [f"{name}={_quoted(value)}" for name, value in own.items()]
            if self.values.use("odd value on a host line", 0.005):
                words.append(f'vx="{self.chance.choice(_ODD)}"')
            port = ":2200" if self.values.use("port in a name", 0.02) else ""
            lines.append(
                " ".join([host + port, *words]) + (" # why" if self.values.use("comment in INI", 0.03) else "")
            )
        if number == 0 and self.values.use("range of hosts", 0.2):
            lines.append("h[0:3] vk=s9998" if len(self.hosts) > 4 else "h[0:0]")
        if number == 0 and self.values.use("ranges that make hosts", 0.15):
            pattern, host = self.chance.choice([*_RANGES.items()])
            self.more.append(host)
            lines.append(pattern)
        everyone = self.values.some(0.1, rich=False)
        lines += ["[all:vars]", *(f"{name}={value!r}" for name, value in everyone.items())] if everyone else []
        if everyone and self.values.use("odd value of a group", 0.15):
            lines.append(f"vy = {self.chance.choice(_ODD)}{self.chance.choice(_TAILS)}")
        children = self._children()
        for group, members in self._members(number).items():
            own = self._of_group(rich=False)
            of_vars = [f"[{group}:vars]", *(f"{name} = {value!r}" for name, value in own.items())] if own else []
            if of_vars and self.values.use("vars before the section of hosts", 0.2):
                lines, of_vars = [*lines, *of_vars], []
            lines += [f"[{group}]", *members, *of_vars]
            lines += [f"[{group}:children]", *children[group]] if children[group] else []
        if self.values.use("section of ungrouped", 0.1):
            own = self.values.some(0.1, rich=False)
            lines += ["[ungrouped:vars]", *(f"{name} = {value!r}" for name, value in own.items())]
        if number == 0 and self.values.use("section that is there twice", 0.1):
            lines += [f"[{self.groups[0]}]", self.hosts[-1]]
        end = "\r\n" if self.values.use("CRLF", 0.05) else "\n"
        self.tree.files[file] = end.join(lines) + end

    def _maps(self, number: int, *, rich: bool) -> dict[str, Any]:
        children = self._children()
        groups = {
            group: _kept(
                hosts=dict.fromkeys(members), vars=self._of_group(rich=rich), children=dict.fromkeys(children[group])
            )
            for group, members in self._members(number).items()
        }
        own = {host: self.values.some(0.03, rich=rich) or None for host in self._chosen(number)}
        if number == 0 and self.values.use("range in YAML", 0.1):
            own["y[1:3]:2203"] = None
            self.more.append("y2")
        if rich and self.values.use("hosts as a text", 0.1):
            groups[self.groups[-1]] = {**(groups[self.groups[-1]] or {}), "hosts": self.hosts[2]}
        if rich and self.values.use("unknown key in YAML", 0.08):
            groups[self.groups[0]] = {**(groups[self.groups[0]] or {}), "host": {"nobody": None}}
        body = _kept(hosts=own, vars=self.values.some(0.1, rich=rich), children=groups)
        if number and self.values.use("groups at the top", 0.3):
            return {"all": _kept(hosts=own), **groups}
        return {"all": body}

    def _yaml(self, file: str, number: int) -> None:
        self.tree.files[file] = self.values.yaml(self._maps(number, rich=True), default_flow_style=False)

    def _json(self, file: str, number: int) -> None:
        self.tree.files[file] = json.dumps(self._maps(number, rich=False), indent=1)

    def _toml(self, file: str, number: int) -> None:
        lines = [f"[{self.groups[0]}.hosts.{self.hosts[0]}]", 'vd = "s9997"', f"[{self.groups[0]}.vars]", "ve = 19996"]
        self.tree.files[f"{file}.toml"] = "\n".join(lines) + "\n"

    def _dynamic(self, file: str, number: int) -> None:
        groups = {group: {"hosts": members} for group, members in self._members(number).items() if members}
        listed: dict[str, Any] = {group: {**body, "vars": self._of_group(rich=False)} for group, body in groups.items()}
        own = {host: self.values.some(0.1, rich=False) for host in self._chosen(number)}
        text = json.dumps({**listed, "_meta": {"hostvars": own}})
        self.tree.files[f"{file}.sh"] = _SCRIPT.format(text)
        self.tree.scripts.append(f"{file}.sh")

    def _constructed(self, file: str) -> None:
        body: dict[str, Any] = {"plugin": self.chance.choice(("constructed", "ansible.builtin.constructed"))}
        for option in ("strict", "use_vars_plugins", "use_extra_vars"):
            if self.values.use(f"{option} of constructed", 0.2):
                body[option] = True
        names = [f"v{letter}" for letter in "abcdefgh"]
        if self.values.use("compose", 0.8):
            more = [*self.values.some(0.15, rich=False)] or ["va"]
            body["compose"] = {name: f"{self.values.leaf(rich=False)!r}{self._limit()}" for name in more}
        if self.values.use("groups of constructed", 0.8):
            made = self.chance.sample([*self.groups, "made-0", "made1"], 3)
            body["groups"] = {name: self._condition(self.chance.choice(names)) for name in made}
        if self.values.use("keyed_groups", 0.7):
            body["keyed_groups"] = [self._keyed(self.chance.choice(names)) for _ in range(self.chance.randrange(1, 4))]
        self.tree.files[file] = self.values.yaml(body, default_flow_style=False)

    def _limit(self) -> str:
        return f" if {self._condition('va')} else omit" if self.values.use("omit in compose", 0.3) else ""

    def _condition(self, name: str) -> str:
        return self.chance.choice(
            (
                f"{name} is defined",
                f"{name} is not defined",
                f"'{self.groups[0]}' in group_names",
                f"inventory_hostname in {self.chance.sample(self.hosts, min(6, len(self.hosts)))!r}",
                f"{name} is string",
                f"({name} | string) > 's5'",
            )
        )

    def _keyed(self, name: str) -> dict[str, Any]:
        keys = (
            f"{name} | string",
            f"[{name} | string, 'x-y']",
            f"{{'k': {name}}}",
            f"{name}",
            "inventory_hostname[:2]",
        )
        entry: dict[str, Any] = {"key": self.chance.choice(keys)}
        for option, of in (
            ("prefix", ("p", "", "p-q")),
            ("separator", ("-", "")),
            ("parent_group", (*self.groups, "up-1")),
        ):
            if self.values.use(f"{option} of keyed_groups", 0.4):
                entry[option] = self.chance.choice(of)
        if self.values.use("default_value of keyed_groups", 0.2):
            entry["default_value"] = "none"
        return entry


def _quoted(value: Any) -> str:
    """A value as a word of a host line."""
    return (
        "'" + json.dumps(value).replace("true", "True").replace("false", "False").replace("null", "None") + "'"
        if (isinstance(value, dict))
        else str(value)
    )


def _kept(**parts: Any) -> dict[str, Any] | None:
    return {name: part for name, part in parts.items() if part} or None
