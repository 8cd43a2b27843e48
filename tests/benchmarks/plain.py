"""A runner of cookbook files on plain dicts: what resolving a node costs where nobody can ask why.

It runs the files of a repository as they are, with the words they use, and comes to the same merged
tree. No slots, no origins, no history, no checks, no errors, no log, no catalog, no views: a level is
a dict, and reading an attribute merges its top-level key as often as it is asked for.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

from nodeattrs import Sensitive, lazy
from nodeattrs.node.values import Deferred

Tree = dict[str, Any]

DEFAULTS = ("default", "env_default", "role_default", "force_default")
OVERRIDES = ("override", "role_override", "env_override", "force_override")


class Auto(dict[str, Any]):
    """A map that makes the maps which are missing."""

    def __missing__(self, key: str) -> Any:
        made = Auto()
        dict.__setitem__(self, key, made)
        return made

    def __setitem__(self, key: str, value: Any) -> None:
        dict.__setitem__(self, key, listed(value))


class Elements(list[Any]):
    """A list with Ruby's names for what is done to it."""

    def unshift(self, value: Any) -> None:
        self.insert(0, value)

    def delete(self, value: Any) -> None:
        self[:] = [one for one in self if one != value]


def listed(value: Any) -> Any:
    """A copy whose maps and lists can be worked on."""
    if isinstance(value, dict):
        made = Auto()
        for key, inner in value.items():
            dict.__setitem__(made, key, listed(inner))
        return made
    return Elements([listed(one) for one in value]) if isinstance(value, list) else value


class Unless:
    """Stores where nothing is."""

    def __init__(self, level: Auto) -> None:
        self.level = level

    def __getitem__(self, key: str) -> Unless:
        return Unless(self.level[key])

    def __setitem__(self, key: str, value: Any) -> None:
        if self.level.get(key) is None:
            self.level[key] = value


class Full:
    """Stores, whatever stands in the way; the force forms first clear their whole level there."""

    def __init__(self, levels: list[Auto], path: tuple[str, ...] = ()) -> None:
        self.levels, self.path = levels, path

    def __getitem__(self, key: str) -> Full:
        return Full(self.levels, (*self.path, key))

    def __setitem__(self, key: str, value: Any) -> None:
        for level in self.levels[:-1]:
            remove(level, (*self.path, key))
        here = self.levels[-1]
        for step in self.path:
            if not isinstance(here.get(step), dict):
                here[step] = {}
            here = here[step]
        here[key] = value


class Plain:
    """A repository, read once.

    roles, environments, bags: by name, as their files say
    code:                      (cookbook, "attributes" or "recipes") -> name -> what runs
    depends:                   cookbook -> cookbooks, sorted
    lookup:                    the word `lookup`, which is told the facts first
    sensitive:                 paths whose values are wrapped
    """

    def __init__(
        self,
        roles: dict[str, Tree],
        environments: dict[str, Tree],
        bags: dict[str, Tree],
        code: dict[tuple[str, str], dict[str, CodeType]],
        depends: dict[str, list[str]],
        lookup: Callable[[Tree, str], Any],
        sensitive: list[tuple[str, str]],
    ) -> None:
        self.roles, self.environments, self.bags = roles, environments, bags
        self.code, self.depends, self.lookup, self.sensitive = code, depends, lookup, sensitive

    def resolve(self, name: str, facts: Path, run_list: list[str], environment: str) -> Tree:
        """The merged tree of a node."""
        machine = Machine(self, name, json.loads(facts.read_bytes()), environment)
        machine.expand(run_list)
        machine.run()
        return machine.merged()


class Machine:
    """One node: a dict for each of Chef's components. Recipes see it as `node`."""

    def __init__(self, plain: Plain, name: str, facts: Tree, environment: str) -> None:
        self.plain, self.environment = plain, environment
        self.automatic = facts
        facts |= {"name": name, "chef_environment": environment}
        self.levels = {level: Auto() for level in (*DEFAULTS, "normal", *OVERRIDES)}
        self.__dict__.update(self.levels)
        self.levels["normal"]["tags"] = []
        self.tags: Elements = self.levels["normal"]["tags"]
        self.default_full = Full([self.levels["default"]])
        self.force_override_full = Full([self.levels[level] for level in OVERRIDES])
        self.normal_unless = Unless(self.levels["normal"])
        self.done: set[tuple[str, str, str]] = set()

    def expand(self, run_list: list[str]) -> None:
        said = self.plain.environments[self.environment]
        roles: list[str] = []
        self.recipes: list[str] = []
        for level in ("default", "override"):
            self.levels[f"env_{level}"].update(listed(said[f"{level}_attributes"]))
        self._expand(run_list, roles)
        both = ([one] if "::" in one else [one, f"{one}::default"] for one in self.recipes)
        self.automatic |= {
            "recipes": [one for pair in both for one in pair],
            "expanded_run_list": [one if "::" in one else f"{one}::default" for one in self.recipes],
            "roles": roles,
        }

    def _expand(self, items: list[str], roles: list[str]) -> None:
        for item in items:
            kind, _, name = item.partition("[")
            name = name[:-1]
            if kind == "recipe":
                if name not in self.recipes:
                    self.recipes.append(name)
            elif name not in roles:
                roles.append(name)
                role = self.plain.roles[name]
                self._expand(role["env_run_lists"].get(self.environment, role["run_list"]), roles)
                for level in ("default", "override"):
                    here = self.levels[f"role_{level}"]
                    here.update(merged(here, listed(role[f"{level}_attributes"]), unite))

    def run(self) -> None:
        shared = {"node": self, "lazy": lazy, "Sensitive": Sensitive, "log": lambda message: str(message)}
        levels = {level: self.levels[level] for level in ("default", "force_default", "override", "force_override")}
        self.words: dict[str, Tree] = {
            "attributes": {
                **shared,
                **levels,
                "default_unless": Unless(self.levels["default"]),
                "has_attribute": lambda key: any(key in level for level in (*self.levels.values(), self.automatic)),
            },
            "recipes": {
                **shared,
                "data_bag": lambda bag: list(self.plain.bags[bag]),
                "data_bag_item": lambda bag, item: listed(self.plain.bags[bag][item]),
                "lookup": partial(self.plain.lookup, self.automatic),
                "tag": lambda name: name in self.tags or self.tags.append(name),
                "untag": lambda name: self.tags.delete(name),
                "tagged": lambda name: name in self.tags,
            },
        }
        order: list[str] = []
        for recipe in self.recipes:
            self._order(recipe.partition("::")[0], order)
        for cookbook in order:
            for name in self.plain.code[cookbook, "attributes"]:
                self._run(cookbook, "attributes", name)
        for recipe in self.recipes:
            self._include("recipes", "", recipe)

    def _order(self, cookbook: str, order: list[str]) -> None:
        if cookbook not in order:
            for needed in self.plain.depends[cookbook]:
                self._order(needed, order)
            order.append(cookbook)

    def _include(self, kind: str, here: str, *names: str) -> None:
        for name in names:
            cookbook, _, part = name.partition("::")
            self._run(cookbook or here, kind, part or "default")

    def _run(self, cookbook: str, kind: str, name: str) -> None:
        if (cookbook, kind, name) in self.done:
            return
        self.done.add((cookbook, kind, name))
        word = "include_attribute" if kind == "attributes" else "include_recipe"
        words = {**self.words[kind], word: partial(self._include, kind, cookbook)}
        module = SimpleNamespace(**words)
        names = {**vars(builtins), "__import__": lambda *_: module}
        exec(self.plain.code[cookbook, kind][name], {"__builtins__": names, **words})

    # What recipes ask of `node`

    def __getitem__(self, key: str) -> Any:
        """The merged value of a top-level key."""
        groups = [self._group(DEFAULTS, key), self.levels["normal"].get(key), self._group(OVERRIDES, key)]
        said = [one for one in (*groups, self.automatic.get(key)) if one is not None]
        tree = said[0]
        for one in said[1:]:
            tree = merged(tree, one, replace) if isinstance(tree, dict) and isinstance(one, dict) else one
        return tree

    def exist(self, *path: str) -> bool:
        here: Any = self[path[0]] if any(path[0] in one for one in (*self.levels.values(), self.automatic)) else {}
        for step in path[1:]:
            if not isinstance(here, dict) or step not in here:
                return False
            here = here[step]
        return True

    def rm_default(self, *path: str) -> None:
        for level in DEFAULTS:
            remove(self.levels[level], path)

    def rm(self, *path: str) -> None:
        for level in self.levels.values():
            remove(level, path)

    def _group(self, levels: tuple[str, ...], key: str) -> Any:
        tree: Any = None
        for level in levels:
            if (said := self.levels[level].get(key)) is not None:
                tree = said if tree is None else merged(tree, said, unite)
        return tree

    def merged(self) -> Tree:
        """The merged tree of the node."""
        defaults = overrides = {}
        for level in DEFAULTS:
            defaults = merged(defaults, self.levels[level], unite)
        for level in OVERRIDES:
            overrides = merged(overrides, self.levels[level], unite)
        tree = merged(merged(defaults, self.levels["normal"], replace), overrides, replace)
        for key, value in tree.items():
            tree[key] = called(value)
        for first, last in self.plain.sensitive:
            if last in tree.get(first, {}) and not isinstance(tree[first][last], Sensitive):
                tree[first][last] = Sensitive(tree[first][last])
        return merged(tree, self.automatic, replace)


def merged(lower: Tree, upper: Tree, lists: Callable[[list[Any], list[Any]], list[Any]]) -> Tree:
    """A new map of two; what is below one of them alone is shared with it."""
    out = dict(lower)
    for key, above in upper.items():
        below = out.get(key)
        if isinstance(above, dict) and isinstance(below, dict):
            above = merged(below, above, lists)
        elif isinstance(above, list) and isinstance(below, list):
            above = lists(below, above)
        out[key] = above
    return out


def unite(lower: list[Any], upper: list[Any]) -> list[Any]:
    return [*lower, *(one for one in upper if one not in lower)]


def replace(lower: list[Any], upper: list[Any]) -> list[Any]:
    return upper


def remove(level: Tree, path: tuple[str, ...]) -> None:
    for step in path[:-1]:
        below = level.get(step)
        if not isinstance(below, dict):
            return
        level = below
    level.pop(path[-1], None)


def called(tree: Any) -> Any:
    """A map with the deferred values in it computed: here they stand in maps below the root."""
    if isinstance(tree, dict):
        return {key: value.evaluate() if isinstance(value, Deferred) else value for key, value in tree.items()}
    return tree
