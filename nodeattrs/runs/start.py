"""What Chef's node does at the start of a run, a call each: for who has plain data and no repository.

A whole run takes finer steps of the same: `node.intake`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.core.borders import taking
from nodeattrs.core.claim import Locator
from nodeattrs.node.intake import FACTS, JSON, ROLES, EnvironmentLike, Intake, split_of_node
from nodeattrs.node.node import Node
from nodeattrs.node.running import setting_as, walk

__all__ = ["apply_expansion", "consume_external", "consume_facts", "reset_defaults_and_overrides", "setting_as", "walk"]


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
