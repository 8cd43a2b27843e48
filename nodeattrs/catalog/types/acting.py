"""The base of all resource types: the site they act on, defaults for optional methods, and secrets."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from nodeattrs.catalog.errors import FolderMissing, ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.disk import FolderEntry, LinkLeadsOut, folder_below
from nodeattrs.errors import BadName


@dataclass
class Site:
    """The file system on which resources act; the argument of their methods. One instance serves one run.

    root:    the folder that stands for "/"; no file outside of it is written
    backups: the folder for copies of replaced files; None: no copies are kept

    `entry` and `folder` open a place below the root; they do not follow links that lead out of it. In no-op mode
    nothing is made. The instance then notes which folders would exist by now (`foresee_folder`). `is_foreseen` says
    whether the folder that contains a path would exist. `tidy` removes temporary files of killed processes beside a
    path. The constructor touches no file.
    """

    root: Path = Path("/")
    backups: Path | None = None
    _foreseen: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _swept: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _may_have_any: bool = field(default=False, init=False, repr=False, compare=False)

    def path(self, name: str) -> Path:
        """The path of *name* below the root, for messages; use `entry` to read or write there. raises: BadName

        >>> Site(Path("/srv/scratch")).path("/etc/motd").as_posix()
        '/srv/scratch/etc/motd'
        """
        return self.root / "/".join(_steps(name))

    @contextlib.contextmanager
    def entry(self, name: str, *, make: bool = False) -> Iterator[FolderEntry]:
        """A context with the entry *name* of an open folder. It stays the same folder if the path is changed meanwhile.

        The entry itself need not exist.
        name:   a path below the root
        make:   make missing folders above it
        raises: BadName; ResourceFailed, if a link leads out of the root or a file is in place of a folder;
                FolderMissing, a missing folder above it without *make*
        """
        *above, last = _steps(name) or ["."]
        with self._folder(name, above, make) as folder:
            yield FolderEntry(folder, last)

    def folder(self, name: str) -> AbstractContextManager[int]:
        """A context with the file descriptor of the folder *name*. raises: BadName, ResourceFailed, FolderMissing"""
        return self._folder(name, _steps(name), make=False)

    @contextlib.contextmanager
    def _folder(self, name: str, steps: Sequence[str], make: bool) -> Iterator[int]:
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(folder_below(self.root, steps, make=make))
            except LinkLeadsOut as error:
                raise ResourceFailed(f"{name} leads out of {self.root}: on the way is {error.strerror}") from None
            except FileNotFoundError as error:
                raise FolderMissing(f"the folder {error.filename} is missing") from None
            except NotADirectoryError as error:
                raise ResourceFailed(f"{error.filename} is no folder, so nothing can stand in it") from None
            yield folder

    def tidy(self, name: str) -> None:
        """Remove temporary files of killed runs in the folder of *name*; at most once for a folder.

        An error on the way is ignored, since `check` and `apply` meet it again.
        """
        folder = "/".join(_steps(name)[:-1])
        if folder not in self._swept:
            self._swept.add(folder)
            with contextlib.suppress(ResourceFailed, OSError), self.entry(name) as entry:
                entry.sweep()

    # --- in no-op mode, what an earlier resource would have done

    def foresee_folder(self, name: str) -> None:
        """Note in no-op mode that a folder, and the folders above it, would exist."""
        steps = _steps(name)
        self._foreseen |= {"/".join(steps[:count]) for count in range(1, len(steps) + 1)}

    def _foresee_anything(self) -> None:
        """Note in no-op mode that any file may exist, since a command would have run."""
        self._may_have_any = True

    def is_foreseen(self, name: str) -> bool:
        """Whether the folder that contains *name* was noted, or any file may exist. False outside of no-op mode."""
        return self._may_have_any or "/".join(_steps(name)[:-1]) in self._foreseen


def _steps(name: str) -> list[str]:
    """The steps of an absolute path. raises: BadName"""
    steps = name.split("/")
    if not name.startswith("/") or "\0" in name or ".." in steps:
        raise BadName(f"{name!r} cannot be managed", hint="write an absolute path without ..")
    return [step for step in steps if step not in ("", ".")]


class ResourceType:
    """The base of the resource types. Its defaults: no refresh, no automatic relations, no managed place.

    A subclass is a dataclass whose first field is the title; it defines `check` and `apply`. A transaction calls
    `tidy`, then `check`, then `apply` for each change that `check` returned. In no-op mode it calls `check`, and
    `foresee` if something differs. `automatic` gives metaparameter -> references of automatic relations. `manages` is a
    place that only one resource may have.
    refreshable: whether `refresh` reacts to changes of other resources
    HIDDEN:      names of fields that queries and reports do not show, since they may hold secrets or long texts
    """

    refreshable: bool = False
    HIDDEN: ClassVar[frozenset[str]] = frozenset()

    def check(self, site: Site) -> Sequence[Change]:
        """The properties that differ from the declaration; [] for none."""
        raise NotImplementedError

    def apply(self, change: Change, site: Site) -> None:
        """Make one of the changes that `check` returned."""
        raise NotImplementedError

    def refresh(self, site: Site) -> None:
        """React to a change of another resource; does nothing here."""

    def tidy(self, site: Site) -> None:
        """Remove temporary files of killed runs; called before `check`, except in no-op mode."""

    def foresee(self, site: Site) -> None:
        """Note what would exist after the change; called in no-op mode, where `check` found a difference."""
        site._foresee_anything()

    def automatic(self) -> Mapping[str, tuple[str | FirstOf, ...]]:
        """Candidates of automatic relations, by metaparameter: require, subscribe, before, notify; {} here."""
        return {}

    @property
    def manages(self) -> str | None:
        """The place that no other resource may manage; None here."""
        return None


def is_secret(value: Any) -> bool:
    """Whether a value is a Sensitive, or a map or list with one in it."""
    if isinstance(value, Mapping):
        return any(map(is_secret, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_secret, value))
    return isinstance(value, Sensitive)


def revealed(value: Any) -> Any:
    """A copy of a value in which each Sensitive is replaced by its clear value; a tuple becomes a list.

    Only for writing files and running commands.
    """
    if isinstance(value, Mapping):
        return {key: revealed(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [revealed(entry) for entry in value]
    return value.unwrap() if isinstance(value, Sensitive) else value
