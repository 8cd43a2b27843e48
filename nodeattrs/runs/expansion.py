"""A node takes in its roles and its environment.

The step of a run between facts and attribute files: expand the run-list, note its result
among the automatic attributes, replace what environment and roles say. What nodes with one
run-list and one environment have in common is prepared once for all of them, with the attribute
files that are data and load first: once for each set of their conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nodeattrs.core.borders import NAMED, taking
from nodeattrs.core.rules import PathRule
from nodeattrs.core.tree import Path, dig
from nodeattrs.errors import EnvironmentNotFound
from nodeattrs.node.intake import Intake
from nodeattrs.node.ledger import Prepared
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.node.run_list import normalised
from nodeattrs.runs.attribute_data import AttributeData, is_early, set_data
from nodeattrs.runs.conditions import Facts
from nodeattrs.runs.roles import Environment, Role
from nodeattrs.runs.run_list import Expansion, expand_run_list

Roles = Mapping[str, Role] | Callable[[str], Role | None]
Environments = Mapping[str, Environment] | Callable[[str], Environment | None]


@dataclass(frozen=True)
class Layers:
    """What nodes with one run-list in one environment have in common; not to be changed.

    expansion:   of the run-list
    environment: itself
    sensitive, rules: those of the nodes
    data:        attribute files that nodes begin with
    folded:      what roles, environment and these set, by which parts of them count
    asks:        the facts that their conditions ask
    met:         which parts count, by those facts, where all are text
    """

    expansion: Expansion
    environment: Environment
    sensitive: Sequence[str | Path] = ()
    rules: tuple[PathRule, ...] = ()
    data: tuple[AttributeData, ...] = ()
    folded: dict[tuple[bool, ...], Prepared] = field(default_factory=dict)
    asks: tuple[Path, ...] = ()
    met: dict[tuple[str, ...], tuple[bool, ...]] = field(default_factory=dict)

    def with_data(self, data: Iterable[AttributeData]) -> Layers:
        """The same with attribute files that nodes begin with."""
        data = tuple(data)
        asks = {fact: None for one in data for block in one.blocks for when in block.when for fact, _ in when.asks}
        return replace(self, data=data, asks=tuple(asks))

    def counts(self, facts: Facts) -> tuple[bool, ...]:
        """Of each part whether it counts."""
        asked = tuple([dig(facts, fact) for fact in self.asks])
        is_text = _TEXT.issuperset(map(type, asked))  # 1, 1.0 and True would be one key
        counts = self.met.get(asked) if is_text else None
        if counts is None:
            counts = tuple(block.counts(facts) for one in self.data for block in one.blocks)
            if is_text and len(self.met) < _MOST:
                self.met[asked] = counts
        return counts

    def prepared(self, facts: Facts) -> Prepared:
        """What nodes with such facts begin with."""
        counts = self.counts(facts)
        if counts not in self.folded:
            if len(self.folded) >= _MOST:  # conditions that ask what each node has for itself
                self.folded.clear()
            node = Node(environment=self.environment.name, sensitive=self.sensitive, rules=self.rules)
            _take(node, self.expansion, self.environment)
            for one in self.data:
                set_data(node, one, facts, is_early)
            self.folded[counts] = Intake(node).layers()
        return self.folded[counts]


_MOST = 256
_TEXT = {str}


def layers_of(
    run_list: Iterable[object],
    roles: Roles,
    environments: Environments,
    environment: str,
    sensitive: Sequence[str | Path] = (),
    rules: tuple[PathRule, ...] = (),
    policy: Role | None = None,
) -> Layers:
    """Expand a run-list, for any number of nodes; its roles and the environment are folded when the first one comes.

    sensitive, rules: those of the nodes
    policy:    what a policy says, where roles would
    raises:    as `expand_node`
    """
    items = [str(item) for item in normalised(run_list)]
    expansion = expand_run_list(items, roles, environment)
    expansion.require_roles()
    expansion.role_layers += [policy] if policy is not None else []
    return Layers(expansion, _environment(environment, environments), sensitive, rules)


def take_layers(node: Node, layers: Layers, facts: Facts) -> set[str]:
    """Replace what environment and roles say on a node, at no cost where nothing was set on it before.

    facts: what conditions ask
    The names of the attribute files that it has begun with, but for what is normal.
    """
    if Intake(node).begin_with(layers.prepared(facts)):
        return {one.name for one in layers.data}
    _take(node, layers.expansion, layers.environment)
    return set()


def asked_facts(facts: Facts, name: str, environment: str, expansion: Expansion, more: Facts) -> dict[Any, Any]:
    """What conditions ask: facts, and what a run notes among them. more: what a policy adds"""
    return {**facts, "name": name, "chef_environment": environment, **expansion.noted, **more}


@taking(node=Node, roles=NAMED, environments=NAMED)
def expand_node(
    node: Node,
    roles: Roles,
    environments: Environments,
    run_list: Iterable[object] | None = None,
    environment: str | None = None,
) -> Expansion:
    """Expand a node's run-list and apply it to the node.

    roles, environments:   by name: maps, or callables that answer None (or raise) for what is not there
    run_list, environment: become the node's first, where given
    raises: RoleNotFound, EnvironmentNotFound, InvalidRunListItem, CookbookVersionConflict
    source: Chef's `Node#expand!`
    """
    if run_list is not None:
        node.run_list = run_list
    if environment is not None:
        node.environment = environment
    expansion = expand_run_list(node.run_list, roles, node.environment)
    expansion.require_roles()
    note_expansion(node, expansion)
    _take(node, expansion, _environment(node.environment, environments))
    Intake(node).note({"chef_environment": node.environment})
    return expansion


def _take(node: Node, expansion: Expansion, environment: Environment) -> None:
    layers, intake = expansion.role_layers, Intake(node)
    intake.environment(environment)
    intake.roles(
        [(role.default_attributes, role.default_locator) for role in layers],
        [(role.override_attributes, role.override_locator) for role in layers],
    )
    for kind, one in (("env", environment), *(("role", role) for role in layers)):
        for level in ("default", "override") if one.unread else ():
            node.unknown(f"{kind}_{level}", one.name, one.locator, one.unread)


def note_expansion(node: Node, expansion: Expansion) -> None:
    """Note among the automatic attributes what the run-list expands to."""
    intake = Intake(node)
    intake.begin_tags()
    intake.note(expansion.noted)


def _environment(name: str, environments: Environments) -> Environment:
    if name == DEFAULT_ENVIRONMENT:
        return Environment(DEFAULT_ENVIRONMENT)
    found = environments.get(name) if isinstance(environments, Mapping) else environments(name)
    if found is None:
        raise EnvironmentNotFound(f"there is no environment {name!r}", hint="add it under environments/")
    return found
