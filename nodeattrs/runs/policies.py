"""Policies: what a Policyfile.lock.json says, and how a node follows it.

A run-list, attributes that stand where those of roles would, and the exact version of every cookbook. Which
file is meant is known to the repository; where cookbooks lie, to `cookbook_paths`.

source: Chef's `PolicyBuilder::Policyfile`
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.errors import CookbookNotFound, InvalidRunListItem, NotFound
from nodeattrs.node.run_list import RunListItem, normalised, qualified
from nodeattrs.runs.cookbook_paths import Lock
from nodeattrs.runs.fields import Fields, known_or_near
from nodeattrs.runs.roles import Role

_LEVELS = ("default_attributes", "override_attributes")
_FIELDS = (
    *("name", "revision_id", "run_list", "named_run_lists", "included_policy_locks", "cookbook_locks"),
    *(*_LEVELS, "solution_dependencies"),
)


class Asked(NamedTuple):
    """What a call asks of a repository besides the node.

    roles_only:     no cookbook is read: each is an unknown layer
    policy:         the name of a policy, or a file; "" leaves it to the node
    policy_group:   of the policy
    named_run_list: one of the policy's other run-lists
    ruby:           attribute files in Ruby are run, by the ruby of this machine
    secret_file:    with the secret of encrypted data bags
    without:        items that no run-list has, a node's or a role's, whatever they say
    """

    roles_only: bool = False
    policy: str = ""
    policy_group: str = ""
    named_run_list: str = ""
    ruby: bool = False
    secret_file: str = ""
    without: tuple[str, ...] = ()

    def left(self, items: Iterable[str]) -> list[str]:
        """Those of some items that are not to be left out."""
        gone = {_bare(one) for one in self.without}
        return [one for one in items if _bare(one) not in gone]


def _bare(item: str) -> tuple[str, str]:
    parsed = RunListItem.parse(item)
    return parsed.type, qualified(parsed.name) if parsed.type == "recipe" else parsed.name


NOTHING_ASKED = Asked()


@dataclass(frozen=True)
class Policy:
    """A policy, locked.

    revision:   its identifier
    run_list, named_run_lists: recipes
    locks:      cookbook -> which one is meant
    group:      whose attributes are hoisted: what `default_attributes` says below its name counts at the top
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

    def items(self, named: str = "") -> tuple[Path, Sequence[str]]:
        """A run-list, and where it stands. raises: NotFound, for a name that it does not have"""
        if not named:
            return ("run_list",), self.run_list
        if named not in self.named_run_lists:
            hint = known_or_near(named, self.named_run_lists)
            raise NotFound(f"policy {self.name} has no named run-list {named}", hint=hint)
        return ("named_run_lists", named), self.named_run_lists[named]

    def require_recipes(self, run_list: Iterable[object]) -> None:
        """Refuse what a policy's run-list cannot name. raises: InvalidRunListItem"""
        for item in normalised(run_list):
            if item.type == "role":
                hint = "write what the role says into the Policyfile"
                raise InvalidRunListItem(f"{item}: the run-list of policy {self.name} names recipes only", hint=hint)

    def lock(self, cookbook: str) -> Lock:
        """Which cookbook of that name is meant. raises: CookbookNotFound"""
        if cookbook not in self.locks:
            hint = known_or_near(cookbook, self.locks)
            raise CookbookNotFound(f"policy {self.name} locks no cookbook {cookbook}", hint=hint)
        return self.locks[cookbook]

    def layer(self) -> Role:
        """Its attributes as a layer where those of roles stand."""
        default, override = (_hoisted(getattr(self, level), self.group) for level in _LEVELS)
        return Role(self.name, (), default, override, locator=_Hoisted(self))

    def noted(self, recipes: list[str]) -> dict[str, Any]:
        """What a run notes among the automatic attributes."""
        named = {"policy_name": self.name, "policy_group": self.group, "policy_revision": self.revision}
        return {**named, "recipes": recipes}


@dataclass(frozen=True)
class _Hoisted:
    """Knows the places of attributes, of those that were hoisted, too."""

    policy: Policy

    def at(self, path: Path) -> Origin:
        level, rest, group = path[:1], path[1:], self.policy.group
        tree = getattr(self.policy, level[0]) if level else {}
        is_hoisted = bool(rest) and group in tree and dig(tree[group], rest) is not ABSENT
        return self.policy.locator.at((*level, group, *rest) if is_hoisted else path)


def _hoisted(tree: Mapping[Any, Any], group: str) -> Mapping[Any, Any]:
    above = tree.get(group)
    return _laid(tree, above) if group and isinstance(above, Mapping) else tree


def _laid(lower: Any, upper: Any) -> Any:
    """Maps meet key by key, anything else is replaced. source: Chef's `hash_only_merge!`"""
    if not isinstance(lower, Mapping) or not isinstance(upper, Mapping):
        return upper
    return {**lower, **{key: _laid(lower.get(key), value) for key, value in upper.items()}}


def _lock(fields: Fields, cookbook: str) -> Lock:
    version, identifier, source = (fields.text("cookbook_locks", cookbook, key) for key in Lock._fields)
    folder = os.path.dirname(fields.locator.at(()).file or "")
    return Lock(version, identifier, os.path.normpath(os.path.join(folder, source)) if source else "")


def read_policy(name: str, fields: Fields) -> Policy:
    """The policy that a lock describes. raises: DocumentError, with everything that is wrong with it"""
    fields.only(_FIELDS)
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
