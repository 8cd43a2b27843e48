"""Runs: a repository on disk, facts, run-lists, attribute files and recipes, in order.

>>> from nodeattrs.chef import Role, expand_run_list
>>> expand_run_list(["role[web]"], {"web": Role("web", ["apache2"])}).recipes
['apache2']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.cookbooks import AttributeFileOrder, Cookbook, cookbook_order
    from nodeattrs.dialects.chef.repository.repository import Repository
    from nodeattrs.dialects.chef.repository.roles import Environment, Role
    from nodeattrs.dialects.chef.run.expansion import (
        Expansion,
        apply_expansion,
        consume_external,
        consume_facts,
        expand_node,
        expand_run_list,
        reset_defaults_and_overrides,
    )
    from nodeattrs.node.running import setting_as, walk

_HOMES = {
    "AttributeFileOrder": "cookbooks",
    "Cookbook": "cookbooks",
    "Environment": "roles",
    "Expansion": "expansion",
    "Repository": "repository",
    "Role": "roles",
    "apply_expansion": "expansion",
    "consume_external": "expansion",
    "consume_facts": "expansion",
    "cookbook_order": "cookbooks",
    "expand_node": "expansion",
    "expand_run_list": "expansion",
    "reset_defaults_and_overrides": "expansion",
    "setting_as": "expansion",
    "walk": "expansion",
}

__all__ = [
    "AttributeFileOrder",
    "Cookbook",
    "Environment",
    "Expansion",
    "Repository",
    "Role",
    "apply_expansion",
    "consume_external",
    "consume_facts",
    "cookbook_order",
    "expand_node",
    "expand_run_list",
    "reset_defaults_and_overrides",
    "setting_as",
    "walk",
]


__getattr__ = imported(__name__, _HOMES)  # who only judges settings needs none of these


def __dir__() -> list[str]:
    return sorted(__all__)
