"""What can be wrong with a catalog.

    NodeattrsError
    ├── DuplicateResource         (also ValueError)   two declarations of one reference, or of one place
    ├── DependencyCycle           (also ValueError)   resources that wait for each other
    ├── ResourceFailed                                a resource that cannot be brought into its state
    ├── RefreshComesLater                             a warning: a timing that is not Puppet's
    ├── NoopDoesNotReach                              a warning: a class in no-op whose contents are not
    ├── MoreRelations                                 a warning: of a type only its Ruby could say what it relates
    └── NotFound
        └── ReferenceNotFound                         a relationship with a resource that is not there

`DependencyCycle` and `ReferenceNotFound` say what Puppet says and, below it, why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nodeattrs.errors import NodeattrsError, NotFound


class DuplicateResource(NodeattrsError, ValueError):
    """Two declarations of one resource, or of one place on the machine."""


class ReferenceNotFound(NotFound):
    """A relationship with a resource that is not in the catalog.

    missing:         the reference that leads nowhere
    by:              the resource whose relationship it is
    parameter:       "require", "before", ...; None where a chain says it
    compile_message: what Puppet's compiler says; None for virtual resources, which it knows
    apply_message:   what Puppet says when it applies; None for chains, which never get so far
    """

    def __init__(
        self,
        missing: str,
        by: str,
        *,
        parameter: str | None = None,
        compile_message: str | None = None,
        apply_message: str | None = None,
        details: Iterable[str] = (),
        origins: Iterable[Any] = (),
        hint: str | None = None,
    ) -> None:
        message = compile_message or apply_message or missing
        super().__init__(message, origins=tuple(origins), details=details, hint=hint)
        self.missing = missing
        self.by = by
        self.parameter = parameter
        self.compile_message = compile_message
        self.apply_message = apply_message


class DependencyCycle(NodeattrsError, ValueError):
    """Resources that wait for each other; nothing can be applied.

    cycles:         one `nodeattrs.catalog.cycles.Cycle` each, sorted by their members
    puppet_message: what Puppet says: a walk that ends in the ring, and an option of its own
    """

    def __init__(
        self,
        message: str,
        cycles: Iterable[Any],
        details: Iterable[str] = (),
        origins: Iterable[Any] = (),
        hint: str | None = None,
        puppet_message: str = "",
    ) -> None:
        super().__init__(message, details=details, origins=tuple(origins), hint=hint)
        self.cycles = tuple(cycles)
        self.puppet_message = puppet_message


class ResourceFailed(NodeattrsError):
    """A resource that cannot be read, or cannot be brought into the state that was asked for."""


class FolderMissing(ResourceFailed):
    """The folder that something is to stand in is not there."""


class RefreshComesLater(NodeattrsError):
    """A timing such as `:immediately` that was asked for; a refresh comes when its target's turn comes."""


class NoopDoesNotReach(NodeattrsError):
    """A container in no-op mode, with resources in it that are really changed."""


class MoreRelations(NodeattrsError):
    """Types whose resources an agent may relate by themselves, or refresh, in ways that are not known here."""
