"""Hosts of an inventory of Ansible, and the variables of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from nodeattrs.contract.dialect import Dialect, Looked, Opened, Option
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side


class Ansible(Dialect):
    """An inventory, with the variables beside it."""

    name = "ansible"
    noun = "host"
    option = Option("--inventory", "FILE", "of Ansible (default: that of ansible.cfg)")

    def open(self, side: Side, request: Request) -> Opened:
        """One version of the inventory."""
        from nodeattrs.dialects.ansible.opened import AnsibleHosts

        return AnsibleHosts(side, request)

    def check(self, folder: Path, count: Callable[[str], object]) -> Iterable[Looked]:
        """Playbooks, roles and variables; and the searches that make groups of saved nodes."""
        from nodeattrs.dialects.ansible.checking import looked

        return looked(folder, count)
