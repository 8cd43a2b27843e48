"""A node takes in its roles and its environment.

The step of a run between facts and attribute files: expand the run-list, note its result
among the automatic attributes, replace what environment and roles say. What nodes with one
run-list and one environment have in common is prepared once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nodeattrs.core.borders import NAMED, taking
from nodeattrs.core.tree import Path
from nodeattrs.errors import EnvironmentNotFound
from nodeattrs.lazily import dataclass
from nodeattrs.node.intake import Intake
from nodeattrs.node.ledger import Prepared
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.runs.roles import Environment, Role
from nodeattrs.runs.run_list import Expansion, expand_run_list
from nodeattrs.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from nodeattrs.core.rules import PathRule

Roles = Mapping[str, Role] | Callable[[str], Role | None]
Environments = Mapping[str, Environment] | Callable[[str], Environment | None]


@dataclass(frozen=True, slots=True)
class Layers:
    """What nodes with one run-list in one environment have in common; not to be changed.

    expansion:   of the run-list
    environment: itself
    prepared:    what roles and environment set, folded
    """

    expansion: Expansion
    environment: Environment
    prepared: Prepared


def layers_of(
    run_list: Iterable[object],
    roles: Roles,
    environments: Environments,
    environment: str,
    sensitive: Sequence[str | Path] = (),
    rules: tuple[PathRule, ...] = (),
    policy: Role | None = None,
) -> Layers:
    """Expand a run-list and fold its roles and the environment, for any number of nodes.

    sensitive, rules: those of the nodes
    policy:    what a policy says, where roles would
    raises:    as `expand_node`
    """
    node = Node(environment=environment, sensitive=sensitive, rules=rules)
    node.run_list = run_list
    expansion = expand_run_list(node.run_list, roles, environment)
    expansion.require_roles()
    expansion.role_layers += [policy] if policy is not None else []
    found = _environment(environment, environments)
    _take(node, expansion, found)
    return Layers(expansion, found, Intake(node).layers())


def take_layers(node: Node, layers: Layers) -> None:
    """Replace what environment and roles say on a node, at no cost where nothing was set on it before."""
    if not Intake(node).begin_with(layers.prepared):
        _take(node, layers.expansion, layers.environment)


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
    intake.note(
        {
            "recipes": expansion.with_duplicates,
            "expanded_run_list": expansion.qualified,
            "roles": expansion.roles,
        }
    )


def _environment(name: str, environments: Environments) -> Environment:
    if name == DEFAULT_ENVIRONMENT:
        return Environment(DEFAULT_ENVIRONMENT)
    found = environments.get(name) if isinstance(environments, Mapping) else environments(name)
    if found is None:
        raise EnvironmentNotFound(f"there is no environment {name!r}", hint="add it under environments/")
    return found
