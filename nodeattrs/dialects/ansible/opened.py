"""One version of an inventory of Ansible; templates are not filled in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath

from nodeattrs.contract.answers import Answered, part_of
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.references import PLAYED
from nodeattrs.dialects.common import InRepository

_OF_PLAYS = (".yml", ".yaml")
"""Endings of playbooks, and of the files of roles and variables."""


class AnsibleHosts(InRepository):
    """Hosts of an inventory of Ansible, and the variables of each; templates are not filled in."""

    @cached_property
    def place(self) -> Path | None:
        """The inventory that somebody names; None leaves it to ansible.cfg."""
        return self.request.named(self.side, "ansible", None)

    @property
    def is_there(self) -> bool:
        """An inventory that somebody names, or an ansible.cfg."""
        return self.place.exists() if self.place is not None else (self.side.root / "ansible.cfg").is_file()

    @cached_property
    def inventory(self) -> Inventory:
        """The inventory. raises: NodeattrsError"""
        paths = self.repository.config.sensitive
        return Inventory(*filter(None, [self.place]), folder=self.side.root, sensitive_paths=paths)

    def subjects(self) -> Iterable[str]:
        """The hosts."""
        return list(self.inventory.hosts)

    def leaves_out(self, file: str) -> bool:
        """Whether a file belongs to plays or roles, or to a group or host that another folder's variables are for.

        The inventory alone is asked, and no play.
        """
        path = PurePosixPath(self.side.named(file))
        if path.suffix not in _OF_PLAYS or any(step.startswith(".") for step in path.parts) or PLAYED & set(path.parts):
            return False
        for words, names in (("group_vars", self.inventory.groups), ("host_vars", self.inventory.hosts)):
            if words in path.parts[:-1]:
                named = path.parts[path.parts.index(words) + 1]
                return named in names or named.partition(".")[0] in names
        return True

    def answer(self, name: str) -> Answered:
        """Its variables."""
        return {"variable": part_of(self.with_set(self.inventory.host(name)))}
