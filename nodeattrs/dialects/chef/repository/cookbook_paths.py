"""Find the folder of a cookbook by its name, and list folders of cookbooks.

A cookbook's name is the name of its folder, else the name in its metadata. So `~/.berkshelf/cookbooks/ntp-3.5.0`,
`cookbook_artifacts/ntp-5a8d…` and a checkout `ntp-cookbook` are all the cookbook ntp. A repository may also be one
cookbook, as people publish them. Only name and version of the metadata are read, and no Ruby is parsed for them.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, NoReturn

from nodeattrs.errors import (
    BadArgument,
    DocumentError,
    MissingExtra,
)
from nodeattrs.formats import documents
from nodeattrs.formats.places import Text
from nodeattrs.formats.ruby_text import Ruby
from nodeattrs.project.fields import known_or_near
from nodeattrs.project.versions import Constraint, Version

_VENDOR = "vendor"
_USUAL = (
    *("cookbooks", "site-cookbooks", "berks-cookbooks", "vendor/cookbooks", "vendor_cookbooks", _VENDOR),
    "cookbook_artifacts",
)
"""Where cookbooks are looked for by default: Chef's own, Berkshelf's, Librarian's, an export's."""

_OF_TESTS = ("test/cookbooks", "test/fixtures/cookbooks", "spec/cookbooks", "spec/fixtures/cookbooks")
"""Where the repository of one cookbook keeps further cookbooks for its tests."""

_SOURCES = ("Berksfile", "Cheffile", "Policyfile.rb")
"""Files at the root that name folders of cookbooks, as in `cookbook 'app', path: 'mine/app'`."""

_METADATA = ("metadata.json", "metadata.rb", "metadata.yaml", "metadata.yml")
_PARTS = ("attributes", "recipes", "resources", "libraries", "providers")
"""A cookbook has at least one of these folders. A module of Puppet has metadata, too, but none of them."""

_FIELD = re.compile(r"""^[^\S\n]*(name|version)\b[\s:(]{0,40}(["'])([^"'\n]+)\2""", re.MULTILINE)


class Lock(NamedTuple):
    """The locked version of a cookbook; "" for any.

    identifier: the end of its folder's name, in place of the version; "" for none
    source:     its folder, relative to the repository, where it is in no other; "" for none
    """

    version: str
    identifier: str = ""
    source: str = ""


class _CookbookMetadata(NamedTuple):
    """What a folder's metadata says of itself."""

    name: str
    version: str
    path: pathlib.Path

    def fits(self, lock: Lock | None) -> bool:
        """Whether the folder has the locked version, or a name that ends in the locked identifier; True for None."""
        if lock is None or lock.version in ("", self.version):
            return True
        return bool(lock.identifier) and self.path.name.endswith(f"-{lock.identifier}")

    def meets(self, constraints: Iterable[str]) -> bool:
        """Whether the version meets all constraints; True for none."""
        return all(Constraint.parse(one).allows(self.parsed_version) for one in constraints)

    @property
    def parsed_version(self) -> Version:
        """The version, to compare; 0.0 where it cannot be parsed."""
        try:
            return Version.parse(self.version)
        except BadArgument:
            return Version(0, 0)


class CookbookPaths:
    """Finds the folders of a repository's cookbooks.

    `find` gives the folder of a cookbook, or None. `names` lists the cookbooks. `hint` gives a sentence for an error
    about a missing cookbook. The folders are listed at the first call of a method, and then kept: later changes are not
    seen.

    root:    the folder of the repository; it may itself be a cookbook
    folders: the folders with cookbooks, relative to the root, absolute, or below the home (`~`). (): the usual ones of
             Chef, Berkshelf and Librarian
    more:    further folders, relative to the current directory; they are searched last
    """

    def __init__(self, root: pathlib.Path, folders: Sequence[str], more: Sequence[str]) -> None:
        self._root = root
        usual = (*_USUAL, *(_OF_TESTS if _is_cookbook(root) else ()))
        self._folders = [root / os.path.expanduser(folder) for folder in folders or usual]
        self._folders += [pathlib.Path(os.path.abspath(os.path.expanduser(folder))) for folder in more]
        self._is_usual = not folders

    def names(self) -> list[str]:
        """The names of all cookbooks, sorted; [] for none. The folder `ntp-3.5.0` of the cookbook ntp gives "ntp"."""
        named = {one.name if one.path.name.startswith(f"{one.name}-") else one.path.name for one in self._in_folders}
        return sorted(named | {one.name for one in self._own})

    def find(self, name: str, lock: Lock | None = None, constraints: Sequence[str] = ()) -> pathlib.Path | None:
        """The folder of a cookbook; None if it is not found.

        It is the first of these: the repository itself; a folder of that name; the newest version of that name by the
        metadata of folders; without a lock, the folder that a Berksfile, Cheffile or Policyfile names.
        lock:        accept only a folder that fits this lock; None: any. A lock with a source and no version gives the
                     folder *source*; its name is not compared
        constraints: a folder is taken only if its version meets all of them. They are ignored if no version does
        """
        if lock is not None and lock.source and not lock.version:  # a Policyfile without a lock names the folder
            return next((one.path for one in self._in_source(lock)), None)
        by_folder = next((one.path for one in self._own if one.name == name), self._folders_named.get(name))
        first = [one for one in ([] if by_folder is None else [_declared(by_folder)]) if one.fits(lock)]
        others: list[_CookbookMetadata] = []
        if not first or constraints:
            every = (*self._in_folders, *self._own, *self._in_source(lock))
            others = [one for one in every if one.name == name and one.fits(lock)]
        if not first and not others and lock is None:
            source = Lock("", "", self._sources.get(name, ""))
            others = [one for one in self._in_source(source) if one.name == name]
        fitting = [one for one in first if one.meets(constraints)] or [one for one in others if one.meets(constraints)]
        candidates = fitting or first or others
        return max(candidates, key=lambda one: one.parsed_version).path if candidates else None

    def hint(self, name: str) -> str:
        """The hint for an error about a missing cookbook, as a sentence without a period.

        It names another folder of the repository that has the cookbook. Otherwise it names similar cookbooks, or all.
        """
        folder = self._folders_not_searched.get(name)
        if folder is None:
            return known_or_near(name, self.names())
        return f"there is one in {folder}: name that folder in [chef] cookbook_paths"

    @cached_property
    def _folders_not_searched(self) -> dict[str, str]:
        """Cookbook -> a folder of the repository that has it. Cookbooks are not searched in these folders."""
        found: dict[str, str] = {}
        for folder in (one for one in paths_in(self._root) if os.path.isdir(one)):
            with contextlib.suppress(DocumentError):  # a folder that may not be listed
                found |= {path.name: folder.name for path in paths_in(folder) if _is_cookbook(path)}
        return found

    def _in_source(self, lock: Lock | None) -> Iterator[_CookbookMetadata]:
        path = os.path.realpath(self._root / lock.source) if lock is not None and lock.source else ""
        if os.path.isdir(path) and pathlib.Path(path).is_relative_to(os.path.realpath(self._root)):
            yield _declared(self._root / os.path.relpath(path, os.path.realpath(self._root)))

    @cached_property
    def _sources(self) -> dict[str, str]:
        """Cookbook -> the folder that a file at the root names for it; {} without the extra that reads Ruby."""
        found: dict[str, str] = {}
        for file in (one for one in _SOURCES if (self._root / one).is_file()):
            with contextlib.suppress(DocumentError, MissingExtra):
                found = {**dict(_named_folders(Text(file, documents.text_of(self._root / file, file)))), **found}
        return found

    @cached_property
    def _folders_named(self) -> dict[str, pathlib.Path]:
        found: dict[str, pathlib.Path] = {}
        for path in (path for folder in self._folders for path in paths_in(folder)):
            is_other = path.parent.name == _VENDOR and not _is_cookbook(path)
            if os.path.isdir(path) and not path.name.startswith(".") and not is_other and not _is_empty(path):
                found.setdefault(path.name, path)
        if not found and self._is_usual:  # a repository of cookbooks alone, as for OpsWorks
            return {path.name: path for path in paths_in(self._root) if _is_cookbook(path)}
        return found

    @cached_property
    def _own(self) -> tuple[_CookbookMetadata, ...]:
        """The repository itself, where it is a cookbook: what `berks vendor` leaves there may be a copy of it."""
        return (_declared(self._root.absolute()),) if _is_cookbook(self._root) else ()

    @cached_property
    def _in_folders(self) -> list[_CookbookMetadata]:
        """The name and version of each folder. cost: reads the metadata of each, once"""
        return [_declared(path) for path in self._folders_named.values()]


def _named_folders(text: Text) -> Iterator[tuple[str, str]]:
    """Yield (cookbook, folder) for each cookbook that a Berksfile or the like takes from a folder."""
    for call in Ruby(text).anywhere(("cookbook",)):
        with contextlib.suppress(DocumentError):
            name, *more = [one.value for one in call.arguments()] or [""]
            named = [one["path"] for one in more if isinstance(one, dict) and isinstance(one.get("path"), str)]
            yield from ((str(name), folder) for folder in named)


def _is_cookbook(path: pathlib.Path) -> bool:
    return any((path / one).is_dir() for one in _PARTS) and any((path / one).is_file() for one in _METADATA)


def _is_empty(folder: pathlib.Path) -> bool:
    """Whether a folder has nothing in it, as a submodule that is not checked out. Chef takes it for no cookbook."""
    try:
        return not os.listdir(folder)
    except OSError:
        return False  # the reader of the cookbook says why it cannot be listed


def _declared(path: pathlib.Path) -> _CookbookMetadata:
    fields: dict[str, str] = {}
    for file in _METADATA:
        if (path / file).is_file():
            with contextlib.suppress(DocumentError):  # reading the cookbook reports it
                fields = _fields(path / file)
            break
    return _CookbookMetadata(fields.get("name") or path.name, fields.get("version") or "0.0.0", path)


def _fields(path: pathlib.Path) -> dict[str, str]:
    if path.suffix == ".json":
        tree = documents.read(path).tree
        found = tree.items() if isinstance(tree, dict) else ()
        return {key: value for key, value in found if isinstance(value, str)}
    return {one[1]: one[3] for one in _FIELD.finditer(documents.text_of(path, path.name))}


def paths_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The paths of what is in a folder, sorted; [] without the folder. raises: DocumentError, if it cannot be listed"""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        _cannot_list(error)


def files_below(root: pathlib.Path) -> tuple[str, ...]:
    """All files below a folder, relative to it, with forward slashes, sorted. raises: DocumentError"""
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
