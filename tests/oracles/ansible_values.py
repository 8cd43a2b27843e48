"""Random values for trees of Ansible, and how they are written: each leaf stands once in its tree, at a known place.

It knows neither Ansible nor us.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import yaml

NAMES = [f"v{letter}" for letter in "abcdefghijkl"]
VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
TOKEN = re.compile(r"(?<!\w)(?:s\d{4}|1\d{4}|2\d{4}\.5|b\d{4})(?!\w)")
"""What stands once in a tree: a text, a number, or the key of a boolean or a null."""


@dataclass
class Tree:
    """A tree.

    settings:  what ansible.cfg says
    run:       whether the playbook is run, so that what tasks set is known
    printed:   what ansible-inventory is asked to print
    asked:     the hosts that are asked for, without those that are not in the inventory
    """

    files: dict[str, str] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    playbook: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)
    run: bool = False
    facts: bool = False
    printed: list[list[str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


class Unsafe(str):
    """A text under `!unsafe`."""

    __slots__ = ()


class Vault(str):
    """A text under `!vault`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(Unsafe, lambda dumper, value: dumper.represent_scalar("!unsafe", str(value)))
_Dumper.add_representer(Vault, lambda dumper, value: dumper.represent_scalar("!vault", str(value), style="|"))


class Values:
    """What all makers of a part of a tree have: chance, the tree, and fresh values.

    rich: whether texts under tags and templates are among them
    """

    def __init__(self, chance: random.Random, tree: Tree, *, is_merge: bool) -> None:
        self.chance, self.tree, self.is_merge = chance, tree, is_merge
        self.count = 0

    def use(self, what: str, share: float) -> bool:
        """Whether a construct is there this time; it is counted."""
        if self.chance.random() >= share:
            return False
        self.tree.used[what] += 1
        return True

    def leaf(self, *, rich: bool = True) -> Any:
        """A fresh leaf. rich: whether it may be one that only YAML can hold"""
        self.count += 1
        text = f"s{self.count:04}"
        share = self.chance.random()
        if share < 0.2:
            return 10000 + self.count
        if share < 0.25:
            return 20000.5 + self.count
        if share < 0.33:
            self.tree.used["boolean or null"] += 1
            return {f"b{self.count:04}": self.chance.choice((True, False, None))}
        if rich and share < 0.38:
            self.tree.used["template"] += 1
            return f"{{{{ {self.chance.choice(NAMES)} }}}}-{text}"
        if rich and share < 0.4:
            self.tree.used["unsafe text"] += 1
            return Unsafe(text + " {{ va }}")
        if rich and share < 0.41 and not (self.is_merge or self.tree.run):  # there it wants a password
            self.tree.used["inline vault"] += 1
            return Vault(VAULT)
        return text

    def value(self, depth: int = 0, *, rich: bool = True) -> Any:
        """A fresh value: a leaf, a list or a map."""
        share = self.chance.random()
        if share < (0.35 if self.is_merge and depth < 3 else 0.7) or depth > 3:
            return self.leaf(rich=rich)
        if share < 0.5 or share > 0.95:
            return [self.leaf(rich=rich) for _ in range(self.chance.randrange(1, 4))]
        keys = self.chance.sample(range(4), self.chance.randrange(1, 4))
        return {f"k{key}": self.value(depth + 1, rich=rich) for key in keys}

    def some(self, share: float, *, rich: bool = True) -> dict[str, Any]:
        """Fresh variables: each name with that chance."""
        return {name: self.value(rich=rich) for name in NAMES if self.chance.random() < share}

    def yaml(self, data: Any, **how: Any) -> str:
        """Data as YAML, in one of its styles."""
        style = self.chance.choice((None, False, False))
        text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, **{"default_flow_style": style, **how})
        return re.sub(r": true$", ": yes", text, flags=re.MULTILINE) if self.use("YAML 1.1 words", 0.2) else text

    def put(self, file: str, data: Any, empty: bool = True) -> None:
        """Write a file of variables or tasks."""
        if data:
            self.tree.files[file] = self.yaml(data)
            if isinstance(data, dict) and "/meta/" not in file and self.use("merge key", 0.06):
                self.tree.files[file] = self._anchored(data) + self.yaml(data, default_flow_style=False)
            elif isinstance(data, dict) and "/meta/" not in file and self.use("duplicate key", 0.02):
                again = f"{next(iter(data))}: {self.leaf(rich=False)}\n"
                self.tree.files[file] = again + self.yaml(data, default_flow_style=False)
        elif empty and self.use("empty file", 0.2):
            self.tree.files[file] = "# nothing\n"

    def _anchored(self, data: dict[str, Any]) -> str:
        free = [name for name in NAMES if name not in data]
        if len(free) < 2:
            return ""
        first, second, third = (f"s{self.count + one:04}" for one in (1, 2, 3))
        self.count += 3
        return f"{free[0]}: &base\n  k0: {first}\n  k1: {second}\n{free[1]}:\n  <<: *base\n  k1: {third}\n"

    def variables(self, stem: str, share: float) -> None:
        """Files of variables for a name under group_vars or host_vars, or none."""
        if self.use("folder of variables", 0.12):
            suffix = ".yml" if self.use("folder with a suffix", 0.15) else ""
            for name in self.chance.sample(("a.yml", "b.yaml", "c", "Z.yml", "0.yml", "sub/x.yml", "d.json"), 2):
                self._file(f"{stem}{suffix}/{name}", share)
            for name in (".hidden.yml", "old.yml~", "notes.txt"):
                if self.use("file that is passed over", 0.05):
                    self.put(f"{stem}{suffix}/{name}", self.some(share))
        elif self.use("file of variables", 0.4):
            self._file(stem + self.chance.choice(("", ".yml", ".yaml")), share)
            if self.use("two suffixes of one name", 0.08):
                self._file(stem + ".json", share)
        elif self.use("JSON file", 0.06):
            self._file(f"{stem}.json", share)

    def _file(self, file: str, share: float) -> None:
        if file.endswith(".json"):
            self.tree.used["JSON file"] += 1
            self.tree.files[file] = json.dumps(self.some(share, rich=False), indent=2)
        else:
            self.put(file, self.some(share))
