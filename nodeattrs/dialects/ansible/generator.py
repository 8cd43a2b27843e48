"""Read a file of the inventory plugin `generator`: it defines a host for each combination of values, and its groups.

The templates of the file see only the values of its `layers`. Used by `sources`.

source: Ansible's documentation of the plugin, and answers of ansible-inventory
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.faults import INVENTORY, AnsibleError, error_at
from nodeattrs.dialects.ansible.files import Plan
from nodeattrs.dialects.ansible.groups import InventoryTree
from nodeattrs.dialects.ansible.levels import REPLACE, title
from nodeattrs.dialects.ansible.rendering import evaluate
from nodeattrs.formats.documents import Document

Join = Callable[[str], object]
"""A function that puts a host or a group into the group of a name."""
_PER_HOST = 100
"""Budget steps for each combination of values."""
_KINDS: dict[type, str] = {dict: "map", list: "list", str: "text"}


class GeneratorFile:
    """One file of the plugin `generator`, which adds hosts to an inventory tree. The constructor reads nothing. Call
    `read` once.

    document: the parsed file, a map of the plugin's options
    tree:     the hosts and groups of the sources before it; `read` changes the tree

    `read` raises AnsibleError or TooMuch. Hosts that it added before an error stay in the tree.
    """

    def __init__(self, document: Document, tree: InventoryTree) -> None:
        self.document, self.tree = document, tree
        self._values: dict[str, Any] = {}

    def read(self) -> None:
        """Add a host for each combination of values in `layers`, with its groups and their variables.

        The groups are those that the option `hosts` names as parents.
        raises: AnsibleError, also if a template cannot be evaluated; TooMuch. Hosts added before an error stay in the
                tree.
        """
        layers = self._of(self.document.tree.get("layers"), dict, ("layers",))
        values = [self._of(one, list, ("layers", name)) for name, one in layers.items()]
        hosts = self._of(self.document.tree.get("hosts"), dict, ("hosts",))
        budget = Budget(self.document.file)
        for combination in itertools.product(*values):
            budget.steps(_PER_HOST)
            self._values = dict(zip(layers, combination, strict=True))
            name = self._name(hosts, ("hosts",))
            self.tree.host(name, "ungrouped")
            self._join(hosts, ("hosts",), partial(self.tree.host, name))

    def _join(self, entry: dict[str, Any], at: Steps, join: Join) -> None:
        """Put a host or a group into its `parents`, and these into theirs. join: puts it into the group of a name"""
        for index, parent in enumerate(self._of(entry.get("parents") or [], list, (*at, "parents"))):
            here = (*at, "parents", index)
            line = self.document.place(here)[0]
            group = self.tree.group(self._name(parent, here), self.document.file, line)
            given = self._of(parent.get("vars") or {}, dict, (*here, "vars"))
            own = {key: self._filled(one, (*here, "vars", key)) for key, one in given.items()}
            self.tree.set_variables(
                group, own, self.document.locator("generator", group.name, (*here, "vars")), title(3)
            )
            join(group.name)
            self._join(parent, here, partial(self._nest, group.name))

    def _nest(self, child: str, parent: str) -> None:
        self.tree.nest(parent, child, self.document.file)

    def _name(self, entry: Any, at: Steps) -> str:
        name = self._of(entry, dict, at).get("name")
        return str(self._filled(self._of(name, str, (*at, "name")), (*at, "name")))

    def _filled(self, text: Any, at: Steps) -> Any:
        """A text with its templates evaluated; any other value unchanged. raises: AnsibleError"""
        if not isinstance(text, str):
            return text
        plan: list[Plan] = [Layer(self._values, Origin("generator"))]
        found = evaluate(text, Variables("", "the layers", lambda: plan, REPLACE, dict))
        if found is ABSENT:
            raise self._error(f"this template cannot be evaluated: {text!r}", at)
        return found

    def _of(self, value: Any, kind: type, at: Steps) -> Any:
        if isinstance(value, kind):
            return value
        raise self._error(f"{at[-1]} is a {_KINDS[kind]}", at)

    def _error(self, message: str, at: Steps) -> AnsibleError:
        return error_at(self.document, at, INVENTORY, message)
