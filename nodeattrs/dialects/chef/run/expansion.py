"""Expand run-lists to recipes and roles, and set the attributes of roles and environment on a node.

Roles come as plain values from a map or a function; the module knows no files and cookbooks. `expand_node`,
`apply_expansion` and the `consume_...` functions are for programs that have plain data and no repository. A run
(`run.run_node`) uses `expand_run_list` and `set_layers`. docs/merging.md, "run lists", has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nodeattrs.core.borders import NAMED, checked_args
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.fold import fold
from nodeattrs.core.policy import INSIDE
from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository.roles import Environment, Role
from nodeattrs.errors import CookbookVersionConflict, EnvironmentNotFound, RoleNotFound
from nodeattrs.node.intake import FACTS, JSON, ROLES, EnvironmentLike, Intake, split_node_fields
from nodeattrs.node.node import DEFAULT_ENVIRONMENT, Node
from nodeattrs.node.run_list import RunListItem, cookbook_of, normalised, qualified
from nodeattrs.project.versions import Version

TOP_LEVEL = "top level"
"""The key of the node's own run-list in `Expansion.trace`."""


@dataclass
class Expansion:
    """The result of `expand_run_list`: the recipes and roles. An *includer* is the node's run-list or a role.

    `recipes_with_versions`, `qualified` and `with_duplicates` are other spellings of *recipes*. `named_by` gives the
    includer of an item and its place, or None. `pins` yields the requested versions with their lines. `require_roles`
    raises RoleNotFound if a role is missing. `default_attributes` and `override_attributes` merge the attributes of all
    roles. `automatic_attributes` has the lists of recipes and roles for the node.

    run_list:     the items of the node's run-list, normalised
    environment:  the name of the environment, for which roles may have a run-list of their own
    recipes:      the names in order, each once, without version
    versions:     recipe -> the requested version
    roles:        the names in order of first appearance, missing ones included
    role_layers:  the roles in the order of their attributes, the weakest first
    missing_roles: (missing role, its first includer)
    trace:        includer ("top level", "role[x]") -> its items
    tree:         the items as nested maps: type, name, version or children, and whether it is missing or skipped
    """

    run_list: list[str]
    environment: str
    recipes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    roles: list[str] = field(default_factory=list)
    role_layers: list[Role] = field(default_factory=list)
    missing_roles: list[tuple[str, str]] = field(default_factory=list)
    trace: dict[str, list[str]] = field(default_factory=dict)
    tree: list[dict[str, Any]] = field(default_factory=list)
    _places: dict[str, tuple[Locator, Path]] = field(default_factory=dict, repr=False)
    """Item with a version, or missing role -> (locator, path) of the place that names it."""
    _hints: list[str | None] = field(default_factory=list, repr=False)
    _named: dict[tuple[str, str], tuple[_Includer, Path]] = field(default_factory=dict, repr=False)
    """(type, name) -> the first includer of a recipe or role, and the path of the item in its document."""

    def named_by(self, kind: str, name: str) -> tuple[str | None, Locator, Path] | None:
        """Returns (role, locator, path) of the first place that names an item; None for an item that no list has.

        The first part is the name of the role whose run-list has the item, or None for the node's own run-list. The
        locator gives the line for the path.
        kind: "recipe", with a full name such as "app::default", or "role"
        """
        found = self._named.get((kind, name))
        if found is None:
            return None
        includer, path = found
        return includer.role.name if includer.role else None, includer.locator, path

    @property
    def recipes_with_versions(self) -> list[str]:
        """The recipes as they are named, with "@version" if a version was requested."""
        return [recipe + self._at(recipe) for recipe in self.recipes]

    @property
    def qualified(self) -> list[str]:
        """The recipes with "::default" written out, and "@version" if a version was requested.

        A recipe that the run-list names as `a` and as `a::default` is there twice.
        """
        return [qualified(recipe) + self._at(recipe) for recipe in self.recipes]

    @property
    def with_duplicates(self) -> list[str]:
        """The recipes as in Chef's attribute `recipes`: a default recipe is there twice, as "a" and "a::default"."""
        both: list[str] = []
        for recipe in self.recipes:
            cookbook, _, part = qualified(recipe).rpartition("::")
            both += [cookbook, qualified(recipe)] if part == "default" else [recipe]
        return both

    @cached_property
    def automatic_attributes(self) -> dict[str, Any]:
        """The automatic attributes that the expansion gives: recipes, expanded_run_list, roles; not to be changed."""
        return {"recipes": self.with_duplicates, "expanded_run_list": self.qualified, "roles": self.roles}

    @cached_property
    def default_attributes(self) -> dict[Any, Any]:
        """The default attributes of all roles, merged into a new map; {} for none."""
        return _merged_roles([role.default_attributes for role in self.role_layers])

    @cached_property
    def override_attributes(self) -> dict[Any, Any]:
        """The override attributes of all roles, merged into a new map; {} for none."""
        return _merged_roles([role.override_attributes for role in self.role_layers])

    def pins(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield (cookbook, version, line) for each recipe with a version."""
        for recipe, version in self.versions.items():
            yield cookbook_of(recipe), version, self._origin(f"{recipe}@{version}")

    def require_roles(self) -> None:
        """Raise RoleNotFound if a role is missing, with the line that needs each missing role."""
        if not self.missing_roles:
            return
        names = [name for name, _ in self.missing_roles]
        raise RoleNotFound(
            f"there is no role {names[0]}" if len(names) == 1 else f"there are no roles {', '.join(names)}",
            origins=[self._origin(f"role[{name}]") for name in names],
            details=[f"role[{name}] is required by {self._origin(f'role[{name}]')}" for name in names],
            hint=next(iter(self._hints), None) if len(names) == 1 else None,
        )

    def _origin(self, item: str) -> Origin:
        locator, path = self._places[item]
        return locator.at(path)

    def _at(self, recipe: str) -> str:
        return f"@{self.versions[recipe]}" if recipe in self.versions else ""


_NODE = Origin("run list", "of the node")


@dataclass
class _Includer:
    """The node's run-list (`role` is None) or a role, while its items are expanded.

    items:    the items that are left, each with its path
    children: the maps of the expanded items in `Expansion.tree`
    """

    items: Iterator[tuple[Path, RunListItem]]
    role: Role | None
    children: list[dict[str, Any]]

    @property
    def locator(self) -> Locator:
        return self.role.locator if self.role else _NODE

    def __str__(self) -> str:
        return f"role[{self.role.name}]" if self.role else TOP_LEVEL


@checked_args(roles=NAMED)
def expand_run_list(
    run_list: Iterable[object],
    roles: Mapping[str, Role] | Callable[[str], Role | None],
    environment: str = "_default",
) -> Expansion:
    """Expand the roles of a run-list, left to right and depth first, each at its first appearance.

    A role's attributes are stronger than those of roles inside it, and a later role is stronger than an earlier one.
    Missing roles raise nothing: `Expansion.missing_roles` has them.

    roles:  a map, or a function that returns None or raises RoleNotFound for a missing role
    environment: selects the run-lists of roles
    raises: InvalidRunListItem; CookbookVersionConflict, for a recipe at two versions
    """
    role_named = roles.get if isinstance(roles, Mapping) else roles
    items = normalised(run_list)
    expansion = Expansion([str(item) for item in items], environment)
    seen: set[tuple[str, str]] = set()
    missing: set[str] = set()
    # No recursion: a chain of roles may be longer than Python's stack.
    open_ = [_Includer(((("run_list", index), item) for index, item in enumerate(items)), None, expansion.tree)]
    while open_:
        includer = open_[-1]
        path, item = next(includer.items, ((), None))
        if item is None:
            open_.pop()
            if includer.role:
                expansion.role_layers.append(includer.role)
            continue
        expansion.trace.setdefault(str(includer), []).append(str(item))
        skipped = (item.type, item.name) in seen
        full = qualified(item.name) if item.type == "recipe" else item.name
        expansion._named.setdefault((item.type, full), (includer, path))
        seen.add((item.type, item.name))
        if item.type == "recipe":
            if not skipped:
                expansion.recipes.append(item.name)
            if item.version:
                _pin(expansion, item.name, item.version, includer.locator, path)
            node = {"type": "recipe", "name": item.name, "version": item.version, "skipped": skipped}
            includer.children.append(node)
            continue
        role = None if skipped else _add_role(expansion, item, includer, path, role_named)
        if role is None and not skipped:
            missing.add(item.name)
        children: list[dict[str, Any]] = []
        includer.children.append(
            {
                "type": "role",
                "name": item.name,
                "children": children,
                "missing": item.name in missing or None,
                "error": None,
                "skipped": skipped or None,
            }
        )
        if role is not None:
            open_.append(_Includer(_items_of(role, environment), role, children))
    return expansion


def _add_role(
    expansion: Expansion,
    item: RunListItem,
    includer: _Includer,
    path: Path,
    role_named: Callable[[str], Role | None],
) -> Role | None:
    """Add a role to the expansion at its first appearance, and return it; None for a missing role."""
    expansion.roles.append(item.name)
    role = None
    try:
        role = role_named(item.name)
    except RoleNotFound as error:
        expansion._hints.append(error.hint)
    if role is None:
        expansion.missing_roles.append((item.name, str(includer)))
        expansion._places[str(item)] = includer.locator, path
    return role


def _items_of(role: Role, environment: str) -> Iterator[tuple[Path, RunListItem]]:
    # Items written twice in a role are met twice; only a node's own list drops them.
    under, texts = role.run_list_for(environment)
    for index, text in enumerate(texts):
        yield (*under, index), RunListItem.parse(text)


def _pin(expansion: Expansion, recipe: str, version: str, locator: Locator, path: Path) -> None:
    known = expansion.versions.get(recipe)
    expansion.versions[recipe] = version
    expansion._places[f"{recipe}@{version}"] = locator, path
    if known and Version.parse(known) != Version.parse(version):
        first, second = (expansion._origin(f"{recipe}@{asked}") for asked in (known, version))
        raise CookbookVersionConflict(
            f"recipe {recipe} is required at two versions, {known} and {version}",
            origins=(first, second),
            details=[f"{known} by {first}", f"{version} by {second}"],
        )


def _merged_roles(trees: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """The attributes of several roles merged into a new tree, the weakest first. Two lists become their union.

    source: docs/merging.md, "inside a group"

    >>> _merged_roles([{"ports": [80], "dir": "/srv"}, {"ports": [443, 80], "dir": None}])
    {'ports': [80, 443], 'dir': None}
    """
    merged: dict[Any, Any] = fold([{}, *trees], INSIDE).value
    return merged


Roles = Mapping[str, Role] | Callable[[str], Role | None]
Environments = Mapping[str, Environment] | Callable[[str], Environment | None]


@checked_args(node=Node, roles=NAMED, environments=NAMED)
def expand_node(
    node: Node,
    roles: Roles,
    environments: Environments,
    run_list: Iterable[object] | None = None,
    environment: str | None = None,
) -> Expansion:
    """Expand a node's run-list, and set the attributes of its roles and environment on the node; returns the expansion.

    It also sets the automatic attributes recipes, expanded_run_list, roles and chef_environment, and empty tags.
    roles, environments:   maps by name, or functions that return None (or raise) for a missing name
    run_list, environment: set on the node first, also if an error follows; None leaves what the node has
    raises: RoleNotFound, EnvironmentNotFound, InvalidRunListItem, CookbookVersionConflict
    source: Chef's `Node#expand!`
    """
    if run_list is not None:
        node.run_list = run_list
    if environment is not None:
        node.environment = environment
    expansion = expand_run_list(node.run_list, roles, node.environment)
    expansion.require_roles()
    intake = Intake(node)
    intake.ensure_tags()
    intake.set_automatic(expansion.automatic_attributes)
    set_layers(node, expansion, environment_named(node.environment, environments))
    intake.set_automatic({"chef_environment": node.environment})
    return expansion


def set_layers(node: Node, expansion: Expansion, environment: Environment) -> None:
    """Replace what environment and roles have set on a node by the attributes of *environment* and of the roles.

    expansion: has the roles
    A role or environment with `unread` becomes an unknown layer.
    """
    layers, intake = expansion.role_layers, Intake(node)
    intake.set_environment(environment)
    intake.set_roles(
        [(role.default_attributes, role.default_locator) for role in layers],
        [(role.override_attributes, role.override_locator) for role in layers],
    )
    for kind, one in (("env", environment), *(("role", role) for role in layers)):
        for level in ("default", "override") if one.unread else ():
            node.unknown(f"{kind}_{level}", one.name, one.locator, one.unread)


def environment_named(name: str, environments: Environments) -> Environment:
    """The environment *name*; for "_default" an empty one, without a look-up. raises: EnvironmentNotFound

    environments: a map by name, or a function that returns None for a missing name
    """
    if name == DEFAULT_ENVIRONMENT:
        return Environment(DEFAULT_ENVIRONMENT)
    found = environments.get(name) if isinstance(environments, Mapping) else environments(name)
    if found is None:
        raise EnvironmentNotFound(f"there is no environment {name!r}", hint="add it under environments/")
    return found


@checked_args(node=Node)
def reset_defaults_and_overrides(node: Node) -> None:
    """Empty the slots default and override of a node. The slots of roles and environment stay. source: Chef's `Node`"""
    Intake(node).empty_levels()


@checked_args(node=Node, role_default=Mapping, role_override=Mapping, environment="override_attributes?")
def apply_expansion(
    node: Node,
    role_default: Mapping[Any, Any],
    role_override: Mapping[Any, Any],
    environment: EnvironmentLike | None = None,
) -> None:
    """Replace the attributes that roles and environment have set on a node by the given trees.

    role_default, role_override: the merged attributes of all roles; {} removes what roles had set
    environment: becomes the node's environment, and sets its attributes. "_default" sets no attributes. None sets no
                 attributes either, and the node's environment keeps its name
    raises:      BadKey, BadValue, TooDeep
    source:      Chef's `Node#apply_expansion_attributes`
    """
    if environment is not None:
        node.environment = environment.name
    intake = Intake(node)
    intake.set_environment(environment)
    intake.set_roles([(role_default, ROLES)], [(role_override, ROLES)])


@checked_args(node=Node, facts=Mapping, json_attributes=Mapping | None)
def consume_external(
    node: Node,
    facts: Mapping[Any, Any],
    json_attributes: Mapping[Any, Any] | None = None,
    *,
    guid: str | None = None,
    facts_locator: Locator = FACTS,
    json_locator: Locator = JSON,
) -> None:
    """Set JSON attributes and facts on a node, with name and environment as automatic attributes.

    json_attributes: deep merged over normal; two lists become their union. `run_list` (or `recipes`) and
                     `chef_environment` in them are not merged, but become the run-list and environment of the node.
                     None: no JSON attributes
    facts:           replace all automatic attributes
    guid:            becomes the automatic attribute chef_guid; None: it is not set
    facts_locator, json_locator: give the origins of the values
    raises:          AmbiguousRunList; BadArgument, if the facts have no platform
    source:          Chef's `Node#consume_external_attrs`
    """
    of_node = split_node_fields(json_attributes or {}, json_locator)
    if of_node.run_list is not None:
        node.run_list = of_node.run_list
    if of_node.environment is not None:
        node.environment = of_node.environment
    intake = Intake(node)
    intake.merge_json(of_node.attributes, json_locator)
    intake.merge_facts(facts, facts_locator, guid=guid)


@checked_args(node=Node, facts=Mapping)
def consume_facts(node: Node, facts: Mapping[Any, Any], *, guid: str | None = None, locator: Locator = FACTS) -> None:
    """Deep merge facts over a node's automatic attributes, and set name and environment there. Two lists become their
    union.

    raises: BadArgument, where the facts have no platform
    source: Chef's `Node#consume_ohai_data`
    """
    Intake(node).merge_facts(facts, locator, guid=guid, replace=False)
