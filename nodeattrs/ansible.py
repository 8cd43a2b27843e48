"""Ansible's inventories and variables, read as they are: what a host has, and which file and line set it.

    >>> from nodeattrs.ansible import Inventory
    >>> inventory = Inventory("web1,web2,", extra_vars=["http_port=8080"])
    >>> inventory.host("web1").vars
    {'http_port': '8080'}

Only programs that the caller names are run, and nothing of Ansible is imported. Levels have the numbers of Ansible's
documentation. Values have their templates as they are written. docs/ansible.md says what is read, and what cannot be
known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.ansible.answers import Variables
    from nodeattrs.dialects.ansible.faults import WARNINGS, AnsibleError
    from nodeattrs.dialects.ansible.inventory import Inventory
    from nodeattrs.dialects.ansible.levels import LEVELS, MAGIC, SHOWN
    from nodeattrs.dialects.ansible.playbook import InTask, Playbook
    from nodeattrs.dialects.ansible.printing import (
        graph,
        grouped,
        listing,
        nested_listing,
        printed_inventory,
        printed_variables,
    )
    from nodeattrs.dialects.ansible.rendering import Rendered, Rendering
    from nodeattrs.dialects.ansible.reports import Mention, group_of, level_of, mentions, reasons
    from nodeattrs.dialects.ansible.values import Unsafe, Vault, as_json
    from nodeattrs.dialects.ansible.writing import as_json_text, as_yaml_text

_HOMES = {
    "LEVELS": "levels",
    "MAGIC": "levels",
    "Mention": "reports",
    "SHOWN": "levels",
    "WARNINGS": "faults",
    "AnsibleError": "faults",
    "InTask": "playbook",
    "Inventory": "inventory",
    "Playbook": "playbook",
    "Rendered": "rendering",
    "Rendering": "rendering",
    "Unsafe": "values",
    "Variables": "answers",
    "Vault": "values",
    "as_json": "values",
    "as_json_text": "writing",
    "as_yaml_text": "writing",
    "graph": "printing",
    "group_of": "reports",
    "grouped": "printing",
    "level_of": "reports",
    "listing": "printing",
    "mentions": "reports",
    "nested_listing": "printing",
    "printed_inventory": "printing",
    "printed_variables": "printing",
    "reasons": "reports",
}

__all__ = [
    "LEVELS",
    "MAGIC",
    "SHOWN",
    "WARNINGS",
    "AnsibleError",
    "InTask",
    "Inventory",
    "Mention",
    "Playbook",
    "Rendered",
    "Rendering",
    "Unsafe",
    "Variables",
    "Vault",
    "as_json",
    "as_json_text",
    "as_yaml_text",
    "graph",
    "group_of",
    "grouped",
    "level_of",
    "listing",
    "mentions",
    "nested_listing",
    "printed_inventory",
    "printed_variables",
    "reasons",
]

__getattr__ = imported(__name__, _HOMES, below="nodeattrs.dialects.ansible")


def __dir__() -> list[str]:
    return sorted(__all__)
