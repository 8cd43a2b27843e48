"""Read files of variables, each once: which files belong to a name, and the layer of each file.

For a group or a host N the first of `N`, `N.yml`, `N.yaml`, `N.json` counts. The files of a folder are read in the
order of their names. An encrypted file gives an unknown layer: it may set any variable. With `lenient` a broken file
does so, too. The caller gives the level of the layers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nodeattrs import border
from nodeattrs.cache import CACHE
from nodeattrs.core.budget import Budget, in_force
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Fold, Layer
from nodeattrs.core.policy import Policy
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.ansible.faults import (
    BROKEN,
    DUPLICATE_KEY,
    NO_FILE,
    VAULT,
    WRONG_SHAPE,
    YAML,
    AnsibleError,
    Warn,
)
from nodeattrs.dialects.ansible.templates import GAP, fits_gaps, with_gaps
from nodeattrs.dialects.ansible.values import VAULT_HEADER, OpenedDocument, Vault, parsed
from nodeattrs.dialects.ansible.vault import Passwords, decrypted, sealed
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document, text_of
from nodeattrs.formats.places import Text

Plan = Layer | Fold
"""Layers that are merged as one."""
_PER_ENTRY = 100
"""Budget steps for each name in a folder: links can multiply folders."""


class VariableFiles:
    """Reads files and folders. It keeps each parsed document and each listing of a folder for the life of the object.

    `document` gives a parsed file; without *passwords*, None for an encrypted file. `text` gives the text of a file,
    and keeps nothing. Both raise AnsibleError for an absent file. `variables` gives the layer of a file; None for an
    empty one. `layers_of_files` and `layers_of_name` give lists of layers; [] for none. `names_in`, `files_in`,
    `all_files_below` and `paths_matching` list files; nothing for an absent folder. `shown` gives the name of a file
    for messages.

    folder:    the working folder; messages name files relative to it
    lenient:   True: a broken file of variables gives an unknown layer and a warning; False: it raises AnsibleError
    passwords: files of vault passwords, `FILE` or `ID@FILE`, which the constructor reads. Without any, encrypted files
               and values are not decrypted
    warn:      called for keys that are written twice, for broken files if *lenient*, and for values that no password
               decrypts
    """

    def __init__(self, folder: Path, warn: Warn, *, lenient: bool = False, passwords: Iterable[str] = ()) -> None:
        self.folder = folder
        self.passwords = Passwords(passwords, folder)
        self.lenient = lenient
        self._warn = warn
        self._documents: dict[Path, Document | AnsibleError | None] = {}
        self._listed: dict[Path, tuple[str, ...]] = {}

    def shown(self, path: Path) -> str:
        """The name of a file in messages: relative to the working folder, absolute for a file outside of it."""
        shown = os.path.relpath(path, self.folder)
        return path.as_posix() if shown.startswith("..") else Path(shown).as_posix()

    def text(self, path: Path) -> Text:
        """The text of a file, with its name for messages. Each call reads the file again.

        An encrypted file gives its encrypted text, also with *passwords*; `document` decrypts.
        raises: AnsibleError, if the file is not there, is not UTF-8, is too large, or cannot be read
        """
        name = self.shown(path)
        try:
            return Text(name, text_of(path, name))
        except DocumentError as error:
            is_there = not isinstance(error.__cause__, FileNotFoundError)
            raise AnsibleError(YAML if is_there else NO_FILE, error.reason, file=name, line=error.line) from error

    def document(self, path: Path) -> Document | None:
        """The parsed file, JSON or YAML. Without *passwords*, an encrypted file gives None, and encrypted values in a
        file stay encrypted.

        With *passwords*, both are decrypted. A value that no password decrypts stays encrypted, and *warn* is called.
        The result is kept. An error is kept, too: the same one is raised at each call.

        raises: AnsibleError, if the file is not there, cannot be read or is broken, or if no password decrypts an
                encrypted file; TooMuch
        """
        if path not in self._documents:
            try:
                self._documents[path] = self._read(path)
            except AnsibleError as error:
                self._documents[path] = error
        found = self._documents[path]
        if isinstance(found, AnsibleError):
            raise found
        return found

    def _read(self, path: Path) -> Document | None:
        text, kind = self.text(path), Document
        if text.text.startswith(VAULT_HEADER):
            if not self.passwords:
                return None
            text, kind = Text(text.file, self.passwords.opened(text.text, text.file, 1)), OpenedDocument
        key = ("Ansible", in_force(), text.file, text.text)
        document = parsed(text, kind) if self.passwords else CACHE.get(key, lambda: parsed(text, kind))
        if self.passwords and "!vault" in text.text:
            document.tree = decrypted(document.tree, self.passwords, partial(self._refused, text))
        for warning in document.warnings:
            self._warn(warning.kind or DUPLICATE_KEY, warning.reason, warning.file, warning.line)
        return document

    def _refused(self, text: Text, vault: Vault, error: AnsibleError) -> None:
        """Warn of a value that no password opens, with its line where it is found."""
        at = text.text.find(vault.text.split("\n")[1].strip()) if "\n" in vault.text else -1
        self._warn(VAULT, error.reason, text.file, text.place(at)[0] - 2 if at >= 0 else None)

    def names_in(self, folder: Path) -> tuple[str, ...]:
        """The names in a folder, sorted; () for an absent or empty folder. The result is kept.

        () also for a folder outside of the repository, to which `border` prevents access.
        raises: AnsibleError, if this user has no permission to read the folder
        """
        if folder not in self._listed:
            try:
                self._listed[folder] = tuple(sorted(os.listdir(folder)))
            except OSError as error:
                if isinstance(error, PermissionError) and not border.is_outside(folder):
                    raise AnsibleError(YAML, "this folder may not be read", file=self.shown(folder)) from None
                self._listed[folder] = ()
        return self._listed[folder]

    def variables(self, path: Path, kind: str, name: str, titled: str) -> Layer | None:
        """The layer of a file of variables; None for an empty file.

        The layer is unknown if the file lies outside of the border or is encrypted, and with `lenient` also if it is
        broken.

        path:   the file
        kind:   the kind of its origins, such as "group_vars"
        name:   the name in its origins, such as the name of the group
        titled: the title of the layer
        raises: AnsibleError, for a file that is not there, is broken, or is not a map; never with `lenient`
        """
        if border.is_layer_outside(path):
            return Layer.unknown(titled, Origin(kind, name, self.shown(path)), border.REASON)
        try:
            document = self.document(path)
            if document is not None and document.tree is not None and not isinstance(document.tree, dict):
                message = f"a file of variables is a map, and this is a {type(document.tree).__name__}"
                raise AnsibleError(WRONG_SHAPE, message, file=document.file, line=1)
        except AnsibleError as error:
            if not self.lenient:
                raise
            self._warn(BROKEN, error.reason, error.file, error.line)
            return Layer.unknown(titled, Origin(kind, name, error.file, error.line), f"it is broken: {error.reason}")
        if document is None:
            return Layer.unknown(titled, Origin(kind, name, self.shown(path), 1), "is encrypted")
        return (
            Layer(sealed_if_encrypted(document, document.tree), document.locator(kind, name), titled)
            if document.tree
            else None
        )

    def layers_of_files(self, paths: Iterable[Path], kind: str, name: str, titled: str) -> list[Layer]:
        """The layers of files, in their order, as `variables` returns them. An empty file has no layer.

        raises: AnsibleError, as `variables`
        """
        found = (self.variables(path, kind, name, titled) for path in paths)
        return [layer for layer in found if layer is not None]

    def layers_of_name(self, folder: Path, name: str, extensions: Sequence[str], kind: str, titled: str) -> list[Layer]:
        """The layers of the files of one host or group in a folder such as group_vars, the weakest first; [] without
        any.

        The first of *name* and of *name* with each extension counts. If that is a folder, all of its files count. A
        folder outside of the border is a single unknown layer.

        folder:       such as group_vars; it may be absent
        name:         the name of the host or group
        extensions:   endings of the files that count
        kind:         the kind of the origins, such as "group_vars"
        titled:       the title of the layers
        raises:       AnsibleError, for a file that is broken or not a map
        """
        if os.path.isdir(folder) and border.is_outside(folder):
            return self.layers_of_files([folder], kind, name, titled)
        for candidate in (name, *(name + extension for extension in extensions)):
            path = folder / candidate
            if ("/" not in name and candidate not in self.names_in(folder)) or not os.path.exists(path):
                continue  # a link may lead nowhere
            paths = self.files_in(path, extensions) if self._is_folder_inside(path) else iter((path,))
            return self.layers_of_files(paths, kind, name, titled)
        return []

    def _is_folder_inside(self, path: Path) -> bool:
        """Whether a path is a folder inside of the border, whose names may be listed."""
        return path.is_dir() and not border.is_layer_outside(path)

    def files_in(self, folder: Path, extensions: Sequence[str]) -> Iterator[Path]:
        """Yield the files of variables in a folder and below, in the order of names; hidden and backup files are
        skipped.

        A folder that a link leads back to is entered once. raises: AnsibleError; TooMuch, where links multiply folders
        """
        yield from self._walked(folder, extensions, frozenset(), Budget(self.shown(folder)))

    def _walked(self, folder: Path, extensions: Sequence[str], above: frozenset[str], budget: Budget) -> Iterator[Path]:
        for path, inside in self._entries(folder, above, budget):
            if path.name.startswith(".") or path.name.endswith("~"):
                continue
            if inside:
                yield from self._walked(path, extensions, inside, budget)
            elif (not path.suffix or path.suffix in extensions) and path.exists():
                yield path

    def all_files_below(self, folder: Path) -> Iterator[Path]:
        """Yield the files of a folder in the order of names, then the files of the folders in it. Nothing for an absent
        folder.

        If the folder lies outside of the border, the folder itself is yielded, since its files are not read.
        raises: AnsibleError; TooMuch, if links multiply folders
        """
        is_outside = folder.is_dir() and not self._is_folder_inside(folder)
        yield from [folder] if is_outside else self._below(folder, frozenset(), Budget(self.shown(folder)))

    def _below(self, folder: Path, above: frozenset[str], budget: Budget) -> Iterator[Path]:
        folders = []
        for path, inside in self._entries(folder, above, budget):
            if inside:
                folders.append((path, inside))
            else:
                yield path
        for path, inside in folders:
            yield from self._below(path, inside, budget)

    def _entries(self, folder: Path, above: frozenset[str], budget: Budget) -> Iterator[tuple[Path, frozenset[str]]]:
        """Yield each path in a folder, and for a folder the real paths above it; () for a file.

        A folder that a link leads back to is left out.
        """
        around = above | {os.path.realpath(folder)}
        for name in self.names_in(folder):
            budget.steps(_PER_ENTRY)
            path = folder / name
            if not self._is_folder_inside(path):
                yield path, frozenset()
            elif os.path.realpath(path) not in around:
                yield path, around

    def paths_matching(self, folder: Path, text: str) -> list[Path]:
        """The existing paths that a name with templates may mean, relative to *folder*; [] if no path fits.

        A template may be any part of one name between two slashes. A hidden name fits only if the dot is written. A
        name without templates gives its path, if that exists.

        raises: AnsibleError, for a template that cannot be understood, and for a folder that may not be read; TooMuch,
                if links multiply folders
        """
        named = with_gaps(text)
        if named is ABSENT:
            raise AnsibleError(YAML, f"which file {text} names is not known")
        found, budget = [folder], Budget(self.shown(folder))
        for step in Path(os.path.normpath(named)).parts:
            found = [path for one in found for path in self._named(one, step, budget)]
        return found

    def _named(self, folder: Path, step: str, budget: Budget) -> list[Path]:
        """The existing paths in a folder with a name, or with names that fit its gaps. raises: AnsibleError"""
        if GAP not in step:
            return [folder / step] if os.path.exists(folder / step) else []
        if border.is_layer_outside(folder):
            raise AnsibleError(YAML, border.REASON, file=self.shown(folder))
        listed = self.names_in(folder)
        budget.steps(_PER_ENTRY * len(listed))
        names = (name for name in listed if name.startswith(".") <= step.startswith("."))
        return [folder / name for name in names if fits_gaps(name, step)]


def sealed_if_encrypted(document: Document, tree: Any) -> Any:
    """A copy of *tree* in which each leaf is a secret, if the whole document was encrypted. Otherwise *tree* itself."""
    return sealed(tree) if isinstance(document, OpenedDocument) else tree


def as_one_fold(children: Sequence[Plan], policy: Policy) -> list[Plan]:
    """Plans as a list of at most one: several become one fold, a single one stays as it is, none gives []."""
    return [Fold(tuple(children), policy)] if len(children) > 1 else list(children)


def names_set_by(layers: Iterable[Layer]) -> frozenset[str] | None:
    """The names of the variables that layers set; None where an unknown layer may set any."""
    values = [layer.value for layer in layers]
    is_read = all(isinstance(value, dict) for value in values)
    return frozenset(str(name) for value in values for name in value) if is_read else None
