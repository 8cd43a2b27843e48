"""The *stack* of a node: the layers that documents set, the strongest first, without running cookbooks.

The documents are the environment, the roles and the node's own file. Cookbooks may set values between them: the stack
notes as unknown each level that the text of a cookbook names. The checks of `overrides`, `spelling` and `schema` read
stacks.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nodeattrs.core.claim import Locator
from nodeattrs.core.tree import ABSENT, Path
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.repository.roles import DEFAULT_ENVIRONMENT, Environment, Role
from nodeattrs.dialects.chef.run.expansion import Expansion, expand_run_list
from nodeattrs.errors import DocumentError, NodeattrsError
from nodeattrs.formats.documents import content_of
from nodeattrs.node.run_list import cookbook_of

_RANKS = {
    "environment override": 12,
    "role override": 11,
    "node normal": 7,
    "role default": 4,
    "environment default": 3,
}
_UNKNOWN = {"force_default": (5, 6), "normal": (7, 8), "override": (9, 10), "force_override": (13, 14)}
"""Level -> the slots that cookbooks may fill. Their default slots, 1 and 2, are weaker than all documents."""

_WORD = re.compile(
    r"\b(rm_|role_|env_)?(default|force_default|normal|set|override|force_override|rm)(?:_unless|_attrs)?!?(?!\w)"
)
"""A word that sets a value at a level. `rm` and words with a prefix may remove or change values of documents."""

_EXAMPLE = re.compile(r"example|sample|template|dummy", re.IGNORECASE)
"""Names of nodes that are only examples."""

_ALL = frozenset((*_UNKNOWN, "rm"))


@dataclass(frozen=True, slots=True)
class StackLayer:
    """The attributes that one document sets at one level.

    `value_at` gives the value at a path. `rank` and `level` are computed from *kind*.

    kind:    source and level in two words, such as "role default"
    name:    of the role, environment, node or attribute file that sets the attributes
    tree:    the attributes, as nested maps
    locator: gives the line of each path
    leaves:  path -> value, for each value in the tree that is neither a map nor null; empty maps are not included
    """

    kind: str
    name: str
    tree: Mapping[Any, Any]
    locator: Locator
    leaves: Mapping[Path, Any]

    @property
    def rank(self) -> int:
        """The number of the slot; a higher number is stronger. KeyError for a layer of an attribute file."""
        return _RANKS[self.kind]

    @property
    def level(self) -> str:
        """The level: "default", "override" or "normal". Lists of layers of one level are joined."""
        return self.kind.partition(" ")[2]

    def value_at(self, path: Path) -> Any:
        """The value at a path; ABSENT if it is not set. A scalar or list above the path is returned instead."""
        found: Any = self.tree
        for step in path:
            if not isinstance(found, Mapping):
                return found
            if step not in found:
                return ABSENT
            found = found[step]
        return found


@dataclass(frozen=True, slots=True)
class Stack:
    """The layers of one node that documents set, and what its cookbooks may set between them.

    `is_certain` is True if no cookbook can set a value between two layers. `is_unknown_above` is True if a cookbook may
    set a value in a slot or a stronger one.

    node:      its name; "role[NAME]" for a repository that describes no nodes
    layers:    the strongest first
    unknown:   the levels, stronger than role defaults, that its cookbooks may set; "rm" if they may remove attributes
    cookbooks: whether the node has cookbooks
    """

    node: str
    layers: tuple[StackLayer, ...]
    unknown: frozenset[str] = frozenset()
    cookbooks: bool = True

    @property
    def _ranks(self) -> set[int]:
        return {rank for level in self.unknown for rank in _UNKNOWN.get(level, ())}

    def is_certain(self, upper: StackLayer, lower: StackLayer) -> bool:
        """True if no cookbook can set or remove a value between two layers, nor at the level "normal" of *upper*."""
        between = {rank for rank in self._ranks if lower.rank < rank < upper.rank or upper.rank == rank == 7}
        return not between and "rm" not in self.unknown

    def is_unknown_above(self, rank: int) -> bool:
        """True if a cookbook may set a value in the slot *rank* or a stronger one."""
        return any(one >= rank for one in self._ranks)


@dataclass(slots=True)
class KnownNodes:
    """The result of `known_nodes`: the nodes in nodes/ whose stack can be computed without running code.

    stacks:    the stack of each of these nodes
    complete:  whether these are probably all nodes. False if a node is left out, if no node has a cookbook, or if the
        name of a node says that it is an example
    roles:     the names of the roles in the expanded run-lists of these nodes
    cookbooks: the names of the cookbooks in these run-lists, and of the cookbooks on which they depend
    """

    stacks: list[Stack] = field(default_factory=list)
    complete: bool = True
    roles: set[str] = field(default_factory=set)
    cookbooks: set[str] = field(default_factory=set)


def known_nodes(repository: Repository, unrun: Iterable[str]) -> KnownNodes:
    """The nodes in nodes/ with their stacks, and whether these are all nodes.

    A node is left out if it follows a policy, or if a role or its environment is missing, faulty, or not run.
    unrun: names of roles in Python that did not run
    """
    known, layers_of = KnownNodes(), _Layers(repository, frozenset(unrun))
    for name in repository.nodes():
        try:
            file = repository.node_document(name)
            if file is None or file.policy_name or repository.config.chef.policy:
                raise NodeattrsError("it follows a policy")
            environment = file.environment or repository.config.environment or DEFAULT_ENVIRONMENT
            expansion = layers_of.expansion(file.run_list, environment)
            leaves = leaves_of(file.normal)
            own = StackLayer("node normal", name, file.normal, file.locator_of("normal"), leaves) if leaves else None
            used = layers_of.cookbooks(map(cookbook_of, expansion.recipes))
            stack = layers_of.stack(name, expansion, environment, own)
        except NodeattrsError:  # whatever is wrong with it is found elsewhere
            known.complete = False
            continue
        known.stacks.append(Stack(name, stack, layers_of.unknown(used), bool(used)))
        known.roles.update(expansion.roles)
        known.cookbooks.update(used)
        known.complete &= not _EXAMPLE.search(name)
    known.complete &= bool(known.cookbooks)
    return known


def role_stacks(repository: Repository, unrun: Iterable[str]) -> Iterator[Stack]:
    """Yield a stack for each role in each environment, for a repository that describes no nodes.

    Cookbooks are not read, so `Stack.unknown` is empty. A role that cannot be expanded in an environment has no stack
    there.
    unrun: names of roles in Python that did not run
    """
    layers_of = _Layers(repository, frozenset(unrun))
    for role in repository.roles():
        for environment in (DEFAULT_ENVIRONMENT, *repository.environments()):
            try:
                expansion = layers_of.expansion((f"role[{role}]",), environment)
                yield Stack(f"role[{role}]", layers_of.stack("", expansion, environment, None))
            except NodeattrsError:
                continue


class _Layers:
    """Makes the layers of nodes from the documents of a repository, each layer once."""

    def __init__(self, repository: Repository, unrun: frozenset[str]) -> None:
        self._repository = repository
        self._unrun = unrun
        self._scripts = repository.names_in_python("environments") if unrun else set()
        self._made: dict[tuple[str, str], StackLayer] = {}
        self._named: dict[str, frozenset[str]] = {}

    def expansion(self, run_list: Iterable[str], environment: str) -> Expansion:
        """An expanded run-list. raises: NodeattrsError, if a role is missing or did not run"""
        expansion = expand_run_list(run_list, self._role, environment)
        expansion.require_roles()
        return expansion

    def _role(self, name: str) -> Role | None:
        if name in self._unrun:
            raise NodeattrsError(f"role {name} is code")
        role = self._repository.role(name)
        if role.unread:
            raise NodeattrsError(f"role {name} is not known")
        return role

    def stack(
        self, node: str, expansion: Expansion, environment: str, own: StackLayer | None
    ) -> tuple[StackLayer, ...]:
        """All layers of a node, the strongest first. raises: NodeattrsError, for an environment that is not read"""
        if environment in self._scripts:
            raise NodeattrsError(f"environment {environment} is code")
        found = self._repository.environment(environment)
        if found.unread:
            raise NodeattrsError(f"environment {environment} is not known")
        roles = expansion.role_layers[::-1]
        layers = [self._layer("environment override", found), *map(partial(self._layer, "role override"), roles)]
        layers += [own] if own is not None else []
        layers += [*map(partial(self._layer, "role default"), roles), self._layer("environment default", found)]
        return tuple(layers)

    def _layer(self, kind: str, one: Role | Environment) -> StackLayer:
        if (kind, one.name) not in self._made:
            level = kind.partition(" ")[2]
            tree, locator = getattr(one, f"{level}_attributes"), getattr(one, f"{level}_locator")
            self._made[kind, one.name] = StackLayer(kind, one.name, tree, locator, leaves_of(tree))
        return self._made[kind, one.name]

    def cookbooks(self, names: Iterable[str]) -> list[str]:
        """The names of some cookbooks and of all that they depend on, each once."""
        found: list[str] = []
        left = [*names]
        while left:
            if (name := left.pop()) not in found:
                found.append(name)
                left += self._cookbook(name).depends
        return found

    def _cookbook(self, name: str) -> Cookbook:
        try:
            return self._repository.cookbook(name)
        except NodeattrsError:
            return Cookbook(name, unread="is not there")

    def unknown(self, cookbooks: Iterable[str]) -> frozenset[str]:
        """The levels that the texts of some cookbooks name; all levels if one of them is missing."""
        return frozenset().union(*map(self._levels, cookbooks))

    def _levels(self, name: str) -> frozenset[str]:
        if name not in self._named:
            cookbook = self._cookbook(name)
            found = [pair for text in texts_of(cookbook).values() for pair in _WORD.findall(text)]
            words = {"rm" if beginning else word for beginning, word in found}
            words |= {"normal"} if "set" in words else set()
            words |= _levels_in_data(cookbook)
            self._named[name] = _ALL if cookbook.unread else frozenset(words)
        return self._named[name]


def _levels_in_data(cookbook: Cookbook) -> set[str]:
    try:
        read = [cookbook.attribute_data(file) for file in cookbook.attribute_paths if file.endswith(DATA)]
    except NodeattrsError:
        return set(_ALL)
    return {level.level for data in read for block in data.blocks for level in block.levels}


def texts_of(cookbook: Cookbook, suffixes: tuple[str, ...] = (".rb", ".py")) -> dict[str, str]:
    """Name of a file in messages -> its text, for a cookbook's code without tests; {} if it is not on disk.

    The text of a file that cannot be read is the names of all levels, as if it set each.
    """
    files = (file for file in cookbook.files if file.endswith(suffixes) and not file.startswith(("spec/", "test/")))
    root = cookbook.root
    return {cookbook.shown(file): _text(root / file) for file in files} if root else {}


def _text(path: pathlib.Path) -> str:
    try:
        return content_of(path, path.name).decode("utf-8", "replace")
    except DocumentError:
        return " ".join(_ALL)


def leaves_of(tree: Any) -> dict[Path, Any]:
    """Path -> value, for each value in a tree that is neither a map nor null, in any order; {} for none.

    A list is one value. A *tree* that is not a map is the value at ().
    """
    found: dict[Path, Any] = {}
    left: list[tuple[Path, Any]] = [((), tree)]
    while left:
        at, value = left.pop()
        if isinstance(value, Mapping):
            left += [((*at, key), inner) for key, inner in value.items()]
        elif value is not None:
            found[at] = value
    return found
