"""Read the sources of an inventory, in their order, into one tree: files, folders and lists of hosts.

Each file is read as the first kind that fits: `ini`, or a map in YAML, JSON or TOML, or `plugins`. For a source that
cannot be read there is a warning, and the others are still read. A script or a plugin is run only where an option names
it. Otherwise it is noted as not run, since it may define any host, group and variable. The module reads no files of
variables.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs import children
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.code import require_may_run
from nodeattrs.core.tree import ABSENT, NO_ENTRIES
from nodeattrs.core.tree import Path as Steps
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible import ini
from nodeattrs.dialects.ansible.answers import Variables
from nodeattrs.dialects.ansible.config import AnsibleConfig
from nodeattrs.dialects.ansible.faults import (
    INVENTORY,
    NO_FILE,
    NOTHING_PARSED,
    SKIPPED,
    UNPARSED,
    AnsibleError,
    Warn,
    error_at,
)
from nodeattrs.dialects.ansible.files import VariableFiles, sealed_if_encrypted
from nodeattrs.dialects.ansible.groups import Group, Host, InventoryTree
from nodeattrs.dialects.ansible.ini import hosts_of
from nodeattrs.dialects.ansible.levels import title
from nodeattrs.dialects.ansible.plugins import ConstructedFile, GeneratorFile, SourceNotRun
from nodeattrs.dialects.ansible.values import VAULT_HEADER, Unsafe, Vault, as_json, parsed, unsafe, with_leaves
from nodeattrs.errors import DocumentError, MissingExtra, TooMuch
from nodeattrs.formats import toml_text
from nodeattrs.formats.documents import Document
from nodeattrs.formats.patterns import expression
from nodeattrs.formats.places import Text

_HINT = "--run-inventory runs it"
_LISTS = ("host_list", "advanced_host_list")
_CONSTRUCTED, _GENERATOR = "constructed", "generator"
_SoFar = Callable[[dict[Any, Any], list[Path], Host, bool], Variables]
"""A function that returns the variables of a host so far, for a file of the plugin `constructed`.

Its arguments: the options of that file, the folders of the sources before it, the host, and True if extra variables
count.
"""


class InventorySources:
    """Reads the sources of one inventory. The constructor reads nothing; call `read` once.

    tree:      the tree to which the hosts and groups are added
    files:     reads the files
    config:    the settings of ansible.cfg
    warn:      called with each warning
    dynamic:   knows which sources may be run, and runs them
    so_far:    gives the variables of a host so far, for files of the plugin `constructed`
    places:    after `read`, the folders whose group_vars and host_vars count, in order
    not_run:   after `read`, the sources that were not run, as exceptions with the reason

    `read(sources)` takes the sources as texts. A source that cannot be read is a warning. `read` raises AnsibleError
    if ansible.cfg makes that an error, or if --run-inventory names something that is no source.
    """

    def __init__(
        self,
        tree: InventoryTree,
        files: VariableFiles,
        config: AnsibleConfig,
        warn: Warn,
        dynamic: DynamicSources,
        so_far: _SoFar,
    ) -> None:
        self.tree, self.files, self.config, self.warn, self.dynamic = tree, files, config, warn, dynamic
        self._so_far = so_far
        self.places: list[Path] = []
        self.not_run: list[SourceNotRun] = []
        self._read: list[str] = []

    def read(self, sources: tuple[str, ...]) -> None:
        """Read all sources in order, and complete the tree. If no source could be read, there is a warning.

        sources: files, folders, and lists of hosts such as "web1,web2". A text with a comma is a list if no file has
                 that name
        raises:  AnsibleError of kind "unparsed", as ansible.cfg says: with `any_unparsed_is_failed` for a source that
                 cannot be read, with `unparsed_is_failed` if none can be read. AnsibleError, if --run-inventory names
                 something that is no source
        """
        for source in sources:
            path = self.files.folder / source
            if "," in source and not os.path.exists(path):
                self._host_list(source)  # a list has no folder with files of variables
            else:
                folder = path if os.path.isdir(path) else path.parent
                if self.places[-1:] != [folder]:
                    self.places.append(folder)
                self._path(path)
        self.dynamic.require_all_read()
        if self._read:
            self.tree.reconcile()
            return
        self.warn(NOTHING_PARSED, "no source could be read; only the implicit localhost is there", None, None)
        if self.config.unparsed_is_failed:
            raise AnsibleError(UNPARSED, "no source of the inventory could be read")

    def _host_list(self, source: str) -> None:
        self.tree.source = source
        kinds = [kind for kind in map(_plain, self.config.enable_plugins) if kind in _LISTS]
        hosts_of = ini.hosts_of if kinds[:1] == ["advanced_host_list"] else _host
        for word in filter(None, (part.strip() for part in source.split(","))):
            names, port = hosts_of(word)
            for name in names:
                own = self.tree.port_of(name, port)
                self.tree.set_variables(
                    self.tree.host(name, "ungrouped"), own, Origin("inventory", word), "a list of hosts"
                )
        self._read.append(source)

    def _path(self, path: Path) -> bool:
        if os.path.isdir(path):
            read = [self._path(one) for one in self._entries(path)]
            if not read:
                self._unparsed(path, "there is nothing to read in this folder")
            return any(read)
        return self._file(path)

    def _entries(self, folder: Path) -> Iterator[Path]:
        for name in self.files.names_in(folder):
            hidden = name.startswith(".") or name in ("group_vars", "host_vars")
            ignored = name.endswith(self.config.inventory_ignore_extensions)
            if hidden or ignored or any(expression(one).search(name) for one in self.config.inventory_ignore_patterns):
                continue
            yield folder / name

    def _file(self, path: Path) -> bool:
        """Read a file as the first kind that fits, and note why none did. Returns whether it was read."""
        self.tree.source = str(path)
        reasons: list[AnsibleError] = []
        if self.dynamic.may_run(path) and not self._is_evaluated(path):
            return self._run(path)
        for kind in self.config.enable_plugins:
            plain = _plain(kind)
            read = getattr(self, f"_as_{plain}", self._as_auto)  # any other plugin reads files that name a plugin
            try:
                if plain not in _LISTS and read(path):
                    self.dynamic.mark_read(path)
                    self._read.append(str(path))
                    return True
            except AnsibleError as error:
                reasons.append(error)
            except SourceNotRun as found:
                if self.dynamic.may_run(path):
                    return self._run(path)
                self.not_run.append(found)
                self._unparsed(path, found.unknown.reason)
                return False
        self._unparsed(path, "; ".join(dict.fromkeys(map(_reason, reasons))) or "no kind of inventory fits", reasons)
        return False

    def _is_evaluated(self, path: Path) -> bool:
        """Whether a source configures a plugin that is evaluated here. Such a source is only run if that fails."""
        is_configuration = path.is_file() and path.suffix in (".config", ".yml", ".yaml")
        if not is_configuration or self.dynamic.has_output(path):
            return False
        return _plain(self._configured(path)[1]) in (_CONSTRUCTED, _GENERATOR)

    def _run(self, path: Path) -> bool:
        try:
            self.dynamic.read(path, self.tree, self._read)
        except AnsibleError as error:
            self.not_run.append(SourceNotRun(Unknown("source", error.reason), self.files.shown(path)))
            self._unparsed(path, error.reason, [error])
            return False
        self._read.append(str(path))
        return True

    def _unparsed(self, path: Path, reason: str, reasons: list[AnsibleError] | None = None) -> None:
        lines = [error.line for error in reasons or () if error.line is not None]
        self.warn(UNPARSED, f"no inventory: {reason}", self.files.shown(path), lines[-1] if lines else None)
        if self.config.any_unparsed_is_failed:
            raise AnsibleError(UNPARSED, f"no inventory: {reason}", file=self.files.shown(path))

    # --- the kinds, in the order in which they are tried

    def _as_script(self, path: Path) -> bool:
        if path.is_file() and os.access(path, os.X_OK) and self.files.text(path).text.startswith("#!"):
            raise SourceNotRun(Unknown("script", f"is a script, which was not run; {_HINT}"), self.files.shown(path))
        return False

    def _as_auto(self, path: Path) -> bool:
        if path.suffix not in (".yml", ".yaml") or not path.is_file():
            return False
        document, plugin = self._configured(path)
        if document is not None and _plain(plugin) == _CONSTRUCTED:
            return self._read_constructed(document)
        if document is not None and _plain(plugin) == _GENERATOR:
            GeneratorFile(document, self.tree).read()
            return True
        if plugin:
            reason = f"is of the plugin {plugin}, which was not run; {_HINT}"
            raise SourceNotRun(Unknown(plugin, reason), self.files.shown(path))
        return False

    def _as_constructed(self, path: Path) -> bool:
        if path.suffix not in ("", ".config", *self.config.yaml_valid_extensions) or not path.is_file():
            return False
        document, plugin = self._configured(path)
        return document is not None and _plain(plugin) == _CONSTRUCTED and self._read_constructed(document)

    def _configured(self, path: Path) -> tuple[Document | None, str]:
        """(Document of a file, plugin that it configures). The document of an encrypted file is None; "" for no
        plugin.
        """
        document = self.files.document(path)
        plugin = document.tree.get("plugin") if document and isinstance(document.tree, dict) else None
        return document, plugin if isinstance(plugin, str) else ""

    def _read_constructed(self, document: Document) -> bool:
        before = [Path(one).parent for one in self._read if os.path.exists(one)]
        so_far = partial(self._so_far, document.tree, list(dict.fromkeys(before)))
        try:
            ConstructedFile(document, self.tree, so_far).read()
        except (MissingExtra, TooMuch) as error:
            raise SourceNotRun(Unknown("constructed", str(error.message)), document.file) from error
        return True

    def _as_yaml(self, path: Path) -> bool:
        extensions = self.config.yaml_inventory_extensions or self.config.yaml_valid_extensions
        if path.suffix and path.suffix not in extensions:
            return False
        document = self.files.document(path)
        if document is None:
            raise SourceNotRun(Unknown("vault", "is encrypted"), self.files.shown(path))
        _read_map(document, self.tree, self.warn)
        return True

    def _as_ini(self, path: Path) -> bool:
        if path.suffix == ".toml":
            return False
        text = self.files.text(path)
        if text.text.startswith(VAULT_HEADER):
            raise AnsibleError(INVENTORY, "an encrypted inventory is read where it is YAML", file=text.file, line=1)
        ini.read(text, self.tree)
        return True

    def _as_toml(self, path: Path) -> bool:
        if path.suffix != ".toml":
            return False
        text = self.files.text(path)
        try:
            document = Document(text, toml_text.read(text, Budget(text.file)))
        except DocumentError as error:
            raise AnsibleError(INVENTORY, error.reason, file=text.file, line=error.line) from error
        document.tree = unsafe(document.tree)  # none of its texts is a template
        _read_map(document, self.tree, self.warn)
        return True


def _plain(kind: str) -> str:
    return kind.removeprefix("ansible.builtin.")


def _host(word: str) -> tuple[list[str], int | None]:
    """The host that a word in a list means, as a list of one, and its port; None without one."""
    found = re.fullmatch(r"(.*):(\d+)", word)
    is_port = found is not None and (word.count(":") == 1 or found[1].endswith("]"))
    return ([found[1].strip("[]")], ini.port_in(found[2])) if found and is_port else ([word], None)


def _reason(error: AnsibleError) -> str:
    return error.reason if error.line is None else f"line {error.line}: {error.reason}"


_SECTIONS = ("hosts", "vars", "children")


def _read_map(document: Document, tree: InventoryTree, warn: Warn) -> None:
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
        _YamlGroups(document, tree, warn).group(name, body, (name,))


class _YamlGroups:
    """Adds the groups of one document to a tree."""

    def __init__(self, document: Document, tree: InventoryTree, warn: Warn) -> None:
        self.document, self.tree, self.warn = document, tree, warn

    def group(self, name: Any, body: Any, path: Steps) -> str | None:
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

    def _section(self, value: Any, path: Steps) -> dict[Any, Any]:
        if isinstance(value, str):
            return {value: None}
        if path[-1] == "children" and self.document.file.endswith(".toml") and isinstance(value, list):
            return dict.fromkeys(map(str, value))
        if not isinstance(value, dict):
            raise error_at(self.document, path, INVENTORY, f"{path[-1]} of a group is a map")
        return value

    def _vars(self, group: str, values: dict[Any, Any], path: Steps) -> None:
        locator = self.document.locator("inventory", f"vars of {group}", path)
        self.tree.set_variables(self.tree.groups[group], sealed_if_encrypted(self.document, values), locator, title(3))

    def _children(self, group: str, children: dict[Any, Any], path: Steps) -> None:
        for name, body in children.items():
            child = self.group(name, body, (*path, name))
            if child is not None:
                self.tree.nest(group, child, self.document.file, self.document.place((*path, name))[0])

    def _hosts(self, group: str, hosts: dict[Any, Any], path: Steps) -> None:
        for name, body in hosts.items():
            here = (*path, name)
            if body and not isinstance(body, dict):
                raise error_at(self.document, here, INVENTORY, f"the host {name!r} is not a map of variables")
            names, port = hosts_of(self._name(name, here), self.document.file)
            locator = self.document.locator("inventory", str(name), here)
            for one in names:
                values = {**self.tree.port_of(one, port), **sealed_if_encrypted(self.document, body or {})}
                self.tree.set_variables(self.tree.host(one, group), values, locator, title(8))

    def _name(self, name: Any, path: Steps) -> str:
        if not isinstance(name, str):
            raise error_at(self.document, path, INVENTORY, f"the name {name!r} is not text")
        return name

    def _skip(self, message: str, path: Steps) -> None:
        line, _ = self.document.place(path)
        self.warn(SKIPPED, message, self.document.file, line)


_KEYS = {"hosts": list, "vars": dict, "children": list}
_SECONDS = 600


class DynamicSources:
    """The dynamic sources that an option names. A dynamic source is a script or plugin; it is run, or a file has its
    output.

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
        if path.suffix not in (".yml", ".yaml") and os.access(path, os.X_OK):
            return self._printed(path, [str(path), "--list"])
        program = shutil.which("ansible-inventory")
        if program is None:
            message = "a plugin reads this source, and there is no program ansible-inventory to run it"
            raise AnsibleError(INVENTORY, message, file=self.files.shown(path))
        sources = [word for source in (*before, str(path)) for word in ("-i", source)]
        document = self.files.document(path)
        options = document.tree if document is not None and isinstance(document.tree, dict) else {}
        more = {} if options.get("use_vars_plugins") else {"ANSIBLE_VARS_ENABLED": ""}
        return self._printed(path, [program, *sources, "--list", "--export"], more)

    def _printed(self, path: Path, words: list[str], more: Mapping[str, str] = NO_ENTRIES) -> Any:
        name = self.files.shown(path)
        require_may_run(f"the inventory {name}")
        known = {**children.callers_environment(), **more}
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
        for name in self.named:  # hosts that only `_meta` has do not count
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
    """A value as text, to compare values as ansible-inventory prints them; "" for ABSENT."""
    return "" if value is ABSENT else json.dumps(as_json(value), sort_keys=True)


def _decoded(value: Any) -> Any:
    """A value in which Ansible's markers for vaults and unsafe texts are replaced by `Vault` and `Unsafe`."""
    return with_leaves(value, lambda one: one, marked=_marked)


def _marked(value: dict[Any, Any]) -> Any:
    (key, text), *more = value.items() or [(None, None)]
    if key == "__ansible_vault" and not more:
        return Vault(str(text))
    return Unsafe(text) if key == "__ansible_unsafe" and not more and isinstance(text, str) else ABSENT
