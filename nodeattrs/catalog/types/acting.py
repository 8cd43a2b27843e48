"""What every type that acts stands on: the site it acts on, what it may leave out, and its secrets.

It knows no type.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from nodeattrs.catalog.errors import ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.errors import BadName

__all__ = ["Acting", "ResourceType", "Site", "is_secret", "revealed"]


@dataclass(frozen=True)
class Site:
    """Where resources act.

    root:    the folder that stands for "/"; nothing outside of it is written
    backups: a folder that keeps what a file was before it was replaced; None keeps nothing
    """

    root: Path = Path("/")
    backups: Path | None = None

    def path(self, name: str) -> Path:
        """Where *name* lies below the root. raises: BadName, ResourceFailed

        >>> Site(Path("/srv/scratch")).path("/etc/motd").as_posix()
        '/srv/scratch/etc/motd'
        """
        if not name.startswith("/") or "\0" in name or ".." in name.split("/"):
            raise BadName(f"{name!r} cannot be managed", hint="write an absolute path without ..")
        inside = self.root / name.lstrip("/")
        if self.root != Path("/"):
            root, real = os.path.realpath(self.root), os.path.realpath(inside.parent)
            if real != root and not real.startswith(root.rstrip("/") + "/"):
                raise ResourceFailed(
                    f"{name} leads out of {self.root}, to {real}", hint="a link on the way points outside"
                )
        return inside


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
