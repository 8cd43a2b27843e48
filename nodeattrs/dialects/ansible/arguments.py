"""Command-line arguments of the Ansible commands, and the inventory and variables that they name.

`inventory_of` opens the inventory, `answer_of` gives the variables of a host in it. Verbs (`where`, `matrix`, `diff`)
pass the same arguments as options of their request.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from nodeattrs.contract.command import Argument
from nodeattrs.core.code import held_back
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.config import AnsibleConfig
from nodeattrs.dialects.ansible.faults import NO_FILE, NO_HOST, NOTHING_PARSED, AnsibleError
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.playbook import Playbook
from nodeattrs.dialects.ansible.reports import unread
from nodeattrs.errors import BadUsage
from nodeattrs.project.settings import sensitive_beside
from nodeattrs.reports.screen import first_of

_NAMED = 6
_MANY: Mapping[str, Any] = {"action": "append", "default": []}
FLAG: Mapping[str, Any] = {"action": "store_true"}

HOST = Argument(("host",), "a host of the inventory", {"metavar": "HOST"})
VARIABLE = Argument(("path",), "a variable, or a path in one: users.0.name", {"metavar": "VAR"})
KEY = VARIABLE._replace(names=("key",))
LIMIT = Argument(("--hosts", "--limit"), "only hosts that it names, such as web:!web3", {"metavar": "PATTERN"})
RENDER = Argument(("--render",), "evaluate templates; what cannot be is named", FLAG)
INVENTORY = (
    Argument(
        ("-i", "--inventory"),
        "a file, folder or list of hosts such as web1,web2, ; may be repeated (default: the one of ansible.cfg)",
        {"metavar": "SOURCE", **_MANY},
        "inventory",
    ),
    Argument(
        ("-e", "--extra-vars"),
        "name=value words, a map in YAML or JSON, or @FILE; may be repeated",
        {"metavar": "VARS", **_MANY},
        "inventory",
    ),
    Argument(
        ("--folder",),
        "ansible.cfg lies there, and files are named from there (default: here)",
        {"metavar": "DIR"},
        "inventory",
    ),
    Argument(
        ("--playbook-dir",),
        "beside it lie the playbook's group_vars and host_vars",
        {"metavar": "DIR"},
        "inventory",
    ),
    Argument(("--facts",), "cached facts, a JSON file for each host", {"metavar": "PLACE"}, "inventory"),
    Argument(
        ("--environ",),
        "let variables such as ANSIBLE_HASH_BEHAVIOUR override ansible.cfg",
        FLAG,
        "inventory",
    ),
    Argument(
        ("--vault-password-file", "--vault-id"),
        "a file with the password of vaults, or a program that prints it; may be repeated. What it opens is a secret",
        {"metavar": "[ID@]FILE", **_MANY},
        "inventory",
    ),
    Argument(
        ("--run-inventory",),
        "run this script or plugin among the sources, or take FILE as what it prints; may be repeated",
        {"metavar": "SOURCE[=FILE]", **_MANY},
        "inventory",
    ),
    Argument(("--lenient",), "skip broken files instead of failing; their variables are unknown", FLAG, "inventory"),
)
OF_FOLDER = tuple(
    one._replace(keywords={**one.keywords, "dest": "repo"}) if one.name == "folder" else one for one in INVENTORY
)
"""The arguments of INVENTORY for verbs, where --folder is stored as the folder of the question, "repo"."""
TASK = (
    Argument(
        ("--playbook",),
        "a playbook in which the host has a task; may be repeated",
        {"metavar": "FILE", **_MANY},
        "task",
    ),
    Argument(("--play",), "the number of the play, from 1", {"metavar": "N", "type": int}, "task"),
    Argument(("--role",), "the role that the task belongs to", {"metavar": "NAME"}, "task"),
    Argument(("--task",), "the task (default: the last one)", {"metavar": "NAME"}, "task"),
)


def inventory_of(arguments: Mapping[str, Any]) -> Inventory:
    """The inventory that the arguments name, read. Code runs only for the sources that --run-inventory names.

    raises: AnsibleError, also where no named source exists
    """
    with held_back(False):  # what is run was named, one by one
        return open_inventory(arguments)


def open_inventory(arguments: Mapping[str, Any]) -> Inventory:
    """The inventory that the arguments name. Its sources are read; code runs only by the caller's rule (`core.code`).

    Shell completion calls it without more, and then nothing may run. Settings of nodeattrs.toml files near the named
    places add sensitive paths.

    arguments: the values of the command's options
    raises:    AnsibleError, if no named source exists; UnknownLayer, if a source would have to run
    """
    folder = arguments["folder"] if "folder" in arguments else arguments["repo"]
    named = [*arguments["inventory"], folder, arguments["playbook_dir"], *arguments.get("playbook", ())]
    inventory = Inventory(
        *arguments["inventory"],
        folder=folder,
        playbook_dir=arguments["playbook_dir"],
        extra_vars=arguments["extra_vars"],
        environment=dict(os.environ) if arguments["environ"] else None,
        facts=arguments["facts"],
        lenient=arguments["lenient"],
        run_inventory=arguments["run_inventory"],
        vault_passwords=arguments["vault_password_file"],
        sensitive_paths=sensitive_beside(arguments.get("repo"), *named),
    )
    _require_sources(inventory, arguments["inventory"])
    return inventory


def _require_sources(inventory: Inventory, named: Iterable[str]) -> None:
    """raises: AnsibleError, where the inventory is empty and a named source does not exist"""
    if not any(one.kind == NOTHING_PARSED for one in inventory.warnings):
        return
    is_default = not named and inventory.config.inventory == AnsibleConfig().inventory
    absent = [one for one in named or inventory.config.inventory if not (inventory.folder / one).exists()]
    for source in () if is_default else absent:
        file = inventory.files.shown(inventory.folder / source)
        raise AnsibleError(NO_FILE, "this inventory is not there", file=file, hint="-i names a file, a folder, or a,b,")


def answer_of(arguments: Mapping[str, Any], inventory: Inventory, host: str) -> Variables:
    """The variables of a host in the inventory. With --playbook: in the task that --play, --role and --task name.

    If several tasks have that name, the first one counts. Without --task the last task outside of a `rescue` counts; if
    all tasks are in one, the last task.

    arguments: the values of the command's options: playbook, task, role, and the number of the play
    raises:    BadUsage, for --play, --role or --task without --playbook; AnsibleError, if the host does not exist or
               has no such task
    """
    if not arguments.get("playbook"):
        if any(arguments.get(word) for word in ("task", "role", "play")):
            raise BadUsage("--play, --role and --task need a --playbook")
        return inventory.host(host)
    inventory.require_host(host)
    playbook = Playbook(inventory, *arguments["playbook"])
    met = [
        task
        for task in playbook.tasks(host)
        if arguments["play"] in (None, task.context.play.number)
        and arguments["role"] in (None, task.context.role and task.context.role.name)
        and arguments["task"] in (None, task.name)
    ]
    if not met:
        names = first_of([*dict.fromkeys(task.name for task in playbook.tasks(host))], _NAMED) or "none"
        unknown = [one for one in unread(playbook.unknown(host)) if not one.paths]
        also = "".join(f"; {one.place}: {one.reason}" for one in unknown)
        raise AnsibleError(NO_HOST, f"{host} meets no such task", hint=f"it meets: {names}{also}")
    usual = [task for task in met if not task.context.is_rescue] or met
    return playbook.within(met[0] if arguments["task"] else usual[-1], host)
