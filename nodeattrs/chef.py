"""The public names for Chef: a repository on disk, its roles and cookbooks, run-lists, and their order.

>>> from nodeattrs.chef import Role, expand_run_list
>>> expand_run_list(["role[web]"], {"web": Role("web", ["apache2"])}).recipes
['apache2']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported
from nodeattrs.node.running import setting_as, walk

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.cookbooks import AttributeFileOrder, Cookbook, cookbook_order
    from nodeattrs.dialects.chef.repository.encrypted import decrypted, is_encrypted
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

_HOMES = {
    "AttributeFileOrder": "repository.cookbooks",
    "Cookbook": "repository.cookbooks",
    "Environment": "repository.roles",
    "Expansion": "run.expansion",
    "Repository": "repository.repository",
    "Role": "repository.roles",
    "decrypted": "repository.encrypted",
    "is_encrypted": "repository.encrypted",
    "apply_expansion": "run.expansion",
    "consume_external": "run.expansion",
    "consume_facts": "run.expansion",
    "cookbook_order": "repository.cookbooks",
    "expand_node": "run.expansion",
    "expand_run_list": "run.expansion",
    "reset_defaults_and_overrides": "run.expansion",
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
    "decrypted",
    "expand_node",
    "expand_run_list",
    "is_encrypted",
    "reset_defaults_and_overrides",
    "setting_as",
    "walk",
]


__getattr__ = imported(__name__, _HOMES, below="nodeattrs.dialects.chef")


def __dir__() -> list[str]:
    return sorted(__all__)
