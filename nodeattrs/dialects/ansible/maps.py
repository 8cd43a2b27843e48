"""Read inventories that are maps, from YAML, JSON or TOML. A group is null, or a map of `hosts`, `vars`, `children`.

The functions get parsed documents, so they know no notation.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.core.tree import Path
from nodeattrs.dialects.ansible.faults import INVENTORY, SKIPPED, Warn, error_at
from nodeattrs.dialects.ansible.files import sealed_if_encrypted
from nodeattrs.dialects.ansible.groups import InventoryTree
from nodeattrs.dialects.ansible.ini import hosts_of
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.formats.documents import Document

_SECTIONS = ("hosts", "vars", "children")


def read(document: Document, tree: InventoryTree, warn: Warn) -> None:
    """Add the groups and hosts of a document to *tree*. The keys of the document are groups.

    A group whose value is not a map, and an unknown key, are skipped with a warning.

    raises: AnsibleError, with file and line, for any other wrong value, for an empty document, and for the
            configuration of a plugin. Entries above the error stay in the tree.
    """
    found = document.tree
    if not isinstance(found, dict) or not found:
        raise error_at(document, (), INVENTORY, "an inventory in YAML is a map of groups")
    if "plugin" in found:
        raise error_at(document, ("plugin",), INVENTORY, "this configures a plugin, and is no inventory")
    for name, body in found.items():
        _Maps(document, tree, warn).group(name, body, (name,))


class _Maps:
    """Adds the groups of one document to a tree."""

    def __init__(self, document: Document, tree: InventoryTree, warn: Warn) -> None:
        self.document, self.tree, self.warn = document, tree, warn

    def group(self, name: Any, body: Any, path: Path) -> str | None:
        """Add a group and all groups below it; returns its name, None where it is skipped."""
        if not isinstance(body, (dict, type(None))):
            self._skip(f"the group {name!r} is not a map", path)
            return None
        name = self._name(name, path)
        group = self.tree.group(name, self.document.file)
        given = body or {}
        sections = {key: self._section(given[key], (*path, key)) for key in _SECTIONS if given.get(key) is not None}
        for key in given:
            if key in sections:
                getattr(self, f"_{key}")(group.name, sections[key], (*path, key))
            elif key not in _SECTIONS:
                self._skip(f"the group {name!r} has no {key!r}", (*path, key))
        return group.name

    def _section(self, value: Any, path: Path) -> dict[Any, Any]:
        if isinstance(value, str):
            return {value: None}
        if path[-1] == "children" and self.document.file.endswith(".toml") and isinstance(value, list):
            return dict.fromkeys(map(str, value))
        if not isinstance(value, dict):
            raise error_at(self.document, path, INVENTORY, f"{path[-1]} of a group is a map")
        return value

    def _vars(self, group: str, values: dict[Any, Any], path: Path) -> None:
        locator = self.document.locator("inventory", f"vars of {group}", path)
        self.tree.set_variables(self.tree.groups[group], sealed_if_encrypted(self.document, values), locator, title(3))

    def _children(self, group: str, children: dict[Any, Any], path: Path) -> None:
        for name, body in children.items():
            child = self.group(name, body, (*path, name))
            if child is not None:
                self.tree.nest(group, child, self.document.file, self.document.place((*path, name))[0])

    def _hosts(self, group: str, hosts: dict[Any, Any], path: Path) -> None:
        for name, body in hosts.items():
            here = (*path, name)
            if body and not isinstance(body, dict):
                raise error_at(self.document, here, INVENTORY, f"the host {name!r} is not a map of variables")
            names, port = hosts_of(self._name(name, here), self.document.file)
            locator = self.document.locator("inventory", str(name), here)
            for one in names:
                values = {**self.tree.port_of(one, port), **sealed_if_encrypted(self.document, body or {})}
                self.tree.set_variables(self.tree.host(one, group), values, locator, title(8))

    def _name(self, name: Any, path: Path) -> str:
        if not isinstance(name, str):
            raise error_at(self.document, path, INVENTORY, f"the name {name!r} is not text")
        return name

    def _skip(self, message: str, path: Path) -> None:
        line, _ = self.document.place(path)
        self.warn(SKIPPED, message, self.document.file, line)
