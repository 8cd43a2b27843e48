"""Where cookbooks lie: several folders, the first first, and each cookbook by its name.

The name is that of its folder, else the one that its metadata has: so `~/.berkshelf/cookbooks/ntp-3.5.0`,
`cookbook_artifacts/ntp-5a8d…` and a checkout `ntp-cookbook` are all the cookbook ntp. A repository may be one cookbook,
as those are that people publish. Of a cookbook it looks at name and version, and parses no Ruby.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, NoReturn

from nodeattrs.errors import BadArgument, DocumentError
from nodeattrs.runs.fields import known_or_near
from nodeattrs.runs.versions import Version
from nodeattrs.texts import documents

_USUAL = ("cookbooks", "site-cookbooks", "berks-cookbooks", "vendor/cookbooks", "cookbook_artifacts")
"""Where cookbooks are looked for unless somebody says otherwise: Chef's own, Berkshelf's, Librarian's, an export's."""

_METADATA = ("metadata.json", "metadata.rb", "metadata.yaml", "metadata.yml")
_PARTS = ("attributes", "recipes", "resources", "libraries", "providers")
"""Folders of which a cookbook has one; a module of Puppet has metadata, too."""

_FIELD = re.compile(r"""^[^\S\n]*(name|version)\b\s*[:(]?\s*(["'])([^"'\n]+)\2""", re.MULTILINE)


class Lock(NamedTuple):
    """Which of several cookbooks of one name is meant.

    identifier: what its folder's name may end in, instead of the version
    source:     where it lies if nowhere else, as seen from the repository
    """

    version: str
    identifier: str = ""
    source: str = ""


class _Declared(NamedTuple):
    """What a folder's metadata says of itself."""

    name: str
    version: str
    path: pathlib.Path

    def fits(self, lock: Lock | None) -> bool:
        if lock is None or self.version == lock.version:
            return True
        return bool(lock.identifier) and self.path.name.endswith(f"-{lock.identifier}")

    @property
    def age(self) -> Version:
        try:
            return Version.parse(self.version)
        except BadArgument:
            return Version(0, 0)


class CookbookPaths:
    """The folders with cookbooks of a repository.

    root:    of the repository
    folders: relative to it, absolute, or from the home (`~`); none: the usual ones
    """

    def __init__(self, root: pathlib.Path, folders: Sequence[str] = ()) -> None:
        self._root = root
        self._folders = [root / os.path.expanduser(folder) for folder in folders or _USUAL]
        self._is_usual = not folders

    def names(self) -> list[str]:
        """The names of all cookbooks; a folder `ntp-3.5.0` of the cookbook ntp is one of ntp."""
        named = {one.name if one.path.name.startswith(f"{one.name}-") else one.path.name for one in self._lying}
        return sorted(named | {one.name for one in self._own})

    def find(self, name: str, lock: Lock | None = None) -> pathlib.Path | None:
        """The folder of a cookbook: the repository, the first of that name; else by its metadata, the newest version.

        lock: only such a one
        """
        named = next((one.path for one in self._own if one.name == name), self._folders_named.get(name))
        if named is not None and (lock is None or _declared(named).fits(lock)):
            return named
        every = [*self._lying, *self._own, *self._of_source(lock)]
        found = [one for one in every if one.name == name and one.fits(lock)]
        return max(found, key=lambda one: one.age).path if found else None

    def hint(self, name: str) -> str:
        """What to do about a cookbook that is not there: where it lies, what was meant, or which are."""
        folder = self._unnamed.get(name)
        if folder is None:
            return known_or_near(name, self.names())
        return f"there is one in {folder}: name that folder in [chef] cookbook_paths"

    @cached_property
    def _unnamed(self) -> dict[str, str]:
        """Cookbook -> the folder of the repository in which it lies beside those where we look."""
        found: dict[str, str] = {}
        for folder in (one for one in entries(self._root) if os.path.isdir(one)):
            with contextlib.suppress(DocumentError):  # a folder that nobody may list
                found |= {path.name: folder.name for path in entries(folder) if _is_cookbook(path)}
        return found

    def _of_source(self, lock: Lock | None) -> Iterator[_Declared]:
        path = os.path.realpath(self._root / lock.source) if lock is not None and lock.source else ""
        if os.path.isdir(path) and pathlib.Path(path).is_relative_to(os.path.realpath(self._root)):
            yield _declared(self._root / os.path.relpath(path, os.path.realpath(self._root)))

    @cached_property
    def _folders_named(self) -> dict[str, pathlib.Path]:
        found: dict[str, pathlib.Path] = {}
        for path in (path for folder in self._folders for path in entries(folder)):
            if os.path.isdir(path) and not path.name.startswith("."):
                found.setdefault(path.name, path)
        if not found and self._is_usual:  # a repository of cookbooks alone, as for OpsWorks
            return {path.name: path for path in entries(self._root) if _is_cookbook(path)}
        return found

    @cached_property
    def _own(self) -> tuple[_Declared, ...]:
        """The repository itself, where it is a cookbook: what `berks vendor` leaves there may be a copy of it."""
        return (_declared(self._root.absolute()),) if _is_cookbook(self._root) else ()

    @cached_property
    def _lying(self) -> list[_Declared]:
        """cost: a look at each metadata, the first time"""
        return [_declared(path) for path in self._folders_named.values()]


def _is_cookbook(path: pathlib.Path) -> bool:
    return any((path / one).is_dir() for one in _PARTS) and any((path / one).is_file() for one in _METADATA)


def _declared(path: pathlib.Path) -> _Declared:
    fields: dict[str, str] = {}
    for file in _METADATA:
        if (path / file).is_file():
            with contextlib.suppress(DocumentError):  # whoever reads the cookbook says it
                fields = _fields(path / file)
            break
    return _Declared(fields.get("name") or path.name, fields.get("version") or "0.0.0", path)


def _fields(path: pathlib.Path) -> dict[str, str]:
    if path.suffix == ".json":
        tree = documents.read(path).tree
        found = tree.items() if isinstance(tree, dict) else ()
        return {key: value for key, value in found if isinstance(value, str)}
    return {one[1]: one[3] for one in _FIELD.finditer(documents.text_of(path, path.name))}


def entries(folder: pathlib.Path) -> list[pathlib.Path]:
    """What a folder holds, by name; nothing where there is none. raises: DocumentError"""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        _cannot_list(error)


def files_below(root: pathlib.Path) -> tuple[str, ...]:
    """Every file below a folder, seen from there, with forward slashes. raises: DocumentError"""
    return tuple(sorted(_walked(root)))


def _walked(root: pathlib.Path) -> Iterator[str]:
    # Links to directories are not followed: one may lead back.
    top = str(root)
    for folder, folders, names in os.walk(top, onerror=_cannot_list):
        folders[:] = [one for one in folders if one not in (".git", ".nodeattrs")]
        inside = folder[len(top) :].replace(os.sep, "/").lstrip("/")
        yield from (f"{inside}/{name}" if inside else name for name in names)


def _cannot_list(error: OSError) -> NoReturn:
    name = pathlib.Path(str(error.filename)).name
    raise DocumentError(f"cannot be listed: {error.strerror}", file=name) from error
