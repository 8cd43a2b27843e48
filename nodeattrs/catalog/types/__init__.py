"""Resource types that really act: small, and done twice they change nothing the second time.

A type is a dataclass whose first field is the title and whose other fields are the parameters.
It says what differs (`check`), makes one difference go away (`apply`), and may react to changes
elsewhere (`refresh`). Other packages add types by the entry point `nodeattrs.resource_types`: a
name such as `Service`, and a class with this protocol; an engine for packages or services is put
behind it in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

from nodeattrs.catalog.errors import ResourceFailed
from nodeattrs.catalog.resources import FirstOf
from nodeattrs.catalog.transaction import Change
from nodeattrs.core.sensitive import Sensitive
from nodeattrs.core.tree import near
from nodeattrs.errors import BadArgument, BadName, NodeattrsError

__all__ = [
    "OURS",
    "Acting",
    "ResourceType",
    "Site",
    "is_secret",
    "parameters_of",
    "revealed",
    "subject_of",
    "type_named",
]

_GROUP = "nodeattrs.resource_types"


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


OURS = {"File": "files", "Directory": "files", "Link": "files", "Execute": "commands", "Log": "messages"}
"""Our types, and the module of each: loaded when one is declared."""


def type_named(name: str) -> Any:
    """The type of that name: one of ours, or one of an installed package. raises: BadArgument, NodeattrsError"""
    from importlib import import_module

    if name in OURS:
        return getattr(import_module(f"{__name__}.{OURS[name]}"), name)
    others = _others()
    if name not in others:
        known = ", ".join(sorted([*OURS, *others]))
        raise BadArgument(f"there is no resource type {name}", hint=f"there are {known}; packages can add more")
    return _loaded(others[name])


def _others() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=_GROUP)}


def _loaded(point: Any) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise NodeattrsError(f"the resource type {point.name} of {point.value} cannot be loaded: {error}") from error


def parameters_of(kind: Any) -> list[str]:
    """The names of the parameters of a type, the title left out."""
    return [one.name for one in fields(kind) if one.init][1:]


def subject_of(name: str, title: str, parameters: Mapping[str, Any]) -> Any:
    """A resource of a type. raises: BadArgument, naming near misses; NodeattrsError"""
    kind = type_named(name)
    known = parameters_of(kind)
    for parameter in parameters:
        if parameter not in known:
            close = near(parameter, known)
            raise BadArgument(
                f"{name}[{title}] has no parameter {parameter!r}",
                hint=f"did you mean {' or '.join(close)}?" if close else f"it has {', '.join(known)}",
            )
    return kind(title, **parameters)


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
