"""Roles, environments, node files and policies as plain values, and the readers that make them from documents.

A function `read_...` checks the fields of a document, and raises one DocumentError with all faults. The module does not
know where the document lies, and whether it is JSON, YAML, Python or Ruby. `repository.Repository` finds and parses it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.core.claim import Locator, LocatorBelow, Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.chef.repository.cookbook_paths import Lock
from nodeattrs.errors import CookbookNotFound, DocumentError, InvalidRunListItem, NotFound
from nodeattrs.kinds import SOLO_ATTRIBUTES
from nodeattrs.node.run_list import RunListItem, normalised, qualified
from nodeattrs.project.fields import LEVELS, Fields, known_or_near

DEFAULT_ENVIRONMENT = "_default"
"""The environment of a node that names none. It is always there, and always empty."""

_NORMAL = "normal_attributes"
_CHEF_FIELDS = ("json_class", "chef_type")
_ATTRIBUTE_FIELDS = ("default_attributes", "override_attributes")
_ROLE_FIELDS = ("name", "description", "run_list", "env_run_lists", *_ATTRIBUTE_FIELDS)
_ENVIRONMENT_FIELDS = ("name", "description", "cookbook_versions", *_ATTRIBUTE_FIELDS)


class _AttributeLevels:
    """The base class of Role and Environment, which have default and override attributes."""

    name: str
    locator: Locator
    unread: str

    def __post_init__(self) -> None:
        """Put the name into the locator, if none was given."""
        if isinstance(self.locator, Origin) and self.locator == type(self).locator:
            object.__setattr__(self, "locator", self.locator._replace(name=self.name))

    @property
    def default_locator(self) -> Locator:
        """A locator of the default attributes; its paths begin below `default_attributes`."""
        return LocatorBelow(self.locator, ("default_attributes",))

    @property
    def override_locator(self) -> Locator:
        """A locator of the override attributes; its paths begin below `override_attributes`."""
        return LocatorBelow(self.locator, ("override_attributes",))


@checked_args(name=str, run_list=ListLike, default_attributes=Mapping, override_attributes=Mapping)
@dataclass(frozen=True)
class Role(_AttributeLevels):
    """A role: its run-lists, and attributes of two levels.

    `run_list_for` gives (path, items) for the run-list that counts in an environment.

    run_list:            items as text
    default_attributes:  weaker than a node's normal attributes
    override_attributes: stronger than a node's normal attributes
    env_run_lists:       environment -> its run-list; None or () means no items. "_default" counts for the others
    description:         for people; nothing depends on it
    locator:             gives the line of each path of the document; if not given, an origin that names the role
    unread:              the reason why the contents of the role are not known; "" if they are known
    run_list_field:      the key of the run-list in the document
    """

    name: str
    run_list: Sequence[str] = ()
    default_attributes: Mapping[Any, Any] = field(default_factory=dict)
    override_attributes: Mapping[Any, Any] = field(default_factory=dict)
    env_run_lists: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    description: str = ""
    locator: Locator = field(default=Origin("role"), compare=False, repr=False)
    unread: str = ""
    run_list_field: str = field(default="run_list", compare=False, repr=False)

    def run_list_for(self, environment: str) -> tuple[Path, Sequence[str]]:
        """Returns (path, items) for the run-list in *environment*: its path in the document, and its items.

        If the environment has no run-list in `env_run_lists`, the one of "_default" there is taken, or else `run_list`.

        >>> Role("web", ["recipe[a]"], env_run_lists={"prod": None}).run_list_for("prod")
        (('env_run_lists', 'prod'), ())
        """
        for name in (environment, DEFAULT_ENVIRONMENT):
            if name in self.env_run_lists:
                return ("env_run_lists", name), self.env_run_lists[name] or ()
        return (self.run_list_field,), self.run_list


@checked_args(name=str, default_attributes=Mapping, override_attributes=Mapping)
@dataclass(frozen=True)
class Environment(_AttributeLevels):
    """An environment: attributes of two levels, and constraints on versions of cookbooks.

    name:                "_default" for the environment of a node that names none
    default_attributes:  weaker than the default attributes of roles
    override_attributes: stronger than the override attributes of roles
    cookbook_versions:   cookbook -> version constraint; `pins` yields them with their lines
    description:         for people; nothing depends on it
    locator:             gives the line of each path of the document; if not given, an origin that names the environment
    unread:              the reason why the contents of the environment are not known; "" if they are known
    """

    name: str
    default_attributes: Mapping[Any, Any] = field(default_factory=dict)
    override_attributes: Mapping[Any, Any] = field(default_factory=dict)
    cookbook_versions: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    locator: Locator = field(default=Origin("environment"), compare=False, repr=False)
    unread: str = ""

    def pins(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield (cookbook, constraint, line) for each cookbook version."""
        for cookbook, constraint in self.cookbook_versions.items():
            yield cookbook, constraint, self.locator.at(("cookbook_versions", cookbook))


def read_role(name: str, fields: Fields) -> Role:
    """The role *name* in the fields of a document. A field that is missing is empty.

    Normal attributes and another name in the document are faults. A run-list that is a text is a list of one item. A
    document without `run_list` may have its old name, `recipes`.
    raises: DocumentError, with all faults
    """
    # Older Chef called the run-list "recipes".
    listed = "recipes" if "recipes" in fields.tree and "run_list" not in fields.tree else "run_list"
    if isinstance(fields.tree.get(listed), str):  # Chef takes a text as one item
        fields.tree = {**fields.tree, listed: [fields.tree[listed]]}
    _check_common_fields(name, fields, (*_ROLE_FIELDS, listed), "Chef::Role", "role")
    role = Role(
        name,
        fields.run_list(listed),
        fields.map("default_attributes"),
        fields.map("override_attributes"),
        {
            str(environment): fields.run_list("env_run_lists", environment)
            for environment in fields.map("env_run_lists")
        },
        fields.text("description"),
        fields.locator,
        run_list_field=listed,
    )
    fields.finish()
    return role


def read_environment(name: str, fields: Fields) -> Environment:
    """The environment *name* in the fields of a document. A field that is missing is empty.

    Normal attributes, another name in the document, and the name "_default" are faults.
    raises: DocumentError, with all faults
    """
    if name == DEFAULT_ENVIRONMENT:
        fields.wrong((), "the environment _default cannot be changed", "give the environment another name")
    _check_common_fields(name, fields, _ENVIRONMENT_FIELDS, "Chef::Environment", "environment")
    environment = Environment(
        name,
        fields.map("default_attributes"),
        fields.map("override_attributes"),
        fields.constraints("cookbook_versions"),
        fields.text("description"),
        fields.locator,
    )
    fields.finish()
    return environment


def _check_common_fields(name: str, fields: Fields, known: tuple[str, ...], json_class: str, chef_type: str) -> None:
    if fields.tree.get(_NORMAL) is not None:
        fields.wrong(
            (_NORMAL,),
            f"{fields.what} cannot set normal attributes",
            "write default_attributes or override_attributes",
        )
    fields.only((*known, *_CHEF_FIELDS), ignore=(_NORMAL,))
    fields.named(name)
    fields.constant("json_class", json_class)
    fields.constant("chef_type", chef_type)


_NODE_FIELDS = (
    "name",
    "chef_environment",
    "run_list",
    *LEVELS,
    "policy_name",
    "policy_group",
    "json_class",
    "chef_type",
)


class UnreadPart(NamedTuple):
    """A part of a node's description that was not read.

    path:   the only path that it may set, with the level first; None: any path
    origin: where it is
    reason: why it was not read, as the end of a sentence
    """

    path: Path | None
    origin: Origin
    reason: str


@dataclass(frozen=True)
class NodeFile:
    """The description of a node, from its file in nodes/ or from a suite of Test Kitchen. A missing field is empty.

    name:        the node's name
    environment: the name of its environment; None if the file names none
    run_list:    items as text
    automatic, default, normal, override: the attributes of each level. A run uses only *normal*
    locator:     gives the line of each path of the file; `locator_of` gives a locator for one level
    policy_name, policy_group, named_run_list: of its policy; "" for none
    unread:      the parts of kitchen.yml that could not be read; always () for a file in nodes/
    """

    name: str
    environment: str | None = None
    run_list: tuple[str, ...] = ()
    automatic: Mapping[Any, Any] = field(default_factory=dict)
    default: Mapping[Any, Any] = field(default_factory=dict)
    normal: Mapping[Any, Any] = field(default_factory=dict)
    override: Mapping[Any, Any] = field(default_factory=dict)
    locator: Locator = field(default=Origin("node file"), compare=False, repr=False)
    policy_name: str = ""
    policy_group: str = ""
    named_run_list: str = ""
    unread: Sequence[UnreadPart] = ()

    def locator_of(self, level: str) -> Locator:
        """A locator of the attributes of a level ("normal"); its paths begin below that level."""
        return LocatorBelow(self.locator, (level,))


def read_node(name: str, fields: Fields) -> NodeFile:
    """The node *name* in the fields of a document.

    A file with attributes at its top, as chef-solo reads it, gives a warning and no attributes.
    raises: DocumentError, with all faults, such as a key that no node has
    """
    top = [str(key) for key in fields.tree if key not in _NODE_FIELDS]
    if top and not {*LEVELS, "json_class", "chef_type"} & {*fields.tree}:  # as knife-solo keeps nodes
        hint = "put them under normal, or give the file to a run as --json-attributes"
        fields.warn((top[0],), f"attributes that only chef-solo reads here: {', '.join(top)}", hint, SOLO_ATTRIBUTES)
    else:
        fields.only(_NODE_FIELDS)
    fields.named(name)
    fields.constant("json_class", "Chef::Node")
    fields.constant("chef_type", "node")
    node = NodeFile(
        name,
        fields.text("chef_environment") or None,
        tuple(fields.run_list("run_list")),
        automatic=fields.map("automatic"),
        default=fields.map("default"),
        normal=fields.map("normal"),
        override=fields.map("override"),
        locator=fields.locator,
        policy_name=fields.text("policy_name"),
        policy_group=fields.text("policy_group"),
    )
    fields.finish()
    return node


_POLICY_FIELDS = (
    *("name", "revision_id", "run_list", "named_run_lists", "included_policy_locks", "cookbook_locks"),
    *(*_ATTRIBUTE_FIELDS, "solution_dependencies"),
)


class RepositoryOptions(NamedTuple):
    """Options of a command that concern the repository and not the node. An option that is not given is off, "" or ().

    `without_removed` filters a run-list by *without*.

    roles_only:     read no cookbook; each becomes an unknown layer
    policy:         the name of a policy, or its lock file; "": the policy of the node's file or the settings
    policy_group:   the group of the policy
    named_run_list: run this run-list of the policy instead of its `run_list`
    ruby:           run files in Ruby, with the Ruby of this machine
    secret_file:    the file with the secret of encrypted data bags; "": the one in the settings
    without:        items to remove from all run-lists, of nodes and roles
    strict:         raise an error for a run that needs a cookbook that is not there
    cookbook_path:  further folders with cookbooks
    """

    roles_only: bool = False
    policy: str = ""
    policy_group: str = ""
    named_run_list: str = ""
    ruby: bool = False
    secret_file: str = ""
    without: tuple[str, ...] = ()
    strict: bool = False
    cookbook_path: tuple[str, ...] = ()

    def without_removed(self, items: Iterable[str]) -> list[str]:
        """The items of a run-list, in order, without those in `without`; `a` and `recipe[a::default]` are the same.

        raises: InvalidRunListItem
        """
        gone = {_item_key(one) for one in self.without}
        return [one for one in items if _item_key(one) not in gone]


def _item_key(item: str) -> tuple[str, str]:
    parsed = RunListItem.parse(item)
    return parsed.type, qualified(parsed.name) if parsed.type == "recipe" else parsed.name


NO_OPTIONS = RepositoryOptions()


@dataclass(frozen=True)
class Policy:
    """A policy from its lock file, or from a Policyfile without a lock: run-lists, attributes, locked cookbooks.

    `run_list_named` gives (path, items) for a run-list, and `lock` the lock of a cookbook. `pins` yields the
    constraints. `as_role` gives the attributes as a Role, since they have the precedence of roles. `require_recipes`
    raises an error if a run-list has a role.

    revision:    its identifier; "" without a lock
    run_list:    the items as text
    named_run_lists: name -> the items as text
    default_attributes, override_attributes: as the file has them, with the keys of policy groups
    locks:       cookbook -> its locked version. In a Policyfile without a lock, a Lock has only the cookbook's folder
    locator:     gives the line of each path of the document
    group:       the policy group, "" for none. `as_role` merges the attributes below that key over the others
    constraints: cookbook -> its version constraint in a Policyfile without a lock, "" for none
    is_locked:   whether it comes from a lock file
    unread:      the parts of a Policyfile that could not be read, with their lines; they may set anything
    """

    name: str
    revision: str = ""
    run_list: Sequence[str] = ()
    named_run_lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    default_attributes: Mapping[Any, Any] = field(default_factory=dict)
    override_attributes: Mapping[Any, Any] = field(default_factory=dict)
    locks: Mapping[str, Lock] = field(default_factory=dict)
    locator: Locator = field(default=Origin("policy"), compare=False, repr=False)
    group: str = ""
    constraints: Mapping[str, str] = field(default_factory=dict)
    is_locked: bool = True
    unread: Sequence[DocumentError] = ()

    def run_list_named(self, name: str) -> tuple[Path, Sequence[str]]:
        """Returns (path, items) for a run-list: its path in the document, and its items.

        name:   a name in `named_run_lists`; "" for `run_list`
        raises: NotFound, with similar names. A policy with `unread` gives ((), ()) for an unknown name
        """
        if not name:
            return ("run_list",), self.run_list
        if name in self.named_run_lists:
            return ("named_run_lists", name), self.named_run_lists[name]
        if self.unread:
            return (), ()
        hint = known_or_near(name, self.named_run_lists)
        raise NotFound(f"policy {self.name} has no named run-list {name}", hint=hint)

    def require_recipes(self, run_list: Iterable[object]) -> None:
        """Raise InvalidRunListItem if a run-list has a role, or an item that cannot be parsed."""
        for item in normalised(run_list):
            if item.type == "role":
                hint = "write what the role says into the Policyfile"
                raise InvalidRunListItem(f"{item}: the run-list of policy {self.name} names recipes only", hint=hint)

    def lock(self, cookbook: str) -> Lock:
        """The locked version of a cookbook. Without a lock file an unknown cookbook gives `Lock("")`: any version.

        raises: CookbookNotFound, if a lock file does not name the cookbook
        """
        if cookbook in self.locks:
            return self.locks[cookbook]
        if not self.is_locked:
            return Lock("")
        hint = known_or_near(cookbook, self.locks)
        raise CookbookNotFound(f"policy {self.name} locks no cookbook {cookbook}", hint=hint)

    def pins(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield (cookbook, constraint, line) for each constraint of a Policyfile; nothing for a lock file."""
        for cookbook, constraint in self.constraints.items():
            if constraint:
                yield cookbook, constraint, self.locator.at(("cookbooks", cookbook))

    def as_role(self) -> Role:
        """The attributes of the policy as a Role without a run-list: they have the precedence of roles.

        Attributes below the key of the policy group are merged over those at the top, and keep their lines.
        """
        default, override = (_hoisted(getattr(self, level), self.group) for level in _ATTRIBUTE_FIELDS)
        return Role(self.name, (), default, override, locator=_PolicyRoleLocator(self))


@dataclass(frozen=True)
class _PolicyRoleLocator:
    """A locator of the attributes of `Policy.as_role`, also of attributes that it moved up from the policy group."""

    policy: Policy

    def at(self, path: Path) -> Origin:
        level, rest, group = path[:1], path[1:], self.policy.group
        tree = getattr(self.policy, level[0]) if level else {}
        is_hoisted = bool(rest) and group in tree and dig(tree[group], rest) is not ABSENT
        return self.policy.locator.at((*level, group, *rest) if is_hoisted else path)


def _hoisted(tree: Mapping[Any, Any], group: str) -> Mapping[Any, Any]:
    above = tree.get(group)
    return merged_maps(tree, above) if group and isinstance(above, Mapping) else tree


def merged_maps(lower: Any, upper: Any) -> Any:
    """Two trees merged into a new one: maps key by key; any other value of *upper* replaces the lower one, null too.

    source: Chef's `hash_only_merge!`, Test Kitchen's `rmerge`
    """
    if not isinstance(lower, Mapping) or not isinstance(upper, Mapping):
        return upper
    return {**lower, **{key: merged_maps(lower.get(key), value) for key, value in upper.items()}}


def _lock(fields: Fields, cookbook: str) -> Lock:
    version, identifier, source = (fields.text("cookbook_locks", cookbook, key) for key in Lock._fields)
    folder = os.path.dirname(fields.locator.at(()).file or "")
    return Lock(version, identifier, os.path.normpath(os.path.join(folder, source)) if source else "")


def read_policy(name: str, fields: Fields) -> Policy:
    """The policy in the fields of a lock file; its `group` is "". raises: DocumentError, with all faults

    name: the name of the policy if the lock file has none
    """
    fields.only(_POLICY_FIELDS)
    policy = Policy(
        fields.text("name") or name,
        fields.text("revision_id"),
        fields.run_list("run_list"),
        {str(one): fields.run_list("named_run_lists", one) for one in fields.map("named_run_lists")},
        fields.map("default_attributes"),
        fields.map("override_attributes"),
        {str(one): _lock(fields, str(one)) for one in fields.map("cookbook_locks")},
        fields.locator,
    )
    fields.finish()
    return policy
