"""One version of an inventory of Ansible; templates are not filled in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from nodeattrs.contract.answers import Answered, part_of
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.common import InRepository


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

    def answer(self, name: str) -> Answered:
        """Its variables."""
        return {"variable": part_of(self.with_set(self.inventory.host(name)))}
