"""A node takes in its roles and its environment.

The step of a run between facts and attribute files: expand the run-list, note its result
among the automatic attributes, replace what environment and roles say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nodeattrs.core.borders import NAMED, taking
from nodeattrs.errors import EnvironmentNotFound
from nodeattrs.node.intake import Intake
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.runs.conditions import Facts
from nodeattrs.runs.roles import Environment, Role
from nodeattrs.runs.run_list import Expansion, expand_run_list

Roles = Mapping[str, Role] | Callable[[str], Role | None]
Environments = Mapping[str, Environment] | Callable[[str], Environment | None]


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
    take_layers(node, expansion, environment_named(node.environment, environments))
    Intake(node).note({"chef_environment": node.environment})
    return expansion


def take_layers(node: Node, expansion: Expansion, environment: Environment) -> None:
    """Replace what environment and roles say on a node."""
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


def environment_named(name: str, environments: Environments) -> Environment:
    """The environment of that name; `_default` is always there. raises: EnvironmentNotFound"""
    if name == DEFAULT_ENVIRONMENT:
        return Environment(DEFAULT_ENVIRONMENT)
    found = environments.get(name) if isinstance(environments, Mapping) else environments(name)
    if found is None:
        raise EnvironmentNotFound(f"there is no environment {name!r}", hint="add it under environments/")
    return found
