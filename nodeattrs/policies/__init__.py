"""Policies by name, such as "helm", and `fold`, which merges layers under a policy or the name of one.

`nodeattrs.fold` is this function. `nodeattrs fold` finds its policies here, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from nodeattrs.core import fold as core
from nodeattrs.core.fold import Fold, Folded, Layer
from nodeattrs.core.policy import ACROSS, Policy
from nodeattrs.core.rules import read_rules
from nodeattrs.core.tree import hint_for
from nodeattrs.errors import BadArgument
from nodeattrs.policies.named import NamedPolicy

APPSETTINGS, COMPOSE, HIERA, REPLACE = "appsettings", "compose", "hiera-deep", "replace"
GIT, NETPLAN, RUFF, SPRING, SYSTEMD, TSCONFIG = "git", "netplan", "ruff", "spring", "systemd", "tsconfig"
ESLINT = "eslint"
_MODULES = {
    "across": "named",
    "inside": "named",
    "helm": "helm",
    "helm-4.1": "helm",
    "json-merge-patch": "named",
    REPLACE: "named",
    APPSETTINGS: "appsettings",
    COMPOSE: "compose",
    ESLINT: "eslint",
    GIT: "repeated",
    HIERA: "hiera",
    NETPLAN: "netplan",
    RUFF: "named",
    SPRING: "spring",
    SYSTEMD: "repeated",
    TSCONFIG: "named",
}
"""Name of a policy -> the module of this package that has it in `POLICIES`. `policy_named` imports the module."""
NAMES = tuple(_MODULES)
"""The names of all policies."""
DEFAULT_POLICY = ACROSS.name
"""The policy of a fold that names none."""


def fold(
    layers: Iterable[Layer | Fold | Any],
    policy: Policy | str = ACROSS,
    *,
    from_top: bool = False,
    rules: Mapping[Any, Any] | None = None,
    strict: bool = False,
) -> Folded:
    """Merge layers into one tree.

    layers:   `Layer`s and `Fold`s, weakest first, at least one; any other value is a layer without a known origin
    policy:   what happens where two values meet: a `Policy`, or the name of one, such as "helm"
    from_top: the first layer is the strongest; not for a policy by name, which has a direction of its own
    rules:    path or pattern -> another policy there: "append", {"merge_by": "name"}; see `core.rules.read_rules`
    strict:   refuse layers that could not be read (`Layer.unknown`)
    cost:     one visit for each key that two sides have, and one copy of the result
    raises:   MergeConflict, where the policy refuses; nothing is changed then; UnknownLayer with *strict*;
              BadArgument, for no layers, an unknown policy and a wrong rule
    source:   docs/merging.md, "The core"

    >>> fold([{"a": {"x": 1}, "l": [1]}, {"a": {"y": 2}, "l": [2, 1]}]).value
    {'a': {'x': 1, 'y': 2}, 'l': [2, 1]}
    >>> fold([{"l": [1, 2]}, {"l": [2]}], "inside").value
    {'l': [1, 2]}
    >>> fold([{"port": 80, "user": "www"}, {"port": None}], "helm").value
    {'user': 'www'}
    """
    if not isinstance(policy, str):
        return core.fold(layers, policy, from_top=from_top, rules=rules, strict=strict)
    if from_top:
        hint = "pass the weakest layer first, or a Policy"
        raise BadArgument(f"the policy {policy!r} says itself in which direction it merges", hint=hint)
    children = core.children_of(layers)
    plan = policy_named(policy).plan(children, () if rules is None else read_rules(rules))
    return core.fold([plan] if children else [], plan.policy, strict=strict)


@cache
def policy_named(name: str) -> NamedPolicy:
    """The policy with a name. raises: BadArgument, with the nearest name"""
    if name not in _MODULES:
        raise BadArgument(f"there is no policy {name!r}", hint=known_policies(name))
    policies: Iterable[NamedPolicy] = import_module(f"{__name__}.{_MODULES[name]}").POLICIES
    return next(one for one in policies if one.name == name)


def known_policies(name: str) -> str:
    """The hint for a name that no policy has: "did you mean NEAREST?", else the names of all policies."""
    return hint_for(name, NAMES) or f"it is one of {', '.join(NAMES)}; `nodeattrs fold --policies` prints them"
