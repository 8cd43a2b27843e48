"""A node hears its roles and its environment.

The step of a run between facts and attribute files: expand the run-list, note what it came
to among the automatic attributes, replace what environment and roles say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from nodeattrs.errors import EnvironmentNotFound
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.runs.roles import Environment, Role
from nodeattrs.runs.run_list import Expansion, expand_run_list

__all__ = ["expand_node"]


def expand_node(
    node: Node,
    roles: Mapping[str, Role] | Callable[[str], Role | None],
    environments: Mapping[str, Environment] | Callable[[str], Environment | None],
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
    node.begin_tags()
    node.note_expansion(
        {
            "recipes": expansion.with_duplicates,
            "expanded_run_list": expansion.qualified,
            "roles": expansion.roles,
        }
    )
    found = _environment(node.environment, environments)
    layers = expansion.role_layers
    node.hear_environment(found)
    node.hear_roles(
        [(role.default_attributes, role.default_speaker) for role in layers],
        [(role.override_attributes, role.override_speaker) for role in layers],
    )
    node.note_expansion({"chef_environment": node.environment})
    return expansion


def _environment(
    name: str, environments: Mapping[str, Environment] | Callable[[str], Environment | None]
) -> Environment:
    if name == DEFAULT_ENVIRONMENT:
        return Environment(DEFAULT_ENVIRONMENT)
    found = environments.get(name) if isinstance(environments, Mapping) else environments(name)
    if found is None:
        raise EnvironmentNotFound(f"there is no environment {name!r}", hint="add it under environments/")
    return found
