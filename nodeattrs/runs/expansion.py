"""A node takes in its roles and its environment: the step of a run between facts and attribute files.

`expand_node` and the functions after it are for programs that have plain data and no repository; a run takes finer
steps of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nodeattrs.core.borders import NAMED, taking
from nodeattrs.core.claim import Locator
from nodeattrs.errors import EnvironmentNotFound
from nodeattrs.node.intake import FACTS, JSON, ROLES, EnvironmentLike, Intake, split_of_node
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.runs.attribute_data import Facts
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


@taking(node=Node)
def reset_defaults_and_overrides(node: Node) -> None:
    """Empty the components default and override of a node. source: Chef's method of that name"""
    Intake(node).reset()


@taking(node=Node, role_default=Mapping, role_override=Mapping, environment="override_attributes?")
def apply_expansion(
    node: Node,
    role_default: Mapping[Any, Any],
    role_override: Mapping[Any, Any],
    environment: EnvironmentLike | None = None,
) -> None:
    """Replace what environment and roles say on a node by the given trees.

    environment: becomes the node's; None or "_default" says nothing
    raises:      BadKey, BadValue, TooDeep
    source:      Chef's `Node#apply_expansion_attributes`
    """
    if environment is not None:
        node.environment = environment.name
    intake = Intake(node)
    intake.environment(environment)
    intake.roles([(role_default, ROLES)], [(role_override, ROLES)])


@taking(node=Node, facts=Mapping, json_attributes=Mapping | None)
def consume_external(
    node: Node,
    facts: Mapping[Any, Any],
    json_attributes: Mapping[Any, Any] | None = None,
    *,
    guid: str | None = None,
    facts_locator: Locator = FACTS,
    json_locator: Locator = JSON,
) -> None:
    """Take in JSON attributes and facts.

    json_attributes: deep merged over normal with lists united; `run_list` (or `recipes`) and
                     `chef_environment` are taken out of it
    facts:           become the whole of automatic
    raises:          AmbiguousRunList, BadArgument where the facts have no platform
    source:          Chef's `Node#consume_external_attrs`
    """
    of_node = split_of_node(json_attributes or {}, json_locator)
    if of_node.run_list is not None:
        node.run_list = of_node.run_list
    if of_node.environment is not None:
        node.environment = of_node.environment
    intake = Intake(node)
    intake.json_attributes(of_node.attributes, json_locator)
    intake.facts(facts, facts_locator, guid=guid)


@taking(node=Node, facts=Mapping)
def consume_facts(node: Node, facts: Mapping[Any, Any], *, guid: str | None = None, locator: Locator = FACTS) -> None:
    """Deep merge facts over automatic, lists united, and note name and environment there.

    raises: BadArgument, where the facts have no platform
    source: Chef's `Node#consume_ohai_data`
    """
    Intake(node).facts(facts, locator, guid=guid, anew=False)
