"""One version of an inventory of Ansible; templates are not filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath

from nodeattrs.contract.answers import Answered, part_of
from nodeattrs.core.budget import Budget
from nodeattrs.dialects.ansible.inventory import Inventory
from nodeattrs.dialects.ansible.references import PLAYED
from nodeattrs.dialects.common import InRepository
from nodeattrs.errors import NodeattrsError
from nodeattrs.formats.documents import parse_all, text_of

_OF_PLAYS = (".yml", ".yaml")
"""Endings of playbooks, and of the files of roles and variables."""

_OF_ROLES = frozenset(("defaults", "handlers", "meta", "playbooks", "roles", "tasks", "vars"))
"""Folders whose files plays and roles read, also by names that are filled in."""

_NAME = re.compile(r"[\w.-]+\.ya?ml\b")


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
        """Whether a play or a role may read a file, or whether its variables are for a group or host of the inventory.

        The inventory alone is asked, and no play.
        """
        path = PurePosixPath(self.side.named(file))
        if path.suffix not in _OF_PLAYS or any(step.startswith(".") for step in path.parts) or PLAYED & set(path.parts):
            return False
        for words, names in (("group_vars", self.inventory.groups), ("host_vars", self.inventory.hosts)):
            if words in path.parts[:-1]:
                named = path.parts[path.parts.index(words) + 1]
                return named in names or named.partition(".")[0] in names
        return file in self.side.files and (bool(_OF_ROLES.intersection(path.parts[:-1])) or self._may_be_read(file))

    def _may_be_read(self, file: str) -> bool:
        """Whether a file holds plays or tasks, or variables and a file of Ansible has its name; broken ones may."""
        try:
            text = text_of(self.side.top / file, file)
            trees = [one.tree for one in parse_all(text, file, "yaml", Budget(file), {})]
        except NodeattrsError:
            return True
        return not all(isinstance(tree, dict) for tree in trees) or PurePosixPath(file).name in self._names

    @cached_property
    def _names(self) -> set[str]:
        """The names of files that stand in any file which Ansible may read."""
        found: set[str] = set()
        for file in self.side.files:
            if file.endswith((*_OF_PLAYS, ".cfg")):
                with suppress(NodeattrsError):
                    found.update(_NAME.findall(text_of(self.side.top / file, file)))
        return found

    def answer(self, name: str) -> Answered:
        """Its variables."""
        return {"variable": part_of(self.with_set(self.inventory.host(name)))}
