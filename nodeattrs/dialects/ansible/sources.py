"""Read the sources of an inventory, in their order, into one tree: files, folders and lists of hosts.

Each file is read as the first kind that fits. For a source that cannot be read there is a warning, and the others are
still read. A script or a plugin is run only where an option names it. Otherwise it is noted as not run, since it may
define any host, group and variable. The module knows no levels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.unknown import Unknown
from nodeattrs.dialects.ansible import ini, maps
from nodeattrs.dialects.ansible.config import AnsibleConfig
from nodeattrs.dialects.ansible.dynamic import DynamicSources
from nodeattrs.dialects.ansible.faults import INVENTORY, NOTHING_PARSED, UNPARSED, AnsibleError, Warn
from nodeattrs.dialects.ansible.files import VariableFiles
from nodeattrs.dialects.ansible.generator import GeneratorFile
from nodeattrs.dialects.ansible.groups import InventoryTree
from nodeattrs.dialects.ansible.values import VAULT_HEADER, unsafe
from nodeattrs.errors import DocumentError
from nodeattrs.formats import toml_text
from nodeattrs.formats.documents import Document
from nodeattrs.formats.patterns import expression

_HINT = "--run-inventory runs it"
_LISTS = ("host_list", "advanced_host_list")
_CONSTRUCTED, _GENERATOR = "constructed", "generator"
_Construct = Callable[[Document, list[Path]], None]
"""A function that reads a file of the plugin `constructed`, given the folders of the sources before it.

It raises `SourceNotRun` where the file needs Ansible.
"""


class SourceNotRun(Exception):
    """A source that would have to be run, as an exception and as an entry of `InventorySources.not_run`.

    unknown: the kind of the source, and the reason for messages
    origin:  the place: file and line
    """

    def __init__(self, unknown: Unknown, file: str, line: int | None = 1) -> None:
        super().__init__(unknown.reason)
        self.unknown, self.origin = unknown, Origin("inventory", unknown.name, file, line)


class InventorySources:
    """Reads the sources of one inventory. The constructor reads nothing; call `read` once.

    tree:      the tree to which the hosts and groups are added
    files:     reads the files
    config:    the settings of ansible.cfg
    warn:      called with each warning
    dynamic:   knows which sources may be run, and runs them
    construct: called with (parsed file, folders of the sources before it), reads a file of the plugin `constructed`
    places:    after `read`, the folders whose group_vars and host_vars count, in order
    not_run:   after `read`, the sources that were not run, as exceptions with the reason

    `read(sources)` takes the sources as texts. A source that cannot be read is a warning. `read` raises
    AnsibleError only if ansible.cfg makes that an error, or if --run-inventory names no source.
    """

    def __init__(
        self,
        tree: InventoryTree,
        files: VariableFiles,
        config: AnsibleConfig,
        warn: Warn,
        dynamic: DynamicSources,
        construct: _Construct,
    ) -> None:
        self.tree, self.files, self.config, self.warn, self.dynamic = tree, files, config, warn, dynamic
        self._construct = construct
        self.places: list[Path] = []
        self.not_run: list[SourceNotRun] = []
        self._read: list[str] = []

    def read(self, sources: tuple[str, ...]) -> None:
        """Read all sources in order, and complete the tree. If no source could be read, there is a warning.

        sources: files, folders, and lists of hosts such as "web1,web2". A text with a comma is a list unless such a
                 file exists
        raises:  AnsibleError of kind "unparsed": for a source that cannot be read, if ansible.cfg has
                 `any_unparsed_is_failed`, or if none can be read, with `unparsed_is_failed`. AnsibleError, if
                 --run-inventory names no source
        """
        for source in sources:
            path = self.files.folder / source
            if "," in source and not os.path.exists(path):
                self._host_list(source)  # beside it there are no files of variables
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
        """Whether a source that may be run is of a plugin that is evaluated here first."""
        if not path.is_file() or path.suffix not in (".config", ".yml", ".yaml") or self.dynamic.has_output(path):
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
        """The document of a file, None where it is encrypted, and the plugin that it configures, "" for none."""
        document = self.files.document(path)
        plugin = document.tree.get("plugin") if document and isinstance(document.tree, dict) else None
        return document, plugin if isinstance(plugin, str) else ""

    def _read_constructed(self, document: Document) -> bool:
        before = [Path(one).parent for one in self._read if os.path.exists(one)]
        self._construct(document, list(dict.fromkeys(before)))
        return True

    def _as_yaml(self, path: Path) -> bool:
        if path.suffix and path.suffix not in self.config.yaml_valid_extensions:
            return False
        document = self.files.document(path)
        if document is None:
            raise SourceNotRun(Unknown("vault", "is encrypted"), self.files.shown(path))
        maps.read(document, self.tree, self.warn)
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
        maps.read(document, self.tree, self.warn)
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
