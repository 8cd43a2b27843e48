"""What every type that acts stands on: the site it acts on, what it may leave out, and its secrets.

It knows no type.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from nodeattrs.catalog.errors import FolderMissing, ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.disk import Entry, LeadsOut, folder_below
from nodeattrs.errors import BadName


@dataclass(frozen=True)
class Site:
    """Where resources act.

    root:    the folder that stands for "/"; nothing outside of it is written
    backups: a folder that keeps what a file was before it was replaced; None keeps nothing
    """

    root: Path = Path("/")
    backups: Path | None = None
    _foreseen: _Foreseen = field(default_factory=lambda: _Foreseen(), init=False, repr=False, compare=False)

    def path(self, name: str) -> Path:
        """Where *name* lies below the root, to be shown: `entry` is what reads and writes there. raises: BadName

        >>> Site(Path("/srv/scratch")).path("/etc/motd").as_posix()
        '/srv/scratch/etc/motd'
        """
        return self.root / "/".join(_steps(name))

    @contextlib.contextmanager
    def entry(self, name: str, *, make: bool = False) -> Iterator[Entry]:
        """What stands at *name*, in its folder, which stays the same whatever others do meanwhile.

        make:   folders above it that are missing are made
        raises: BadName; ResourceFailed, where a link leads out of the root; FolderMissing
        """
        *above, last = _steps(name) or ["."]
        with self._folder(name, above, make) as folder:
            yield Entry(folder, last)

    @contextlib.contextmanager
    def folder(self, name: str) -> Iterator[int]:
        """The descriptor of the folder *name*. raises: as `entry`"""
        with self._folder(name, _steps(name), make=False) as folder:
            yield folder

    @contextlib.contextmanager
    def _folder(self, name: str, steps: Sequence[str], make: bool) -> Iterator[int]:
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(folder_below(self.root, steps, make=make))
            except LeadsOut as error:
                raise ResourceFailed(f"{name} leads out of {self.root}: on the way is {error.strerror}") from None
            except FileNotFoundError as error:
                raise FolderMissing(f"the folder {error.filename} is missing") from None
            except NotADirectoryError as error:
                raise ResourceFailed(f"{error.filename} is no folder, so nothing can stand in it") from None
            yield folder

    def tidy(self, name: str) -> None:
        """Remove what runs that were killed have left beside *name*; once for a folder."""
        folder = "/".join(_steps(name)[:-1])
        if folder not in self._foreseen.swept:
            self._foreseen.swept.add(folder)
            with contextlib.suppress(ResourceFailed, OSError), self.entry(name) as entry:  # who applies it says so
                entry.sweep()

    # --- in no-op mode, what an earlier resource would have done

    def foresee_folder(self, name: str) -> None:
        """A folder would be there, and those above it."""
        steps = _steps(name)
        self._foreseen.folders |= {"/".join(steps[:count]) for count in range(1, len(steps) + 1)}

    def foresee_anything(self) -> None:
        """Nobody knows what would be there: a command would have run."""
        self._foreseen.anything = True

    def is_foreseen(self, name: str) -> bool:
        """Whether the folder in which *name* stands would be there, as far as anybody knows."""
        return self._foreseen.anything or "/".join(_steps(name)[:-1]) in self._foreseen.folders


@dataclass
class _Foreseen:
    """What a site remembers of one run."""

    folders: set[str] = field(default_factory=set)
    swept: set[str] = field(default_factory=set)
    anything: bool = False


def _steps(name: str) -> list[str]:
    """The steps of an absolute path. raises: BadName"""
    steps = name.split("/")
    if not name.startswith("/") or "\0" in name or ".." in steps:
        raise BadName(f"{name!r} cannot be managed", hint="write an absolute path without ..")
    return [step for step in steps if step not in ("", ".")]


class ResourceType:
    """What a type may leave out: no refresh, no automatic relations, no place of its own."""

    refreshable: bool = False
    HIDDEN: ClassVar[frozenset[str]] = frozenset()
    """Parameters that queries and reports do not see, since they may hold secrets or long texts."""

    def check(self, site: Site) -> Sequence[Change]:
        """What differs."""
        raise NotImplementedError

    def apply(self, change: Change, site: Site) -> None:
        """Make one change."""
        raise NotImplementedError

    def refresh(self, site: Site) -> None:
        """React to a change elsewhere."""

    def tidy(self, site: Site) -> None:
        """Before it is asked what differs, unless in no-op mode: remove what a run that was killed has left."""

    def foresee(self, site: Site) -> None:
        """In no-op mode, where something differs: say what would be there for those that come later."""
        site.foresee_anything()

    def automatic(self) -> Mapping[str, tuple[str | FirstOf, ...]]:
        """Candidates of automatic relations, under require, subscribe, before and notify."""
        return {}

    @property
    def manages(self) -> str | None:
        """The place on the machine that nobody else may manage."""
        return None


class Acting(Protocol):
    """A class of the entry point: called with the title and the parameters. See `ResourceType`."""

    def __call__(self, title: str, /, **parameters: Any) -> ResourceType:
        """The resource."""
        ...


def is_secret(value: Any) -> bool:
    """Whether a value, or something in it, must not be shown."""
    if isinstance(value, Mapping):
        return any(map(is_secret, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_secret, value))
    return isinstance(value, Sensitive)


def revealed(value: Any) -> Any:
    """A value with its secrets in clear, for the machine and for nobody else."""
    if isinstance(value, Mapping):
        return {key: revealed(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [revealed(entry) for entry in value]
    return value.unwrap() if isinstance(value, Sensitive) else value
