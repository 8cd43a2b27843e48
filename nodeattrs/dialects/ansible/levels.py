"""The 22 levels of variable precedence, with the numbers and names of Ansible's documentation.

The module also has the two merge policies for values of two levels (`hash_behaviour`), and tables of special names.
"""

from __future__ import annotations

from nodeattrs.core.policy import ANY, MAP, MEET, PRESENT, TAKE, Line, Meet, Policy

LEVELS: dict[int, str] = {
    1: "command line values",
    2: "role defaults",
    3: "inventory file or script group vars",
    4: "inventory group_vars/all",
    5: "playbook group_vars/all",
    6: "inventory group_vars/*",
    7: "playbook group_vars/*",
    8: "inventory file or script host vars",
    9: "inventory host_vars/*",
    10: "playbook host_vars/*",
    11: "host facts and cached set_facts",
    12: "play vars",
    13: "play vars_prompt",
    14: "play vars_files",
    15: "role vars",
    16: "block vars",
    17: "task vars",
    18: "include_vars",
    19: "registered vars and set_facts",
    20: "role params",
    21: "include params",
    22: "extra vars",
}
"""The weakest first. Level 1 holds options of the command line, which are no variables."""


def title(level: int) -> str:
    """The title of a layer of a level in traces.

    >>> title(6)
    'inventory group_vars/* (6 of 22)'
    """
    return f"{LEVELS[level]} ({level} of 22)"


_TAKEN = Policy("hash_behaviour = replace", Line(ANY, PRESENT, TAKE, "the stronger one replaces the weaker one"))
REPLACE = Policy(
    "variables",
    Line(MAP, MAP, Meet(_TAKEN), "variables meet name by name"),
    Line(ANY, PRESENT, TAKE, "the stronger one replaces the weaker one"),
)
"""Each variable is replaced as a whole: Ansible's default."""

MERGE = Policy(
    "hash_behaviour = merge",
    Line(MAP, MAP, MEET, "two maps meet key by key"),
    Line(ANY, PRESENT, TAKE, "the stronger one replaces the weaker one"),
)
"""Maps are merged key by key, at any depth; lists and other values are replaced."""

PRECEDENCE = (
    "all_inventory",
    "groups_inventory",
    "all_plugins_inventory",
    "all_plugins_play",
    "groups_plugins_inventory",
    "groups_plugins_play",
)
"""The entries of the option `precedence` in their default order: levels 3 (in two parts) to 7."""

_MAGIC_TEXT = """
    ansible_version ansible_check_mode ansible_diff_mode ansible_forks ansible_inventory_sources ansible_skip_tags
    ansible_run_tags ansible_verbosity ansible_limit ansible_playbook_python ansible_play_hosts
    ansible_play_hosts_all ansible_play_batch ansible_play_name ansible_play_role_names ansible_role_names
    ansible_parent_role_names ansible_parent_role_paths ansible_dependent_role_names ansible_role_name
    ansible_collection_name ansible_facts ansible_search_path ansible_config_file ansible_delegated_vars
    ansible_loop_var ansible_index_var play_hosts role_name role_names role_path role_uuid playbook_dir
    inventory_dir inventory_file inventory_hostname inventory_hostname_short group_names groups hostvars omit
    vars environment"""
MAGIC = frozenset(_MAGIC_TEXT.split())
"""Variables that Ansible sets itself. A value that files set under such a name does not count, or should not."""

_SHOWN_TEXT = """environment omit vars ansible_check_mode ansible_delegated_vars ansible_index_var ansible_loop_var
    ansible_parent_role_names ansible_parent_role_paths ansible_play_name ansible_search_path"""
SHOWN = frozenset(_SHOWN_TEXT.split())
"""Names of `MAGIC` that `ansible-inventory` prints where files set them."""

_RESERVED_TEXT = """hosts name tags vars environment tasks roles handlers gather_facts become become_user become_method
    become_flags become_exe connection port remote_user serial strategy order when loop with_items until
    retries delay register notify listen block rescue always delegate_to delegate_facts run_once ignore_errors
    ignore_unreachable check_mode diff no_log throttle timeout any_errors_fatal max_fail_percentage async poll
    action args local_action loop_control module_defaults collections debugger failed_when changed_when
    pre_tasks post_tasks vars_files vars_prompt force_handlers fact_path gather_subset gather_timeout user"""
RESERVED = frozenset(_RESERVED_TEXT.split())
"""Words of plays and tasks: a variable of such a name is warned of."""
