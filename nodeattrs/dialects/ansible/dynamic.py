"""Read dynamic inventories: scripts and plugins, run only where an option names them, or files with their output.

The output is a map of groups with lists of hosts and children, and `_meta` with the variables of each host. Host names
are taken as they are, without ranges and ports. The module reads no files of variables.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nodeattrs import children
from nodeattrs.core.budget import in_force
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.tree import ABSENT
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.faults import INVENTORY, NO_FILE, AnsibleError
from nodeattrs.dialects.ansible.files import VariableFiles
from nodeattrs.dialects.ansible.groups import Group, Host, InventoryTree
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.values import Unsafe, Vault, as_json, parsed, with_leaves
from nodeattrs.errors import TooMuch
from nodeattrs.formats.places import Text

_KEYS = {"hosts": list, "vars": dict, "children": list}
_SECONDS = 600


class DynamicSources:
    """The dynamic sources that an option names: scripts and plugins that may run, or whose output is in a file.

    files: reads files of the working folder
    named: the values of the option. SOURCE: the source is run. SOURCE=FILE: FILE is read as the output of the source,
           and nothing is run. Both are relative to the working folder

    For each source of the inventory, `InventorySources` asks `may_run`. Then it calls `read`, which adds the hosts and
    groups to the tree, or `mark_read` if the source needed no run. After the last source, `require_all_read` raises
    AnsibleError if a name is not a source of the inventory. The constructor reads nothing.
    """

    def __init__(self, files: VariableFiles, named: Iterable[str]) -> None:
        self.files = files
        self._named: dict[Path, Path | None] = {}
        for one in named:
            source, equals, output = one.partition("=")
            self._named[files.folder / source] = files.folder / output if equals else None
        self._left = dict(self._named)

    def may_run(self, path: Path) -> bool:
        """Whether an option names the source, alone or with a file that has its output."""
        return path in self._named

    def has_output(self, path: Path) -> bool:
        """Whether an option names a file with the output of the source, so that nothing is run."""
        return self._named.get(path) is not None

    def mark_read(self, path: Path) -> None:
        """Note that a source was read without being run, so that `require_all_read` does not ask for it."""
        self._left.pop(path, None)

    def read(self, path: Path, tree: InventoryTree, before: list[str]) -> None:
        """Add the hosts and groups of a source to *tree*. The source is run, or its output is read from the given file.

        path:   a source for which `may_run` is true
        before: the sources before it, which a plugin gets as well
        raises: AnsibleError, if the program fails, if the output is not a map of groups, or if its file is encrypted;
                KeyError, for a source that no option names
        """
        self._left.pop(path, None)
        file = self._named[path]
        if file is None:
            found = self._run(path, before)
            output = _Output(tree, self.files.shown(path))
            output.read(found, lambda host: self._printed(path, [str(path), "--host", host]))
            return
        document = self.files.document(file)
        if document is None:
            raise AnsibleError(INVENTORY, "it is encrypted", file=self.files.shown(file))
        _Output(tree, document.file, document.locator).read(document.tree, None)

    def require_all_read(self) -> None:
        """Raise an error for the first named source that was neither read nor marked as read. Call it after the last
        source.

        raises: AnsibleError
        """
        for path in self._left:
            message = "this source is to be run, and is none of the inventory's"
            raise AnsibleError(NO_FILE, message, file=self.files.shown(path), hint="name it as -i does")

    def _run(self, path: Path, before: list[str]) -> Any:
        if path.suffix in (".yml", ".yaml") or not os.access(path, os.X_OK):
            program = shutil.which("ansible-inventory")
            if program is None:
                message = "a plugin reads this source, and there is no program ansible-inventory to run it"
                raise AnsibleError(INVENTORY, message, file=self.files.shown(path))
            sources = [word for source in (*before, str(path)) for word in ("-i", source)]
            return self._printed(path, [program, *sources, "--list", "--export"])
        return self._printed(path, [str(path), "--list"])

    def _wants_files(self, path: Path) -> bool:
        """Whether a plugin's file asks for the files of variables beside the sources before it."""
        document = self.files.document(path)
        return document is not None and isinstance(document.tree, dict) and bool(document.tree.get("use_vars_plugins"))

    def _printed(self, path: Path, words: list[str]) -> Any:
        name = self.files.shown(path)
        require_may_run(f"the inventory {name}")
        known = children.callers_environment()
        if words[0] != str(path) and not self._wants_files(path):
            known["ANSIBLE_VARS_ENABLED"] = ""
        most = in_force().bytes
        try:
            done = children.run(words, env=known, folder=self.files.folder, seconds=_SECONDS, most_bytes=most)
        except (OSError, TooMuch) as error:
            raise AnsibleError(INVENTORY, f"it cannot be run: {error}", file=name) from error
        if done.code:
            raise AnsibleError(INVENTORY, f"it was run, and ended with {done.code}", file=name)
        try:
            return parsed(Text(name, done.output.decode())).tree if done.output.strip() else {}
        except (AnsibleError, UnicodeDecodeError) as error:
            raise AnsibleError(INVENTORY, f"what it printed is no JSON: {error}", file=name) from error


class _Output:
    """Adds the printed map of one source to a tree.

    located: gives the locator for a part of the output, where the output is a file with lines; None: places have no
             line
    """

    def __init__(
        self, tree: InventoryTree, file: str, located: Callable[[str, str, Steps], Locator] | None = None
    ) -> None:
        self.tree, self.file, self._located = tree, file, located
        self.named: dict[str, None] = {}

    def read(self, found: Any, ask: Callable[[str], Any] | None) -> None:
        """Add the groups, then the variables of each host.

        ask: gives a host's variables, if the output has no `_meta`
        """
        meta = self._of(found, dict, "it").get("_meta")
        for name, body in found.items():
            if name != "_meta":
                self._group(str(name), body)
        known = {} if meta is None else self._of(self._of(meta, dict, "_meta").get("hostvars"), dict, "hostvars")
        for name in self.named:  # others of `_meta` do not count
            own = known.get(name, {}) if meta is not None or ask is None else ask(name)
            values = _decoded(self._of(own, dict, f"the variables of {name}"))
            self._note(self.tree.hosts[name], values, self._at(name, ("_meta", "hostvars", name)), title(8))

    def _group(self, name: str, body: Any) -> None:
        if not isinstance(body, dict):
            body = {"hosts": body}
        elif not _KEYS.keys() & body.keys():
            body = {"hosts": [name], "vars": body}
        group = self.tree.group(name, self.file)
        given = {key: self._of(body[key], kind, f"{name}.{key}") for key, kind in _KEYS.items() if key in body}
        for host in given.get("hosts", ()):
            self.tree.host(str(host), group.name)
            self.named[str(host)] = None
        if given.get("vars"):
            values = _decoded(given["vars"])
            self._note(group, values, self._at(f"vars of {group.name}", (name, "vars")), title(3))
        for child in given.get("children", ()):
            self.tree.nest(group.name, self.tree.group(str(child), self.file).name, self.file)

    def _note(self, of: Group | Host, values: dict[str, Any], locator: Locator, title: str) -> None:
        """Set variables; one that only repeats what an earlier source has set keeps its earlier origin."""
        known = {name: value for layer in of.layers for name, value in layer.value.items()}
        new = {name: one for name, one in values.items() if _printed(known.get(name, ABSENT)) != _printed(one)}
        self.tree.set_variables(of, new, locator, title)

    def _at(self, name: str, under: Steps) -> Locator:
        return (
            Origin("inventory", name, self.file) if self._located is None else self._located("inventory", name, under)
        )

    def _of(self, value: Any, kind: type, what: str) -> Any:
        if isinstance(value, kind):
            return value
        raise AnsibleError(INVENTORY, f"{what} is not a {'map' if kind is dict else 'list'}", file=self.file)


def _printed(value: Any) -> str:
    """A value as text, to compare values: equal where ansible-inventory prints the same; "" for ABSENT."""
    return "" if value is ABSENT else json.dumps(as_json(value), sort_keys=True)


def _decoded(value: Any) -> Any:
    """A value in which Ansible's markers for vaults and unsafe texts are replaced by `Vault` and `Unsafe`."""
    return with_leaves(value, lambda one: one, marked=_marked)


def _marked(value: dict[Any, Any]) -> Any:
    (key, text), *more = value.items() or [(None, None)]
    if key == "__ansible_vault" and not more:
        return Vault(str(text))
    return Unsafe(text) if key == "__ansible_unsafe" and not more and isinstance(text, str) else ABSENT
