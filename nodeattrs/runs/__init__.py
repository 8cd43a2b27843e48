"""Runs: a repository on disk, facts, run-lists, attribute files and recipes, in order.

>>> from nodeattrs.runs import Role, expand_run_list
>>> expand_run_list(["role[web]"], {"web": Role("web", ["apache2"])}).recipes
['apache2']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.node.running import setting_as, walk
    from nodeattrs.runs.cookbooks import AttributeFileOrder, Cookbook, cookbook_order
    from nodeattrs.runs.expansion import expand_node
    from nodeattrs.runs.repository import Repository
    from nodeattrs.runs.roles import Environment, Role
    from nodeattrs.runs.run_list import Expansion, expand_run_list
    from nodeattrs.runs.start import (
        apply_expansion,
        consume_external,
        consume_facts,
        reset_defaults_and_overrides,
    )

_HOMES = {
    "AttributeFileOrder": "cookbooks",
    "Cookbook": "cookbooks",
    "Environment": "roles",
    "Expansion": "run_list",
    "Repository": "repository",
    "Role": "roles",
    "apply_expansion": "start",
    "consume_external": "start",
    "consume_facts": "start",
    "cookbook_order": "cookbooks",
    "expand_node": "expansion",
    "expand_run_list": "run_list",
    "reset_defaults_and_overrides": "start",
    "setting_as": "start",
    "walk": "start",
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
