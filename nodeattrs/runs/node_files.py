"""Node documents of a repository: what is known of a node before its first run.

Chef's own fields, checked. It knows neither how a node uses them nor the
documents that runs leave behind, which are the store's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeattrs.core.claim import Below, Locator, Origin
from nodeattrs.kinds import SOLO_ATTRIBUTES
from nodeattrs.runs.fields import Fields

LEVELS = ("automatic", "default", "normal", "override")
"""What Chef's documents call the groups of attributes."""

_FIELDS = ("name", "chef_environment", "run_list", *LEVELS, "policy_name", "policy_group", "json_class", "chef_type")


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
    top = [str(key) for key in fields.tree if key not in _FIELDS]
    if top and not {*LEVELS, "json_class", "chef_type"} & {*fields.tree}:  # as knife-solo keeps nodes
        hint = "put them under normal, or give the file to a run as --json-attributes"
        fields.warn((top[0],), f"attributes that only chef-solo reads here: {', '.join(top)}", hint, SOLO_ATTRIBUTES)
    else:
        fields.only(_FIELDS)
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
