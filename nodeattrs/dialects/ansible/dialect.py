"""The dialect `ansible`: hosts of an inventory are the subjects, and variables are their keys.

The modules that read inventories are imported at the first question.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodeattrs.contract.command import Command
from nodeattrs.contract.dialect import CheckedFiles, Dialect, FirstSteps, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.errors import NodeattrsError

_OF_INVENTORIES = ("", ".ini", ".yml", ".yaml")
_VARIABLE = re.compile(r"^([A-Za-z_]\w*):", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+")


def _role_variables(folder: Path) -> Iterator[str]:
    """Yield the first variable of the defaults of each role that a playbook names; unreadable files are skipped."""
    from nodeattrs.formats.documents import text_of

    words: set[str] = set()
    for file in (*folder.glob("*.y*ml"), *folder.glob("playbooks/*.y*ml")):
        with suppress(NodeattrsError):
            words.update(_NAME.findall(text_of(file, file.name)))
    for file in sorted(folder.glob("roles/*/defaults/main.y*ml")):
        if file.parts[-3] not in words:
            continue
        with suppress(NodeattrsError):
            found = _VARIABLE.search(text_of(file, file.name))
            if found is not None:
                yield found[1]


class Ansible(Dialect):
    """The dialect `ansible`: its names, option and examples for help, and the questions that the commands ask every
    dialect.

    `open` gives the hosts of the inventories in one version of the files. `check` yields the findings in a folder.
    `first_steps` gives commands to try in a folder. The class has no state; inventories are read by what `open`
    returns.
    """

    name = "ansible"
    noun = "host"
    option = Option("--inventory", "SOURCE", "of Ansible; repeatable (default: of ansible.cfg)")
    command = "ansible"
    project = ("ansible.cfg", "group_vars", "host_vars", "roles")
    summary = "name the line that set a variable of an Ansible host"
    description = (
        "Read inventories, group_vars, host_vars, playbooks and roles of Ansible as they are, without running "
        "anything: what a\nhost has, the precedence level (of 22) that set each value, and why the others lost. "
        "docs/ansible.md says what\nis read, and what cannot be known."
    )
    examples = (
        "ansible explain web1 http_port -i inventory",
        "ansible explain web1 http_port -i inventory --playbook site.yml --task restart",
        "ansible who-has http_port -i inventory",
        "ansible list -i inventory",
        "ansible inventory --list",
    )

    def open(self, side: Side, request: Request) -> Opened:
        """The inventory and the variables beside it, for one version of the files.

        Nothing is read before the first question.
        """
        from nodeattrs.dialects.ansible.opened import AnsibleHosts

        return AnsibleHosts(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[CheckedFiles]:
        """Yield the findings in playbooks, roles and variables, and in searches of [ansible.groups]."""
        from nodeattrs.dialects.ansible.checking import findings_of

        return findings_of(folder, count)

    def first_steps(self, folder: Path) -> FirstSteps | None:
        """Commands to try in a folder with ansible.cfg, a role, playbooks/ or site.yml; None for any other folder.

        A role is a folder in roles/ with a main file; Chef's roles are files. The commands use the first file with
        "inventory" or "hosts" in its name, or else the list "localhost,". The first command is about a variable of a
        role, if a role has one.
        """
        places = ("ansible.cfg", "playbooks", "site.yml", "roles/*/*/main*")
        if not any(any(folder.glob(place)) for place in places):
            return None
        found = [one for name in ("*inventory*", "*hosts*") for one in sorted(folder.glob(name)) if one.is_file()]
        files = [one.name for one in found if one.suffix in _OF_INVENTORIES]
        source = shlex.quote(files[0]) if files else "localhost,"
        variable = next(_role_variables(folder), None)
        of_role = [] if variable is None else [f"nodeattrs where --key {variable} -i {source}"]
        commands = [*of_role, f"nodeattrs blame --dialect ansible -i {source}", f"nodeattrs ansible list -i {source}"]
        return FirstSteps("playbooks or roles of Ansible, and no inventory at a usual place", commands)

    def commands(self) -> Mapping[str, Command]:
        """The commands of the dialect beside the verbs, by name."""
        from nodeattrs.dialects.ansible.commands import COMMANDS

        return COMMANDS

    def complete(self, noun: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """Names for shell completion: hosts for the noun "HOST", variables for "VAR"; () for any other noun."""
        from nodeattrs.dialects.ansible.commands import known_names

        return known_names(noun, arguments) if noun in ("HOST", "VAR") else ()
