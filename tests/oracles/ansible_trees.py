"""Random trees of Ansible: inventories, files of variables, roles, playbooks and settings, each value once in its tree.

A tree is its files by name and what a run is given. `used` counts what a tree has, so that nothing is missed for good.
It knows neither Ansible nor us.
"""

from __future__ import annotations

import json
import random

from tests.oracles.ansible_inventories import Inventories
from tests.oracles.ansible_playbooks import Playbooks
from tests.oracles.ansible_values import Tree, Values

SETTINGS: tuple[tuple[str, dict[str, str], int], ...] = (
    ("no other setting", {}, 60),
    ("private_role_vars", {"private_role_vars": "true"}, 6),
    ("precedence", {"precedence": "groups_plugins_inventory, all_inventory, groups_inventory, all_plugins_play"}, 4),
    ("force_valid_group_names", {"force_valid_group_names": "always"}, 4),
    ("vars_plugins_enabled is empty", {"vars_plugins_enabled": ""}, 4),
    ("run_vars_plugins", {"run_vars_plugins": "start"}, 4),
    ("yaml_valid_extensions", {"yaml_valid_extensions": ".yml, .json"}, 4),
    ("inventory_ignore_patterns", {"inventory_ignore_patterns": "20-.*"}, 4),
    ("inventory_ignore_extensions", {"inventory_ignore_extensions": ".toml, .bak"}, 4),
    ("enable_plugins", {"enable_plugins": "ini, yaml, host_list, toml, script"}, 4),
    ("inject_facts_as_vars", {"inject_facts_as_vars": "false", "facts": "yes"}, 4),
    ("cached facts", {"facts": "yes"}, 4),
)
"""What is counted, the settings beside hash_behaviour, and how often."""
_PRINTED = (
    ["--list"],
    ["--list", "--export"],
    ["--list", "-y"],
    ["--list", "--toml"],
    ["--list", "--limit"],
    ["--graph"],
    ["--graph", "--vars"],
    ["--host"],
)


def tree(seed: str, hosts: int = 50, ask: int = 8, run: float = 0.1) -> Tree:
    """The tree of a seed; the same for the same one.

    ask: how many hosts of it are asked for
    run: how often its playbook is run
    """
    chance = random.Random(seed)
    name, settings, _ = chance.choices(SETTINGS, [share for _, _, share in SETTINGS])[0]
    made = Tree(settings={key: value for key, value in settings.items() if key != "facts"}, facts="facts" in settings)
    made.used[name] += 1
    is_merge = chance.random() < 0.4
    made.used["hash_behaviour = " + ("merge" if is_merge else "replace")] += 1
    if is_merge:
        made.settings["hash_behaviour"] = "merge"
    values = Values(chance, made, is_merge=is_merge)
    made.run = values.use("a run", run)
    inventories = Inventories(values, hosts)
    inventories.write()
    made.asked = chance.sample(inventories.hosts, min(2 if made.run else ask, hosts)) + inventories.more
    playbooks = Playbooks(inventories)
    if made.run or "run_vars_plugins" in settings or values.use("playbook", 0.8):  # ansible-inventory does not heed it
        playbooks.write()
    if values.use("extra vars", 0.3):
        playbooks.extra()
    if made.facts:
        _write_facts(values, made)
    if not made.playbook and "," not in made.sources[-1]:
        _print(chance, made)
    return made


def _print(chance: random.Random, made: Tree) -> None:
    for words in chance.sample(_PRINTED, 2):
        made.used["printed " + " ".join(words)] += 1
        more = {"--host": made.asked[:1], "--limit": ["all:!" + made.asked[0]]}.get(words[-1], [])
        made.printed.append([*words, *more])


def _write_facts(values: Values, made: Tree) -> None:
    """Cached facts in the layout of 2.19."""
    for host in made.asked:
        facts = {f"ansible_{name}": value for name, value in values.some(0.2, rich=False).items()}
        facts |= {"ansible_user": "s9990", "ansible_local": {"k0": "s9991"}, "vz": "s9992"}
        payload = {"__payload__": json.dumps(facts)}
        made.files[f"facts/s1_{host}"] = json.dumps(payload)
