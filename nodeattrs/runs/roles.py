"""Roles, environments and node files: what is known of nodes before they run.

Three plain values, and how each is read from the fields of its document. Whether that was JSON, YAML, Python or Ruby
makes no difference here, nor where it lay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.borders import Listed, taking
from nodeattrs.core.claim import Below, Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.kinds import SOLO_ATTRIBUTES
from nodeattrs.runs.fields import Fields

DEFAULT_ENVIRONMENT = "_default"
"""The environment of a node that names none. It is always there, and always empty."""

_NORMAL = "normal_attributes"
_CHEF_FIELDS = ("json_class", "chef_type")
_ATTRIBUTE_FIELDS = ("default_attributes", "override_attributes")
_ROLE_FIELDS = ("name", "description", "run_list", "env_run_lists", *_ATTRIBUTE_FIELDS)
_ENVIRONMENT_FIELDS = ("name", "description", "cookbook_versions", *_ATTRIBUTE_FIELDS)


class _SaysAttributes:
    """Default and override attributes, and who says each."""

    name: str
    locator: Locator
    unread: str

    @property
    def default_locator(self) -> Locator:
        """Who says the default attributes, its paths counted from their root."""
        return Below(self.locator, ("default_attributes",))

    @property
    def override_locator(self) -> Locator:
        """Who says the override attributes, its paths counted from their root."""
        return Below(self.locator, ("override_attributes",))


@taking(name=str, run_list=Listed, default_attributes=Mapping, override_attributes=Mapping)
@dataclass(frozen=True)
class Role(_SaysAttributes):
    """A role.

    run_list:            items as text
    env_run_lists:       environment -> items for it; an empty list, or None, means none
    default_attributes:  below a node's normal attributes
    override_attributes: above them
    locator:             knows where all this is set, its paths counted from the document's root
    unread:              why nothing else of it is known, in words; "" where it is
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

    def __post_init__(self) -> None:
        if self.locator == Origin("role"):
            object.__setattr__(self, "locator", Origin("role", self.name))

    def run_list_for(self, environment: str) -> tuple[Path, Sequence[str]]:
        """The items for *environment*, and where in the document they stand.

        >>> Role("web", ["recipe[a]"], env_run_lists={"prod": None}).run_list_for("prod")
        (('env_run_lists', 'prod'), ())
        """
        for name in (environment, DEFAULT_ENVIRONMENT):
            if name in self.env_run_lists:
                return ("env_run_lists", name), self.env_run_lists[name] or ()
        return (self.run_list_field,), self.run_list


@taking(name=str, default_attributes=Mapping, override_attributes=Mapping)
@dataclass(frozen=True)
class Environment(_SaysAttributes):
    """An environment.

    default_attributes:  below those of roles
    override_attributes: above those of roles
    cookbook_versions:   cookbook -> the constraint its version has to meet
    locator:             knows where all this is set, its paths counted from the document's root
    unread:              why nothing else of it is known, in words; "" where it is
    """

    name: str
    default_attributes: Mapping[Any, Any] = field(default_factory=dict)
    override_attributes: Mapping[Any, Any] = field(default_factory=dict)
    cookbook_versions: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    locator: Locator = field(default=Origin("environment"), compare=False, repr=False)
    unread: str = ""

    def __post_init__(self) -> None:
        if self.locator == Origin("environment"):
            object.__setattr__(self, "locator", Origin("environment", self.name))

    def pins(self) -> Iterator[tuple[str, str, Origin]]:
        """Cookbook, constraint and who asks, for every cookbook version."""
        for cookbook, constraint in self.cookbook_versions.items():
            yield cookbook, constraint, self.locator.at(("cookbook_versions", cookbook))


def read_role(name: str, fields: Fields) -> Role:
    """The role that a document describes.

    raises: DocumentError, with everything that is wrong with it
    """
    # Older Chef called the run-list "recipes".
    listed = "recipes" if "recipes" in fields.tree and "run_list" not in fields.tree else "run_list"
    _common(name, fields, (*_ROLE_FIELDS, listed), "Chef::Role", "role")
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
    """The environment that a document describes.

    raises: DocumentError, with everything that is wrong with it
    """
    if name == DEFAULT_ENVIRONMENT:
        fields.wrong((), "the environment _default cannot be changed", "give the environment another name")
    _common(name, fields, _ENVIRONMENT_FIELDS, "Chef::Environment", "environment")
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


def _common(name: str, fields: Fields, known: tuple[str, ...], json_class: str, chef_type: str) -> None:
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


LEVELS = ("automatic", "default", "normal", "override")
"""What Chef's documents call the groups of attributes."""

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


@dataclass(frozen=True)
class NodeFile:
    """A node as its document describes it.

    environment: its name, or None where the document does not say
    run_list:    items as text
    automatic, default, normal, override: attributes
    policy_name, policy_group: the policy that it follows, or ""
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

    def locator_of(self, level: str) -> Locator:
        """Who says the attributes of one level, its paths counted from their root."""
        return Below(self.locator, (level,))


def read_node(name: str, fields: Fields) -> NodeFile:
    """The node that a document describes.

    raises: DocumentError, with everything that is wrong with it
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
        **{level: fields.map(level) for level in LEVELS},
        locator=fields.locator,
        policy_name=fields.text("policy_name"),
        policy_group=fields.text("policy_group"),
    )
    fields.finish()
    return node
